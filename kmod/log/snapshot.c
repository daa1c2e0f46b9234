// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * snapshot.c - modules, processes, threads and mappings that exist when a PMC that
 * samples is started. Process context, without hwpmc_lock: the log is held by a reference,
 * the PMC is looked up by its id each time. The hooks that report changes are registered
 * before, so no change is lost in between.
 */
#include <linux/delay.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>

#include "../compat/memory.h"
#include "../compat/vma.h"
#include "../core/owner.h"
#include "../core/pmc.h"
#include "../sampling/log_object.h"
#include "../sampling/unwind_maps.h"
#include "../task/readable.h"
#include "../task/target.h"
#include "../task/walk.h"
#include "end.h"
#include "map.h"
#include "map_copied.h"
#include "map_follow.h"
#include "map_retry.h"
#include "modules.h"
#include "snapshot.h"
#include "task_event.h"

/*
 * What a snapshot waits for; only other threads of the same owner wait meanwhile. At most
 * so long in one snapshot, all waits of a kind together, and never with a fatal signal
 * pending. No lock of another program is held while it waits.
 *
 *	room in a ring	ROOM_MS, by steps of ROOM_STEP_MS, for a PMC whose allocator
 *			was privileged; others do not wait. Then the record is lost,
 *			counted as a drop of a full ring.
 *	an mmap_lock,	LOCK_MS, by steps of LOCK_STEP_MS, as a program can keep its
 *	an exec		own for ever. Then the mappings of that process are lost,
 *			counted as one drop, cause BUSY.
 *	first pages	of files, for their build-ids: map_retry.c has the limits, a second
 *			each for what is asked for now and for what is being read.
 */
#define ROOM_MS		2000
#define ROOM_STEP_MS	20
#define LOCK_MS		500
#define LOCK_STEP_MS	1
/* Bytes of mappings that are copied at a time. */
#define COPIES		(64 * 1024)

struct copied_map;

struct snapshot {
	struct hwpmc_owner *owner;
	struct hwpmc_log *log;
	u32 id;				/* of the PMC */
	bool privileged;		/* pmc->privileged */
	char *page;			/* for one path */
	struct copied_map *copies;	/* COPIES bytes, */
	size_t copied;			/* of which so many are used */
	unsigned int room_left;		/* ms */
	unsigned int lock_left;		/* ms */
};

/* Take a wait's next step off what is left. False: wait no longer. */
static bool may_wait(unsigned int *left, unsigned int step)
{
	if (*left < step || fatal_signal_pending(current))
		return false;
	*left -= step;
	return true;
}

static bool wait_for_room(struct snapshot *s)
{
	if (!may_wait(&s->room_left, ROOM_STEP_MS))
		return false;
	wake_up(&s->owner->log_wait);
	msleep(ROOM_STEP_MS);
	return true;
}

static bool snapshot_lock_mm(struct snapshot *s, struct mm_struct *mm)
{
	while (!mmap_read_trylock(mm)) {
		if (!may_wait(&s->lock_left, LOCK_STEP_MS))
			return false;
		usleep_range(LOCK_STEP_MS * 1000 / 2, LOCK_STEP_MS * 1000);
	}
	return true;
}

static bool lock_exec(struct snapshot *s, struct task_struct *leader)
{
	while (!hwpmc_exec_trylock(leader)) {
		if (!may_wait(&s->lock_left, LOCK_STEP_MS))
			return false;
		usleep_range(LOCK_STEP_MS * 1000 / 2, LOCK_STEP_MS * 1000);
	}
	return true;
}

/* The mappings of a process, or of all where there is no memory to list them. */
static void drop_mappings(struct snapshot *s)
{
	hwpmc_log_drop(s->log, HWPMC_DROP_BUSY);
}

/* ---- mappings of one process ---------------------------------------------- */

/*
 * They are copied under mmap_lock and written without it: to write can mean to wait for a
 * reader, and the program waits for its lock meanwhile. What is mapped between two pieces is
 * reported by the hooks, too.
 */
struct copied_map {
	struct hwpmc_map map;	/* .path is what follows; .file is not held */
	char path[];
};

#define COPY_MOST	ALIGN(sizeof(struct copied_map) + PAGE_SIZE, sizeof(u64))

static void copy_map(struct snapshot *s, struct vm_area_struct *vma)
{
	struct copied_map *to = (void *)s->copies + s->copied;
	size_t len;

	hwpmc_map_init(&to->map, vma);
	hwpmc_map_find_copied(&to->map, vma, GFP_KERNEL, NULL);
	hwpmc_map_look_up(&to->map, s->page);
	len = strlen(to->map.path) + 1;
	memcpy(to->path, to->map.path, len);
	to->map.path = to->path;
	to->map.file = NULL;
	s->copied += ALIGN(sizeof(*to) + len, sizeof(u64));
}

