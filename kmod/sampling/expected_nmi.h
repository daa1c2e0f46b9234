/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * expected_nmi.h - NMIs that are on their way to this CPU for overflows that were found before:
 * they will find nothing. hwpmc_cpu.nmi_expected is the time of the last one, .nmi_more the
 * number of the others. Changed in NMI, and by this CPU with interrupts off.
 */
#ifndef HWPMC_EXPECTED_NMI_H
#define HWPMC_EXPECTED_NMI_H

#include "../backends/x86_pmi.h"
#include "../core/cpu.h"
#include "nmi_decide.h"

/* Returns true if an NMI whose overflow was handled at `since` (0: never) can still arrive. */
bool hwpmc_nmi_may_arrive_nmi(u64 since, u64 now);

/* One of the expected NMIs has come. */
static inline void hwpmc_expected_spend_nmi(struct hwpmc_cpu *c)
{
	/* It may have been this one: the next stop adds another. */
	c->nmi_late = false;
	if (c->nmi_more)
		c->nmi_more--;
	else
		c->nmi_expected = 0;
}

/* `more` NMIs are on their way. */
static inline void hwpmc_expected_add_nmi(struct hwpmc_cpu *c, unsigned int more, u64 now)
{
	unsigned int already = 0;

	if (hwpmc_nmi_may_arrive_nmi(c->nmi_expected, now))
		already = 1 + c->nmi_more;
	c->nmi_more = hwpmc_nmi_expect(already, more, hwpmc_pmi_merges_nmi()) - 1;
	c->nmi_expected = now;
}

/*
 * Disarming a row races with its own NMI, which may come at any instruction until it
 * is disarmed, or later still. So an NMI is expected from before the row leaves
 * c->sampling, and the expectation is taken back where the counter shows that none
 * was raised. Returns what was expected before.
 *
 * This is an exchange; xchg() would lock the bus, and only NMIs of this CPU can come
 * in between.
 */
static inline u64 hwpmc_expected_begin_irqoff(struct hwpmc_cpu *c, u64 now)
{
	u64 before;

	do {
		before = READ_ONCE(c->nmi_expected);
	} while (cmpxchg_local(&c->nmi_expected, before, now) != before);
	return before;
}

/* Take the expectation back, unless the NMI has come and consumed it, or has set its own. */
static inline void hwpmc_expected_take_back_irqoff(struct hwpmc_cpu *c, u64 now, u64 before)
{
	cmpxchg_local(&c->nmi_expected, now, before);
}

/*
 * Keep the expectation: one NMI more is on its way. Those that were expected before come as
 * well, where the APIC does not merge them and they are not too old.
 */
static inline void hwpmc_expected_keep_irqoff(struct hwpmc_cpu *c, u64 now, u64 before)
{
	if (likely(!before))
		return;
	if (hwpmc_pmi_merges_nmi() || !hwpmc_nmi_may_arrive_nmi(before, now))
		WRITE_ONCE(c->nmi_more, 0);
	/* The NMI that has consumed this one was for one of those before. */
	else if (cmpxchg_local(&c->nmi_expected, 0, now) &&
		 READ_ONCE(c->nmi_more) < HWPMC_NMI_MOST - 1)
		this_cpu_inc(hwpmc_cpus->nmi_more);
}

/*
 * A row was stopped that may interrupt once more, without an overflow (struct hwpmc_sampler): one
 * NMI is expected from `now` on, in addition to those of counters, and not one more for each
 * stop. `before`: see above.
 */
static inline void hwpmc_expected_renew_nmi(struct hwpmc_cpu *c, u64 now, u64 before)
{
	if (!hwpmc_nmi_may_arrive_nmi(before, now))
		WRITE_ONCE(c->nmi_more, 0);
	else if (!READ_ONCE(c->nmi_late) && READ_ONCE(c->nmi_more) < HWPMC_NMI_MOST - 1)
		this_cpu_inc(hwpmc_cpus->nmi_more);
	WRITE_ONCE(c->nmi_late, true);
	/* One of a counter may have come in between, and consumed this one. */
	cmpxchg_local(&c->nmi_expected, 0, now);
}

#endif /* HWPMC_EXPECTED_NMI_H */
