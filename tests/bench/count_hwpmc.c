// SPDX-License-Identifier: BSD-2-Clause
/*
 * count_hwpmc.c - counting by hwpmc, through the bare device: the costs are the
 * module's, and nothing of a library is in them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <hwpmc.h>

#include "bench.h"
#include "vpmu_guest.h"

/* Instructions, cycles, branches, branch misses; user and kernel. On the
 * counters that perf takes for them. */
struct event {
	uint32_t class;
	uint64_t config;
};

static const struct event intel[BENCH_PMCS] = {
	{ HWPMC_CLASS_IAF, 0x00c0 }, { HWPMC_CLASS_IAF, 0x003c },
	{ HWPMC_CLASS_IAP, 0x00c4 }, { HWPMC_CLASS_IAP, 0x00c5 },
};

static const struct event amd[BENCH_PMCS] = {
	{ HWPMC_CLASS_K8, 0x00c0 }, { HWPMC_CLASS_K8, 0x0076 },
	{ HWPMC_CLASS_K8, 0x00c2 }, { HWPMC_CLASS_K8, 0x00c3 },
};

static bool is_amd(void)
{
	return vpmu_reg(VPMU_REG_IS_AMD, 0);
}

/* For PMCs of some kinds of core: HWPMC_KIND_*, 0 for all. */
static uint32_t kinds_of_core(void)
{
	const char *kinds = getenv("BENCH_KINDS");

	return kinds ? atoi(kinds) : 0;
}

static void allocate(struct counters *c, int i, bool inherit)
{
	const struct event *event = is_amd() ? &amd[i] : &intel[i];
	struct hwpmc_op_pmcallocate op = {
		.class = event->class, .config = event->config,
		.cpu = HWPMC_CPU_ANY, .mode = HWPMC_MODE_TC,
		.flags = HWPMC_F_EV_PMU | (inherit ? HWPMC_F_DESCENDANTS : 0),
		.kinds = kinds_of_core(),
	};

	if (ioctl(c->fd[0], HWPMC_IOC_PMCALLOCATE, &op))
		die("PMCALLOCATE");
	c->id[i] = op.pmcid;
}

static void attach(struct counters *c, int i, pid_t pid)
{
	struct hwpmc_op_pmcattach op = { .pmcid = c->id[i], .pid = pid };

	if (ioctl(c->fd[0], HWPMC_IOC_PMCATTACH, &op))
		die("PMCATTACH");
}

static void hwpmc_start(struct counters *c)
{
	for (int i = 0; i < c->n; i++) {
		struct hwpmc_op_pmc op = { .pmcid = c->id[i] };

		if (ioctl(c->fd[0], HWPMC_IOC_PMCSTART, &op))
			die("PMCSTART");
	}
}

static void hwpmc_stop(struct counters *c)
{
	for (int i = 0; i < c->n; i++) {
		struct hwpmc_op_pmc op = { .pmcid = c->id[i] };

		if (ioctl(c->fd[0], HWPMC_IOC_PMCSTOP, &op))
			die("PMCSTOP");
	}
}

/* tids[0] is the process: its threads come with it. */
static void hwpmc_count(struct counters *c, int n, const pid_t *tids, int ntids,
			bool inherit)
{
	c->n = n;
	c->nfd = 1;
	c->fd = malloc(sizeof(*c->fd));
	c->fd[0] = open(HWPMC_DEVICE, O_RDWR | O_CLOEXEC);
	if (c->fd[0] < 0)
		die(HWPMC_DEVICE);
	for (int i = 0; i < n; i++) {
		allocate(c, i, inherit);
		attach(c, i, tids[0]);
	}
	hwpmc_start(c);
}

static uint64_t hwpmc_read(struct counters *c)
{
	struct hwpmc_op_pmcrw op = { .flags = HWPMC_F_OLDVALUE };

	for (int i = 0; i < c->n; i++) {
		op.pmcid = c->id[i];
		if (ioctl(c->fd[0], HWPMC_IOC_PMCRW, &op))
			die("PMCRW");
	}
	return op.value;
}

static void hwpmc_close(struct counters *c)
{
	close(c->fd[0]);
}

const struct tool tool_hwpmc = {
	"hwpmc", hwpmc_count, hwpmc_read, hwpmc_stop, hwpmc_start, hwpmc_close,
};
