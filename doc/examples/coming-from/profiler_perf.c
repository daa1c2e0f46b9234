/* SPDX-License-Identifier: BSD-2-Clause */
/* cc -O2 profiler_perf.c -lpfm */
#include <perfmon/pfmlib_perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "work.h"

#define PAGES	64			/* of the ring; a power of two */

struct sample {
	struct perf_event_header header;
	uint64_t ip;
	uint32_t pid, tid;
};

struct lost {
	struct perf_event_header header;
	uint64_t id, lost;
};

static uint64_t samples, lost;

/* A record can wrap at the end of the ring: it is copied. */
static void copy(const char *ring, uint64_t size, uint64_t at, void *to, size_t n)
{
	size_t first = size - at % size;

	if (first > n)
		first = n;
	memcpy(to, ring + at % size, first);
	memcpy((char *)to + first, ring, n - first);
}

static void take_all(struct perf_event_mmap_page *page, uint64_t size)
{
	const char *ring = (const char *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;
	struct perf_event_header header;
	struct sample sample;
	struct lost gone;

	for (; tail < head; tail += header.size) {
		copy(ring, size, tail, &header, sizeof(header));
		if (header.type == PERF_RECORD_SAMPLE) {
			copy(ring, size, tail, &sample, sizeof(sample));
			samples++;	/* sample.ip, sample.tid */
		} else if (header.type == PERF_RECORD_LOST) {
			copy(ring, size, tail, &gone, sizeof(gone));
			lost += gone.lost;
		}
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
}

int main(int argc, char *argv[])
{
	uint64_t size = PAGES * sysconf(_SC_PAGESIZE);
	struct perf_event_attr attr = { .size = sizeof(attr) };
	struct perf_event_mmap_page *page;
	int fd;

	if (pfm_initialize() != PFM_SUCCESS ||
	    pfm_get_perf_event_encoding("PERF_COUNT_HW_INSTRUCTIONS", PFM_PLM3, &attr, NULL,
					NULL) != PFM_SUCCESS)
		errx(1, "libpfm4 has no such event");
	attr.sample_period = 100003;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	attr.disabled = 1;
	fd = perf_event_open(&attr, 0, -1, -1, 0);
	if (fd < 0)
		err(1, "perf_event_open");
	page = mmap(NULL, size + sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		err(1, "mmap");
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		err(1, "PERF_EVENT_IOC_ENABLE");
	for (unsigned long i = rounds(argc, argv); i; i--)
		work(100000);
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) < 0)
		err(1, "PERF_EVENT_IOC_DISABLE");
	take_all(page, size);
	printf("%" PRIu64 " samples, %" PRIu64 " lost\n", samples, lost);
	return 0;
}
