/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_frequency.c - PMCs whose period adapts to a frequency: what their samples, and the
 * drops that are declared, stand for adds up to what was counted. The interval that is
 * wanted is a second, or a microsecond: no machine is so slow, or so fast, that it changes
 * what has to come out.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "harness.h"
#include "../lib/kmod_session.h"

#define MINCOUNT	1000
#define STEP		8	/* one sample changes a period by at most this factor */
#define CPUS		64

/* What the log has said, of all CPUs: one PMC samples at a time. */
static struct {
	uint64_t count;			/* of the PMCALLOCATE record */
	uint64_t sum, dropped;		/* events of samples, and of drops */
	uint64_t first, last, shortest;
	uint64_t of_mincount;		/* samples */
	uint64_t declared;		/* drops that had a PERIOD record before them */
	bool too_fast;			/* a period is more than STEP times the one before */
	uint64_t waits[CPUS];		/* period of the next sample of the CPU, or 0 */
	bool bare;			/* a sample without one, or the reverse */
	bool events_said[CPUS];
} seen;

static void look_at_period(const struct hwpmc_record *r)
{
	const struct hwpmc_log_period *p = (const void *)r->hdr;

	if (p->hdr.flags & HWPMC_PERIOD_DROPPED) {
		seen.dropped += p->period;
		seen.events_said[r->cpu] = true;
		return;
	}
	seen.bare |= seen.waits[r->cpu] || !p->period;
	seen.waits[r->cpu] = p->period;
}

static void look_at_sample(const struct hwpmc_record *r)
{
	uint64_t period = seen.waits[r->cpu];

	seen.bare |= !period;
	seen.waits[r->cpu] = 0;
	seen.sum += period;
	seen.of_mincount += period == MINCOUNT;
	seen.too_fast |= seen.last && period > STEP * seen.last;
	if (!seen.first)
		seen.first = period;
	if (!seen.shortest || period < seen.shortest)
		seen.shortest = period;
	seen.last = period;
}

static void look(const struct hwpmc_record *r)
{
	switch (r->hdr->type) {
	case HWPMC_LOG_PMCALLOCATE:
	case HWPMC_LOG_PMCALLOCATEDYN:
		if (r->allocate->flags & HWPMC_F_FREQUENCY)
			seen.count = r->allocate->count;
		break;
	case HWPMC_LOG_PERIOD:
		look_at_period(r);
		break;
	case HWPMC_LOG_CALLCHAIN:
		look_at_sample(r);
		break;
	case HWPMC_LOG_DROPNOTIFY:
		seen.declared += seen.events_said[r->cpu];
		seen.events_said[r->cpu] = false;
		break;
	}
}

static void begin_adapting(struct session *s, enum reader reader, uint32_t ring)
{
	memset(&seen, 0, sizeof(seen));
	begin_looking(s, reader, ring, look);
}

/* A loop of n rounds in user mode, which may migrate. */
static void sample_at(struct session *s, uint64_t frequency, unsigned long n, bool migrate)
{
	uint32_t id = allocate(s, "instructions:u", HWPMC_MODE_TS,
			       HWPMC_F_EXEC_START | HWPMC_F_FREQUENCY, HWPMC_CPU_ANY,
			       frequency);
	struct child c = dev_loop(n);

	dev_pin(c.pid, 0);
	ok(s, hwpmc_attach(s->h, id, c.pid));
	ok(s, hwpmc_start(s->h, id));
	dev_go(&c);
	for (int i = 0; migrate && i < 50; i++) {
		dev_pin(c.pid, i & 1);
		dev_msleep(1);
	}
	dev_wait(&c);
	ok(s, hwpmc_stop(s->h, id));
	finish(s);
}

