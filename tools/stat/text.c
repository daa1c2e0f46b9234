/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.c - a report of "hwpmc stat" for people: counts right-aligned,
 * derived figures beside them, colours only on a terminal.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "common/usermode.h"
#include "metrics.h"
#include "stat.h"

#define COUNT_WIDTH	18
#define NAME_WIDTH	22

struct paint {
	const char *bold, *warn, *dim, *off;
};

static bool is_coloured(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return !(no && *no) && term && strcmp(term, "dumb") && isatty(fileno(f));
}

/* One output stays open while a command is measured: it is looked at once, not at each
 * line of each interval. */
static struct paint paint_for(FILE *f)
{
	static FILE *looked_at;
	static bool coloured;

	if (f != looked_at)
		coloured = is_coloured(f);
	looked_at = f;
	if (!coloured)
		return (struct paint){ "", "", "", "" };
	return (struct paint){ "\033[1m", "\033[33m", "\033[2m", "\033[0m" };
}

static int name_width(const struct stat_set *set)
{
	int width = NAME_WIDTH;

	for (unsigned int i = 0; i < set->nevent; i++)
		if ((int)strlen(set->event[i].spec) > width)
			width = strlen(set->event[i].spec);
	for (unsigned int i = 0; i < set->metrics->n; i++)
		if ((int)strlen(set->metrics->chosen[i].def->name) > width)
			width = strlen(set->metrics->chosen[i].def->name);
	return width;
}

static void print_command(FILE *f, const struct stat_options *o)
{
	for (char **arg = o->command; *arg; arg++) {
		fputs(arg == o->command ? "'" : " ", f);
		fmt_put_plain(f, *arg, 0);
	}
	fputc('\'', f);
}

static void print_cpus(FILE *f, const struct cpus *list)
{
	for (unsigned int i = 0, last; i < list->n; i = last + 1) {
		for (last = i; last + 1 < list->n &&
		     list->cpu[last + 1] == list->cpu[last] + 1; last++)
			;
		fprintf(f, "%s%u", i ? "," : "", list->cpu[i]);
		if (last > i)
			fprintf(f, "-%u", list->cpu[last]);
	}
}

static void print_pids(FILE *f, const char *what, const pid_t *pid, unsigned int n)
{
	fputs(what, f);
	for (unsigned int i = 0; i < n; i++)
		fprintf(f, "%s%d", i ? ", " : " ", pid[i]);
}

/* "the 3 processes of cgroup app.slice" */
static void print_cgroups(FILE *f, const struct stat_options *o)
{
	if (o->npid == 1)
		fputs("the process of ", f);
	else
		fprintf(f, "the %u processes of ", o->npid);
	fputs(o->ncgroup == 1 ? "cgroup " : "cgroups ", f);
	for (unsigned int i = 0; i < o->ncgroup; i++) {
		fputs(i ? ", " : "", f);
		fmt_put_plain(f, stat_cgroup_name(o, i), 0);
	}
}

static void print_title(FILE *f, const struct stat_report *r)
{
	const struct stat_options *o = r->o;
	bool many = o->npid > 1;

	fputs("\n Counts of ", f);
	if (o->system) {
		fputs(o->cpus.n == 1 ? "CPU " : "CPUs ", f);
		print_cpus(f, &o->cpus);
	} else if (o->ncgroup) {
		print_cgroups(f, o);
	} else if (o->ntid) {
		print_pids(f, o->ntid == 1 ? "thread" : "threads", o->tid, o->ntid);
	} else if (o->npid) {
		print_pids(f, o->npid == 1 ? "process" : "processes", o->pid, o->npid);
	} else {
		print_command(f, o);
	}
	if (!o->system && o->descendants)
		fputs(many ? " and their descendants" : " and its descendants",
		      f);
	if ((o->system || o->npid) && o->command) {
		fputs(" while ", f);
		print_command(f, o);
		fputs(" ran", f);
	}
	if (r->nrun > 1)
		fprintf(f, ", mean of %u runs", r->nrun);
	fputs(":\n\n", f);
}

static void print_metric(FILE *f, const struct stat_metric *m)
{
	char buf[FMT_NUMBER];

	if (strcmp(m->unit, "/s") == 0)
		fprintf(f, "%s/s", fmt_scaled(buf, m->value));
	else if (m->unit[0] == '%')
		fprintf(f, "%.2f %s", m->value, m->unit);
	else
		fprintf(f, "%.3f %s", m->value, m->unit);
}

static void print_count(FILE *f, const struct stat_report *r,
			const struct stat_event *ev,
			const struct stat_figure *fig)
{
	char number[FMT_NUMBER], text[FMT_NUMBER + 2];

	uint64_t count = fig->whole ? fig->exact : (uint64_t)(fig->count + .5);

	if (stat_kind_is_of_package(ev->kind))
		snprintf(number, sizeof(number), "%ju.%06ju J",
			 (uintmax_t)(count / 1000000), (uintmax_t)(count % 1000000));
	else
		fmt_group(number, count, r->o->big_num ? fmt_separator() : "");
	snprintf(text, sizeof(text), "%s%s", ev->incomplete ? ">=" : "",
		 number);
	fprintf(f, "%*s", COUNT_WIDTH, text);
}

