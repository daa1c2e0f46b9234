// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * owner.c - makes and frees owners (open to last close), and releases what they hold at
 * their exec and at a revocation. Process context; hwpmc_lock is taken here.
 */
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "../core/owner.h"
#include "../debug/trace.h"
#include "../log/configure.h"
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

/* What it held when it executed a program (hwpmc_owner_exec()); false: it has not, or that
 * is done. */
static bool drop_locked(struct hwpmc_owner *owner, struct hwpmc_tables **tables)
{
	struct hwpmc_log *log;

	lockdep_assert_held(&hwpmc_lock);
	if (!xchg(&owner->executed, false))
		return false;
	release_pmcs(owner, true);
	log = hwpmc_log_end(owner, false);
	if (log)
		hwpmc_log_free_later(log);
	hwpmc_tables_take(owner, tables);
	return true;
}

/* One owner that has executed a program; false: there is none. */
static bool drop_one_locked(struct hwpmc_tables **tables)
{
	struct hwpmc_owner *owner;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry(owner, &hwpmc_owners, node)
		/* hwpmc_owner_resume() queues the work item again. */
		if (!owner->paused && drop_locked(owner, tables))
			return true;
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

int hwpmc_owners_init(void)
{
	hwpmc_owner_exec_init(drop_work);
	return hwpmc_log_ends_init();
}

void hwpmc_owners_exit(void)
{
	hwpmc_owner_exec_exit();
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

void hwpmc_owner_end(struct hwpmc_owner *owner)
{
	struct hwpmc_tables *tables = NULL;
	struct hwpmc_log *log;

	trace_hwpmc_owner_release(owner->tgid);
	mutex_lock(&hwpmc_lock);
	list_del_rcu(&owner->node);
	release_pmcs(owner, false);
	log = hwpmc_log_end(owner, false);
	hwpmc_tables_take(owner, &tables);
	if (owner->exec_watched)
		hwpmc_hooks_put(HWPMC_HOOKS_OWNER);
	mutex_unlock(&hwpmc_lock);
	hwpmc_log_free(log, false);
	hwpmc_tables_free(tables);
	/* A log that ends since an exec is complete when its descriptor is closed. */
	(void)wait_event_killable(owner->log_wait, !atomic_read(&owner->ending));
	hwpmc_owner_put(owner);
}

/* Revoke one owner that is not revoked yet, or return NULL. *log, *tables: the owner's,
 * which the caller frees without the lock; and the reference to the owner. */
static struct hwpmc_owner *revoke_one_locked(struct hwpmc_log **log,
					     struct hwpmc_tables **tables)
{
	struct hwpmc_owner *owner;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry(owner, &hwpmc_owners, node) {
		if (owner->revoked || owner->kernel ||
		    owner->tgid == task_tgid(current))
			continue;
		WRITE_ONCE(owner->revoked, true);
		refcount_inc(&owner->users);
		if (!list_empty(&owner->pmcs) || hwpmc_log_is_open(owner))
			kill_pid(owner->tgid, SIGBUS, 1);
		hwpmc_owner_settle(owner);
		release_pmcs(owner, false);
		*log = hwpmc_log_end(owner, false);
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
	struct hwpmc_log *log;

	do {
		log = NULL;
		mutex_lock(&hwpmc_lock);
		owner = revoke_one_locked(&log, &tables);
		mutex_unlock(&hwpmc_lock);
		hwpmc_log_free(log, false);
		if (owner)
			hwpmc_owner_put(owner);
	} while (owner);
	hwpmc_tables_free(tables);
}
