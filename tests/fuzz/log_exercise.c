/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_exercise.c - take bytes that may be a log through all that reads logs, and
 * compare what each says of it. Built with sanitizers, which see what is read beyond
 * the bytes; time limits are the caller's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libhwpmcstat.h>
#include <pmclog.h>

#include "log_exercise.h"

#define PIPE_ROOM	32768		/* half of what Linux gives */

static void need(bool is, const char *what)
{
	if (is)
		return;
	fprintf(stderr, "log_exercise: %s\n", what);
	abort();
}

static void *copy_of(const uint8_t *bytes, size_t len)
{
	void *copy = malloc(len ? len : 1);

	need(copy != NULL, "no memory");
	memcpy(copy, bytes, len);
	return copy;
}

static void look_at(struct log_outcome *o, const struct hwpmc_record *r,
		    uint64_t len)
{
	need(r->serial == o->records, "a record has another's number");
	need(r->offset + r->hdr->len <= len, "a record ends behind the log");
	o->records++;
	if (r->hdr->type != HWPMC_LOG_CALLCHAIN)
		return;
	need(r->npc >= 1, "a sample has no address");
	o->samples++;
}

static struct log_outcome parse(const uint8_t *bytes, size_t len, size_t piece)
{
	struct hwpmc_parser *p = hwpmc_parser_new();
	enum hwpmc_parse what = HWPMC_PARSE_MORE;
	struct log_outcome o = { .records = 0 };
	struct hwpmc_record r;
	void *copy = NULL;

	for (size_t at = 0; what == HWPMC_PARSE_MORE; at += piece) {
		size_t n = len - at < piece ? len - at : piece;

		free(copy);
		copy = copy_of(bytes + at, n);
		need(hwpmc_parser_feed(p, copy, n) == 0, "bytes are not taken");
		if (at + n == len)
			hwpmc_parser_end(p);
		while ((what = hwpmc_parser_next(p, &r)) == HWPMC_PARSE_RECORD)
			look_at(&o, &r, len);
	}
	if (what == HWPMC_PARSE_ERROR) {
		o.error_offset = hwpmc_parser_error_offset(p);
		snprintf(o.error, sizeof(o.error), "%s", hwpmc_parser_error(p));
		need(!strncmp(o.error, "offset ", 7), "an error has no offset");
	}
	free(copy);
	hwpmc_parser_free(p);
	return o;
}

/* ---- FreeBSD's ----------------------------------------------------------- */

static void read_as_freebsd(const uint8_t *bytes, size_t len,
			    const struct log_outcome *o)
{
	void *cookie = pmclog_open(PMCLOG_FD_NONE);
	char *copy = copy_of(bytes, len);
	uint64_t samples = 0, time = 0;
	struct pmclog_ev ev;

	need(pmclog_feed(cookie, copy, len) == 0, "FreeBSD's takes no bytes");
	for (int rest = 2; rest--; pmclog_feed(cookie, copy, 0))
		while (pmclog_read(cookie, &ev) == 0) {
			samples += ev.pl_type == PMCLOG_TYPE_CALLCHAIN;
			need(ev.pl_tsc >= time, "FreeBSD's has a time that runs backwards");
			time = ev.pl_tsc;
		}
	need(samples == o->samples, "FreeBSD's has other samples");
	pmclog_close(cookie);
	free(copy);
}

/* ---- libhwpmcstat -------------------------------------------------------- */

/* No file of this machine is to be read many thousand times. */
static struct hwpmc_profile_options options(void)
{
	return (struct hwpmc_profile_options){
		.symbols = { .root = "/nonexistent", .kallsyms = "/dev/null",
			     .perf_map = "/nonexistent" },
	};
}

static void look_at_stack(const struct hwpmc_stack *s)
{
	need(s->nframe >= 1 && s->thread && s->thread->process, "an empty stack");
	for (uint32_t i = 0; i < s->nframe; i++)
		need(s->frame[i]->symbol && s->frame[i]->symbol->name &&
		     s->frame[i]->image && s->frame[i]->image->name,
		     "a frame without a name");
}

/* Of an event with a frequency numbers are of events, and .taken of samples: those that
 * were left out are in no number of samples. */
static void check_events(struct hwpmc_profile *p, const struct log_outcome *o)
{
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(p);
	const struct hwpmc_profile_event *event;
	uint64_t kept = 0, samples = 0;
	bool all = true;
	uint32_t n;

	event = hwpmc_profile_events(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		kept += event[i].taken;
		if (!event[i].frequency)
			samples += event[i].samples + event[i].filtered;
		else
			samples += event[i].taken;
		all &= !event[i].frequency || !event[i].filtered;
	}
	need(kept == t->kept, "the events of the profile do not add up");
	need(all ? samples == o->samples : samples <= o->samples,
	     "the samples of the profile do not add up");
}

