// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_mediated.c - the module and guests with KVM's mediated PMU (Linux 7) exclude each
 * other, as such guests and perf's events that include guests do. The guests are perf's count
 * of them (tests/vm/kmods/mediatedmod.c).
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "kmod_dev.h"

static int guest(bool begins)
{
	int status = system(begins ?
		"insmod build/vm/kmods/$(uname -r)/mediatedmod.ko 2>/dev/null" :
		"rmmod mediatedmod");

	return WEXITSTATUS(status);
}

static int try_insn(int fd, uint32_t *id)
{
	struct hwpmc_op_pmcallocate op;
	int err;

	dev_request(&op, TC, 0, ANY, INSN, U);
	err = dev_allocate(fd, &op);
	*id = op.pmcid;
	return err;
}

static uint64_t counts(int fd, uint32_t id)
{
	uint64_t before;

	dev_ok(dev_start(fd, id));
	before = dev_read(fd, id);
	return dev_read(fd, id) - before;
}

/* An event of perf's that includes guests: a descriptor, or -errno. */
static int perf_with_guests(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* The question that a claim asks perf leaves nothing behind. */
START_TEST(perf_and_the_module_take_turns_after_each_claim)
{
	int fd = dev_open(), perf;
	uint32_t id;

	for (int i = 0; i < 3; i++) {
		dev_ok(try_insn(fd, &id));
		ck_assert_int_eq(perf_with_guests(), -EBUSY);
		ck_assert_uint_gt(counts(fd, id), 0);
		dev_ok(dev_release(fd, id));
		perf = perf_with_guests();
		ck_assert_int_ge(perf, 0);
		close(perf);
	}
	close(fd);
}
END_TEST

START_TEST(where_a_guest_has_the_counters_they_are_refused_with_the_reason)
{
	int fd = dev_open();
	uint32_t id;

	ck_assert_int_eq(guest(true), 0);
	ck_assert_int_eq(perf_with_guests(), -EOPNOTSUPP);
	ck_assert_int_eq(try_insn(fd, &id), EBUSY);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_PMU_MEDIATED);
	/* The refusal keeps no guest out. */
	ck_assert_int_eq(guest(false), 0);
	ck_assert_int_eq(guest(true), 0);
	ck_assert_int_eq(guest(false), 0);
	dev_ok(try_insn(fd, &id));
	ck_assert_uint_gt(counts(fd, id), 0);
	close(fd);
}
END_TEST

START_TEST(while_the_counters_are_claimed_no_guest_gets_them)
{
	int fd = dev_open(), perf;
	uint32_t id, two;

	dev_ok(try_insn(fd, &id));
	ck_assert_int_ne(guest(true), 0);
	ck_assert_uint_gt(counts(fd, id), 0);
	/* The last one counts, not the first. */
	dev_ok(try_insn(fd, &two));
	dev_ok(dev_release(fd, id));
	ck_assert_int_ne(guest(true), 0);
	dev_ok(dev_release(fd, two));
	ck_assert_int_eq(guest(true), 0);
	ck_assert_int_eq(guest(false), 0);
	/* Nor is one kept out where perf had the counters. */
	perf = perf_with_guests();
	ck_assert_int_ge(perf, 0);
	ck_assert_int_eq(try_insn(fd, &id), EBUSY);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_PMU_RESERVED);
	close(perf);
	ck_assert_int_eq(guest(true), 0);
	ck_assert_int_eq(guest(false), 0);
	close(fd);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(perf_and_the_module_take_turns_after_each_claim);
	/* Kernels before 7 have no such guests. */
	if (system("grep -q ' perf_create_mediated_pmu$' /proc/kallsyms") == 0) {
		harness_add(where_a_guest_has_the_counters_they_are_refused_with_the_reason);
		harness_add(while_the_counters_are_claimed_no_guest_gets_them);
	}
	return harness_run();
}
