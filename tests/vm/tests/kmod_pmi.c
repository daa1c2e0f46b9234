/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_pmi.c - interrupts that are late, lost, doubled or without a cause, as the
 * emulated PMU makes them on demand: overflows stay samples and declared drops,
 * counts stay exact, and the kernel is left no NMI to wonder about that is ours;
 * while those that are not ours stay the kernel's to report.
 */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "harness.h"
#include "../lib/kmod_pmi.h"

#define ROUNDS	1000000ul

static uint32_t sample(const char *event, int mode, uint32_t cpu, uint64_t period)
{
	return allocate(event, mode, mode == HWPMC_MODE_TS ? HWPMC_F_EXEC_START : 0,
			cpu, period);
}

/* Two of known length, on a CPU each or both on one; a count beside the samples. */
static void run_two(uint32_t id, int cpus)
{
	uint32_t counter = allocate("branches:u", TC, HWPMC_F_EXEC_START, ANY, 0);
	struct child c[2];
	uint64_t n;

	for (int i = 0; i < 2; i++) {
		c[i] = dev_loop(ROUNDS);
		dev_pin(c[i].pid, i % cpus);
		ok(hwpmc_attach(h, id, c[i].pid));
		ok(hwpmc_attach(h, counter, c[i].pid));
	}
	ok(hwpmc_start(h, counter));
	ok(hwpmc_start(h, id));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	ok(hwpmc_stop(h, id));
	ok(hwpmc_stop(h, counter));
	ok(hwpmc_read(h, counter, &n));
	ck_assert_uint_eq(n, 2 * loop_branches(ROUNDS));
	ok(hwpmc_release(h, counter));
}

/* ---- late ---------------------------------------------------------------- */

START_TEST(late_interrupts_lose_no_period)
{
	static const struct { uint64_t late, period; } cases[] = {
		{ 500, 10007 }, { 5000, 10007 }, { 5000, 2003 }, { 40000, 1009 },
	};
	uint64_t periods = 0;

	for (unsigned int i = 0; i < 4; i++) {
		uint32_t id = sample("instructions:u", HWPMC_MODE_TS, ANY,
				     cases[i].period);

		knob(VPMU_KNOB_LATE, cases[i].late);
		run_two(id, 2);
		ok(hwpmc_release(h, id));
		periods += 2 * (loop_insn(ROUNDS) / cases[i].period);
	}
	check_periods(periods);
	ck_assert_uint_gt(samples, 500);
	ck_assert_uint_gt(dropped[HWPMC_DROP_LATE], 500);
	check_no_unknown_nmi();
	all_is_well();
}
END_TEST

START_TEST(late_interrupts_of_whole_cpus_lose_no_overflow)
{
	uint32_t id[2];

	knob(VPMU_KNOB_LATE, 3000);
	for (int i = 0; i < 2; i++) {
		id[i] = sample("instructions", HWPMC_MODE_SS, i, 10007);
		ok(hwpmc_start(h, id[i]));
	}
	for (int i = 0; i < 2; i++) {
		dev_pin(getpid(), i);
		dev_spin(ROUNDS);
	}
	for (int i = 0; i < 2; i++)
		ok(hwpmc_stop(h, id[i]));
	check_conserved();
	ck_assert_uint_gt(samples, 300);
	check_no_unknown_nmi();
}
END_TEST

/* Two that take turns: each runs until it waits for the other. */
static int turn[2][2];

static void take_turns(void *arg)
{
	int me = *(int *)arg;
	char c = 0;

	for (int i = 0; i < 300; i++) {
		if (me + i > 0 && read(turn[me][0], &c, 1) != 1)
			_exit(1);
		dev_spin(1000);
		if (write(turn[!me][1], &c, 1) != 1)
			_exit(1);
	}
}

/*
 * The counter overflows, the thread goes, and then the interrupt comes. Another row
 * goes after it, which has nothing on its way.
 */
