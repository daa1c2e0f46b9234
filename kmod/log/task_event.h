/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * task_event.h - what happens to processes, written to the logs concerned: all
 * processes if the owner has a system-scope PMC that samples, else the targets of its
 * PMCs that sample or log values. Called from probes, in the task concerned; does not
 * sleep unless stated.
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

/* Called for each owner whose log gets the task's events. RCU, preemption off. */
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

/* Does any log get the task's events? */
bool hwpmc_task_event_wanted(struct task_struct *task);

/* mappings.c: new mappings, by a kprobe that is registered while it is needed. */
int hwpmc_mappings_hook(void);
void hwpmc_mappings_unhook(void);

/* A mapping, as it is written to logs. */
struct hwpmc_map {
	struct hwpmc_log_map r;		/* all but pid and the header's type */
	struct hwpmc_log_file at;	/* with HWPMC_MAP_HAS_FILE */
	struct file *file;		/* or NULL */
	const char *name;		/* of a mapping without file, or NULL */
	const char *path;
	bool unread;			/* the file's first page is not in memory */
};

/* Under mmap_lock, or before the mapping is visible to others. */
void hwpmc_map_init(struct hwpmc_map *m, struct vm_area_struct *vma);
/* Fill in path (stored in `page`), inode and build-id. The caller holds the file.
 * Sleeps on a real-time kernel. */
void hwpmc_map_look_up(struct hwpmc_map *m, char *page);
/* Fill in inode and build-id alone. As that. */
void hwpmc_map_identify(struct hwpmc_map *m);
/* One MAP_IN to one log. False: the ring has no room. */
bool hwpmc_put_map(struct hwpmc_owner *owner, s32 pid, const struct hwpmc_map *m,
		   u8 flags);
/* The same for a mapping of the current process. */
void hwpmc_put_own_map(struct hwpmc_owner *owner, void *map);
bool hwpmc_wants_vma(const struct vm_area_struct *vma);

/* follow.c: mappings for walks by unwind tables, while there are PMCs that need them:
 * calls pair. hwpmc_lock; may sleep. */
int hwpmc_mappings_follow(void);
void hwpmc_mappings_unfollow(void);
/* All of an address space. Under its mmap_lock, or where it is new and current's. */
void hwpmc_mappings_fill(struct mm_struct *mm, gfp_t gfp);
/* Of a new process, and of a program that was executed: in the probes. */
void hwpmc_follow_fork(struct task_struct *child);
void hwpmc_follow_exec(void);
/* The address space has this mapping, too; it has been identified. */
void hwpmc_map_follow(const struct hwpmc_map *m, struct mm_struct *mm, gfp_t gfp);
/* mappings.c: this is what is there now, executable or not. In probes, in the task
 * concerned, under its mmap_lock. */
void hwpmc_follow_vma(struct vm_area_struct *vma);
/* What is mapped in [start, end) now is all that there is. mmap_lock. */
void hwpmc_follow_range(struct mm_struct *mm, u64 start, u64 end, gfp_t gfp);

/*
 * look.c: what a probe cannot do, soon: take mmap_lock and look at [start, end), and before
 * that read the file's first page, if one is given. Any context that may allocate by gfp.
 */
void hwpmc_look_later(struct mm_struct *mm, u64 start, u64 end, struct file *file, gfp_t gfp);
/* After hwpmc_mappings_hold(). Waits for the release of the mappings only without memory. */
void hwpmc_mappings_put(struct mm_struct *mm);
/* Waits until what was asked for has been looked at, for two seconds at most. */
void hwpmc_looks_wait(void);
/* At unload, when no probe is left. */
void hwpmc_looks_exit(void);

/*
 * deferred.c, real-time kernels only: mappings are written on the return to user mode
 * instead of in the probe. Called from probes, in the task concerned.
 */
void hwpmc_defer_map(struct vm_area_struct *vma);
void hwpmc_defer_exec_maps(void);
#ifdef CONFIG_PREEMPT_RT
void hwpmc_deferred_init(void);
/* Call after the probes are unregistered. Sleeps until no mapping is pending. */
void hwpmc_deferred_exit(void);
#else
static inline void hwpmc_deferred_init(void) { }
static inline void hwpmc_deferred_exit(void) { }
#endif

/* modules.c: kernel modules, in logs that may contain kernel addresses. */
int hwpmc_modules_hook(void);
void hwpmc_modules_unhook(void);
void hwpmc_put_modules(struct hwpmc_owner *owner);

/* snapshot.c: what exists already when a PMC starts, in its owner's log. Does the start
 * of this PMC need it? hwpmc_lock. */
bool hwpmc_needs_snapshot(const struct hwpmc_pmc *pmc);
/* Without hwpmc_lock: waits for programs. privileged: pmc->privileged. */
void hwpmc_snapshot(struct hwpmc_owner *owner, u32 id, bool privileged);

#endif /* HWPMC_TASK_EVENT_H */
