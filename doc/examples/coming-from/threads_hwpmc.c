/* SPDX-License-Identifier: BSD-2-Clause */
/* cc -O2 -pthread threads_hwpmc.c $(pkg-config --cflags --libs libhwpmc) */
#include <libhwpmc.h>
#include <pthread.h>

#include "work.h"

static struct hwpmc *h;
static uint32_t id;

static void *count_thread(void *n)
{
	struct hwpmc_region *r = hwpmc_region_new(h, "thread", &id, 1);
	struct hwpmc_region_stats stats;

	if (!r)
		errx(1, "%s", hwpmc_error(h));
	hwpmc_region_begin(r);
	work((uintptr_t)n);
	hwpmc_region_end(r);
	if (hwpmc_region_get(r, 0, &stats) < 0)
		errx(1, "%s", hwpmc_error(h));
	printf("%" PRIu64 " instructions\n", stats.sum);
	hwpmc_region_free(r);
	return NULL;
}

int main(int argc, char *argv[])
{
	uintptr_t n = rounds(argc, argv);
	pthread_t thread[2];

	if (hwpmc_open(&h) < 0)
		errx(1, "%s", hwpmc_error(NULL));
	if (hwpmc_open_counter(h, "instructions:u", HWPMC_MODE_TC, 0, 0, 0, &id) < 0 ||
	    hwpmc_start(h, id) < 0)
		errx(1, "%s", hwpmc_error(h));
	for (unsigned long pair = pairs(argc, argv); pair; pair--) {
		for (int i = 0; i < 2; i++)
			pthread_create(&thread[i], NULL, count_thread, (void *)(n * (i + 1)));
		for (int i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
	}
	hwpmc_close(h);
	return 0;
}
