/* SPDX-License-Identifier: BSD-2-Clause */
/* perf.c - counters of perf_event_open(2), which the module's are compared with. */
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf.h"

int perf_type(const char *pmu)
{
	char path[128];
	int type = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%d", &type) != 1)
		type = -1;
	fclose(f);
	return type;
}

static int open_attr(struct perf_event_attr *attr, int cpu)
{
	return syscall(SYS_perf_event_open, attr, cpu < 0 ? 0 : -1, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

int perf_open(const struct st_kind *kind, uint64_t event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr), .config = event,
		.exclude_kernel = 1, .exclude_hv = 1, .pinned = 1,
	};
	int type = kind && kind->name ? perf_type(kind->name) : -1;

	/* Of a kind of core: its PMU in the upper half. */
	if (type >= 0)
		attr.config |= (uint64_t)type << 32;
	return open_attr(&attr, -1);
}

int perf_open_raw(int type, uint64_t config, uint64_t period, int cpu)
{
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr), .config = config,
		.sample_period = period,
	};

	return open_attr(&attr, cpu);
}

static bool perf_read(int fd, uint64_t *value)
{
	return read(fd, value, sizeof(*value)) == sizeof(*value);
}

bool perf_least(int fd, void (*work)(uint64_t), uint64_t n, unsigned int tries,
		uint64_t least[2])
{
	uint64_t value[2];

	for (unsigned int try = 0; try < 2 * tries; try++) {
		if (!perf_read(fd, &value[0]))
			return false;
		work(try & 1 ? n : 0);
		if (!perf_read(fd, &value[1]))
			return false;
		value[1] -= value[0];
		if (try < 2 || value[1] < least[try & 1])
			least[try & 1] = value[1];
	}
	return true;
}
