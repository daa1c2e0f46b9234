// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_irqoff - how many instructions the module has interrupts off for while it tries what a
 * hypervisor gives it (kmod/sampling/counter_test.c), as the emulated PMU counts them (irqoff=on).
 * The bounds are those of hwpmc(4). Operations on many threads: tests/bench/cpus.
 */
#include "kmod_dev.h"

#include <sys/utsname.h>

#define STEP_MOST	1200
#define NO_OVERFLOW_MOST 3000
#define BACK_MOST	2000

static void freeze_counters(uint64_t which)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_pin(getpid(), cpu);
		vpmu_knob(VPMU_KNOB_FROZEN, which);
	}
	dev_unpin(getpid());
}

static void load_anew(void)
{
	unsigned long size = 0, begin = 0;
	struct utsname uts;
	char line[512];
	FILE *f;

	uname(&uts);
	/* What looks at the cost in time belongs to the moments. */
	snprintf(line, sizeof(line), "rmmod hwpmc && insmod build/kmod/%s/hwpmc.ko " DEV_PARAMS
		 " selfcost=50", uts.release);
	ck_assert_int_eq(system(line), 0);
	f = fopen("/proc/modules", "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "hwpmc %lu %*s %*s %*s %lx", &size, &begin) == 2)
			break;
	fclose(f);
	ck_assert_uint_ne(begin, 0);
	vpmu_query(VPMU_IRQOFF, VPMU_IRQOFF_BEGIN, begin);
	vpmu_query(VPMU_IRQOFF, VPMU_IRQOFF_END, begin + size);
}

static uint64_t longest(void)
{
	return vpmu_query(VPMU_IRQOFF, VPMU_IRQOFF_LONGEST, 0);
}

/* The instructions of the longest moment of an allocation. */
static uint64_t allocate_for(int fd, int mode, int *err)
{
	struct hwpmc_op_pmcallocate op;

	dev_request(&op, mode, 0, ANY, INSN, U);
	if (mode == HWPMC_MODE_TS)
		op.count = 1ULL << 30;
	longest();
	*err = dev_allocate(fd, &op);
	return longest();
}

START_TEST(a_trial_has_interrupts_off_for_few_instructions)
{
	uint64_t claim, good, still;
	int fd, err;

	load_anew();
	fd = dev_open();
	claim = allocate_for(fd, HWPMC_MODE_TC, &err);
	dev_ok(err);
	good = allocate_for(fd, HWPMC_MODE_TS, &err);
	dev_ok(err);
	close(fd);
	load_anew();
	fd = dev_open();
	allocate_for(fd, HWPMC_MODE_TC, &err);
	dev_ok(err);
	/* In order when they were claimed, and then no overflow to wait for. */
	freeze_counters(~0ULL);
	still = allocate_for(fd, HWPMC_MODE_TS, &err);
	ck_assert_int_eq(err, EOPNOTSUPP);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROW_STILL);
	freeze_counters(0);
	close(fd);
	printf("# interrupts off: %llu at the claim, %llu for the interrupt, %llu without an overflow\n",
	       (unsigned long long)claim, (unsigned long long)good,
	       (unsigned long long)still);
	/* The loop of a trial alone is two fifths of it. */
	ck_assert_uint_gt(claim, 2 * STEP_MOST / 5);
	ck_assert_uint_lt(claim, STEP_MOST);
	ck_assert_uint_lt(good, STEP_MOST);
	ck_assert_uint_gt(still, STEP_MOST);
	ck_assert_uint_lt(still, NO_OVERFLOW_MOST);
	dev_still_counts();
}
END_TEST

static bool has_still_rows(int fd)
{
	struct hwpmc_op_getcpuinfo info = { .ncpu = 0 };

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETCPUINFO, &info), 0);
	for (unsigned int i = 0; i < info.nnotes; i++)
		if (info.notes[i].reason == HWPMC_WHY_ROW_STILL)
			return true;
	return false;
}

START_TEST(a_row_that_comes_back_has_interrupts_off_for_few_instructions)
{
	uint64_t still, back;
	int fd;

	load_anew();
	freeze_counters(1);
	fd = dev_open();
	dev_alloc(fd, TC, 0, ANY, INSN, U);
	ck_assert(has_still_rows(fd));
	longest();
	dev_msleep(12000);
	still = longest();
	freeze_counters(0);
	for (int i = 0; i < 30 && has_still_rows(fd); i++)
		dev_msleep(1000);
	back = longest();
	ck_assert(!has_still_rows(fd));
	close(fd);
	printf("# interrupts off: %llu for a row that is tried again, %llu when it comes back\n",
	       (unsigned long long)still, (unsigned long long)back);
	/* The loop is a half of it. */
	ck_assert_uint_gt(still, STEP_MOST / 3);
	ck_assert_uint_lt(still, STEP_MOST);
	ck_assert_uint_lt(back, BACK_MOST);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(a_trial_has_interrupts_off_for_few_instructions);
	harness_add(a_row_that_comes_back_has_interrupts_off_for_few_instructions);
	return harness_run();
}
