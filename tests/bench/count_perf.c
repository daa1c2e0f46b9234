// SPDX-License-Identifier: BSD-2-Clause
/*
 * count_perf.c - counting by perf_event_open(2), as `perf stat` does it: an event
 * per PMC and thread, user and kernel, counting without interrupts.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

/* The same four as in count_hwpmc.c. */
static const uint64_t events[BENCH_PMCS] = {
	PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES,
	PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_MISSES,
};

static int open_event(uint64_t config, pid_t tid, bool inherit)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_HARDWARE,
		.config = config, .inherit = inherit, .disabled = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			 PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		die("perf_event_open");
	return fd;
}

static void perf_start(struct counters *c)
{
	for (int i = 0; i < c->nfd; i++)
		if (ioctl(c->fd[i], PERF_EVENT_IOC_ENABLE, 0))
			die("PERF_EVENT_IOC_ENABLE");
}

static void perf_stop(struct counters *c)
{
	for (int i = 0; i < c->nfd; i++)
		if (ioctl(c->fd[i], PERF_EVENT_IOC_DISABLE, 0))
			die("PERF_EVENT_IOC_DISABLE");
}

static void perf_count(struct counters *c, int n, const pid_t *tids, int ntids,
		       bool inherit)
{
	struct rlimit limit = { 65536, 65536 };

	setrlimit(RLIMIT_NOFILE, &limit);
	c->n = n;
	c->fd = malloc(sizeof(*c->fd) * n * ntids);
	for (int t = 0; t < ntids; t++)
		for (int i = 0; i < n; i++)
			c->fd[c->nfd++] = open_event(events[i], tids[t], inherit);
	perf_start(c);
}

static uint64_t perf_read(struct counters *c)
{
	uint64_t value = 0;

	for (int i = 0; i < c->nfd; i++)
		if (read(c->fd[i], &value, sizeof(value)) != sizeof(value))
			die("read");
	return value;
}

static void perf_close(struct counters *c)
{
	for (int i = 0; i < c->nfd; i++)
		close(c->fd[i]);
}

const struct tool tool_perf = {
	"perf", perf_count, perf_read, perf_stop, perf_start, perf_close,
};
