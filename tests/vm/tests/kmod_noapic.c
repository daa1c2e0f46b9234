/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_noapic.c - a machine whose local APIC is off: counters count, but none can
 * interrupt, so none samples.
 */
#define _GNU_SOURCE
#include "kmod_dev.h"

START_TEST(without_a_local_apic_hardware_does_not_sample)
{
	struct hwpmc_op_pmcallocate req;
	int fd = dev_open(), cpu[] = { 0, -1 };
	int mode[] = { HWPMC_MODE_SS, HWPMC_MODE_TS };

	for (int i = 0; i < 2; i++) {
		dev_request(&req, mode[i], 0, cpu[i], INSN, U);
		req.count = 1000000;
		ck_assert_int_eq(dev_allocate(fd, &req), EOPNOTSUPP);
		ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_CAPS);
		ck_assert_int_eq(dev_hdr.detail, HWPMC_CAP_INTERRUPT);
	}
	close(fd);
}
END_TEST

START_TEST(without_a_local_apic_counts_are_exact)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_EXEC_START, ANY, INSN, U);
	struct child c = dev_loop(1000000);

	dev_ok(dev_attach(fd, id, c.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&c);
	dev_wait(&c);
	ck_assert_uint_eq(dev_read(fd, id), loop_insn(1000000));
	close(fd);
	dev_still_counts();
}
END_TEST

START_TEST(without_a_local_apic_the_module_says_that_it_does_not_sample)
{
	ck_assert_int_eq(system("dmesg | grep -q 'hwpmc: no local APIC: no sampling'"),
			 0);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(without_a_local_apic_hardware_does_not_sample);
	harness_add(without_a_local_apic_counts_are_exact);
	harness_add(without_a_local_apic_the_module_says_that_it_does_not_sample);
	return harness_run();
}
