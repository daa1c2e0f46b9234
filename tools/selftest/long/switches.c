/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * switches.c - two processes on one CPU whose PMCs have the same rows with different selects,
 * so that each switch writes them; and a process that moves from CPU to CPU. Both execute
 * loops of known length. An interrupt may add an event, and a process whose answer is there
 * may have to execute some instructions until it waits for the next loop.
 */
#include <stdlib.h>
#include <time.h>

#include "long.h"
#include "selftest/judge.h"

#define ASKED	50
#define LENGTH	2000

/* An owner of its own, as one owner has each row once, and its PMCs of one process. */
struct side {
	struct hwpmc *h;
	struct st_pmcs p;
	uint64_t last[HWPMC_ROW_MAX];
	/* Loops of 0, while the selects stay, and of LENGTH, while each switch writes them. */
	uint64_t value[2][HWPMC_ROW_MAX];
	unsigned int each;			/* events of a turn */
};

/* All rows that can count `spec`. */
static bool allocate(struct selftest *t, struct side *s, const char *spec, pid_t pid,
		     const char *check)
{
	uint32_t id;

	if (hwpmc_open(&s->h) < 0) {
		st_failed(t, check, "%s", hwpmc_error(NULL));
		return false;
	}
	while (s->p.n < HWPMC_ROW_MAX &&
	       hwpmc_allocate(s->h, spec, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id) == 0) {
		st_name_row(t, id, s->p.name[s->p.n]);
		s->p.entry[s->p.n++].pmcid = id;
		if (hwpmc_attach(s->h, id, pid) < 0)
			break;
	}
	if (s->p.n && hwpmc_reason(s->h) == HWPMC_WHY_ROWS_BUSY &&
	    hwpmc_batch(s->h, HWPMC_BATCH_START, s->p.entry, s->p.n) == 0)
		return true;
	st_failed(t, check, "%s", hwpmc_error(s->h));
	return false;
}

static bool look(struct selftest *t, struct side *s, const char *check)
{
	if (hwpmc_batch(s->h, HWPMC_BATCH_READ, s->p.entry, s->p.n) == 0)
		return true;
	st_failed(t, check, "%s", hwpmc_error(s->h));
	return false;
}

static bool ask_both(struct long_child *c, uint64_t n)
{
	for (int i = 0; i < ASKED; i++)
		if (!long_child_ask(&c[0], n) || !long_child_ask(&c[1], n) ||
		    long_child_answer(&c[0], 10000) != 1 ||
		    long_child_answer(&c[1], 10000) != 1)
			return false;
	return true;
}

/* Adds what the rows of a side have counted since; with -1: nothing. */
static bool add_counts(struct selftest *t, struct side *s, int with)
{
	if (!look(t, s, "switches"))
		return false;
	for (unsigned int i = 0; i < s->p.n; i++) {
		if (with >= 0)
			s->value[with][i] += s->p.entry[i].value - s->last[i];
		s->last[i] = s->p.entry[i].value;
	}
	return true;
}

static bool pause_side(struct selftest *t, struct side *s, bool on)
{
	if (hwpmc_batch(s->h, on ? HWPMC_BATCH_START : HWPMC_BATCH_STOP, s->p.entry, s->p.n) == 0)
		return true;
	st_failed(t, "switches", "%s", hwpmc_error(s->h));
	return false;
}

/* Loops of 0 of both processes while one side counts: nothing replaces its selects. */
static bool count_alone(struct selftest *t, struct long_child *c, struct side *s,
			struct side *other)
{
	return pause_side(t, other, false) && ask_both(c, 0) && add_counts(t, s, -1) &&
	       ask_both(c, 0) && add_counts(t, s, 0) && pause_side(t, other, true);
}

static uint64_t selects_written(struct selftest *t)
{
	struct hwpmc_op_getdriverstats stats = { .switch_programmed = 0 };

	hwpmc_driver_stats(t->h, &stats);
	return stats.switch_programmed;
}

/* Loops of LENGTH while both sides count. */
static bool count_together(struct selftest *t, struct long_child *c, struct side *side,
			   uint64_t *written)
{
	uint64_t before;

	if (!ask_both(c, 0) || !add_counts(t, &side[0], -1) || !add_counts(t, &side[1], -1))
		return false;
	before = selects_written(t);
	if (!ask_both(c, LENGTH))
		return false;
	*written += selects_written(t) - before;
	return add_counts(t, &side[0], 1) && add_counts(t, &side[1], 1);
}

static bool judge_side(struct selftest *t, const struct side *s, uint64_t rounds, uint64_t ns)
{
	uint64_t want = rounds * ASKED * LENGTH * s->each;
	bool good = true;

	for (unsigned int i = 0; i < s->p.n; i++) {
		int64_t more = s->value[1][i] - s->value[0][i] - want;

		long_number(t, more, "more.%s.%s", s->each == 1 ? "branches" : "instructions",
			    s->p.name[i]);
		if (judge_switches(more, ns / 1000000))
			continue;
		good = false;
		st_failed(t, "switches",
			  "%s counts %lld of %llu events in loops while its select changes",
			  s->p.name[i], (long long)(want + more), (unsigned long long)want);
	}
	return good;
}

