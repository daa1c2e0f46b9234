/* SPDX-License-Identifier: BSD-2-Clause */
/* cc -O2 -pthread threads_perf.c -lpfm */
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "work.h"

static struct perf_event_attr attr = { .size = sizeof(attr) };

static void *count_thread(void *n)
{
	int fd = perf_event_open(&attr, 0, -1, -1, 0);
	uint64_t value;

	if (fd < 0)
		err(1, "perf_event_open");
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		err(1, "PERF_EVENT_IOC_ENABLE");
	work((uintptr_t)n);
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) < 0)
		err(1, "PERF_EVENT_IOC_DISABLE");
	if (read(fd, &value, sizeof(value)) != sizeof(value))
		err(1, "read");
	printf("%" PRIu64 " instructions\n", value);
	close(fd);
	return NULL;
}

int main(int argc, char *argv[])
{
	uintptr_t n = rounds(argc, argv);
	pthread_t thread[2];

	if (pfm_initialize() != PFM_SUCCESS ||
	    pfm_get_perf_event_encoding("PERF_COUNT_HW_INSTRUCTIONS", PFM_PLM3, &attr, NULL,
					NULL) != PFM_SUCCESS)
		errx(1, "libpfm4 has no such event");
	attr.disabled = 1;
	for (unsigned long pair = pairs(argc, argv); pair; pair--) {
		for (int i = 0; i < 2; i++)
			pthread_create(&thread[i], NULL, count_thread, (void *)(n * (i + 1)));
		for (int i = 0; i < 2; i++)
			pthread_join(thread[i], NULL);
	}
	return 0;
}