/* All but the period that had not ended. */
static void check_adds_up(uint64_t events)
{
	uint64_t told = seen.sum + seen.dropped;

	ck_assert(!seen.bare);
	ck_assert_msg(told <= events && events - told < STEP * seen.last + MINCOUNT,
		      "%llu events: samples of %llu, drops of %llu, the last period was %llu",
		      (unsigned long long)events, (unsigned long long)seen.sum,
		      (unsigned long long)seen.dropped, (unsigned long long)seen.last);
}

START_TEST(periods_that_adapt_add_up_to_what_was_counted)
{
	struct session s;

	/* A sample a second, of what takes less: the period only grows. */
	begin_adapting(&s, FAST, 0);
	sample_at(&s, 1, 4000000, false);
	check_conserved(&s);
	check_adds_up(loop_insn(4000000));
	ck_assert_uint_eq(seen.count, 1);
	ck_assert_uint_eq(seen.first, MINCOUNT);
	ck_assert_uint_gt(seen.last, MINCOUNT);
	ck_assert(!seen.too_fast);
	end(&s);
}
END_TEST

START_TEST(a_frequency_beyond_reach_leaves_the_shortest_period)
{
	struct session s;

	begin_adapting(&s, FAST, 2 << 20);
	sample_at(&s, UINT32_MAX, 1000000, false);
	ck_assert_uint_eq(seen.count, HWPMC_FREQUENCY_MAX);
	ck_assert_uint_eq(s.t.samples + all_drops(&s), loop_insn(1000000) / MINCOUNT);
	ck_assert_uint_eq(seen.of_mincount, s.t.samples);
	ck_assert_uint_eq(seen.sum + seen.dropped,
			  loop_insn(1000000) / MINCOUNT * MINCOUNT);
	end(&s);
}
END_TEST

START_TEST(events_of_dropped_samples_are_declared_with_them)
{
	uint64_t periods = loop_insn(2000000) / MINCOUNT;
	struct session s;

	begin_adapting(&s, NONE, SMALL_RING);
	sample_at(&s, HWPMC_FREQUENCY_MAX, 2000000, false);
	ck_assert_uint_eq(s.t.samples + all_drops(&s), periods);
	ck_assert_uint_gt(s.t.dropped[HWPMC_DROP_FULL], 0);
	ck_assert_uint_eq(seen.dropped, all_drops(&s) * MINCOUNT);
	ck_assert_uint_eq(seen.sum, s.t.samples * MINCOUNT);
	ck_assert_uint_gt(seen.declared, 0);
	end(&s);
}
END_TEST

START_TEST(a_thread_keeps_its_period_while_it_migrates)
{
	struct session s;

	begin_adapting(&s, FAST, 0);
	sample_at(&s, 1, 20000000, true);
	check_adds_up(loop_insn(20000000));
	/* Each switch would begin with the first period again. */
	ck_assert_uint_le(seen.of_mincount, 1);
	end(&s);
}
END_TEST

START_TEST(a_cpu_keeps_its_period_while_its_pmc_is_stopped)
{
	struct session s;
	uint32_t id;

	begin_adapting(&s, FAST, 0);
	id = allocate(&s, "instructions", HWPMC_MODE_SS, HWPMC_F_FREQUENCY, 0, 1);
	dev_pin(getpid(), 0);
	for (int i = 0; i < 3; i++) {
		ok(&s, hwpmc_start(s.h, id));
		dev_spin(1000000);
		ok(&s, hwpmc_stop(s.h, id));
	}
	dev_unpin(getpid());
	finish(&s);
	check_conserved(&s);
	ck_assert(!seen.bare);
	ck_assert_uint_eq(seen.first, MINCOUNT);
	ck_assert_uint_le(seen.of_mincount, 1);
	ck_assert_uint_ge(seen.sum + seen.dropped, 1000000);
	end(&s);
}
END_TEST

#define PAGES	2000

static void touch_pages(void *arg)
{
	char *p = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, PAGES * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		*(volatile char *)(p + i * 4096) = 1;
}

