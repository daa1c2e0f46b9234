/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * task_event.h - what happens to processes, told to the logs that want to know: those
 * of owners with a system-scope PMC that samples hear of all processes, those with a
 * PMC that samples or logs at a process, of that. Called from probes, in the
 * process concerned; nothing here sleeps unless it says so.
 */
#ifndef HWPMC_TASK_EVENT_H
#define HWPMC_TASK_EVENT_H

#include <linux/types.h>

#include "hwpmc_log.h"	/* uapi */

struct file;
struct hwpmc_log;
struct hwpmc_owner;
struct hwpmc_pmc;
struct mm_struct;
struct task_struct;
struct vm_area_struct;

/* Called for each owner that wants to hear of the task. RCU, preemption off. */
typedef void hwpmc_task_event_fn(struct hwpmc_owner *owner, void *arg);
void hwpmc_task_event(struct task_struct *task, hwpmc_task_event_fn *fn, void *arg);

/* task_event.c */
void hwpmc_task_event_fork(struct task_struct *child);
void hwpmc_task_event_thread(struct task_struct *thread);
void hwpmc_task_event_exec(const char *path);
void hwpmc_task_event_exit(void);
void hwpmc_task_event_comm(struct task_struct *task, const char *comm);
/* One record about a task to one log; flags: HWPMC_LOG_SNAPSHOT or 0. */
void hwpmc_put_task(struct hwpmc_owner *owner, u8 type, u8 flags,
		    struct task_struct *task, const char *comm);

/* mappings.c: the live ones, by a kprobe that is there while it is needed. */
int hwpmc_mappings_hook(void);
void hwpmc_mappings_unhook(void);

/* A mapping, as it is told. */
struct hwpmc_map {
	struct hwpmc_log_map r;		/* all but its header's type, and pid */
	struct file *file;		/* or NULL: it has a name, or NULL again */
	const char *name;
	const char *path;
};

/* The mm's lock is held, or nobody else has the mapping yet. */
void hwpmc_map_init(struct hwpmc_map *m, struct vm_area_struct *vma);
/* The path, which is in `page` then, and what the file says. The file is held. On a
 * real-time kernel it may sleep. */
void hwpmc_map_look_up(struct hwpmc_map *m, char *page);
/* One MAP_IN to one log. False: there was no room. */
bool hwpmc_put_map(struct hwpmc_owner *owner, s32 pid, const struct hwpmc_map *m,
		   u8 flags);
/* The same, as told by who has mapped it. */
void hwpmc_put_own_map(struct hwpmc_owner *owner, void *map);
bool hwpmc_wants_vma(const struct vm_area_struct *vma);

/*
 * deferred.c, real-time kernels alone: what a probe must not do there is done on the way
 * back to the program. From probes, in the process concerned.
 */
void hwpmc_defer_map(struct vm_area_struct *vma);
void hwpmc_defer_exec_maps(void);
#ifdef CONFIG_PREEMPT_RT
void hwpmc_deferred_init(void);
/* No probe is left. Sleeps until nothing is to be done. */
void hwpmc_deferred_exit(void);
#else
static inline void hwpmc_deferred_init(void) { }
static inline void hwpmc_deferred_exit(void) { }
#endif

/* modules.c: of the kernel; to those who may see its addresses. */
int hwpmc_modules_hook(void);
void hwpmc_modules_unhook(void);
void hwpmc_put_modules(struct hwpmc_owner *owner);

/* snapshot.c: what is already there when a PMC starts. Sleeps; hwpmc_lock. */
void hwpmc_snapshot(struct hwpmc_pmc *pmc);

#endif /* HWPMC_TASK_EVENT_H */
