/* SPDX-License-Identifier: BSD-2-Clause */
/* cc -O2 region_hwpmc.c $(pkg-config --cflags --libs libhwpmc) */
#include <libhwpmc.h>

#include "work.h"

int main(int argc, char *argv[])
{
	struct hwpmc_region_stats stats;
	struct hwpmc_region *r;
	struct hwpmc *h;
	uint32_t id;

	if (hwpmc_open(&h) < 0)
		errx(1, "%s", hwpmc_error(NULL));
	if (hwpmc_open_counter(h, "instructions:u", HWPMC_MODE_TC, 0, 0, 0, &id) < 0 ||
	    hwpmc_start(h, id) < 0 || !(r = hwpmc_region_new(h, "work", &id, 1)))
		errx(1, "%s", hwpmc_error(h));
	for (unsigned long i = rounds(argc, argv); i; i--) {
		hwpmc_region_begin(r);
		work(1000);
		hwpmc_region_end(r);
	}
	if (hwpmc_region_get(r, 0, &stats) < 0)
		errx(1, "%s", hwpmc_error(h));
	printf("least %" PRIu64 ", most %" PRIu64 "\n", stats.min, stats.max);
	hwpmc_region_free(r);
	hwpmc_close(h);
	return 0;
}
