// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * pmc.c - the life of a PMC: allocate, start, stop, read, release.
 * Process context under hwpmc_lock, except reading (RCU) and the parts that run
 * on a PMC's CPU with interrupts off. How the order of checks in allocation came
 * about is written in the uapi header.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/nospec.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "../ctl/trace.h"
#include "../ctl/tunables.h"
#include "../sampling/kgmon.h"
#include "../sampling/log.h"
#include "../sampling/sample.h"
#include "../sampling/tell.h"
#include "../virt/attach.h"
#include "../virt/hooks.h"
#include "../virt/rdpmc.h"
#include "../virt/switch.h"
#include "cpu.h"
#include "owner.h"
#include "pmc.h"

/* ---- allocation ---------------------------------------------------------- */

static int check_scope(const struct hwpmc_owner *owner,
		       struct hwpmc_op_pmcallocate *op)
{
	bool system = hwpmc_mode_is_system(op->mode);

	if (op->mode > HWPMC_MODE_TC)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_MODE, op->mode);
	if (op->cpu != HWPMC_CPU_ANY && op->cpu >= nr_cpu_ids)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_CPU_RANGE,
				    nr_cpu_ids - 1);
	if (op->cpu != HWPMC_CPU_ANY)
		op->cpu = array_index_nospec(op->cpu, nr_cpu_ids);
	if (!system && op->cpu != HWPMC_CPU_ANY)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_CPU_WANT_ANY,
				    op->cpu);
	if (system && op->cpu == HWPMC_CPU_ANY)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_CPU_WANT_ONE, 0);
	if (system && !cpu_online(op->cpu))
		return hwpmc_refuse(&op->hdr, -ENXIO, HWPMC_WHY_CPU_OFFLINE,
				    op->cpu);
	if (system && !owner->kernel && !perfmon_capable() &&
	    !READ_ONCE(hwpmc_unprivileged_syspmcs))
		return hwpmc_refuse(&op->hdr, -EPERM, HWPMC_WHY_PRIV_SYSTEM, 0);
	return 0;
}

/* Flags that the mode has no meaning for; 0: none of them asked for. */
static u32 flags_against_mode(u32 flags, u32 mode)
{
	u32 bad = 0;

	if (hwpmc_mode_is_system(mode))
		bad |= HWPMC_F_DESCENDANTS | HWPMC_F_LOG_PROCCSW |
		       HWPMC_F_LOG_PROCEXIT | HWPMC_F_EXEC_START;
	if (!hwpmc_mode_is_sampling(mode))
		bad |= HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN;
	else if (!(flags & HWPMC_F_CALLCHAIN))
		bad |= HWPMC_F_USERCALLCHAIN;
	if (mode != HWPMC_MODE_SS)
		bad |= HWPMC_F_KGMON;
	return flags & bad;
}

static int check_flags(struct hwpmc_op_pmcallocate *op)
{
	u32 bad = op->flags & ~HWPMC_F_ALL;

	if (bad)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_FLAGS, bad);
	bad = flags_against_mode(op->flags, op->mode);
	if (bad)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_FLAGS_MODE, bad);
	return 0;
}

static int check_class(struct hwpmc_op_pmcallocate *op,
		       struct hwpmc_class **found)
{
	struct hwpmc_class *cls = hwpmc_class_find(op->class);
	u32 caps = op->caps, missing;

	if (!cls || (cls->system_only && !hwpmc_mode_is_system(op->mode)))
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_CLASS, op->class);
	if (hwpmc_mode_is_sampling(op->mode))
		caps |= HWPMC_CAP_INTERRUPT;
	missing = caps & ~cls->caps;
	if (missing)
		return hwpmc_refuse(&op->hdr, -EOPNOTSUPP, HWPMC_WHY_CAPS, missing);
	*found = cls;
	return 0;
}

static int encode(struct hwpmc_class *cls, struct hwpmc_op_pmcallocate *op,
		  struct hwpmc_encoding *enc)
{
	struct hwpmc_request req = {
		.caps = op->caps,
		.flags = op->flags,
		.mode = op->mode,
		.ev = op->ev,
		.config = op->config,
		.config1 = op->config1,
	};
	int ret;

