/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_hotplug.c - CPU 1 goes and comes while everything samples and counts: each
 * overflow is a sample or a declared drop, programs are counted to the instruction,
 * whatever the interrupts do meanwhile.
 *
 * STORM_CYCLES=n: how often it goes (40). STORM_SEED=n replays the choices.
 */
#include "harness.h"
#include "../lib/kmod_session.h"
#include "../lib/kmod_storms.h"

#define PERIOD	100003
#define LENGTH	100000ul	/* of the programs that are counted */

static uint64_t cycles;

/* ---- who is measured ----------------------------------------------------- */

static void busy(void *arg)
{
	for (;;) {
		dev_spin(20000);
		if (getppid() == 1)
			_exit(0);
		usleep(pick(1000));
	}
}

struct measured {
	struct session s;
	struct child child[3];
	uint32_t thread_sampler, cpu_sampler[2], counter;
	uint64_t counted, programs;
};

static void measure(struct measured *m)
{
	struct session *s = &m->s;

	begin(s, SLOW, 0);
	m->thread_sampler = allocate(s, "branches:u", HWPMC_MODE_TS, 0,
				     HWPMC_CPU_ANY, PERIOD / 10);
	for (int i = 0; i < 2; i++)
		m->cpu_sampler[i] = allocate(s, "instructions", HWPMC_MODE_SS,
					     0, i, PERIOD);
	m->counter = allocate(s, "instructions:u", HWPMC_MODE_TC,
			      HWPMC_F_EXEC_START, HWPMC_CPU_ANY, 0);
	for (int i = 0; i < 3; i++) {
		m->child[i] = dev_child(busy, NULL);
		ok(s, hwpmc_attach(s->h, m->thread_sampler, m->child[i].pid));
	}
	ok(s, hwpmc_start(s->h, m->thread_sampler));
	for (int i = 0; i < 2; i++)
		ok(s, hwpmc_start(s->h, m->cpu_sampler[i]));
	for (int i = 0; i < 3; i++)
		dev_go(&m->child[i]);
}

/* It runs on both CPUs, through what the caller does meanwhile. */
static struct child begin_program(struct measured *m)
{
	struct child c = dev_loop(LENGTH);

	ok(&m->s, hwpmc_attach(m->s.h, m->counter, c.pid));
	ok(&m->s, hwpmc_start(m->s.h, m->counter));
	dev_go(&c);
	return c;
}

static void end_program(struct measured *m, struct child *c)
{
	uint64_t value;

	dev_wait(c);
	ok(&m->s, hwpmc_stop(m->s.h, m->counter));
	ok(&m->s, hwpmc_read(m->s.h, m->counter, &value));
	ck_assert_uint_eq(value - m->counted, loop_insn(LENGTH));
	m->counted = value;
	m->programs++;
}

static void measure_no_more(struct measured *m)
{
	struct session *s = &m->s;

	for (int i = 0; i < 2; i++)
		ok(s, hwpmc_stop(s->h, m->cpu_sampler[i]));
	ok(s, hwpmc_stop(s->h, m->thread_sampler));
	for (int i = 0; i < 3; i++) {
		kill(m->child[i].pid, SIGKILL);
		waitpid(m->child[i].pid, NULL, 0);
	}
}

static void tell(const struct measured *m)
{
	fprintf(stderr, "%lu times off and on: %lu overflows = %lu samples + drops: %lu full, %lu late, %lu closed, %lu busy; %lu programs exact\n",
		cycles, m->s.overflows, m->s.t.samples, m->s.t.dropped[0],
		m->s.t.dropped[1], m->s.t.dropped[2], m->s.t.dropped[3],
		m->programs);
}

/* One overflow whose interrupt is late or lost may stand for several periods. */
static void check_declared(const struct session *s)
{
	ck_assert_uint_le(s->t.samples, s->overflows);
	ck_assert_uint_ge(s->t.samples + all_drops(s), s->overflows);
}

static void go_and_come(bool with_trouble)
{
	struct measured m = { .counted = 0 };

	cycles = env_number("STORM_CYCLES", 40);
	seed();
	measure(&m);
	for (uint64_t i = 0; i < cycles; i++) {
		struct child c = begin_program(&m);

		if (with_trouble)
			make_trouble(true);
		cpu1_online(0);
		if (pick(2))
			dev_msleep(pick(10));
		cpu1_online(1);
		end_program(&m, &c);
	}
	make_trouble(false);
	measure_no_more(&m);
	dev_unpin(getpid());
	finish(&m.s);
	tell(&m);
	if (with_trouble)
		check_declared(&m.s);
	else
		check_conserved(&m.s);
	ck_assert_uint_gt(m.s.t.samples, 20 * cycles);
	end(&m.s);
	dev_check_registers_clear();
	dev_still_counts();
}

