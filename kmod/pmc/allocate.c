// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * allocate.c - allocates a PMC with the resources that it needs, and releases it. Process
 * context, hwpmc_lock. The order of the checks is part of the ABI: see PMCALLOCATE in
 * the uapi header.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/cred.h>
#include <linux/nospec.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "../backends/siblings.h"
#include "../core/cpu.h"
#include "../core/doubt.h"
#include "../core/owner.h"
#include "../debug/trace.h"
#include "../debug/tunables.h"
#include "../log/loss.h"
#include "../log/records.h"
#include "../log/map_probes.h"
#include "../sampling/kgmon.h"
#include "../sampling/log.h"
#include "../sampling/lost_pmi.h"
#include "../sampling/sample.h"
#include "../sampling/counter_test.h"
#include "../task/attach.h"
#include "../task/start_stop.h"
#include "../task/rdpmc.h"
#include "../task/system.h"
#include "allocate.h"
#include "at_once.h"
#include "claim.h"
#include "hooks.h"
#include "pace.h"
#include "policy.h"

/* ---- checks of the request ----------------------------------------------- */

/* The tunable permits counting alone: a log of a CPU's samples has the addresses, names
 * and mappings of all processes, which /proc hides from other users. */
static bool may_use_system(const struct hwpmc_owner *owner, u32 mode)
{
	if (owner->kernel || perfmon_capable())
		return true;
	return !hwpmc_mode_is_sampling(mode) && READ_ONCE(hwpmc_unprivileged_syspmcs);
}

static int check_scope(const struct hwpmc_owner *owner,
		       struct hwpmc_op_pmcallocate *op)
{
	bool system = hwpmc_mode_is_system(op->mode);
	u32 ncpu = hwpmc_cpus_with_ids(nr_cpu_ids);

	if (op->mode > HWPMC_MODE_TC)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_MODE, op->mode);
	if (op->cpu != HWPMC_CPU_ANY && op->cpu >= ncpu)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_CPU_RANGE, ncpu - 1);
	if (op->cpu != HWPMC_CPU_ANY)
		op->cpu = array_index_nospec(op->cpu, ncpu);
	if (!system && op->cpu != HWPMC_CPU_ANY)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_CPU_WANT_ANY,
				    op->cpu);
	if (system && op->cpu == HWPMC_CPU_ANY)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_CPU_WANT_ONE, 0);
	if (system && !hwpmc_cpu_is_admitted(op->cpu))
		return hwpmc_refuse(&op->hdr, -ENXIO, HWPMC_WHY_CPU_OFFLINE,
				    op->cpu);
	if (system && !may_use_system(owner, op->mode))
		return hwpmc_refuse(&op->hdr, -EPERM, HWPMC_WHY_PRIV_SYSTEM,
				    hwpmc_mode_is_sampling(op->mode));
	return 0;
}

/* The requested flags that have no meaning in this mode. */
static u32 flags_against_mode(u32 flags, u32 mode)
{
	u32 bad = 0;

	if (hwpmc_mode_is_system(mode))
		bad |= HWPMC_F_DESCENDANTS | HWPMC_F_LOG_PROCCSW |
		       HWPMC_F_LOG_PROCEXIT | HWPMC_F_EXEC_START;
	if (!hwpmc_mode_is_sampling(mode))
		bad |= HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN;
	else if (!(flags & HWPMC_F_CALLCHAIN))
		bad |= HWPMC_F_USERCALLCHAIN | HWPMC_F_TABLES;
	if (!hwpmc_mode_is_sampling(mode) || flags & HWPMC_F_KGMON)
		bad |= HWPMC_F_TABLES | HWPMC_F_FREQUENCY | HWPMC_F_PAYLOAD;
	if (!(flags & HWPMC_F_TABLES))
		bad |= HWPMC_F_TABLES_FP | HWPMC_F_TABLES_ALL;
	if (mode != HWPMC_MODE_SS)
		bad |= HWPMC_F_KGMON;
	/* Descendants, logs and the next program are those of processes. */
	if (mode != HWPMC_MODE_TC ||
	    flags & (HWPMC_F_DESCENDANTS | HWPMC_F_EXEC_START | HWPMC_F_LOG_PROCCSW |
		     HWPMC_F_LOG_PROCEXIT))
		bad |= HWPMC_F_THREAD;
	return flags & bad;
}

