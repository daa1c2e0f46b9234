// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * sigio.c - SIGIO for the process of an owner, if it handles or awaits it. Linux ends a
 * process that does neither, at the latest when it unblocks the signal; FreeBSD ignores it.
 * The masks of its threads tell whether a process awaits it. A thread that blocks all
 * signals does not tell: libraries and profilers do that for a moment, around the start of
 * a thread. If all threads do, the process is looked at again later.
 */
#include <linux/atomic.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/pid.h>
#include <linux/sched/signal.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

#include "../debug/trace.h"
#include "owner.h"
#include "work.h"

/* A process that blocks all signals for a second waits for them. */
#define LOOKS		100
#define LOOK_DELAY	msecs_to_jiffies(10)

enum sigio { SIGIO_UNWANTED, SIGIO_WANTED, SIGIO_UNDECIDED };

static bool set_has(const sigset_t *set, int signal)
{
	return sigismember((sigset_t *)set, signal);
}

/* Linux never sends SIGSTKFLT, so no program names it: the set was filled. */
static bool blocks_all(const sigset_t *set)
{
	return set_has(set, SIGIO) && set_has(set, SIGSTKFLT);
}

static bool blocks_to_wait(const sigset_t *set)
{
	return set_has(set, SIGIO) && !set_has(set, SIGSTKFLT);
}

/* In sigtimedwait() what is waited for is not blocked, and .real_blocked is what was. */
static bool waits_now(const struct task_struct *task)
{
	return set_has(&task->real_blocked, SIGIO) && !set_has(&task->blocked, SIGIO);
}

/* C libraries reserve SIGRTMIN and block it only for a moment, so that a process that
 * blocks it still at the last look does not wait.
 */
static enum sigio decide_by_threads(struct task_struct *leader, bool last)
{
	enum sigio verdict = SIGIO_UNWANTED;
	struct task_struct *task;
	bool waits = false;

	for_each_thread(leader, task) {
		if (task->flags & PF_EXITING)
			continue;
		if (waits_now(task) || blocks_to_wait(&task->blocked))
			waits = true;
		else if (!blocks_all(&task->blocked))
			return SIGIO_UNWANTED;
		else if (!last)
			verdict = SIGIO_UNDECIDED;
		else if (set_has(&task->blocked, SIGRTMIN))
			return SIGIO_UNWANTED;
		else
			verdict = SIGIO_WANTED;
	}
	return waits ? SIGIO_WANTED : verdict;
}

static enum sigio decide_now(struct pid *tgid, bool last)
{
	enum sigio verdict = SIGIO_UNWANTED;
	struct sighand_struct *sighand;
	struct task_struct *leader;

	rcu_read_lock();
	leader = pid_task(tgid, PIDTYPE_TGID);
	sighand = leader ? rcu_dereference(leader->sighand) : NULL;
	if (sighand && sighand->action[SIGIO - 1].sa.sa_handler != SIG_DFL)
		verdict = SIGIO_WANTED;
	else if (sighand)
		verdict = decide_by_threads(leader, last);
	rcu_read_unlock();
	return verdict;
}

/*
 * The process may have executed a set-id program since, whose log still ends: as for SIGIO of
 * other files, the ids of who opened the device decide.
 */
static bool may_signal(const struct hwpmc_owner *owner)
{
	struct task_struct *leader;
	const struct cred *cred;
	bool may = false;

	rcu_read_lock();
	leader = pid_task(owner->tgid, PIDTYPE_TGID);
	if (leader) {
		cred = __task_cred(leader);
		may = uid_eq(owner->opener_euid, GLOBAL_ROOT_UID) ||
		      uid_eq(owner->opener_euid, cred->suid) ||
		      uid_eq(owner->opener_euid, cred->uid) ||
		      uid_eq(owner->opener_uid, cred->suid) ||
		      uid_eq(owner->opener_uid, cred->uid);
	}
	rcu_read_unlock();
	return may;
}

static void signal_owner(const struct hwpmc_owner *owner)
{
	if (!may_signal(owner))
		return;
	trace_hwpmc_owner_signal(owner->tgid);
	kill_pid(owner->tgid, SIGIO, 1);
}

static void sigio_look_again(struct hwpmc_owner *owner, void *undecided)
{
	int looks = atomic_read(&owner->sigio_looks);
	enum sigio verdict;

	if (!looks)
		return;
	verdict = decide_now(owner->tgid, looks == 1);
	/* Before the signal: what is due from now on begins to count anew. */
	atomic_xchg(&owner->sigio_looks, verdict == SIGIO_UNDECIDED ? looks - 1 : 0);
	if (verdict == SIGIO_UNDECIDED)
		*(bool *)undecided = true;
	else if (verdict == SIGIO_WANTED)
		signal_owner(owner);
}

static void sigio_look_work(struct work_struct *work)
{
	bool undecided = false;

	rcu_read_lock();
	hwpmc_owners_each_rcu(sigio_look_again, &undecided);
	rcu_read_unlock();
	if (undecided)
		hwpmc_work_later(to_delayed_work(work), LOOK_DELAY);
}

static DECLARE_DELAYED_WORK(looks_work, sigio_look_work);

void hwpmc_sigio(struct hwpmc_owner *owner)
{
	switch (decide_now(owner->tgid, false)) {
	case SIGIO_WANTED:
		signal_owner(owner);
		break;
	case SIGIO_UNDECIDED:
		/* Not from the beginning where it is due already: an owner may read often. */
		atomic_cmpxchg(&owner->sigio_looks, 0, LOOKS);
		hwpmc_work_later(&looks_work, LOOK_DELAY);
		break;
	case SIGIO_UNWANTED:
		break;
	}
}

void hwpmc_sigio_exit(void)
{
	cancel_delayed_work_sync(&looks_work);
}
