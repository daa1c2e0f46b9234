// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * hooks.c - registers tracepoint probes and preempt notifiers while PMCs need them.
 * Registration sleeps: process context, hwpmc_lock. The probes here only call the
 * functions that do the work.
 */
#include <linux/lockdep.h>
#include <linux/sched.h>

#include "../compat/tracepoints.h"
#include "../core/class.h"
#include "../core/owner.h"
#include "../core/work.h"
#include "../debug/trace.h"
#include "../log/map_moved.h"
#include "../log/map_probes.h"
#include "../log/modules.h"
#include "../log/task_event.h"
#include "../task/lifecycle.h"
#include "../task/prealloc.h"
#include "../task/rdpmc.h"
#include "../task/target.h"
#include "../task/sched_hook.h"
#include "hooks.h"

/* Unused hooks stay so long: the next tool often follows at once. */
#define IDLE_DELAY	HZ

static struct tracepoint *tp_newtask, *tp_exec, *tp_exit, *tp_rename;

/* PMCs and owners that need each kind, and whether it is registered. All under hwpmc_lock;
 * records_hooked is also read in probes. */
static unsigned int exec_users, process_users, record_users;
static bool exec_hooked, process_hooked, records_hooked;

static void hooks_idle_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(hooks_idle, hooks_idle_work);

HWPMC_PROBE_NEWTASK(probe_newtask, child, clone_flags)
{
	if (clone_flags & CLONE_THREAD)
		hwpmc_lifecycle_newthread(child);
	else
		hwpmc_lifecycle_newprocess(child);
	hwpmc_rdpmc_fork(child);
	if (!READ_ONCE(records_hooked))
		return;
	if (clone_flags & CLONE_THREAD)
		hwpmc_task_event_thread(child);
	else
		hwpmc_task_event_fork(child);
}

HWPMC_PROBE_EXEC(probe_exec, task, bprm)
{
	hwpmc_owner_exec();
	hwpmc_lifecycle_exec(bprm);
	if (READ_ONCE(records_hooked))
		hwpmc_task_event_exec(bprm->filename);
}

HWPMC_PROBE_RENAME(probe_rename, task, comm)
{
	hwpmc_task_event_comm(task, comm);
}

HWPMC_PROBE_EXIT(probe_exit, task)
{
	if (READ_ONCE(records_hooked))
		hwpmc_task_event_exit();
	hwpmc_lifecycle_exit();
}

static int hook_exec(void)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (exec_hooked)
		return 0;
	ret = hwpmc_probe_register(tp_exec, probe_exec);
	if (!ret)
		exec_hooked = true;
	return ret;
}

static int hook_process(void)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (process_hooked)
		return 0;
	hwpmc_prealloc_fill();
	ret = hwpmc_probe_register(tp_exit, probe_exit);
	if (ret)
		return ret;
	ret = hwpmc_probe_register(tp_newtask, probe_newtask);
	if (ret) {
		hwpmc_probe_unregister(tp_exit, probe_exit);
		return ret;
	}
	preempt_notifier_inc();
	process_hooked = true;
	return 0;
}

static int hook_records(void)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (records_hooked)
		return 0;
	ret = hwpmc_mappings_hook();
	if (ret)
		return ret;
	ret = hwpmc_moved_hook();
	if (ret)
		goto err_moved;
	ret = hwpmc_modules_hook();
	if (ret)
		goto err_modules;
	ret = hwpmc_probe_register(tp_rename, probe_rename);
	if (ret)
		goto err_rename;
	WRITE_ONCE(records_hooked, true);
	return 0;

err_rename:
	hwpmc_modules_unhook();
err_modules:
	hwpmc_moved_unhook();
err_moved:
	hwpmc_mappings_unhook();
	return ret;
}

static void unhook_records(void)
{
	lockdep_assert_held(&hwpmc_lock);
	if (record_users || !records_hooked)
		return;
	WRITE_ONCE(records_hooked, false);
	hwpmc_probe_unregister(tp_rename, probe_rename);
	hwpmc_modules_unhook();
	hwpmc_moved_unhook();
	hwpmc_mappings_unhook();
}

int hwpmc_hooks_get(unsigned int which)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	ret = hook_exec();
	if (!ret && which & HWPMC_HOOKS_PROCESS)
		ret = hook_process();
	if (!ret && which & HWPMC_HOOKS_RECORDS)
		ret = hook_records();
	trace_hwpmc_module_hook(which, ret);
	if (ret) {
		/* Some may have been registered and have no user. */
		hwpmc_work_again(&hooks_idle, IDLE_DELAY);
		return ret;
	}
	exec_users++;
	process_users += !!(which & HWPMC_HOOKS_PROCESS);
	record_users += !!(which & HWPMC_HOOKS_RECORDS);
	return 0;
}

void hwpmc_hooks_put(unsigned int which)
{
	lockdep_assert_held(&hwpmc_lock);
	exec_users--;
	process_users -= !!(which & HWPMC_HOOKS_PROCESS);
	record_users -= !!(which & HWPMC_HOOKS_RECORDS);
	if ((!exec_users && exec_hooked) || (!process_users && process_hooked) ||
	    (!record_users && records_hooked))
		hwpmc_work_again(&hooks_idle, IDLE_DELAY);
}

/* True: threads are left to settle, a batch was. */
static bool unhook_process(void)
{
	lockdep_assert_held(&hwpmc_lock);
	if (process_users || !process_hooked)
		return false;
	/* No target is left, and so no thread joins. */
	if (hwpmc_threads_wait()) {
		hwpmc_watch_settle();
		return true;
	}
	hwpmc_watch_end();
	hwpmc_probe_unregister(tp_newtask, probe_newtask);
	hwpmc_probe_unregister(tp_exit, probe_exit);
	preempt_notifier_dec();
	hwpmc_prealloc_drop();
	process_hooked = false;
	return false;
}

/* One batch of threads, so that operations of others come between two. True: there are more. */
static bool unhook_unused(void)
{
	bool more;

	mutex_lock(&hwpmc_lock);
	unhook_records();
	more = unhook_process();
	if (!exec_users && exec_hooked) {
		hwpmc_probe_unregister(tp_exec, probe_exec);
		exec_hooked = false;
	}
	hwpmc_unhooked_free();
	mutex_unlock(&hwpmc_lock);
	return more;
}

static void hooks_idle_work(struct work_struct *work)
{
	while (unhook_unused())
		cond_resched();
}

int hwpmc_hooks_init(void)
{
	int ret;

	ret = hwpmc_watch_init();
	ret = ret ?: hwpmc_tracepoint_get("task_newtask", &tp_newtask);
	ret = ret ?: hwpmc_tracepoint_get("task_rename", &tp_rename);
	ret = ret ?: hwpmc_tracepoint_get("sched_process_exec", &tp_exec);
	return ret ?: hwpmc_tracepoint_get("sched_process_exit", &tp_exit);
}

void hwpmc_hooks_exit(void)
{
	hwpmc_watch_exit();
	cancel_delayed_work_sync(&hooks_idle);
	while (unhook_unused())
		cond_resched();
	tracepoint_synchronize_unregister();
	synchronize_rcu();
	hwpmc_lifecycle_unload();
}
