/* SPDX-License-Identifier: BSD-2-Clause */
/* cc -O2 region_perf.c -lpfm */
#include <perfmon/pfmlib_perf_event.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "work.h"

static uint64_t count_of(int fd)
{
	uint64_t value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		err(1, "read");
	return value;
}

int main(int argc, char *argv[])
{
	uint64_t before, after, least = UINT64_MAX, most = 0;
	struct perf_event_attr attr = { .size = sizeof(attr) };
	int fd;

	if (pfm_initialize() != PFM_SUCCESS ||
	    pfm_get_perf_event_encoding("PERF_COUNT_HW_INSTRUCTIONS", PFM_PLM3, &attr, NULL,
					NULL) != PFM_SUCCESS)
		errx(1, "libpfm4 has no such event");
	attr.disabled = 1;
	fd = perf_event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		err(1, "perf_event_open");
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		err(1, "PERF_EVENT_IOC_ENABLE");
	for (unsigned long i = rounds(argc, argv); i; i--) {
		before = count_of(fd);
		work(1000);
		after = count_of(fd);
		if (after - before < least)
			least = after - before;
		if (after - before > most)
			most = after - before;
	}
	printf("least %" PRIu64 ", most %" PRIu64 "\n", least, most);
	return 0;
}