static void run_switches(struct selftest *t, struct long_child *c, struct side *side)
{
	uint64_t begin = st_ns(), rounds = 0, written = 0, ns;
	bool going;

	do {
		going = count_alone(t, c, &side[0], &side[1]) &&
			count_alone(t, c, &side[1], &side[0]) &&
			count_together(t, c, side, &written);
		rounds += going;
	} while (going && long_more(t) &&
		 st_ns() - begin < (t->run->step_end - t->run->step_begin) / 2);
	if (!going) {
		st_failed(t, "switches", "a child process does not respond");
		return;
	}
	ns = st_ns() - begin;
	long_number(t, written, "selects_written");
	/* Each answer of a process needs a switch to it. */
	if (written < rounds * ASKED) {
		st_failed(t, "switches", "%llu selects were written in %llu switches",
			  (unsigned long long)written, (unsigned long long)rounds * ASKED * 2);
		return;
	}
	if (judge_side(t, &side[0], rounds, ns) && judge_side(t, &side[1], rounds, ns))
		st_held(t, "switches",
			"%u rows count exactly while switches between two processes replace their selects %llu times",
			side[0].p.n, (unsigned long long)written);
}

static void switches(struct selftest *t, struct long_child *c)
{
	struct side side[2] = { { .each = 2 }, { .each = 1 } };
	int cpu = 0;

	st_cpus(&cpu, 1);
	long_child_pin(&c[0], cpu);
	long_child_pin(&c[1], cpu);
	if (allocate(t, &side[0], "instructions:u", c[0].pid, "switches") &&
	    allocate(t, &side[1], "branches:u", c[1].pid, "switches"))
		run_switches(t, c, side);
	hwpmc_close(side[0].h);
	hwpmc_close(side[1].h);
}

/* ---- from CPU to CPU ------------------------------------------------------- */

#define FAR	4000000

/* Moves it each millisecond until it answers. False: it is dead. */
static bool ask_and_move(struct long_child *c, uint64_t n, const int *cpu, unsigned int ncpu,
			 uint64_t *moves)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	int answer;

	if (!long_child_ask(c, n))
		return false;
	while ((answer = long_child_answer(c, 0)) == 0 && !long_stopped()) {
		if (ncpu > 1 && long_child_pin(c, cpu[*moves % ncpu]))
			++*moves;
		nanosleep(&ms, NULL);
	}
	return answer > 0;
}

static bool counts_of(struct selftest *t, struct side *s, struct long_child *c, uint64_t n,
		      const int *cpu, unsigned int ncpu, uint64_t *moves, uint64_t *count)
{
	if (!look(t, s, "migration"))
		return false;
	for (unsigned int i = 0; i < s->p.n; i++)
		s->last[i] = s->p.entry[i].value;
	if (!ask_and_move(c, n, cpu, ncpu, moves) || !look(t, s, "migration"))
		return false;
	for (unsigned int i = 0; i < s->p.n; i++)
		count[i] = s->p.entry[i].value - s->last[i];
	return true;
}

static void migrate(struct selftest *t, struct long_child *c, struct side *s)
{
	struct st_pmcs *p = &s->p;
	uint64_t none[HWPMC_ROW_MAX], with[HWPMC_ROW_MAX], moves = 0, ignored = 0, n = 0;
	int cpu[1024];
	unsigned int ncpu = st_cpus(cpu, 1024);
	int64_t worst = 0;

	do {
		uint64_t begin = st_ns();

		if (!counts_of(t, s, c, 0, cpu, 1, &ignored, none) ||
		    !counts_of(t, s, c, FAR, cpu, ncpu, &moves, with))
			break;
		n++;
		for (unsigned int i = 0; i < p->n; i++) {
			int64_t more = with[i] - none[i] - 2ull * FAR;

			worst = llabs(more) > llabs(worst) ? more : worst;
			if (judge_switches(more, (st_ns() - begin) / 1000000))
				continue;
			st_failed(t, "migration", "%s counts %lld of %d instructions of a loop that moves between CPUs",
				  p->name[i], (long long)(more + 2ll * FAR), 2 * FAR);
			return;
		}
	} while (long_more(t));
	long_number(t, moves, "moves");
	long_number(t, worst, "migration_worst");
	if (n && ncpu < 2)
		st_not_tried(t, "migration", "loops that move between CPUs: this machine has only one CPU");
	else if (n)
		st_held(t, "migration", "%u rows count %llu loops exactly, which move %llu times between %u CPUs",
			p->n, (unsigned long long)n, (unsigned long long)moves, ncpu);
	else
		st_failed(t, "migration", "a child process does not respond");
}

void long_switches(struct selftest *t)
{
	struct side side = { .each = 2 };
	struct long_child c[2];

	if (!long_child_start(&c[0])) {
		st_failed(t, "switches", "cannot start a process");
		return;
	}
	if (long_child_start(&c[1])) {
		switches(t, c);
		if (allocate(t, &side, "instructions:u", c[0].pid, "migration"))
			migrate(t, &c[0], &side);
		hwpmc_close(side.h);
		long_child_end(&c[1]);
	} else {
		st_failed(t, "switches", "cannot start a process");
	}
	long_child_end(&c[0]);
}
