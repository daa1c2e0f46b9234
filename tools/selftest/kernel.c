/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel.c - does each row count and sample the kernel? How many instructions per system call
 * takes there is not known, but it is the same for each row.
 */
#include <errno.h>
#include <libhwpmclog.h>
#include <string.h>

#include "judge.h"
#include "selftest.h"

#define TRIES		20
#define CALLS		1000
#define LEAST		10	/* instructions of the kernel in a system call */
#define SAMPLED_CALLS	40000
#define PERIOD		50021

/* The least that each row counts of CALLS or of no calls. */
static bool least_of(struct selftest *t, struct st_pmcs *p, uint64_t calls, uint64_t *least)
{
	uint64_t before[HWPMC_ROW_MAX];

	for (int try = 0; try < TRIES; try++) {
		if (!st_batch(t, p, "kernel", HWPMC_BATCH_READ))
			return false;
		for (unsigned int i = 0; i < p->n; i++)
			before[i] = p->entry[i].value;
		st_calls(calls);
		if (!st_batch(t, p, "kernel", HWPMC_BATCH_READ))
			return false;
		for (unsigned int i = 0; i < p->n; i++)
			if (!try || p->entry[i].value - before[i] < least[i])
				least[i] = p->entry[i].value - before[i];
	}
	return true;
}

static void judge(struct selftest *t, const struct st_pmcs *p, const uint64_t *count)
{
	unsigned int low = 0, high = 0;

	for (unsigned int i = 1; i < p->n; i++) {
		low = count[i] < count[low] ? i : low;
		high = count[i] > count[high] ? i : high;
	}
	if (count[low] < CALLS * LEAST)
		st_failed(t, "kernel", "%s counts %llu instructions of the kernel in %d system calls",
			  p->name[low], (unsigned long long)count[low], CALLS);
	else if (!judge_agree(count, p->n))
		st_failed(t, "kernel",
			  "%s counts %llu instructions of the kernel in %d system calls, and %s %llu",
			  p->name[low], (unsigned long long)count[low], CALLS, p->name[high],
			  (unsigned long long)count[high]);
	else
		st_held(t, "kernel", "%u rows (%s to %s) count the same in the kernel: %.1f instructions per system call",
			p->n, p->name[0], p->name[p->n - 1], (double)count[low] / CALLS);
}

static void count_kernel(struct selftest *t, const char *spec)
{
	uint64_t none[HWPMC_ROW_MAX], with[HWPMC_ROW_MAX];
	struct st_pmcs p;

	if (!st_allocate(t, &p, "kernel", spec, 0))
		return;
	if (st_batch(t, &p, "kernel", HWPMC_BATCH_START) && least_of(t, &p, 0, none) &&
	    least_of(t, &p, CALLS, with)) {
		for (unsigned int i = 0; i < p.n; i++)
			with[i] = with[i] > none[i] ? with[i] - none[i] : 0;
		judge(t, &p, with);
	}
	st_release(t, &p);
}

/* The first row samples, the second one counts the same; the handler's own events are counted
 * and not sampled. */
static void judge_samples(struct selftest *t, const struct st_pmcs *p,
			  const struct hwpmc_rings *rings, const struct st_samples *s)
{
	uint64_t dropped[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS], sum = s->of[0];

	hwpmc_rings_drop_counts(rings, dropped, others, HWPMC_DROP_SLOTS);
	for (int i = 0; i < HWPMC_DROP_SLOTS; i++)
		sum += dropped[i];
	if (s->throttles)
		st_not_tried(t, "kernel-samples",
			     "samples of the kernel: sampling was throttled (kern.hwpmc.selfcost)");
	else if (!judge_half(p->entry[1].value, PERIOD, sum))
		st_failed(t, "kernel-samples",
			  "%s: %llu samples and drops of the kernel in %llu instructions, at a period of %d",
			  p->name[0], (unsigned long long)sum,
			  (unsigned long long)p->entry[1].value, PERIOD);
	else
		st_held(t, "kernel-samples", "%s samples the kernel: %llu samples and %llu drops",
			p->name[0], (unsigned long long)s->of[0],
			(unsigned long long)(sum - s->of[0]));
}

static void sample_kernel(struct selftest *t, const char *spec)
{
	struct st_pmcs p = { .n = 0 };
	struct st_samples s = { .p = &p };
	struct hwpmc_rings *rings;

	if (hwpmc_rings_open(t->h, 0, 0, &rings) < 0) {
		st_failed(t, "kernel-samples", "%s", hwpmc_error(t->h));
		return;
	}
	if (!st_add(t, &p, spec, PERIOD) || !st_add(t, &p, spec, 0)) {
		st_failed(t, "kernel-samples", "%s", hwpmc_error(t->h));
	} else if (st_batch(t, &p, "kernel-samples", HWPMC_BATCH_START)) {
		st_calls(SAMPLED_CALLS);
		if (st_batch(t, &p, "kernel-samples", HWPMC_BATCH_STOP) &&
		    hwpmc_batch(t->h, HWPMC_BATCH_READ, &p.entry[1], 1) == 0) {
			hwpmc_flush_log(t->h);
			hwpmc_rings_read(rings, st_take_samples, &s, NULL);
			judge_samples(t, &p, rings, &s);
		}
	}
	st_release(t, &p);
	hwpmc_rings_close(rings);
	hwpmc_configure_log(t->h, -1);
}

void st_kernel(struct selftest *t)
{
	struct st_kind kind[ST_KINDS];
	unsigned int n = st_kinds(t, kind);
	char spec[HWPMC_NAME_MAX];
	uint32_t id;

	st_spec(spec, &kind[0], "instructions", "k");
	if (hwpmc_allocate(t->h, spec, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id) < 0) {
		if (errno == EPERM)
			st_not_tried(t, "kernel", "counts of the kernel: %s", hwpmc_error(t->h));
		else
			st_failed(t, "kernel", "%s", hwpmc_error(t->h));
		return;
	}
	hwpmc_release(t->h, id);
	for (unsigned int i = 0; i < n; i++) {
		st_spec(spec, &kind[i], "instructions", "k");
		st_pin(kind[i].cpu);
		count_kernel(t, spec);
		sample_kernel(t, spec);
	}
	st_pin(-1);
}
