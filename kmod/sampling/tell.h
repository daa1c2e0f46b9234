/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * tell.h - what happens to processes, told to the logs that want to know: those
 * of owners with a system-scope PMC that samples hear of all processes, those with a
 * PMC that samples or logs at a process, of that. Called from probes, in the
 * process concerned; nothing here sleeps unless it says so.
 */
#ifndef HWPMC_TELL_H
#define HWPMC_TELL_H

#include <linux/types.h>

struct hwpmc_log;
struct hwpmc_owner;
struct hwpmc_pmc;
struct mm_struct;
struct task_struct;
struct vm_area_struct;

/* Called for each owner that wants to hear of the task. RCU, preemption off. */
typedef void hwpmc_tell_fn(struct hwpmc_owner *owner, void *arg);
void hwpmc_tell(struct task_struct *task, hwpmc_tell_fn *fn, void *arg);

/* tell.c */
void hwpmc_tell_fork(struct task_struct *child);
void hwpmc_tell_thread(struct task_struct *thread);
void hwpmc_tell_exec(const char *path);
void hwpmc_tell_exit(void);
void hwpmc_tell_comm(struct task_struct *task, const char *comm);
/* One record about a task to one log; flags: HWPMC_LOG_SNAPSHOT or 0. */
void hwpmc_put_task(struct hwpmc_owner *owner, u8 type, u8 flags,
		    struct task_struct *task, const char *comm);

/* mappings.c: the live ones, by a kprobe that is there while it is needed. */
int hwpmc_mappings_hook(void);
void hwpmc_mappings_unhook(void);
/* One MAP_IN to one log. `page` is for the path. The mm's lock is held. False:
 * there was no room. */
bool hwpmc_put_map(struct hwpmc_owner *owner, s32 pid,
		   struct vm_area_struct *vma, u8 flags, char *page);
bool hwpmc_wants_vma(const struct vm_area_struct *vma);

/* modules.c: of the kernel; to those who may see its addresses. */
int hwpmc_modules_hook(void);
void hwpmc_modules_unhook(void);
void hwpmc_put_modules(struct hwpmc_owner *owner);

/* snapshot.c: what is already there when a PMC starts. Sleeps; hwpmc_lock. */
void hwpmc_snapshot(struct hwpmc_pmc *pmc);

#endif /* HWPMC_TELL_H */
