// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_ibs_samples.c - class IBS: the samples of all CPUs, or of threads on any CPU, are those
 * that the emulated PMU says that it took, by number, mode and sums of all recorded words; the
 * others are declared drops; errata and late interrupts change nothing of that.
 */
#define _GNU_SOURCE
#include <cpuid.h>

#include "harness.h"
#include "../lib/kmod_ibs_log.h"

#define CNT_OPS		BIT(19)
#define L3MISS		BIT(16)
#define LDLAT(n)	(BIT(63) | (uint64_t)((n) / 128 - 1) << 59)
#define MSR_OP_CTL	0xc0011033
#define CAP_ZEN4	BIT(11)
#define CAP_BIT63	BIT(15)
#define CAP_LDLAT	BIT(12)

START_TEST(ibs_ops_of_each_cpu_equal_the_oracle)
{
	struct session s;
	uint32_t id[CPUS];

	begin_ibs(&s);
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_OP, cpu, ALL, 0, 0, 4001, &id[cpu]));
	note_oracle();
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		ok(&s, hwpmc_start(s.h, id[cpu]));
	work_on_each_cpu(20);
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		ok(&s, hwpmc_stop(s.h, id[cpu]));
	end_ibs(&s);
	check_ops(&s, 0);
	check_sums(&s);
	ck_assert_uint_eq(inexact, 0);
	end(&s);
}
END_TEST

/* Two processes that move between CPUs, with system calls, sleeps and switches. */
static void wander(void *arg)
{
	for (int i = 0; i < 30; i++) {
		dev_pin(0, i % dev_cpus());
		work((void *)3);
		if (i % 5 == 0)
			dev_msleep(1);
	}
}

static void sample_wanderers(struct session *s, uint32_t flags, uint32_t mode_caps,
			     uint64_t config, uint64_t period)
{
	struct child c[2];
	uint32_t id;

	begin_ibs(s);
	ok(s, allocate_ibs(s, HWPMC_EV_IBS_OP, ANY, flags, config, mode_caps, period, &id));
	for (int i = 0; i < 2; i++) {
		c[i] = dev_child(wander, NULL);
		ok(s, hwpmc_attach(s->h, id, c[i].pid));
	}
	note_oracle();
	ok(s, hwpmc_start(s->h, id));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	ok(s, hwpmc_stop(s->h, id));
	end_ibs(s);
}

START_TEST(ibs_ops_of_threads_that_migrate_equal_the_oracle)
{
	struct session s;

	sample_wanderers(&s, ALL, 0, 0, 3001);
	check_ops(&s, 0);
	check_sums(&s);
	end(&s);
}
END_TEST

START_TEST(ibs_ops_of_user_mode_drop_the_others_as_filtered)
{
	struct session s;

	sample_wanderers(&s, HWPMC_F_EXACT, HWPMC_CAP_USER, 0, 3001);
	/* Zen 6 filters them itself. */
	check_ops(&s, has(CAP_BIT63) ? 0 : oracle[VPMU_IBS_OP] - oracle[VPMU_IBS_OP_USER] -
		  s.t.dropped[HWPMC_DROP_LATE]);
	ck_assert_uint_eq(seen[VPMU_IBS_OP_USER], seen[VPMU_IBS_OP]);
	/* Address only: no PRECISE record. */
	ck_assert_uint_eq(s.t.samples, seen[VPMU_IBS_OP]);
	end(&s);
}
END_TEST

START_TEST(ibs_ops_of_kernel_mode_drop_the_others_as_filtered)
{
	struct session s;

	sample_wanderers(&s, HWPMC_F_EXACT, HWPMC_CAP_SYSTEM, 0, 3001);
	ck_assert_uint_eq(seen[VPMU_IBS_OP_USER], 0);
	ck_assert_uint_eq(s.t.dropped[HWPMC_DROP_FILTERED], oracle[VPMU_IBS_OP_USER]);
	check_number(&s, seen[VPMU_IBS_OP], oracle[VPMU_IBS_OP]);
	end(&s);
}
END_TEST

/* ---- filters, errata, late interrupts --------------------------------------------- */

static unsigned int family(void)
{
	unsigned int a, b, c, d;

	__cpuid(1, a, b, c, d);
	return (a >> 8 & 15) + (a >> 20 & 255);
}

