/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rows.c - does each row of each kind of core count exactly? An interrupt or a fault can add
 * an event or two to a count on some processors, and never takes one away: so the least of
 * many tries is exact, and what the others have more is reported as the overcount.
 */
#include <string.h>

#include "selftest.h"

#define TRIES	60
#define LENGTH	20000
/* A counter that has lost what was in it counts backwards, which modulo its width is more than
 * so many bits: no loop is that long. */
#define LEAP	32

struct tries {
	uint64_t least[HWPMC_ROW_MAX], sum[HWPMC_ROW_MAX];
	unsigned int leaps[HWPMC_ROW_MAX];
};

/* What the rows count of a loop and of the two reads around it. */
static bool try_loop(struct selftest *t, struct st_pmcs *p, uint64_t n, struct tries *tries)
{
	uint64_t before[HWPMC_ROW_MAX];

	memset(tries, 0, sizeof(*tries));
	memset(tries->least, 0xff, sizeof(tries->least));
	for (int try = 0; try < TRIES; try++) {
		if (!st_batch(t, p, "rows-count", HWPMC_BATCH_READ))
			return false;
		for (unsigned int i = 0; i < p->n; i++)
			before[i] = p->entry[i].value;
		st_loop(n);
		if (!st_batch(t, p, "rows-count", HWPMC_BATCH_READ))
			return false;
		for (unsigned int i = 0; i < p->n; i++) {
			uint64_t value = p->entry[i].value - before[i];

			if (value >> LEAP) {
				tries->leaps[i]++;
				continue;
			}
			if (value < tries->least[i])
				tries->least[i] = value;
			tries->sum[i] += value;
		}
	}
	return true;
}

/* False: what is wrong was reported. */
static bool row_is_exact(struct selftest *t, const char *name, uint64_t got,
			 unsigned int leaps)
{
	uint64_t want = LENGTH * ST_LOOP_INSN;

	if (leaps)
		st_failed(t, "rows-count",
			  "%s loses counts: %u of %d times it was lower than before",
			  name, leaps, 2 * TRIES);
	else if (!got)
		st_failed(t, "rows-count",
			  "%s does not count: 0 of %llu instructions of a loop", name,
			  (unsigned long long)want);
	else if (got != want)
		st_failed(t, "rows-count",
			  "%s counts too %s: %lld of %llu instructions of a loop", name,
			  (int64_t)got < (int64_t)want ? "little" : "much", (long long)got,
			  (unsigned long long)want);
	return !leaps && got == want;
}

static void judge(struct selftest *t, const struct st_kind *kind, const struct st_pmcs *p,
		  const struct tries *none, const struct tries *loop)
{
	unsigned int wrong = 0;
	double most = 0;

	for (unsigned int i = 0; i < p->n; i++) {
		double over = ((double)loop->sum[i] - loop->least[i] * TRIES) / TRIES;
		unsigned int leaps = none->leaps[i] + loop->leaps[i];

		wrong += !row_is_exact(t, p->name[i], loop->least[i] - none->least[i], leaps);
		if (!leaps && over > most)
			most = over;
	}
	if (!wrong)
		st_held(t, "rows-count",
			"each of %u rows%s%s (%s to %s) counts a loop of %llu instructions exactly",
			p->n, kind->name ? " of " : "", kind->name ? kind->name : "", p->name[0],
			p->name[p->n - 1], (unsigned long long)LENGTH * ST_LOOP_INSN);
	st_held(t, "overcount",
		"interrupts and faults add at most %.2f instructions in the mean of %d loops",
		most, TRIES);
}

/* All rows of this kind at once, on one CPU of it. */
static void check_kind(struct selftest *t, const struct st_kind *kind)
{
	char spec[HWPMC_NAME_MAX];
	struct tries none, loop;
	struct st_pmcs p;

	st_spec(spec, kind, "instructions", "u");
	if (!st_pin(kind->cpu)) {
		st_not_tried(t, "rows-count", "%s: this process cannot run on CPU %d",
			     kind->name ? kind->name : "rows", kind->cpu);
		return;
	}
	if (!st_allocate(t, &p, "rows-count", spec, 0))
		return;
	if (st_batch(t, &p, "rows-count", HWPMC_BATCH_START) && try_loop(t, &p, 0, &none) &&
	    try_loop(t, &p, LENGTH, &loop))
		judge(t, kind, &p, &none, &loop);
	st_batch(t, &p, "rows-stop", HWPMC_BATCH_STOP);
	st_release(t, &p);
}

void st_rows(struct selftest *t)
{
	struct st_kind kind[ST_KINDS];
	unsigned int n = st_kinds(t, kind);

	for (unsigned int i = 0; i < n; i++)
		check_kind(t, &kind[i]);
	st_pin(-1);
}
