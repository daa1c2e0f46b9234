/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_sample.c - sampling is complete: overflows that the emulated PMU counted are
 * samples in the log and drops declared in the log, to the last one, whatever the
 * reader does. The log is read through the mapped rings and the library's parser.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>

#include "harness.h"
#include "../lib/kmod_session.h"

/* ---- process scope ------------------------------------------------------- */

static void run_two(struct session *s, uint32_t id, unsigned long n)
{
	struct child c[2];

	for (int i = 0; i < 2; i++) {
		c[i] = dev_loop(n);
		dev_pin(c[i].pid, i);
		s->pids[i] = c[i].pid;
		ok(s, hwpmc_attach(s->h, id, c[i].pid));
	}
	ok(s, hwpmc_start(s->h, id));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	ok(s, hwpmc_stop(s->h, id));
}

static void conserve_process(enum reader reader, uint64_t period, uint32_t ring,
			     bool drops)
{
	struct session s;
	uint32_t id;

	begin(&s, reader, ring);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START,
		      HWPMC_CPU_ANY, period);
	run_two(&s, id, 2000000);
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_eq(s.overflows, 2 * (loop_insn(2000000) / period));
	if (!drops)
		for (int i = 0; i < 2; i++)
			ck_assert_uint_eq(s.t.pid_samples[i],
					  loop_insn(2000000) / period);
	ck_assert_int_eq(all_drops(&s) != 0, drops);
	ck_assert_int_eq(s.t.dropped[HWPMC_DROP_FULL] != 0, drops);
	ck_assert_uint_eq(s.t.dropped[HWPMC_DROP_CLOSED], 0);
	end(&s);
	dev_still_counts();
}

START_TEST(each_process_gets_a_sample_for_each_full_period)
{
	conserve_process(FAST, 10000, 0, false);
	conserve_process(FAST, 1000, 0, false);
}
END_TEST

START_TEST(overflows_are_samples_with_a_slow_reader)
{
	conserve_process(SLOW, 10000, 0, false);
	conserve_process(SLOW, 1000, 0, false);
}
END_TEST

START_TEST(overflows_are_samples_and_declared_drops_without_a_reader)
{
	conserve_process(NONE, 1000, SMALL_RING, true);
	conserve_process(NONE, 10000, 16 * SMALL_RING, false);
}
END_TEST

/* It has ended: how often a CPU was taken from it and its children. */
static uint64_t wait_and_count_switches(struct child *c)
{
	struct rusage used;
	int status;

	ck_assert_int_eq(wait4(c->pid, &status, 0, &used), c->pid);
	ck_assert_int_eq(status, 0);
	return used.ru_nvcsw + used.ru_nivcsw;
}

START_TEST(nothing_is_lost_while_the_sampled_process_migrates)
{
	struct session s;
	uint64_t switches;
	struct child c;
	uint32_t id;

	/* Room for each sample, whenever the reader gets a CPU. */
	begin(&s, FAST, 2 << 20);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START,
		      HWPMC_CPU_ANY, 1000);
	c = dev_loop(4000000);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	for (int i = 0; i < 200; i++) {
		dev_pin(c.pid, i & 1);
		dev_msleep(1);
	}
	dev_unpin(c.pid);
	switches = wait_and_count_switches(&c);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	/* Also if an interrupt was lost on the way: by periods, not by overflows. */
	ck_assert_msg(s.t.samples + all_drops(&s) == loop_insn(4000000) / 1000,
		      "%llu samples, %llu drops, %llu overflows, PMIs %llu of %llu, masked %llu",
		      (unsigned long long)s.t.samples,
		      (unsigned long long)all_drops(&s),
		      (unsigned long long)s.overflows,
		      (unsigned long long)vpmu_access(VPMU_N_PMI, VPMU_ALL_VCPUS),
		      (unsigned long long)vpmu_access(VPMU_N_OVERFLOW_INT,
						      VPMU_ALL_VCPUS),
		      (unsigned long long)vpmu_access(VPMU_N_PMI_MASKED,
						      VPMU_ALL_VCPUS));
	/* An interrupt is late for one reason: the thread had left, once for each time
	 * that it leaves. */
	ck_assert_uint_eq(all_drops(&s), s.t.dropped[HWPMC_DROP_LATE]);
	ck_assert_uint_le(s.t.dropped[HWPMC_DROP_LATE], switches);
	fprintf(stderr, "%llu late of %llu, %llu switches\n",
		(unsigned long long)s.t.dropped[HWPMC_DROP_LATE],
		(unsigned long long)s.overflows, (unsigned long long)switches);
	end(&s);
	dev_still_counts();
}
END_TEST

