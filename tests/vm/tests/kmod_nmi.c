/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_nmi.c - NMIs as real processors deliver them, and what others do in theirs: an interrupt
 * that is unmasked later than it was written, NMIs that are later than many periods.
 */
#include "harness.h"
#include "../lib/kmod_pmi.h"

#define ROUNDS	1000000ul

/* ---- the way of an interrupt ------------------------------------------------ */

/* Samples of all that CPU 0 executes, by two counters. */
static void sample_cpu(uint32_t id[2], const uint64_t period[2])
{
	for (int i = 0; i < 2; i++)
		id[i] = allocate("instructions", HWPMC_MODE_SS, 0, 0, period[i]);
	for (int i = 0; i < 2; i++)
		ok(hwpmc_start(h, id[i]));
}

static void stop_both(const uint32_t id[2])
{
	for (int i = 0; i < 2; i++)
		ok(hwpmc_stop(h, id[i]));
}

/*
 * The processor executes on while the APIC has not yet taken the write that unmasks the
 * counters' interrupt: what overflows then would raise none, and be seen by no look.
 */
START_TEST(no_overflow_is_lost_while_the_apic_unmasks_the_interrupt)
{
	static const uint64_t period[2] = { 5003, 4999 };
	uint64_t opened = access_count(VPMU_N_OPENED), late = access_count(VPMU_N_OPEN_LATE);
	uint32_t id[2];

	if (dev_is_amd())
		knob(VPMU_KNOB_LVTMASK, 1);
	knob(VPMU_KNOB_OPEN_LATE, 300);
	sample_cpu(id, period);
	dev_spin(2 * ROUNDS);
	stop_both(id);
	ck_assert_uint_gt(access_count(VPMU_N_OPENED) - opened, 500);
	ck_assert_uint_eq(access_count(VPMU_N_OPEN_LATE) - late, 0);
	check_conserved();
	check_no_unknown_nmi();
}
END_TEST

/*
 * As behind firmware or another long NMI. Of kernel mode an NMI's own events are not counted
 * towards the next period, but those of the periods that ended before it came are no NMI's:
 * at most what a handler executes from a counter's reading to its arming is lost.
 */
START_TEST(nmis_later_than_many_periods_declare_each_of_them)
{
	static const uint64_t period[2] = { 10007, 10007 };
	const uint64_t late = 100000, handler = 2000;
	uint64_t before, truth, nmis, sum;
	uint32_t id[2], counter;

	knob(VPMU_KNOB_LATE, late);
	counter = allocate("instructions", SC, 0, 0, 0);
	ok(hwpmc_start(h, counter));
	sample_cpu(id, period);
	ok(hwpmc_read(h, counter, &before));
	dev_spin(5 * ROUNDS);
	ok(hwpmc_read(h, counter, &truth));
	stop_both(id);
	truth -= before;
	sum = tally();
	nmis = truth / late + 1;
	ck_assert_uint_gt(dropped[HWPMC_DROP_LATE], 1000);
	ck_assert_msg(sum * period[0] <= 2 * (truth + 100000) &&
		      sum * period[0] + 2 * (nmis * handler + 100000) >= 2 * truth,
		      "%lu samples, %lu late, of %lu events", samples,
		      dropped[HWPMC_DROP_LATE], truth);
	check_no_unknown_nmi();
}
END_TEST

/* ---- perf's handler, while Intel PT is in use -------------------------------- */

static void run(const char *cmd)
{
	ck_assert_msg(!system(cmd), "%s", cmd);
}

static void setup(void)
{
	run("! lsmod | grep -q ^ptmod || rmmod ptmod");
	pmi_setup();
}

static void perf_comes_first(bool restores)
{
	char cmd[128];

	snprintf(cmd, sizeof(cmd), "insmod build/vm/kmods/$(uname -r)/ptmod.ko restore=%d",
		 restores);
	run(cmd);
}

/* NMIs of others meanwhile, each of which switches all counters of its CPU off. */
static void count_beside_perf(bool restores)
{
	uint32_t id = allocate("instructions:u", TC, HWPMC_F_EXEC_START, ANY, 0);
	struct child c = dev_loop(ROUNDS);
	uint64_t n, storm;

	dev_pin(c.pid, 1);
	ok(hwpmc_attach(h, id, c.pid));
	ok(hwpmc_start(h, id));
	owner_of_foreign_nmis(true);
	perf_comes_first(restores);
	storm = access_count(VPMU_N_STORM);
	knob(VPMU_KNOB_STORM, 100003);
	dev_go(&c);
	dev_wait(&c);
	knob(VPMU_KNOB_STORM, 0);
	run("rmmod ptmod");
	owner_of_foreign_nmis(false);
	ck_assert_uint_gt(access_count(VPMU_N_STORM) - storm, 10);
	ok(hwpmc_read(h, id, &n));
	ck_assert_uint_eq(n, loop_insn(ROUNDS));
	check_no_unknown_nmi();
}

/* In the first form perf has never used the CPU's counters, and leaves them off. */
START_TEST(counts_of_user_mode_are_exact_though_perf_switches_counters_off)
{
	/* A module that has sampled has its handler already; dev_setup() samples. */
	hwpmc_close(h);
	dev_fresh();
	kmod_setup();
	begin();
	count_beside_perf(false);
	count_beside_perf(true);
	/* It tries its interrupts once: not in the next test, which counts overflows. */
	ok(hwpmc_release(h, allocate("instructions:u", HWPMC_MODE_SS, 0, 0, 1 << 30)));
}
END_TEST

static void sample_beside_perf(bool restores)
{
	static const uint64_t period[2] = { 10007, 10007 };
	struct child c = dev_loop(ROUNDS);
	uint32_t id[2];

	for (int i = 0; i < 2; i++) {
		id[i] = allocate("instructions:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START, ANY,
				 period[i]);
		ok(hwpmc_attach(h, id[i], c.pid));
	}
	for (int i = 0; i < 2; i++)
		ok(hwpmc_start(h, id[i]));
	perf_comes_first(restores);
	dev_go(&c);
	dev_wait(&c);
	run("rmmod ptmod");
	stop_both(id);
	for (int i = 0; i < 2; i++)
		ok(hwpmc_release(h, id[i]));
}

START_TEST(sampling_goes_on_though_perf_switches_counters_off)
{
	sample_beside_perf(false);
	sample_beside_perf(true);
	check_conserved();
	ck_assert_uint_eq(samples, 2 * 2 * (loop_insn(ROUNDS) / 10007));
	check_no_unknown_nmi();
}
END_TEST

/* The counters of AMD have no such handler before them. */
static void add_tests_of_intel(void)
{
	if (dev_is_amd())
		return;
	harness_add(counts_of_user_mode_are_exact_though_perf_switches_counters_off);
	harness_add(sampling_goes_on_though_perf_switches_counters_off);
}

int main(void)
{
	dev_setup();
	harness_fixture(setup, all_is_well);
	harness_add(no_overflow_is_lost_while_the_apic_unmasks_the_interrupt);
	harness_add(nmis_later_than_many_periods_declare_each_of_them);
	add_tests_of_intel();
	return harness_run();
}
