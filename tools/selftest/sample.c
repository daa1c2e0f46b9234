/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sample.c - does each row interrupt, as often as it must, and nothing else? A counter
 * that samples begins a period below its end: each overflow is also a wrap.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <libhwpmclog.h>

#include "messages.h"
#include "selftest.h"

#define PERIOD		100003
#define PERIODS		20
/* Sampling that the module throttles says nothing of the counters: it is tried again. */
#define ATTEMPTS	5

int st_take_samples(unsigned int cpu, const void *data, size_t len, void *arg)
{
	struct st_samples *s = arg;
	const char *at = data;

	for (size_t done = 0; done < len; ) {
		const struct hwpmc_log_hdr *hdr = (const void *)(at + done);

		s->throttles += hdr->type == HWPMC_LOG_THROTTLE;
		for (unsigned int i = 0; i < s->p->n; i++)
			if (hdr->type == HWPMC_LOG_CALLCHAIN &&
			    s->p->entry[i].pmcid == hdr->id)
				s->of[i]++;
		s->kernel += hdr->type == HWPMC_LOG_CALLCHAIN && !(hdr->flags & HWPMC_SAMPLE_USER);
		done += hdr->len;
	}
	return 0;
}

/* Nothing else runs and the rings are empty: on a machine that works none is dropped. */
static uint64_t tell_drops(struct selftest *t, const struct hwpmc_rings *rings)
{
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS], sum = 0;

	hwpmc_rings_drop_counts(rings, samples, others, HWPMC_DROP_SLOTS);
	for (int i = 0; i < HWPMC_DROP_SLOTS; i++) {
		sum += samples[i];
		if (samples[i])
			st_failed(t, "drops", "%llu samples were dropped: %s",
				  (unsigned long long)samples[i],
				  i == HWPMC_DROP_LATE ?
				  "their interrupts were late or never came" :
				  hwpmc_name_of_drop(i));
	}
	return sum;
}

static void judge(struct selftest *t, const struct st_samples *s, uint64_t dropped)
{
	uint64_t sum = 0, want = (uint64_t)s->p->n * PERIODS;
	unsigned int few = 0;

	for (unsigned int i = 0; i < s->p->n; i++) {
		sum += s->of[i];
		if (s->of[i] == PERIODS)
			continue;
		few++;
		st_failed(t, "overflows", "%s: %llu samples of %d periods of %d instructions",
			  s->p->name[i], (unsigned long long)s->of[i], PERIODS, PERIOD);
	}
	if (sum + dropped != want)
		st_failed(t, "samples-add-up",
			  "%llu samples and %llu declared drops do not add up to %llu periods",
			  (unsigned long long)sum, (unsigned long long)dropped,
			  (unsigned long long)want);
	else
		st_held(t, "samples-add-up", "%llu samples and %llu declared drops add up to %llu periods",
			(unsigned long long)sum, (unsigned long long)dropped,
			(unsigned long long)want);
	if (!few)
		st_held(t, "overflows", "each of %u rows interrupts once per period", s->p->n);
}

static void judge_interrupts(struct selftest *t, const struct st_pmcs *p,
			     const struct hwpmc_op_getdriverstats *before)
{
	struct hwpmc_op_getdriverstats after;

	if (hwpmc_driver_stats(t->h, &after) < 0)
		return;
	if (after.intr_processed - before->intr_processed < (uint64_t)p->n * PERIODS)
		st_failed(t, "interrupts", "the module saw %llu overflows of %u",
			  (unsigned long long)(after.intr_processed -
					       before->intr_processed), p->n * PERIODS);
	else
		st_held(t, "interrupts", "the module saw %llu overflows",
			(unsigned long long)(after.intr_processed - before->intr_processed));
}

/* False: it was throttled, and nothing is told. */
static bool sample(struct selftest *t, struct hwpmc_rings *rings, struct st_pmcs *p)
{
	struct hwpmc_op_getdriverstats before;
	struct st_samples s = { .p = p };

	if (hwpmc_driver_stats(t->h, &before) < 0 ||
	    !st_batch(t, p, "overflows", HWPMC_BATCH_START))
		return true;
	st_loop((PERIODS * PERIOD + PERIOD / 2) / ST_LOOP_INSN);
	if (!st_batch(t, p, "overflows", HWPMC_BATCH_STOP))
		return true;
	hwpmc_flush_log(t->h);
	hwpmc_rings_read(rings, st_take_samples, &s, NULL);
	if (s.throttles)
		return false;
	judge(t, &s, tell_drops(t, rings));
	judge_interrupts(t, p, &before);
	return true;
}

/* The same, with rings and PMCs of its own. */
static bool attempt(struct selftest *t)
{
	struct hwpmc_rings *rings;
	struct st_pmcs p;
	bool done = true;

	if (hwpmc_rings_open(t->h, 0, 0, &rings) < 0) {
		st_failed(t, "overflows", "%s", hwpmc_error(t->h));
		return true;
	}
	if (st_allocate(t, &p, "overflows", "instructions:u", PERIOD)) {
		done = sample(t, rings, &p);
		st_release(t, &p);
	}
	hwpmc_rings_close(rings);
	hwpmc_configure_log(t->h, -1);
	return done;
}

/* ---- the kernel's complaints ---------------------------------------------- */

static void check_messages(struct selftest *t, int fd, int why)
{
	static const char *const text[] = { MESSAGE_UNKNOWN_NMI };
	unsigned int unknown;

	if (fd < 0) {
		st_not_tried(t, "unknown-nmis", "cannot read the kernel's log: %s", strerror(why));
		return;
	}
	messages_count(fd, text, &unknown, 1);
	close(fd);
	if (unknown)
		st_failed(t, "unknown-nmis", "%u unknown NMIs", unknown);
	else
		st_held(t, "unknown-nmis", "no unknown NMI");
}

void st_sample(struct selftest *t)
{
	int messages = messages_open(), why = errno;
	bool done = false;

	for (int i = 0; i < ATTEMPTS && !done; i++)
		done = attempt(t);
	if (!done) {
		st_failed(t, "throttled",
			  "sampling was throttled %d times, as NMIs took more than kern.hwpmc.selfcost allows: samples were not checked",
			  ATTEMPTS);
	} else {
		st_pair(t);
		st_interrupts(t);
	}
	check_messages(t, messages, why);
}
