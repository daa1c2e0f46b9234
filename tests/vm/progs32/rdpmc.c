// SPDX-License-Identifier: BSD-2-Clause
/*
 * rdpmc - a 32-bit program that reads its counter without system calls, by the page of
 * its thread, and whose child may not. Without a C library, as caller.c. Exit status: 0,
 * or which step failed.
 */
#include "raw32.h"

#define SIGSEGV		11
#define PROT_READ	1
#define MAP_SHARED	1
#define PAGE_SHIFT	12

#define FAULTED		42

static __u64 rdpmc(__u32 index)
{
	__u32 low, high;

	asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return low | (__u64)high << 32;
}

/* See struct hwpmc_user_row. */
static __u64 page_read(const volatile struct hwpmc_user_row *row)
{
	__u64 value;
	__u32 seq;

	do {
		seq = row->seq;
		if (row->sum != seq)
			quit(20);
		value = rdpmc(row->index) + row->total;
	} while (row->seq != seq);
	return value;
}

/* Of n iterations of two instructions, and a constant. */
static __u64 __attribute__((noinline)) window(const volatile struct hwpmc_user_row *row,
					      __u32 n)
{
	__u64 before = page_read(row);

	asm volatile("1: decl %0; jnz 1b" : "+r"(n) : : "cc");
	return page_read(row) - before;
}

static void on_fault(int sig)
{
	quit(sig == SIGSEGV ? FAULTED : 1);
}

/* Its page says that no counter is to be read, and RDPMC faults. */
static void __attribute__((noreturn)) be_child(const volatile struct hwpmc_user_row *row,
					       __u32 index)
{
	if (row->sum == row->seq || row->own == row->seq)
		quit(2);
	sys(NR_SIGNAL, SIGSEGV, (long)on_fault, 0);
	rdpmc(index);
	quit(3);
}

/* A counter of this process, started; RDPMC is allowed. */
static struct hwpmc_op_getmsr begin(int fd)
{
	struct hwpmc_op_pmcallocate pmc = {
		.mode = HWPMC_MODE_TC, .cpu = HWPMC_CPU_ANY,
		.flags = HWPMC_F_EV_PMU, .caps = HWPMC_CAP_USER,
		.config = 0xc0, .count = 1ULL << 40,
	};
	struct hwpmc_op_getmsr msr = { };
	struct hwpmc_op_pmc start = { };

	pmc.class = find_class(fd);
	if (op(fd, HWPMC_IOC_PMCALLOCATE, &pmc))
		quit(4);
	start.pmcid = pmc.pmcid;
	msr.pmcid = pmc.pmcid;
	if (op(fd, HWPMC_IOC_PMCSTART, &start))
		quit(5);
	if (op(fd, HWPMC_IOC_PMCGETMSR, &msr))
		quit(6);
	return msr;
}

static const volatile struct hwpmc_user_row *map_page(int fd, __u32 id)
{
	const long arg[7] = {
		NR_MMAP2, 0, HWPMC_USER_SIZE, PROT_READ, MAP_SHARED, fd,
		HWPMC_USER_OFFSET >> PAGE_SHIFT,
	};
	long at = sys6(arg);

	if ((unsigned long)at > -4096ul)
		quit(7);
	return (const volatile struct hwpmc_user_row *)at + HWPMC_ID_ROW(id);
}

static void check_exact(const volatile struct hwpmc_user_row *row, int step)
{
	__u64 first = window(row, 1000);

	if (window(row, 101000) - first != 200000)
		quit(step);
}

void _start(void);
void _start(void)
{
	int fd = sys(NR_OPEN, (long)HWPMC_DEVICE, 2, 0), status = 0;
	const volatile struct hwpmc_user_row *row;
	struct hwpmc_op_getmsr msr;
	long pid;

	if (fd < 0)
		quit(1);
	msr = begin(fd);
	row = map_page(fd, msr.pmcid);
	if (page_read(row) < 1ULL << 40)
		quit(8);
	check_exact(row, 9);
	pid = sys(NR_FORK, 0, 0, 0);
	if (!pid)
		be_child(row, msr.msr);
	if (sys(NR_WAITPID, pid, (long)&status, 0) != pid)
		quit(10);
	if (status != FAULTED << 8)
		quit(11);
	check_exact(row, 12);
	quit(0);
}
