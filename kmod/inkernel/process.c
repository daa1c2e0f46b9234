// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * process.c - counters of processes, for other modules. Each configuration is a PMC
 * with an owner of its own, on the row asked for, attached to one process; children
 * that this forks later inherit the link. The PMC is started when one of them is first
 * enabled and runs until its end; which processes it counts is a state of each link, as
 * are their values. Process context, takes hwpmc_lock; functions that say so run in any
 * context but NMI.
 */
#include <linux/export.h>
#include <linux/hwpmc.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/workqueue.h>

#include "../core/cpu.h"
#include "../pmc/allocate.h"
#include "../pmc/owner.h"
#include "../pmc/run.h"
#include "../task/attach.h"
#include "../task/start_stop.h"
#include "../task/descendants.h"
#include "../task/migrations.h"
#include "../task/switch.h"
#include "inkernel.h"

/* Owners of the PMCs of processes. hwpmc_lock. */
static LIST_HEAD(configured);

static void reap_work(struct work_struct *work);
static DECLARE_WORK(reap, reap_work);

static bool is_counter(int ctr)
{
	return ctr >= 0 && ctr < hwpmc_nrows;
}

/**
 * hwpmc_get_num_counters - how many counters a CPU has
 *
 * Return: counters are numbered from 0 to one less. Any context.
 */
int hwpmc_get_num_counters(void)
{
	return hwpmc_nrows;
}
EXPORT_SYMBOL_GPL(hwpmc_get_num_counters);

/**
 * hwpmc_get_counter_type - what a counter, or the CPU, is
 * @ctr: the counter, or -1 for the CPU
 *
 * Return: enum hwpmc_class_id of the counter, or FreeBSD's number of the CPU's type
 * as GETCPUINFO tells it; -EINVAL. Any context.
 */
int hwpmc_get_counter_type(int ctr)
{
	if (ctr == -1)
		return hwpmc_machine.cputype;
	return is_counter(ctr) ? hwpmc_rows[ctr].cls->id : -EINVAL;
}
EXPORT_SYMBOL_GPL(hwpmc_get_counter_type);

/**
 * hwpmc_save_context - stop the counters of a thread and add them to its values
 * @task: the thread; nothing is done unless it is current, as the values of another
 *	one were brought up to date when it was switched out
 *
 * The module handles context switches itself; this is for reading values while the
 * thread runs. Any context but NMI.
 */
