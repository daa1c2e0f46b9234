// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * allocate.c - a PMC is allocated with all that it needs, and released.
 * Process context under hwpmc_lock. How the order of checks came about is written in
 * the uapi header.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/nospec.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../core/cpu.h"
#include "../core/owner.h"
#include "../debug/trace.h"
#include "../debug/tunables.h"
#include "../log/records.h"
#include "../sampling/kgmon.h"
#include "../sampling/sample.h"
#include "../task/attach.h"
#include "../task/rdpmc.h"
#include "../task/system.h"
#include "allocate.h"
#include "claim.h"
#include "hooks.h"

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

static int class_encode(struct hwpmc_class *cls, struct hwpmc_op_pmcallocate *op,
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
	pmc->period_left = 0;
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
	pmc->counts_off_cpu = enc->counts_off_cpu;
	pmc->slow_path = hwpmc_pmc_samples(pmc) || hwpmc_pmc_needs_log(pmc) ||
		       enc->counts_off_cpu;
	pmc->carry_overshoot = !hwpmc_rows[pmc->row].cls->nmi ||
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
		ret = hwpmc_nmi_register_once();
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
	ret = ret ?: class_encode(cls, op, &enc);
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
	pmc->slow_path |= owner->kernel;
	hwpmc_owner_add(owner, pmc);
	op->pmcid = pmc->id;
	if (hwpmc_pmc_samples(pmc))
		op->count = pmc->period;
	trace_hwpmc_md_allocate(pmc->row, pmc->select.sel);
	trace_hwpmc_pmc_allocate(pmc);
	hwpmc_log_allocated(pmc);
	return 0;
}

/* ---- release ------------------------------------------------------------- */

/* No CPU counts for it any more, and none will begin to. */
static void pmc_quiesce(struct hwpmc_pmc *pmc)
{
	if (!hwpmc_pmc_is_system(pmc))
		hwpmc_detach_all(pmc);
	else if (pmc->state == HWPMC_STATE_RUNNING)
		hwpmc_system_unlink(pmc);
	WRITE_ONCE(pmc->state, HWPMC_STATE_DELETED);
}

void hwpmc_pmc_release(struct hwpmc_pmc *pmc)
{
	struct hwpmc_row *row = &hwpmc_rows[pmc->row];
	bool system = hwpmc_pmc_is_system(pmc);

	lockdep_assert_held(&hwpmc_lock);
	pmc_quiesce(pmc);
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