/* The oracle counts what a filter lets pass; the rest is no sample. */
START_TEST(ibs_filters_leave_the_ops_that_the_oracle_lets_pass)
{
	struct session s;

	if (!has(CAP_ZEN4)) {
		uint32_t id;

		begin(&s, NONE, 0);
		ck_assert_int_eq(allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, HWPMC_F_EXACT,
					      CNT_OPS | L3MISS, 0, 3001, &id), -1);
		ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_EVENT_BITS);
		end(&s);
		return;
	}
	sample_wanderers(&s, ALL, 0, CNT_OPS | L3MISS, 300);
	check_ops(&s, 0);
	check_sums(&s);
	ck_assert_uint_gt(oracle[VPMU_IBS_OP_FILTERED], oracle[VPMU_IBS_OP]);
	end(&s);
	if (!has(CAP_LDLAT))
		return;
	sample_wanderers(&s, ALL, 0, CNT_OPS | LDLAT(256), 300);
	check_number(&s, seen[VPMU_IBS_OP], oracle[VPMU_IBS_OP]);
	/* Each one that the log has is a slow load. */
	ck_assert_uint_eq(seen[VPMU_IBS_OP_LOAD], seen[VPMU_IBS_OP]);
	ck_assert_uint_gt(seen[VPMU_IBS_OP], 20);
	end(&s);
}
END_TEST

START_TEST(ibs_cycles_of_threads_equal_the_oracle)
{
	struct session s;

	sample_wanderers(&s, ALL | HWPMC_F_EV_PMU, 0, 0, 3001);
	check_ops(&s, 0);
	check_sums(&s);
	end(&s);
}
END_TEST

START_TEST(ibs_sample_without_address_has_that_of_the_interrupt)
{
	struct session s;

	set_knob(VPMU_KNOB_IBS_RIP_INVALID, 5);
	sample_wanderers(&s, ALL, 0, CNT_OPS, 3001);
	set_knob(VPMU_KNOB_IBS_RIP_INVALID, 0);
	if (!has(BIT(7))) {
		end(&s);
		return;
	}
	printf("# %llu without address of %llu\n", (unsigned long long)inexact,
	       (unsigned long long)seen[VPMU_IBS_OP]);
	check_number(&s, seen[VPMU_IBS_OP], oracle[VPMU_IBS_OP]);
	ck_assert_uint_eq(inexact, oracle[VPMU_IBS_OP_INVALID]);
	ck_assert_uint_gt(inexact, 100);
	if (!all_drops(&s))
		ck_assert_uint_eq(seen[VPMU_IBS_OP_RIP], oracle[VPMU_IBS_OP_RIP]);
	end(&s);
}
END_TEST

/* Of a PMC of user mode no sample is of the kernel, with or without an address. */
START_TEST(ibs_sample_without_address_is_filtered_by_the_interrupt)
{
	struct session s;

	set_knob(VPMU_KNOB_IBS_RIP_INVALID, 2);
	sample_wanderers(&s, HWPMC_F_EXACT, HWPMC_CAP_USER, CNT_OPS, 3001);
	set_knob(VPMU_KNOB_IBS_RIP_INVALID, 0);
	ck_assert_uint_eq(seen[VPMU_IBS_OP_USER], seen[VPMU_IBS_OP]);
	check_number(&s, seen[VPMU_IBS_OP], oracle[VPMU_IBS_OP]);
	ck_assert_uint_gt(seen[VPMU_IBS_OP], 100);
	end(&s);
}
END_TEST

static void sample_with_late_nmis(uint64_t knob)
{
	uint64_t late = vpmu_ibs(VPMU_IBS_LATE, VPMU_ALL_VCPUS);
	struct session s;

	set_knob(VPMU_KNOB_IBS_LATE, knob);
	sample_wanderers(&s, ALL, 0, CNT_OPS, 3001);
	set_knob(VPMU_KNOB_IBS_LATE, 0);
	ck_assert_uint_gt(vpmu_ibs(VPMU_IBS_LATE, VPMU_ALL_VCPUS) - late, 20);
	check_ops(&s, 0);
	check_sums(&s);
	end(&s);
}

START_TEST(ibs_nmis_after_a_stop_are_not_unknown)
{
	sample_with_late_nmis(60);
	sample_with_late_nmis(2000);
	sample_with_late_nmis(500 | VPMU_IBS_LATE_VAL);
}
END_TEST

