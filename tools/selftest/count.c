/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count.c - are counts the same however they are read, from CPU to CPU, on each CPU, and
 * beside perf?
 */
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "perf.h"
#include "selftest.h"

#define TRIES	60
#define LENGTH	20000

/* ---- three ways to read --------------------------------------------------- */

static bool reads_agree(struct selftest *t, uint32_t id, const char *name)
{
	struct hwpmc_counter c;
	uint64_t page[2], call;

	if (!st_open_counter(t, id, name, "rdpmc", &c))
		return false;
	for (int i = 0; i < TRIES; i++) {
		if (hwpmc_counter_read(&c, &page[0]) < 0 ||
		    hwpmc_read(t->h, id, &call) < 0 ||
		    hwpmc_counter_read(&c, &page[1]) < 0) {
			st_failed(t, "reads-agree", "%s: %s", name, hwpmc_error(t->h));
			return false;
		}
		if (page[0] <= call && call <= page[1])
			continue;
		st_failed(t, "reads-agree",
			  "%s goes backwards: RDPMC reads %llu, then a system call %llu, then RDPMC %llu",
			  name, (unsigned long long)page[0], (unsigned long long)call,
			  (unsigned long long)page[1]);
		return false;
	}
	return true;
}

static void check_reads(struct selftest *t, struct st_pmcs *p)
{
	bool agree = true;

	for (unsigned int i = 0; i < p->n && !t->no_rdpmc; i++)
		agree &= reads_agree(t, p->entry[i].pmcid, p->name[i]);
	if (t->no_rdpmc)
		return;
	if (agree)
		st_held(t, "reads-agree",
			"RDPMC with the mapped page agrees with the system call on each row");
}

/* ---- from CPU to CPU ------------------------------------------------------ */

/* The least of some tries, as above: what the moves themselves execute is the same. */
static bool count_moves(struct selftest *t, uint32_t id, const int cpu[2], uint64_t n,
			uint64_t *least)
{
	uint64_t value[2];

	for (int try = 0; try < TRIES; try++) {
		if (!st_pin(cpu[0]) || hwpmc_read(t->h, id, &value[0]) < 0)
			return false;
		for (int i = 0; i < 4; i++) {
			st_loop(n);
			if (!st_pin(cpu[~i & 1]))
				return false;
		}
		if (hwpmc_read(t->h, id, &value[1]) < 0)
			return false;
		if (!try || value[1] - value[0] < *least)
			*least = value[1] - value[0];
	}
	return true;
}

static void check_moves(struct selftest *t, struct st_pmcs *p)
{
	uint64_t none, loop, want = 4 * LENGTH * ST_LOOP_INSN;
	int cpu[2];

	if (st_cpus(cpu, 2) < 2) {
		st_not_tried(t, "moves", "a loop that moves between CPUs: this machine has only one CPU");
		return;
	}
	if (!count_moves(t, p->entry[0].pmcid, cpu, 0, &none) ||
	    !count_moves(t, p->entry[0].pmcid, cpu, LENGTH, &loop))
		st_failed(t, "moves", "cannot count on CPUs %d and %d: %s", cpu[0], cpu[1],
			  hwpmc_error(t->h));
	else if (loop - none != want)
		st_failed(t, "moves",
			  "%lld of %llu instructions of a loop that moves between CPUs %d and %d",
			  (long long)(loop - none), (unsigned long long)want, cpu[0], cpu[1]);
	else
		st_held(t, "moves",
			"a loop that moves between CPUs %d and %d is counted exactly",
			cpu[0], cpu[1]);
	st_pin(-1);
}

/* ---- each CPU -------------------------------------------------------------- */

/* All rows of this CPU. Returns how many; 0: it was reported. */
static unsigned int allocate_on(struct selftest *t, int cpu, struct hwpmc_batch_entry *entry)
{
	unsigned int n = 0;

	memset(entry, 0, HWPMC_ROW_MAX * sizeof(*entry));
	while (n < HWPMC_ROW_MAX &&
	       hwpmc_allocate(t->h, "instructions:u", HWPMC_MODE_SC, 0, cpu, 0,
			      &entry[n].pmcid) == 0)
		n++;
	if (!n)
		st_failed(t, "cpus", "CPU %d: %s", cpu, hwpmc_error(t->h));
	return n;
}

static bool judge_on(struct selftest *t, int cpu, const struct hwpmc_batch_entry *e)
{
	uint64_t want = LENGTH * ST_LOOP_INSN;
	char name[HWPMC_NAME_MAX];

	if (e->value >= want)
		return true;
	st_failed(t, "cpus", "CPU %d counts %llu of at least %llu instructions on %s", cpu,
		  (unsigned long long)e->value, (unsigned long long)want,
		  st_name_row(t, e->pmcid, name));
	return false;
}

