// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * access.c - who may attach. A PMC may be attached to a process if one of these holds:
 *
 *  1. the owner is another kernel module;
 *  2. the process is the caller's own;
 *  3. the caller has CAP_PERFMON (or CAP_SYS_ADMIN);
 *  4. kern.hwpmc.unprivileged_proc_debug is not 0, and the caller may read the process's
 *     memory by the rule of ptrace(2):
 *      - each of the process's user and group ids is the caller's real id;
 *      - the process is dumpable, or the caller has CAP_SYS_PTRACE in the user
 *        namespace of its memory;
 *      - both are in the same user namespace and the process has no capability that the
 *        caller has not, or the caller has CAP_SYS_PTRACE in the process's.
 *
 * The kernel's function for rule 4 is not exported. Where it reads the file-system ids
 * (/proc) or the real ids (process_vm_readv), or the effective or the permitted
 * capabilities, rule 4 demands both. It is stricter in one more point: a module cannot
 * call security modules, which can refuse what the rule allows; therefore CAP_SYS_PTRACE
 * alone does not permit to attach to another user's process.
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
#include "../base/refusal.h"
#include "../debug/tunables.h"
#include "access.h"

/* type: PIDTYPE_TGID, a process; PIDTYPE_PID, a thread. */
static struct task_struct *find_task(pid_t nr, enum pid_type type, struct hwpmc_hdr *hdr,
				     int *ret)
{
	struct task_struct *task;
	struct pid *pid;

	if (nr < 0) {
		*ret = hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_PID, nr);
		return NULL;
	}
	pid = nr ? find_get_pid(nr) : get_task_pid(current, type);
	task = get_pid_task(pid, type);
	put_pid(pid);
	*ret = task ? 0 : hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_NO_PROCESS, nr);
	return task;
}

struct task_struct *hwpmc_process_find(pid_t nr, struct hwpmc_hdr *hdr, int *ret)
{
	return find_task(nr, PIDTYPE_TGID, hdr, ret);
}

struct task_struct *hwpmc_task_find(pid_t nr, struct hwpmc_hdr *hdr, int *ret)
{
	return find_task(nr, PIDTYPE_PID, hdr, ret);
}

static bool ids_are_same(const struct cred *caller, const struct cred *cred)
{
	return uid_eq(caller->fsuid, caller->uid) && gid_eq(caller->fsgid, caller->gid) &&
	       uid_eq(caller->uid, cred->euid) && uid_eq(caller->uid, cred->suid) &&
	       uid_eq(caller->uid, cred->uid) && gid_eq(caller->gid, cred->egid) &&
	       gid_eq(caller->gid, cred->sgid) && gid_eq(caller->gid, cred->gid);
}

static bool caps_are_within(const struct cred *caller, const struct cred *cred)
{
	return caller->user_ns == cred->user_ns &&
	       cap_issubset(cred->cap_permitted, caller->cap_effective);
}

/* The last three conditions of rule 4. */
static bool is_readable(struct task_struct *task)
{
	const struct cred *caller = current_cred(), *cred;
	bool ids, caps;

	rcu_read_lock();
	cred = __task_cred(task);
	ids = ids_are_same(caller, cred);
	caps = caps_are_within(caller, cred) ||
	       ns_capable(cred->user_ns, CAP_SYS_PTRACE);
	rcu_read_unlock();
	/*
	 * Pairs with the barrier of commit_creds(): a task that changes its ids is
	 * made undumpable first, so a reader of the new ids also reads that.
	 */
	smp_rmb();
	return ids && caps && hwpmc_task_is_dumpable(task);
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

static bool has_caps_of(const struct cred *one, const struct cred *other)
{
	return cap_issubset(other->cap_effective, one->cap_effective);
}

const struct cred *hwpmc_cred_fewer_rights(const struct cred *one, const struct cred *other)
{
	if (one->user_ns != other->user_ns || !uid_eq(one->uid, other->uid) ||
	    !uid_eq(one->fsuid, other->fsuid) || !gid_eq(one->gid, other->gid) ||
	    !gid_eq(one->fsgid, other->fsgid))
		return NULL;
	if (has_caps_of(other, one))
		return one;
	return has_caps_of(one, other) ? other : NULL;
}

bool hwpmc_exec_gained(const struct linux_binprm *bprm, const struct cred *owner)
{
	const struct cred *cred = current_cred();

	if (bprm->interp_flags & BINPRM_FLAGS_ENFORCE_NONDUMP)
		return true;
	return bprm->secureexec &&
	       (!owner || !ids_are_same(owner, cred) || !caps_are_within(owner, cred) ||
		!hwpmc_current_is_dumpable());
}
