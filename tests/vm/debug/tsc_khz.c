// SPDX-License-Identifier: BSD-2-Clause
/*
 * tsc_khz.c - prints how many thousand ticks a second this machine's time stamp
 * counter makes: a guest of QEMU without a PMU of its own sees the same counter.
 */
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

/* The pair of readings with the least between them. */
static void both(double *seconds, unsigned long long *ticks)
{
	unsigned long long best = ~0ULL, before, after;
	double at;
	int i;

	for (i = 0; i < 100; i++) {
		before = __rdtsc();
		at = now();
		after = __rdtsc();
		if (after - before >= best)
			continue;
		best = after - before;
		*seconds = at;
		*ticks = before + best / 2;
	}
}

int main(void)
{
	struct timespec wait = { .tv_nsec = 200 * 1000 * 1000 };
	unsigned long long ticks, ticks2;
	double at, at2;

	both(&at, &ticks);
	nanosleep(&wait, NULL);
	both(&at2, &ticks2);
	printf("%.0f\n", (ticks2 - ticks) / (at2 - at) / 1000);
	return 0;
}
