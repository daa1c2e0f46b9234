/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * slice.h - begins, harvests and ends process-scope slices of each kind but
 * HWPMC_SLICE_COUNT, which switch.c has inline. On the CPU concerned, interrupts off.
 */
#ifndef HWPMC_SLICE_H
#define HWPMC_SLICE_H

#include <linux/sched/clock.h>

#include "../core/cpu.h"
#include "../sampling/pmc_records.h"
#include "../sampling/sample.h"
#include "migrations.h"
#include "target.h"
#include "userpage.h"

/*
 * On a CPU of another kind than the PMC's the counter may mean another event, or not exist. The
 * row is loaded, so that its time ends with the slice, but no .pmc is in flight.
 */
static inline void hwpmc_slice_begin_elsewhere_irqoff(struct hwpmc_row_cpu *rc,
						      struct hwpmc_pmc *pmc)
{
	rc->kind = HWPMC_SLICE_ELSEWHERE;
	rc->elsewhere.pmc = pmc;
	rc->elsewhere.since = local_clock();
	atomic64_inc(&pmc->elsewhere_slices);
}

static inline void hwpmc_slice_harvest_elsewhere_irqoff(struct hwpmc_row_cpu *rc)
{
	u64 now = local_clock();

	atomic64_add(now - rc->elsewhere.since, &rc->elsewhere.pmc->elsewhere_ns);
	rc->elsewhere.since = now;
}

/* The kind of a slice that adds to its link. */
static inline u32 hwpmc_slice_linked_kind(const struct hwpmc_pmc *pmc)
{
	return pmc->slow_path & HWPMC_SLOW_MAPPED ? HWPMC_SLICE_MAPPED : HWPMC_SLICE_LINKED;
}

static __always_inline void hwpmc_slice_begin_irqoff(struct hwpmc_cpu *c, unsigned int nr,
						     struct hwpmc_target *target,
						     struct hwpmc_pmc *pmc)
{
	struct hwpmc_row_cpu *rc = &c->row[nr];

	c->slow_path |= BIT_ULL(nr);
	if (unlikely(pmc->slow_path & HWPMC_SLOW_KINDS && !(pmc->kinds & c->kind))) {
		hwpmc_slice_begin_elsewhere_irqoff(rc, pmc);
		return;
	}
	if (pmc->slow_path & HWPMC_SLOW_SAMPLES) {
		hwpmc_sample_load_irqoff(c, nr, pmc, &c->thread->phase[nr]);
	} else {
		rc->kind = hwpmc_slice_linked_kind(pmc);
		rc->count.counted = 0;
		rc->count.link = &target->link[nr];
		hwpmc_cpu_load_irqoff(c, nr, pmc);
		if (rc->kind == HWPMC_SLICE_MAPPED)
			hwpmc_userpage_begin_irqoff(c->thread, nr, rc);
	}
	if (pmc->slow_path & HWPMC_SLOW_OFF_CPU)
		hwpmc_thread_add_migrations_irqoff(c->thread, nr);
}

static inline void hwpmc_slice_end_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row_cpu *rc = &c->row[nr];
	struct hwpmc_pmc *pmc = rc->pmc;

	switch (rc->kind) {
	case HWPMC_SLICE_ELSEWHERE:
		hwpmc_slice_harvest_elsewhere_irqoff(rc);
		break;
	case HWPMC_SLICE_SAMPLE:
		hwpmc_sample_unload_irqoff(c, nr);
		break;
	default:
		hwpmc_cpu_unload_irqoff(c, nr);
		if (rc->kind == HWPMC_SLICE_MAPPED)
			hwpmc_userpage_end_irqoff(c->thread, nr, rc);
		hwpmc_pmc_record_slice_irqoff(rc, pmc);
	}
	rc->kind = HWPMC_SLICE_COUNT;
	c->slow_path &= ~BIT_ULL(nr);
}

/* The slice goes on. Samples have nothing to add, and time cannot wrap. */
static inline void hwpmc_slice_harvest_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	u32 kind = c->row[nr].kind;

	if (kind == HWPMC_SLICE_COUNT || kind == HWPMC_SLICE_LINKED)
		hwpmc_cpu_harvest_irqoff(c, nr);
	else if (kind == HWPMC_SLICE_MAPPED)
		hwpmc_userpage_renew_irqoff(c, nr);
}

/* The PMC of a loaded row. */
static inline struct hwpmc_pmc *hwpmc_slice_pmc(const struct hwpmc_row_cpu *rc)
{
	return rc->kind == HWPMC_SLICE_ELSEWHERE ? rc->elsewhere.pmc : rc->pmc;
}

/*
 * The invariants of slices, which a build with HWPMC_DEBUG=1 checks at each switch. It prints with
 * the run queue locked: only for a machine whose console may wait.
 */
#ifdef HWPMC_DEBUG
static inline bool hwpmc_slice_is_consistent(const struct hwpmc_cpu *c, unsigned int nr)
{
	const struct hwpmc_row_cpu *rc = &c->row[nr];
	bool loaded = c->loaded & BIT_ULL(nr), armed = (c->sampling | c->ticking) & BIT_ULL(nr);
	const struct hwpmc_pmc *pmc = rc->pmc;

	if (!(c->slow_path & BIT_ULL(nr)) != !(loaded && rc->kind != HWPMC_SLICE_COUNT))
		return false;
	if (armed && rc->kind != HWPMC_SLICE_SAMPLE)
		return false;
	if (pmc && pmc->row != nr)
		return false;
	switch (rc->kind) {
	case HWPMC_SLICE_COUNT:
		return loaded == !!pmc && (!pmc || !hwpmc_pmc_samples(pmc));
	case HWPMC_SLICE_LINKED:
	case HWPMC_SLICE_MAPPED:
		return loaded && pmc && pmc->slow_path && !hwpmc_pmc_samples(pmc) && rc->count.link;
	case HWPMC_SLICE_SAMPLE:
		return pmc && hwpmc_pmc_samples(pmc) && loaded != hwpmc_pmc_is_system(pmc) &&
		       c->phase[nr];
	case HWPMC_SLICE_ELSEWHERE:
		return loaded && !pmc && rc->elsewhere.pmc->row == nr &&
		       !(rc->elsewhere.pmc->kinds & c->kind);
	}
	return false;
}

static inline void hwpmc_slices_check_irqoff(const struct hwpmc_cpu *c)
{
	unsigned int nr;

	lockdep_assert_irqs_disabled();
	WARN_ONCE(c->loaded && !c->thread, "rows %#llx are loaded for no thread\n", c->loaded);
	for (nr = 0; nr < hwpmc_nrows; nr++)
		WARN_ONCE(!hwpmc_slice_is_consistent(c, nr), "row %u: slice of kind %u, PMC %p, loaded %#llx, slow path %#llx, armed %#llx\n",
			  nr, c->row[nr].kind, c->row[nr].pmc, c->loaded, c->slow_path,
			  c->sampling | c->ticking);
}
#else
static inline void hwpmc_slices_check_irqoff(const struct hwpmc_cpu *c)
{
}
#endif

#endif /* HWPMC_SLICE_H */
