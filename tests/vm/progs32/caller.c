// SPDX-License-Identifier: BSD-2-Clause
/*
 * caller - a 32-bit program that uses the device: finds the class, allocates,
 * starts, reads around blocks of known length. Without a C library, so that the
 * 64-bit compiler alone can make it. Exit status: 0, or which step failed.
 */
#include "raw32.h"

static struct hwpmc_pmcinfo rows[HWPMC_ROW_MAX];

static __u64 count(int fd, __u32 id)
{
	struct hwpmc_op_pmcrw rw = { .pmcid = id, .flags = HWPMC_F_OLDVALUE };

	if (op(fd, HWPMC_IOC_PMCRW, &rw))
		quit(20);
	return rw.value;
}

/* Of n iterations of two instructions, and a constant. */
static __u64 __attribute__((noinline)) window(int fd, __u32 id, __u32 n)
{
	__u64 before = count(fd, id);

	asm volatile("1: decl %0; jnz 1b" : "+r"(n) : : "cc");
	return count(fd, id) - before;
}

static void check_rows(int fd)
{
	struct hwpmc_op_getpmcinfo all = {
		.npmc = HWPMC_ROW_MAX, .pmcs = (unsigned long)rows,
	};

	if (op(fd, HWPMC_IOC_GETPMCINFO, &all) || all.npmc != info.npmc ||
	    rows[0].name[0] == 0)
		quit(4);
}

void _start(void);
void _start(void)
{
	struct hwpmc_op_pmcallocate pmc = {
		.mode = HWPMC_MODE_TC, .cpu = HWPMC_CPU_ANY,
		.flags = HWPMC_F_EV_PMU, .caps = HWPMC_CAP_USER,
		.config = 0xc0, .count = 1ULL << 40,
	};
	struct hwpmc_op_pmc start = { };
	int fd = sys(NR_OPEN, (long)HWPMC_DEVICE, 2, 0);
	__u64 first;

	if (fd < 0)
		quit(1);
	pmc.class = find_class(fd);
	check_rows(fd);
	if (op(fd, HWPMC_IOC_PMCALLOCATE, &pmc))
		quit(5);
	start.pmcid = pmc.pmcid;
	if (op(fd, HWPMC_IOC_PMCSTART, &start))
		quit(6);
	if (count(fd, pmc.pmcid) < 1ULL << 40)
		quit(7);
	first = window(fd, pmc.pmcid, 1000);
	if (window(fd, pmc.pmcid, 101000) - first != 200000)
		quit(8);
	start.pmcid = HWPMC_ID_INVALID;
	if (op(fd, HWPMC_IOC_PMCSTOP, &start) != -22 ||
	    start.hdr.reason != HWPMC_WHY_ID)
		quit(9);
	quit(0);
}