START_TEST(an_interrupt_that_comes_for_a_thread_that_left_is_a_declared_drop)
{
	uint64_t n, periods = 0;
	int who[2] = { 0, 1 };
	uint32_t id, quiet, counter[2];
	struct child c[2];

	/* Longer than a turn takes, the kernel's part included. */
	knob(VPMU_KNOB_LATE, 20000);
	id = allocate("instructions:u", HWPMC_MODE_TS, 0, ANY, 2003);
	quiet = allocate("branches:u", HWPMC_MODE_TS, 0, ANY, 1 << 30);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pipe(turn[i]), 0);
	for (int i = 0; i < 2; i++) {
		c[i] = dev_child(take_turns, &who[i]);
		ok(hwpmc_attach(h, id, c[i].pid));
		ok(hwpmc_attach(h, quiet, c[i].pid));
		counter[i] = allocate("instructions:u", TC, 0, ANY, 0);
		ok(hwpmc_attach(h, counter[i], c[i].pid));
		ok(hwpmc_start(h, counter[i]));
	}
	ok(hwpmc_start(h, id));
	ok(hwpmc_start(h, quiet));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	ok(hwpmc_stop(h, id));
	ok(hwpmc_stop(h, quiet));
	for (int i = 0; i < 2; i++) {
		ok(hwpmc_read(h, counter[i], &n));
		periods += n / 2003;
	}
	check_periods(periods);
	ck_assert_uint_gt(dropped[HWPMC_DROP_LATE], 50);
	check_no_unknown_nmi();
	all_is_well();
}
END_TEST

/* Each turn ends with several counters overflowed, and their interrupts come later. */
START_TEST(interrupts_of_several_counters_come_for_a_thread_that_left)
{
	static const uint64_t period[] = { 2003, 2203, 2503 };
	uint64_t n, sum, periods = 0;
	int who[2] = { 0, 1 };
	struct child c[2];
	uint32_t id[4];

	for (int i = 0; i < 4; i++)
		id[i] = i < 3 ? allocate("instructions:u", HWPMC_MODE_TS, 0, ANY, period[i]) :
				allocate("instructions:u", TC, 0, ANY, 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pipe(turn[i]), 0);
	for (int i = 0; i < 2; i++) {
		c[i] = dev_child(take_turns, &who[i]);
		dev_pin(c[i].pid, 1);
		for (int j = 0; j < 4; j++)
			ok(hwpmc_attach(h, id[j], c[i].pid));
	}
	knob(VPMU_KNOB_LATE, 20000);
	knob(VPMU_KNOB_QUEUE, 1);
	for (int i = 0; i < 4; i++)
		ok(hwpmc_start(h, id[i]));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	for (int i = 0; i < 4; i++)
		ok(hwpmc_stop(h, id[i]));
	dev_pin(getpid(), 1);
	dev_spin(100000);
	ok(hwpmc_read(h, id[3], &n));
	for (int i = 0; i < 3; i++)
		periods += n / period[i];
	sum = tally();
	/* Each thread has a period of each counter that did not end. */
	ck_assert_uint_le(sum, periods);
	ck_assert_uint_ge(sum, periods - 3);
	ck_assert_uint_gt(dropped[HWPMC_DROP_LATE], 200);
	check_no_unknown_nmi();
	all_is_well();
}
END_TEST

START_TEST(an_interrupt_on_its_way_when_all_ends_finds_nobody_and_nobody_wonders)
{
	knob(VPMU_KNOB_LATE, 20000);
	for (int i = 0; i < 20; i++) {
		uint32_t id;

		hwpmc_close(h);
		kmod_setup();
		begin();
		id = allocate("instructions:u", HWPMC_MODE_TS, 0, ANY, 30011);
		ok(hwpmc_start(h, id));
		/* Past the overflow, not yet at its interrupt. */
		dev_spin(11000);
		ok(hwpmc_release(h, id));
		dev_spin(11000);
	}
	check_no_unknown_nmi();
	knob(VPMU_KNOB_LATE, 0);
	all_is_well();
}
END_TEST

/* ---- several events ------------------------------------------------------- */