	if (!(req.caps & (HWPMC_CAP_USER | HWPMC_CAP_SYSTEM)))
		req.caps |= cls->caps & (HWPMC_CAP_USER | HWPMC_CAP_SYSTEM);
	memset(enc, 0, sizeof(*enc));
	ret = cls->ops->encode(cls, &req, enc);
	if (ret)
		return hwpmc_refuse(&op->hdr, ret, enc->why, enc->detail);
	if (!enc->rows)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
	return 0;
}

static bool row_disabled(unsigned int nr, const struct hwpmc_op_pmcallocate *op)
{
	return op->cpu != HWPMC_CPU_ANY &&
	       per_cpu_ptr(hwpmc_cpus, op->cpu)->disabled & BIT_ULL(nr);
}

/* Each CPU has one counter of the row, whoever its owner is. */
static bool row_taken(const struct hwpmc_row *row,
		      const struct hwpmc_op_pmcallocate *op)
{
	const struct hwpmc_pmc *pmc;

	lockdep_assert_held(&hwpmc_lock);
	if (row->cls->shareable || op->cpu == HWPMC_CPU_ANY)
		return false;
	list_for_each_entry(pmc, &row->pmcs, row_node)
		if (pmc->cpu == op->cpu)
			return true;
	return false;
}

/* The least used of the rows that can take the event. */
static int find_row(struct hwpmc_owner *owner, struct hwpmc_class *cls,
		    struct hwpmc_op_pmcallocate *op, u64 rows)
{
	bool system = hwpmc_mode_is_system(op->mode);
	int best = -1, disabled = -1, busy = -1;
	unsigned int ri;

	for (ri = 0; ri < cls->num; ri++) {
		unsigned int nr = cls->first + ri;
		struct hwpmc_row *row = &hwpmc_rows[nr];

		if (!(rows & BIT_ULL(ri)))
			continue;
		if (!cls->shareable && !hwpmc_row_admits(row->users, system))
			busy = nr;
		else if (row_taken(row, op) ||
			 hwpmc_owner_holds(owner, nr, op->mode, op->cpu))
			busy = nr;
		else if (row_disabled(nr, op))
			disabled = nr;
		else if (best < 0 ||
			 hwpmc_row_better(row->users, hwpmc_rows[best].users))
			best = nr;
	}
	if (best >= 0)
		return best;
	if (disabled >= 0)
		return hwpmc_refuse(&op->hdr, -EPERM, HWPMC_WHY_ROW_DISABLED,
				    disabled);
	return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_ROWS_BUSY, busy);
}

/*
 * Initial count, or period: NMIs that follow too fast would take the machine away.
 * An event of the kernel that is sampled each time costs it a part more.
 */
void hwpmc_pmc_set_count(struct hwpmc_pmc *pmc, u64 count)
{
	bool nmi = hwpmc_rows[pmc->row].cls->nmi;
	unsigned int least = nmi ? max(1, READ_ONCE(hwpmc_mincount)) : 1;

	if (!hwpmc_pmc_samples(pmc)) {
		atomic64_set(&pmc->total, count);
		trace_hwpmc_pmc_write(pmc);
		return;
	}
	if (count < least) {
		pr_info_ratelimited("a sampling period of %llu was raised to kern.hwpmc.mincount, %u\n",
				    count, least);
		count = least;
	}
	pmc->period = count;
	pmc->left = 0;
	trace_hwpmc_pmc_write(pmc);
}

