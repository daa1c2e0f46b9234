// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_histogram.c - the kernel's histogram (KGMON) by a program of its own: its sums of
 * CPUs that are offline, and the privilege that it needs. (By other modules:
 * kmod_inkernel.c.)
 */
#define _GNU_SOURCE
#include "harness.h"
#include "kmod_dev.h"

static void spin_everywhere(void)
{
	for (int i = 0; i < 500; i++)
		if (access("/proc/self/status", R_OK))
			ck_abort();
	dev_spin(1000000);
}

START_TEST(a_reset_clears_the_sums_of_a_cpu_that_is_offline)
{
	struct hwpmc_op_pmcallocate req;
	struct hwpmc_op_kgmon op;
	int fd = dev_open();

	dev_kgmon(fd, HWPMC_KGMON_RESET);
	dev_kgmon(fd, HWPMC_KGMON_ON);
	dev_request(&req, HWPMC_MODE_SS, HWPMC_F_KGMON, 1, INSN, U | K);
	req.count = 10000;
	dev_ok(dev_allocate(fd, &req));
	dev_pin(0, 1);
	dev_ok(dev_start(fd, req.pmcid));
	spin_everywhere();
	dev_ok(dev_stop(fd, req.pmcid));
	dev_pin(0, 0);
	op = dev_kgmon(fd, HWPMC_KGMON_READ);
	ck_assert_uint_gt(op.nentry, 0);
	ck_assert_uint_gt(op.kernel, 0);
	ck_assert_uint_gt(op.user, 0);
	dev_put("/sys/devices/system/cpu/cpu1/online", "0");
	dev_kgmon(fd, HWPMC_KGMON_RESET);
	op = dev_kgmon(fd, HWPMC_KGMON_READ);
	dev_put("/sys/devices/system/cpu/cpu1/online", "1");
	dev_kgmon(fd, HWPMC_KGMON_OFF);
	ck_assert_uint_eq(op.nentry, 0);
	ck_assert_uint_eq(op.kernel, 0);
	ck_assert_uint_eq(op.user, 0);
	ck_assert_uint_eq(op.lost, 0);
	close(fd);
	dev_still_counts();
}
END_TEST

START_TEST(the_histogram_is_for_the_privileged_and_refuses_what_is_wrong)
{
	struct hwpmc_op_kgmon op = { .command = 99 };
	int fd = dev_open(), status;
	pid_t pid;

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_KGMON, &op), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_KGMON);
	pid = fork();
	if (!pid) {
		int other = dev_open();

		op.command = HWPMC_KGMON_READ;
		if (setuid(65534))
			_exit(2);
		_exit(ioctl(other, HWPMC_IOC_KGMON, &op) == -1 &&
		      errno == EPERM &&
		      op.hdr.reason == HWPMC_WHY_PRIV_SYSTEM ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(fd);
}
END_TEST

int main(void)
{
	dev_setup();
	if (dev_cpus() > 1)
		harness_add(a_reset_clears_the_sums_of_a_cpu_that_is_offline);
	harness_add(the_histogram_is_for_the_privileged_and_refuses_what_is_wrong);
	return harness_run();
}
