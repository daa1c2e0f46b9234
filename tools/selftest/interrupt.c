/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * interrupt.c - what becomes of one interrupt? Whether it comes at all, how long after its
 * overflow, and whether also where the counter was set shortly before it. That all of
 * them add up is for sample.c.
 */
#include <libhwpmclog.h>
#include <time.h>

#include "selftest.h"

static int sum_samples(unsigned int cpu, const void *data, size_t len, void *arg)
{
	const char *at = data;
	uint64_t *n = arg;

	for (size_t done = 0; done < len; ) {
		const struct hwpmc_log_hdr *hdr = (const void *)(at + done);

		*n += hdr->type == HWPMC_LOG_CALLCHAIN;
		done += hdr->len;
	}
	return 0;
}

static bool start(struct selftest *t, const char *check, uint64_t period, uint32_t *id)
{
	if (hwpmc_allocate(t->h, "instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, period,
			   id) < 0) {
		st_failed(t, check, "%s", hwpmc_error(t->h));
		return false;
	}
	if (hwpmc_attach(t->h, *id, 0) == 0 && hwpmc_start(t->h, *id) == 0)
		return true;
	st_failed(t, check, "%s", hwpmc_error(t->h));
	hwpmc_release(t->h, *id);
	return false;
}

/* ---- one at a time ---------------------------------------------------------- */

#define ROUNDS	12
#define PERIOD	2000003
#define STEP	10000
#define LATE	100000		/* instructions: from here on it is told */
#define LOST	1500000

static uint64_t overflows(struct selftest *t)
{
	struct hwpmc_op_getdriverstats stats = { .intr_processed = 0 };

	hwpmc_driver_stats(t->h, &stats);
	return stats.intr_processed;
}

/* Instructions from the overflow to its interrupt, in steps; LOST: there was none. */
static uint64_t one_delay(struct selftest *t)
{
	uint64_t before = overflows(t), delay;

	st_loop((PERIOD - STEP) / ST_LOOP_INSN);
	for (delay = 0; delay < LOST; delay += STEP) {
		st_loop(STEP / ST_LOOP_INSN);
		if (overflows(t) != before)
			break;
	}
	return delay;
}

/* False: it is told what is wrong. */
static bool judge_delays(struct selftest *t, unsigned int lost, uint64_t longest)
{
	if (lost == ROUNDS)
		st_failed(t, "interrupt", "overflows do not interrupt: 0 of %d",
			  ROUNDS);
	/* One that is late may find its overflow dealt with, at a switch, and count for none. */
	else if (longest >= LATE)
		st_failed(t, "interrupt",
			  "interrupts are late: up to %llu instructions after the overflow; %u of %d never came",
			  (unsigned long long)longest, lost, ROUNDS);
	else if (lost)
		st_failed(t, "interrupt", "interrupts are lost: %u of %d never came", lost,
			  ROUNDS);
	else
		st_held(t, "interrupt",
			"each of %d interrupts comes within %llu instructions of its overflow",
			ROUNDS, (unsigned long long)longest + STEP);
	return !lost && longest < LATE;
}

static bool check_delay(struct selftest *t, struct hwpmc_rings *rings)
{
	uint64_t longest = 0, samples = 0;
	unsigned int lost = 0;
	uint32_t id;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t delay;

		if (!start(t, "interrupt", PERIOD, &id))
			return false;
		delay = one_delay(t);
		hwpmc_release(t->h, id);
		hwpmc_rings_read(rings, sum_samples, &samples, NULL);
		if (delay >= LOST)
			lost++;
		else if (delay > longest)
			longest = delay;
	}
	return judge_delays(t, lost, longest);
}

/* ---- shortly after the counter was set ----------------------------------------- */

#define SHORT		1009
#define PIECES		2000
#define BETWEEN		10	/* turns of the loop */

/* It sleeps every few instructions: each overflow comes shortly after a switch. */
static void run_in_pieces(void)
{
	struct timespec moment = { .tv_nsec = 1 };

	for (int i = 0; i < PIECES; i++) {
		nanosleep(&moment, NULL);
		st_loop(BETWEEN);
	}
}

/* The value is of no interest: it is the last check. */
static bool check_arming(struct selftest *t, struct hwpmc_rings *rings)
{
	uint64_t dropped[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS];
	uint64_t came = 0, least = PIECES * BETWEEN * ST_LOOP_INSN / SHORT;
	uint32_t id;

	if (!start(t, "arming", SHORT, &id))
		return false;
	run_in_pieces();
	hwpmc_release(t->h, id);
	hwpmc_flush_log(t->h);
	hwpmc_rings_read(rings, sum_samples, &came, NULL);
	hwpmc_rings_drop_counts(rings, dropped, others, HWPMC_DROP_SLOTS);
	/* Of a counter that is stopped a moment after it overflowed the place may be unknown. */
	if (came + dropped[HWPMC_DROP_LATE] < least || came < dropped[HWPMC_DROP_LATE])
		st_failed(t, "arming",
			  "a counter that is set shortly before its overflow does not interrupt: %llu samples, %llu without an interrupt, expected at least %llu",
			  (unsigned long long)came,
			  (unsigned long long)dropped[HWPMC_DROP_LATE],
			  (unsigned long long)least);
	else
		st_held(t, "arming",
			"a counter that is set shortly before its overflow interrupts (%llu samples)",
			(unsigned long long)came);
	return true;
}

static bool with_rings(struct selftest *t,
		       bool (*check)(struct selftest *t, struct hwpmc_rings *rings))
{
	struct hwpmc_rings *rings;
	bool held;

	if (hwpmc_rings_open(t->h, 0, 0, &rings) < 0) {
		st_failed(t, "interrupt", "%s", hwpmc_error(t->h));
		return false;
	}
	held = check(t, rings);
	hwpmc_rings_close(rings);
	hwpmc_configure_log(t->h, -1);
	return held;
}

void st_interrupts(struct selftest *t)
{
	int cpu;

	if (st_cpus(&cpu, 1) == 1)
		st_pin(cpu);
	if (with_rings(t, check_delay))
		with_rings(t, check_arming);
	else
		st_not_tried(t, "arming",
			     "interrupts of counters that are set shortly before their overflow");
	st_pin(-1);
}
