// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * task_event.c - fork, exec, exit and names of processes and threads, as records.
 * Called from tracepoint probes. Some kernels run those with preemption on, so it is
 * disabled here for writing into the CPU's ring.
 */
#include <linux/auxvec.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/string.h>

#include "../compat/pagecache.h"
#include "../compat/vma.h"
#include "../core/owner.h"
#include "../sampling/log.h"
#include "../sampling/scratch.h"
#include "../sampling/unwind_maps.h"
#include "buildid.h"
#include "map.h"
#include "map_follow.h"
#include "rt_defer.h"
#include "task_event.h"
#include "task_logs.h"

void hwpmc_emit_task(struct hwpmc_owner *owner, u8 type, u8 flags,
		    struct task_struct *task, const char *comm)
{
	struct hwpmc_log *log = READ_ONCE(owner->log);
	struct hwpmc_log_task *r;

	if (!log)
		return;
	r = hwpmc_log_reserve(log, type, sizeof(*r));
	if (!r)
		return;
	r->hdr.flags = flags;
	r->pid = hwpmc_owner_tgid_nr(owner, task);
	r->tid = hwpmc_owner_tid_nr(owner, task);
	r->parent = 0;
	r->flags = task->flags & PF_KTHREAD ? HWPMC_TASK_KERNEL : 0;
	memset(r->comm, 0, sizeof(r->comm));
	strscpy(r->comm, comm, sizeof(r->comm));
	hwpmc_log_commit(log);
}

struct task_record {
	struct task_struct *task;
	const char *text;
	u8 type;
};

static void emit_task_record(struct hwpmc_owner *owner, void *arg)
{
	struct task_record *record = arg;

	hwpmc_emit_task(owner, record->type, 0, record->task, record->text);
}

static void emit_fork(struct hwpmc_owner *owner, void *arg)
{
	struct hwpmc_log *log = READ_ONCE(owner->log);
	struct task_struct *child = arg;
	struct hwpmc_log_fork *r;

	if (!log)
		return;
	r = hwpmc_log_reserve(log, HWPMC_LOG_PROCFORK, sizeof(*r));
	if (!r)
		return;
	r->parent = hwpmc_owner_tgid_nr(owner, current);
	r->child = hwpmc_owner_tgid_nr(owner, child);
	if (child->mm && child->mm == current->mm)
		r->hdr.flags |= HWPMC_FORK_SHARED;
	hwpmc_log_commit(log);
	/* Readers give the child the name of its parent process, which is its first thread's. */
	if (strncmp(child->comm, current->group_leader->comm, TASK_COMM_LEN))
		hwpmc_emit_task(owner, HWPMC_LOG_COMM_NAME, 0, child, child->comm);
}

void hwpmc_task_event_fork(struct task_struct *child)
{
	/* By the child's target: the PMCs that it inherits are attached already. */
	hwpmc_task_logs_each(child, emit_fork, child);
	hwpmc_map_follow_fork(child);
}

void hwpmc_task_event_thread(struct task_struct *thread)
{
	struct task_record record = { thread, thread->comm, HWPMC_LOG_THR_CREATE };

	hwpmc_task_logs_each(thread, emit_task_record, &record);
}

/* By process number: start time and number of the process whose exit was reported last. */
static u64 exits_reported[256];

/*
 * Is this the exit of the whole process? signal->live may be 0 for several threads that
 * exit at once: the first to see it reports the exit. Another process may use the same
 * slot in between; the second SYSEXIT that this costs is harmless.
 */
static bool is_first_report_of_exit(const struct task_struct *task)
{
	const struct task_struct *leader = task->group_leader;
	u64 process = leader->start_time ^ (u64)leader->tgid << 40;

	if (atomic_read(&task->signal->live))
		return false;
	return xchg(&exits_reported[leader->tgid % ARRAY_SIZE(exits_reported)], process) !=
	       process;
}

void hwpmc_task_event_exit(void)
{
	struct task_record record = { current, "", HWPMC_LOG_THR_EXIT };

	if (is_first_report_of_exit(current)) {
		if (current->mm && atomic_read(&current->mm->mm_users) <= 1)
			hwpmc_unwind_maps_exit(current->mm);
		record.task = current->group_leader;
		record.type = HWPMC_LOG_SYSEXIT;
	}
	hwpmc_task_logs_each(record.task, emit_task_record, &record);
}

void hwpmc_task_event_comm(struct task_struct *task, const char *comm)
{
	struct task_record record = { task, comm, HWPMC_LOG_COMM_NAME };

	hwpmc_task_logs_each(task, emit_task_record, &record);
}

/* ---- exec ---------------------------------------------------------------- */

