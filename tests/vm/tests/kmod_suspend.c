/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_suspend.c - the machine sleeps while PMCs run, and its counters forget all
 * (tests/vm/kmods/suspendmod.c): counts are those of a machine that stayed awake,
 * sampling goes on, nothing is left running.
 */
#include "harness.h"
#include "../lib/kmod_pmi.h"

#define NOW	"/sys/module/suspendmod/parameters/now"
#define ROUNDS	100000ul

static int now;

/* '1' sleeps, '0' executes the same instructions in user mode. */
static void nap(char really)
{
	ck_assert_msg(write(now, &really, 1) == 1, "%s", strerror(errno));
}

static void setup(void)
{
	kmod_setup();
	now = open(NOW, O_WRONLY);
	ck_assert_int_ge(now, 0);
}

static void prove(void)
{
	hwpmc_close(h);
	dev_check_registers_clear();
	dev_still_counts();
}

static uint64_t value_of(uint32_t id)
{
	uint64_t v;

	ok(hwpmc_read(h, id, &v));
	return v;
}

static uint64_t __attribute__((noinline)) window(uint32_t id, char really)
{
	uint64_t before = value_of(id);

	dev_spin(ROUNDS);
	nap(really);
	dev_spin(ROUNDS);
	return value_of(id) - before;
}

START_TEST(a_thread_that_goes_to_sleep_with_the_machine_is_counted_exactly)
{
	uint32_t id = allocate("instructions:u", HWPMC_MODE_TC, 0,
			       HWPMC_CPU_ANY, 0);
	uint64_t awake;

	ok(hwpmc_attach(h, id, 0));
	ok(hwpmc_start(h, id));
	window(id, '0');
	awake = window(id, '0');
	ck_assert_uint_gt(awake, 2 * 3 * ROUNDS);
	for (int i = 0; i < 20; i++)
		ck_assert_uint_eq(window(id, '1'), awake);
	ck_assert_uint_eq(window(id, '0'), awake);
}
END_TEST

START_TEST(a_program_that_sleeps_meanwhile_is_counted_exactly)
{
	struct child c = dev_loop(20000000);
	uint32_t id = allocate("instructions:u", HWPMC_MODE_TC,
			       HWPMC_F_EXEC_START, HWPMC_CPU_ANY, 0);

	ok(hwpmc_attach(h, id, c.pid));
	ok(hwpmc_start(h, id));
	dev_go(&c);
	for (int i = 0; i < 20; i++) {
		dev_msleep(5);
		nap('1');
	}
	dev_wait(&c);
	ck_assert_uint_eq(value_of(id), loop_insn(20000000));
}
END_TEST

START_TEST(system_scope_counts_on_after_the_machine_slept)
{
	uint32_t id = allocate("instructions:u", HWPMC_MODE_SC, 0, 0, 0);
	uint64_t truth, before, after;

	ok(hwpmc_start(h, id));
	/* The first time finds functions of libraries, too. */
	window(id, '0');
	truth = vpmu_vcpu(VPMU_USER_INSN);
	hwpmc_read(h, id, &before);
	for (int i = 0; i < 20; i++) {
		dev_spin(ROUNDS);
		nap('1');
	}
	hwpmc_read(h, id, &after);
	truth = vpmu_vcpu(VPMU_USER_INSN) - truth;
	ck_assert_uint_ge(after - before, 20 * 3 * ROUNDS);
	/* Most of two reads lies within one and without the other. */
	ck_assert_uint_le(after - before, truth);
	ck_assert_uint_lt(truth - (after - before), 200);
}
END_TEST

/* Of system scope, and never written: what is lost is not of the events meanwhile. */
START_TEST(clocks_that_begin_again_after_a_sleep_count_on)
{
	static const struct { uint32_t class, ev; } clock[] = {
		{ HWPMC_CLASS_PERF, HWPMC_EV_PERF_MPERF },
		{ HWPMC_CLASS_PERF, HWPMC_EV_PERF_APERF },
		{ HWPMC_CLASS_TSC, HWPMC_EV_TSC },
	};
	const uint64_t high = 1ull << 50;
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open();
	uint64_t before;

	for (unsigned int i = 0; i < 3; i++) {
		op = (struct hwpmc_op_pmcallocate){
			.mode = SC, .class = clock[i].class, .ev = clock[i].ev,
		};
		dev_ok(dev_allocate(fd, &op));
		vpmu_knob(VPMU_KNOB_CLOCK, high);
		dev_ok(dev_start(fd, op.pmcid));
		dev_spin(ROUNDS);
		before = dev_read(fd, op.pmcid);
		nap('1');
		dev_spin(ROUNDS);
		ck_assert_uint_gt(dev_read(fd, op.pmcid), before);
		ck_assert_uint_lt(dev_read(fd, op.pmcid), high);
	}
	close(fd);
}
END_TEST

