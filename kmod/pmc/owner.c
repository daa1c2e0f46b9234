// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * owner.c - makes and frees owners (open to last close), and releases what they hold at
 * the exec and the exit of their process and at a revocation. Process context; hwpmc_lock
 * is taken here.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include <linux/user_namespace.h>

#include "../core/owner.h"
#include "../core/work.h"
#include "../debug/trace.h"
#include "../log/end.h"
#include "../sampling/log.h"
#include "../sampling/log_object.h"
#include "../sampling/unwind.h"
#include "allocate.h"
#include "hooks.h"
#include "owner.h"

static void release_pmcs(struct hwpmc_owner *owner, bool doomed_only)
{
	struct hwpmc_pmc *pmc, *next;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry_safe(pmc, next, &owner->pmcs, owner_node)
		if (!doomed_only || READ_ONCE(pmc->doomed))
			hwpmc_pmc_release(pmc);
}

/* Its thread group is dead: a descriptor that others have keeps the owner, or one in the
 * queue of a socket that nobody has. Any context that may take RCU. */
static bool has_exited(const struct hwpmc_owner *owner)
{
	struct task_struct *leader;
	bool yes;

	if (owner->kernel)
		return false;
	rcu_read_lock();
	leader = pid_task(owner->tgid, PIDTYPE_TGID);
	yes = !leader || (READ_ONCE(leader->exit_state) && thread_group_empty(leader));
	rcu_read_unlock();
	return yes;
}

static bool holds_anything(const struct hwpmc_owner *owner)
{
	lockdep_assert_held(&hwpmc_lock);
	return !list_empty(&owner->pmcs) || owner->log || owner->tables;
}

/* What it held when it executed a program (hwpmc_owner_exec()), or when its process exited;
 * false: neither, or that is done. */
static bool drop_locked(struct hwpmc_owner *owner, struct hwpmc_tables **tables)
{
	bool exited;

	lockdep_assert_held(&hwpmc_lock);
	exited = has_exited(owner) && holds_anything(owner);
	if (!xchg(&owner->executed, false) && !exited)
		return false;
	release_pmcs(owner, !exited);
	hwpmc_log_end_later(hwpmc_log_end(owner, false), false);
	hwpmc_tables_take(owner, tables);
	return true;
}

/* One owner whose process has executed a program or exited; false: there is none. */
static bool drop_one_locked(struct hwpmc_tables **tables)
{
	struct hwpmc_owner *owner;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry(owner, &hwpmc_owners, node) {
		if (!owner->paused && drop_locked(owner, tables))
			return true;
		/* hwpmc_owner_resume() queues the work item again. An heir can operate a PMC
		 * after the exit. */
		if (owner->paused && has_exited(owner))
			WRITE_ONCE(owner->executed, true);
	}
	return false;
}

/* The lock is free between two owners, and their tables wait for one grace period: a
 * process may have thousands, and others wait for what they hold. */
static void drop_work(struct work_struct *work)
{
	struct hwpmc_tables *tables = NULL;
	bool more;

	do {
		mutex_lock(&hwpmc_lock);
		more = drop_one_locked(&tables);
		mutex_unlock(&hwpmc_lock);
		cond_resched();
	} while (more);
	hwpmc_tables_free(tables);
}

int hwpmc_owner_drop(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	struct hwpmc_tables *tables = NULL;
	int ret = hwpmc_owner_lock(owner, hdr);

	if (ret)
		return ret;
	drop_locked(owner, &tables);
	mutex_unlock(&hwpmc_lock);
	hwpmc_tables_free(tables);
	return 0;
}

static DECLARE_WORK(exited_work, drop_work);

/* The process has exited after it closed its descriptors: mostly no owner is left of them. */
static int note_exit(struct wait_queue_entry *entry, unsigned int mode, int sync, void *key)
{
	hwpmc_work(&exited_work);
	return 0;
}

/* The kernel's own pid, that of owners in it, has no queue that is initialized. */
static void watch_exit(struct hwpmc_owner *owner)
{
	if (owner->kernel)
		return;
	init_waitqueue_func_entry(&owner->exit, note_exit);
	add_wait_queue(&owner->tgid->wait_pidfd, &owner->exit);
}

int hwpmc_owners_init(void)
{
	hwpmc_owner_exec_init(drop_work);
	return hwpmc_log_ends_init();
}

void hwpmc_owners_exit(void)
{
	hwpmc_owner_exec_exit();
	cancel_work_sync(&exited_work);
	hwpmc_log_ends_exit();
	hwpmc_sigio_exit();
}

static void owner_abort(struct hwpmc_owner *owner)
{
	put_pid_ns(owner->pid_ns);
	put_pid(owner->tgid);
	kfree(owner);
}

