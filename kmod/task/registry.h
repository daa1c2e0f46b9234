/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * registry.h - the two hashes by which targets and threads are found.
 */
#ifndef HWPMC_REGISTRY_H
#define HWPMC_REGISTRY_H

struct hwpmc_target;
struct hwpmc_thread;
struct task_struct;

/* Return NULL if the task's process, or the task, is not measured. Under hwpmc_targets_lock or
 * RCU; in sched_switch: interrupts off. */
struct hwpmc_target *hwpmc_target_find(const struct task_struct *task);
struct hwpmc_thread *hwpmc_thread_find(const struct task_struct *task);

/* The keys, target->signal and thread->task, are set. */
void hwpmc_registry_add_target_locked(struct hwpmc_target *target);
void hwpmc_registry_del_target_locked(struct hwpmc_target *target);
void hwpmc_registry_add_thread_locked(struct hwpmc_thread *thread);
void hwpmc_registry_del_thread_locked(struct hwpmc_thread *thread);

/* After threads have joined, without a lock: lets the hashes grow if they are full. */
void hwpmc_targets_grow(void);

/* Returns 0 or -ENOMEM; hwpmc_registry_exit() follows in both cases. */
int hwpmc_registry_init(void);
/* At unload, when no thread can join any more; sleeps. */
void hwpmc_registry_stop_growing(void);
void hwpmc_registry_exit(void);

#endif /* HWPMC_REGISTRY_H */
