// SPDX-License-Identifier: BSD-2-Clause
/*
 * vpmu_kinds - the emulated PMU on a machine with kinds of core (MACHINE=name): each CPU has
 * the CPUID leaves of its kind and faults on what the kind lacks, and totals are kept by
 * kind. The rows are those of real machines, written down here once more.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "vpmu_guest.h"

struct kind {
	uint32_t leaf_1a, gp, fixed;
	uint32_t leaf_23_0[3];		/* EAX, EBX, ECX */
	uint32_t events;		/* leaf 0x23.3 EAX */
	bool frontend;
};

static const struct machine {
	const char *name;
	bool hybrid, leaf_23;
	uint32_t leaf_a[4];
	struct kind kind[3];
} machines[] = {
	{ "adl", true, false, { 0x07300605, 0, 7, 0x8603 },
	  { { 0x40000001, 0xff, 0xf, { 0 }, 0, true },
	    { 0x20000001, 0x3f, 0x7, { 0 }, 0, false } } },
	{ "adl-p-only", false, false, { 0x08300805, 0, 0xf, 0x8604 },
	  { { 0, 0xff, 0xf, { 0 }, 0, true } } },
	{ "adl-n", false, false, { 0x07300605, 0, 7, 0x8603 },
	  { { 0x20000001, 0x3f, 0x7, { 0 }, 0, false } } },
	{ "mtl", true, true, { 0x07300805, 0, 7, 0x8603 },
	  { { 0x40000002, 0xff, 0xf, { 0xb, 0, 0 }, 0xdff, true },
	    { 0x20000002, 0xff, 0x7, { 0xb, 0, 6 }, 0x7f, false } } },
	{ "arlh", true, true, { 0x07300805, 0, 7, 0x8603 },
	  { { 0x40000003, 0x3ff, 0xf, { 0xb, 3, 0 }, 0x1dff, true },
	    { 0x20000003, 0xff, 0x77, { 0xf, 3, 8 }, 0x1f7f, false },
	    { 0x20000002, 0xff, 0x7, { 0xb, 0, 6 }, 0x7f, false } } },
	{ "lnl", true, true, { 0x0d300806, 0x280, 7, 0x8603 },
	  { { 0x40000003, 0x3ff, 0xf, { 0xb, 3, 0 }, 0x1dff, true },
	    { 0x20000003, 0xff, 0x77, { 0xf, 3, 8 }, 0x1f7f, false } } },
	{ "ptl", true, true, { 0x0d300806, 0x280, 7, 0x8603 },
	  { { 0x40000004, 0x3ff, 0xf, { 0x3b, 3, 0 }, 0x1dff, true },
	    { 0x20000004, 0xff, 0x77, { 0x3f, 3, 8 }, 0x1f7f, false } } },
	{ "gnr", false, true, { 0x08300805, 0, 0xf, 0x8604 },
	  { { 0x40000002, 0xff, 0xf, { 0xb, 0, 0 }, 0xdff, true } } },
	{ "cwf", false, true, { 0x0d300806, 0x80, 0x77, 0x8603 },
	  { { 0x20000004, 0xff, 0x77, { 0x3f, 3, 8 }, 0x1f7f, false } } },
};

static const struct machine *machine;
static int cpus;

/* The first half performance cores; of three kinds the last CPU is of the third. */
static unsigned int kind_at(int cpu)
{
	if (!machine->kind[1].gp || cpu < (cpus + 1) / 2)
		return 0;
	return machine->kind[2].gp && cpu == cpus - 1 ? 2 : 1;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
}

static int open_msr(int cpu)
{
	char path[40];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, O_RDWR);
	ck_assert_int_ge(fd, 0);
	return fd;
}

static bool readable(int fd, uint32_t msr)
{
	uint64_t x;

	return pread(fd, &x, 8, msr) == 8;
}

static bool writable(int fd, uint32_t msr, uint64_t x)
{
	return pwrite(fd, &x, 8, msr) == 8;
}

START_TEST(each_cpu_has_the_leaves_of_its_kind)
{
	for (int cpu = 0; cpu < cpus; cpu++) {
		const struct kind *k = &machine->kind[kind_at(cpu)];
		uint32_t a, b, c, d;

		pin(cpu);
		ck_assert_uint_eq(vpmu_reg(VPMU_REG_KIND, cpu), kind_at(cpu));
		__cpuid_count(0, 0, a, b, c, d);
		ck_assert_uint_ge(a, 0x23);
		__cpuid_count(7, 0, a, b, c, d);
		ck_assert_int_eq(d >> 15 & 1, machine->hybrid);
		__cpuid_count(7, 1, a, b, c, d);
		ck_assert_int_eq(a >> 8 & 1, machine->leaf_23);
		__cpuid_count(0xa, 0, a, b, c, d);
		ck_assert_uint_eq(a, machine->leaf_a[0]);
		ck_assert_uint_eq(b, machine->leaf_a[1]);
		ck_assert_uint_eq(c, machine->leaf_a[2]);
		ck_assert_uint_eq(d, machine->leaf_a[3]);
		__cpuid_count(0x1a, 0, a, b, c, d);
		ck_assert_uint_eq(a, k->leaf_1a);
		__cpuid_count(0x23, 0, a, b, c, d);
		ck_assert_uint_eq(a, k->leaf_23_0[0]);
		ck_assert_uint_eq(b, k->leaf_23_0[1]);
		ck_assert_uint_eq(c, k->leaf_23_0[2]);
		__cpuid_count(0x23, 1, a, b, c, d);
		ck_assert_uint_eq(a, machine->leaf_23 ? k->gp : 0);
		ck_assert_uint_eq(b, machine->leaf_23 ? k->fixed : 0);
		__cpuid_count(0x23, 3, a, b, c, d);
		ck_assert_uint_eq(a, k->events);
	}
}
END_TEST

