/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * data.c - a report of "hwpmc stat" for programs: one JSON object a line,
 * or CSV with one header line. Both forms are documented in hwpmc-stat(1) and
 * only grow: members and columns are added at the end.
 */
#include <inttypes.h>
#include <string.h>

#include "common/fmt.h"
#include "metrics.h"
#include "stat.h"

static const char *status_of(const struct stat_event *ev)
{
	return ev->why ? "not-counted" :
	       ev->incomplete ? "incomplete" : "counted";
}

/* Whole counts to the last digit, means with what a double holds. */
static void put_count(FILE *f, const struct stat_figure *fig)
{
	if (fig->whole)
		fprintf(f, "%" PRIu64, fig->exact);
	else
		fprintf(f, "%.3f", fig->count);
}

static void json_figure(FILE *f, const struct stat_report *r,
			const struct stat_event *ev, const struct stat_figure *fig,
			const uint64_t *run)
{
	fputs("\"count\":", f);
	put_count(f, fig);
	if (!r->interval && r->o->runs > 1) {
		fprintf(f, ",\"stddev\":%.3f,\"counts\":[", fig->deviation);
		for (unsigned int i = 0; i < r->nrun; i++)
			fprintf(f, "%s%" PRIu64, i ? "," : "", run[i]);
		fputc(']', f);
	}
	if (r->set->nturn)
		fprintf(f, ",\"counted_ns\":%" PRIu64, ev->ran_ns);
	if (fig->metric.unit) {
		fprintf(f, ",\"metric\":%.6g,\"metric_unit\":",
			fig->metric.value);
		fmt_json_string(f, fig->metric.unit);
	}
}

/* Sockets or cores: what --per-socket and --per-core ask for. */
static void json_parts(FILE *f, const struct stat_report *r,
		       const struct stat_event *ev)
{
	bool core = r->o->by == BY_CORE;

	fprintf(f, ",\"%s\":[", core ? "cores" : "sockets");
	for (unsigned int i = 0; i < ev->npart; i++) {
		const struct stat_cell *part = &ev->part[i];
		struct stat_figure fig = stat_figure(r, ev, part);

		fprintf(f, "%s{\"%s\":\"%s\",\"cpus\":%u,", i ? "," : "",
			core ? "core" : "socket", part->label, part->ncpu);
		json_figure(f, r, ev, &fig, part->run);
		fputc('}', f);
	}
	fputc(']', f);
}

static void json_threads(FILE *f, const struct stat_report *r,
			 const struct stat_event *ev)
{
	fputs(",\"threads\":[", f);
	for (unsigned int i = 0; i < ev->npart; i++) {
		const struct stat_cell *part = &ev->part[i];
		struct stat_figure fig = stat_figure(r, ev, part);

		fprintf(f, "%s{\"pid\":%d,\"tid\":%d,\"comm\":", i ? "," : "", part->pid,
			part->tid);
		fmt_json_string(f, part->name);
		fputc(',', f);
		json_figure(f, r, ev, &fig, part->run);
		fputc('}', f);
	}
	fputc(']', f);
}

static void json_cpus(FILE *f, const struct stat_report *r,
		      const struct stat_event *ev)
{
	fputs(",\"cpus\":[", f);
	for (unsigned int i = 0; i < ev->ncell; i++) {
		const struct stat_cell *cell = &ev->cell[i];
		struct stat_figure fig = stat_figure(r, ev, cell);

		fprintf(f, "%s{\"cpu\":%u,", i ? "," : "", cell->cpu);
		json_figure(f, r, ev, &fig, cell->run);
		fputc('}', f);
	}
	fputc(']', f);
}

static void json_uncounted(FILE *f, const struct stat_event *ev)
{
	const char *kind = hwpmc_name_of_kind(ev->kinds);

	fprintf(f, ",\"kind\":\"%s\",\"uncounted_ns\":%" PRIu64
		",\"uncounted_slices\":%" PRIu64, kind ? kind : "",
		ev->uncounted_ns, ev->uncounted_slices);
}

static void json_sum(FILE *f, const struct stat_event *ev)
{
	fputs(",\"sum_of\":[", f);
	for (unsigned int k = ev->nsum; k; k--) {
		fmt_json_string(f, ev[-(int)k].spec);
		fputs(k > 1 ? "," : "]", f);
	}
}

static void json_event(FILE *f, const struct stat_report *r,
		       const struct stat_event *ev)
{
	struct stat_figure fig;

	fputs("{\"event\":", f);
	fmt_json_string(f, ev->spec);
	fprintf(f, ",\"status\":\"%s\",", status_of(ev));
	if (ev->why) {
		fputs("\"why\":", f);
		fmt_json_string(f, ev->why);
	} else {
		fig = stat_figure(r, ev, NULL);
		json_figure(f, r, ev, &fig, ev->run);
		if (ev->kinds && !r->interval)
			json_uncounted(f, ev);
		if (ev->nsum)
			json_sum(f, ev);
		if (r->o->system)
			json_cpus(f, r, ev);
		if (r->o->by == BY_THREAD)
			json_threads(f, r, ev);
		else if (ev->npart && r->o->system)
			json_parts(f, r, ev);
	}
	fputc('}', f);
}

