// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_ibs_life.c - class IBS over the lives of threads and CPUs: exec, fork, exit and CPUs that
 * come and go, while counters sample the same threads. The samples are those that the emulated
 * PMU says that it took, and its overflows; the others are declared drops.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <pthread.h>

#include "harness.h"
#include "../lib/kmod_ibs_log.h"

#define TRIES		5

/*
 * Ops and fetches with all words, and instructions by a counter, of a child and its descendants.
 * Two samplers take both modes: shorter periods would end in the interrupt that armed them.
 */
static void sample_all_of(struct session *s, void (*life)(void *))
{
	const uint32_t flags = HWPMC_F_DESCENDANTS;
	struct child c = dev_child(life, NULL);
	uint32_t id[3];

	begin_ibs(s);
	ok(s, allocate_ibs(s, HWPMC_EV_IBS_OP, ANY, flags | ALL, 0, 0, 7001, &id[0]));
	ok(s, allocate_ibs(s, HWPMC_EV_IBS_FETCH, ANY, flags | HWPMC_F_EXACT | HWPMC_F_MEMORY, 0,
			   0, 2503, &id[1]));
	id[2] = allocate(s, "instructions:u", HWPMC_MODE_TS, flags, ANY, 2003);
	fetch_row = HWPMC_ID_ROW(id[1]);
	plain_rows = BIT(HWPMC_ID_ROW(id[2]));
	for (int i = 0; i < 3; i++)
		ok(s, hwpmc_attach(s->h, id[i], c.pid));
	note_oracle();
	for (int i = 0; i < 3; i++)
		ok(s, hwpmc_start(s->h, id[i]));
	dev_go(&c);
	dev_wait(&c);
	for (int i = 0; i < 3; i++)
		ok(s, hwpmc_stop(s->h, id[i]));
	end_ibs(s);
}

/* Returns whether none was dropped, so that the sums were compared as well. */
static bool equals_oracle(struct session *s)
{
	uint64_t ops = seen[VPMU_IBS_OP], fetches = seen[VPMU_IBS_FETCH];

	printf("# %llu ops of %llu, %llu fetches of %llu, %llu of a counter of %llu, %llu drops\n",
	       (unsigned long long)ops, (unsigned long long)oracle[VPMU_IBS_OP],
	       (unsigned long long)fetches, (unsigned long long)oracle[VPMU_IBS_FETCH],
	       (unsigned long long)plain, (unsigned long long)s->overflows,
	       (unsigned long long)all_drops(s));
	check_number(s, ops + fetches + plain,
		     oracle[VPMU_IBS_OP] + oracle[VPMU_IBS_FETCH] + s->overflows);
	ck_assert_uint_gt(ops, 200);
	ck_assert_uint_gt(fetches, 100);
	ck_assert_uint_gt(plain, 300);
	ck_assert_uint_eq(all_drops(s), s->t.dropped[HWPMC_DROP_LATE]);
	ck_assert_uint_lt(all_drops(s) * 20, ops + fetches + plain);
	if (all_drops(s))
		return false;
	ck_assert_uint_eq(plain, s->overflows);
	check_sums(s);
	ck_assert_uint_eq(seen[VPMU_IBS_FETCH_LIN], oracle[VPMU_IBS_FETCH_LIN]);
	ck_assert_uint_eq(seen[VPMU_IBS_FETCH_PHYS], oracle[VPMU_IBS_FETCH_PHYS]);
	return true;
}

/* Until nothing was dropped, so that addresses and words have been compared. */
static void check_life(void (*life)(void *))
{
	struct session s;
	bool clean = false;

	for (int i = 0; i < TRIES && !clean; i++) {
		sample_all_of(&s, life);
		clean = equals_oracle(&s);
		end(&s);
	}
	ck_assert(clean);
}

/* Twelve programs, one after the other in the same process. */
static void exec_again_and_again(void *arg)
{
	setenv("NEXT", "[ \"$1\" -gt 0 ] || exec build/vm/progs/loop 100000\n"
	       "exec /bin/sh -c \"$NEXT\" sh $(($1 - 1))", 1);
	work((void *)5);
	execl("/bin/sh", "sh", "-c", getenv("NEXT"), "sh", "12", (char *)NULL);
	_exit(127);
}

