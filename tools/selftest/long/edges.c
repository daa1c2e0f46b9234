/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edges.c - where a count begins and ends on a processor that executes out of order: a region
 * around n NOPs has n instructions more than one around none; and how far two reads without a
 * fence are apart is measured.
 */
#include <stdlib.h>
#include <string.h>

#include "long.h"
#include "selftest/judge.h"

#define NOPS	600
#define WIDTH	4096

/* NOPS times one byte, and a return. */
extern const char long_nops[] __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n"
	"long_nops:\n"
	".rept 600\n\tnop\n.endr\n"
	"long_nops_end:\n"
	"\tret\n"
	".popsection\n");

/* The last n of them. The call is beyond what the ABI lets the compiler use below the stack. */
static inline void run_nops(unsigned int n)
{
	__asm__ __volatile__("subq $128, %%rsp\n\t"
			     "call *%0\n\t"
			     "addq $128, %%rsp"
			     : : "r"(long_nops + NOPS - n) : "memory", "cc");
}

struct edges {
	uint64_t right, wrong, dropped;
	int64_t worst;
};

static bool value_of(struct hwpmc_region *r, unsigned int n, uint64_t *value)
{
	struct hwpmc_region_stats s;

	hwpmc_region_reset(r);
	hwpmc_region_begin(r);
	run_nops(n);
	hwpmc_region_end(r);
	if (hwpmc_region_get(r, 0, &s) < 0 || s.count != 1)
		return false;
	*value = s.sum;
	return true;
}

/* The most frequent value without NOPs is what the others are compared with. */
static uint64_t value_without(struct hwpmc_region *r)
{
	uint64_t least = UINT64_MAX, value;

	for (int i = 0; i < 100; i++)
		if (value_of(r, 0, &value) && value < least)
			least = value;
	return least;
}

static void measure(struct selftest *t, struct hwpmc_region *r, struct edges *e)
{
	uint64_t begin = st_ns(), none = value_without(r), value;

	do {
		for (unsigned int n = 0; n <= NOPS; n += n < 32 ? 1 : 19) {
			int64_t more;

			if (!value_of(r, n, &value)) {
				e->dropped++;
				continue;
			}
			more = value - none - n;
			e->right += !more;
			e->wrong += more != 0;
			if (llabs(more) > llabs(e->worst))
				e->worst = more;
		}
	} while (long_more(t) && st_ns() - begin < (t->run->step_end - t->run->step_begin) / 2);
}

static void regions(struct selftest *t, uint32_t id)
{
	struct hwpmc_region *r = hwpmc_region_new(t->h, "nops", &id, 1);
	struct edges e = { 0 };

	if (!r) {
		st_failed(t, "edges", "%s", hwpmc_error(t->h));
		return;
	}
	measure(t, r, &e);
	hwpmc_region_free(r);
	long_number(t, e.right, "exact");
	long_number(t, e.wrong, "not_exact");
	long_number(t, e.worst, "worst");
	long_number(t, e.dropped, "without_value");
	if (judge_edges(e.right, e.wrong))
		st_held(t, "edges", "%llu of %llu regions of 0 to %d NOPs are exact; the worst counts %lld too many",
			(unsigned long long)e.right, (unsigned long long)(e.right + e.wrong), NOPS,
			(long long)e.worst);
	else
		st_failed(t, "edges", "%llu of %llu regions of 0 to %d NOPs are not exact; the worst counts %lld too many",
			  (unsigned long long)e.wrong, (unsigned long long)(e.right + e.wrong),
			  NOPS, (long long)e.worst);
}

/* ---- two reads without a fence ------------------------------------------------ */

struct histogram {
	uint64_t of[WIDTH], beyond, back;
};

static void tell_histogram(struct selftest *t, const struct histogram *h)
{
	unsigned int mode = 0, low = WIDTH, high = 0;
	uint64_t sum = h->beyond;

	for (unsigned int i = 0; i < WIDTH; i++) {
		sum += h->of[i];
		if (!h->of[i])
			continue;
		mode = h->of[i] > h->of[mode] ? i : mode;
		low = i < low ? i : low;
		high = i;
		/* Few values: those that are more frequent than interrupts. */
		if (h->of[i] * 1000 > sum)
			long_number(t, h->of[i], "pair.%u", i);
	}
	long_number(t, h->back, "pairs_back");
	if (h->back)
		st_failed(t, "pairs", "%llu times the second of two reads was lower than the first",
			  (unsigned long long)h->back);
	else if (sum)
		st_measured(t, "pairs",
			    "two reads without a fence around 100 NOPs: mostly %u instructions apart (%.1f %%), from %u to %u",
			    mode, 100.0 * h->of[mode] / sum, low, high);
}

static void pairs(struct selftest *t, uint32_t id)
{
	static struct histogram h;
	struct hwpmc_counter c;
	uint64_t first, second;

	memset(&h, 0, sizeof(h));
	if (t->no_rdpmc || !st_open_counter(t, id, "RDPMC", "pairs", &c))
		return;
	do {
		for (int i = 0; i < 2000; i++) {
			if (hwpmc_counter_read(&c, &first) < 0)
				break;
			run_nops(100);
			if (hwpmc_counter_read(&c, &second) < 0)
				break;
			if (second < first)
				h.back++;
			else if (second - first < WIDTH)
				h.of[second - first]++;
			else
				h.beyond++;
		}
	} while (long_more(t));
	tell_histogram(t, &h);
}

void long_edges(struct selftest *t)
{
	struct st_pmcs p = { .n = 0 };
	int cpu;

	if (st_cpus(&cpu, 1) == 1)
		st_pin(cpu);
	if (st_add(t, &p, "instructions:u", 0) &&
	    st_batch(t, &p, "edges", HWPMC_BATCH_START)) {
		regions(t, p.entry[0].pmcid);
		pairs(t, p.entry[0].pmcid);
	} else if (!p.n) {
		st_failed(t, "edges", "%s", hwpmc_error(t->h));
	}
	st_release(t, &p);
}
