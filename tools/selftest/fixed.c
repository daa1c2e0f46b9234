/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fixed.c - do the counters of slots and of reference cycles count what they are named after?
 * No loop is known to have so many of these, but their ratios to cycles and to the TSC are.
 */
#include <errno.h>
#include <string.h>

#include "judge.h"
#include "selftest.h"

#define LENGTH	200000
#define TRIES	20
#define BUSY_NS	10000000

/*
 * One PMC for each event of this process. False: this machine, or this kind of core, has no
 * such counter, which is not worth a line, or another cause was reported.
 */
static bool begin(struct selftest *t, struct st_pmcs *p, const struct st_kind *kind,
		  const char *check, const char *const event[], unsigned int n)
{
	char spec[HWPMC_NAME_MAX];

	memset(p, 0, sizeof(*p));
	for (unsigned int i = 0; i < n; i++)
		if (!st_add(t, p, st_spec(spec, kind, event[i], "u"), 0)) {
			if (errno != ENOENT && errno != EINVAL && errno != EOPNOTSUPP)
				st_failed(t, check, "%s: %s", spec, hwpmc_error(t->h));
			st_release(t, p);
			return false;
		}
	if (st_batch(t, p, check, HWPMC_BATCH_START))
		return true;
	st_release(t, p);
	return false;
}

static void check_slots(struct selftest *t, const struct st_kind *kind)
{
	static const char *const events[] = { "slots", "cycles" };
	struct st_pmcs p;

	if (!begin(t, &p, kind, "slots", events, 2))
		return;
	st_loop(LENGTH);
	if (st_batch(t, &p, "slots", HWPMC_BATCH_READ)) {
		uint64_t slots = p.entry[0].value, cycles = p.entry[1].value;

		if (judge_slots(cycles, slots))
			st_held(t, "slots", "%s counts %.2f slots per cycle", p.name[0],
				(double)slots / cycles);
		else
			st_failed(t, "slots",
				  "%s counts %llu slots in %llu cycles: 1 to 12 per cycle are possible",
				  p.name[0], (unsigned long long)slots,
				  (unsigned long long)cycles);
	}
	st_release(t, &p);
}

/* The largest share of the TSC's ticks that is counted: what interrupts take is not counted. */
static double busy_share(struct selftest *t, struct st_pmcs *p)
{
	double most = 0;

	for (int try = 0; try < TRIES; try++) {
		uint64_t ticks, before, end = st_ns() + BUSY_NS;

		if (!st_batch(t, p, "ref-clock", HWPMC_BATCH_READ))
			return -1;
		ticks = st_ticks();
		before = p->entry[0].value;
		while (st_ns() < end)
			st_loop(1000);
		ticks = st_ticks() - ticks;
		if (!st_batch(t, p, "ref-clock", HWPMC_BATCH_READ))
			return -1;
		if ((double)(p->entry[0].value - before) / ticks > most)
			most = (double)(p->entry[0].value - before) / ticks;
	}
	return most;
}

static void check_ref_clock(struct selftest *t, const struct st_kind *kind)
{
	static const char *const events[] = { "ref-cycles" };
	struct st_pmcs p;
	double share;

	if (!begin(t, &p, kind, "ref-clock", events, 1))
		return;
	share = busy_share(t, &p);
	if (t->hypervisor && share >= 0)
		st_measured(t, "ref-clock",
			    "%s counts %.4f reference cycles per tick of the TSC, under a hypervisor",
			    p.name[0], share);
	else if (share >= 0 && judge_ref_clock(share))
		st_held(t, "ref-clock", "%s counts %.4f reference cycles per tick of the TSC",
			p.name[0], share);
	else if (share >= 0)
		st_failed(t, "ref-clock",
			  "%s counts %.4f reference cycles per tick of the TSC in a busy loop, expected 1.00",
			  p.name[0], share);
	st_release(t, &p);
}

void st_fixed(struct selftest *t)
{
	struct st_kind kind[ST_KINDS];
	unsigned int n = st_kinds(t, kind);

	for (unsigned int i = 0; i < n; i++) {
		st_pin(kind[i].cpu);
		check_slots(t, &kind[i]);
		check_ref_clock(t, &kind[i]);
	}
	st_pin(-1);
}