static int check_pmc_flags(struct hwpmc_op_pmcallocate *op)
{
	u32 bad = op->flags & ~HWPMC_F_ALL;

	if (bad)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_FLAGS, bad);
	bad = flags_against_mode(op->flags, op->mode);
	if (bad)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_FLAGS_MODE, bad);
	return 0;
}

static int check_class(const struct hwpmc_owner *owner,
		       struct hwpmc_op_pmcallocate *op, struct hwpmc_class **found)
{
	struct hwpmc_class *cls = hwpmc_class_find(op->class);
	u32 caps = op->caps, missing;

	if (!cls || (cls->system_only && !hwpmc_mode_is_system(op->mode)))
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_CLASS, op->class);
	if (hwpmc_mode_is_sampling(op->mode))
		caps |= HWPMC_CAP_INTERRUPT;
	if (cls->privileged && !owner->kernel && !perfmon_capable())
		return hwpmc_refuse(&op->hdr, -EPERM, HWPMC_WHY_PRIV_SYSTEM, 2);
	missing = caps & ~cls->caps;
	if (missing)
		return hwpmc_refuse(&op->hdr, -EOPNOTSUPP, HWPMC_WHY_CAPS, missing);
	missing = op->flags & HWPMC_F_PAYLOAD & ~cls->payloads;
	if (missing)
		return hwpmc_refuse(&op->hdr, -EOPNOTSUPP, HWPMC_WHY_PAYLOAD, missing);
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
		.cpu = op->cpu,
		.ev = op->ev,
		.config = op->config,
		.config1 = op->config1,
		.kinds = op->kinds,
	};
	int ret;

	if (op->kinds && !cls->ops->cpu.rows_irqoff)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_KIND, 0);
	if (op->cpu != HWPMC_CPU_ANY)
		req.cpu_kind = per_cpu_ptr(hwpmc_cpus, op->cpu)->kind;

	if (!(req.caps & (HWPMC_CAP_USER | HWPMC_CAP_SYSTEM)))
		req.caps |= cls->caps & (HWPMC_CAP_USER | HWPMC_CAP_SYSTEM);
	memset(enc, 0, sizeof(*enc));
	ret = cls->ops->encode(cls, &req, enc);
	if (ret)
		return hwpmc_refuse(&op->hdr, ret, enc->refusal.reason, enc->refusal.detail);
	if (op->flags & HWPMC_F_THREAD && enc->counts_off_cpu)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_FLAGS_MODE, HWPMC_F_THREAD);
	if (!enc->rows)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_EVENT_ROWS, 0);
	return 0;
}

static bool row_disabled(unsigned int nr, const struct hwpmc_op_pmcallocate *op)
{
	return op->cpu != HWPMC_CPU_ANY &&
	       per_cpu_ptr(hwpmc_cpus, op->cpu)->disabled & BIT_ULL(nr);
}

/* A CPU has one counter of the row, for all owners together. */
static bool row_taken(unsigned int nr, const struct hwpmc_op_pmcallocate *op)
{
	lockdep_assert_held(&hwpmc_lock);
	return op->cpu != HWPMC_CPU_ANY &&
	       per_cpu_ptr(hwpmc_cpus, op->cpu)->taken & BIT_ULL(nr);
}

/* Has a CPU of the same package a PMC on the row that admits no other there? */
static bool package_taken(unsigned int nr, u32 on)
{
	unsigned int cpu;

	for_each_online_cpu(cpu)
		if (topology_physical_package_id(cpu) == topology_physical_package_id(on) &&
		    per_cpu_ptr(hwpmc_cpus, cpu)->package_taken & BIT_ULL(nr))
			return true;
	return false;
}