/* Three counters that overflow close to each other, also while an NMI is handled. */
static uint64_t sample_three(uint64_t late, bool queue)
{
	static const char *const event[] = { "instructions", "branches:u", "cycles" };
	struct child c[2];
	uint32_t id[3];
	uint64_t before;

	for (int i = 0; i < 3; i++)
		id[i] = allocate(event[i], HWPMC_MODE_TS, 0, ANY, 9001 + 2003 * i);
	for (int i = 0; i < 2; i++) {
		c[i] = dev_loop(2 * ROUNDS);
		dev_pin(c[i].pid, i);
		for (int j = 0; j < 3; j++)
			ok(hwpmc_attach(h, id[j], c[i].pid));
	}
	knob(VPMU_KNOB_LATE, late);
	knob(VPMU_KNOB_QUEUE, queue);
	before = access_count(VPMU_N_OVERFLOW_INT);
	for (int i = 0; i < 3; i++)
		ok(hwpmc_start(h, id[i]));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	for (int i = 0; i < 3; i++) {
		ok(hwpmc_stop(h, id[i]));
		ok(hwpmc_release(h, id[i]));
	}
	/* What is still on its way comes while nothing samples. */
	for (int i = 0; i < 2; i++) {
		dev_pin(getpid(), i);
		dev_spin(100000);
	}
	return access_count(VPMU_N_OVERFLOW_INT) - before;
}

/* On AMD nothing but the count of what is expected tells that these are the module's. */
START_TEST(with_three_events_no_late_interrupt_is_left_unknown)
{
	static const uint64_t late[] = { 0, 500, 3000 };
	uint64_t n = 0;

	for (int i = 0; i < 3; i++)
		n += sample_three(late[i], true);
	check_conserved();
	ck_assert_uint_gt(n, 1500);
	ck_assert_uint_gt(samples, 1500);
	check_no_unknown_nmi();
	all_is_well();
}
END_TEST

/* Where interrupts are merged fewer come than are expected; that lapses. */
START_TEST(what_three_events_left_expected_hides_no_foreign_nmi_later)
{
	expect_unknown_nmis();
	sample_three(3000, false);
	check_conserved();
	check_no_unknown_nmi();
	/* Longer than an interrupt can be on its way, and than the kernel is silent. */
	dev_msleep(6000);
	ck_assert_uint_eq(inject_unclaimed(4), 4);
	all_is_well();
}
END_TEST

/* As by some hypervisors for AMD; else the second interrupt of all would never come. */
START_TEST(sampling_goes_on_where_lvtpc_is_masked_at_each_delivery)
{
	uint32_t id;

	knob(VPMU_KNOB_LVTMASK, 1);
	id = sample("instructions:u", HWPMC_MODE_TS, ANY, 10007);
	run_two(id, 2);
	check_conserved();
	ck_assert_uint_eq(samples, 2 * (loop_insn(ROUNDS) / 10007));
	check_no_unknown_nmi();
	all_is_well();
}
END_TEST

/* Where it is unmasked first it comes once more, for the same overflow. */
START_TEST(an_overflow_is_acknowledged_before_its_interrupt_is_unmasked)
{
	uint64_t delivered;
	uint32_t id;

	knob(VPMU_KNOB_LEVEL, 1);
	id = sample("instructions:u", HWPMC_MODE_TS, ANY, 10007);
	delivered = access_count(VPMU_N_PMI);
	run_two(id, 2);
	delivered = access_count(VPMU_N_PMI) - delivered;
	check_conserved();
	ck_assert_uint_eq(samples, 2 * (loop_insn(ROUNDS) / 10007));
	ck_assert_uint_eq(delivered, samples);
	check_no_unknown_nmi();
	all_is_well();
}
END_TEST

/* ---- lost ---------------------------------------------------------------- */

static void spin_and_sleep(void *arg)
{
	for (int i = 0; i < 50; i++) {
		dev_spin(20000);
		dev_msleep(1);
	}
}

