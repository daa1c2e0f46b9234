/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * migrations.h - CPU_MIGRATION in process scope: migrations that threads count and rows take.
 */
#ifndef HWPMC_MIGRATIONS_H
#define HWPMC_MIGRATIONS_H

struct hwpmc_link;
struct hwpmc_pmc;
struct hwpmc_thread;
struct task_struct;

/* The scheduler has moved a task, which does not run, to another CPU. Interrupts off. */
void hwpmc_thread_migrated_irqoff(struct task_struct *task);
/* Add the migrations that are not counted yet, to a row that was just loaded. */
void hwpmc_thread_add_migrations_irqoff(struct hwpmc_thread *thread,
					unsigned int nr);
/* To its PMC's total; of a link whose target has one thread (otherwise: the next two). */
void hwpmc_link_take_migrations_locked(struct hwpmc_link *link);
/* Migrations until now are not counted by this PMC; in the same way. */
void hwpmc_link_forget_migrations_locked(struct hwpmc_link *link);
void hwpmc_thread_forget_migrations_locked(struct hwpmc_thread *thread,
					   const struct hwpmc_pmc *pmc);

/* The same for all threads of a PMC. Under RCU or hwpmc_lock. */
void hwpmc_pmc_take_migrations(struct hwpmc_pmc *pmc);
void hwpmc_pmc_forget_migrations(struct hwpmc_pmc *pmc);

#endif /* HWPMC_MIGRATIONS_H */