START_TEST(ibs_samples_of_a_process_that_execs_equal_the_oracle)
{
	check_life(exec_again_and_again);
}
END_TEST

static void *work_in_thread(void *arg)
{
	work((void *)4);
	return NULL;
}

/* The last ones end with their process. */
static void begin_and_end_threads(void *arg)
{
	pthread_t thread[4];

	for (int i = 0; i < 40; i++) {
		if (i >= 4)
			pthread_join(thread[i % 4], NULL);
		if (pthread_create(&thread[i % 4], NULL, work_in_thread, NULL))
			_exit(1);
	}
}

START_TEST(ibs_samples_of_threads_that_exit_equal_the_oracle)
{
	check_life(begin_and_end_threads);
}
END_TEST

static void be_killed(void)
{
	for (;;)
		work((void *)1);
}

/* Each with a child of its own; every third is killed at work. */
static void fork_again_and_again(void *arg)
{
	for (int i = 0; i < 24; i++) {
		pid_t pid = fork();

		if (!pid) {
			if (i % 3 == 0)
				be_killed();
			pid = fork();
			work((void *)3);
			if (!pid && i % 3 == 1)
				execl("build/vm/progs/loop", "loop", "20000", (char *)NULL);
			if (pid)
				waitpid(pid, NULL, 0);
			_exit(0);
		}
		work((void *)2);
		if (i % 3 == 0)
			kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

START_TEST(ibs_samples_of_descendants_equal_the_oracle)
{
	check_life(fork_again_and_again);
}
END_TEST

/* They arrive in the same slices, and none stands for another. */
START_TEST(ibs_late_nmis_of_both_kinds_are_not_unknown)
{
	struct session s;

	set_knob(VPMU_KNOB_IBS_LATE, 2000);
	set_knob(VPMU_KNOB_LATE, 1000);
	sample_all_of(&s, fork_again_and_again);
	set_knob(VPMU_KNOB_IBS_LATE, 0);
	set_knob(VPMU_KNOB_LATE, 0);
	equals_oracle(&s);
	end(&s);
}
END_TEST

static int seconds(void)
{
	const char *text = getenv("IBS_SECONDS");

	return text ? atoi(text) : 4;
}

/*
 * For $IBS_SECONDS: threads, programs and processes that come and go, and interrupts of both kinds
 * that arrive late, or after the sampler was disabled. end_ibs() finds unknown NMIs.
 */
START_TEST(ibs_leaves_no_nmi_unknown_while_both_kinds_sample)
{
	static void (*const life[])(void *) = {
		exec_again_and_again, begin_and_end_threads, fork_again_and_again,
	};
	static const uint64_t late[] = { 0, 60, 2000, 500 | VPMU_IBS_LATE_VAL };
	uint64_t samples = 0, other = 0;
	time_t end_at = time(NULL) + seconds();
	struct session s;
	int round = 0;

	do {
		set_knob(VPMU_KNOB_IBS_LATE, late[round % 4]);
		set_knob(VPMU_KNOB_LATE, round % 5 * 300);
		sample_all_of(&s, life[round % 3]);
		equals_oracle(&s);
		samples += seen[VPMU_IBS_OP] + seen[VPMU_IBS_FETCH];
		other += plain;
		end(&s);
		round++;
	} while (time(NULL) < end_at);
	set_knob(VPMU_KNOB_IBS_LATE, 0);
	set_knob(VPMU_KNOB_LATE, 0);
	printf("# %u unknown NMIs in %d s, %d rounds, %llu samples, %llu of counters\n",
	       dev_unknown_nmis(), seconds(), round, (unsigned long long)samples,
	       (unsigned long long)other);
	ck_assert_uint_gt(samples, 500);
}
END_TEST

/* The sampler has stopped in a pause: it has no overflows that could be dropped. */
START_TEST(ibs_pause_has_its_time_in_the_log_and_no_overflows)
{
	struct child c = dev_child(begin_and_end_threads, NULL);
	struct session s;
	uint32_t id;

	begin_ibs(&s);
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, ALL, 0, 0, 2503, &id));
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	set_tunable("selfcost", 5);
	note_oracle();
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	set_tunable("selfcost", 0);
	end_ibs(&s);
	printf("# %llu pauses, %llu ops of %llu\n", (unsigned long long)s.t.throttled,
	       (unsigned long long)seen[VPMU_IBS_OP], (unsigned long long)oracle[VPMU_IBS_OP]);
	ck_assert_uint_gt(s.t.throttled, 3);
	ck_assert_uint_eq(s.t.throttled, s.t.resumed);
	ck_assert_uint_eq(s.t.dropped[HWPMC_DROP_PAUSED], 0);
	ck_assert_uint_gt(seen[VPMU_IBS_OP], 20);
	check_number(&s, seen[VPMU_IBS_OP], oracle[VPMU_IBS_OP]);
	check_sums(&s);
	end(&s);
}
END_TEST

