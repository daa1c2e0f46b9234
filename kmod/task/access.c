// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * access.c - who may attach. A PMC may be attached to a process if one of these holds:
 *
 *  1. the owner is another kernel module;
 *  2. the process is the caller's own;
 *  3. the caller has CAP_PERFMON (or CAP_SYS_ADMIN);
 *  4. kern.hwpmc.unprivileged_proc_debug is not 0, each of the process's user and
 *     group ids is the caller's real id, and the process is dumpable or the caller
 *     has CAP_SYS_PTRACE in the process's user namespace.
 *
 * Rule 4 is the read half of the kernel's ptrace access check, which is not exported.
 * A module cannot call security modules either; therefore CAP_SYS_PTRACE alone does not
 * permit to attach to another user's process.
 *
 * hwpmc_may_attach() is called twice for each process, before and after the process has
 * a link: an exec in between can gain privileges (attach.c).
 */
#include <linux/binfmts.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>

#include "../compat/task.h"
#include "../core/owner.h"
#include "../core/refuse.h"
#include "../debug/tunables.h"
#include "access.h"

struct task_struct *hwpmc_process_find(pid_t nr, struct hwpmc_hdr *hdr, int *ret)
{
	struct task_struct *leader;
	struct pid *pid;

	if (nr < 0) {
		*ret = hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_PID, nr);
		return NULL;
	}
	pid = nr ? find_get_pid(nr) : get_pid(task_tgid(current));
	leader = get_pid_task(pid, PIDTYPE_TGID);
	put_pid(pid);
	if (!leader)
		*ret = hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_NO_PROCESS, nr);
	return leader;
}

/* As PTRACE_MODE_REALCREDS: the caller's real ids against all ids of the task. */
static bool ids_are_same(struct task_struct *task)
{
	const struct cred *caller = current_cred(), *cred;
	bool same;

	rcu_read_lock();
	cred = __task_cred(task);
	same = uid_eq(caller->uid, cred->euid) && uid_eq(caller->uid, cred->suid) &&
	       uid_eq(caller->uid, cred->uid) && gid_eq(caller->gid, cred->egid) &&
	       gid_eq(caller->gid, cred->sgid) && gid_eq(caller->gid, cred->gid);
	rcu_read_unlock();
	return same;
}

/* The last two conditions of rule 4. */
static bool is_readable(struct task_struct *task)
{
	if (!ids_are_same(task))
		return false;
	/*
	 * Pairs with the barrier of commit_creds(): a task that changes its ids is
	 * made undumpable first, so a reader of the new ids also reads that.
	 */
	smp_rmb();
	return hwpmc_task_is_dumpable(task);
}

int hwpmc_may_attach(const struct hwpmc_owner *owner, struct task_struct *leader,
		     struct hwpmc_hdr *hdr)
{
	if (owner->kernel || same_thread_group(leader, current) || perfmon_capable())
		return 0;
	if (!READ_ONCE(hwpmc_unprivileged_proc_debug))
		return hwpmc_refuse(hdr, -EPERM, HWPMC_WHY_PRIV_TUNABLE,
				    task_tgid_vnr(leader));
	if (!is_readable(leader))
		return hwpmc_refuse(hdr, -EPERM, HWPMC_WHY_PRIV_ATTACH,
				    task_tgid_vnr(leader));
	return 0;
}

bool hwpmc_exec_gained(const struct linux_binprm *bprm)
{
	return bprm->secureexec ||
	       (bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP);
}