START_TEST(ibs_erratum_420_raises_no_storm_of_nmis)
{
	uint64_t stuck = vpmu_ibs(VPMU_IBS_STUCK, VPMU_ALL_VCPUS);
	struct session s;

	set_knob(VPMU_KNOB_IBS_STUCK, family() == 0x10 ? 500 : 0);
	sample_wanderers(&s, ALL, 0, CNT_OPS, 3001);
	set_knob(VPMU_KNOB_IBS_STUCK, 0);
	check_ops(&s, 0);
	/* The stop writes twice: one may come in between. */
	ck_assert_uint_lt(vpmu_ibs(VPMU_IBS_STUCK, VPMU_ALL_VCPUS) - stuck, 10);
	end(&s);
}
END_TEST

static void sample_fetches(struct session *s, uint64_t period)
{
	uint32_t id[CPUS];

	begin_ibs(s);
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		ok(s, allocate_ibs(s, HWPMC_EV_IBS_FETCH, cpu, HWPMC_F_EXACT | HWPMC_F_MEMORY, 0,
				   0, period, &id[cpu]));
	fetch_row = HWPMC_ID_ROW(id[0]);
	note_oracle();
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		ok(s, hwpmc_start(s->h, id[cpu]));
	work_on_each_cpu(20);
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		ok(s, hwpmc_stop(s->h, id[cpu]));
	end_ibs(s);
	printf("# %llu fetches, %llu filtered, of %llu\n",
	       (unsigned long long)seen[VPMU_IBS_FETCH],
	       (unsigned long long)s->t.dropped[HWPMC_DROP_FILTERED],
	       (unsigned long long)oracle[VPMU_IBS_FETCH]);
	ck_assert_uint_gt(seen[VPMU_IBS_FETCH], 100);
	check_number(s, seen[VPMU_IBS_FETCH], oracle[VPMU_IBS_FETCH]);
}

START_TEST(ibs_fetches_of_each_cpu_equal_the_oracle)
{
	struct session s;

	sample_fetches(&s, 1009);
	ck_assert_uint_eq(s.t.dropped[HWPMC_DROP_FILTERED], 0);
	if (!all_drops(&s)) {
		ck_assert_uint_eq(seen[VPMU_IBS_FETCH_LIN], oracle[VPMU_IBS_FETCH_LIN]);
		ck_assert_uint_eq(seen[VPMU_IBS_FETCH_PHYS], oracle[VPMU_IBS_FETCH_PHYS]);
		ck_assert_uint_eq(seen[VPMU_IBS_FETCH_USER], oracle[VPMU_IBS_FETCH_USER]);
	}
	end(&s);
}
END_TEST

START_TEST(ibs_fetches_at_address_0_are_filtered)
{
	struct session s;

	set_knob(VPMU_KNOB_IBS_FETCH_ZERO, 4);
	sample_fetches(&s, 1009);
	set_knob(VPMU_KNOB_IBS_FETCH_ZERO, 0);
	ck_assert_uint_gt(s.t.dropped[HWPMC_DROP_FILTERED] * 5, oracle[VPMU_IBS_FETCH]);
	if (!s.t.dropped[HWPMC_DROP_LATE])
		ck_assert_uint_eq(seen[VPMU_IBS_FETCH_LIN], oracle[VPMU_IBS_FETCH_LIN]);
	end(&s);
}
END_TEST

static uint64_t fetches_of_work(void)
{
	struct child c = dev_child(work, (void *)30);
	struct session s;
	uint32_t id;

	begin_ibs(&s);
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_FETCH, ANY, HWPMC_F_EXACT, 0, 0, 1009, &id));
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	dev_pin(c.pid, 0);
	note_oracle();
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	end_ibs(&s);
	end(&s);
	return oracle[VPMU_IBS_FETCH];
}

/* Families 16h to 18h: without the second write the count would go on, and the next period would
 * begin with it. */
START_TEST(ibs_fetch_periods_begin_at_0_though_a_write_keeps_the_count)
{
	uint64_t before_knob = fetches_of_work(), with;

	set_knob(VPMU_KNOB_IBS_FETCH_KEEP, family() >= 0x16 && family() <= 0x18);
	with = fetches_of_work();
	set_knob(VPMU_KNOB_IBS_FETCH_KEEP, 0);
	printf("# %llu and %llu fetches\n", (unsigned long long)before_knob,
	       (unsigned long long)with);
	ck_assert_uint_gt(before_knob, 100);
	ck_assert_uint_lt(with * 10, before_knob * 11);
}
END_TEST

