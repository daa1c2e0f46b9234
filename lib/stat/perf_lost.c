/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_lost.c - samples that perf record has lost, pauses of its sampling, and parts of its
 * files that this library does not take: each kind is a note of the log, once.
 */
#include <stdio.h>

#include "perf.h"
#include "stat.h"

static void put_drop(struct perfdata *p, int32_t cpu, uint64_t time, enum hwpmc_drop_cause cause,
		     uint64_t samples, uint64_t others)
{
	size_t pairs = HWPMC_DROP__COUNT - HWPMC_DROP_FIXED;
	struct hwpmc_log_drop_pair *pair;
	struct hwpmc_log_drop *r;

	if (!samples && !others)
		return;
	r = perf_put(p, HWPMC_LOG_DROPNOTIFY, sizeof(*r) + pairs * sizeof(*pair), time);
	if (!r)
		return;
	r->cpu = cpu < 0 ? 0 : cpu;
	r->ncause = HWPMC_DROP__COUNT;
	r->since = time;
	if (cause < HWPMC_DROP_FIXED) {
		r->samples[cause] = samples;
		r->others[cause] = others;
		return;
	}
	pair = (void *)(r + 1);
	pair[cause - HWPMC_DROP_FIXED] = (struct hwpmc_log_drop_pair){ samples, others };
}

/* The kernel counts the lost samples of each event, and perf writes them at the end. */
static bool counts_samples(const struct perfdata *p)
{
	return p->nevent && p->event[0].read_format & PERF_R_LOST;
}

/* An identifier, and how many records of any type did not fit into the buffer. */
int perf_lost(struct perfdata *p, const struct perf_hdr *record)
{
	struct perf_trailer t;
	uint64_t n;
	size_t len;

	t = perf_trailer(p, record, &len);
	if (len < 24)
		return perf_damaged(p, "LOST record of %zu bytes: the minimum is 24", len);
	n = perf_u64((const uint8_t *)record + 16);
	if (counts_samples(p))
		p->lost += n;
	else
		put_drop(p, t.cpu, t.time, HWPMC_DROP_FULL, n, 0);
	return 0;
}

/* Of the kernel: the buffer of the hardware was full. Of perf, at the end: see above. */
int perf_lost_samples(struct perfdata *p, const struct perf_hdr *record)
{
	struct perf_trailer t;
	uint64_t n;
	size_t len;

	t = perf_trailer(p, record, &len);
	if (len < 16)
		return perf_damaged(p, "LOST_SAMPLES record of %zu bytes: the minimum is 16", len);
	n = perf_u64((const uint8_t *)record + 8);
	if (perf_hdr_of(record).misc & PERF_MISC_LOST_BY_BPF)
		return 0;
	if (counts_samples(p))
		p->lost_samples += n;
	else
		put_drop(p, t.cpu, t.time, HWPMC_DROP_UNCOUNTED, n, 0);
	return 0;
}

/* Time, identifier, stream. */
int perf_throttle(struct perfdata *p, const struct perf_hdr *record)
{
	struct perf_hdr h = perf_hdr_of(record);
	struct hwpmc_log_throttle *r;
	struct perf_event *e;
	struct perf_trailer t;
	size_t len;

	t = perf_trailer(p, record, &len);
	if (len < 24)
		return perf_damaged(p, "THROTTLE record of %zu bytes: the minimum is 24", len);
	e = perf_event_of(p, perf_u64((const uint8_t *)record + 16));
	r = perf_put(p, HWPMC_LOG_THROTTLE, sizeof(*r), perf_time(p, t.time));
	if (!r)
		return 0;
	r->hdr.flags = h.type == PERF_UNTHROTTLE;
	r->hdr.id = e ? e - p->event + 1 : 0;
	r->cpu = t.cpu < 0 ? 0 : t.cpu;
	return 0;
}

/* ---- what is left out ---------------------------------------------------- */

static const char *const left_texts[PERF_LEFT__COUNT] = {
	[PERF_LEFT_TRACE] = "fields of tracepoints",
	[PERF_LEFT_AUX] = "AUX data (Intel PT and others)",
	[PERF_LEFT_BRANCHES] = "branch stacks",
	[PERF_LEFT_STACKS] = "user stacks for unwinding by DWARF",
	[PERF_LEFT_ADDRESSES] = "addresses of data",
	[PERF_LEFT_READ] = "values of counters read with samples",
	[PERF_LEFT_GUESTS] = "programs of guests",
	[PERF_LEFT_DEFERRED] = "deferred call chains",
	[PERF_LEFT_UNKNOWN] = "samples of events that the file does not describe",
};

void perf_leave(struct perfdata *p, enum perf_left what)
{
	p->left[what] = true;
}

void perf_put_left(struct perfdata *p)
{
	char text[1024] = "";
	size_t len = 0;

	for (int i = 0; i < PERF_LEFT__COUNT; i++)
		if (p->left[i])
			len += snprintf(text + len, sizeof(text) - len, "%s%s", len ? ", " : "",
					left_texts[i]);
	if (len)
		perf_put_note(p, 0, "perf-left-out", text);
	put_drop(p, -1, p->last, HWPMC_DROP_FULL, p->lost_samples,
		 p->lost > p->lost_samples ? p->lost - p->lost_samples : 0);
}