START_TEST(a_cpu_goes_and_comes_while_all_samples_and_no_overflow_is_missing)
{
	go_and_come(false);
}
END_TEST

START_TEST(it_does_so_with_late_lost_doubled_and_stray_interrupts)
{
	expect_nmis();
	go_and_come(true);
}
END_TEST

/* ---- what still runs on a CPU on its way offline ------------------------- */

#define SPINNERS 12

static void spin(void *arg)
{
	while (getppid() != 1)
		dev_spin(20000);
	_exit(0);
}

/* Short grace periods: the module's callback comes while tasks wait for the CPU. */
static void expedite_rcu(bool on)
{
	FILE *f = fopen("/sys/kernel/rcu_expedited", "w");

	ck_assert_ptr_nonnull(f);
	fprintf(f, "%d\n", on);
	ck_assert_int_eq(fclose(f), 0);
}

static void take_cpu1_away_from(const struct child child[SPINNERS])
{
	struct session s;
	uint32_t id;

	begin(&s, SLOW, 0);
	id = allocate(&s, "instructions", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0);
	for (int i = 0; i < SPINNERS; i++) {
		dev_pin(child[i].pid, 1);
		ok(&s, hwpmc_attach(s.h, id, child[i].pid));
	}
	ok(&s, hwpmc_start(s.h, id));
	cpu1_online(0);
	ok(&s, hwpmc_release(s.h, id));
	dev_check_registers_clear();
	cpu1_online(1);
	dev_check_registers_clear();
	finish(&s);
	end(&s);
}

START_TEST(a_cpu_that_processes_ran_on_to_its_end_is_left_with_its_counters_off)
{
	struct child child[SPINNERS];

	expedite_rcu(true);
	for (int i = 0; i < SPINNERS; i++) {
		child[i] = dev_child(spin, NULL);
		dev_go(&child[i]);
	}
	for (int cycle = 0; cycle < 20; cycle++)
		take_cpu1_away_from(child);
	for (int i = 0; i < SPINNERS; i++) {
		kill(child[i].pid, SIGKILL);
		waitpid(child[i].pid, NULL, 0);
	}
	expedite_rcu(false);
	dev_still_counts();
}
END_TEST

/* ---- a CPU that goes amid a pause of sampling ---------------------------- */

static uint64_t cpu1_samples;

static void look_at_cpu1(const struct hwpmc_record *r)
{
	cpu1_samples += r->cpu == 1 && r->hdr->type == HWPMC_LOG_CALLCHAIN;
}

/* Within the limit of 1 % it pauses nearly always. */
static void go_amid_a_pause(struct session *s, pid_t spinner)
{
	uint64_t before = s->t.throttled;

	dev_pin(spinner, 1);
	while (s->t.throttled == before)
		drain(s);
	cpu1_online(0);
	dev_msleep(50);		/* what would end the pause finds no CPU */
	cpu1_online(1);
	drain(s);
	before = cpu1_samples;
	dev_pin(spinner, 1);
	while (cpu1_samples == before)
		drain(s);
}

START_TEST(a_cpu_that_went_amid_a_pause_of_sampling_samples_when_it_is_back)
{
	struct child spinner = dev_child(spin, NULL);
	struct session s;
	uint32_t id;

	begin_looking(&s, NONE, 0, look_at_cpu1);
	id = allocate(&s, "instructions", HWPMC_MODE_SS, 0, 1, 1000);
	set_tunable("selfcost", 1);
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&spinner);
	for (int cycle = 0; cycle < 10; cycle++)
		go_amid_a_pause(&s, spinner.pid);
	ok(&s, hwpmc_stop(s.h, id));
	set_tunable("selfcost", 0);
	kill(spinner.pid, SIGKILL);
	waitpid(spinner.pid, NULL, 0);
	finish(&s);
	end(&s);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(a_cpu_goes_and_comes_while_all_samples_and_no_overflow_is_missing,
			  200);
	harness_add_timed(it_does_so_with_late_lost_doubled_and_stray_interrupts,
			  200);
	harness_add_timed(a_cpu_that_processes_ran_on_to_its_end_is_left_with_its_counters_off,
			  100);
	harness_add_timed(a_cpu_that_went_amid_a_pause_of_sampling_samples_when_it_is_back,
			  60);
	return harness_run();
}