/* The kernel maps the new program before the exec probe runs. */
static void emit_exec_maps(struct hwpmc_owner *owner)
{
	char *page = this_cpu_ptr(hwpmc_scratch)->path;
	struct hwpmc_vma_walk walk;
	struct vm_area_struct *vma;
	struct hwpmc_map m;

	/* The mm is new: only /proc/PID files can hold the lock. */
	if (!mmap_read_trylock(current->mm))
		return;
	walk = (struct hwpmc_vma_walk)HWPMC_VMA_WALK(current->mm);
	while ((vma = hwpmc_vma_next(&walk))) {
		if (!hwpmc_wants_vma(vma))
			continue;
		hwpmc_map_init(&m, vma);
		hwpmc_map_look_up(&m, page);
		hwpmc_emit_own_map(owner, &m);
	}
	mmap_read_unlock(current->mm);
}

/* A value of the new program's auxiliary vector; 0: there is none. */
static u64 auxiliary_value(const struct mm_struct *mm, u8 word, u64 type)
{
	const u8 *at = (const u8 *)mm->saved_auxv;
	const u8 *end = at + sizeof(mm->saved_auxv) - 2 * word;
	u64 pair[2] = { };

	for (; at <= end; at += 2 * word) {
		memcpy(&pair[0], at, word);
		memcpy(&pair[1], at + word, word);
		if (pair[0] == type)
			return pair[1];
		if (pair[0] == AT_NULL)
			break;
	}
	return 0;
}

/* The kernel has placed the new program before the exec probe runs. No other thread can change
 * its file yet: the mm is new. */
static bool find_place(struct hwpmc_log_place *place)
{
	struct mm_struct *mm = current->mm;
	struct file *file = rcu_dereference_raw(mm->exe_file);
	struct hwpmc_elf_entry entry;
	const void *head;
	struct page *page;
	bool is_elf;

	head = file ? hwpmc_first_page(file, &page) : NULL;
	if (!head)
		return false;
	is_elf = hwpmc_elf_entry(head, PAGE_SIZE, &entry);
	hwpmc_page_put(page);
	if (!is_elf)
		return false;
	place->entry = instruction_pointer(task_pt_regs(current));
	place->interpreter = auxiliary_value(mm, entry.word, AT_BASE);
	place->base = entry.moves ? auxiliary_value(mm, entry.word, AT_ENTRY) - entry.address : 0;
	return true;
}

struct exec {
	const char *path;
	bool placed;			/* .place is set */
	struct hwpmc_log_place place;
};

/*
 * A path that is relative means nothing to a reader elsewhere: the whole path of the
 * program, unless that is the interpreter of a script.
 */
static const char *path_of_program(const char *path)
{
	struct file *file = rcu_dereference_raw(current->mm->exe_file);
	const char *whole;

	if (*path == '/' || !file || IS_ENABLED(CONFIG_PREEMPT_RT))
		return path;
	whole = file_path(file, this_cpu_ptr(hwpmc_scratch)->path, PAGE_SIZE);
	if (IS_ERR(whole) || strcmp(kbasename(whole), kbasename(path)))
		return path;
	return whole;
}

static void emit_exec_record(struct hwpmc_owner *owner, struct hwpmc_log *log,
			    const struct exec *exec)
{
	const char *path = path_of_program(exec->path);
	size_t len = min_t(size_t, strlen(path), HWPMC_LOG_PATH_MAX - 1);
	size_t size = ALIGN(sizeof(struct hwpmc_log_exec) + len + 1, HWPMC_LOG_ALIGN);
	size_t more = exec->placed ? sizeof(exec->place) : 0;
	struct hwpmc_log_exec *r;

	r = hwpmc_log_reserve(log, HWPMC_LOG_PROCEXEC, size + more);
	if (!r)
		return;
	r->pid = hwpmc_owner_tgid_nr(owner, current);
	r->tid = hwpmc_owner_tid_nr(owner, current);
	memset(r->comm, 0, size - offsetof(typeof(*r), comm));
	strscpy(r->comm, current->comm, sizeof(r->comm));
	memcpy(r->path, path, len);
	if (exec->placed) {
		r->hdr.flags = HWPMC_EXEC_HAS_PLACE;
		memcpy((u8 *)r + size, &exec->place, sizeof(exec->place));
	}
	hwpmc_log_commit(log);
}

static void emit_exec(struct hwpmc_owner *owner, void *arg)
{
	struct hwpmc_log *log = READ_ONCE(owner->log);

	if (!log)
		return;
	emit_exec_record(owner, log, arg);
	if (!IS_ENABLED(CONFIG_PREEMPT_RT))
		emit_exec_maps(owner);
}

void hwpmc_task_event_exec(const char *path)
{
	struct exec exec = { .path = path };

	hwpmc_map_follow_exec();
	/* To put a page back can sleep on a real-time kernel. */
	if (!IS_ENABLED(CONFIG_PREEMPT_RT) && hwpmc_task_logs_any(current))
		exec.placed = find_place(&exec.place);
	hwpmc_task_logs_each(current, emit_exec, &exec);
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		hwpmc_defer_exec_maps();
}