static bool row_busy(struct hwpmc_owner *owner, unsigned int nr,
		     const struct hwpmc_op_pmcallocate *op, const struct hwpmc_encoding *enc)
{
	const struct hwpmc_row *row = &hwpmc_rows[nr];

	if (!row->cls->shareable &&
	    !hwpmc_row_admits(row->users, hwpmc_mode_is_system(op->mode)))
		return true;
	if (row->halves || (enc->pair && hwpmc_rows[nr + 1].users))
		return true;
	if (enc->scope == HWPMC_SCOPE_PACKAGE && package_taken(nr, op->cpu))
		return true;
	return row_taken(nr, op) || hwpmc_owner_holds(owner, nr, op->mode, op->cpu);
}

/* The row with the fewest users of those that can count the event; or a refusal. */
static int find_row(struct hwpmc_owner *owner, struct hwpmc_class *cls,
		    struct hwpmc_op_pmcallocate *op, const struct hwpmc_encoding *enc, u64 rows)
{
	int best = -1, disabled = -1, busy = -1;
	bool lacks = false;
	unsigned int ri;

	for (ri = 0; ri < cls->num; ri++) {
		unsigned int nr = cls->first + ri;
		struct hwpmc_row *row = &hwpmc_rows[nr];

		if (!(rows & BIT_ULL(ri)))
			continue;
		if (row_busy(owner, nr, op, enc))
			busy = nr;
		else if (row_disabled(nr, op))
			disabled = nr;
		else if (!hwpmc_at_once_admits(nr, op->cpu, enc->pair))
			lacks = true;
		else if (best < 0 ||
			 hwpmc_row_better(row->users, hwpmc_rows[best].users))
			best = nr;
	}
	if (best >= 0)
		return best;
	if (disabled >= 0)
		return hwpmc_refuse(&op->hdr, -EPERM, HWPMC_WHY_ROW_DISABLED,
				    disabled);
	if (lacks)
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_ROWS_AT_ONCE, cls->at_once);
	return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_ROWS_BUSY, busy);
}

/* The first period is the shortest one, and soon grows. */
static void pmc_set_frequency(struct hwpmc_pmc *pmc, u64 count, u64 least)
{
	pmc->sampling.frequency = clamp_t(u64, count, 1, HWPMC_FREQUENCY_MAX);
	hwpmc_adapt_init(&pmc->sampling.adapt, hwpmc_log_ticks_nmi(MSEC_PER_SEC) / pmc->sampling.frequency,
			 least);
	pmc->sampling.period = least;
}

/*
 * Initial count, period or frequency. A hardware period below mincount would cause an NMI storm;
 * software events are sampled without an NMI and may have a period of 1.
 */
void hwpmc_pmc_set_count(struct hwpmc_pmc *pmc, u64 count)
{
	bool nmi = hwpmc_rows[pmc->row].cls->nmi;
	unsigned int least = nmi ? max(1, READ_ONCE(hwpmc_mincount)) : 1;

	if (!hwpmc_pmc_samples(pmc)) {
		hwpmc_pmc_set_total(pmc, count);
		hwpmc_doubt_forget(pmc);
		trace_hwpmc_pmc_write(pmc);
		return;
	}
	memset(&pmc->sampling.phase, 0, sizeof(pmc->sampling.phase));
	if (hwpmc_pmc_adapts(pmc)) {
		pmc_set_frequency(pmc, count, least);
		hwpmc_targets_forget_period(pmc);
		trace_hwpmc_pmc_write(pmc);
		return;
	}
	if (count < least) {
		pr_info_ratelimited("a sampling period of %llu was raised to kern.hwpmc.mincount, %u\n",
				    count, least);
		count = least;
	}
	pmc->sampling.period = count;
	hwpmc_targets_forget_period(pmc);
	trace_hwpmc_pmc_write(pmc);
}

/*
 * In process scope the place of the CPU has a number that counts down from 0xfff, so that an id
 * that was released is not the id of the next PMC on its row.
 */