/* What -M asks for; null where the formula divides by 0. */
static void json_metrics(FILE *f, const struct stat_report *r)
{
	const struct metrics *m = r->set->metrics;

	if (!m->n)
		return;
	fputs(",\"metrics\":[", f);
	for (unsigned int i = 0; i < m->n; i++) {
		double value;

		fputs(i ? ",{\"metric\":" : "{\"metric\":", f);
		fmt_json_string(f, m->chosen[i].def->name);
		if (metrics_value(r, &m->chosen[i], -1, &value))
			fprintf(f, ",\"value\":%.10g,\"unit\":", value);
		else
			fputs(",\"value\":null,\"unit\":", f);
		fmt_json_string(f, m->chosen[i].def->unit);
		fputc('}', f);
	}
	fputc(']', f);
}

static void json_numbers(FILE *f, const char *name, const unsigned int *v,
			 unsigned int n)
{
	fprintf(f, ",\"%s\":[", name);
	for (unsigned int i = 0; i < n; i++)
		fprintf(f, "%s%u", i ? "," : "", v[i]);
	fputc(']', f);
}

/* What was measured: command, processes or CPUs. */
static void json_subject(FILE *f, const struct stat_options *o)
{
	fprintf(f, ",\"scope\":\"%s\"", o->system ? "system" : "process");
	if (o->system)
		json_numbers(f, "measured_cpus", o->cpus.cpu, o->cpus.n);
	else
		fprintf(f, ",\"descendants\":%s",
			o->descendants ? "true" : "false");
	if (o->ncgroup) {
		fputs(",\"cgroups\":[", f);
		for (unsigned int i = 0; i < o->ncgroup; i++) {
			fputs(i ? "," : "", f);
			fmt_json_string(f, stat_cgroup_name(o, i));
		}
		fputc(']', f);
	}
	if (o->npid)
		json_numbers(f, "pids", (const unsigned int *)o->pid, o->npid);
	if (o->ntid)
		json_numbers(f, "tids", (const unsigned int *)o->tid, o->ntid);
	if (!o->command)
		return;
	fputs(",\"command\":[", f);
	for (char **arg = o->command; *arg; arg++) {
		fputs(arg == o->command ? "" : ",", f);
		fmt_json_string(f, *arg);
	}
	fputc(']', f);
}

static void json_total(FILE *f, const struct stat_report *r)
{
	json_subject(f, r->o);
	fprintf(f, ",\"runs\":%u,\"elapsed_ns\":%" PRIu64, r->nrun,
		r->mean.elapsed);
	if (r->o->runs > 1)
		fprintf(f, ",\"elapsed_stddev_ns\":%.0f", r->elapsed_dev);
	if (r->mean.has_task)
		fprintf(f, ",\"user_ns\":%" PRIu64 ",\"system_ns\":%" PRIu64,
			r->mean.user, r->mean.sys);
	if (stat_has_task_clock(r))
		fprintf(f, ",\"task_clock_ns\":%" PRIu64, stat_task_clock(r));
	if (r->o->ncgroup)
		fprintf(f, ",\"cgroup_joined\":%u,\"cgroup_left\":%u", r->set->joined,
			r->set->left);
	if (r->set->lost_records)
		fprintf(f, ",\"lost_records\":%" PRIu64, r->set->lost_records);
	if (r->has_status)
		fprintf(f, ",\"exit_status\":%d", r->status);
	if (r->signal)
		fprintf(f, ",\"signal\":%d", r->signal);
}

void stat_print_json(FILE *f, const struct stat_report *r, bool first)
{
	fprintf(f, "{\"type\":\"%s\"", r->interval ? "interval" : "total");
	if (r->interval)
		fprintf(f, ",\"time_ns\":%" PRIu64 ",\"length_ns\":%" PRIu64,
			r->time, r->length);
	else
		json_total(f, r);
	fputs(",\"events\":[", f);
	for (unsigned int i = 0; i < r->set->nevent; i++) {
		fputs(i ? "," : "", f);
		json_event(f, r, &r->set->event[i]);
	}
	fputc(']', f);
	json_metrics(f, r);
	stat_marks_json(f, r);
	fputs("}\n", f);
}

/* type,time_ns,cpu,event: what begins every line. */
static void csv_lead(FILE *f, const struct stat_report *r, const char *cpu,
		     const char *event)
{
	fprintf(f, "%s,%" PRIu64 ",", r->interval ? "interval" : "total",
		r->interval ? r->time : r->mean.elapsed);
	fmt_csv_field(f, cpu);
	fputc(',', f);
	fmt_csv_field(f, event);
}

