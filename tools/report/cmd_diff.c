/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_diff.c - "hwpmc diff": two logs side by side, what has become more and what
 * less. Each column of samples adds up to those of its log.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/commands.h"
#include "common/doubts.h"
#include "common/fmt.h"
#include "common/logopts.h"
#include "common/missing.h"
#include "common/msg.h"
#include "common/pager.h"
#include "common/symname.h"
#include "diff.h"
#include "report.h"

const char cmd_diff_help[] =
"usage: hwpmc diff [option ...] old new\n"
"\n"
"Compare two logs: print for each function its share of the samples in the old\n"
"and the new log, the difference in percentage points, and the ratio of events.\n"
"\n"
"  -b, --by KEY        print a line for each function, image or process; default:\n"
"                      function\n"
"  -s, --sort KEY      sort by delta, ratio, old, new or name; default: delta\n"
"  -l, --limit PERCENT omit lines with a smaller share in both logs; print their\n"
"                      sum\n"
"      --json, --csv   print one object or line each\n"
"      --format FORMAT print text, json or csv\n"
LOGOPTS_FILTER_HELP
LOGOPTS_PLACE_HELP
LOGOPTS_SYMBOLS_HELP
"  -o FILE             write to FILE\n"
"      --stdio         do not start a pager\n"
"      --full-names    do not shorten names of functions on a terminal\n"
"\n"
"Exit status: 0; 1 if a log cannot be read or the logs have no event in common;\n"
"2 for an invalid option.\n";

struct options {
	struct logopts log;
	enum diff_key key;
	enum diff_sort sort;
	const char *path[2];
	bool full_names;		/* on a terminal too */
	struct pager out;
};

enum { OPT_FULL_NAMES = 256 };

/* ---- options ------------------------------------------------------------- */

static int parse_option(void *arg, int c)
{
	static const char *const keys[] = { "function", "image", "process" };
	static const char *const sorts[] = {
		"delta", "ratio", "old", "new", "name",
	};
	struct options *o = arg;

	switch (c) {
	case 'b':
		return logopts_word("key", "function, image or process", optarg,
				    keys, DIFF_KEYS, &o->key);
	case 's':
		return logopts_word("sort key", "delta, ratio, old, new or name",
				    optarg, sorts, DIFF_SORTS, &o->sort);
	case OPT_FULL_NAMES:
		o->full_names = true;
		return 0;
	default:
		return logopts_parse_output(&o->log, c, optarg);
	}
}

static int parse_options(struct options *o, int argc, char *argv[])
{
	static const struct option options[] = {
		LOGOPTS_HELP,
		{ "by", required_argument, NULL, 'b' },
		{ "sort", required_argument, NULL, 's' },
		{ "full-names", no_argument, NULL, OPT_FULL_NAMES },
		LOGOPTS_OUTPUT,
		LOGOPTS_FILTER,
		LOGOPTS_PLACE,
		LOGOPTS_SYMBOLS,
		{ NULL, 0, NULL, 0 },
	};
	static const struct logopts_command command = {
		":b:s:" LOGOPTS_OUTPUT_SHORT LOGOPTS_FILTER_SHORT
		LOGOPTS_SYMBOLS_SHORT, options, cmd_diff_help, parse_option,
	};
	int status = logopts_parse_all(&o->log, argc, argv, &command, o);

	if (status || o->log.help)
		return status;
	if (argc - optind != 2)
		return msg_usage("give two logs: the old and the new one");
	o->path[0] = argv[optind];
	o->path[1] = argv[optind + 1];
	o->log.o.leaf_only = true;
	return 0;
}

/* ---- lines --------------------------------------------------------------- */

static void ratio_text(char *buf, size_t size, const struct diff *d,
		       const uint64_t count[2])
{
	double ratio = diff_ratio(d, count);

	if (isinf(ratio))
		snprintf(buf, size, "new");
	else if (ratio == 0)
		snprintf(buf, size, "gone");
	else
		snprintf(buf, size, "x%.3g", ratio);
}