static u32 new_id(struct hwpmc_owner *owner, const struct hwpmc_op_pmcallocate *op,
		  unsigned int nr)
{
	u32 place = op->cpu;

	lockdep_assert_held(&hwpmc_lock);
	if (!hwpmc_mode_is_system(op->mode))
		place = HWPMC_CPU_ANY - owner->numbered++;
	return HWPMC_ID_MAKE(place, op->mode, op->class, nr);
}

static struct hwpmc_pmc *pmc_new(struct hwpmc_owner *owner,
				 const struct hwpmc_op_pmcallocate *op,
				 const char *name,
				 const struct hwpmc_encoding *enc,
				 unsigned int nr)
{
	struct hwpmc_pmc *pmc = kzalloc(sizeof(*pmc), GFP_KERNEL_ACCOUNT);

	if (!pmc)
		return NULL;
	pmc->select = enc->select;
	pmc->row = nr;
	pmc->id = new_id(owner, op, nr);
	pmc->mode = op->mode;
	pmc->cpu = op->cpu;
	pmc->caps = op->caps;
	pmc->flags = op->flags;
	pmc->ev = op->ev;
	pmc->config = op->config;
	pmc->config1 = op->config1;
	strscpy(pmc->name, name, sizeof(pmc->name));
	pmc->kinds = op->kinds;
	pmc->state = HWPMC_STATE_ALLOCATED;
	pmc->privileged = owner->kernel || perfmon_capable();
	pmc->hidden = enc->hidden;
	pmc->pair = enc->pair;
	pmc->scope = enc->scope;
	pmc->sampling.arming = enc->arming;
	/* Some counters do not overflow properly with one event left. */
	if (hwpmc_rows[nr].cls->nmi)
		pmc->sampling.arming.least = max_t(u16, pmc->sampling.arming.least, 2);
	pmc->slow_path = (hwpmc_pmc_samples(pmc) ? HWPMC_SLOW_SAMPLES : 0) |
			 (hwpmc_pmc_needs_log(pmc) ? HWPMC_SLOW_VALUES : 0) |
			 (owner->kernel ? HWPMC_SLOW_KERNEL : 0) |
			 (op->flags & HWPMC_F_THREAD ? HWPMC_SLOW_THREAD : 0) |
			 (enc->counts_off_cpu ? HWPMC_SLOW_OFF_CPU : 0) |
			 (op->kinds ? HWPMC_SLOW_KINDS : 0);
	if (!hwpmc_pmc_is_system(pmc) && !pmc->slow_path && !hwpmc_pmc_new_parts(pmc)) {
		hwpmc_pmc_free(pmc);
		return NULL;
	}
	pmc->user_only = hwpmc_rows[nr].cls->nmi &&
			 (op->caps & (HWPMC_CAP_USER | HWPMC_CAP_SYSTEM)) == HWPMC_CAP_USER;
	pmc->sampling.carry_overshoot = pmc->user_only || !hwpmc_rows[nr].cls->nmi;
	INIT_LIST_HEAD(&pmc->process.links);
	INIT_LIST_HEAD(&pmc->process.cursors);
	INIT_LIST_HEAD(&pmc->system.node);
	hwpmc_pmc_set_count(pmc, op->count);
	return pmc;
}

/* ---- what a PMC holds ---------------------------------------------------- */

static bool has_interrupts(const struct hwpmc_pmc *pmc)
{
	return hwpmc_pmc_samples(pmc) && hwpmc_rows[pmc->row].cls->nmi;
}

/* The handler of NMIs stays registered until unload. */
static int pmc_get_nmi_handler(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret = 0;

	if (has_interrupts(pmc))
		ret = hwpmc_nmi_register_once();
	return ret ? hwpmc_refuse(hdr, ret, HWPMC_WHY_NO_MEMORY, 0) : 0;
}

static int pmc_get_overdue(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	if (has_interrupts(pmc))
		hwpmc_overdue_get();
	return 0;
}

static void pmc_put_overdue(struct hwpmc_pmc *pmc)
{
	if (has_interrupts(pmc))
		hwpmc_overdue_put();
}