static struct hwpmc_pmc *new_pmc(const struct hwpmc_owner *owner,
				 const struct hwpmc_op_pmcallocate *op,
				 const struct hwpmc_encoding *enc,
				 unsigned int nr)
{
	struct hwpmc_pmc *pmc = kzalloc(sizeof(*pmc), GFP_KERNEL_ACCOUNT);

	if (!pmc)
		return NULL;
	pmc->select = enc->select;
	pmc->row = nr;
	pmc->id = HWPMC_ID_MAKE(op->cpu, op->mode, op->class, nr);
	pmc->mode = op->mode;
	pmc->cpu = op->cpu;
	pmc->caps = op->caps;
	pmc->flags = op->flags;
	pmc->ev = op->ev;
	pmc->config = op->config;
	pmc->config1 = op->config1;
	pmc->state = HWPMC_STATE_ALLOCATED;
	pmc->privileged = owner->kernel || perfmon_capable();
	pmc->of_thread = enc->of_thread;
	pmc->special = hwpmc_pmc_samples(pmc) || hwpmc_pmc_needs_log(pmc) ||
		       enc->of_thread;
	pmc->keep_phase = !hwpmc_rows[pmc->row].cls->nmi ||
			  (op->caps & (HWPMC_CAP_USER | HWPMC_CAP_SYSTEM)) ==
			  HWPMC_CAP_USER;
	hwpmc_pmc_set_count(pmc, op->count);
	INIT_LIST_HEAD(&pmc->links);
	INIT_LIST_HEAD(&pmc->sys_node);
	return pmc;
}

static unsigned int hooks_of(u32 mode, u32 flags)
{
	unsigned int hooks = HWPMC_HOOKS_OWNER;

	if (!hwpmc_mode_is_system(mode))
		hooks |= HWPMC_HOOKS_PROCESS;
	if ((hwpmc_mode_is_sampling(mode) && !(flags & HWPMC_F_KGMON)) ||
	    flags & (HWPMC_F_LOG_PROCCSW | HWPMC_F_LOG_PROCEXIT))
		hooks |= HWPMC_HOOKS_PROCESS | HWPMC_HOOKS_RECORDS;
	return hooks;
}

static int take_kgmon(u32 flags)
{
	return flags & HWPMC_F_KGMON ? hwpmc_kgmon_get() : 0;
}

static void put_kgmon(u32 flags)
{
	if (flags & HWPMC_F_KGMON)
		hwpmc_kgmon_put();
}

static int take_class(struct hwpmc_class *cls, const struct hwpmc_select *select,
		      struct hwpmc_op_pmcallocate *op)
{
	u32 why = HWPMC_WHY_NO_MEMORY;
	s32 detail = 0;
	int ret;

	ret = hwpmc_class_get(cls, &why, &detail);
	if (ret)
		return hwpmc_refuse(&op->hdr, ret, why, detail);
	if (!cls->ops->event_get)
		return 0;
	ret = cls->ops->event_get(cls, select);
	if (!ret)
		return 0;
	hwpmc_class_put(cls);
	return hwpmc_refuse(&op->hdr, ret, HWPMC_WHY_NO_MEMORY, 0);
}

static void put_class(const struct hwpmc_pmc *pmc)
{
	struct hwpmc_class *cls = hwpmc_rows[pmc->row].cls;

	trace_hwpmc_md_release(pmc->row, pmc->select.sel);
	if (cls->ops->event_put)
		cls->ops->event_put(cls, &pmc->select);
	hwpmc_class_put(cls);
}

/* The hardware, and for process scope the hooks into the scheduler. */
static int take_resources(struct hwpmc_class *cls,
			  const struct hwpmc_select *select,
			  struct hwpmc_op_pmcallocate *op)
{
	int ret;

	if (hwpmc_mode_is_sampling(op->mode) && cls->nmi) {
		ret = hwpmc_nmi_get();
		if (ret)
			return hwpmc_refuse(&op->hdr, ret, HWPMC_WHY_NO_MEMORY,
					    0);
	}
	ret = take_kgmon(op->flags);
	if (ret)
		return hwpmc_refuse(&op->hdr, ret, HWPMC_WHY_NO_MEMORY, 0);
	ret = hwpmc_hooks_get(hooks_of(op->mode, op->flags));
	if (ret) {
		hwpmc_refuse(&op->hdr, ret, HWPMC_WHY_NO_MEMORY, 0);
		goto err_hooks;
	}
	ret = take_class(cls, select, op);
	if (ret)
		goto err_class;
	return 0;

err_class:
	hwpmc_hooks_put(hooks_of(op->mode, op->flags));
err_hooks:
	put_kgmon(op->flags);
	return ret;
}