/* What the figures and the image leave of a line. */
static const char *shown_name(const struct options *o, const struct diff *d,
			      const struct diff_line *l, char buf[SYMNAME])
{
	size_t image = strlen(l->image);

	if (!o->out.terminal || d->key != DIFF_SYMBOL)
		return l->name;
	return symname_show(buf, l->name, symname_room(o->out.columns, 61 +
			    (image > 20 ? image : 20)));
}

static void print_text(const struct options *o, const struct diff *d,
		       const struct diff_line *l)
{
	double old = diff_percent(d, 0, l->count[0]);
	double new = diff_percent(d, 1, l->count[1]);
	char ratio[32], name[SYMNAME];

	ratio_text(ratio, sizeof(ratio), d, l->count);
	fprintf(o->out.f, "%7.2f%% %7.2f%% ", old, new);
	pager_heat(&o->out, fabs(new - old) * 10);
	fprintf(o->out.f, "%+8.2f %8s", new - old, ratio);
	pager_plain(&o->out);
	fprintf(o->out.f, " %10" PRIu64 " %10" PRIu64 "  ", l->count[0],
		l->count[1]);
	fmt_put_plain(o->out.f, l->image, d->key == DIFF_SYMBOL ? 20 : 0);
	fputs(d->key == DIFF_SYMBOL ? "  " : "", o->out.f);
	fmt_put_plain(o->out.f, shown_name(o, d, l, name), 0);
	fputc('\n', o->out.f);
}

static void print_json(const struct options *o, const struct diff *d,
		       const struct diff_line *l, const char *event)
{
	double old = diff_percent(d, 0, l->count[0]);
	double new = diff_percent(d, 1, l->count[1]);
	double ratio = diff_ratio(d, l->count);
	FILE *f = o->out.f;

	fputs("{\"event\":", f);
	fmt_json_string(f, event);
	fprintf(f, ",\"old_samples\":%" PRIu64 ",\"new_samples\":%" PRIu64
		",\"old_percent\":%.4f,\"new_percent\":%.4f,\"delta\":%.4f,\"ratio\":",
		l->count[0], l->count[1], old, new, new - old);
	/* There is no infinity in JSON. */
	if (isinf(ratio))
		fputs("null", f);
	else
		fprintf(f, "%.6g", ratio);
	fputs(",\"image\":", f);
	fmt_json_string(f, l->image);
	fputs(",\"name\":", f);
	fmt_json_string(f, l->name);
	fputs("}\n", f);
}

static void print_csv(const struct options *o, const struct diff *d,
		      const struct diff_line *l, const char *event)
{
	double old = diff_percent(d, 0, l->count[0]);
	double new = diff_percent(d, 1, l->count[1]);
	double ratio = diff_ratio(d, l->count);
	FILE *f = o->out.f;

	fmt_csv_field(f, event);
	fprintf(f, ",%" PRIu64 ",%" PRIu64 ",%.4f,%.4f,%.4f,", l->count[0],
		l->count[1], old, new, new - old);
	if (!isinf(ratio))
		fprintf(f, "%.6g", ratio);
	fputc(',', f);
	fmt_csv_field(f, l->image);
	fputc(',', f);
	fmt_csv_field(f, l->name);
	fputc('\n', f);
}

static void print_line(const struct options *o, const struct diff *d,
		       const struct diff_line *l, const char *event)
{
	if (o->log.format == LOGOPTS_JSON)
		print_json(o, d, l, event);
	else if (o->log.format == LOGOPTS_CSV)
		print_csv(o, d, l, event);
	else
		print_text(o, d, l);
}

/* ---- events -------------------------------------------------------------- */