START_TEST(sampling_goes_on_after_the_machine_slept)
{
	uint64_t period = 10007, n;
	uint32_t id[2];

	begin();
	id[0] = allocate("instructions:u", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0);
	id[1] = allocate("instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY,
			 period);
	for (int i = 0; i < 2; i++) {
		ok(hwpmc_attach(h, id[i], 0));
		ok(hwpmc_start(h, id[i]));
	}
	for (int i = 0; i < 20; i++)
		window(id[0], '1');
	ok(hwpmc_stop(h, id[1]));
	n = value_of(id[0]) / period;
	look();
	ck_assert_uint_eq(count(HWPMC_LOG_DROPNOTIFY), 0);
	ck_assert_uint_ge(count(HWPMC_LOG_CALLCHAIN) + 1, n);
	ck_assert_uint_le(count(HWPMC_LOG_CALLCHAIN), n + 1);
}
END_TEST

START_TEST(a_period_that_the_machine_slept_through_is_one_period)
{
	uint64_t period = 2 * 3 * ROUNDS + 5003, n;
	uint32_t id[2];

	begin();
	id[0] = allocate("instructions:u", HWPMC_MODE_SC, 0, 0, 0);
	id[1] = allocate("instructions:u", HWPMC_MODE_SS, 0, 0, period);
	for (int i = 0; i < 2; i++)
		ok(hwpmc_start(h, id[i]));
	for (int i = 0; i < 50; i++)
		window(id[0], '1');
	ok(hwpmc_stop(h, id[1]));
	n = value_of(id[0]) / period;
	look();
	ck_assert_uint_gt(n, 40);
	ck_assert_uint_ge(count(HWPMC_LOG_CALLCHAIN) + 1, n);
	ck_assert_uint_le(count(HWPMC_LOG_CALLCHAIN), n + 1);
}
END_TEST

/* The interrupt of an overflow that is lost in the sleep is expected no more after it. */
START_TEST(suspend_ends_the_wait_for_interrupts_of_before)
{
	uint64_t storm = vpmu_access(VPMU_N_STORM, 0), before = dev_unknown_nmis();
	uint32_t id;

	expect_unknown_nmis();
	begin();
	id = allocate("instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 30011);
	ok(hwpmc_attach(h, id, 0));
	vpmu_knob(VPMU_KNOB_LOST, 1);
	ok(hwpmc_start(h, id));
	dev_spin(11000);
	ok(hwpmc_release(h, id));
	vpmu_knob(VPMU_KNOB_LOST, 0);
	nap('1');
	vpmu_knob(VPMU_KNOB_STORM_LEFT, 1);
	vpmu_knob(VPMU_KNOB_STORM, 1009);
	while (vpmu_access(VPMU_N_STORM, 0) == storm)
		dev_spin(100);
	ck_assert_uint_eq(dev_unknown_nmis() - before, 1);
	vpmu_knob(VPMU_KNOB_STORM, 0);
}
END_TEST

static void try_sampling(int want)
{
	uint32_t id;
	int rc = hwpmc_allocate(h, "instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 30011, &id);

	ck_assert_msg(!rc == !want, "%s", rc ? hwpmc_error(h) : "allocated");
	if (want) {
		ck_assert_int_eq(errno, EOPNOTSUPP);
		ck_assert_uint_eq(hwpmc_reason(h), want);
	} else {
		ok(hwpmc_release(h, id));
	}
}

/* The machine may wake up elsewhere, where counters do not interrupt. */
START_TEST(suspend_has_the_interrupt_tried_again)
{
	begin();
	try_sampling(0);
	vpmu_knob(VPMU_KNOB_LOST, 1);
	try_sampling(0);
	nap('1');
	try_sampling(HWPMC_WHY_NO_INTERRUPT);
	vpmu_knob(VPMU_KNOB_LOST, 0);
	try_sampling(0);
}
END_TEST

int main(void)
{
	dev_setup();
	if (access(NOW, F_OK) && system("insmod build/vm/kmods/$(uname -r)/suspendmod.ko")) {
		printf("Bail out! cannot load the module that suspends\n");
		return 1;
	}
	harness_fixture(setup, prove);
	harness_add(a_thread_that_goes_to_sleep_with_the_machine_is_counted_exactly);
	harness_add(a_program_that_sleeps_meanwhile_is_counted_exactly);
	harness_add(system_scope_counts_on_after_the_machine_slept);
	harness_add(clocks_that_begin_again_after_a_sleep_count_on);
	harness_add(sampling_goes_on_after_the_machine_slept);
	harness_add(a_period_that_the_machine_slept_through_is_one_period);
	harness_add(suspend_ends_the_wait_for_interrupts_of_before);
	harness_add(suspend_has_the_interrupt_tried_again);
	return harness_run();
}
