// SPDX-License-Identifier: BSD-2-Clause
/*
 * look.c - runs in a VM: how many registers of the PMU a CPU accesses in a second while its
 * counters count and nothing is asked of the module, as the emulated PMU counts them: RDMSR,
 * WRMSR, RDPMC, and writes that unmask LVTPC. One line: counters<TAB>accesses<TAB>nanoseconds,
 * and a second one while a counter is free that stood still at the claim. With "metal" a line
 * begins after a harvest, which reads each counter before it can wrap twice, and ends before the
 * next one; the accesses of that harvest are its last field.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <hwpmc.h>

#include "vpmu_guest.h"

#define CPU	0
#define SECONDS	120
#define SETTLED	2	/* seconds after which nothing of the start is to come */
#define HARVEST	140	/* seconds in which counters of 48 bits are harvested once */

static uint64_t accesses(void)
{
	return vpmu_access(VPMU_N_RDMSR, CPU) + vpmu_access(VPMU_N_WRMSR, CPU) +
	       vpmu_access(VPMU_N_RDPMC, CPU) + vpmu_access(VPMU_N_OPENED, CPU);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* Counts instructions on a further row of CPU 0. Returns false where none is left. */
static int count_on(int fd, int class, uint32_t caps)
{
	struct hwpmc_op_pmcallocate op = {
		.class = class, .mode = HWPMC_MODE_SC, .cpu = CPU, .caps = caps,
		.flags = HWPMC_F_EV_PMU, .config = 0xc0,
	};
	struct hwpmc_op_pmc start = { .pmcid = 0 };

	if (ioctl(fd, HWPMC_IOC_PMCALLOCATE, &op))
		return 0;
	start.pmcid = op.pmcid;
	return !ioctl(fd, HWPMC_IOC_PMCSTART, &start);
}

/* Returns how many accesses the next harvest takes, or 0 if none comes. */
static uint64_t await_harvest(void)
{
	uint64_t before = accesses(), n;

	for (int i = 0; i < HARVEST; i++) {
		sleep(1);
		n = accesses() - before;
		if (n)
			return n;
	}
	return 0;
}

static int measure(int class, int metal)
{
	int fd = open("/dev/hwpmc", O_RDWR), n = 0;
	uint64_t before, began, harvest;

	/* Counters of user mode alone cost less. */
	while (count_on(fd, class, n & 1 ? HWPMC_CAP_USER : HWPMC_CAP_USER | HWPMC_CAP_SYSTEM))
		n++;
	sleep(SETTLED);
	harvest = metal ? await_harvest() : 0;
	began = now();
	before = accesses();
	sleep(SECONDS);
	printf("%d\t%llu\t%llu\t%llu\n", n, (unsigned long long)(accesses() - before),
	       (unsigned long long)(now() - began), (unsigned long long)harvest);
	close(fd);
	return n;
}

int main(int argc, char **argv)
{
	int class, metal, n;

	if (argc != 3)
		return 2;
	class = strcmp(argv[1], "amd") ? HWPMC_CLASS_IAP : HWPMC_CLASS_K8;
	metal = !strcmp(argv[2], "metal");
	n = measure(class, metal);
	vpmu_knob(VPMU_KNOB_FROZEN, 1);
	return !n || measure(class, metal) != n - 1;
}