/*
 * Whom limits count for. A user may have thousands of ids in a user namespace
 * (/etc/subuid): there it is the one who made the outermost namespace.
 */
static kuid_t real_user(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

struct hwpmc_owner *hwpmc_owner_new(bool kernel)
{
	struct hwpmc_owner *owner = kzalloc(sizeof(*owner), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!owner)
		return ERR_PTR(-ENOMEM);
	owner->uid = real_user();
	owner->opener_uid = current_uid();
	owner->opener_euid = current_euid();
	owner->tgid = get_pid(task_tgid(kernel ? &init_task : current));
	owner->kernel = kernel;
	owner->pid_ns = get_pid_ns(task_active_pid_ns(current));
	INIT_LIST_HEAD(&owner->pmcs);
	xa_init_flags(&owner->system, XA_FLAGS_ACCOUNT);
	refcount_set(&owner->users, 1);
	init_waitqueue_head(&owner->log_wait);
	init_waitqueue_head(&owner->resumed);
	ret = hwpmc_owner_join(owner);
	if (ret) {
		owner_abort(owner);
		return ERR_PTR(ret);
	}
	watch_exit(owner);
	trace_hwpmc_owner_allocate(owner->tgid);
	return owner;
}

int hwpmc_owner_watch_exec(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	lockdep_assert_held(&hwpmc_lock);
	if (owner->exec_watched)
		return 0;
	if (hwpmc_hooks_get(HWPMC_HOOKS_OWNER))
		return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	owner->exec_watched = true;
	return 0;
}

/*
 * Anybody can be made to close a descriptor last: whoever received it through a socket, and
 * the kernel's own threads, which all users share. Only the owner's process waits.
 */
static bool is_own_process(const struct hwpmc_owner *owner)
{
	return !(current->flags & PF_KTHREAD) && task_tgid(current) == owner->tgid;
}

void hwpmc_owner_end(struct hwpmc_owner *owner)
{
	struct hwpmc_tables *tables = NULL;

	trace_hwpmc_owner_release(owner->tgid);
	if (!owner->kernel)
		remove_wait_queue(&owner->tgid->wait_pidfd, &owner->exit);
	mutex_lock(&hwpmc_lock);
	hwpmc_owner_leave(owner);
	release_pmcs(owner, false);
	hwpmc_log_end_later(hwpmc_log_end(owner, false), false);
	hwpmc_tables_take(owner, &tables);
	if (owner->exec_watched)
		hwpmc_hooks_put(HWPMC_HOOKS_OWNER);
	mutex_unlock(&hwpmc_lock);
	hwpmc_tables_free(tables);
	/* Its logs are complete when its descriptor is closed. */
	if (is_own_process(owner))
		hwpmc_log_ends_await(owner);
	hwpmc_owner_put(owner);
}

/*
 * Would the owner go on waiting for records, or samples? One that only counts gets an error from
 * its next operation, and POLLHUP: a program that is there for something else lives on.
 */
static bool needs_signal_locked(const struct hwpmc_owner *owner)
{
	const struct hwpmc_pmc *pmc;

	lockdep_assert_held(&hwpmc_lock);
	if (hwpmc_log_is_open(owner))
		return true;
	list_for_each_entry(pmc, &owner->pmcs, owner_node)
		if (hwpmc_pmc_samples(pmc))
			return true;
	return false;
}

/* Revoke one owner that is not revoked yet, or return NULL. *tables: the owner's, which the
 * caller frees without the lock; and the reference to the owner. */
static struct hwpmc_owner *revoke_one_locked(struct hwpmc_tables **tables)
{
	struct hwpmc_owner *owner;
	bool discard;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry(owner, &hwpmc_owners, node) {
		if (owner->revoked || owner->kernel ||
		    owner->tgid == task_tgid(current))
			continue;
		WRITE_ONCE(owner->revoked, true);
		refcount_inc(&owner->users);
		if (needs_signal_locked(owner))
			kill_pid(owner->tgid, SIGBUS, 1);
		hwpmc_owner_settle(owner);
		release_pmcs(owner, false);
		/* The administrator does not wait for readers, which a mapped log has none of. */
		discard = !owner->log || !owner->log->mapped;
		hwpmc_log_end_later(hwpmc_log_end(owner, discard), true);
		hwpmc_tables_take(owner, tables);
		wake_up_all(&owner->log_wait);
		return owner;
	}
	return NULL;
}

void hwpmc_owners_revoke(void)
{
	struct hwpmc_tables *tables = NULL;
	struct hwpmc_owner *owner;

	do {
		mutex_lock(&hwpmc_lock);
		owner = revoke_one_locked(&tables);
		mutex_unlock(&hwpmc_lock);
		if (owner)
			hwpmc_owner_put(owner);
	} while (owner);
	hwpmc_log_ends_discard();
	hwpmc_tables_free(tables);
}
