/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_pmi_long.c - $PMI_SECONDS of three events that sample while their interrupts come late,
 * in rounds of a log each: the kernel is left no NMI to wonder about, and no overflow is lost.
 * Then perf with the same events and interrupts as late, as the control. kmod_pmi.c has the
 * short form, and what else can go wrong with an interrupt.
 */
#include <stdlib.h>
#include <time.h>

#include "harness.h"
#include "../lib/kmod_rec.h"

#define ROUNDS	1000000ul

static const uint64_t lateness[] = { 0, 500, 3000, 10000 };
#define LATENESSES	(sizeof(lateness) / sizeof(*lateness))

static int seconds(void)
{
	const char *text = getenv("PMI_SECONDS");

	return text ? atoi(text) : 6;
}

/* Each vCPU has its own. */
static void interrupts_are_late(uint64_t late)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_pin(getpid(), cpu);
		vpmu_knob(VPMU_KNOB_LATE, late);
		/* None is merged with another that is on its way. */
		vpmu_knob(VPMU_KNOB_QUEUE, !!late);
	}
	dev_pin(getpid(), 0);
}

static void setup(void)
{
	interrupts_are_late(0);
}

static uint64_t overflow_count(void)
{
	return vpmu_access(VPMU_N_OVERFLOW_INT, VPMU_ALL_VCPUS);
}

/* Three counters that overflow close to each other, on both CPUs. */
static void sample_three(uint64_t late)
{
	static const char *const event[] = { "instructions", "branches:u", "cycles" };
	struct child c[2];
	uint32_t id[3];

	for (int i = 0; i < 3; i++)
		id[i] = allocate(event[i], HWPMC_MODE_TS, 0, ANY, 9001 + 2003 * i);
	for (int i = 0; i < 2; i++) {
		c[i] = dev_loop(2 * ROUNDS);
		dev_pin(c[i].pid, i);
		for (int j = 0; j < 3; j++)
			ok(hwpmc_attach(h, id[j], c[i].pid));
	}
	interrupts_are_late(late);
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
	interrupts_are_late(0);
}

/* The copies that look() has made: hundreds of rounds would fill the memory. */
static void forget_records(void)
{
	while (nrec)
		free((void *)rec[--nrec].hdr);
}

/* Samples and drops of the log. */
static uint64_t accounted(uint64_t *samples)
{
	uint64_t sum = 0;

	look();
	*samples += count(HWPMC_LOG_CALLCHAIN);
	sum = count(HWPMC_LOG_CALLCHAIN);
	for (unsigned int i = 0; i < nrec; i++)
		for (int j = 0; j < HWPMC_DROP_FIXED; j++)
			if (rec[i].hdr->type == HWPMC_LOG_DROPNOTIFY)
				sum += rec[i].drop->samples[j];
	forget_records();
	return sum;
}

static void sample_three_for(time_t length)
{
	uint64_t unknown = dev_unknown_nmis(), overflows = 0, samples = 0;
	time_t begun = time(NULL);
	unsigned int rounds;

	for (rounds = 0; rounds < LATENESSES || time(NULL) - begun < length; rounds++) {
		uint64_t before, here;

		kmod_setup();
		begin();
		before = overflow_count();
		sample_three(lateness[rounds % LATENESSES]);
		here = overflow_count() - before;
		/* Where an interrupt comes a period late there are more periods than overflows. */
		ck_assert_uint_ge(accounted(&samples), here);
		ck_assert_uint_eq(dev_unknown_nmis() - unknown, 0);
		overflows += here;
		hwpmc_close(h);
	}
	printf("# hwpmc: %u rounds, %llu overflows, %llu samples, unknown NMIs 0\n", rounds,
	       (unsigned long long)overflows, (unsigned long long)samples);
	ck_assert_uint_gt(samples, overflows / 2);
}

/* perf on the same counters. */
static void let_perf_sample_three_for(time_t length)
{
	uint64_t unknown = dev_unknown_nmis(), overflows = overflow_count();
	time_t begun = time(NULL);
	unsigned int rounds;

	for (rounds = 0; rounds < LATENESSES || time(NULL) - begun < length; rounds++) {
		interrupts_are_late(lateness[rounds % LATENESSES]);
		ck_assert_int_eq(system("perf record -a -q -c 9001 -o /dev/null"
					" -e instructions,branches:u,cycles --"
					" build/vm/progs/loop 2000000 >/dev/null 2>&1"), 0);
	}
	interrupts_are_late(0);
	printf("# perf: %u rounds, %llu overflows, unknown NMIs %llu\n", rounds,
	       (unsigned long long)(overflow_count() - overflows),
	       (unsigned long long)(dev_unknown_nmis() - unknown));
	ck_assert_uint_eq(dev_unknown_nmis() - unknown, 0);
}

START_TEST(in_minutes_of_three_events_no_late_interrupt_is_left_unknown)
{
	sample_three_for(seconds());
	dev_expect("perf: interrupt took too long");
	let_perf_sample_three_for(seconds() / 5);
	kmod_setup();
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, NULL);
	harness_add_timed(in_minutes_of_three_events_no_late_interrupt_is_left_unknown,
			  2 * seconds() + 120);
	return harness_run();
}
