// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * task_logs.c - see task_logs.h.
 */
#include <linux/bitops.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "../core/owner.h"
#include "../core/pmc.h"
#include "../sampling/log.h"
#include "../task/target.h"
#include "task_logs.h"

/* Does a PMC of the owner at this target sample or log values? */
static bool owner_watches(const struct hwpmc_owner *owner,
			  const struct hwpmc_target *target)
{
	unsigned int nr;

	for_each_row(nr, READ_ONCE(target->slow_path)) {
		struct hwpmc_pmc *pmc = READ_ONCE(target->link[nr].pmc);

		if (pmc && pmc->owner == owner)
			return true;
	}
	return false;
}

struct log_filter {
	struct hwpmc_target *target;
	hwpmc_task_logs_fn *fn;
	void *arg;
};

static void call_if_wanted(struct hwpmc_owner *owner, void *arg)
{
	struct log_filter *a = arg;

	if (!hwpmc_log_is_open(owner))
		return;
	if (READ_ONCE(owner->samples_system) ||
	    (a->target && owner_watches(owner, a->target)))
		a->fn(owner, a->arg);
}

void hwpmc_task_logs_each(struct task_struct *task, hwpmc_task_logs_fn *fn, void *arg)
{
	struct log_filter a = { .fn = fn, .arg = arg };

	rcu_read_lock();
	preempt_disable();
	a.target = hwpmc_target_find(task);
	hwpmc_owners_each_rcu(call_if_wanted, &a);
	preempt_enable();
	rcu_read_unlock();
}

static void note_wanted(struct hwpmc_owner *owner, void *wanted)
{
	*(bool *)wanted = true;
}

bool hwpmc_task_logs_any(struct task_struct *task)
{
	bool wanted = false;

	hwpmc_task_logs_each(task, note_wanted, &wanted);
	return wanted;
}
