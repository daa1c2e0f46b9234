/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pair.c - do two rows with different events both interrupt where their overflows come in one
 * moment? A turn of the loop is two instructions and one branch, so with twice the period for
 * instructions both overflow in the same turn: mostly one NMI finds the two.
 */
#include <libhwpmclog.h>
#include <string.h>

#include "selftest.h"

#define PERIOD		50021	/* branches */
#define PERIODS		20
#define ATTEMPTS	5

static void judge(struct selftest *t, const struct st_pmcs *p, const struct st_samples *s,
		  uint64_t dropped)
{
	if (s->of[0] != PERIODS || s->of[1] != PERIODS || dropped)
		st_failed(t, "pair",
			  "instructions on %s and branches on %s overflow at the same time, %d times: %llu and %llu samples, %llu dropped",
			  p->name[0], p->name[1], PERIODS, (unsigned long long)s->of[0],
			  (unsigned long long)s->of[1], (unsigned long long)dropped);
	else
		st_held(t, "pair",
			"instructions on %s and branches on %s overflow at the same time, %d times: each is a sample",
			p->name[0], p->name[1], PERIODS);
}

/* False: sampling was throttled, and nothing is reported. */
static bool sample(struct selftest *t, struct hwpmc_rings *rings)
{
	uint64_t dropped[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS], sum = 0;
	struct st_pmcs p = { .n = 0 };
	struct st_samples s = { .p = &p };

	if (!st_add(t, &p, "instructions:u", 2 * PERIOD) ||
	    !st_add(t, &p, "branches:u", PERIOD)) {
		st_not_tried(t, "pair", "two events at the same time: %s", hwpmc_error(t->h));
	} else if (st_batch(t, &p, "pair", HWPMC_BATCH_START)) {
		st_loop(PERIODS * PERIOD + PERIOD / 2);
		if (st_batch(t, &p, "pair", HWPMC_BATCH_STOP)) {
			hwpmc_flush_log(t->h);
			hwpmc_rings_read(rings, st_take_samples, &s, NULL);
			hwpmc_rings_drop_counts(rings, dropped, others, HWPMC_DROP_SLOTS);
			for (int i = 0; i < HWPMC_DROP_SLOTS; i++)
				sum += dropped[i];
			if (!s.throttles)
				judge(t, &p, &s, sum);
		}
	}
	st_release(t, &p);
	return !s.throttles;
}

/* Where it is throttled all the time, the check of overflows reports that. */
void st_pair(struct selftest *t)
{
	struct hwpmc_rings *rings;
	bool done = false;

	for (int i = 0; i < ATTEMPTS && !done; i++) {
		if (hwpmc_rings_open(t->h, 0, 0, &rings) < 0) {
			st_failed(t, "pair", "%s", hwpmc_error(t->h));
			return;
		}
		done = sample(t, rings);
		hwpmc_rings_close(rings);
		hwpmc_configure_log(t->h, -1);
	}
	if (!done)
		st_not_tried(t, "pair", "two events at the same time: sampling was throttled %d times",
			     ATTEMPTS);
}