static int pmc_get_kgmon(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret = pmc->flags & HWPMC_F_KGMON ? hwpmc_kgmon_get() : 0;

	return ret ? hwpmc_refuse(hdr, ret, HWPMC_WHY_NO_MEMORY, 0) : 0;
}

static void pmc_put_kgmon(struct hwpmc_pmc *pmc)
{
	if (pmc->flags & HWPMC_F_KGMON)
		hwpmc_kgmon_put();
}

/* Before the hooks, which keep the mappings up to date from their first moment. */
static int pmc_get_maps(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret = pmc->flags & HWPMC_F_TABLES ? hwpmc_mappings_follow() : 0;

	return ret ? hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0) : 0;
}

static void pmc_put_maps(struct hwpmc_pmc *pmc)
{
	if (pmc->flags & HWPMC_F_TABLES)
		hwpmc_mappings_unfollow();
}

static unsigned int hooks_of(const struct hwpmc_pmc *pmc)
{
	unsigned int hooks = HWPMC_HOOKS_OWNER;

	if (!hwpmc_pmc_is_system(pmc))
		hooks |= HWPMC_HOOKS_PROCESS;
	if (hwpmc_pmc_needs_log(pmc))
		hooks |= HWPMC_HOOKS_PROCESS | HWPMC_HOOKS_RECORDS;
	return hooks;
}

static int pmc_get_hooks(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret = hwpmc_hooks_get(hooks_of(pmc));

	return ret ? hwpmc_refuse(hdr, ret, HWPMC_WHY_NO_MEMORY, 0) : 0;
}

static void pmc_put_hooks(struct hwpmc_pmc *pmc)
{
	hwpmc_hooks_put(hooks_of(pmc));
}

/* The hardware, claimed from perf by the first PMC of the class. */
static int pmc_get_class(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	return hwpmc_class_get(hwpmc_rows[pmc->row].cls, hdr);
}

/* The first one that samples: does an interrupt come? */
static int pmc_try_interrupt(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	int ret = 0;

	if (has_interrupts(pmc) && hwpmc_overdue_has_one())
		ret = hwpmc_trial_interrupt(pmc->row, hdr);
	return ret;
}

static void pmc_put_class(struct hwpmc_pmc *pmc)
{
	hwpmc_class_put(hwpmc_rows[pmc->row].cls);
}

/* No sibling comes online while a PMC shares a core; one may have come since encode(). */
static int pmc_get_siblings(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	if (pmc->scope != HWPMC_SCOPE_CORE)
		return 0;
	return hwpmc_siblings_get(hwpmc_rows[pmc->row].cls->siblings_why, hdr);
}

static void pmc_put_siblings(struct hwpmc_pmc *pmc)
{
	if (pmc->scope == HWPMC_SCOPE_CORE)
		hwpmc_siblings_put();
}

static int pmc_get_event(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	struct hwpmc_class *cls = hwpmc_rows[pmc->row].cls;

	return cls->ops->events.get ? cls->ops->events.get(cls, &pmc->select, hdr) : 0;
}

static void pmc_put_event(struct hwpmc_pmc *pmc)
{
	struct hwpmc_class *cls = hwpmc_rows[pmc->row].cls;

	if (cls->ops->events.put)
		cls->ops->events.put(cls, &pmc->select);
}

/* Its share of the row. find_row() has found it free: this cannot fail. */
static int pmc_get_row(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	struct hwpmc_row *row = &hwpmc_rows[pmc->row];
	bool system = hwpmc_pmc_is_system(pmc);

	if (!row->cls->shareable)
		row->users = hwpmc_row_added(row->users, system);
	if (!row->cls->shareable && system)
		per_cpu_ptr(hwpmc_cpus, pmc->cpu)->taken |= BIT_ULL(pmc->row);
	if (pmc->scope == HWPMC_SCOPE_PACKAGE)
		per_cpu_ptr(hwpmc_cpus, pmc->cpu)->package_taken |= BIT_ULL(pmc->row);
	if (pmc->pair)
		row[1].halves++;
	list_add_tail(&pmc->row_node, &row->pmcs);
	trace_hwpmc_md_allocate(pmc->row, pmc->select.sel);
	return 0;
}