void hwpmc_save_context(struct task_struct *task)
{
	struct hwpmc_cpu *c;
	unsigned long flags;

	if (task != current)
		return;
	local_irq_save(flags);
	c = this_cpu_ptr(hwpmc_cpus);
	if (c->thread)
		hwpmc_switch_out_irqoff(c);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(hwpmc_save_context);

/**
 * hwpmc_restore_context - start the counters again after hwpmc_save_context()
 * @task: the thread; nothing is done unless it is current
 *
 * Any context but NMI.
 */
void hwpmc_restore_context(struct task_struct *task)
{
	unsigned long flags;

	if (task != current)
		return;
	local_irq_save(flags);
	hwpmc_switch_sync_irqoff(this_cpu_ptr(hwpmc_cpus));
	local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(hwpmc_restore_context);

/* ---- configuration ------------------------------------------------------- */

void hwpmc_inkernel_request(unsigned int nr,
			    const struct hwpmc_counter_cfg *cfg, u32 mode,
			    struct hwpmc_op_pmcallocate *op)
{
	const struct hwpmc_class *cls = hwpmc_rows[nr].cls;

	*op = (struct hwpmc_op_pmcallocate){
		.class = cls->id, .mode = mode, .cpu = HWPMC_CPU_ANY,
		.caps = (cfg->flags & HWPMC_CFG_USER ? HWPMC_CAP_USER : 0) |
			(cfg->flags & HWPMC_CFG_KERNEL ? HWPMC_CAP_SYSTEM : 0),
	};
	/* Events of hardware are given by their code, others by their number. */
	if (cls->nmi) {
		op->flags = HWPMC_F_EV_PMU;
		op->config = cfg->event_id;
	} else {
		op->ev = cfg->event_id;
	}
}

/* The PMC that another module has configured for a process, or NULL. */
static struct hwpmc_pmc *find_pmc(struct task_struct *task, int ctr)
{
	struct hwpmc_target *target;
	struct hwpmc_pmc *pmc = NULL;

	lockdep_assert_held(&hwpmc_lock);
	rcu_read_lock();
	target = task ? hwpmc_target_find(task) : NULL;
	if (target)
		pmc = READ_ONCE(target->link[ctr].pmc);
	rcu_read_unlock();
	/* Valid outside RCU: PMCs are released under hwpmc_lock only. */
	return pmc && pmc->owner->kernel ? pmc : NULL;
}

static struct hwpmc_pmc *pmc_of(const struct hwpmc_owner *owner)
{
	return list_first_entry(&owner->pmcs, struct hwpmc_pmc, owner_node);
}

static int allocate_new(struct hwpmc_owner *owner, int ctr,
			const struct hwpmc_counter_cfg *cfg)
{
	struct hwpmc_op_pmcallocate op;

	hwpmc_inkernel_request(ctr, cfg, HWPMC_MODE_TC, &op);
	op.flags |= HWPMC_F_DESCENDANTS;
	return hwpmc_pmc_allocate(owner, &op, "", BIT_ULL(ctr));
}

static int attach_new(struct hwpmc_owner *owner, struct task_struct *task,
		      u64 initial)
{
	struct hwpmc_pmc *pmc = pmc_of(owner);
	struct hwpmc_hdr hdr = { 0 };
	int ret = hwpmc_attach_task(pmc, task, &hdr);

	if (!ret)
		hwpmc_link_set_initial(pmc, task, initial);
	return ret;
}

static bool is_orphan(const struct hwpmc_owner *owner)
{
	struct hwpmc_pmc *pmc = pmc_of(owner);

	return READ_ONCE(pmc->process.links.next) == &pmc->process.links;
}

static struct hwpmc_owner *take_orphan(void)
{
	struct hwpmc_owner *owner;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry(owner, &configured, inkernel) {
		if (!is_orphan(owner))
			continue;
		list_del(&owner->inkernel);
		return owner;
	}
	return NULL;
}

/* A PMC without a process cannot be named any more: end its owner here. */
static void reap_work(struct work_struct *work)
{
	struct hwpmc_owner *owner;

	do {
		mutex_lock(&hwpmc_lock);
		owner = take_orphan();
		mutex_unlock(&hwpmc_lock);
		if (owner)
			hwpmc_owner_end(owner);
	} while (owner);
}

/* Off the list, so that reap_work() cannot end the same owner; or NULL. */
static struct hwpmc_owner *take_any(void)
{
	struct hwpmc_owner *owner;

	mutex_lock(&hwpmc_lock);
	owner = list_first_entry_or_null(&configured, struct hwpmc_owner,
					 inkernel);
	if (owner)
		list_del(&owner->inkernel);
	mutex_unlock(&hwpmc_lock);
	return owner;
}

/* The modules that used us are unloaded; end what they left configured. */
void hwpmc_inkernel_shutdown(void)
{
	struct hwpmc_owner *owner;

	while ((owner = take_any()))
		hwpmc_owner_end(owner);
	/* Before the hooks go: the owner that it ends needs them. */
	cancel_work_sync(&reap);
	hwpmc_inkernel_free_all();
}

void hwpmc_inkernel_exit(void)
{
	cancel_work_sync(&reap);
}

/* Returns the PMC's owner, which the caller ends, if this was its last process. Off the
 * list, so that reap_work() does not end it as well. */
static struct hwpmc_owner *process_detach(struct hwpmc_pmc *pmc,
					  struct task_struct *task)
{
	struct hwpmc_owner *owner = pmc->owner;

	lockdep_assert_held(&hwpmc_lock);
	hwpmc_detach_task(pmc, task);
	if (!is_orphan(owner))
		return NULL;
	list_del(&owner->inkernel);
	return owner;
}

/*
 * End the present configuration of this process, if there is one, and attach the new
 * one, whose owner has its PMC; NULL: none. *old: an owner for the caller to end, or NULL.
 */
static int replace_locked(struct task_struct *task, int ctr, struct hwpmc_owner *owner,
			  const struct hwpmc_counter_cfg *cfg, struct hwpmc_owner **old)
{
	struct hwpmc_pmc *present = find_pmc(task, ctr);
	int ret = 0;

	lockdep_assert_held(&hwpmc_lock);
	if (present && hwpmc_link_is_active(present, task))
		return -EBUSY;
	/* First: what is refused leaves the present configuration as it is. */
	if (owner)
		ret = allocate_new(owner, ctr, cfg);
	if (ret)
		return ret;
	if (present)
		*old = process_detach(present, task);
	if (owner)
		ret = attach_new(owner, task, cfg->reset_value);
	if (owner && !ret)
		list_add(&owner->inkernel, &configured);
	return ret;
}

/* An owner lives as long as its only PMC. Takes hwpmc_lock. */
static int process_configure(struct task_struct *task, int ctr,
			     const struct hwpmc_counter_cfg *cfg)
{
	struct hwpmc_owner *owner = NULL, *old = NULL;
	int ret;

	if (cfg)
		owner = hwpmc_owner_new(true);
	if (IS_ERR(owner))
		return PTR_ERR(owner);
	if (owner)
		owner->lost = &reap;
	mutex_lock(&hwpmc_lock);
	ret = replace_locked(task, ctr, owner, cfg, &old);
	mutex_unlock(&hwpmc_lock);
	if (old)
		hwpmc_owner_end(old);
	if (owner && ret)
		hwpmc_owner_end(owner);
	return ret;
}

/**
 * hwpmc_configure_counter - set what a counter counts for a process
 * @task: a thread of the process; the caller holds a reference
 * @ctr: the counter
 * @cfg: what it counts, or NULL to end the configuration
 *
 * The counter is stopped until it is enabled. An earlier configuration is replaced:
 * that of this process alone. A refusal leaves it as it is, but -ENOMEM may have ended
 * it. Children inherit the configuration that their parent has when it forks them.
 *
 * Return: 0; -EINVAL no such counter, or it cannot count that; -EBUSY it runs, or has
 * another user; -ESRCH the process is gone; -ENOMEM.
 */
int hwpmc_configure_counter(struct task_struct *task, int ctr,
			    const struct hwpmc_counter_cfg *cfg)
{
	if (!is_counter(ctr) || !task)
		return -EINVAL;
	return process_configure(task, ctr, cfg);
}
EXPORT_SYMBOL_GPL(hwpmc_configure_counter);

/* ---- running ------------------------------------------------------------- */

static int process_enable(struct hwpmc_pmc *pmc, struct task_struct *task)
{
	struct hwpmc_hdr hdr = { 0 };
	int ret = hwpmc_pmc_start(pmc, &hdr);

	lockdep_assert_held(&hwpmc_lock);
	/* Also where the PMC runs already, for another process. */
	ret = ret ?: hwpmc_pmc_msr_fault(pmc, &hdr);
	if (!ret)
		hwpmc_link_enable(pmc, task);
	return ret;
}

static int process_disable(struct hwpmc_pmc *pmc, struct task_struct *task)
{
	hwpmc_link_disable(pmc, task);
	return 0;
}

static int with_pmc(struct task_struct *task, int ctr,
		    int (*fn)(struct hwpmc_pmc *, struct task_struct *))
{
	struct hwpmc_pmc *pmc;
	int ret = -ENOENT;

	if (!is_counter(ctr))
		return -EINVAL;
	mutex_lock(&hwpmc_lock);
	pmc = find_pmc(task, ctr);
	if (pmc)
		ret = fn(pmc, task);
	mutex_unlock(&hwpmc_lock);
	return ret;
}

/**
 * hwpmc_enable_counter - start a counter of a process
 * @task: a thread of the process
 * @ctr: the counter
 *
 * Children that it forks from here on have it enabled too; those that it has are not
 * changed. Nothing is done if the counter runs.
 *
 * Return: 0; -EINVAL no such counter; -ENOENT it is not configured; -ESRCH the process
 * is exiting; -EIO an access to the counter's registers faulted.
 */
int hwpmc_enable_counter(struct task_struct *task, int ctr)
{
	return with_pmc(task, ctr, process_enable);
}
EXPORT_SYMBOL_GPL(hwpmc_enable_counter);

/**
 * hwpmc_disable_counter - stop a counter of a process; its values are kept
 * @task: a thread of the process
 * @ctr: the counter
 *
 * Its children go on. Nothing is done if the counter is stopped.
 *
 * Return: 0; -EINVAL no such counter; -ENOENT it is not configured.
 */
int hwpmc_disable_counter(struct task_struct *task, int ctr)
{
	return with_pmc(task, ctr, process_disable);
}
EXPORT_SYMBOL_GPL(hwpmc_disable_counter);

/**
 * hwpmc_counter_isrunning - does the counter run, for the process or the kernel?
 * @task: a thread of the process, or NULL
 * @ctr: the counter
 *
 * Return: 1 or 0; 0 also if there is no such counter, as an errno would be true.
 */
int hwpmc_counter_isrunning(struct task_struct *task, int ctr)
{
	struct hwpmc_pmc *pmc;
	int yes;

	if (!is_counter(ctr))
		return 0;
	mutex_lock(&hwpmc_lock);
	pmc = find_pmc(task, ctr);
	yes = (pmc && hwpmc_link_is_active(pmc, task)) || hwpmc_inkernel_has(ctr);
	mutex_unlock(&hwpmc_lock);
	return yes;
}
EXPORT_SYMBOL_GPL(hwpmc_counter_isrunning);

/**
 * hwpmc_counter_isconfigured - is it configured, for the process or the kernel?
 * @task: a thread of the process, or NULL
 * @ctr: the counter
 *
 * Return: 1 or 0; 0 also if there is no such counter, as an errno would be true.
 */
int hwpmc_counter_isconfigured(struct task_struct *task, int ctr)
{
	int yes;

	if (!is_counter(ctr))
		return 0;
	mutex_lock(&hwpmc_lock);
	yes = find_pmc(task, ctr) || hwpmc_inkernel_has(ctr);
	mutex_unlock(&hwpmc_lock);
	return yes;
}
EXPORT_SYMBOL_GPL(hwpmc_counter_isconfigured);

/**
 * hwpmc_task_enabled - does the process, or the kernel, use counters at all?
 * @task: a thread of the process, or NULL
 *
 * Return: 1 or 0.
 */
int hwpmc_task_enabled(struct task_struct *task)
{
	bool yes;

	mutex_lock(&hwpmc_lock);
	yes = hwpmc_inkernel_has_any();
	mutex_unlock(&hwpmc_lock);
	if (yes || !task)
		return yes;
	rcu_read_lock();
	yes = hwpmc_target_find(task);
	rcu_read_unlock();
	return yes;
}
EXPORT_SYMBOL_GPL(hwpmc_task_enabled);

/* ---- values -------------------------------------------------------------- */

/* Bring the total of the process's link up to date; of one that is disabled it is. */
static void flush_slices(struct hwpmc_pmc *pmc, const struct task_struct *task)
{
	lockdep_assert_held(&hwpmc_lock);
	if (!hwpmc_link_is_active(pmc, task))
		return;
	hwpmc_pmc_take_migrations(pmc);
	hwpmc_switch_flush_slices(pmc);
}

static int process_value(struct task_struct *task, int ctr, int flags,
			 u64 *value)
{
	struct hwpmc_pmc *pmc = find_pmc(task, ctr);
	struct hwpmc_target *target;
	unsigned long irq;
	int ret = -ENOENT;

	if (!pmc)
		return -ENOENT;
	flush_slices(pmc, task);
	if (hwpmc_class_msr_fault(hwpmc_rows[ctr].cls) || hwpmc_pmc_doubts(pmc))
		return -EIO;
	raw_spin_lock_irqsave(&hwpmc_targets_lock, irq);
	target = hwpmc_target_find(task);
	/* Its exit may have removed the link since. */
	if (target && target->link[ctr].pmc == pmc) {
		ret = 0;
		*value = flags & HWPMC_VALUE_FLAGS_CHILDREN ?
			 target->link[ctr].children :
			 target->link[ctr].initial +
			 atomic64_read(&target->link[ctr].total);
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, irq);
	return ret;
}

/**
 * hwpmc_get_counter_value - read a counter
 * @task: a thread of the process, or NULL for a counter of the kernel
 * @ctr: the counter
 * @flags: 0, or HWPMC_VALUE_FLAGS_CHILDREN: what exited children have counted
 * @value: where the value goes
 *
 * Return: -EINVAL no such counter or flag; -ENOENT it is not configured; -ENXIO a
 * counter of the kernel is on a CPU that is offline; -EIO a write to the counter's
 * registers faulted or another program has written them, so the value is undefined until
 * the counter is configured again.
 */
int hwpmc_get_counter_value(struct task_struct *task, int ctr, int flags,
			    u64 *value)
{
	int ret;

	if (!is_counter(ctr) || flags & ~HWPMC_VALUE_FLAGS_CHILDREN)
		return -EINVAL;
	mutex_lock(&hwpmc_lock);
	ret = task ? process_value(task, ctr, flags, value) :
		     hwpmc_inkernel_value(ctr, value);
	mutex_unlock(&hwpmc_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(hwpmc_get_counter_value);

static void flush_all_slices(struct task_struct *task)
{
	unsigned int nr;

	for (nr = 0; nr < hwpmc_nrows; nr++) {
		struct hwpmc_pmc *pmc = find_pmc(task, nr);

		if (pmc)
			flush_slices(pmc, task);
	}
}

/**
 * hwpmc_accumulate - add a process's values to the children's values of its parent
 * @parent: a thread of the parent
 * @exiting: a thread of the child, whose values become 0
 *
 * Events alone are added, not the initial value, and only of counters that both have
 * configured for the same event and modes. The module does this itself when a process
 * exits.
 *
 * Return: 0; -EINVAL both are one process; -ENOENT one of them has no counters.
 */
int hwpmc_accumulate(struct task_struct *parent, struct task_struct *exiting)
{
	struct hwpmc_target *from, *to;
	unsigned long flags;
	int ret = -ENOENT;

	if (!parent || !exiting || same_thread_group(parent, exiting))
		return -EINVAL;
	mutex_lock(&hwpmc_lock);
	flush_all_slices(exiting);
	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	from = hwpmc_target_find(exiting);
	to = hwpmc_target_find(parent);
	if (from && to) {
		hwpmc_descent_move_values_locked(from, to);
		ret = 0;
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	mutex_unlock(&hwpmc_lock);
	return ret;
}
EXPORT_SYMBOL_GPL(hwpmc_accumulate);
