/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marks.c - the marks of programs (--markers): who listens to them, and how their values are
 * printed. The names are text of the measured program.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hwpmc_mark.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "stat.h"

#define NAME_WIDTH	20
#define EVENT_WIDTH	24
#define NUMBER_WIDTH	16

/* Output, and its form. */
struct printing {
	FILE *f;
	const struct stat_report *r;
	const char *sep;
	bool any;
	/* Each mark once: its first event. */
	uint64_t open, dropped, misused;
	const char *first_event;
};

int stat_marks_check(const struct stat_options *o)
{
	if (!o->markers)
		return 0;
	if (!o->command || !o->events.n)
		return msg_usage("--markers needs a command and events (-e)");
	if (o->metric || o->runs > 1 || o->rotate_ns || o->format == STAT_SEPARATED)
		return msg_usage("--markers cannot be combined with -M, -r, --rotate or -x");
	return 0;
}

int stat_marks_open(struct stat_set *set)
{
	const char *event[HWPMC_MARKS_EVENTS + 1];
	unsigned int n = 0;

	if (!set->o->markers)
		return 0;
	for (unsigned int i = 0; i < set->nevent && n <= HWPMC_MARKS_EVENTS; i++)
		if (!set->event[i].nsum && !set->event[i].why)
			event[n++] = set->event[i].spec;
	if (hwpmc_marks_open(event, n, &set->marks) == 0 &&
	    setenv(HWPMC_MARKS_ENV, hwpmc_marks_env(set->marks), 1) == 0)
		return 0;
	msg("%s", set->marks ? strerror(errno) : hwpmc_error(NULL));
	return -1;
}

void stat_marks_close(struct stat_set *set)
{
	hwpmc_marks_close(set->marks);
	set->marks = NULL;
}

static int each(struct printing *p, hwpmc_marks_fn *fn)
{
	int rc = hwpmc_marks_each(p->r->set->marks, p->r->o->by == BY_THREAD, fn, p);

	if (rc < 0)
		msg("%s", hwpmc_error(NULL));
	return rc;
}

/* ---- text ------------------------------------------------------------------ */

static void put_number(const struct printing *p, uint64_t value, int width)
{
	char buf[FMT_NUMBER];

	fprintf(p->f, " %*s", width, fmt_group(buf, value, p->sep));
}

static void add_notes(struct printing *p, const struct hwpmc_mark_stats *s)
{
	if (!p->first_event)
		p->first_event = s->event;
	/* Events of a mark have the same numbers of these; an event can be given twice. */
	if (p->first_event != s->event)
		return;
	p->dropped += s->dropped;
	p->misused += s->misused;
	if (s->begun > s->count + s->dropped)
		p->open += s->begun - s->count - s->dropped;
}

static int text_row(const struct hwpmc_mark_stats *s, void *arg)
{
	struct printing *p = arg;

	if (!p->any) {
		fprintf(p->f, " %-*s", NAME_WIDTH, "mark");
		if (p->r->o->by == BY_THREAD)
			fprintf(p->f, " %10s", "thread");
		fprintf(p->f, " %-*s %10s %*s %12s %12s %12s\n", EVENT_WIDTH, "event", "values",
			NUMBER_WIDTH, "sum", "min", "median", "max");
	}
	p->any = true;
	fputc(' ', p->f);
	fmt_put_plain(p->f, s->name, NAME_WIDTH);
	if (p->r->o->by == BY_THREAD)
		fprintf(p->f, " %10d", s->tid);
	fputc(' ', p->f);
	fmt_put_plain(p->f, s->event, EVENT_WIDTH);
	put_number(p, s->count, 10);
	put_number(p, s->sum, NUMBER_WIDTH);
	put_number(p, s->min, 12);
	put_number(p, s->median, 12);
	put_number(p, s->max, 12);
	fputc('\n', p->f);
	add_notes(p, s);
	return 0;
}

static void text_notes(const struct printing *p)
{
	if (p->open)
		fprintf(p->f, " %" PRIu64 " marks were begun and have no value: their code was left "
			"without an end, or had not ended\n", p->open);
	if (p->dropped)
		fprintf(p->f, " %" PRIu64 " marks have no value: the thread was switched while it "
			"read its counters, or had too many open marks\n", p->dropped);
	if (p->misused)
		fprintf(p->f, " %" PRIu64 " marks ended without a begin\n", p->misused);
}

