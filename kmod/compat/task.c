// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * task.c - where a kernel keeps whether a task is dumpable: in task_exec_state, or
 * (before 7.x) in mm_struct.
 */
#include <linux/capability.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "have.h"
#include "task.h"

#ifdef HAVE_TASK_EXEC_STATE
#include <linux/sched/exec_state.h>

bool hwpmc_task_is_dumpable(struct task_struct *task)
{
	const struct task_exec_state *state;
	bool ok;

	rcu_read_lock();
	state = rcu_dereference(task->exec_state);
	ok = state && (READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER ||
		       ns_capable(state->user_ns, CAP_SYS_PTRACE));
	rcu_read_unlock();
	return ok;
}

bool hwpmc_current_is_dumpable(void)
{
	const struct task_exec_state *state;
	bool yes;

	rcu_read_lock();
	state = rcu_dereference(current->exec_state);
	yes = state && READ_ONCE(state->dumpable) == TASK_DUMPABLE_OWNER;
	rcu_read_unlock();
	return yes;
}
#else
#include <linux/sched/coredump.h>

/* Without a reference to the mm: releasing the last one has no time limit. */
static bool thread_is_dumpable(struct task_struct *task, bool *has_memory)
{
	struct mm_struct *mm;
	bool ok;

	task_lock(task);
	mm = task->mm;
	ok = !mm || get_dumpable(mm) == SUID_DUMP_USER ||
	     ns_capable(mm->user_ns, CAP_SYS_PTRACE);
	*has_memory = mm;
	task_unlock(task);
	return ok;
}

/* The first thread may have exited before the others. Of a kernel thread, or if all are past
 * exit_mm(), there is no memory to protect. */
bool hwpmc_task_is_dumpable(struct task_struct *task)
{
	struct task_struct *thread;
	bool has_memory, ok;

	ok = thread_is_dumpable(task, &has_memory);
	if (has_memory)
		return ok;
	rcu_read_lock();
	for_each_thread(task, thread) {
		ok = thread_is_dumpable(thread, &has_memory);
		if (has_memory)
			break;
	}
	rcu_read_unlock();
	return ok;
}

bool hwpmc_current_is_dumpable(void)
{
	return get_dumpable(current->mm) == SUID_DUMP_USER;
}
#endif