int hwpmc_pmc_allocate(struct hwpmc_owner *owner,
		       struct hwpmc_op_pmcallocate *op, u64 rows)
{
	struct hwpmc_encoding enc;
	struct hwpmc_class *cls;
	struct hwpmc_row *row;
	struct hwpmc_pmc *pmc;
	int ret, nr;

	lockdep_assert_held(&hwpmc_lock);
	ret = check_scope(owner, op);
	ret = ret ?: check_flags(op);
	ret = ret ?: check_class(op, &cls);
	ret = ret ?: encode(cls, op, &enc);
	if (ret)
		return ret;
	nr = find_row(owner, cls, op, enc.rows & (rows >> cls->first));
	if (nr < 0)
		return nr;
	pmc = new_pmc(owner, op, &enc, nr);
	if (!pmc)
		return hwpmc_refuse(&op->hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	ret = take_resources(cls, &enc.select, op);
	if (ret) {
		kfree(pmc);
		return ret;
	}
	row = &hwpmc_rows[nr];
	if (!cls->shareable)
		row->users = hwpmc_row_added(row->users, hwpmc_pmc_is_system(pmc));
	list_add_tail(&pmc->row_node, &row->pmcs);
	/* Its values are of each process. */
	pmc->special |= owner->kernel;
	hwpmc_owner_add(owner, pmc);
	op->pmcid = pmc->id;
	if (hwpmc_pmc_samples(pmc))
		op->count = pmc->period;
	trace_hwpmc_md_allocate(pmc->row, pmc->select.sel);
	trace_hwpmc_pmc_allocate(pmc);
	hwpmc_log_allocated(pmc);
	return 0;
}

/* ---- system scope: on the PMC's CPU -------------------------------------- */

void hwpmc_pmc_harvest_irqoff(struct hwpmc_pmc *pmc)
{
	const struct hwpmc_row *row = &hwpmc_rows[pmc->row];
	u64 now = hwpmc_row_read_irqoff(row);

	atomic64_add(hwpmc_width_delta(pmc->start, now, row->mask), &pmc->total);
	pmc->start = now;
}

static void sys_begin_irqoff(struct hwpmc_cpu *c, struct hwpmc_pmc *pmc)
{
	if (hwpmc_pmc_samples(pmc)) {
		pmc->in_flight = true;
		hwpmc_sample_load_irqoff(c, pmc->row, pmc, pmc->left);
		return;
	}
	hwpmc_cpu_program_irqoff(c, pmc->row, &pmc->select);
	pmc->in_flight = true;
	pmc->start = hwpmc_row_read_irqoff(&hwpmc_rows[pmc->row]);
}

static void sys_end_irqoff(struct hwpmc_cpu *c, struct hwpmc_pmc *pmc)
{
	if (hwpmc_pmc_samples(pmc)) {
		pmc->left = hwpmc_sample_unload_irqoff(c, pmc->row);
		pmc->in_flight = false;
		return;
	}
	hwpmc_pmc_harvest_irqoff(pmc);
	pmc->in_flight = false;
	if (!hwpmc_rows[pmc->row].cls->shareable)
		hwpmc_cpu_program_irqoff(c, pmc->row, NULL);
}

static void sys_start_ipi(void *arg)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	struct hwpmc_pmc *pmc = arg;

	list_add(&pmc->sys_node, &c->sys);
	sys_begin_irqoff(c, pmc);
}

static void sys_stop_ipi(void *arg)
{
	struct hwpmc_pmc *pmc = arg;

	if (pmc->in_flight)
		sys_end_irqoff(this_cpu_ptr(hwpmc_cpus), pmc);
	list_del_init(&pmc->sys_node);
}

static void sys_read_ipi(void *arg)
{
	struct hwpmc_pmc *pmc = arg;

	if (pmc->in_flight)
		hwpmc_pmc_harvest_irqoff(pmc);
}

void hwpmc_pmcs_resume_irqoff(struct hwpmc_cpu *c)
{
	struct hwpmc_pmc *pmc;

	list_for_each_entry(pmc, &c->sys, sys_node)
		if (!pmc->in_flight)
			sys_begin_irqoff(c, pmc);
}

