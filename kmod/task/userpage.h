/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * userpage.h - the page of a thread that has the meaning of each counter's value, for
 * programs that read their counters by RDPMC. doc/decisions/rdpmc.md.
 */
#ifndef HWPMC_USERPAGE_H
#define HWPMC_USERPAGE_H

struct hwpmc_cpu;
struct hwpmc_owner;
struct hwpmc_row_cpu;
struct hwpmc_thread;
struct hwpmc_userpage;
struct vm_area_struct;

/* mmap() of the calling thread's page. Process context. */
int hwpmc_userpage_mmap(struct hwpmc_owner *owner, struct vm_area_struct *vma);
void hwpmc_userpage_put(struct hwpmc_userpage *page);

/* A slice of HWPMC_SLICE_MAPPED has begun, or ends; rc->count.start is the counter's value. On
 * the CPU of the thread, interrupts off, as all *_irqoff below. */
void hwpmc_userpage_begin_irqoff(struct hwpmc_thread *thread, unsigned int nr,
				 const struct hwpmc_row_cpu *rc);
void hwpmc_userpage_end_irqoff(struct hwpmc_thread *thread, unsigned int nr,
			       const struct hwpmc_row_cpu *rc);
/* Harvest such a slice, and show it again. */
void hwpmc_userpage_renew_irqoff(struct hwpmc_cpu *c, unsigned int nr);
void hwpmc_userpage_exit(void);
/* From here on other threads count for the same PMCs as the current thread. */
void hwpmc_userpage_shared_irqoff(void);

#endif /* HWPMC_USERPAGE_H */
