// SPDX-License-Identifier: BSD-2-Clause
/*
 * vpmu_msr - the emulated PMU's registers and CPUID leaves, through
 * /dev/cpu/0/msr: values kept, and faults where processors have them.
 */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "vpmu_guest.h"

static int msr_fd;

static int wr(uint32_t msr, uint64_t x)
{
	return pwrite(msr_fd, &x, 8, msr) == 8 ? 0 : -errno;
}

static int rd(uint32_t msr, uint64_t *x)
{
	*x = ~0ULL;
	return pread(msr_fd, x, 8, msr) == 8 ? 0 : -errno;
}

#define CHECK_READ(msr, want) do {		\
	uint64_t x_;				\
	ck_assert_int_eq(rd(msr, &x_), 0);	\
	ck_assert_uint_eq(x_, want);		\
} while (0)
#define CHECK_WRITE(msr, x)	ck_assert_int_eq(wr(msr, x), 0)
#define CHECK_FAULT(msr, x)	ck_assert_int_eq(wr(msr, x), -EIO)

static void open_msr(void)
{
	msr_fd = open("/dev/cpu/0/msr", O_RDWR);
	ck_assert_int_ge(msr_fd, 0);
}

START_TEST(intel_leaves_describe_version_4_with_8_counters)
{
	unsigned int a, b, c, d;

	__cpuid(0xa, a, b, c, d);
	ck_assert_uint_eq(a, 0x07300804);
	ck_assert_uint_eq(b, 0);
	ck_assert_uint_eq(d, 3 | 48 << 5);
	__cpuid(1, a, b, c, d);
	ck_assert(c & 1 << 15);			/* PDCM */
	CHECK_READ(0x345, 0x2000);
}
END_TEST

START_TEST(intel_reserved_bits_fault)
{
	CHECK_FAULT(0x38f, 1ULL << 50);		/* GLOBAL_CTRL */
	CHECK_FAULT(0x38d, 1ULL << 40);		/* FIXED_CTR_CTRL */
	CHECK_FAULT(0x18d, 1ULL << 40);		/* PERFEVTSEL7 */
	CHECK_FAULT(0x390, 1ULL << 57);
}
END_TEST

START_TEST(intel_read_only_registers_fault_on_write)
{
	CHECK_FAULT(0x345, 0);			/* PERF_CAPABILITIES */
	CHECK_FAULT(0x38e, 0);			/* GLOBAL_STATUS */
	CHECK_FAULT(0x392, 0);			/* INUSE */
}
END_TEST

START_TEST(intel_counter_writes_extend_or_are_full_width)
{
	CHECK_WRITE(0xc8, 0x80000000);
	CHECK_READ(0xc8, 0xffff80000000);
	CHECK_WRITE(0x4c8, 0x123456789abc);
	CHECK_READ(0xc8, 0x123456789abc);
	CHECK_FAULT(0x4c8, 1ULL << 48);
	CHECK_READ(0xc9, 0);			/* there is no ninth */
	CHECK_WRITE(0xc8, 0);
}
END_TEST

START_TEST(intel_status_is_set_and_cleared)
{
	uint64_t x;

	CHECK_WRITE(0x391, 0x80);
	ck_assert_int_eq(rd(0x38e, &x), 0);
	ck_assert_uint_eq(x & 0x80, 0x80);
	CHECK_WRITE(0x390, 0x80);
	ck_assert_int_eq(rd(0x38e, &x), 0);
	ck_assert_uint_eq(x & 0x80, 0);
}
END_TEST

START_TEST(intel_inuse_follows_the_selects)
{
	uint64_t x;

	CHECK_WRITE(0x18d, 0xc0);
	ck_assert_int_eq(rd(0x392, &x), 0);
	ck_assert_uint_eq(x & 0x80, 0x80);
	ck_assert_uint_eq(vpmu_reg(VPMU_REG_SELECT + 7, 0), 0xc0);
	CHECK_WRITE(0x18d, 0);
	ck_assert_uint_eq(vpmu_reg(VPMU_REG_SELECT + 7, 0), 0);
}
END_TEST

START_TEST(amd_leaves_describe_perfmon_v2_with_6_counters)
{
	unsigned int a, b, c, d;

	__cpuid(0x80000000, a, b, c, d);
	ck_assert_uint_ge(a, 0x80000022);
	__cpuid(0x80000022, a, b, c, d);
	ck_assert_uint_eq(a, 5);			/* with freeze on PMI */
	ck_assert_uint_eq(b, 6);
	__cpuid(0x80000001, a, b, c, d);
	ck_assert(c & 1 << 23);			/* PerfCtrExtCore */
}
END_TEST

START_TEST(amd_legacy_registers_are_the_first_four)
{
	CHECK_WRITE(0xc001020b, 0x123456789abc);
	CHECK_READ(0xc001020b, 0x123456789abc);
	CHECK_WRITE(0xc0010007, 0x1234);
	CHECK_READ(0xc0010207, 0x1234);
	CHECK_WRITE(0xc001020b, 0);
	CHECK_WRITE(0xc0010007, 0);
}
END_TEST