/* From *at on, as many as there is room for. False: these were the last. */
static bool copy_mappings(struct snapshot *s, struct mm_struct *mm, unsigned long *at)
{
	struct hwpmc_vma_walk walk = HWPMC_VMA_WALK_FROM(mm, *at);
	struct vm_area_struct *vma;

	s->copied = 0;
	if (!*at)
		hwpmc_map_follow_all(mm, GFP_KERNEL);
	while ((vma = hwpmc_vma_next(&walk))) {
		if (!hwpmc_wants_vma(vma))
			continue;
		if (s->copied + COPY_MOST > COPIES)
			return true;
		copy_map(s, vma);
		*at = vma->vm_end;
	}
	return false;
}

/*
 * Records are written under RCU, and only while the log is open: another thread may close
 * it meanwhile, end it, and configure the next.
 */
static bool emit_map(struct snapshot *s, s32 pid, const struct hwpmc_map *m)
{
	bool done;

	rcu_read_lock();
	done = !hwpmc_log_is_open(s->owner) ||
	       hwpmc_emit_map(s->owner, pid, m, HWPMC_LOG_SNAPSHOT);
	rcu_read_unlock();
	return done;
}

/* Stops at an exec: a wait may be long, and what is left would be taken for the new program's. */
static void write_copies(struct snapshot *s, struct task_struct *leader,
			 struct mm_struct *mm)
{
	s32 pid = hwpmc_owner_tgid_nr(s->owner, leader);
	struct copied_map *copy;
	size_t at;

	for (at = 0; at < s->copied;
	     at += ALIGN(sizeof(*copy) + strlen(copy->path) + 1, sizeof(u64))) {
		copy = (void *)s->copies + at;
		while (!emit_map(s, pid, &copy->map) && wait_for_room(s))
			if (!hwpmc_memory_is(leader, mm))
				return;
	}
}

static void emit_mappings(struct snapshot *s, struct task_struct *leader,
			 struct mm_struct *mm)
{
	unsigned long at = 0;
	bool more, held;

	do {
		if (!snapshot_lock_mm(s, mm)) {
			drop_mappings(s);
			return;
		}
		held = hwpmc_mappings_hold(mm);
		more = held && copy_mappings(s, mm, &at);
		mmap_read_unlock(mm);
		if (!held)
			return;
		hwpmc_mappings_put(mm);
		/* After an exec they would be taken for those of the new program. */
		if (!hwpmc_memory_is(leader, mm))
			return;
		write_copies(s, leader, mm);
		cond_resched();
	} while (more);
}

static void emit_threads(struct snapshot *s, struct task_struct *leader)
{
	struct task_struct *task;

	rcu_read_lock();
	for_each_thread(leader, task) {
		if (!hwpmc_log_is_open(s->owner))
			break;
		preempt_disable();
		hwpmc_emit_task(s->owner, task == leader ? HWPMC_LOG_PROC_CREATE :
			       HWPMC_LOG_THR_CREATE, HWPMC_LOG_SNAPSHOT, task,
			       task->comm);
		preempt_enable();
	}
	rcu_read_unlock();
}

/*
 * What is listed is what the caller may see now. Without the lock, between the right and the
 * memory could come an exec of a set-id program.
 */
static void emit_process(struct snapshot *s, struct task_struct *leader,
			bool (*is_wanted)(struct snapshot *s, struct task_struct *leader))
{
	struct mm_struct *mm = NULL;
	bool wanted, seen = false;

	if (!lock_exec(s, leader)) {
		drop_mappings(s);
		return;
	}
	wanted = is_wanted(s, leader);
	if (wanted)
		seen = hwpmc_may_see(s->owner, s->privileged, leader);
	if (seen)
		mm = hwpmc_memory_grab(leader);
	hwpmc_exec_unlock(leader);
	if (wanted && !seen)
		drop_mappings(s);
	if (seen)
		emit_threads(s, leader);
	if (!mm)
		return;
	emit_mappings(s, leader, mm);
	mmdrop(mm);
}

/* ---- the steps ----------------------------------------------------------- */

/* Once in a log: from then on the module notifier reports changes. */
static void snapshot_modules(struct snapshot *s)
{
	if (s->log->has_modules)
		return;
	rcu_read_lock();
	if (hwpmc_log_is_open(s->owner))
		hwpmc_emit_modules(s->owner);
	rcu_read_unlock();
	s->log->has_modules = true;
}

/* The process with the lowest tgid above *nr, with a reference. */
static struct task_struct *next_process(pid_t *nr)
{
	struct task_struct *task, *best = NULL;

