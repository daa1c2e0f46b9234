// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_hidden.c - a processor that can hide single counters from RDPMC in user mode: the
 * module hides those of system scope, and then nothing has to be done for them at a switch
 * to a program that may RDPMC its own.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "../lib/kmod_session.h"

#define TURNS	500
#define PERIOD	5003

static int there[2], back[2];

/* On this CPU too: each of its turns ends with a switch to us. */
static void take_turns(void *arg)
{
	char c;

	close(there[1]);
	while (read(there[0], &c, 1) == 1) {
		dev_spin(3000);
		if (write(back[1], &c, 1) != 1)
			_exit(1);
	}
}

static void turn(void)
{
	char c = 0;

	ck_assert_int_eq(write(there[1], &c, 1), 1);
	ck_assert_int_eq(read(back[0], &c, 1), 1);
}

/* All bits that any counter but one's own has shown. */
static uint64_t seen_of_others(uint32_t own)
{
	uint64_t seen = 0;

	for (uint32_t i = 0; i < 15; i++) {
		uint32_t index = i < 8 ? i : 1u << 30 | (i - 8);

		/* Fixed counter 3 does not exist here. */
		if (index != own && index != (1u << 30 | 3))
			seen |= hwpmc_rdpmc(index);
	}
	return seen;
}

/* Events of this CPU by a PMC, less what really happened. */
static int64_t surplus(struct hwpmc *h, uint32_t id, int truth)
{
	uint64_t count;

	ck_assert(!hwpmc_read(h, id, &count));
	return count - vpmu_vcpu(truth);
}

static uint32_t count_system(struct hwpmc *h, const char *event)
{
	uint32_t id;

	ck_assert_msg(!hwpmc_allocate(h, event, HWPMC_MODE_SC, 0, 0, 0, &id) &&
		      !hwpmc_start(h, id), "%s", hwpmc_error(h));
	return id;
}

/* A PMC of this process, by RDPMC. */
static uint32_t own_index(struct hwpmc *h, const char *event)
{
	uint32_t id, index;

	ck_assert_msg(!hwpmc_allocate(h, event, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id) &&
		      !hwpmc_attach(h, id, 0) && !hwpmc_start(h, id) &&
		      !hwpmc_get_msr(h, id, &index), "%s", hwpmc_error(h));
	return index;
}

/* After each turn of the other nothing of it is seen, nor of anybody else. */
static void take_turns_and_look(uint32_t own)
{
	uint64_t seen = 0;

	for (int i = 0; i < TURNS; i++) {
		turn();
		seen |= seen_of_others(own);
	}
	ck_assert_uint_eq(seen, 0);
	ck_assert_uint_gt(hwpmc_rdpmc(own), 0);
}

static void check_counts(uint32_t own)
{
	static const struct { const char *event; int truth; } sys[] = {
		{ "instructions:u", VPMU_USER_INSN }, { "instructions:k", VPMU_KERNEL_INSN },
	};
	struct hwpmc *h;
	int64_t from[2];
	uint32_t id[2];

	ck_assert(!hwpmc_open(&h));
	for (int i = 0; i < 2; i++)
		id[i] = count_system(h, sys[i].event);
	for (int i = 0; i < 2; i++)
		from[i] = surplus(h, id[i], sys[i].truth);
	take_turns_and_look(own);
	for (int i = 0; i < 2; i++) {
		int64_t more = surplus(h, id[i], sys[i].truth) - from[i];

		/*
		 * The emulated PMU does not count a WRMSR, and a switch has three for the
		 * PMC of the program. Those that clear others lose 24 instructions.
		 */
		ck_assert_msg(more > -50 - (i ? 2 * TURNS * 4 : 0) && more < 50, "%s: %ld",
			      sys[i].event, (long)more);
	}
	hwpmc_close(h);
}

