// SPDX-License-Identifier: BSD-2-Clause
/* kmod_narrow - counters that a single slice could overflow more than once. */
#include "kmod_dev.h"

/* Rounds of 4.5e9 instructions where a counter holds 4.29e9. */
#define LONG	1500000000ul

START_TEST(a_program_longer_than_the_counter_is_counted_exactly)
{
	unsigned long n = LONG;
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

/* No process is measured: only the CPU counts. */
START_TEST(a_cpu_that_counts_more_than_the_counter_holds_loses_nothing)
{
	struct child child = dev_loop(LONG);
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, SC, 0, 0, INSN, U);
	uint64_t truth, count;

	dev_ok(dev_start(fd, id));
	truth = vpmu_vcpu(VPMU_USER_INSN);
	count = dev_read(fd, id);
	dev_go(&child);
	dev_wait(&child);
	truth = vpmu_vcpu(VPMU_USER_INSN) - truth;
	count = dev_read(fd, id) - count;
	ck_assert_uint_gt(count, loop_insn(LONG));
	/* Both windows hold the same calls, shifted by the read between. */
	ck_assert_uint_lt(count > truth ? count - truth : truth - count, 100);
	close(fd);
	dev_check_registers_clear();
}
END_TEST

#define TRACING	"/sys/kernel/tracing/"

/* How often the harvest has run since the trace was cleared. */
static unsigned int harvests(void)
{
	FILE *f = fopen(TRACING "trace", "r");
	unsigned int n = 0;
	char line[512];

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, "function harvest_work") != NULL;
	fclose(f);
	return n;
}

/* Each release of the only PMC gives the class back, each allocation claims it. */
START_TEST(claims_that_are_repeated_do_not_put_off_the_harvest)
{
	int fd = dev_open();

	dev_put(TRACING "trace", "");
	dev_put(TRACING "events/workqueue/workqueue_execute_start/enable", "1");
	for (int i = 0; i < 20000 && (i % 20 || harvests() < 3); i++)
		dev_ok(dev_release(fd, dev_alloc(fd, TC, 0, ANY, INSN, U)));
	dev_put(TRACING "events/workqueue/workqueue_execute_start/enable", "0");
	ck_assert_uint_ge(harvests(), 3);
	close(fd);
	dev_check_registers_clear();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(claims_that_are_repeated_do_not_put_off_the_harvest, 60);
	harness_add_timed(a_program_longer_than_the_counter_is_counted_exactly, 60);
	harness_add_timed(a_cpu_that_counts_more_than_the_counter_holds_loses_nothing, 60);
	return harness_run();
}
