/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.c - see judge.h. */
#include "judge.h"

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