static void print_side(const struct options *o, const char *which,
		       const char *path, const struct diff_side *side)
{
	const struct hwpmc_profile_event *ev = side->event;
	char rate[LOGOPTS_RATE], taken[LOGOPTS_RATE];

	fprintf(o->out.f, "# %s: ", which);
	fmt_put_plain(o->out.f, path, 0);
	if (ev)
		fprintf(o->out.f, ": %s, %s\n", logopts_taken(ev, taken),
			logopts_rate(ev, rate));
	else
		fputs(": does not have this event\n", o->out.f);
	if (hwpmc_profile_totals(side->profile)->cut)
		fprintf(o->out.f, "# %s: %s\n", which, MISSING_END);
}

static void print_head(const struct options *o, const struct diff *d,
		       const char *event)
{
	const struct hwpmc_profile_event *old = d->side[0].event;
	const struct hwpmc_profile_event *new = d->side[1].event;

	fputs("# event ", o->out.f);
	fmt_put_plain(o->out.f, event, 0);
	fputc('\n', o->out.f);
	print_side(o, "old", o->path[0], &d->side[0]);
	print_side(o, "new", o->path[1], &d->side[1]);
	if (old && new && old->period != new->period)
		fputs("# the periods differ: compare shares and ratios, not samples\n",
		      o->out.f);
	if (old && new) {
		const uint64_t all[2] = { old->samples, new->samples };
		char ratio[32];

		ratio_text(ratio, sizeof(ratio), d, all);
		fprintf(o->out.f, "# all: %s\n", ratio);
	}
	fprintf(o->out.f, "#   old%%     new%%    delta    ratio        old        new  %s\n",
		d->key == DIFF_SYMBOL ? "image                 function" :
		d->key == DIFF_IMAGE ? "image" : "process");
}

static bool is_small(const struct options *o, const struct diff *d,
		     const struct diff_line *l)
{
	return diff_percent(d, 0, l->count[0]) < o->log.limit &&
	       diff_percent(d, 1, l->count[1]) < o->log.limit;
}

static void print_event(const struct options *o, const struct diff_side side[2])
{
	const struct hwpmc_profile_event *any =
		side[0].event ? side[0].event : side[1].event;
	struct diff_line rest = { "", "(lines below --limit)", { 0, 0 } };
	struct diff d;

	diff_make(&d, side, o->key, o->sort);
	if (o->log.format == LOGOPTS_TEXT)
		print_head(o, &d, any->name);
	for (uint32_t i = 0; i < d.n; i++) {
		if (is_small(o, &d, &d.line[i])) {
			rest.count[0] += d.line[i].count[0];
			rest.count[1] += d.line[i].count[1];
		} else {
			print_line(o, &d, &d.line[i], any->name);
		}
	}
	if (rest.count[0] || rest.count[1])
		print_line(o, &d, &rest, any->name);
	diff_free(&d);
}

/* A log's events by name, and in their order where one has several of it. */
struct named {
	const char *name;
	uint32_t event;
};

struct side {
	struct hwpmc_profile *profile;
	const struct hwpmc_profile_event *event;
	uint32_t n;
	struct named *named;
	uint32_t *place;		/* of each event: in .named */
	struct by_event stacks;
};

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int d = strcmp(x->name, y->name);

	return d ? d : (x->event > y->event) - (x->event < y->event);
}

static void side_make(struct side *s, struct hwpmc_profile *p)
{
	s->profile = p;
	s->event = hwpmc_profile_events(p, &s->n);
	s->named = must_calloc(s->n + (size_t)1, sizeof(*s->named));
	s->place = must_calloc(s->n + (size_t)1, sizeof(*s->place));
	for (uint32_t i = 0; i < s->n; i++)
		s->named[i] = (struct named){ s->event[i].name, i };
	qsort(s->named, s->n, sizeof(*s->named), by_name);
	for (uint32_t i = 0; i < s->n; i++)
		s->place[s->named[i].event] = i;
	by_event_of(&s->stacks, p);
}

