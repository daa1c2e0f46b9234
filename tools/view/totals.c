/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * totals.c - what became of the samples of a log: how many there are, and how
 * many of them are not known to the last, by what is not known.
 */
#include <inttypes.h>
#include <string.h>

#include "view.h"

struct unknown {
	uint64_t unclaimed, object, function, hidden, dubious;
};

static uint64_t dubious_frames(const struct hwpmc_stack *s)
{
	uint64_t n = 0;

	for (uint32_t i = 1; i < s->nframe; i++)
		n += s->frame[i]->image->kind == HWPMC_IMAGE_UNKNOWN;
	return n * s->taken;
}

static void count_unknown(struct unknown *u, const struct hwpmc_stack *s)
{
	const struct hwpmc_frame *hit = s->frame[0];

	if (hit->image->kind == HWPMC_IMAGE_HIDDEN)
		u->hidden += s->taken;
	else if (hit->image->kind == HWPMC_IMAGE_UNKNOWN &&
		 strcmp(s->thread->process, "[unknown]") == 0)
		u->unclaimed += s->taken;
	else if (hit->image->kind == HWPMC_IMAGE_UNKNOWN)
		u->object += s->taken;
	else if (hit->symbol->unknown)
		u->function += s->taken;
	u->dubious += dubious_frames(s);
}

static void put_total(FILE *f, const char *what, uint64_t n)
{
	fprintf(f, " #%-27s %" PRIu64 "\n", what, n);
}

static uint64_t sum_of(const uint64_t *by_cause)
{
	uint64_t n = 0;

	for (int i = 0; i < HWPMC_DROP_SLOTS; i++)
		n += by_cause[i];
	return n;
}

void view_totals(FILE *f, const struct hwpmc_profile *p)
{
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(p);
	const struct hwpmc_stack *stack;
	struct unknown u = { .dubious = 0 };
	uint32_t n;

	stack = hwpmc_profile_stacks(p, &n);
	for (uint32_t i = 0; i < n; i++)
		count_unknown(&u, &stack[i]);
	fputs("CONVERSION STATISTICS:\n", f);
	put_total(f, "exec", t->execs);
	put_total(f, "samples total", t->samples);
	put_total(f, "samples excluded by options", t->samples - t->kept);
	put_total(f, "samples unclaimed", u.unclaimed);
	put_total(f, "samples unknown-object", u.object);
	put_total(f, "samples unknown-function", u.function);
	put_total(f, "samples hidden kernel", u.hidden);
	put_total(f, "samples dropped", sum_of(t->dropped));
	put_total(f, "callchain dubious frames", u.dubious);
}
