/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.c - see judge.h. */
#include "judge.h"
#include "selftest.h"

bool judge_slots(uint64_t cycles, uint64_t slots)
{
	return cycles && slots >= cycles && slots <= cycles * 12;
}

bool judge_ref_clock(double ratio)
{
	return ratio >= 0.99 && ratio <= 1.01;
}

bool judge_agree(const uint64_t *count, unsigned int n)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (unsigned int i = 0; i < n; i++) {
		least = count[i] < least ? count[i] : least;
		most = count[i] > most ? count[i] : most;
	}
	return most && most - least <= most / 50;
}

bool judge_half(uint64_t count, uint64_t period, uint64_t samples)
{
	uint64_t periods = count / period;

	return samples && samples <= periods + 1 && samples >= periods / 2;
}

int judge_step(unsigned int held, unsigned int failed, unsigned int not_tried,
	       unsigned int measured)
{
	return failed ? ST_FAILED : held ? ST_HELD :
	       measured || !not_tried ? ST_MEASURED : ST_NOT_TRIED;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

bool judge_same(uint64_t row, uint64_t perf, bool exact)
{
	return apart(row, perf) <= (exact ? 20 : perf / 200);
}

bool judge_rows(const uint64_t *count, unsigned int n)
{
	uint64_t least = UINT64_MAX, most = 0;

	for (unsigned int i = 0; i < n; i++) {
		least = count[i] < least ? count[i] : least;
		most = count[i] > most ? count[i] : most;
	}
	return !n || most - least <= most / 20 + 64;
}

bool judge_filtered(unsigned int tried, unsigned int counted)
{
	return tried >= 10 && !counted;
}

bool judge_switches(int64_t more, uint64_t ms)
{
	int64_t some = 8 + (int64_t)ms * 8;

	return more >= -some && more <= some;
}

bool judge_edges(uint64_t right, uint64_t wrong)
{
	return right && right / 99 >= wrong;
}

bool judge_conserved(uint64_t periods, uint64_t samples)
{
	return apart(periods, samples) <= 2 && samples;
}

unsigned int judge_percentile(const uint64_t *at, unsigned int n, unsigned int p)
{
	uint64_t sum = 0, below = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += at[i];
	for (unsigned int i = 0; sum && i < n; i++) {
		below += at[i];
		if (below * 100 >= sum * p)
			return i;
	}
	return 0;
}

bool judge_skid(unsigned int median)
{
	return median < 200;
}

bool judge_energy(uint64_t ours, uint64_t theirs)
{
	return apart(ours, theirs) <= theirs / 100 + 1000;
}

bool judge_clocks(double perf, double cycles)
{
	return perf >= cycles * 0.995 && perf <= cycles * 1.005;
}