static void pmc_put_row(struct hwpmc_pmc *pmc)
{
	struct hwpmc_row *row = &hwpmc_rows[pmc->row];
	bool system = hwpmc_pmc_is_system(pmc);

	list_del(&pmc->row_node);
	if (pmc->pair)
		row[1].halves--;
	if (pmc->scope == HWPMC_SCOPE_PACKAGE)
		per_cpu_ptr(hwpmc_cpus, pmc->cpu)->package_taken &= ~BIT_ULL(pmc->row);
	if (!row->cls->shareable) {
		row->users = hwpmc_row_removed(row->users, system);
		if (system)
			per_cpu_ptr(hwpmc_cpus, pmc->cpu)->taken &= ~BIT_ULL(pmc->row);
		/* A process-scope row counts on between slices: it must stop with
		 * its last user. */
		if (!system && !row->users)
			hwpmc_cpus_stop_row(pmc->row);
	}
	trace_hwpmc_md_release(pmc->row, pmc->select.sel);
}

/*
 * In the order in which they are taken; a failure or the release gives them back in
 * reverse. get: 0, or an errno with the reason in hdr, and nothing is taken. put: NULL
 * where nothing is given back.
 */
static const struct pmc_resource {
	int (*get)(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);
	void (*put)(struct hwpmc_pmc *pmc);
} pmc_resources[] = {
	{ pmc_get_nmi_handler, NULL },
	{ pmc_get_overdue, pmc_put_overdue },
	{ pmc_get_kgmon, pmc_put_kgmon },
	{ pmc_get_maps, pmc_put_maps },
	{ pmc_get_hooks, pmc_put_hooks },
	{ pmc_get_class, pmc_put_class },
	{ pmc_try_interrupt, NULL },
	{ pmc_get_siblings, pmc_put_siblings },
	{ pmc_get_event, pmc_put_event },
	{ pmc_get_row, pmc_put_row },
};

/* The first n of them. */
static void pmc_put_resources(struct hwpmc_pmc *pmc, unsigned int n)
{
	lockdep_assert_held(&hwpmc_lock);
	while (n--)
		if (pmc_resources[n].put)
			pmc_resources[n].put(pmc);
}

static int pmc_get_resources(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	unsigned int n;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	for (n = 0; n < ARRAY_SIZE(pmc_resources); n++) {
		ret = pmc_resources[n].get(pmc, hdr);
		if (ret) {
			pmc_put_resources(pmc, n);
			return ret;
		}
	}
	return 0;
}

/* ---- allocation ---------------------------------------------------------- */

/* Its resources, then its place among the owner's PMCs. */
static int pmc_get_all(struct hwpmc_owner *owner, struct hwpmc_pmc *pmc,
		       struct hwpmc_hdr *hdr)
{
	int ret = pmc_get_resources(pmc, hdr);

	lockdep_assert_held(&hwpmc_lock);
	if (ret || !hwpmc_owner_add(owner, pmc))
		return ret;
	pmc_put_resources(pmc, ARRAY_SIZE(pmc_resources));
	return hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
}

/*
 * The row, of `rows` of the class, with the class claimed: the trial of the claim may have
 * found that the event or a counter does not count.
 */
static int find_row_that_counts(struct hwpmc_owner *owner, struct hwpmc_class *cls,
				struct hwpmc_op_pmcallocate *op,
				const struct hwpmc_encoding *enc, u64 rows)
{
	const struct hwpmc_found *found = &cls->found;
	u64 bad = found->still | found->misread;
	u32 why = hwpmc_trial_why(cls, &enc->select);

	if (why)
		return hwpmc_refuse(&op->hdr, -EOPNOTSUPP, why,
				    lower_32_bits(enc->select.sel & cls->ops->trial->event_bits));
	if (enc->rows & ~bad)
		return find_row(owner, cls, op, enc, rows & ~bad);
	if (enc->rows & found->still)
		return hwpmc_refuse(&op->hdr, -EOPNOTSUPP, HWPMC_WHY_ROW_STILL,
				    hweight64(found->still));
	return hwpmc_refuse(&op->hdr, -EOPNOTSUPP, HWPMC_WHY_ROW_MISREAD,
			    hweight64(found->misread));
}