static void check_profile(struct hwpmc_profile *p, const struct log_outcome *o)
{
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(p);
	const struct hwpmc_stack *stack;
	uint64_t sum = 0;
	uint32_t n;

	stack = hwpmc_profile_stacks(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		look_at_stack(&stack[i]);
		sum += stack[i].taken;
	}
	need(t->samples == o->samples, "the profile has other samples");
	need(sum == t->kept, "the stacks of the profile do not add up");
	check_events(p, o);
}

/* A log that ends within a record is read as far as it goes. */
static void profile(struct hwpmc_input *in, const struct log_outcome *o,
		    const struct hwpmc_profile_options *options_)
{
	struct hwpmc_profile *p;
	char err[600] = "";

	p = hwpmc_profile_read(in, options_, NULL, NULL, err, sizeof(err));
	need(p || err[0], "a profile fails without a word");
	need(p || o->error[0], "a profile fails where the parser does not");
	if (p)
		check_profile(p, o);
	hwpmc_profile_free(p);
	hwpmc_input_close(in);
}

/* What can be read only once. */
static void profile_of_pipe(const uint8_t *bytes, size_t len,
			    const struct log_outcome *o,
			    const struct hwpmc_profile_options *options_)
{
	char err[600] = "";
	int fds[2];

	if (len > PIPE_ROOM)
		return;
	need(pipe(fds) == 0 && write(fds[1], bytes, len) == (ssize_t)len &&
	     close(fds[1]) == 0, "no pipe");
	profile(hwpmc_input_fd(fds[0], err, sizeof(err)), o, options_);
	close(fds[0]);
}

static void look_up(struct hwpmc_lookup *l, const struct hwpmc_record *r)
{
	const struct hwpmc_place *const *place;
	uint32_t n;

	need(hwpmc_lookup_task(l, r)->info.process != NULL, "a nameless task");
	need(hwpmc_lookup_event(l, r->hdr->id)->name != NULL, "a nameless event");
	hwpmc_lookup_time(l, r->hdr->time);
	place = hwpmc_lookup_stack(l, r, UINT32_MAX, &n);
	need(n <= r->npc, "a sample has more places than addresses");
	for (uint32_t i = 0; i < n; i++)
		need(place[i]->frame.symbol && place[i]->frame.image,
		     "a place without a name");
}

/* As hwpmc dump does, of a file (learn) or a pipe. */
static void lookup(const uint8_t *bytes, size_t len, const struct log_outcome *o,
		   bool learn)
{
	struct hwpmc_profile_options options_ = options();
	struct hwpmc_lookup *l = hwpmc_lookup_new(&options_.symbols);
	struct hwpmc_input *in = hwpmc_input_memory(bytes, len);
	struct hwpmc_record r;
	uint64_t samples = 0;
	char err[600] = "";
	int rc = 0;

	if (learn)
		rc = hwpmc_lookup_learn(l, in, err, sizeof(err));
	need(rc >= 0 || err[0], "a lookup fails without a word");
	while (rc >= 0 && (rc = hwpmc_input_next(in, &r)) > 0) {
		if (!learn)
			hwpmc_lookup_feed(l, &r);
		if (r.hdr->type != HWPMC_LOG_CALLCHAIN)
			continue;
		look_up(l, &r);
		samples++;
	}
	need(rc < 0 || samples == o->samples, "the lookup has other samples");
	hwpmc_lookup_free(l);
	hwpmc_input_close(in);
}

/* What is compressed is another log than its bytes. */
static bool is_zstd(const uint8_t *bytes, size_t len)
{
	return len >= 4 && !memcmp(bytes, "\x28\xb5\x2f\xfd", 4);
}

struct log_outcome log_exercise(const uint8_t *bytes, size_t len, size_t piece)
{
	struct hwpmc_profile_options o = options();
	struct log_outcome whole = parse(bytes, len, len + 1), cut;
	uint8_t *copy = copy_of(bytes, len);

	cut = parse(bytes, len, piece);
	need(!memcmp(&whole, &cut, sizeof(cut)),
	     "pieces and the whole are different logs");
	read_as_freebsd(bytes, len, &whole);
	if (!is_zstd(bytes, len)) {
		profile(hwpmc_input_memory(copy, len), &whole, &o);
		o.by_thread = o.timeline = o.leaf_only = true;
		profile_of_pipe(copy, len, &whole, &o);
		lookup(copy, len, &whole, true);
		lookup(copy, len, &whole, false);
	}
	free(copy);
	return whole;
}