static void print_deviation(FILE *f, double deviation, double mean)
{
	fprintf(f, "  +- %.0f", deviation);
	if (mean > 0)
		fprintf(f, " (%.2f %%)", deviation / mean * 100);
}

/* "(counted 0.250 of 0.502 s, 49.8 %)": with turns a count is of that time. */
static void print_turns(FILE *f, const struct stat_report *r, const struct stat_event *ev)
{
	double all = r->mean.elapsed / 1e9, ran = ev->ran_ns / 1e9;

	fprintf(f, "  (counted %.3f of %.3f s, %.1f %%)", ran, all,
		all > 0 ? ran / all * 100 : 0);
}

/* One count: of an event, or of one CPU's part of it. */
static void print_row(FILE *f, const struct stat_report *r,
		      const struct stat_event *ev, const struct stat_cell *cell,
		      int width)
{
	struct stat_figure fig = stat_figure(r, ev, cell);
	struct paint p = paint_for(f);

	fputs(p.bold, f);
	print_count(f, r, ev, &fig);
	fprintf(f, "%s  %-*s", p.off, fig.metric.unit || r->nrun > 1 || r->set->nturn ? width : 0,
		ev->spec);
	if (fig.metric.unit) {
		fprintf(f, "%s  # ", p.dim);
		print_metric(f, &fig.metric);
		fputs(p.off, f);
	}
	if (!r->interval && r->nrun > 1)
		print_deviation(f, fig.deviation, fig.count);
	if (r->set->nturn)
		print_turns(f, r, ev);
	fputc('\n', f);
}

static void print_not_counted(FILE *f, const struct stat_event *ev, int width)
{
	struct paint p = paint_for(f);

	fprintf(f, "%s%*s%s  %-*s  # %s\n", p.warn, COUNT_WIDTH,
		"<not counted>", p.off, width, ev->spec, ev->why);
}

static bool has_rows(const struct stat_options *o)
{
	return o->by != BY_ALL;
}

static int label_width(const struct stat_options *o)
{
	return o->by == BY_THREAD ? 27 : o->by == BY_CORE ? 12 : 7;
}

static const char *label_title(const struct stat_options *o)
{
	static const char *const title[] = {
		[BY_CPU] = "CPU", [BY_SOCKET] = "socket", [BY_CORE] = "core",
		[BY_THREAD] = "thread",
	};

	return title[o->by];
}

/* What stands before each row: the time of an interval, the CPU, socket or core. */
static void print_lead(FILE *f, const struct stat_report *r,
		       const struct stat_cell *cell)
{
	if (r->interval)
		fprintf(f, "%14.6f", r->time / 1e9);
	if (has_rows(r->o))
		fprintf(f, "%*s", label_width(r->o), cell ? cell->label : "all");
}

static void print_event(FILE *f, const struct stat_report *r,
			const struct stat_event *ev, int width)
{
	const struct stat_cell *row;
	unsigned int n;

	if (ev->why) {
		print_lead(f, r, NULL);
		print_not_counted(f, ev, width);
		return;
	}
	row = stat_rows(r->o, ev, &n);
	for (unsigned int i = 0; i < n; i++) {
		print_lead(f, r, &row[i]);
		print_row(f, r, ev, &row[i], width);
	}
	print_lead(f, r, NULL);
	print_row(f, r, ev, NULL, width);
}

/* "0.998  ipc  # instructions per cycle" */
static void print_metric_row(FILE *f, const struct stat_report *r,
			     const struct chosen *c, int row, int width)
{
	struct paint p = paint_for(f);
	double value;

	fputs(p.bold, f);
	if (metrics_value(r, c, row, &value))
		fprintf(f, "%*.3f", COUNT_WIDTH, value);
	else
		fprintf(f, "%*s", COUNT_WIDTH, "-");
	fprintf(f, "%s  %-*s%s  # %s%s\n", p.off, width, c->def->name, p.dim,
		c->def->unit, p.off);
}

static void print_metrics(FILE *f, const struct stat_report *r, int width)
{
	const struct metrics *m = r->set->metrics;

	if (m->n && !r->interval)
		fputc('\n', f);
	for (unsigned int i = 0; i < m->n; i++) {
		const struct stat_event *first = &r->set->event[m->chosen[i].event[0]];
		unsigned int n;
		const struct stat_cell *row = stat_rows(r->o, first, &n);

		for (unsigned int j = 0; j < n; j++) {
			print_lead(f, r, &row[j]);
			print_metric_row(f, r, &m->chosen[i], j, width);
		}
		print_lead(f, r, NULL);
		print_metric_row(f, r, &m->chosen[i], -1, width);
	}
}

static void print_task_clock(FILE *f, const struct stat_report *r, int width)
{
	struct stat_metric m = stat_task_metric(r);
	struct paint p = paint_for(f);

	fprintf(f, "%s%*.3f%s  %-*s", p.bold, COUNT_WIDTH, stat_task_clock(r) / 1e6,
		p.off, width, "msec task-clock");
	if (m.unit)
		fprintf(f, "%s  # %.3f %s%s", p.dim, m.value, m.unit, p.off);
	fputc('\n', f);
}