/* Why there are none, or not all. */
static void text_state(const struct printing *p)
{
	char why[512];
	uint64_t programs, lost;

	if (hwpmc_marks_state(p->r->set->marks, why, sizeof(why), &programs, &lost) < 0)
		return;
	if (*why) {
		fputs(" a program could not count its marks: ", p->f);
		fmt_put_plain(p->f, why, 0);
		fputc('\n', p->f);
	} else if (!programs) {
		fputs(" no program with marks (HWPMC_MARK_BEGIN) executed one, or it ran as another "
		      "user, in another PID namespace or with too little memory (ulimit -v)\n",
		      p->f);
	}
	if (lost)
		fprintf(p->f, " %" PRIu64 " marks were not counted: too many threads or names\n",
			lost);
}

void stat_marks_text(FILE *f, const struct stat_report *r)
{
	struct printing p = { .f = f, .r = r, .sep = r->o->big_num ? fmt_separator() : "" };

	if (!r->set->marks)
		return;
	each(&p, text_row);
	text_notes(&p);
	text_state(&p);
	fputc('\n', f);
}

/* ---- JSON and CSV ---------------------------------------------------------- */

static int json_row(const struct hwpmc_mark_stats *s, void *arg)
{
	struct printing *p = arg;

	fputs(p->any ? ",{\"mark\":" : "{\"mark\":", p->f);
	p->any = true;
	fmt_json_string(p->f, s->name);
	fputs(",\"event\":", p->f);
	fmt_json_string(p->f, s->event);
	if (p->r->o->by == BY_THREAD)
		fprintf(p->f, ",\"pid\":%d,\"tid\":%d", s->pid, s->tid);
	fprintf(p->f, ",\"values\":%" PRIu64 ",\"sum\":%" PRIu64 ",\"min\":%" PRIu64
		",\"median\":%" PRIu64 ",\"max\":%" PRIu64 ",\"begun\":%" PRIu64 ",\"dropped\":%" PRIu64
		",\"misused\":%" PRIu64 ",\"sketched\":%s}", s->count, s->sum, s->min, s->median,
		s->max, s->begun, s->dropped, s->misused, s->sketched ? "true" : "false");
	return 0;
}

void stat_marks_json(FILE *f, const struct stat_report *r)
{
	struct printing p = { .f = f, .r = r };
	char why[512];
	uint64_t programs, lost;

	if (!r->set->marks || r->interval)
		return;
	fputs(",\"marks\":[", f);
	each(&p, json_row);
	fputc(']', f);
	if (hwpmc_marks_state(r->set->marks, why, sizeof(why), &programs, &lost) < 0)
		return;
	fprintf(f, ",\"marks_programs\":%" PRIu64 ",\"marks_lost\":%" PRIu64, programs, lost);
	if (*why) {
		fputs(",\"marks_why\":", f);
		fmt_json_string(f, why);
	}
}

static int csv_row(const struct hwpmc_mark_stats *s, void *arg)
{
	struct printing *p = arg;

	fprintf(p->f, "mark,%" PRIu64 ",", p->r->mean.elapsed);
	if (p->r->o->by == BY_THREAD)
		fprintf(p->f, "%d", s->tid);
	fputc(',', p->f);
	fmt_csv_field(p->f, s->event);
	fprintf(p->f, ",counted,%" PRIu64 ",values,,1,,,,%s", s->count,
		p->r->set->nturn ? "," : "");
	fmt_csv_field(p->f, s->name);
	fprintf(p->f, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		",%" PRIu64 "\n", s->sum, s->min, s->median, s->max, s->begun, s->dropped,
		s->misused);
	return 0;
}

void stat_marks_csv(FILE *f, const struct stat_report *r)
{
	struct printing p = { .f = f, .r = r };

	if (r->set->marks && !r->interval)
		each(&p, csv_row);
}

/* Forms without a place for it: on standard error. */
void stat_marks_say(const struct stat_set *set)
{
	uint64_t programs, lost;
	char why[512];

	if (!set->marks || hwpmc_marks_state(set->marks, why, sizeof(why), &programs, &lost) < 0)
		return;
	if (*why)
		msg("a program could not count its marks: %s", fmt_plain(why));
	else if (lost)
		msg("%" PRIu64 " marks were not counted: too many threads or names", lost);
}
