/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Measure a piece of code each time that it runs.
 *	cc -O2 region.c $(pkg-config --cflags --libs libhwpmc)
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>

#include <libhwpmc.h>

static uint64_t work(uint64_t n)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		sum += i;
		__asm__ __volatile__("" : "+r"(sum));
	}
	return sum;
}

int main(void)
{
	struct hwpmc_region_stats stats;
	struct hwpmc_region *r;
	struct hwpmc *h;
	uint32_t id;

	if (hwpmc_open(&h) < 0)
		errx(1, "%s", hwpmc_error(NULL));
	if (hwpmc_open_counter(h, "instructions:u", HWPMC_MODE_TC, 0, 0, 0, &id) < 0 ||
	    hwpmc_start(h, id) < 0)
		errx(1, "%s", hwpmc_error(h));
	r = hwpmc_region_new(h, "work", &id, 1);
	if (!r)
		errx(1, "%s", hwpmc_error(h));
	for (int i = 0; i < 100; i++) {
		hwpmc_region_begin(r);
		work(1000);
		hwpmc_region_end(r);
	}
	if (hwpmc_region_get(r, 0, &stats) < 0)
		errx(1, "%s", hwpmc_error(h));
	printf("%s: %" PRIu64 " times, median %" PRIu64 " instructions, from %" PRIu64 " to %"
	       PRIu64 "\n", hwpmc_region_name(r), stats.count, stats.median, stats.min,
	       stats.max);
	hwpmc_region_free(r);
	hwpmc_close(h);
	return 0;
}