static void print_times(FILE *f, const struct stat_report *r)
{
	const struct stat_times *t = &r->mean;

	fprintf(f, "\n%*.9f  seconds elapsed", COUNT_WIDTH, t->elapsed / 1e9);
	if (r->nrun > 1)
		fprintf(f, "  +- %.9f (%.2f %%)", r->elapsed_dev / 1e9,
			t->elapsed ? r->elapsed_dev / t->elapsed * 100 : 0);
	fputc('\n', f);
	if (t->has_task)
		fprintf(f, "%*.9f  seconds user\n%*.9f  seconds system\n",
			COUNT_WIDTH, t->user / 1e9, COUNT_WIDTH, t->sys / 1e9);
	fputc('\n', f);
}

/* " EVENT: counted on cpu_core only: 37.2 ms in 12 slices ran elsewhere" */
static void put_uncounted(FILE *f, const struct stat_event *ev)
{
	const char *kind = hwpmc_name_of_kind(ev->kinds);

	fprintf(f, "%s: counted on %s only: %.3f ms in %" PRIu64 " %s ran elsewhere",
		ev->spec, kind ? kind : "some cores",
		ev->uncounted_ns / 1e6, ev->uncounted_slices,
		ev->uncounted_slices == 1 ? "slice" : "slices");
}

static void print_uncounted(FILE *f, const struct stat_set *set)
{
	bool any = false;

	for (unsigned int i = 0; i < set->nevent; i++) {
		if (!set->event[i].kinds || set->event[i].why)
			continue;
		fputc(' ', f);
		put_uncounted(f, &set->event[i]);
		fputc('\n', f);
		any = true;
	}
	if (any)
		fputc('\n', f);
}

static const char *processes(unsigned int n)
{
	return n == 1 ? "process" : "processes";
}

/* " 2 processes joined the cgroup and were not counted, 1 left it and was counted on" */
static void put_cgroups(FILE *f, const struct stat_set *set)
{
	const char *which = set->o->ncgroup == 1 ? "cgroup" : "cgroups";

	if (set->joined)
		fprintf(f, "%u %s joined the %s after counting started and %s not counted", set->joined,
			processes(set->joined), which, set->joined == 1 ? "was" : "were");
	if (set->joined && set->left)
		fputs("; ", f);
	if (set->left)
		fprintf(f, "%u %s left the %s and %s still counted", set->left,
			processes(set->left), which, set->left == 1 ? "was" : "were");
}

void stat_say_cgroups(const struct stat_set *set)
{
	char line[256];
	FILE *f = set->joined || set->left ? fmemopen(line, sizeof(line), "w") : NULL;

	if (!f)
		return;
	put_cgroups(f, set);
	fclose(f);
	msg("%s", line);
}

void stat_say_uncounted(const struct stat_set *set)
{
	char line[512];

	for (unsigned int i = 0; i < set->nevent; i++) {
		FILE *f;

		if (!set->event[i].kinds || set->event[i].why)
			continue;
		f = fmemopen(line, sizeof(line), "w");
		if (!f)
			return;
		put_uncounted(f, &set->event[i]);
		fclose(f);
		msg("%s", line);
	}
}

static void print_notes(FILE *f, const struct stat_report *r)
{
	if (r->set->user_mode)
		fputs(" " USERMODE_NOTE "\n\n", f);
	if (r->set->joined || r->set->left) {
		fputc(' ', f);
		put_cgroups(f, r->set);
		fputs("\n\n", f);
	}
	if (r->set->lost_records)
		fprintf(f, " %" PRIu64 " records of switches were lost: %s; "
			"use larger rings (--ring-size)\n\n",
			r->set->lost_records, r->o->ntid ? "counts of threads are too low" :
			"the counts of these switches are added to 'unknown'");
	for (unsigned int i = 0; i < r->set->nevent; i++) {
		if (!r->set->event[i].incomplete)
			continue;
		if (!r->o->ntid || !r->set->lost_records)
			fputs(" >= the count is too low: the kernel had no memory to "
			      "follow some new threads or processes\n\n", f);
		return;
	}
}

void stat_print_text(FILE *f, const struct stat_report *r, bool first)
{
	int width = name_width(r->set);

	if (!r->interval) {
		print_title(f, r);
		stat_losses_print(f, r->set);
	}
	if (r->interval && first)
		fputs("#         time", f);
	if (has_rows(r->o) && (!r->interval || first))
		fprintf(f, "%*s", label_width(r->o), label_title(r->o));
	if (r->interval ? first : has_rows(r->o))
		fprintf(f, "%*s  event\n", COUNT_WIDTH, "count");
	for (unsigned int i = 0; i < r->set->nevent; i++)
		print_event(f, r, &r->set->event[i], width);
	print_metrics(f, r, width);
	if (r->interval)
		return;
	if (stat_has_task_clock(r))
		print_task_clock(f, r, width);
	print_times(f, r);
	print_uncounted(f, r->set);
	print_notes(f, r);
	stat_marks_text(f, r);
}