/* ---- switches -------------------------------------------------------------------- */

static int ping[2][2];

static void play(void *arg)
{
	long me = (long)arg;
	char c = 0;

	for (int i = 0; i < 300; i++) {
		if ((!me && write(ping[1][1], &c, 1) != 1) || read(ping[me][0], &c, 1) != 1 ||
		    (me && write(ping[0][1], &c, 1) != 1))
			_exit(1);
	}
}

/* Two threads of a CPU that wait for each other: a switch each few thousand ops. */
/* Returns the instructions that they executed, by a counter. */
static uint64_t sample_players(struct session *s, uint64_t period)
{
	struct child c[2];
	uint32_t id, count;
	uint64_t value;

	ck_assert(!pipe(ping[0]) && !pipe(ping[1]));
	begin_ibs(s);
	ok(s, allocate_ibs(s, HWPMC_EV_IBS_OP, ANY, ALL, 0, 0, period, &id));
	ok(s, hwpmc_allocate(s->h, "instructions:uk", HWPMC_MODE_TC, 0, ANY, 0, &count));
	for (long i = 0; i < 2; i++) {
		c[i] = dev_child(play, (void *)i);
		dev_pin(c[i].pid, 0);
		ok(s, hwpmc_attach(s->h, id, c[i].pid));
		ok(s, hwpmc_attach(s->h, count, c[i].pid));
	}
	note_oracle();
	ok(s, hwpmc_start(s->h, count));
	ok(s, hwpmc_start(s->h, id));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	ok(s, hwpmc_stop(s->h, id));
	ok(s, hwpmc_stop(s->h, count));
	ok(s, hwpmc_read(s->h, count, &value));
	end_ibs(s);
	for (int i = 0; i < 4; i++)
		close(ping[i / 2][i % 2]);
	return value;
}

/* Many stops are close to an overflow. */
START_TEST(ibs_ops_at_many_switches_equal_the_oracle)
{
	struct session s;

	sample_players(&s, 3001);
	check_ops(&s, 0);
	check_sums(&s);
	end(&s);
}
END_TEST

/* A period that is longer than each slice ends all the same, and as often as it should. */
START_TEST(ibs_rest_of_a_period_goes_on_after_a_switch)
{
	uint64_t ops, samples;
	struct session s;

	/* The counter has the instructions of the handler of NMIs as well. */
	ops = sample_players(&s, 50000);
	samples = seen[VPMU_IBS_OP] + all_drops(&s);
	printf("# %llu ops, %llu samples\n", (unsigned long long)ops, (unsigned long long)samples);
	ck_assert_uint_gt(ops, 20 * 50000);
	ck_assert_uint_gt(samples * 50000 * 10, ops * 8);
	ck_assert_uint_lt(samples * 50000 * 10, ops * 12);
	end(&s);
}
END_TEST

/* The threads are switched in on a CPU that is about to go, and go on elsewhere. */
START_TEST(ibs_ops_of_threads_go_on_while_cpus_come_and_go)
{
	struct child c[3];
	struct session s;
	uint32_t id;

	if (dev_cpus() < 2) {
		printf("# one CPU: none can go\n");
		return;
	}
	begin_ibs(&s);
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, ALL, 0, 0, 3001, &id));
	for (int i = 0; i < 3; i++) {
		c[i] = dev_child(work, (void *)200);
		ok(&s, hwpmc_attach(s.h, id, c[i].pid));
	}
	note_oracle();
	ok(&s, hwpmc_start(s.h, id));
	for (int i = 0; i < 3; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 4; i++) {
		dev_put("/sys/devices/system/cpu/cpu1/online", "0");
		dev_msleep(5);
		dev_put("/sys/devices/system/cpu/cpu1/online", "1");
		dev_msleep(5);
	}
	for (int i = 0; i < 3; i++)
		dev_wait(&c[i]);
	ok(&s, hwpmc_stop(s.h, id));
	end_ibs(&s);
	check_ops(&s, 0);
	check_sums(&s);
	end(&s);
}
END_TEST

/* ---- others --------------------------------------------------------------------- */

