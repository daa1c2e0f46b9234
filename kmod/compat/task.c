// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * task.c - the read half of the kernel's ptrace access rule, which is not
 * exported, and the same question about a program just started. The rule's
 * parts moved between structures (mm_struct to task_exec_state), hence here.
 */
#include <linux/binfmts.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "have.h"
#include "task.h"

#ifdef HAVE_TASK_EXEC_STATE
#include <linux/sched/exec_state.h>
#else
#include <linux/sched/coredump.h>
#endif

/* Like PTRACE_MODE_REALCREDS: the caller's real ids against all of the task's. */
static bool same_ids(struct task_struct *task)
{
	const struct cred *mine = current_cred(), *its;
	bool same;

	rcu_read_lock();
	its = __task_cred(task);
	same = uid_eq(mine->uid, its->euid) && uid_eq(mine->uid, its->suid) &&
	       uid_eq(mine->uid, its->uid) && gid_eq(mine->gid, its->egid) &&
	       gid_eq(mine->gid, its->sgid) && gid_eq(mine->gid, its->gid);
	rcu_read_unlock();
	return same;
}

#ifdef HAVE_TASK_EXEC_STATE
static bool may_dump(struct task_struct *task)
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
#else
static bool may_dump(struct task_struct *task)
{
	struct mm_struct *mm;
	bool ok;

	/* No reference: to give back the last one may take as long as it likes. */
	task_lock(task);
	mm = task->mm;
	/* A kernel thread or one that is past exit_mm(): nothing to protect. */
	ok = !mm || get_dumpable(mm) == SUID_DUMP_USER ||
	     ns_capable(mm->user_ns, CAP_SYS_PTRACE);
	task_unlock(task);
	return ok;
}
#endif

bool hwpmc_task_readable(struct task_struct *task)
{
	if (same_thread_group(task, current) || perfmon_capable())
		return true;
	if (!same_ids(task))
		return false;
	/*
	 * Pairs with the barrier of commit_creds(): a task that changes its ids
	 * becomes undumpable first, so whoever saw the new ids sees that too.
	 */
	smp_rmb();
	return may_dump(task);
}

bool hwpmc_exec_gained(const struct linux_binprm *bprm)
{
	return bprm->secureexec ||
	       (bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP);
}