static void fork_tree(void *arg)
{
	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();

		if (!pid) {
			dev_spin(100000 + 1000 * i);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

/* All that a child does from beginning to end. */
static void sample_child(struct session *s, const char *event, uint32_t flags,
			 uint64_t period, void (*fn)(void *))
{
	uint32_t id = allocate(s, event, HWPMC_MODE_TS, flags, HWPMC_CPU_ANY,
			       period);
	struct child c = dev_child(fn, NULL);

	ok(s, hwpmc_attach(s->h, id, c.pid));
	ok(s, hwpmc_start(s->h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(s, hwpmc_stop(s->h, id));
	finish(s);
	check_conserved(s);
}

START_TEST(overflows_of_a_process_tree_are_samples)
{
	struct session s;

	begin(&s, FAST, 0);
	sample_child(&s, "instructions", HWPMC_F_DESCENDANTS, 5000, fork_tree);
	ck_assert_uint_gt(s.t.samples, 8 * 300000 / 5000);
	end(&s);
}
END_TEST

/* ---- system scope -------------------------------------------------------- */

static void conserve_system(enum reader reader, uint64_t period, uint32_t ring)
{
	struct session s;
	struct child c[2];
	uint32_t id[2];

	begin(&s, reader, ring);
	for (int i = 0; i < 2; i++)
		id[i] = allocate(&s, "instructions", HWPMC_MODE_SS, 0, i, period);
	for (int i = 0; i < 2; i++)
		ok(&s, hwpmc_start(s.h, id[i]));
	for (int i = 0; i < 2; i++) {
		c[i] = dev_loop(2000000);
		dev_pin(c[i].pid, i);
		dev_go(&c[i]);
	}
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	for (int i = 0; i < 2; i++)
		ok(&s, hwpmc_stop(s.h, id[i]));
	finish(&s);
	check_conserved(&s);
	end(&s);
	dev_still_counts();
}

START_TEST(overflows_of_whole_cpus_are_samples_and_declared_drops)
{
	conserve_system(FAST, 10000, 0);
	conserve_system(SLOW, 10000, 0);
	/* An NMI is longer than 2000 instructions where KCSAN looks at each access;
	 * nothing else would run. */
	conserve_system(NONE, access("/sys/kernel/debug/kcsan", F_OK) ? 2000 : 20000,
			SMALL_RING);
}
END_TEST

static void cpu_online(int cpu, int on)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "%d\n", on);
	ck_assert_int_eq(fclose(f), 0);
}

START_TEST(nothing_is_lost_while_a_sampled_cpu_goes_and_comes)
{
	struct session s;
	struct child c;
	uint32_t id, ts;

	begin(&s, FAST, 0);
	id = allocate(&s, "instructions", HWPMC_MODE_SS, 0, 1, 5000);
	ts = allocate(&s, "branches:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START,
		      HWPMC_CPU_ANY, 5000);
	c = dev_loop(20000000);
	ok(&s, hwpmc_attach(s.h, ts, c.pid));
	ok(&s, hwpmc_start(s.h, ts));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	for (int i = 0; i < 5; i++) {
		cpu_online(1, 0);
		cpu_online(1, 1);
	}
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	ok(&s, hwpmc_stop(s.h, ts));
	finish(&s);
	check_conserved(&s);
	end(&s);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

static uint64_t ignored_nmis(struct session *s)
{
	struct hwpmc_op_getdriverstats stats;

	ok(s, hwpmc_driver_stats(s->h, &stats));
	return stats.intr_ignored;
}

#define ROUNDS	40
#define PARTS	200		/* of a round: 100 turns of a loop */
#define TOO_MANY	100000	/* overflows: NMIs leave next to no instruction between */

/* How many rounds it came to. */
static unsigned int work_on_both_cpus(const struct session *s)
{
	for (unsigned int i = 0; i < ROUNDS; i++) {
		dev_pin(getpid(), i & 1);
		for (int j = 0; j < PARTS; j++) {
			dev_spin(100);
			if (overflows() - s->overflows > TOO_MANY)
				return i;
		}
	}
	return ROUNDS;
}

/*
 * False if NMIs left no time for all of it: a period of just what they take leaves an
 * instruction between them, thousands of overflows a round.
 */
static bool check_no_nmi_without_a_cause(const char *other, uint64_t period,
					 uint64_t other_period)
{
	unsigned int rounds;
	uint64_t ignored;
	struct session s;
	uint32_t id[4];

	begin(&s, FAST, 0);
	ignored = ignored_nmis(&s);
	for (int i = 0; i < 2; i++) {
		id[i] = allocate(&s, "instructions", HWPMC_MODE_SS, 0, i, period);
		id[i + 2] = allocate(&s, other, HWPMC_MODE_SS, 0, i, other_period);
	}
	for (int i = 0; i < 4; i++)
		ok(&s, hwpmc_start(s.h, id[i]));
	rounds = work_on_both_cpus(&s);
	for (int i = 0; i < 4; i++)
		ok(&s, hwpmc_stop(s.h, id[i]));
	ignored = ignored_nmis(&s) - ignored;
	finish(&s);
	/* A pause that a longer period began lasts for all of it, sometimes: periods end in it. */
	if (s.overflows || !s.t.throttled)
		check_conserved(&s);
	else
		ck_assert_uint_eq(s.t.samples + all_drops(&s), s.t.dropped[HWPMC_DROP_PAUSED]);
	ck_assert_uint_eq(ignored, 0);
	end(&s);
	fprintf(stderr, "period %llu: %llu overflows, %u rounds\n",
		(unsigned long long)period, (unsigned long long)s.overflows,
		rounds);
	return rounds == ROUNDS;
}

START_TEST(rows_that_overflow_together_leave_no_nmi_without_a_cause)
{
	/* The NMI of the second overflows the first, sometimes. */
	ck_assert(check_no_nmi_without_a_cause("branches:u", 5003, 1009));
}
END_TEST

/*
 * One that is expected and finds nothing, until it looks again: for some period, a
 * little longer than an NMI takes, the first row overflows just then. From longer ones
 * down to that.
 */
START_TEST(rows_that_overflow_in_their_nmis_leave_no_nmi_without_a_cause)
{
	uint64_t period;

	set_tunable("mincount", 1);
	set_tunable("selfcost", 50);
	/* Which is the first that leaves no time depends on the timer's interrupts, of
	 * which a busy host has more: the periods above are tried in any case. */
	for (period = 1500; period > 500; period -= 25)
		if (!check_no_nmi_without_a_cause("branches:u", period, 211) &&
		    period < 1250)
			break;
	set_tunable("selfcost", 0);
	set_tunable("mincount", 1000);
}
END_TEST

/*
 * Each fifth instruction repeats itself for so long that interrupts come amid it, also
 * that of its own overflow.
 */
static void set_memory(void *arg)
{
	static char memory[70000];

	for (unsigned int i = 0; i < 5000; i++) {
		void *at = memory;
		unsigned long n = sizeof(memory);

		__asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(0) : "memory");
	}
}

START_TEST(an_overflow_of_a_repeated_instruction_has_an_nmi_of_its_own)
{
	unsigned int unknown = dev_unknown_nmis();
	struct session s;

	begin(&s, FAST, 0);
	set_tunable("mincount", 1);
	sample_child(&s, "instructions:u", 0, 101, set_memory);
	ck_assert_uint_gt(s.t.samples, 200);
	ck_assert_uint_eq(dev_unknown_nmis(), unknown);
	end(&s);
	set_tunable("mincount", 1000);
}
END_TEST

/* ---- storms -------------------------------------------------------------- */

static uint64_t nmis(struct session *s)
{
	struct hwpmc_op_getdriverstats stats;

	ok(s, hwpmc_driver_stats(s->h, &stats));
	return stats.intr_processed;
}

/*
 * The children exec: one that had a copy of the descriptor, or of the ring's mapping,
 * would keep the device open until the storm is over.
 */
static void storm(struct session *s, struct child c[2], uint32_t *id)
{
	uint64_t before;

	begin(s, NONE, SMALL_RING);
	*id = allocate(s, "instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 200);
	for (int i = 0; i < 2; i++) {
		c[i] = dev_loop(3000000);
		dev_pin(c[i].pid, i);
		ok(s, hwpmc_attach(s->h, *id, c[i].pid));
	}
	ok(s, hwpmc_start(s->h, *id));
	before = nmis(s);
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	while (nmis(s) - before < 500)
		dev_msleep(5);
}

START_TEST(closing_the_device_in_a_storm_of_nmis_leaves_all_clean)
{
	struct session s;
	struct child c[2];
	uint32_t id;

	set_tunable("mincount", 1);
	storm(&s, c, &id);
	end(&s);
	dev_check_registers_clear();
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	set_tunable("mincount", 1000);
	dev_still_counts();
}
END_TEST

START_TEST(closing_the_log_in_a_storm_of_nmis_stops_and_declares)
{
	struct session s;
	struct child c[2];
	uint32_t id;

	set_tunable("mincount", 1);
	storm(&s, c, &id);
	ok(&s, hwpmc_close_log(s.h));
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_eq(s.t.closed, 1);
	end(&s);
	dev_check_registers_clear();
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	set_tunable("mincount", 1000);
	dev_still_counts();
}
END_TEST

START_TEST(sampling_that_costs_too_much_stands_still_and_says_so)
{
	struct session s;
	uint32_t id;

	set_tunable("selfcost", 1);
	begin(&s, FAST, 0);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START,
		      HWPMC_CPU_ANY, 1000);
	run_two(&s, id, 4000000);
	finish(&s);
	set_tunable("selfcost", 0);
	check_conserved(&s);
	ck_assert_uint_gt(s.t.throttled, 0);
	ck_assert_uint_eq(s.t.no_percent, 0);
	/* It ran again after, else the second child would have no sample. */
	ck_assert_uint_gt(s.t.pid_samples[0] * s.t.pid_samples[1], 0);
	ck_assert_uint_lt(s.t.samples, 2 * loop_insn(4000000) / 1000);
	end(&s);
	dev_still_counts();
}
END_TEST

START_TEST(a_pause_of_a_whole_cpu_ends_and_says_so)
{
	struct session s;
	struct child c;
	uint32_t id;

	set_tunable("selfcost", 1);
	begin(&s, FAST, 0);
	id = allocate(&s, "instructions:u", HWPMC_MODE_SS, 0, 0, 1000);
	ok(&s, hwpmc_start(s.h, id));
	c = dev_loop(40000000);
	dev_pin(c.pid, 0);
	dev_go(&c);
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	set_tunable("selfcost", 0);
	/* The second one shows that it sampled again after the first. */
	ck_assert_uint_ge(s.t.throttled, 2);
	ck_assert_uint_eq(s.t.no_percent, 0);
	ck_assert_uint_eq(s.t.resumed, s.t.throttled);
	end(&s);
	dev_still_counts();
}
END_TEST

/* Each NMI's own way out overflows the counter again: only the limit ends it. */
static void spin_on(void *arg)
{
	dev_spin(3000000);
}

/* A child that does so, and goes on while its samples are on their way. */
static struct child spin_sampled(struct session *s, uint32_t id)
{
	struct child c = dev_child(spin_on, NULL);

	ok(s, hwpmc_attach(s->h, id, c.pid));
	ok(s, hwpmc_start(s->h, id));
	dev_go(&c);
	return c;
}

/* The reader has the record of it, or the child has ended without. */
static void await_throttling(struct session *s, struct child *c)
{
	volatile uint64_t *throttled = &s->t.throttled;

	while (!*throttled && dev_state(c->pid) != 'Z')
		dev_msleep(1);
}

/*
 * Of a period of 2: no counter is armed for fewer, so of period 1 two would end with each
 * overflow. Models that arm none for fewer than ARMED_LEAST overflow once for so many.
 */
static void check_conserved_periods(struct session *s)
{
	const char *least = getenv("ARMED_LEAST");

	if (least)
		s->overflows *= atoi(least) / 2;
	check_conserved(s);
}

START_TEST(an_absurd_period_does_not_take_the_machine_away)
{
	struct session s;
	struct child c;
	uint32_t id;

	set_tunable("mincount", 1);
	set_tunable("selfcost", 50);
	begin(&s, FAST, 0);
	id = allocate(&s, "instructions", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 2);
	c = spin_sampled(&s, id);
	await_throttling(&s, &c);
	ok(&s, hwpmc_stop(s.h, id));
	dev_wait(&c);
	set_tunable("mincount", 1000);
	set_tunable("selfcost", 0);
	finish(&s);
	check_conserved_periods(&s);
	ck_assert_uint_gt(s.t.throttled, 0);
	end(&s);
	dev_still_counts();
}
END_TEST

/*
 * Our part of an NMI is small beside what comes after it, so that the limit alone
 * allows all of them: the slow handler is the later one, for it comes after ours.
 */
START_TEST(nmis_that_leave_no_time_for_anything_else_are_stopped)
{
	struct session s;
	struct child c;
	uint32_t id;

	set_tunable("selfcost", 50);
	begin(&s, FAST, 0);
	id = allocate(&s, "instructions", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 10000);
	ck_assert_int_eq(system("insmod build/vm/kmods/$(uname -r)/nmimod.ko slow=20000"), 0);
	c = spin_sampled(&s, id);
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	set_tunable("selfcost", 0);
	ck_assert_int_eq(system("rmmod nmimod"), 0);
	finish(&s);
	/* The slow handler's own events end periods as well, without an overflow, and so do
	 * those of pauses. */
	ck_assert_uint_gt(s.overflows, 0);
	ck_assert_uint_eq(s.t.samples + all_drops(&s) - s.t.dropped[HWPMC_DROP_LATE] -
			  s.t.dropped[HWPMC_DROP_PAUSED], s.overflows);
	ck_assert_uint_gt(s.t.throttled, 0);
	end(&s);
	dev_still_counts();
}
END_TEST

/* Two that take turns: each runs until it waits for the other. */
static int turn[2][2];

static void take_turns(void *arg)
{
	int me = *(int *)arg;
	char c = 0;

	for (int i = 0; i < 200; i++) {
		if (me + i > 0 && read(turn[me][0], &c, 1) != 1)
			_exit(1);
		if (write(turn[!me][1], &c, 1) != 1)
			_exit(1);
	}
}

/* The first row's interrupts come while the second is being switched in: one that is
 * too much must not find that the second goes on all the same. */
START_TEST(absurd_periods_of_two_rows_through_many_switches_stand_still)
{
	int who[2] = { 0, 1 };
	struct session s;
	struct child c[2];
	uint32_t id[2];

	set_tunable("mincount", 1);
	set_tunable("selfcost", 25);
	begin(&s, FAST, 0);
	for (int i = 0; i < 2; i++) {
		id[i] = allocate(&s, i ? "branches" : "instructions",
				 HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 2);
		ck_assert_int_eq(pipe(turn[i]), 0);
	}
	for (int i = 0; i < 2; i++) {
		c[i] = dev_child(take_turns, &who[i]);
		dev_pin(c[i].pid, 1);
		for (int j = 0; j < 2; j++)
			ok(&s, hwpmc_attach(s.h, id[j], c[i].pid));
	}
	for (int i = 0; i < 2; i++)
		ok(&s, hwpmc_start(s.h, id[i]));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	for (int i = 0; i < 2; i++)
		ok(&s, hwpmc_stop(s.h, id[i]));
	set_tunable("mincount", 1000);
	set_tunable("selfcost", 0);
	finish(&s);
	check_conserved_periods(&s);
	ck_assert_uint_gt(s.t.throttled, 0);
	end(&s);
	dev_still_counts();
}
END_TEST

/* ---- values -------------------------------------------------------------- */

static uint64_t own_switches(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return used.ru_nvcsw + used.ru_nivcsw;
}

/* Adds the switches of each process, from its begin to just before its end. */
static void busy_tree(void *sum)
{
	uint64_t before = own_switches();

	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (!pid) {
			for (int j = 0; j < 20; j++) {
				dev_spin(1000 * (i + 1));
				usleep(500);
			}
			__atomic_add_fetch((uint64_t *)sum, own_switches(),
					   __ATOMIC_RELAXED);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	__atomic_add_fetch((uint64_t *)sum, own_switches() - before,
			   __ATOMIC_RELAXED);
}

START_TEST(increments_add_up_to_exit_values_and_to_the_total)
{
	uint64_t *least = mmap(NULL, sizeof(*least), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t total, most;
	struct session s;
	struct child c;
	uint32_t id;

	begin(&s, FAST, 0);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TC,
		      HWPMC_F_DESCENDANTS | HWPMC_F_LOG_PROCCSW |
		      HWPMC_F_LOG_PROCEXIT, HWPMC_CPU_ANY, 0);
	c = dev_child(busy_tree, least);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	most = wait_and_count_switches(&c);
	ok(&s, hwpmc_read(s.h, id, &total));
	finish(&s);
	ck_assert_uint_eq(s.t.others, 0);
	fprintf(stderr, "%llu records, %llu to %llu switches\n",
		(unsigned long long)s.t.csw_records, (unsigned long long)*least,
		(unsigned long long)most);
	/* One for each switch, and one at the end of each of five processes. */
	ck_assert_uint_ge(s.t.csw_records, *least + 5);
	ck_assert_uint_le(s.t.csw_records, most + 5);
	ck_assert_uint_eq(s.t.exit_records, 5);
	ck_assert_uint_eq(s.t.csw, total);
	ck_assert_uint_eq(s.t.exits, total);
	ck_assert_uint_ge(total, 3 * 20 * 10000);
	end(&s);
}
END_TEST

/* ---- what a sample says -------------------------------------------------- */

static void *seen_pc[8];
static uint64_t deep_samples;

__attribute__((noinline)) static void inner(uint64_t n)
{
	seen_pc[0] = __builtin_return_address(0);
	dev_spin(n);
}

__attribute__((noinline)) static void middle(uint64_t n)
{
	seen_pc[1] = __builtin_return_address(0);
	inner(n);
	asm volatile("");
}

__attribute__((noinline)) static void outer(uint64_t n)
{
	middle(n);
	asm volatile("");
}

static void look_for_chain(const struct hwpmc_record *r)
{
	if (r->hdr->type != HWPMC_LOG_CALLCHAIN || r->npc < 3)
		return;
	deep_samples += r->sample->pc[1] == (uintptr_t)seen_pc[0] &&
			r->sample->pc[2] == (uintptr_t)seen_pc[1];
}

START_TEST(call_chains_name_the_callers)
{
	struct session s;
	uint32_t id;

	deep_samples = 0;
	begin(&s, NONE, 0);
	s.look = look_for_chain;
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, HWPMC_F_CALLCHAIN,
		      HWPMC_CPU_ANY, 10000);
	ok(&s, hwpmc_start(s.h, id));
	outer(1000000);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_ge(deep_samples, 298);
	end(&s);
}
END_TEST

static void spin_in_kernel(void *arg)
{
	char buf[4096];
	int zero = open("/dev/zero", O_RDONLY);

	for (int i = 0; i < 2000; i++)
		if (read(zero, buf, sizeof(buf)) < 0)
			_exit(1);
}

START_TEST(kernel_samples_have_chains_that_go_on_into_the_program)
{
	struct session s;

	begin(&s, FAST, 0);
	sample_child(&s, "instructions:k",
		     HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN, 5000,
		     spin_in_kernel);
	ck_assert_uint_eq(s.t.hidden, 0);
	/* Hit, read and its callers in the kernel, the mark, the program. */
	ck_assert_uint_gt(s.t.frames, 5 * s.t.samples);
	end(&s);
}
END_TEST

static void sample_as_nobody(void *arg)
{
	struct session s;
	uint32_t id;

	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		_exit(2);
	begin(&s, NONE, 0);
	id = allocate(&s, "instructions", HWPMC_MODE_TS, HWPMC_F_CALLCHAIN,
		      HWPMC_CPU_ANY, 5000);
	ok(&s, hwpmc_start(s.h, id));
	spin_in_kernel(NULL);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_gt(s.t.hidden, 0);
	ck_assert_uint_eq(s.t.hidden, s.t.samples - s.t.user);
	end(&s);
}

START_TEST(who_has_no_privilege_sees_no_address_of_the_kernel)
{
	struct child c = dev_child(sample_as_nobody, NULL);

	dev_go(&c);
	dev_wait(&c);
}
END_TEST

START_TEST(a_period_below_mincount_is_raised_to_it)
{
	struct hwpmc_op_pmcallocate req;
	int fd = dev_open();

	set_tunable("mincount", 5000);
	dev_request(&req, HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, INSN, U);
	req.count = 10;
	dev_ok(dev_allocate(fd, &req));
	ck_assert_uint_eq(req.count, 5000);
	close(fd);
	set_tunable("mincount", 1000);
}
END_TEST

/*
 * A write takes 31 bits and extends bit 31, as on the Pentium Pro: what does not fit is
 * kept for the next overflow.
 */
START_TEST(a_period_that_a_write_cannot_hold_is_armed_in_parts)
{
	const uint64_t least = (1ULL << vpmu_reg(VPMU_REG_WIDTH, 0)) - (1ULL << 31) + 1;
	struct session s;
	uint64_t counter;
	uint32_t id;

	begin(&s, FAST, 0);
	id = allocate(&s, "branches:u", HWPMC_MODE_SS, 0, 1, (1ULL << 31) + 5000);
	ok(&s, hwpmc_start(s.h, id));
	counter = vpmu_reg(VPMU_REG_COUNTER + HWPMC_ID_ROW(id) - dev_first_row(), 1);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	/* What the CPU has executed since is far less than the 2^31 that are missing. */
	ck_assert_uint_ge(counter, least);
	ck_assert_uint_lt(counter, least + (1ULL << 30));
	ck_assert_uint_eq(s.t.samples, 0);
	end(&s);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(each_process_gets_a_sample_for_each_full_period, 30);
	harness_add_timed(overflows_are_samples_with_a_slow_reader, 30);
	harness_add_timed(overflows_are_samples_and_declared_drops_without_a_reader, 30);
	harness_add_timed(nothing_is_lost_while_the_sampled_process_migrates, 30);
	harness_add_timed(overflows_of_a_process_tree_are_samples, 30);
	harness_add_timed(overflows_of_whole_cpus_are_samples_and_declared_drops, 30);
	harness_add_timed(nothing_is_lost_while_a_sampled_cpu_goes_and_comes, 30);
	harness_add_timed(rows_that_overflow_together_leave_no_nmi_without_a_cause, 30);
	harness_add_timed(rows_that_overflow_in_their_nmis_leave_no_nmi_without_a_cause, 30);
	harness_add(an_overflow_of_a_repeated_instruction_has_an_nmi_of_its_own);
	harness_add_timed(closing_the_device_in_a_storm_of_nmis_leaves_all_clean, 30);
	harness_add_timed(closing_the_log_in_a_storm_of_nmis_stops_and_declares, 30);
	harness_add_timed(sampling_that_costs_too_much_stands_still_and_says_so, 30);
	harness_add_timed(a_pause_of_a_whole_cpu_ends_and_says_so, 30);
	harness_add_timed(an_absurd_period_does_not_take_the_machine_away, 30);
	harness_add_timed(nmis_that_leave_no_time_for_anything_else_are_stopped, 60);
	harness_add_timed(absurd_periods_of_two_rows_through_many_switches_stand_still, 30);
	harness_add_timed(increments_add_up_to_exit_values_and_to_the_total, 30);
	harness_add_timed(call_chains_name_the_callers, 30);
	harness_add_timed(kernel_samples_have_chains_that_go_on_into_the_program, 30);
	harness_add_timed(who_has_no_privilege_sees_no_address_of_the_kernel, 30);
	harness_add_timed(a_period_below_mincount_is_raised_to_it, 30);
	if (getenv("WRITES_OF_31_BITS"))
		harness_add(a_period_that_a_write_cannot_hold_is_armed_in_parts);
	return harness_run();
}
