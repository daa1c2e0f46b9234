// SPDX-License-Identifier: BSD-2-Clause
/*
 * bounded.c THREADS - runs in a VM with the emulated PMU's option irqoff=on: the largest
 * number of instructions that the module has interrupts off for, in each operation on a
 * process with so many threads, and on one with as many children. One line each:
 * operation<TAB>instructions<TAB>of those with all CPUs stopped<TAB>where it began.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hwpmc.h>

#include "ops.h"
#include "vpmu_guest.h"

#define PMCS	3

static pid_t target;
static uint32_t id[PMCS];
static int pmcs = PMCS;

/* ---- where the module lies ------------------------------------------------- */

static void find_module(void)
{
	unsigned long size = 0, begin = 0;
	char line[512];
	FILE *f = fopen("/proc/modules", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "hwpmc %lu %*s %*s %*s %lx", &size, &begin) == 2)
			break;
	if (!begin)
		die("hwpmc in /proc/modules");
	fclose(f);
	vpmu_query(VPMU_IRQOFF, VPMU_IRQOFF_BEGIN, begin);
	vpmu_query(VPMU_IRQOFF, VPMU_IRQOFF_END, begin + size);
}

/* What runs in stop_machine(), up to the next symbol. */
static void find_stopped(void)
{
	unsigned long begin = 0, end = ~0UL, at;
	char line[512], name[256];
	FILE *f = fopen("/proc/kallsyms", "r");

	for (int pass = 0; f && pass < 2; pass++, rewind(f))
		while (fgets(line, sizeof(line), f)) {
			if (!strstr(line, "[hwpmc]") ||
			    sscanf(line, "%lx %*c %255s", &at, name) != 2)
				continue;
			if (!strcmp(name, "settle_stopped"))
				begin = at;
			else if (begin && at > begin && at < end)
				end = at;
		}
	if (!begin)
		die("settle_stopped in /proc/kallsyms");
	fclose(f);
	vpmu_query(VPMU_IRQOFF, VPMU_IRQOFF_WATCH, begin);
	vpmu_query(VPMU_IRQOFF, VPMU_IRQOFF_WATCHED, end);
}

/* ---- operations ------------------------------------------------------------ */

/* One that switches count, one of a narrow path, and one that counts what sleepers do. */
static void allocate_all(uint32_t flags)
{
	id[0] = allocate(HWPMC_CLASS_IAP, 0xc0, HWPMC_F_EV_PMU | flags);
	id[1] = allocate(HWPMC_CLASS_IAP, 0xc4, HWPMC_F_EV_PMU | flags);
	if (pmcs == PMCS)
		id[2] = allocate(HWPMC_CLASS_SOFT, HWPMC_EV_SOFT_CPU_MIGRATION, flags);
}

static void each(unsigned long request)
{
	for (int i = 0; i < pmcs; i++)
		id_op(request, id[i]);
}

static void each_of_target(unsigned long request)
{
	for (int i = 0; i < pmcs; i++)
		target_op(request, id[i], target);
}

static void read_all(void)
{
	for (int i = 0; i < pmcs; i++)
		read_it(id[i]);
}

/* What an operation leaves to work items ends within a second. */
static void done(const char *operation)
{
	uint64_t most, from, stopped;

	sleep(2);
	from = vpmu_query(VPMU_IRQOFF, VPMU_IRQOFF_FROM, 0);
	most = vpmu_query(VPMU_IRQOFF, VPMU_IRQOFF_LONGEST, 0);
	stopped = vpmu_query(VPMU_IRQOFF, VPMU_IRQOFF_LONGEST_WATCHED, 0);
	printf("%s\t%llu\t%llu\t%llx\n", operation, (unsigned long long)most,
	       (unsigned long long)stopped, (unsigned long long)from);
	fflush(stdout);
}

static void life(const char *what, uint32_t flags)
{
	char name[80];

#define STEP(op, text) do {						\
		op;							\
		snprintf(name, sizeof(name), "%s: %s", what, text);	\
		done(name);						\
	} while (0)

	allocate_all(flags);
	done("");
	STEP(each_of_target(HWPMC_IOC_PMCATTACH), "attach");
	STEP(each(HWPMC_IOC_PMCSTART), "start");
	STEP(read_all(), "read");
	STEP(each(HWPMC_IOC_PMCSTOP), "stop");
	STEP(each_of_target(HWPMC_IOC_PMCDETACH), "detach");
	STEP(each_of_target(HWPMC_IOC_PMCATTACH), "attach again");
	STEP(each(HWPMC_IOC_PMCSTART), "start again");
	STEP(each(HWPMC_IOC_PMCRELEASE), "release while it counts");
	allocate_all(flags);
	each_of_target(HWPMC_IOC_PMCATTACH);
	each(HWPMC_IOC_PMCSTART);
	done("");
	STEP(close(fd), "close");
	fd = open("/dev/hwpmc", O_RDWR);
	/* The kernel wakes them with interrupts off, and each can be moved to another CPU. */
	pmcs = PMCS - 1;
	allocate_all(flags);
	each_of_target(HWPMC_IOC_PMCATTACH);
	each(HWPMC_IOC_PMCSTART);
	done("");
	kill(target, SIGKILL);
	STEP(waitpid(target, NULL, 0), "exit");
	each(HWPMC_IOC_PMCRELEASE);
	pmcs = PMCS;
#undef STEP
}

/* ---- targets --------------------------------------------------------------- */

static void make_children(int n, int ready)
{
	for (int i = 1; i < n; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			sleeper(NULL);
	}
	if (write(ready, "x", 1) != 1)
		die("a pipe");
	sleeper(NULL);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 5000;

	fd = open("/dev/hwpmc", O_RDWR);
	if (fd < 0)
		die("/dev/hwpmc");
	find_module();
	find_stopped();
	target = start_target(make_threads, n);
	done("");
	life("threads", 0);
	target = start_target(make_children, n / 10);
	done("");
	life("children", HWPMC_F_DESCENDANTS);
	kill(-target, SIGKILL);
	return 0;
}