	rcu_read_lock();
	for_each_process(task)
		if (task->tgid > *nr && (!best || task->tgid < best->tgid))
			best = task;
	if (best) {
		get_task_struct(best);
		*nr = best->tgid;
	}
	rcu_read_unlock();
	return best;
}

static bool every_process(struct snapshot *s, struct task_struct *leader)
{
	return true;
}

/* All processes of the machine, for system scope; once in a log, too. */
static void snapshot_processes(struct snapshot *s)
{
	struct task_struct *task;
	pid_t nr = 0;

	if (s->log->has_processes &&
	    (s->log->has_walk_maps || !hwpmc_unwind_maps_wanted()))
		return;
	while ((task = next_process(&nr))) {
		emit_process(s, task, every_process);
		put_task_struct(task);
		cond_resched();
	}
	s->log->has_processes = true;
	s->log->has_walk_maps = hwpmc_unwind_maps_wanted();
}

struct pids {
	struct pid **pid;
	unsigned int n;		/* targets */
	unsigned int max;	/* that there is room for */
};

static void add_pid_locked(struct hwpmc_link *link, void *arg)
{
	struct pids *p = arg;

	lockdep_assert_held(&hwpmc_targets_lock);
	if (p->n < p->max)
		p->pid[p->n] = get_pid(link->target->pid);
	p->n++;
}

static void get_targets(struct snapshot *s, struct pids *p)
{
	struct hwpmc_pmc *pmc;

	p->n = 0;
	rcu_read_lock();
	pmc = hwpmc_owner_find_process(s->owner, s->id);
	if (pmc)
		hwpmc_walk_links(pmc, add_pid_locked, p);
	rcu_read_unlock();
}

static void put_targets(struct pids *p)
{
	unsigned int i;

	for (i = 0; i < min(p->n, p->max); i++)
		put_pid(p->pid[i]);
}

/* An exec of a program with more rights has taken the PMC off. */
static bool is_attached(struct snapshot *s, struct task_struct *leader)
{
	struct hwpmc_target *target;
	struct hwpmc_pmc *pmc;
	bool yes;

	rcu_read_lock();
	pmc = hwpmc_owner_find_process(s->owner, s->id);
	target = hwpmc_target_find(leader);
	yes = pmc && target && READ_ONCE(target->link[pmc->row].pmc) == pmc;
	rcu_read_unlock();
	return yes;
}

static void snapshot_target(struct snapshot *s, struct pid *pid)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_TGID);

	if (!task)
		return;
	emit_process(s, task, is_attached);
	put_task_struct(task);
	cond_resched();
}

/* Processes that a process-scope PMC is attached to. What they fork meanwhile is reported
 * by the hooks. */
static void snapshot_targets(struct snapshot *s)
{
	struct pids p = { .max = 64 };
	unsigned int i;

	for (;;) {
		p.pid = kvmalloc_array(p.max, sizeof(struct pid *), GFP_KERNEL);
		if (!p.pid) {
			drop_mappings(s);
			return;
		}
		get_targets(s, &p);
		if (p.n <= p.max)
			break;
		put_targets(&p);
		kvfree(p.pid);
		p.max = 2 * p.n;
	}
	for (i = 0; i < p.n; i++)
		snapshot_target(s, p.pid[i]);
	put_targets(&p);
	kvfree(p.pid);
}

static void snapshot_take(struct snapshot *s)
{
	if (mutex_lock_killable(&s->log->snapshot_lock))
		return;
	s->page = (char *)__get_free_page(GFP_KERNEL);
	s->copies = kvmalloc(COPIES, GFP_KERNEL);
	if (s->page && s->copies) {
		snapshot_modules(s);
		if (hwpmc_mode_is_system(HWPMC_ID_MODE(s->id)))
			snapshot_processes(s);
		else
			snapshot_targets(s);
		hwpmc_map_retries_wait();
	} else {
		drop_mappings(s);
	}
	kvfree(s->copies);
	free_page((unsigned long)s->page);
	mutex_unlock(&s->log->snapshot_lock);
}

bool hwpmc_needs_snapshot(const struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	return hwpmc_pmc_samples(pmc) && hwpmc_log_is_open(pmc->owner) &&
	       pmc->state != HWPMC_STATE_RUNNING;
}

void hwpmc_snapshot(struct hwpmc_owner *owner, u32 id, bool privileged)
{
	struct snapshot s = {
		.owner = owner,
		.log = hwpmc_log_get(owner),
		.id = id,
		.privileged = privileged,
		.room_left = privileged ? ROOM_MS : 0,
		.lock_left = LOCK_MS,
	};

	if (!s.log)
		return;
	snapshot_take(&s);
	hwpmc_log_put(s.log);
}
