// SPDX-License-Identifier: BSD-2-Clause
/* kmod_narrow - counters that a single slice could overflow more than once. */
#include "kmod_dev.h"

START_TEST(a_program_longer_than_the_counter_is_counted_exactly)
{
	/* 4.5e9 instructions where a counter holds 4.29e9. */
	unsigned long n = 1500000000;
	int fd = dev_open();
	uint32_t insn = dev_alloc(fd, TC, HWPMC_F_EXEC_START, ANY, INSN, U);
	uint32_t branch = dev_alloc(fd, TC, HWPMC_F_EXEC_START, ANY, BRANCH, U);
	struct child child = dev_loop(n);

	ck_assert_uint_eq(vpmu_reg(VPMU_REG_WIDTH, 0), 32);
	dev_ok(dev_attach(fd, insn, child.pid));
	dev_ok(dev_attach(fd, branch, child.pid));
	dev_ok(dev_start(fd, insn));
	dev_ok(dev_start(fd, branch));
	dev_go(&child);
	dev_wait(&child);
	ck_assert_uint_eq(dev_read(fd, insn), loop_insn(n));
	ck_assert_uint_eq(dev_read(fd, branch), loop_branches(n));
	close(fd);
	dev_check_registers_clear();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(a_program_longer_than_the_counter_is_counted_exactly, 60);
	return harness_run();
}
