// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_siblings - events that need a core for one thread, on a model that has some; two
 * threads a core.
 */
#include "harness.h"
#include <libhwpmc.h>

#include "kmod_dev.h"

#define LOADS		0x81d0		/* memory loads that retired */

static int allocate_event(int fd, int mode, uint32_t cpu, uint64_t config, uint32_t *id)
{
	struct hwpmc_op_pmcallocate op;
	int err;

	dev_request(&op, mode, 0, cpu, INSN, U);
	op.config = config;
	err = dev_allocate(fd, &op);
	*id = op.pmcid;
	return err;
}

static void check_refused(int fd, int mode, uint32_t cpu)
{
	uint32_t id;

	ck_assert_int_eq(allocate_event(fd, mode, cpu, LOADS, &id), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_EVENT_SIBLINGS);
}

START_TEST(an_event_that_harms_the_other_thread_is_refused_while_it_is_online)
{
	int fd = dev_open();
	struct hwpmc *h;
	uint32_t id;

	ck_assert_int_eq(dev_cpus(), 4);
	check_refused(fd, TC, ANY);
	check_refused(fd, HWPMC_MODE_TS, ANY);
	check_refused(fd, HWPMC_MODE_SC, 0);
	/* Others are not. */
	ck_assert_int_eq(allocate_event(fd, TC, ANY, 0xc4, &id), 0);
	ck_assert(!hwpmc_open(&h));
	ck_assert_int_lt(hwpmc_allocate(h, "r81d0:u", HWPMC_MODE_TC, 0, ANY, 0, &id), 0);
	ck_assert_msg(strstr(hwpmc_error(h), "smt/control"), "%s", hwpmc_error(h));
	hwpmc_close(h);
	close(fd);
	dev_check_registers_clear();
}
END_TEST

START_TEST(while_it_is_counted_no_other_thread_comes)
{
	int fd = dev_open();
	uint32_t id, other;

	ck_assert_int_eq(dev_smt("off"), 0);
	ck_assert_int_eq(dev_cpus(), 2);
	ck_assert_int_eq(allocate_event(fd, TC, ANY, LOADS, &id), 0);
	ck_assert_int_eq(allocate_event(fd, TC, ANY, LOADS, &other), 0);
	dev_ok(dev_release(fd, other));
	ck_assert_int_eq(dev_smt("on"), EBUSY);
	ck_assert_int_eq(dev_cpus(), 2);
	dev_ok(dev_release(fd, id));
	/* The kernel takes "on" for done, although it failed. */
	ck_assert_int_eq(dev_smt("off"), 0);
	ck_assert_int_eq(dev_smt("on"), 0);
	ck_assert_int_eq(dev_cpus(), 4);
	check_refused(fd, TC, ANY);
	close(fd);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(an_event_that_harms_the_other_thread_is_refused_while_it_is_online);
	harness_add(while_it_is_counted_no_other_thread_comes);
	return harness_run();
}
