/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * selftest.h - "hwpmc selftest": checks of the counters of this machine. A check counts or
 * samples loops of known length, and reports what it found by st_held(), st_failed(),
 * st_not_tried() or st_measured(): a name, which scripts compare, and a sentence for people.
 */
#ifndef TOOLS_SELFTEST_H
#define TOOLS_SELFTEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libhwpmc.h>

/* ST_MEASURED: a number that no rule decides on here. */
enum st_verdict { ST_HELD, ST_FAILED, ST_NOT_TRIED, ST_MEASURED, ST_VERDICTS };

#define ST_COSTS	8

struct st_result {
	enum st_verdict verdict;
	const char *step;		/* of the long form; NULL: a short check */
	const char *name;
	char *text;
};

/* A kind of core, and a CPU of it that this process may run on. */
struct st_kind {
	uint32_t kind;			/* HWPMC_KIND_*; 0: all CPUs are alike */
	const char *name;		/* "cpu_atom"; NULL: all CPUs are alike */
	int cpu;
};

#define ST_KINDS	4

/* What something costs, in ticks of the TSC and in nanoseconds. */
struct st_cost {
	const char *name, *of;
	double ticks, ns;
};

struct long_run;

struct selftest {
	struct hwpmc *h;
	unsigned int cpus;		/* online */
	bool quiet;			/* no line a check: the JSON form */
	bool no_rdpmc;			/* a program's RDPMC faults */
	bool hypervisor;		/* CPUID has a hypervisor's bit */
	struct st_result *result;	/* an array that grows */
	unsigned int nresult, count[ST_VERDICTS];
	struct st_cost cost[ST_COSTS];
	unsigned int ncost;
	struct long_run *run;		/* NULL: the short form */
	const char *step;		/* of the long form, that runs now */
	bool (*stopped)(void);		/* NULL: nothing interrupts */
};

#define ST_PRINTF	__attribute__((format(printf, 3, 4)))
void st_held(struct selftest *t, const char *name, const char *fmt, ...) ST_PRINTF;
void st_failed(struct selftest *t, const char *name, const char *fmt, ...) ST_PRINTF;
void st_not_tried(struct selftest *t, const char *name, const char *fmt, ...) ST_PRINTF;
void st_measured(struct selftest *t, const char *name, const char *fmt, ...) ST_PRINTF;
void st_free_results(struct selftest *t);
void st_cost(struct selftest *t, const char *name, const char *of, double ticks,
	     double ns);

/* The checks, in the order in which they run. */
void st_count(struct selftest *t);
void st_rows(struct selftest *t);
void st_fixed(struct selftest *t);
void st_kernel(struct selftest *t);
void st_registers(struct selftest *t);
void st_modes(struct selftest *t);
void st_sample(struct selftest *t);
void st_pair(struct selftest *t);
void st_interrupts(struct selftest *t);
void st_events(struct selftest *t);
void st_costs(struct selftest *t);

/* ---- what checks are made of (loop.c) ------------------------------------ */

/* Executes 2 * n instructions of user mode, and some around it that are the same each
 * time. */
void st_loop(uint64_t n);
#define ST_LOOP_INSN	2

/* n system calls, of which each is ST_CALL_INSN instructions in user mode. */
void st_calls(uint64_t n);
#define ST_CALL_INSN	4

/* Branches that cannot be predicted, and, between begin and end, lines that are in no cache. */
void st_mix(void);
void st_mix_begin(void);
void st_mix_end(void);

/* Moves the caller to a CPU; -1: to any. False: it cannot run there. */
bool st_pin(int cpu);
/* The CPUs that the caller may run on: sets cpu[], returns how many there are, at most n. */
unsigned int st_cpus(int *cpu, unsigned int n);

/* Sets kind[ST_KINDS], one for each kind of core. Returns how many there are: at least 1. */
unsigned int st_kinds(struct selftest *t, struct st_kind *kind);
/* "instructions:u", or "cpu_atom/instructions/u" on a kind of core. Returns buf. */
const char *st_spec(char buf[HWPMC_NAME_MAX], const struct st_kind *kind, const char *event,
		    const char *modes);

/* Opens a counter for RDPMC and reads it once. False: that fails or faults, and st_failed()
 * was called with `check`. */
bool st_open_counter(struct selftest *t, uint32_t id, const char *name, const char *check,
		     struct hwpmc_counter *c);

uint64_t st_ticks(void);
uint64_t st_ns(void);

/* All rows that can count `spec` in process scope, each with one PMC of this process. */
struct st_pmcs {
	unsigned int n;
	struct hwpmc_batch_entry entry[HWPMC_ROW_MAX];
	char name[HWPMC_ROW_MAX][HWPMC_NAME_MAX];	/* of the row */
};

/* Allocates each row that can count it, and attaches to this process. period 0: counting.
 * False: st_failed() was called with `check`. */
bool st_allocate(struct selftest *t, struct st_pmcs *p, const char *check,
		 const char *spec, uint64_t period);
bool st_batch(struct selftest *t, struct st_pmcs *p, const char *check,
	      enum hwpmc_batch_command command);
void st_release(struct selftest *t, struct st_pmcs *p);
/* Adds one PMC of this process to them; false, and nothing is reported: there is no row, or
 * this machine has no such event. */
bool st_add(struct selftest *t, struct st_pmcs *p, const char *spec, uint64_t period);
const char *st_name_row(struct selftest *t, uint32_t id, char name[HWPMC_NAME_MAX]);
/* The row's number in its class. */
unsigned int st_row_in_class(struct selftest *t, uint32_t id);

/* Samples of some PMCs: an argument of st_take_samples(), a hwpmc_rings_fn. */
struct st_samples {
	const struct st_pmcs *p;
	uint64_t of[HWPMC_ROW_MAX];	/* by entry of p */
	uint64_t kernel;		/* of all, those in kernel mode */
	uint64_t throttles;
};

int st_take_samples(unsigned int cpu, const void *data, size_t len, void *arg);

#endif