START_TEST(registers_of_counters_that_a_kind_lacks_fault)
{
	for (int cpu = 0; cpu < cpus; cpu++) {
		const struct kind *k = &machine->kind[kind_at(cpu)];
		int fd = open_msr(cpu);

		for (int n = 0; n < 10; n++) {
			bool has = k->gp >> n & 1;

			ck_assert_int_eq(readable(fd, 0x186 + n), has);
			ck_assert_int_eq(writable(fd, 0x186 + n, 0), has);
			ck_assert_int_eq(readable(fd, 0xc1 + n), has);
			ck_assert_int_eq(writable(fd, 0x4c1 + n, 0), has);
			ck_assert_int_eq(writable(fd, 0x38f, 1ULL << n), has);
		}
		for (int n = 0; n < 7; n++) {
			bool has = k->fixed >> n & 1;

			ck_assert_int_eq(readable(fd, 0x309 + n), has);
			ck_assert_int_eq(writable(fd, 0x38d, 3ULL << 4 * n), has);
			ck_assert_int_eq(writable(fd, 0x38f, 1ULL << (32 + n)), has);
		}
		ck_assert_int_eq(readable(fd, 0x3f7), k->frontend);
		ck_assert(writable(fd, 0x38d, 0));
		ck_assert(writable(fd, 0x38f, 0));
		close(fd);
	}
}
END_TEST

/* The new bits of a select; version 6: the same registers at their new addresses. */
START_TEST(version_6_has_its_addresses_and_bits)
{
	bool v6 = (machine->leaf_a[0] & 0xff) >= 6;

	for (int cpu = 0; cpu < cpus; cpu++) {
		const struct kind *k = &machine->kind[kind_at(cpu)];
		int fd = open_msr(cpu);
		uint64_t x;

		ck_assert_int_eq(writable(fd, 0x186, 1ULL << 40), k->leaf_23_0[1] & 1);
		ck_assert_int_eq(writable(fd, 0x186, 1ULL << 36), k->leaf_23_0[1] >> 1 & 1);
		ck_assert_int_eq(writable(fd, 0x186, 1ULL << 37), k->leaf_23_0[1] >> 2 & 1);
		ck_assert(!writable(fd, 0x186, 1ULL << 33));
		ck_assert(writable(fd, 0x186, 0xc0));
		if (v6) {
			ck_assert_int_eq(pread(fd, &x, 8, 0x1901), 8);
			ck_assert_uint_eq(x, 0xc0);
			ck_assert(writable(fd, 0x1900, 0x1234));
			ck_assert_int_eq(pread(fd, &x, 8, 0xc1), 8);
			ck_assert_uint_eq(x, 0x1234);
			ck_assert_int_eq(readable(fd, 0x1900 + 4 * 9), k->gp >> 9 & 1);
			ck_assert_int_eq(readable(fd, 0x1980 + 4 * 3), k->fixed >> 3 & 1);
		}
		ck_assert(writable(fd, 0x186, 0));
		ck_assert(writable(fd, 0xc1, 0));
		close(fd);
	}
}
END_TEST

START_TEST(totals_are_kept_for_each_kind)
{
	uint64_t before[3], after[3], own = vpmu_own(VPMU_USER_INSN), key = vpmu_key();

	for (int cpu = 0; cpu < cpus; cpu++) {
		pin(cpu);
		for (int k = 0; k < 3; k++)
			before[k] = vpmu_space_kind(key, k, VPMU_USER_INSN);
		for (volatile int i = 0; i < 100000; i++)
			;
		for (int k = 0; k < 3; k++)
			after[k] = vpmu_space_kind(key, k, VPMU_USER_INSN);
		for (unsigned int k = 0; k < 3; k++) {
			if (k == kind_at(cpu))
				ck_assert_uint_gt(after[k] - before[k], 300000);
			else
				ck_assert_uint_eq(after[k], before[k]);
		}
	}
	for (int k = 0; k < 3; k++)
		before[k] = vpmu_space_kind(key, k, VPMU_USER_INSN);
	own = vpmu_own(VPMU_USER_INSN);
	/* Read within a few instructions of each other. */
	ck_assert_uint_lt(own - before[0] - before[1] - before[2], 200);
}
END_TEST

int main(void)
{
	const char *name = getenv("MACHINE");
	size_t i;

	for (i = 0; name && i < sizeof(machines) / sizeof(*machines); i++)
		if (!strcmp(machines[i].name, name))
			machine = &machines[i];
	if (!machine) {
		fprintf(stderr, "MACHINE= names no machine\n");
		return 2;
	}
	cpus = sysconf(_SC_NPROCESSORS_CONF);
	if (system("modprobe -d \"$VM_KERNEL\" msr"))
		fprintf(stderr, "cannot load msr\n");
	harness_add(each_cpu_has_the_leaves_of_its_kind);
	harness_add(registers_of_counters_that_a_kind_lacks_fault);
	harness_add(version_6_has_its_addresses_and_bits);
	harness_add(totals_are_kept_for_each_kind);
	return harness_run();
}