/* ---- faults -------------------------------------------------------------------- */

#define MSR_OP_CTL	0xc0011033

static void work_for_ever(void *arg)
{
	for (;;)
		work((void *)1);
}

/* A hypervisor takes the registers away: counters sample on, and the class works again later. */
START_TEST(ibs_fault_of_a_register_ends_the_class_alone)
{
	struct child c = dev_child(work_for_ever, NULL);
	struct session s;
	uint64_t before;
	uint32_t id[2];
	int rc;

	dev_expect("MSR 0xc0011033 has faulted");
	begin_ibs(&s);
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, HWPMC_F_EXACT, 0, 0, 7001, &id[0]));
	id[1] = allocate(&s, "instructions:u", HWPMC_MODE_TS, 0, ANY, 20011);
	plain_rows = BIT(HWPMC_ID_ROW(id[1]));
	for (int i = 0; i < 2; i++) {
		ok(&s, hwpmc_attach(s.h, id[i], c.pid));
		ok(&s, hwpmc_start(s.h, id[i]));
	}
	dev_go(&c);
	while (s.t.samples < 100)
		sched_yield();
	set_knob(VPMU_KNOB_REFUSE, MSR_OP_CTL | VPMU_REFUSE_READS);
	do {
		rc = hwpmc_stop(s.h, id[0]);
		rc = rc ? rc : hwpmc_start(s.h, id[0]);
	} while (!rc);
	ck_assert_int_eq(errno, EIO);
	ck_assert_uint_eq(hwpmc_reason(s.h), HWPMC_WHY_PMU_REFUSED);
	ck_assert_int_eq(hwpmc_detail(s.h), (int)MSR_OP_CTL);
	before = plain;
	while (plain < before + 100)
		sched_yield();
	ok(&s, hwpmc_stop(s.h, id[1]));
	set_knob(VPMU_KNOB_REFUSE, 0);
	dev_end(c.pid);
	ok(&s, hwpmc_release(s.h, id[0]));
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, HWPMC_F_EXACT, 0, 0, 7001, &id[0]));
	end_ibs(&s);
	ck_assert_uint_eq(plain + all_drops(&s), s.overflows);
	end(&s);
}
END_TEST

/* ---- CPUs --------------------------------------------------------------------- */

static void cpu1_online(int on)
{
	dev_put("/sys/devices/system/cpu/cpu1/online", on ? "1" : "0");
}

static bool has_one_cpu(void)
{
	if (dev_cpus() < 2)
		printf("# one CPU: none can go\n");
	return dev_cpus() < 2;
}

/* Ops of a CPU, whoever runs there, before it goes, between, and after it has come back. */
START_TEST(ibs_ops_of_a_cpu_that_goes_and_comes_equal_the_oracle)
{
	struct session s;
	uint64_t first;
	uint32_t id;

	if (has_one_cpu())
		return;
	begin_ibs(&s);
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_OP, 1, ALL, 0, 0, 1499, &id));
	note_oracle();
	ok(&s, hwpmc_start(s.h, id));
	work_on_each_cpu(5);
	for (int i = 0; i < 5; i++) {
		first = vpmu_ibs(VPMU_IBS_OP, 1);
		cpu1_online(0);
		cpu1_online(1);
		work_on_each_cpu(5);
		ck_assert_uint_gt(vpmu_ibs(VPMU_IBS_OP, 1) - first, 20);
	}
	ok(&s, hwpmc_stop(s.h, id));
	end_ibs(&s);
	check_ops(&s, 0);
	check_sums(&s);
	end(&s);
}
END_TEST