/* Allocates it on one of `rows` of the class, which is claimed meanwhile. */
static int allocate_on(struct hwpmc_owner *owner, struct hwpmc_class *cls,
		       struct hwpmc_op_pmcallocate *op, const char *name,
		       const struct hwpmc_encoding *enc, u64 rows)
{
	struct hwpmc_pmc *pmc;
	int ret, nr = find_row_that_counts(owner, cls, op, enc, rows);

	if (nr < 0)
		return nr;
	pmc = pmc_new(owner, op, name, enc, nr);
	if (!pmc)
		return hwpmc_refuse(&op->hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	ret = pmc_get_all(owner, pmc, &op->hdr);
	if (ret) {
		hwpmc_pmc_free(pmc);
		return ret;
	}
	op->pmcid = pmc->id;
	if (hwpmc_pmc_samples(pmc))
		op->count = hwpmc_pmc_asked(pmc);
	trace_hwpmc_pmc_allocate(pmc);
	hwpmc_log_allocated(pmc);
	return 0;
}

int hwpmc_pmc_allocate(struct hwpmc_owner *owner,
		       struct hwpmc_op_pmcallocate *op, const char *name, u64 rows)
{
	struct hwpmc_encoding enc;
	struct hwpmc_class *cls;
	u64 claims = hwpmc_claims;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	ret = check_scope(owner, op);
	ret = ret ?: check_pmc_flags(op);
	ret = ret ?: check_class(owner, op, &cls);
	ret = ret ?: hwpmc_policy_check(owner, cls, op);
	ret = ret ?: class_encode(cls, op, &enc);
	if (ret)
		return ret;
	rows = enc.rows & (rows >> cls->first);
	/* What needs no hardware to be refused is refused without. */
	ret = find_row(owner, cls, op, &enc, rows);
	if (ret < 0)
		return ret;
	ret = hwpmc_class_get(cls, &op->hdr);
	if (hwpmc_claims != claims)
		hwpmc_pace_count(owner);
	if (ret)
		return ret;
	ret = allocate_on(owner, cls, op, name, &enc, rows);
	hwpmc_class_put(cls);
	return ret;
}

/* ---- release ------------------------------------------------------------- */

/* On return no CPU counts for the PMC, and none will. */
static void pmc_quiesce(struct hwpmc_pmc *pmc)
{
	/* For the records of losses. In system scope the end of its counter looks. */
	if (!hwpmc_pmc_is_system(pmc) && pmc->state == HWPMC_STATE_RUNNING &&
	    hwpmc_log_is_open(pmc->owner))
		hwpmc_doubt_look(pmc);
	if (!hwpmc_pmc_is_system(pmc))
		hwpmc_detach_all(pmc);
	else if (pmc->state == HWPMC_STATE_RUNNING)
		hwpmc_system_unlink(pmc);
	if (pmc->state == HWPMC_STATE_RUNNING)
		hwpmc_log_losses(pmc);
	WRITE_ONCE(pmc->state, HWPMC_STATE_DELETED);
}

void hwpmc_pmc_release(struct hwpmc_pmc *pmc)
{
	lockdep_assert_held(&hwpmc_lock);
	pmc_quiesce(pmc);
	trace_hwpmc_pmc_release(pmc);
	hwpmc_rdpmc_revoke(pmc);
	put_cred(pmc->process.cred);
	pmc->process.cred = NULL;
	hwpmc_owner_remove(pmc);
	pmc_put_resources(pmc, ARRAY_SIZE(pmc_resources));
	hwpmc_pmc_free_rcu(pmc);
}
