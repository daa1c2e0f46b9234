/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * count.c - does each row count exactly? An interrupt or a fault can add an event or two
 * to a count on some processors, and never takes one away: so the least of many tries is
 * exact, and what the others have more is told as the overcount.
 */
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "selftest.h"

#define TRIES	60
#define LENGTH	20000
/* A counter that has lost what was in it counts backwards, which modulo its width is more than
 * so many bits: no loop is that long. */
#define LEAP	32

/* ---- each row ------------------------------------------------------------ */

struct tries {
	uint64_t least[HWPMC_ROW_MAX], sum[HWPMC_ROW_MAX];
	unsigned int leaps[HWPMC_ROW_MAX];
};

/* What the rows count of a loop and of the two reads around it. */
static bool try_loop(struct selftest *t, struct st_pmcs *p, const char *check,
		     uint64_t n, struct tries *tries)
{
	uint64_t before[HWPMC_ROW_MAX];

	memset(tries, 0, sizeof(*tries));
	memset(tries->least, 0xff, sizeof(tries->least));
	for (int try = 0; try < TRIES; try++) {
		if (!st_batch(t, p, check, HWPMC_BATCH_READ))
			return false;
		for (unsigned int i = 0; i < p->n; i++)
			before[i] = p->entry[i].value;
		st_loop(n);
		if (!st_batch(t, p, check, HWPMC_BATCH_READ))
			return false;
		for (unsigned int i = 0; i < p->n; i++) {
			uint64_t value = p->entry[i].value - before[i];

			if (value >> LEAP) {
				tries->leaps[i]++;
				continue;
			}
			if (value < tries->least[i])
				tries->least[i] = value;
			tries->sum[i] += value;
		}
	}
	return true;
}

/* False: it is told what is wrong. */
static bool row_is_exact(struct selftest *t, const char *name, uint64_t got,
			 unsigned int leaps)
{
	uint64_t want = LENGTH * ST_LOOP_INSN;

	if (leaps)
		st_failed(t, "rows-count",
			  "%s loses what it has counted: %u of %d times it was less than before",
			  name, leaps, 2 * TRIES);
	else if (!got)
		st_failed(t, "rows-count",
			  "%s stands still: it counts 0 of %llu instructions of a loop", name,
			  (unsigned long long)want);
	else if (got != want)
		st_failed(t, "rows-count",
			  "%s counts too %s: %lld of %llu instructions of a loop", name,
			  (int64_t)got < (int64_t)want ? "little" : "much", (long long)got,
			  (unsigned long long)want);
	return !leaps && got == want;
}

static void check_rows(struct selftest *t, struct st_pmcs *p)
{
	uint64_t want = LENGTH * ST_LOOP_INSN;
	unsigned int wrong = 0;
	struct tries none, loop;
	double most = 0;

	if (!st_batch(t, p, "rows-count", HWPMC_BATCH_START) ||
	    !try_loop(t, p, "rows-count", 0, &none) ||
	    !try_loop(t, p, "rows-count", LENGTH, &loop))
		return;
	for (unsigned int i = 0; i < p->n; i++) {
		double over = ((double)loop.sum[i] - loop.least[i] * TRIES) / TRIES;
		unsigned int leaps = none.leaps[i] + loop.leaps[i];

		wrong += !row_is_exact(t, p->name[i], loop.least[i] - none.least[i], leaps);
		if (!leaps && over > most)
			most = over;
	}
	if (!wrong)
		st_held(t, "rows-count",
			"each of %u rows (%s to %s) counts a loop of %llu instructions exactly",
			p->n, p->name[0], p->name[p->n - 1], (unsigned long long)want);
	st_held(t, "overcount",
		"at most %.2f instructions more in the mean of %d loops (interrupts, faults)",
		most, TRIES);
}

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
			  "%s goes back: RDPMC says %llu, then a system call %llu, then RDPMC %llu",
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
			"RDPMC with the mapped page, and the system call, agree on each row");
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
		st_not_tried(t, "moves", "counting from CPU to CPU: there is one CPU");
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

/* Of the loop on this CPU, in system scope; others run there as well. False: failed. */
static bool count_on(struct selftest *t, int cpu)
{
	uint64_t value = 0, want = LENGTH * ST_LOOP_INSN;
	uint32_t id;

	if (hwpmc_allocate(t->h, "instructions:u", HWPMC_MODE_SC, 0, cpu, 0, &id) < 0) {
		st_failed(t, "cpus", "CPU %d: %s", cpu, hwpmc_error(t->h));
		return false;
	}
	if (!st_pin(cpu) || hwpmc_start(t->h, id) < 0) {
		st_failed(t, "cpus", "CPU %d: %s", cpu, hwpmc_error(t->h));
		hwpmc_release(t->h, id);
		return false;
	}
	st_loop(LENGTH);
	if (hwpmc_read(t->h, id, &value) < 0 || value < want)
		st_failed(t, "cpus", "CPU %d counts %llu of at least %llu instructions", cpu,
			  (unsigned long long)value, (unsigned long long)want);
	hwpmc_release(t->h, id);
	return value >= want;
}

static void check_cpus(struct selftest *t)
{
	int cpu[1024];
	unsigned int n = st_cpus(cpu, 1024);
	bool held = true;

	for (unsigned int i = 0; i < n; i++)
		held &= count_on(t, cpu[i]);
	st_pin(-1);
	if (held)
		st_held(t, "cpus", "each of %u CPUs counts in system scope", n);
}

/* ---- perf, before and after ----------------------------------------------- */

/* What perf counts of the loop; 0: it cannot. */
static uint64_t perf_counts(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.exclude_kernel = 1, .exclude_hv = 1,
	};
	uint64_t value[2], least[2] = { 0, 0 };
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	if (fd < 0)
		return 0;
	for (int try = 0; try < 2 * TRIES; try++) {
		if (read(fd, &value[0], 8) != 8)
			break;
		st_loop(try & 1 ? LENGTH : 0);
		if (read(fd, &value[1], 8) != 8)
			break;
		value[1] -= value[0];
		if (try < 2 || value[1] < least[try & 1])
			least[try & 1] = value[1];
	}
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
	struct st_pmcs p;
	uint64_t before;

	if (!can_be_read(t)) {
		st_not_tried(t, "perf", "perf, which might die of a register that faults");
		return;
	}
	before = perf_counts();
	if (st_allocate(t, &p, "rows-count", "instructions:u", 0)) {
		check_rows(t, &p);
		check_moves(t, &p);
		check_reads(t, &p);
		st_batch(t, &p, "rows-stop", HWPMC_BATCH_STOP);
		st_release(t, &p);
		check_cpus(t);
	}
	check_perf(t, before, perf_counts());
}