START_TEST(amd_status_is_set_and_cleared_by_its_own_registers)
{
	uint64_t x;

	CHECK_WRITE(0xc0000303, 0x20);
	ck_assert_int_eq(rd(0xc0000300, &x), 0);
	ck_assert_uint_eq(x & 0x20, 0x20);
	CHECK_WRITE(0xc0000300, 0);		/* ignored */
	ck_assert_int_eq(rd(0xc0000300, &x), 0);
	ck_assert_uint_eq(x & 0x20, 0x20);
	CHECK_WRITE(0xc0000302, 0x20);
	ck_assert_int_eq(rd(0xc0000300, &x), 0);
	ck_assert_uint_eq(x & 0x20, 0);
}
END_TEST

static void end_well(int sig)
{
	_exit(sig == SIGSEGV ? 0 : 1);
}

static void catch_faults(void)
{
	signal(SIGSEGV, end_well);
	signal(SIGILL, end_well);
}

START_TEST(user_rdpmc_without_leave_is_a_general_protection_fault)
{
	catch_faults();
	asm volatile("rdpmc" : : "c"(0) : "rax", "rdx");
	ck_abort_msg("RDPMC ran");
}
END_TEST

START_TEST(user_rdmsr_is_a_general_protection_fault)
{
	catch_faults();
	asm volatile("rdmsr" : : "c"(0x38f) : "rax", "rdx");
	ck_abort_msg("RDMSR ran");
}
END_TEST

static void make_device(void)
{
	if (!access("/dev/cpu/0/msr", F_OK))
		return;
	if (system("modprobe -d \"$VM_KERNEL\" msr"))
		fprintf(stderr, "cannot load msr\n");
}

/* Two that wake each other: their way through the scheduler is patched meanwhile. */
static pid_t play(void)
{
	pid_t pid = fork();
	int to[2], back[2];
	char c = 0;

	if (pid)
		return pid;
	if (setpgid(0, 0) || pipe(to) || pipe(back))
		_exit(1);
	if (!fork())
		while (read(to[0], &c, 1) == 1 && write(back[1], &c, 1) == 1)
			;
	while (write(to[1], &c, 1) == 1 && read(back[0], &c, 1) == 1)
		;
	_exit(0);
}

static void statistics_of_the_scheduler(const char *on)
{
	int fd = open("/proc/sys/kernel/sched_schedstats", O_WRONLY);

	ck_assert_int_eq(write(fd, on, 1), 1);
	close(fd);
}

/* What QEMU goes on with for ever, once in 2,000 times, is among it. */
START_TEST(code_that_the_kernel_patches_is_compared_with_its_translation)
{
	uint64_t before = vpmu_access(VPMU_N_RENEWED, VPMU_ALL_VCPUS);
	pid_t pid = play();

	for (int i = 0; i < 40; i++)
		statistics_of_the_scheduler(i & 1 ? "0" : "1");
	ck_assert(!kill(-pid, SIGKILL));
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_uint_gt(vpmu_access(VPMU_N_RENEWED, VPMU_ALL_VCPUS), before);
}
END_TEST

/* Without the option ibs=on it costs nothing. */
START_TEST(ibs_places_nothing_in_code_while_it_is_off)
{
	unsigned int a, b, c, d;

	__cpuid(0x80000001, a, b, c, d);
	ck_assert_uint_eq(c >> 10 & 1, 0);
	ck_assert_uint_eq(vpmu_ibs(VPMU_IBS_CAPS, 0), 0);
	ck_assert_uint_eq(vpmu_ibs(VPMU_IBS_PLACED, 0), 0);
}
END_TEST

int main(void)
{
	bool amd = vpmu_reg(VPMU_REG_IS_AMD, 0);

	make_device();
	harness_fixture(open_msr, NULL);
	if (amd) {
		harness_add(amd_leaves_describe_perfmon_v2_with_6_counters);
		harness_add(amd_legacy_registers_are_the_first_four);
		harness_add(amd_status_is_set_and_cleared_by_its_own_registers);
	} else {
		harness_add(intel_leaves_describe_version_4_with_8_counters);
		harness_add(intel_reserved_bits_fault);
		harness_add(intel_read_only_registers_fault_on_write);
		harness_add(intel_counter_writes_extend_or_are_full_width);
		harness_add(intel_status_is_set_and_cleared);
		harness_add(intel_inuse_follows_the_selects);
	}
	harness_add(ibs_places_nothing_in_code_while_it_is_off);
	harness_add(user_rdpmc_without_leave_is_a_general_protection_fault);
	harness_add(code_that_the_kernel_patches_is_compared_with_its_translation);
	harness_add(user_rdmsr_is_a_general_protection_fault);
	return harness_run();
}