static void check_unprivileged(void *unused)
{
	struct session s;
	uint32_t id;

	begin_looking(&s, NONE, 0, look);
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, ALL, 0, HWPMC_CAP_USER, 999, &id));
	ok(&s, hwpmc_attach(s.h, id, 0));
	ok(&s, hwpmc_start(s.h, id));
	work((void *)20);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	ck_assert_uint_gt(seen[VPMU_IBS_OP], 100);
	ck_assert_uint_gt(seen[VPMU_IBS_OP_LIN], 0);
	ck_assert_uint_eq(seen[VPMU_IBS_OP_PHYS], 0);
	ck_assert_uint_eq(seen[VPMU_IBS_OP_USER], seen[VPMU_IBS_OP]);
	end(&s);
}

START_TEST(ibs_owner_without_privilege_gets_no_physical_address)
{
	memset(seen, 0, sizeof(seen));
	fetch_row = -1;
	dev_as(NOBODY, check_unprivileged, NULL);
}
END_TEST

START_TEST(ibs_claim_is_refused_while_another_samples)
{
	struct session s;
	uint32_t id;

	begin(&s, NONE, 0);
	/* Enabled, with nothing to count to: it never interrupts. */
	dev_wrmsr(1 % dev_cpus(), MSR_OP_CTL, BIT(17));
	ck_assert_int_eq(allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, HWPMC_F_EXACT, 0, 0, 3001, &id), -1);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_IBS_IN_USE);
	ck_assert_int_eq(hwpmc_detail(s.h), (int)MSR_OP_CTL);
	dev_wrmsr(1 % dev_cpus(), MSR_OP_CTL, 0);
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, HWPMC_F_EXACT, 0, 0, 3001, &id));
	end(&s);
	ck_assert_uint_eq(dev_rdmsr(0, MSR_OP_CTL), 0);
}
END_TEST

START_TEST(ibs_requests_that_it_cannot_serve_are_refused)
{
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_IBS, .ev = HWPMC_EV_IBS_OP, .mode = HWPMC_MODE_TC,
		.cpu = ANY,
	};
	struct session s;
	uint32_t id;

	begin(&s, NONE, 0);
	ck_assert_int_eq(hwpmc_allocate_raw(s.h, &op), -1);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_CAPS);
	ck_assert_int_eq(allocate_ibs(&s, HWPMC_EV_IBS_OP + 1, ANY, 0, 0, 0, 3001, &id), -1);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_EVENT);
	ck_assert_int_eq(allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, 0, BIT(18), 0, 3001, &id), -1);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_EVENT_BITS);
	ck_assert_int_eq(allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, HWPMC_F_REGISTERS, 0, 0, 3001,
				      &id), -1);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_PAYLOAD);
	end(&s);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(ibs_setup, NULL);
	harness_add(ibs_ops_of_each_cpu_equal_the_oracle);
	harness_add(ibs_ops_of_threads_that_migrate_equal_the_oracle);
	harness_add(ibs_ops_of_user_mode_drop_the_others_as_filtered);
	harness_add(ibs_ops_of_kernel_mode_drop_the_others_as_filtered);
	harness_add(ibs_filters_leave_the_ops_that_the_oracle_lets_pass);
	harness_add(ibs_cycles_of_threads_equal_the_oracle);
	harness_add(ibs_sample_without_address_has_that_of_the_interrupt);
	harness_add(ibs_sample_without_address_is_filtered_by_the_interrupt);
	harness_add(ibs_nmis_after_a_stop_are_not_unknown);
	harness_add(ibs_erratum_420_raises_no_storm_of_nmis);
	harness_add(ibs_fetches_of_each_cpu_equal_the_oracle);
	harness_add(ibs_fetches_at_address_0_are_filtered);
	harness_add(ibs_fetch_periods_begin_at_0_though_a_write_keeps_the_count);
	harness_add(ibs_ops_at_many_switches_equal_the_oracle);
	harness_add(ibs_rest_of_a_period_goes_on_after_a_switch);
	harness_add(ibs_ops_of_threads_go_on_while_cpus_come_and_go);
	harness_add(ibs_owner_without_privilege_gets_no_physical_address);
	harness_add(ibs_claim_is_refused_while_another_samples);
	harness_add(ibs_requests_that_it_cannot_serve_are_refused);
	return harness_run();
}