bool hwpmc_pmcs_pause_irqoff(struct hwpmc_cpu *c, u64 rows)
{
	struct hwpmc_pmc *pmc;
	bool any = false;

	list_for_each_entry(pmc, &c->sys, sys_node) {
		if (!pmc->in_flight || !(rows & BIT_ULL(pmc->row)))
			continue;
		sys_end_irqoff(c, pmc);
		any = true;
	}
	return any;
}

void hwpmc_pmcs_suspend_irqoff(struct hwpmc_cpu *c)
{
	hwpmc_pmcs_pause_irqoff(c, ~0ULL);
}

void hwpmc_pmcs_harvest_irqoff(struct hwpmc_cpu *c)
{
	struct hwpmc_pmc *pmc;

	list_for_each_entry(pmc, &c->sys, sys_node)
		if (pmc->in_flight && !hwpmc_pmc_samples(pmc))
			hwpmc_pmc_harvest_irqoff(pmc);
}

static int sys_start(struct hwpmc_pmc *pmc)
{
	return hwpmc_cpu_call(pmc->cpu, sys_start_ipi, pmc);
}

/* A release must succeed even while the CPU is offline. */
static void sys_unlink(struct hwpmc_pmc *pmc)
{
	cpus_read_lock();
	if (cpu_online(pmc->cpu))
		smp_call_function_single(pmc->cpu, sys_stop_ipi, pmc, 1);
	else
		list_del_init(&pmc->sys_node);
	cpus_read_unlock();
}

/* ---- start, stop, release ------------------------------------------------ */

static int process_start(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret;

	if (list_empty(&pmc->links)) {
		if (pmc->was_attached)
			return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_NO_TARGETS, 0);
		ret = hwpmc_attach_owner(pmc, hdr);
		if (ret)
			return ret;
	}
	hwpmc_snapshot(pmc);
	hwpmc_targets_activate(pmc);
	return 0;
}

/* May what it counts be anything, as the hardware refused something? */
int hwpmc_pmc_doubt(const struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	u32 msr = hwpmc_class_doubt(hwpmc_rows[pmc->row].cls);

	if (likely(!msr))
		return 0;
	return hwpmc_refuse(hdr, -EIO, HWPMC_WHY_PMU_REFUSED, msr);
}

int hwpmc_pmc_start(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (pmc->state == HWPMC_STATE_RUNNING)
		return 0;
	trace_hwpmc_pmc_start(pmc);
	ret = hwpmc_pmc_doubt(pmc, hdr);
	if (ret)
		return ret;
	if (hwpmc_pmc_needs_log(pmc) && !hwpmc_log_is_open(pmc->owner))
		return hwpmc_refuse(hdr, -EBADFD, HWPMC_WHY_NO_LOG, 0);
	if (!hwpmc_pmc_is_system(pmc))
		return process_start(pmc, hdr);
	hwpmc_snapshot(pmc);
	ret = sys_start(pmc);
	if (ret)
		return hwpmc_refuse(hdr, ret, HWPMC_WHY_CPU_OFFLINE, pmc->cpu);
	WRITE_ONCE(pmc->state, HWPMC_STATE_RUNNING);
	ret = hwpmc_pmc_doubt(pmc, hdr);
	if (ret)
		hwpmc_pmc_halt(pmc);
	return ret;
}

/* Who samples reads no count that could tell. */
static int stopped(const struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	return hwpmc_pmc_needs_log(pmc) ? hwpmc_pmc_doubt(pmc, hdr) : 0;
}

int hwpmc_pmc_stop(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (pmc->state == HWPMC_STATE_STOPPED)
		return 0;
	if (pmc->state != HWPMC_STATE_RUNNING)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NOT_STARTED, 0);
	trace_hwpmc_pmc_stop(pmc);
	if (!hwpmc_pmc_is_system(pmc)) {
		hwpmc_targets_deactivate(pmc);
		return stopped(pmc, hdr);
	}
	ret = hwpmc_cpu_call(pmc->cpu, sys_stop_ipi, pmc);
	if (ret)
		return hwpmc_refuse(hdr, ret, HWPMC_WHY_CPU_OFFLINE, pmc->cpu);
	WRITE_ONCE(pmc->state, HWPMC_STATE_STOPPED);
	return stopped(pmc, hdr);
}