START_TEST(lost_interrupts_are_declared_at_the_next_switch_and_sampling_goes_on)
{
	struct child c;
	uint32_t id, counter;
	uint64_t lost, n;

	knob(VPMU_KNOB_LOST, 3);
	lost = access_count(VPMU_N_LOST);
	id = allocate("instructions:u", HWPMC_MODE_TS, 0, ANY, 10007);
	counter = allocate("instructions:u", TC, 0, ANY, 0);
	c = dev_child(spin_and_sleep, NULL);
	ok(hwpmc_attach(h, id, c.pid));
	ok(hwpmc_attach(h, counter, c.pid));
	ok(hwpmc_start(h, id));
	ok(hwpmc_start(h, counter));
	dev_go(&c);
	dev_wait(&c);
	ok(hwpmc_stop(h, id));
	ok(hwpmc_read(h, counter, &n));
	lost = access_count(VPMU_N_LOST) - lost;
	check_periods(n / 10007);
	ck_assert_uint_gt(lost, 5);
	ck_assert_uint_ge(dropped[HWPMC_DROP_LATE], lost);
	ck_assert_uint_ge(samples, lost);
	check_no_unknown_nmi();
	all_is_well();
}
END_TEST

/* Ends with the test, also where that is out of time. */
static void spin_alone(void *key)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		_exit(1);
	*(volatile uint64_t *)key = vpmu_key();
	for (;;)
		;
}

static unsigned long switches_of(pid_t pid)
{
	unsigned long n, sum = 0;
	char path[40], line[200];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %lu", &n) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %lu", &n) == 1)
			sum += n;
	fclose(f);
	return sum;
}

#define ALONE_PERIOD	1000003

/*
 * The program runs, and has executed a period since its switches were counted. A switch is
 * counted when it goes; when it comes the counter is armed, and has overflowed by now.
 */
static unsigned long switches_before_a_period(pid_t pid, volatile uint64_t *key)
{
	unsigned long switches = switches_of(pid);
	uint64_t end;

	while (!*key)
		dev_msleep(1);
	end = vpmu_space(*key, VPMU_USER_INSN) + 2 * ALONE_PERIOD;
	while (vpmu_space(*key, VPMU_USER_INSN) < end)
		dev_msleep(1);
	return switches;
}

/*
 * Waits until the counter of CPU 1 is armed again without a switch of the program, which
 * would do so as well; the kernel's own threads cause some. The log is not read meanwhile:
 * its worker on that CPU would be one of them.
 */
static void await_look(pid_t pid, volatile uint64_t *key)
{
	unsigned long before, after;
	uint64_t overflowed;

	do {
		before = switches_before_a_period(pid, key);
		overflowed = vpmu_access(VPMU_N_OVERFLOW_INT, 1);
		/* Without an interrupt a counter overflows once each time it is armed. */
		do {
			dev_msleep(20);
			after = switches_of(pid);
		} while (after == before &&
			 vpmu_access(VPMU_N_OVERFLOW_INT, 1) == overflowed);
		/* A switch is counted before it arms anything. */
		after = switches_of(pid);
	} while (after != before);
}