/* Of the loop on this CPU, in system scope, by each row; others run there as well. Returns how
 * many rows count it; 0: a failure was reported. */
static unsigned int count_on(struct selftest *t, int cpu)
{
	struct hwpmc_batch_entry entry[HWPMC_ROW_MAX];
	unsigned int n = allocate_on(t, cpu, entry), good = 0;

	if (n && st_pin(cpu) && hwpmc_batch(t->h, HWPMC_BATCH_START, entry, n) == 0) {
		st_loop(LENGTH);
		if (hwpmc_batch(t->h, HWPMC_BATCH_READ, entry, n) < 0)
			st_failed(t, "cpus", "CPU %d: %s", cpu, hwpmc_error(t->h));
		else
			while (good < n && judge_on(t, cpu, &entry[good]))
				good++;
	} else if (n) {
		st_failed(t, "cpus", "CPU %d: %s", cpu, hwpmc_error(t->h));
	}
	for (unsigned int i = 0; i < n; i++)
		hwpmc_release(t->h, entry[i].pmcid);
	return good == n ? n : 0;
}

static void check_cpus(struct selftest *t)
{
	unsigned int least = HWPMC_ROW_MAX, most = 0;
	int cpu[1024];
	unsigned int n = st_cpus(cpu, 1024);

	for (unsigned int i = 0; i < n; i++) {
		unsigned int rows = count_on(t, cpu[i]);

		least = rows < least ? rows : least;
		most = rows > most ? rows : most;
	}
	st_pin(-1);
	if (least && least == most)
		st_held(t, "cpus", "each of %u CPUs counts in system scope on each of %u rows",
			n, least);
	else if (least)
		st_held(t, "cpus", "each of %u CPUs counts in system scope on each of its %u to %u rows",
			n, least, most);
}

/* ---- perf, before and after ----------------------------------------------- */

/* What perf counts of the loop on a CPU of this kind; 0: it cannot. */
static uint64_t perf_counts(const struct st_kind *kind)
{
	int fd = perf_open(kind, PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t least[2] = { 0, 0 };

	if (fd < 0)
		return 0;
	st_pin(kind->cpu);
	if (!perf_least(fd, st_loop, LENGTH, TRIES, least))
		least[1] = least[0];
	st_pin(-1);
	close(fd);
	return least[1] - least[0];
}

static void check_perf(struct selftest *t, uint64_t before, uint64_t after)
{
	unsigned long long want = LENGTH * ST_LOOP_INSN;

	if (!before && !after)
		st_not_tried(t, "perf",
			     "perf counts no instructions here, before or after");
	else if (before == after && before == want)
		st_held(t, "perf", "perf counts the same loop exactly before and after");
	else if (before == after)
		st_held(t, "perf", "perf counts %llu of %llu, the same before and after",
			(unsigned long long)before, want);
	else
		st_failed(t, "perf", "perf counts %llu before and %llu after",
			  (unsigned long long)before, (unsigned long long)after);
}

/*
 * Can each counter be read at all? Where the kernel's RDPMC faults, perf's own dies of it, and
 * whatever has perf's lock stands still from then on; the module's does not.
 */
static bool can_be_read(struct selftest *t)
{
	struct st_pmcs p;
	bool can;

	if (!st_allocate(t, &p, "rows-read", "instructions:u", 0))
		return false;
	can = st_batch(t, &p, "rows-read", HWPMC_BATCH_START) &&
	      st_batch(t, &p, "rows-read", HWPMC_BATCH_READ) &&
	      st_batch(t, &p, "rows-read", HWPMC_BATCH_STOP);
	st_release(t, &p);
	return can;
}

void st_count(struct selftest *t)
{
	struct st_kind kind[ST_KINDS];
	struct st_pmcs p;
	uint64_t before;

	st_kinds(t, kind);
	if (!can_be_read(t)) {
		st_not_tried(t, "perf", "perf's counts: perf might fail on a register that faults");
		return;
	}
	before = perf_counts(&kind[0]);
	st_rows(t);
	if (st_allocate(t, &p, "moves", "instructions:u", 0)) {
		if (st_batch(t, &p, "moves", HWPMC_BATCH_START)) {
			check_moves(t, &p);
			check_reads(t, &p);
			st_batch(t, &p, "rows-stop", HWPMC_BATCH_STOP);
		}
		st_release(t, &p);
		check_cpus(t);
	}
	check_perf(t, before, perf_counts(&kind[0]));
}
