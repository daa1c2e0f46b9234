/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * long.h - "hwpmc selftest --long": steps that share the time that there is. A step repeats
 * what it does while long_more() is true, and at least once; it reports by st_held() and its
 * like, and stores numbers for the report. It leaves no setting of the machine changed.
 */
#ifndef TOOLS_SELFTEST_LONG_H
#define TOOLS_SELFTEST_LONG_H

#include <sys/types.h>

#include "selftest/selftest.h"

struct long_step {
	const char *name, *what;
	unsigned int weight;		/* share of the time */
	void (*run)(struct selftest *t);
	unsigned int option;		/* LONG_HOTPLUG, LONG_SUSPEND: run with it alone */
};

/* A number of a step: its text as JSON. */
struct long_number {
	const char *step;
	char *name, *json;
};

struct long_time {
	const char *step;
	double seconds;
};

struct long_run {
	unsigned int minutes, options;	/* 0 minutes: each step once */
	const char *only;		/* these steps, with commas between; NULL: all */
	uint64_t begin, end, step_begin, step_end;	/* ns of st_ns() */
	uint64_t shown;
	const char *interrupted;	/* the step that was */
	struct long_number *number;	/* an array that grows */
	unsigned int nnumber;
	struct long_time time[24];
	unsigned int ntime;
};

/* All steps. `minutes` and `options` are set. */
void long_run(struct selftest *t);
void long_free(struct selftest *t);
/* The first name of such a list that is no step's; NULL: each is. */
const char *long_unknown(const char *list);
/* True: the step has time for another round, and nobody has interrupted it. */
bool long_more(struct selftest *t);
bool long_stopped(void);
/* From now on a signal ends the steps, or the program again. */
void long_catch_signals(bool on);
/* Takes the time that is left off the terminal. */
void long_clear_progress(struct long_run *r);

#define LONG_PRINTF	__attribute__((format(printf, 3, 4)))
void long_number(struct selftest *t, double value, const char *name, ...) LONG_PRINTF;
void long_hex(struct selftest *t, uint64_t value, const char *name, ...) LONG_PRINTF;

/* ---- the steps ------------------------------------------------------------ */

void long_registers(struct selftest *t);
void long_perf(struct selftest *t);
void long_limits(struct selftest *t);
void long_switches(struct selftest *t);
void long_edges(struct selftest *t);
void long_conservation(struct selftest *t);
void long_nmis(struct selftest *t);
void long_ibs_pt(struct selftest *t);
void long_irqs_off(struct selftest *t);
void long_skid(struct selftest *t);
void long_energy(struct selftest *t);
void long_clocks(struct selftest *t);
void long_hotplug(struct selftest *t);
void long_suspend(struct selftest *t);

/* ---- what steps are made of ------------------------------------------------- */

/* A process that executes st_loop(n) when it is asked to; it ends with this one. */
struct long_child {
	pid_t pid;
	int ask, answer;
};

bool long_child_start(struct long_child *c);
bool long_child_ask(struct long_child *c, uint64_t n);
/* Waits for its answer, at most ms; 1: it came, 0: not yet, -1: it is dead. */
int long_child_answer(struct long_child *c, int ms);
void long_child_end(struct long_child *c);
bool long_child_pin(struct long_child *c, int cpu);

/* PMCs of a CPU in system scope; period 0 counts. False: nothing was allocated. */
bool long_add(struct selftest *t, struct st_pmcs *p, const char *spec, int cpu,
	      uint64_t period);

/* The first line of a file without its end; false: it cannot be read. */
bool long_line(const char *path, char *buf, size_t size);
bool long_write(const char *path, const char *text);

#endif