static void side_free(struct side *s)
{
	free(s->named);
	free(s->place);
	by_event_free(&s->stacks);
}

/* Where the events of that name begin in .named, or would. */
static uint32_t first_named(const struct side *s, const char *name)
{
	uint32_t lo = 0, hi = s->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (strcmp(s->named[mid].name, name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * The event of the other log: of that name, and where one has several of it (with
 * different periods), in the same place among them.
 */
static const struct hwpmc_profile_event *
find_event(const struct side *other, const struct side *own, uint32_t which)
{
	const char *name = own->event[which].name;
	uint32_t before = own->place[which] - first_named(own, name);
	uint32_t at = first_named(other, name) + before;

	if (at >= other->n || strcmp(other->named[at].name, name))
		return NULL;
	return &other->event[other->named[at].event];
}

static bool have_common_event(const struct side s[2])
{
	for (uint32_t i = 0; i < s[0].n; i++)
		if (find_event(&s[1], &s[0], i))
			return true;
	return false;
}

static void print_all(const struct options *o, const struct side s[2])
{
	bool any = false;

	if (o->log.format == LOGOPTS_CSV)
		fputs("event,old_samples,new_samples,old_percent,new_percent,delta,ratio,image,name\n",
		      o->out.f);
	for (int which = 0; which < 2; which++) {
		for (uint32_t i = 0; i < s[which].n; i++) {
			const struct hwpmc_profile_event *other =
				find_event(&s[!which], &s[which], i);
			struct diff_side side[2] = {
				{ .profile = s[0].profile, .stacks = &s[0].stacks },
				{ .profile = s[1].profile, .stacks = &s[1].stacks },
			};

			/* The second time, only what the first log has not. */
			if (which && other)
				continue;
			side[which].event = &s[which].event[i];
			side[!which].event = other;
			if (any && o->log.format == LOGOPTS_TEXT)
				fputc('\n', o->out.f);
			print_event(o, side);
			any = true;
		}
	}
}

/* ---- the command --------------------------------------------------------- */

static int print_sides(struct options *o, const struct side s[2])
{
	int status;

	if (!have_common_event(s)) {
		msg("cannot compare %s and %s: they have no event in common",
		    o->path[0], o->path[1]);
		return EXIT_FAILED;
	}
	status = pager_open(&o->out, o->log.output,
			    o->log.stdio || o->log.format != LOGOPTS_TEXT);
	if (status)
		return status;
	if (o->full_names)
		pager_full_names(&o->out);
	print_all(o, s);
	for (int which = 0; o->log.format == LOGOPTS_TEXT && which < 2; which++)
		report_problems(o->out.f, s[which].profile, false);
	status = pager_close(&o->out);
	for (int which = 0; o->log.format != LOGOPTS_TEXT && which < 2; which++)
		doubts_tell(s[which].profile);
	return status;
}

static int print_diff(struct options *o, struct hwpmc_profile *p[2])
{
	struct side s[2];
	int status;

	side_make(&s[0], p[0]);
	side_make(&s[1], p[1]);
	status = print_sides(o, s);
	side_free(&s[0]);
	side_free(&s[1]);
	return status;
}

static int diff_run(struct options *o)
{
	struct hwpmc_profile *p[2] = { NULL, NULL };
	int status = EXIT_FAILED;

	p[0] = logopts_read(&o->log, o->path[0]);
	if (p[0])
		p[1] = logopts_read(&o->log, o->path[1]);
	if (p[1])
		status = logopts_check_event(&o->log, p, 2) ?: print_diff(o, p);
	hwpmc_profile_free(p[0]);
	hwpmc_profile_free(p[1]);
	return status;
}

int cmd_diff(int argc, char *argv[])
{
	struct options o = { .key = 0 };
	int status;

	logopts_init(&o.log);
	status = parse_options(&o, argc, argv);
	if (!status && !o.log.help)
		status = diff_run(&o);
	logopts_free(&o.log);
	return status;
}