static bool is_family_10h(void)
{
	unsigned int a, b, c, d;

	__cpuid(1, a, b, c, d);
	return (a >> 8 & 15) == 15 && (a >> 20 & 255) == 1;
}

#define SPINNERS	4
#define LONG		1000003		/* armed in one piece */

static void spin(void *arg)
{
	for (;;)
		dev_spin(1000);
}

/*
 * A CPU that goes offline still switches to tasks that wait for it, after the module has turned
 * the class off there. A period that was lost then would end at once, or never.
 */
START_TEST(ibs_periods_last_where_a_cpu_switches_to_its_end)
{
	struct child c[SPINNERS];
	struct session s;
	uint64_t value;
	uint32_t id[2];

	if (has_one_cpu())
		return;
	dev_put("/sys/kernel/rcu_expedited", "1");
	begin_ibs(&s);
	ok(&s, allocate_ibs(&s, HWPMC_EV_IBS_OP, ANY, HWPMC_F_EXACT, 0, 0, LONG, &id[0]));
	id[1] = allocate(&s, "instructions", HWPMC_MODE_TC, 0, ANY, 0);
	for (int i = 0; i < SPINNERS; i++) {
		c[i] = dev_child(spin, NULL);
		for (int j = 0; j < 2; j++)
			ok(&s, hwpmc_attach(s.h, id[j], c[i].pid));
		dev_go(&c[i]);
	}
	note_oracle();
	ok(&s, hwpmc_start(s.h, id[0]));
	ok(&s, hwpmc_start(s.h, id[1]));
	for (int cycle = 0; cycle < 20; cycle++) {
		for (int i = 0; i < SPINNERS; i++)
			dev_pin(c[i].pid, 1);
		cpu1_online(0);
		cpu1_online(1);
	}
	ok(&s, hwpmc_stop(s.h, id[0]));
	ok(&s, hwpmc_stop(s.h, id[1]));
	ok(&s, hwpmc_read(s.h, id[1], &value));
	for (int i = 0; i < SPINNERS; i++)
		dev_end(c[i].pid);
	end_ibs(&s);
	dev_put("/sys/kernel/rcu_expedited", "0");
	/* Erratum 420 wants such a write at each stop. */
	ck_assert(is_family_10h() || !oracle[VPMU_IBS_ENDLESS]);
	printf("# %llu instructions, %llu samples\n", (unsigned long long)value,
	       (unsigned long long)seen[VPMU_IBS_OP]);
	ck_assert_uint_gt(value, 20 * LONG);
	/* Each spinner has a period that has begun. */
	ck_assert_uint_le(oracle[VPMU_IBS_OP], value / LONG + 1);
	ck_assert_uint_ge(oracle[VPMU_IBS_OP] + SPINNERS + 1, value * 95 / 100 / LONG);
	end(&s);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(ibs_setup, NULL);
	harness_add(ibs_samples_of_a_process_that_execs_equal_the_oracle);
	harness_add(ibs_samples_of_threads_that_exit_equal_the_oracle);
	harness_add(ibs_samples_of_descendants_equal_the_oracle);
	harness_add(ibs_late_nmis_of_both_kinds_are_not_unknown);
	harness_add_timed(ibs_leaves_no_nmi_unknown_while_both_kinds_sample, seconds() + 200);
	harness_add(ibs_pause_has_its_time_in_the_log_and_no_overflows);
	harness_add(ibs_fault_of_a_register_ends_the_class_alone);
	harness_add(ibs_ops_of_a_cpu_that_goes_and_comes_equal_the_oracle);
	harness_add_timed(ibs_periods_last_where_a_cpu_switches_to_its_end, 100);
	return harness_run();
}
