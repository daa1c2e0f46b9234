/* SPDX-License-Identifier: BSD-2-Clause */
/* cc -O2 profiler_hwpmc.c $(pkg-config --cflags --libs libhwpmc) */
#include <libhwpmc.h>
#include <libhwpmclog.h>

#include "work.h"

static uint64_t samples, lost;

static void take(const struct hwpmc_record *record)
{
	uint64_t dropped[HWPMC_DROP__COUNT] = { 0 };

	if (record->hdr->type == HWPMC_LOG_CALLCHAIN)
		samples++;	/* record->sample->pc[0], record->tid */
	if (record->hdr->type == HWPMC_LOG_DROPNOTIFY) {
		hwpmc_record_drops(record->drop, dropped, NULL, HWPMC_DROP__COUNT);
		for (int i = 0; i < HWPMC_DROP__COUNT; i++)
			lost += dropped[i];
	}
}

int main(int argc, char *argv[])
{
	struct hwpmc_record record;
	struct hwpmc_rings *rings;
	struct hwpmc *h;
	uint32_t id;

	if (hwpmc_open(&h) < 0)
		errx(1, "%s", hwpmc_error(NULL));
	if (hwpmc_rings_open(h, 0, 0, &rings) < 0 ||
	    hwpmc_open_counter(h, "instructions:u", HWPMC_MODE_TS, 0, 0, 100003, &id) < 0 ||
	    hwpmc_start(h, id) < 0)
		errx(1, "%s", hwpmc_error(h));
	for (unsigned long i = rounds(argc, argv); i; i--)
		work(100000);
	hwpmc_stop(h, id);
	while (hwpmc_rings_next(rings, 0, &record) == 1)
		take(&record);
	printf("%" PRIu64 " samples, %" PRIu64 " lost\n", samples, lost);
	hwpmc_rings_close(rings);
	hwpmc_close(h);
	return 0;
}
