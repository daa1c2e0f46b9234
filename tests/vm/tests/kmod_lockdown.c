/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_lockdown.c - a kernel that is locked down for confidentiality, which lasts until
 * the next boot: a machine of its own.
 */
#include <sys/mount.h>

#include "harness.h"
#include "kmod_dev.h"

#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define TS	HWPMC_MODE_TS
#define SS	HWPMC_MODE_SS

/* 0 or errno; what is allocated is released. */
static int allocate(int fd, int mode, uint32_t caps)
{
	bool sampling = mode == TS || mode == SS;
	struct hwpmc_op_pmcallocate op;
	int ret;

	dev_request(&op, mode, 0, mode == SS || mode == SC ? 0 : ANY, INSN, caps);
	op.count = sampling ? 1000000 : 0;
	ret = dev_allocate(fd, &op);
	if (!ret)
		dev_ok(dev_release(fd, op.pmcid));
	return ret;
}

static void check_refused(int fd, int mode, uint32_t caps)
{
	ck_assert_int_eq(allocate(fd, mode, caps), EPERM);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_LOCKDOWN);
}

/* No samples of the kernel, not even for root; everything else as before. */
START_TEST(lockdown_forbids_samples_of_the_kernel_and_nothing_else)
{
	static const uint32_t kernel[] = { 0, K, U | K };
	int fd = dev_open();

	for (int i = 0; i < 3; i++) {
		dev_ok(allocate(fd, TS, kernel[i]));
		dev_ok(allocate(fd, SS, kernel[i]));
	}
	if (mount("securityfs", "/sys/kernel/security", "securityfs", 0, NULL))
		ck_assert_int_eq(errno, EBUSY);
	dev_put(LOCKDOWN, "integrity");
	for (int i = 0; i < 3; i++)
		dev_ok(allocate(fd, SS, kernel[i]));
	dev_put(LOCKDOWN, "confidentiality");
	for (int i = 0; i < 3; i++) {
		check_refused(fd, TS, kernel[i]);
		check_refused(fd, SS, kernel[i]);
		dev_ok(allocate(fd, TC, kernel[i]));
		dev_ok(allocate(fd, SC, kernel[i]));
	}
	dev_ok(allocate(fd, TS, U));
	dev_ok(allocate(fd, SS, U));
	close(fd);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(lockdown_forbids_samples_of_the_kernel_and_nothing_else);
	return harness_run();
}