/* Not above all others in priority: the kernel's threads would starve, and the machine. */
START_TEST(a_lost_interrupt_of_a_program_that_never_gives_way_is_declared)
{
	volatile uint64_t *key = mmap(NULL, sizeof(*key), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct child c;
	uint32_t id;

	ck_assert_ptr_ne((void *)key, MAP_FAILED);
	/* It switches to a thread of its own on each CPU every four seconds. */
	dev_put("/proc/sys/kernel/soft_watchdog", "0");
	dev_pin(getpid(), 0);
	knob(VPMU_KNOB_LOST, 1);
	id = allocate("instructions:u", HWPMC_MODE_TS, 0, ANY, ALONE_PERIOD);
	c = dev_child(spin_alone, (void *)key);
	dev_pin(c.pid, 1);
	ok(hwpmc_attach(h, id, c.pid));
	ok(hwpmc_start(h, id));
	dev_go(&c);
	await_look(c.pid, key);
	/* It counts on, and the next one is found as well. */
	await_look(c.pid, key);
	ck_assert(!kill(c.pid, SIGKILL));
	ck_assert_int_eq(waitpid(c.pid, NULL, 0), c.pid);
	ok(hwpmc_stop(h, id));
	dev_put("/proc/sys/kernel/soft_watchdog", "1");
	tally();
	ck_assert_uint_eq(samples, 0);
	ck_assert_uint_ge(dropped[HWPMC_DROP_LATE], 2);
	check_no_unknown_nmi();
	all_is_well();
}
END_TEST

/* ---- armed too short ------------------------------------------------------ */

static void spin_and_give_way(void *arg)
{
	for (int i = 0; i < 3000; i++) {
		dev_spin(10 + i % 61);
		sched_yield();
	}
}

/* Two that take turns on a CPU, so that periods are cut anywhere. Returns the number of
 * events, by the name of the same event that other counters can count. */
static uint64_t cut_periods(const char *event, const char *same, uint64_t period)
{
	uint32_t id = allocate(event, HWPMC_MODE_TS, 0, ANY, period);
	uint32_t counter = allocate(same, TC, 0, ANY, 0);
	struct child c[2];
	uint64_t n;

	for (int i = 0; i < 2; i++) {
		c[i] = dev_child(spin_and_give_way, NULL);
		dev_pin(c[i].pid, 0);
		ok(hwpmc_attach(h, id, c[i].pid));
		ok(hwpmc_attach(h, counter, c[i].pid));
	}
	ok(hwpmc_start(h, id));
	ok(hwpmc_start(h, counter));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	ok(hwpmc_stop(h, id));
	ok(hwpmc_read(h, counter, &n));
	ok(hwpmc_release(h, counter));
	ok(hwpmc_release(h, id));
	return n;
}

/* Of each thread the last period is incomplete. */
static void check_cut_periods(uint64_t events, uint64_t period)
{
	uint64_t sum = tally();

	ck_assert_uint_le(sum, events / period);
	ck_assert_msg(sum + 2 > events / period,
		      "%lu events, %lu samples, %lu late", events, samples,
		      dropped[HWPMC_DROP_LATE]);
	ck_assert_uint_gt(samples, sum / 2);
}

static unsigned int cpu_model(void)
{
	unsigned int eax = 1, ebx, ecx = 0, edx;

	asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
	return (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
}

/* What counters of this processor need, by its manual; others need two. */
static uint64_t needed_arming(const char *event)
{
	bool all = strstr(event, "01c0");

	switch (cpu_model()) {
	case 60: case 63: case 69: case 70:		/* Haswell */
		return all ? 128 : 32;
	case 61: case 71: case 79: case 86:		/* Broadwell */
		return all ? 64 << 16 | 128 : 2;
	default:
		return 2;
	}
}

static void arm_too_short(const char *event, const char *same)
{
	uint64_t lost = access_count(VPMU_N_SHORT);
	uint64_t events;

	knob(VPMU_KNOB_SHORT, needed_arming(event));
	events = cut_periods(event, same, 1009);
	check_cut_periods(events, 1009);
	ck_assert_uint_eq(access_count(VPMU_N_SHORT) - lost, 0);
	check_no_unknown_nmi();
	all_is_well();
}

START_TEST(no_counter_is_armed_nearer_to_its_overflow_than_it_can_be)
{
	arm_too_short("instructions:u", "instructions:u");
}
END_TEST

/* INST_RETIRED.ALL, of which some models need more. AMD has no such event. */
START_TEST(nor_one_of_an_event_that_needs_more)
{
	if (vpmu_query(VPMU_REG, VPMU_REG_IS_AMD, 0))
		arm_too_short("branches:u", "branches:u");
	else
		arm_too_short("r01c0:u", "instructions:u");
}
END_TEST

/* ---- masked ---------------------------------------------------------------- */

/* What QEMU does once in a million NMIs; the emulated PMU mends it. */
static uint64_t late_where_nmis_stay_masked(uint64_t mask)
{
	uint32_t id = sample("instructions:u", HWPMC_MODE_TS, ANY, 2003);

	knob(VPMU_KNOB_MASK, mask);
	run_two(id, 2);
	ok(hwpmc_release(h, id));
	check_periods(2 * (loop_insn(ROUNDS) / 2003));
	check_no_unknown_nmi();
	return dropped[HWPMC_DROP_LATE];
}

START_TEST(no_interrupt_is_late_where_the_emulator_forgets_to_unmask_nmis)
{
	uint64_t unmasked = access_count(VPMU_N_UNMASKED);

	ck_assert_uint_eq(late_where_nmis_stay_masked(3), 0);
	ck_assert_uint_gt(access_count(VPMU_N_UNMASKED) - unmasked, samples / 4);
}
END_TEST

START_TEST(interrupts_that_nmis_wait_for_are_declared_late)
{
	ck_assert_uint_gt(late_where_nmis_stay_masked(3 | VPMU_MASK_STAYS), 20);
	all_is_well();
}
END_TEST

START_TEST(without_any_interrupt_each_period_is_still_accounted_for)
{
	uint32_t id;

	knob(VPMU_KNOB_LOST, 1);
	id = sample("instructions:u", HWPMC_MODE_TS, ANY, 10007);
	run_two(id, 1);
	check_periods(2 * (loop_insn(ROUNDS) / 10007));
	ck_assert_uint_eq(samples, 0);
	all_is_well();
}
END_TEST

/* ---- doubled, and without a cause ---------------------------------------- */

START_TEST(doubled_interrupts_are_one_sample_each)
{
	uint64_t doubled;
	uint32_t id;

	owner_of_foreign_nmis(true);
	doubled = access_count(VPMU_N_DOUBLED);
	knob(VPMU_KNOB_DOUBLE, 1);
	id = sample("instructions:u", HWPMC_MODE_TS, ANY, 10007);
	run_two(id, 2);
	doubled = access_count(VPMU_N_DOUBLED) - doubled;
	check_conserved();
	ck_assert_uint_eq(samples, 2 * (loop_insn(ROUNDS) / 10007));
	ck_assert_uint_eq(doubled, samples);
	check_no_unknown_nmi();
	owner_of_foreign_nmis(false);
	all_is_well();
}
END_TEST

static void in_a_storm(uint64_t every, bool as_pmi)
{
	/* Intel's APIC tells that the interrupt was the counters': it is ours. */
	bool foreign = !as_pmi || dev_is_amd();
	uint64_t storm = access_count(VPMU_N_STORM);
	uint32_t id;

	if (foreign)
		owner_of_foreign_nmis(true);
	/* The counters are ours first. */
	id = sample("instructions:u", HWPMC_MODE_TS, ANY, 10007);
	knob(VPMU_KNOB_STORM_PMI, as_pmi);
	knob(VPMU_KNOB_STORM, every);
	run_two(id, 2);
	storm = access_count(VPMU_N_STORM) - storm;
	check_conserved();
	ck_assert_uint_eq(samples, 2 * (loop_insn(ROUNDS) / 10007));
	ck_assert_uint_gt(storm, 50);
	check_no_unknown_nmi();
	if (foreign)
		owner_of_foreign_nmis(false);
	all_is_well();
}

START_TEST(in_a_storm_of_foreign_nmis_each_overflow_is_a_sample)
{
	in_a_storm(15013, false);
}
END_TEST

START_TEST(in_a_storm_of_interrupts_without_overflows_each_overflow_is_a_sample)
{
	in_a_storm(15013, true);
}
END_TEST

/*
 * Nowhere twice within thousands of instructions: the kernel forgives a second
 * NMI where the one before had hit.
 */
static void wander(void *arg)
{
	for (int i = 0; i < 1000; i++)
		asm volatile(".rept 1500; jmp 1f; 1: addq $1, %%rdx; .endr"
			     : : : "rdx", "cc");
}

/* Of so many NMIs, on both CPUs. */
static void storm_for(unsigned int nmis, uint64_t every)
{
	for (int cpu = 1; cpu >= 0; cpu--) {
		uint64_t storm = vpmu_access(VPMU_N_STORM, cpu);

		dev_pin(getpid(), cpu);
		vpmu_knob(VPMU_KNOB_STORM, every);
		while (vpmu_access(VPMU_N_STORM, cpu) - storm < nmis)
			dev_spin(1000);
	}
}

/*
 * A foreign NMI finds the overflow before its own interrupt comes. On AMD nothing tells where
 * an NMI is from, but that another handler has claimed such as found nothing: as many before
 * as can be remembered.
 */
START_TEST(an_interrupt_whose_overflow_another_nmi_has_found_is_expected)
{
	struct child c = dev_child(wander, NULL);
	uint32_t id;

	owner_of_foreign_nmis(true);
	id = allocate("instructions:u", HWPMC_MODE_TS, 0, ANY, 10007);
	ok(hwpmc_attach(h, id, c.pid));
	ok(hwpmc_start(h, id));
	storm_for(40, 15013);
	knob(VPMU_KNOB_LATE, 3000);
	dev_go(&c);
	dev_wait(&c);
	ok(hwpmc_stop(h, id));
	check_conserved();
	ck_assert_uint_ge(samples, 200);
	check_no_unknown_nmi();
	owner_of_foreign_nmis(false);
	all_is_well();
}
END_TEST

/* CPU 0 samples; another handler claims so many. The kernel tells of ten in five seconds. */
static uint32_t sample_beside(unsigned int claimed)
{
	uint32_t id;

	expect_unknown_nmis();
	dev_msleep(6000);
	unknown = dev_unknown_nmis();
	owner_of_foreign_nmis(true);
	id = allocate("instructions:u", HWPMC_MODE_SS, 0, 0, 10007);
	ok(hwpmc_start(h, id));
	storm_for(claimed, 50021);
	knob(VPMU_KNOB_STORM, 0);
	owner_of_foreign_nmis(false);
	return id;
}

START_TEST(claimed_nmis_hide_no_more_than_as_many_unclaimed_ones)
{
	uint32_t id = sample_beside(3);

	ck_assert_uint_ge(inject_apart(8, 3001), 8 - 3);
	ok(hwpmc_stop(h, id));
	all_is_well();
}
END_TEST

START_TEST(an_overflow_explains_one_unclaimed_nmi_at_most)
{
	uint32_t id = sample_beside(40);

	ok(hwpmc_stop(h, id));
	ck_assert_uint_ge(inject_unclaimed(4), 4 - 1);
	all_is_well();
}
END_TEST

START_TEST(claimed_nmis_of_long_ago_hide_nothing)
{
	uint32_t id = sample_beside(40);

	dev_msleep(2000);	/* longer than an NMI can be on its way */
	ck_assert_uint_eq(inject_apart(4, 3001), 4);
	ok(hwpmc_stop(h, id));
	all_is_well();
}
END_TEST

/* By one counter, or by two that overflow together. */
static void inject_foreign_nmis(int counters)
{
	unsigned int left;
	uint32_t id[2];

	expect_unknown_nmis();
	/* Since 6.12 the kernel tells of ten in five seconds: the last test had them. */
	dev_msleep(6000);
	if (counters > 1) {
		/* Both have overflowed when the NMI comes. AMD's raise one each. */
		knob(VPMU_KNOB_LATE, 3000);
		knob(VPMU_KNOB_QUEUE, dev_is_amd());
	}
	for (int i = 0; i < counters; i++)
		id[i] = allocate("instructions:u", HWPMC_MODE_TS, 0, ANY, 100003);
	for (int i = 0; i < counters; i++)
		ok(hwpmc_start(h, id[i]));
	left = inject_apart(4, 20011);
	dev_spin(5000000);
	for (int i = 0; i < counters; i++)
		ok(hwpmc_stop(h, id[i]));
	check_conserved();
	ck_assert_uint_gt(samples, 50);
	ck_assert_uint_eq(left, 4);
	ck_assert_uint_eq(dev_unknown_nmis() - unknown, 4);
	all_is_well();
}

START_TEST(nmis_of_unknown_origin_stay_the_kernels_to_report_while_sampling)
{
	inject_foreign_nmis(1);
}
END_TEST

/* Intel's drops the interrupt of the second one: it would be expected in vain. */
START_TEST(nmis_of_unknown_origin_stay_so_where_two_events_are_sampled)
{
	inject_foreign_nmis(2);
}
END_TEST

/* ---- firmware ------------------------------------------------------------ */

START_TEST(a_counter_that_firmware_starts_meanwhile_disturbs_no_count)
{
	unsigned int last = vpmu_reg(VPMU_REG_N_GENERAL, 0) - 1;
	/* Instructions of both modes. */
	const uint64_t runs = 0x4300c0;
	uint32_t id;

	/* Of the programmable class, which is ours from here on. */
	id = sample("branches:u", HWPMC_MODE_TS, ANY, 10007);
	for (int cpu = 0; cpu < 2; cpu++) {
		dev_pin(getpid(), cpu);
		vpmu_query(VPMU_FIRMWARE, last, runs);
	}
	dev_pin(getpid(), 0);
	run_two(id, 2);
	ck_assert_uint_eq(vpmu_reg(VPMU_REG_SELECT + last, 1), runs);
	check_conserved();
	ck_assert_uint_eq(samples, 2 * (loop_branches(ROUNDS) / 10007));
	check_no_unknown_nmi();
	/* With the hardware given back all of it stands still. */
	all_is_well();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(pmi_setup, NULL);
	harness_add(late_interrupts_lose_no_period);
	harness_add(late_interrupts_of_whole_cpus_lose_no_overflow);
	harness_add(an_interrupt_that_comes_for_a_thread_that_left_is_a_declared_drop);
	harness_add(interrupts_of_several_counters_come_for_a_thread_that_left);
	harness_add(an_interrupt_on_its_way_when_all_ends_finds_nobody_and_nobody_wonders);
	harness_add(with_three_events_no_late_interrupt_is_left_unknown);
	harness_add(what_three_events_left_expected_hides_no_foreign_nmi_later);
	harness_add(sampling_goes_on_where_lvtpc_is_masked_at_each_delivery);
	harness_add(an_overflow_is_acknowledged_before_its_interrupt_is_unmasked);
	harness_add(lost_interrupts_are_declared_at_the_next_switch_and_sampling_goes_on);
	harness_add_timed(a_lost_interrupt_of_a_program_that_never_gives_way_is_declared, 30);
	harness_add(no_counter_is_armed_nearer_to_its_overflow_than_it_can_be);
	harness_add(nor_one_of_an_event_that_needs_more);
	harness_add(no_interrupt_is_late_where_the_emulator_forgets_to_unmask_nmis);
	harness_add(interrupts_that_nmis_wait_for_are_declared_late);
	harness_add(without_any_interrupt_each_period_is_still_accounted_for);
	harness_add(doubled_interrupts_are_one_sample_each);
	harness_add(in_a_storm_of_foreign_nmis_each_overflow_is_a_sample);
	harness_add(in_a_storm_of_interrupts_without_overflows_each_overflow_is_a_sample);
	harness_add(an_interrupt_whose_overflow_another_nmi_has_found_is_expected);
	harness_add(claimed_nmis_hide_no_more_than_as_many_unclaimed_ones);
	harness_add(an_overflow_explains_one_unclaimed_nmi_at_most);
	harness_add(claimed_nmis_of_long_ago_hide_nothing);
	harness_add(nmis_of_unknown_origin_stay_the_kernels_to_report_while_sampling);
	harness_add(nmis_of_unknown_origin_stay_so_where_two_events_are_sampled);
	harness_add(a_counter_that_firmware_starts_meanwhile_disturbs_no_count);
	return harness_run();
}