void hwpmc_pmc_halt(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	if (pmc->state != HWPMC_STATE_RUNNING)
		return;
	if (!hwpmc_pmc_is_system(pmc)) {
		hwpmc_targets_deactivate(pmc);
		return;
	}
	sys_unlink(pmc);
	WRITE_ONCE(pmc->state, HWPMC_STATE_STOPPED);
}

/* No CPU counts for it any more, and none will begin to. */
static void quiesce(struct hwpmc_pmc *pmc)
{
	if (!hwpmc_pmc_is_system(pmc))
		hwpmc_detach_all(pmc);
	else if (pmc->state == HWPMC_STATE_RUNNING)
		sys_unlink(pmc);
	WRITE_ONCE(pmc->state, HWPMC_STATE_DELETED);
}

void hwpmc_pmc_release(struct hwpmc_pmc *pmc)
{
	struct hwpmc_row *row = &hwpmc_rows[pmc->row];
	bool system = hwpmc_pmc_is_system(pmc);

	lockdep_assert_held(&hwpmc_lock);
	quiesce(pmc);
	trace_hwpmc_pmc_release(pmc);
	hwpmc_rdpmc_revoke(pmc);
	hwpmc_owner_remove(pmc);
	list_del(&pmc->row_node);
	if (!row->cls->shareable) {
		row->users = hwpmc_row_removed(row->users, system);
		/* Process-scope rows are left counting between slices; with
		 * the last user the counter must stop. */
		if (!system && !row->users)
			hwpmc_cpus_stop_row(pmc->row);
	}
	put_class(pmc);
	put_kgmon(pmc->flags);
	hwpmc_hooks_put(hooks_of(pmc->mode, pmc->flags));
	kfree_rcu(pmc, rcu);
}

/* ---- reading ------------------------------------------------------------- */

static void process_read_ipi(void *arg)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	struct hwpmc_pmc *pmc = arg;

	if (c->row[pmc->row].pmc == pmc)
		hwpmc_cpu_harvest_irqoff(c, pmc->row);
}

/* Was that all there is, because the one measured thread runs here? */
static bool harvest_here(struct hwpmc_pmc *pmc)
{
	struct hwpmc_cpu *c;
	bool all = false;

	local_irq_disable();
	c = this_cpu_ptr(hwpmc_cpus);
	if (c->row[pmc->row].pmc == pmc) {
		hwpmc_cpu_harvest_irqoff(c, pmc->row);
		all = READ_ONCE(pmc->nthreads) == 1;
	}
	local_irq_enable();
	return all;
}

/*
 * Every slice in flight is taken into the total: here by hand, elsewhere by the
 * CPU itself. A slice that ends meanwhile adds itself, before .pmc is cleared
 * (A: pairs with hwpmc_cpu_unload_irqoff()); so whatever was counted before the
 * call is in the total that is read after the loop.
 */
static void process_harvest(struct hwpmc_pmc *pmc)
{
	unsigned int row = pmc->row;
	int cpu;

	/* First: a thread that runs by then has it in its slice. */
	if (unlikely(pmc->of_thread))
		hwpmc_targets_take_moved(pmc);
	if (harvest_here(pmc))
		return;
	preempt_disable();
	for_each_online_cpu(cpu) {
		struct hwpmc_cpu *c = per_cpu_ptr(hwpmc_cpus, cpu);

		/* Here as well: we may have been moved since. */
		if (smp_load_acquire(&c->row[row].pmc) == pmc)
			smp_call_function_single(cpu, process_read_ipi, pmc, 1);
	}
	preempt_enable();
}

int hwpmc_pmc_read(struct hwpmc_pmc *pmc, u64 *value)
{
	if (READ_ONCE(pmc->state) == HWPMC_STATE_RUNNING) {
		if (!hwpmc_pmc_is_system(pmc))
			process_harvest(pmc);
		else if (smp_call_function_single(pmc->cpu, sys_read_ipi, pmc, 1))
			return -ENXIO;
	}
	*value = atomic64_read(&pmc->total);
	return 0;
}
