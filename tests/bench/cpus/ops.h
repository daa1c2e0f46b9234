/* SPDX-License-Identifier: BSD-2-Clause */
/* ops.h - operations of one owner, and a process with many threads that sleep: what the
 * programs here have in common. Each ends the program where it fails. */
#ifndef BENCH_CPUS_OPS_H
#define BENCH_CPUS_OPS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <hwpmc.h>

static int fd = -1;	/* the owner's descriptor */

static inline void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Of process scope; with HWPMC_F_EV_PMU a select, of user mode. */
static inline uint32_t allocate(uint32_t class, uint32_t event, uint32_t flags)
{
	struct hwpmc_op_pmcallocate op = {
		.class = class, .mode = HWPMC_MODE_TC, .flags = flags,
		.ev = flags & HWPMC_F_EV_PMU ? 0 : event, .config = event,
		.caps = flags & HWPMC_F_EV_PMU ? HWPMC_CAP_USER : 0,
		.cpu = HWPMC_CPU_ANY,
	};

	if (ioctl(fd, HWPMC_IOC_PMCALLOCATE, &op))
		die("PMCALLOCATE");
	return op.pmcid;
}

static inline void id_op(unsigned long request, uint32_t id)
{
	struct hwpmc_op_pmc op = { .pmcid = id };

	if (ioctl(fd, request, &op))
		die("an operation");
}

static inline void target_op(unsigned long request, uint32_t id, pid_t pid)
{
	struct hwpmc_op_pmcattach op = { .pmcid = id, .pid = pid };

	if (ioctl(fd, request, &op))
		die("attach or detach");
}

static inline void read_it(uint32_t id)
{
	struct hwpmc_op_pmcrw op = { .pmcid = id, .flags = HWPMC_F_OLDVALUE };

	if (ioctl(fd, HWPMC_IOC_PMCRW, &op))
		die("PMCRW");
}

static inline void *sleeper(void *unused)
{
	for (;;)
		pause();
	return NULL;
}

/* Does not return; a byte to `ready` when there are n threads. */
static inline void make_threads(int n, int ready)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (int i = 1; i < n; i++)
		if (pthread_create(&thread, &attr, sleeper, NULL))
			die("pthread_create");
	if (write(ready, "x", 1) != 1)
		die("a pipe");
	sleeper(NULL);
}

/* A child with a process group of its own that runs make(n, ready), once it is ready. */
static inline pid_t start_target(void (*make)(int n, int ready), int n)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		die("pipe");
	pid = fork();
	if (!pid) {
		if (fd >= 0)
			close(fd);
		setpgid(0, 0);
		make(n, ready[1]);
	}
	if (read(ready[0], &c, 1) != 1)
		die("the target");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

#endif /* BENCH_CPUS_OPS_H */