/* No period begins anew. */
static void check_samples(uint32_t own)
{
	uint64_t branches, samples;
	struct session s;
	uint32_t id;

	begin(&s, NONE, 0);
	id = allocate(&s, "branches:u", HWPMC_MODE_SS, 0, 0, PERIOD);
	branches = vpmu_vcpu(VPMU_USER_BRANCH);
	ok(&s, hwpmc_start(s.h, id));
	take_turns_and_look(own);
	ok(&s, hwpmc_stop(s.h, id));
	branches = vpmu_vcpu(VPMU_USER_BRANCH) - branches;
	finish(&s);
	samples = s.t.samples;
	ck_assert_uint_gt(samples, 100);
	ck_assert_msg(samples * PERIOD <= branches && (samples + 2) * PERIOD > branches,
		      "%lu samples of %lu branches", (long)samples, (long)branches);
	check_conserved(&s);
	end(&s);
}

/* The other one, and a PMC of ours that may be read. Once, at the first switch to us, the
 * kernel clears what perf may have left. */
static struct hwpmc *begin_turns(struct child *c, uint32_t *own)
{
	struct hwpmc *h;

	dev_pin(0, 0);
	ck_assert(!pipe(there) && !pipe(back));
	*c = dev_child(take_turns, NULL);
	dev_pin(c->pid, 0);
	dev_go(c);
	ck_assert(!hwpmc_open(&h));
	*own = own_index(h, "branches:u");
	turn();
	return h;
}

static void end_turns(struct hwpmc *h, struct child *c)
{
	close(there[1]);
	dev_wait(c);
	hwpmc_close(h);
	dev_check_registers_clear();
	dev_still_counts();
}

START_TEST(counters_of_system_scope_read_0_in_user_mode_and_no_switch_touches_them)
{
	struct child c;
	uint32_t own;
	struct hwpmc *h = begin_turns(&c, &own);

	check_counts(own);
	check_samples(own);
	end_turns(h, &c);
}
END_TEST

START_TEST(what_a_hidden_counter_has_counted_is_not_seen_when_it_stops)
{
	static const char *const event[] = { "instructions:u", "instructions:u" };
	uint32_t own, id[2], index;
	struct child c;
	struct hwpmc *h = begin_turns(&c, &own), *sys;

	ck_assert(!hwpmc_open(&sys));
	/* A fixed and a programmable one. */
	for (int i = 0; i < 2; i++)
		id[i] = count_system(sys, event[i]);
	take_turns_and_look(own);
	for (int i = 0; i < 2; i++) {
		ck_assert(!hwpmc_stop(sys, id[i]));
		ck_assert_uint_eq(seen_of_others(own), 0);
		ck_assert(!hwpmc_release(sys, id[i]));
	}
	ck_assert_uint_eq(seen_of_others(own), 0);
	/* A new PMC in that row begins at 0: in the turns it counted millions. */
	for (int i = 0; i < 2; i++) {
		index = own_index(h, event[i]);
		ck_assert_uint_lt(hwpmc_rdpmc(index), 200000);
	}
	hwpmc_close(sys);
	end_turns(h, &c);
}
END_TEST

START_TEST(a_hidden_counter_stays_hidden_while_sampling_pauses)
{
	uint64_t seen = 0;
	/* On a fixed and on a programmable counter. */
	static const char *const event[] = { "instructions:u", "branches:u" };
	struct session s;
	struct child c;
	uint32_t own, id[2];
	struct hwpmc *h = begin_turns(&c, &own);

	set_tunable("selfcost", 1);
	begin(&s, NONE, 0);
	for (int i = 0; i < 2; i++) {
		id[i] = allocate(&s, event[i], HWPMC_MODE_SS, 0, 0, 1009);
		ok(&s, hwpmc_start(s.h, id[i]));
	}
	for (int i = 0; i < 4 * TURNS; i++) {
		dev_spin(300);
		seen |= seen_of_others(own);
	}
	for (int i = 0; i < 2; i++)
		ok(&s, hwpmc_stop(s.h, id[i]));
	set_tunable("selfcost", 0);
	finish(&s);
	ck_assert_uint_gt(s.t.throttled, 0);
	ck_assert_uint_eq(seen, 0);
	end(&s);
	end_turns(h, &c);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(counters_of_system_scope_read_0_in_user_mode_and_no_switch_touches_them,
			  30);
	harness_add_timed(what_a_hidden_counter_has_counted_is_not_seen_when_it_stops, 30);
	harness_add_timed(a_hidden_counter_stays_hidden_while_sampling_pauses, 30);
	return harness_run();
}