static const char *row_of_all(const struct stat_report *r)
{
	return r->o->system || r->o->by == BY_THREAD ? "all" : "";
}

/* Columns behind "why", which each line has if the header has them. ev: its time with --rotate, or
 * NULL. */
static void csv_end(FILE *f, const struct stat_report *r, const struct stat_event *ev)
{
	if (r->set->nturn && ev)
		fprintf(f, ",%" PRIu64, ev->ran_ns);
	else if (r->set->nturn)
		fputc(',', f);
	fputs(r->set->marks ? ",,,,,,,,\n" : "\n", f);
}

static void csv_row(FILE *f, const struct stat_report *r,
		    const struct stat_event *ev, const struct stat_cell *cell)
{
	struct stat_figure fig = stat_figure(r, ev, cell);

	csv_lead(f, r, cell ? cell->label : row_of_all(r), ev->spec);
	fprintf(f, ",%s,", status_of(ev));
	put_count(f, &fig);
	fputs(",events,", f);
	if (!r->interval && r->nrun > 1)
		fprintf(f, "%.3f", fig.deviation);
	fprintf(f, ",%u,", r->interval ? 1 : r->nrun);
	if (fig.metric.unit)
		fprintf(f, "%.6g", fig.metric.value);
	fputc(',', f);
	fmt_csv_field(f, fig.metric.unit ? fig.metric.unit : "");
	fputc(',', f);
	csv_end(f, r, ev);
}

static void csv_not_counted(FILE *f, const struct stat_report *r,
			    const struct stat_event *ev)
{
	csv_lead(f, r, row_of_all(r), ev->spec);
	fputs(",not-counted,,,,,,,", f);
	fmt_csv_field(f, ev->why);
	csv_end(f, r, NULL);
}

static void csv_time(FILE *f, const struct stat_report *r, const char *name,
		     uint64_t ns, double deviation)
{
	csv_lead(f, r, "", name);
	fprintf(f, ",counted,%" PRIu64 ",ns,", ns);
	if (r->nrun > 1 && deviation >= 0)
		fprintf(f, "%.0f", deviation);
	fprintf(f, ",%u,,,", r->nrun);
	csv_end(f, r, NULL);
}

/* A metric has no count; its value stands where those of events have derived figures. */
static void csv_metric(FILE *f, const struct stat_report *r, const struct chosen *c,
		       const struct stat_cell *cell, int row)
{
	double value;

	csv_lead(f, r, cell ? cell->label : row_of_all(r), c->def->name);
	fprintf(f, ",metric,,,,%u,", r->interval ? 1 : r->nrun);
	if (metrics_value(r, c, row, &value))
		fprintf(f, "%.10g", value);
	fputc(',', f);
	fmt_csv_field(f, c->def->unit);
	fputc(',', f);
	csv_end(f, r, NULL);
}

static void csv_metrics(FILE *f, const struct stat_report *r)
{
	const struct metrics *m = r->set->metrics;

	for (unsigned int i = 0; i < m->n; i++) {
		const struct chosen *c = &m->chosen[i];
		unsigned int n;
		const struct stat_cell *row = stat_rows(r->o, &r->set->event[c->event[0]], &n);

		for (unsigned int j = 0; j < n; j++)
			csv_metric(f, r, c, &row[j], j);
		csv_metric(f, r, c, NULL, -1);
	}
}

void stat_print_csv(FILE *f, const struct stat_report *r, bool first)
{
	const struct stat_cell *row;
	unsigned int n;

	if (first)
		fprintf(f, "type,time_ns,cpu,event,status,count,unit,stddev,runs,"
			"metric,metric_unit,why%s%s\n", r->set->nturn ? ",counted_ns" : "",
			r->set->marks ? ",mark,sum,min,median,max,begun,dropped,misused" : "");
	for (unsigned int i = 0; i < r->set->nevent; i++) {
		const struct stat_event *ev = &r->set->event[i];

		if (ev->why) {
			csv_not_counted(f, r, ev);
			continue;
		}
		row = stat_rows(r->o, ev, &n);
		for (unsigned int j = 0; j < n; j++)
			csv_row(f, r, ev, &row[j]);
		csv_row(f, r, ev, NULL);
	}
	csv_metrics(f, r);
	if (r->interval)
		return;
	stat_marks_csv(f, r);
	csv_time(f, r, "elapsed", r->mean.elapsed, r->elapsed_dev);
	if (!r->mean.has_task)
		return;
	csv_time(f, r, "user", r->mean.user, -1);
	csv_time(f, r, "system", r->mean.sys, -1);
	if (stat_has_task_clock(r))
		csv_time(f, r, "task-clock", stat_task_clock(r), -1);
}
