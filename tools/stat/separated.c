/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * separated.c - a report of "hwpmc stat -x": the fields of perf stat -x, in its order,
 * for scripts that read those.
 */
#include <inttypes.h>

#include "metrics.h"
#include "stat.h"

/* Time of an interval; CPU or thread; or socket or core, and how many CPUs that is. */
static void put_lead(FILE *f, const struct stat_report *r, const struct stat_cell *cell)
{
	const char *sep = r->o->separator;

	if (r->interval)
		fprintf(f, "%6" PRIu64 ".%09" PRIu64 "%s", r->time / 1000000000,
			r->time % 1000000000, sep);
	if (!cell)
		return;
	fprintf(f, r->o->by == BY_CPU ? "CPU%s%s" : "%s%s", cell->label, sep);
	if (r->o->by == BY_SOCKET || r->o->by == BY_CORE)
		fprintf(f, "%u%s", cell->ncpu, sep);
}

/* How long it was counted, which share of the time that is, and a derived figure. */
static void put_tail(FILE *f, const struct stat_report *r, uint64_t ns, double share,
		     const struct stat_metric *m)
{
	const char *sep = r->o->separator;

	fprintf(f, "%" PRIu64 "%s%.2f%s", ns, sep, share, sep);
	if (m->unit)
		fprintf(f, "%.2f%s%s", m->value, sep, m->unit);
	else
		fputs(sep, f);
	fputc('\n', f);
}

static void put_row(FILE *f, const struct stat_report *r, const struct stat_event *ev,
		    const struct stat_cell *cell)
{
	uint64_t ns = r->interval ? r->length : r->mean.elapsed;
	struct stat_figure fig = stat_figure(r, ev, cell);
	const char *sep = r->o->separator;
	double share = 100;

	put_lead(f, r, cell);
	if (fig.whole)
		fprintf(f, "%" PRIu64, fig.exact);
	else
		fprintf(f, "%.0f", fig.count);
	fprintf(f, "%s%s%s%s", sep, sep, ev->spec, sep);
	if (!r->interval && r->nrun > 1)
		fprintf(f, "%.2f%%%s",
			fig.count > 0 ? fig.deviation / fig.count * 100 : 0, sep);
	if (r->set->nturn) {
		share = ns ? 100.0 * ev->ran_ns / ns : 0;
		ns = ev->ran_ns;
	}
	put_tail(f, r, ns * (cell ? cell->ncpu : r->o->system ? ev->ncell : 1), share,
		 &fig.metric);
}

static void put_not_counted(FILE *f, const struct stat_report *r,
			    const struct stat_event *ev)
{
	const char *sep = r->o->separator;

	put_lead(f, r, NULL);
	fprintf(f, "<not counted>%s%s%s%s0%s0.00%s%s\n", sep, sep, ev->spec, sep, sep,
		sep, sep);
}

static void put_task_clock(FILE *f, const struct stat_report *r)
{
	struct stat_metric m = stat_task_metric(r);
	const char *sep = r->o->separator;

	fprintf(f, "%.2f%smsec%stask-clock%s", stat_task_clock(r) / 1e6, sep, sep, sep);
	put_tail(f, r, stat_task_clock(r), 100, &m);
}

/* As perf's metrics: without a count, an event and a unit of it. */
static void put_metric(FILE *f, const struct stat_report *r, const struct chosen *c)
{
	struct stat_metric m = { 0, c->def->unit };
	const char *sep = r->o->separator;
	uint64_t ns = r->interval ? r->length : r->mean.elapsed;

	put_lead(f, r, NULL);
	fprintf(f, "%s%s%s%s", sep, sep, c->def->name, sep);
	if (!metrics_value(r, c, -1, &m.value))
		m.unit = NULL;
	put_tail(f, r, ns, 100, &m);
}

void stat_print_separated(FILE *f, const struct stat_report *r, bool first)
{
	const struct stat_cell *row;
	unsigned int n;

	(void)first;
	for (unsigned int i = 0; i < r->set->nevent; i++) {
		const struct stat_event *ev = &r->set->event[i];

		if (ev->why) {
			put_not_counted(f, r, ev);
			continue;
		}
		row = stat_rows(r->o, ev, &n);
		for (unsigned int j = 0; j < n; j++)
			put_row(f, r, ev, &row[j]);
		if (!n)
			put_row(f, r, ev, NULL);
	}
	for (unsigned int i = 0; i < r->set->metrics->n; i++)
		put_metric(f, r, &r->set->metrics->chosen[i]);
	if (stat_has_task_clock(r))
		put_task_clock(f, r);
}