START_TEST(periods_of_soft_events_adapt_and_add_up)
{
	uint64_t faults, told;
	struct session s;
	struct child c;
	uint32_t id[2];

	begin_adapting(&s, FAST, 0);
	id[0] = allocate(&s, "page_fault.write:u", HWPMC_MODE_TS, HWPMC_F_FREQUENCY,
			 HWPMC_CPU_ANY, 1);
	id[1] = allocate(&s, "page_fault.write:u", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0);
	c = dev_child(touch_pages, NULL);
	for (int i = 0; i < 2; i++) {
		ok(&s, hwpmc_attach(s.h, id[i], c.pid));
		ok(&s, hwpmc_start(s.h, id[i]));
	}
	dev_go(&c);
	dev_wait(&c);
	for (int i = 0; i < 2; i++)
		ok(&s, hwpmc_stop(s.h, id[i]));
	ok(&s, hwpmc_read(s.h, id[1], &faults));
	finish(&s);
	told = seen.sum + seen.dropped;
	ck_assert(!seen.bare);
	ck_assert_uint_gt(faults, PAGES - 1);
	ck_assert_uint_eq(seen.first, 1);
	ck_assert_uint_le(told, faults);
	ck_assert_uint_lt(faults - told, STEP * seen.last);
	ck_assert_uint_lt(s.t.samples, 100);
	ck_assert(!seen.too_fast);
	end(&s);
}
END_TEST

/* ---- pauses -------------------------------------------------------------- */

/* Counters count on in a pause: periods that end in it are part of the interval too. */
START_TEST(a_period_adapts_over_pauses_of_sampling_and_adds_up)
{
	struct session s;

	set_tunable("selfcost", 1);
	begin_adapting(&s, FAST, 2 << 20);
	sample_at(&s, HWPMC_FREQUENCY_MAX, 20000000, false);
	set_tunable("selfcost", 0);
	check_conserved(&s);
	check_adds_up(loop_insn(20000000));
	ck_assert_uint_ge(s.t.throttled, 2);
	ck_assert_uint_gt(s.t.dropped[HWPMC_DROP_PAUSED], 0);
	ck_assert_uint_ge(seen.dropped, s.t.dropped[HWPMC_DROP_PAUSED] * MINCOUNT);
	end(&s);
}
END_TEST

static void check_refused(struct session *s, int mode, uint32_t flags, uint32_t cpu)
{
	uint32_t id;

	ck_assert_int_eq(hwpmc_allocate(s->h, "instructions", mode, flags, cpu, 1000, &id),
			 -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(hwpmc_reason(s->h), HWPMC_WHY_FLAGS_MODE);
}

START_TEST(a_frequency_is_for_samples_in_a_log)
{
	struct session s;

	begin_adapting(&s, NONE, 0);
	check_refused(&s, HWPMC_MODE_TC, HWPMC_F_FREQUENCY, HWPMC_CPU_ANY);
	check_refused(&s, HWPMC_MODE_SC, HWPMC_F_FREQUENCY, 0);
	check_refused(&s, HWPMC_MODE_SS, HWPMC_F_FREQUENCY | HWPMC_F_KGMON, 0);
	finish(&s);
	end(&s);
}
END_TEST

int main(void)
{
	dev_setup();
	if (!try_tunable("mincount", MINCOUNT))
		return 1;
	harness_add_timed(periods_that_adapt_add_up_to_what_was_counted, 30);
	harness_add_timed(a_frequency_beyond_reach_leaves_the_shortest_period, 30);
	harness_add_timed(events_of_dropped_samples_are_declared_with_them, 30);
	harness_add_timed(a_thread_keeps_its_period_while_it_migrates, 30);
	harness_add_timed(a_cpu_keeps_its_period_while_its_pmc_is_stopped, 30);
	harness_add_timed(periods_of_soft_events_adapt_and_add_up, 30);
	harness_add_timed(a_period_adapts_over_pauses_of_sampling_and_adds_up, 60);
	harness_add(a_frequency_is_for_samples_in_a_log);
	return harness_run();
}
