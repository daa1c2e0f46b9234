/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conservation.c - two rows that sample and two that count the same events, on one CPU: samples
 * and declared drops are the periods of the counts. In user mode exactly, as events since
 * an overflow belong to the next period; with the kernel the handler's own events are missing,
 * and what is missing a sample is measured.
 */
#include <errno.h>
#include <libhwpmclog.h>
#include <stdlib.h>
#include <string.h>

#include "long.h"
#include "selftest/judge.h"

static const struct form {
	const char *name, *spec[2];
	uint64_t period[2];
	bool user;
} forms[] = {
	{ "user", { "instructions:u", "branches:u" }, { 20011, 9973 }, true },
	{ "all", { "cycles:uk", "instructions:uk" }, { 20011, 19997 }, false },
};

struct sums {
	uint64_t count[2], samples[2], drops, late, throttles, overflows;
};

static void load(void)
{
	st_loop(200000);
	st_calls(2000);
}

static bool begin(struct selftest *t, struct st_pmcs *p, const struct form *f, int cpu)
{
	for (int i = 0; i < 2; i++)
		if (!long_add(t, p, f->spec[i], cpu, f->period[i]))
			return false;
	for (int i = 0; i < 2; i++)
		if (!long_add(t, p, f->spec[i], cpu, 0))
			return false;
	return hwpmc_batch(t->h, HWPMC_BATCH_START, p->entry, p->n) == 0;
}

static uint64_t overflows(struct selftest *t)
{
	struct hwpmc_op_getdriverstats stats = { .intr_processed = 0 };

	hwpmc_driver_stats(t->h, &stats);
	return stats.intr_processed;
}

static bool end(struct selftest *t, struct st_pmcs *p, struct hwpmc_rings *rings,
		struct st_samples *s, struct sums *sum)
{
	uint64_t drops[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS];

	if (hwpmc_batch(t->h, HWPMC_BATCH_STOP, p->entry, p->n) < 0 ||
	    hwpmc_batch(t->h, HWPMC_BATCH_READ, &p->entry[2], 2) < 0)
		return false;
	hwpmc_flush_log(t->h);
	hwpmc_rings_read(rings, st_take_samples, s, NULL);
	hwpmc_rings_drop_counts(rings, drops, others, HWPMC_DROP_SLOTS);
	for (int i = 0; i < HWPMC_DROP_SLOTS; i++)
		sum->drops += drops[i];
	sum->late = drops[HWPMC_DROP_LATE];
	sum->throttles = s->throttles;
	sum->overflows = overflows(t) - sum->overflows;
	for (int i = 0; i < 2; i++) {
		sum->count[i] = p->entry[2 + i].value;
		sum->samples[i] = s->of[i];
	}
	return true;
}

static bool sample(struct selftest *t, const struct form *f, int cpu, uint64_t until,
		   struct sums *sum)
{
	struct st_pmcs p = { .n = 0 };
	struct st_samples s = { .p = &p };
	struct hwpmc_rings *rings;
	bool done = false;

	if (hwpmc_rings_open(t->h, 0, 0, &rings) < 0) {
		st_failed(t, "conservation", "%s", hwpmc_error(t->h));
		return false;
	}
	sum->overflows = overflows(t);
	if (begin(t, &p, f, cpu)) {
		do {
			load();
			hwpmc_rings_read(rings, st_take_samples, &s, NULL);
		} while (long_more(t) && st_ns() < until);
		done = end(t, &p, rings, &s, sum);
	}
	if (!done)
		st_failed(t, "conservation", "%s", hwpmc_error(t->h));
	st_release(t, &p);
	hwpmc_rings_close(rings);
	hwpmc_configure_log(t->h, -1);
	return done;
}

static void judge_user(struct selftest *t, const struct form *f, const struct sums *s,
		       uint64_t periods)
{
	uint64_t samples = s->samples[0] + s->samples[1];

	if (judge_conserved(periods, samples + s->drops))
		st_held(t, "conservation",
			"%s and %s: %llu samples and %llu declared drops add up to %llu periods",
			f->spec[0], f->spec[1], (unsigned long long)samples,
			(unsigned long long)s->drops, (unsigned long long)periods);
	else
		st_failed(t, "conservation",
			  "%s and %s: %llu samples and %llu declared drops do not add up to %llu periods",
			  f->spec[0], f->spec[1], (unsigned long long)samples,
			  (unsigned long long)s->drops, (unsigned long long)periods);
}

/* Events of a row that are in no period, a sample or drop of both. */
static void judge_all(struct selftest *t, const struct form *f, const struct sums *s,
		      uint64_t periods)
{
	uint64_t samples = s->samples[0] + s->samples[1] + s->drops;
	double missing = ((double)periods - samples) * f->period[0] / samples;

	long_number(t, missing, "missing_per_sample");
	if (!judge_half(periods, 1, samples))
		st_failed(t, "conservation", "%s and %s: %llu samples and declared drops for %llu periods",
			  f->spec[0], f->spec[1], (unsigned long long)samples,
			  (unsigned long long)periods);
	else
		st_measured(t, "conservation",
			    "%s and %s: %.0f events per sample occurred in the handler, outside of all periods; %llu of %llu overflows had no interrupt",
			    f->spec[0], f->spec[1], missing, (unsigned long long)s->late,
			    (unsigned long long)samples);
}

static void tell(struct selftest *t, const struct form *f, const struct sums *s)
{
	for (int i = 0; i < 2; i++) {
		long_number(t, s->count[i], "%s.count%d", f->name, i);
		long_number(t, s->samples[i], "%s.samples%d", f->name, i);
	}
	long_number(t, s->drops, "%s.drops", f->name);
	long_number(t, s->late, "%s.late", f->name);
	long_number(t, s->overflows, "%s.overflows", f->name);
	long_number(t, s->throttles, "%s.throttles", f->name);
}

static void try_form(struct selftest *t, const struct form *f, int cpu, uint64_t until)
{
	struct sums s = { .drops = 0 };
	uint64_t periods;

	if (!sample(t, f, cpu, until, &s))
		return;
	tell(t, f, &s);
	periods = s.count[0] / f->period[0] + s.count[1] / f->period[1];
	if (s.throttles)
		st_not_tried(t, "conservation", "%s and %s: sampling was throttled %llu times (kern.hwpmc.selfcost)",
			     f->spec[0], f->spec[1], (unsigned long long)s.throttles);
	else if (f->user)
		judge_user(t, f, &s, periods);
	else
		judge_all(t, f, &s, periods);
}

void long_conservation(struct selftest *t)
{
	struct st_pmcs p = { .n = 0 };
	uint64_t half = t->run->step_begin + (t->run->step_end - t->run->step_begin) / 2;
	int cpu = 0;

	st_cpus(&cpu, 1);
	if (!long_add(t, &p, "instructions:u", cpu, 0) && errno == EPERM) {
		st_not_tried(t, "conservation", "two rows that sample: %s", hwpmc_error(t->h));
		return;
	}
	st_release(t, &p);
	st_pin(cpu);
	try_form(t, &forms[0], cpu, half);
	if (!long_stopped())
		try_form(t, &forms[1], cpu, t->run->step_end);
}
