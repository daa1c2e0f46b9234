/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * metric.c - figures that people expect beside the counts: instructions
 * per cycle, miss rates, events per second; means and deviations of runs. Pure.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "stat.h"

static const struct kind_name {
	const char *name;
	enum stat_kind kind;
} kind_names[] = {
	{ "cycles", KIND_CYCLES },
	{ "cpu-cycles", KIND_CYCLES },
	{ "unhalted-cycles", KIND_CYCLES },
	{ "instructions", KIND_INSTRUCTIONS },
	{ "branches", KIND_BRANCHES },
	{ "branch-instructions", KIND_BRANCHES },
	{ "branch-misses", KIND_BRANCH_MISSES },
	{ "branch-mispredicts", KIND_BRANCH_MISSES },
	{ "cache-references", KIND_CACHE_REFS },
	{ "llc-reference", KIND_CACHE_REFS },
	{ "cache-misses", KIND_CACHE_MISSES },
	{ "llc-misses", KIND_CACHE_MISSES },
	{ "rapl-pkg", KIND_ENERGY },
	{ "energy-pkg", KIND_ENERGY },
	{ "rapl-cores", KIND_CORE_ENERGY },
	{ "energy-cores", KIND_CORE_ENERGY },
	{ "rapl-gpu", KIND_ENERGY },
	{ "energy-gpu", KIND_ENERGY },
	{ "rapl-dram", KIND_ENERGY },
	{ "energy-ram", KIND_ENERGY },
	{ "rapl-platform", KIND_ENERGY },
	{ "energy-psys", KIND_ENERGY },
	{ "tsc", KIND_TSC },
	{ "mperf", KIND_MPERF },
	{ "perf-mperf", KIND_MPERF },
	{ "aperf", KIND_APERF },
	{ "perf-aperf", KIND_APERF },
};

/* Case means nothing, and space . _ - are the same, as in the library. */
static bool same_name(const char *s, size_t len, const char *name)
{
	if (strlen(name) != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = tolower((unsigned char)s[i]);

		if (c == ' ' || c == '.' || c == '_')
			c = '-';
		if (c != name[i])
			return false;
	}
	return true;
}

enum stat_kind stat_kind_of(const char *spec, const char **suffix)
{
	size_t len = strcspn(spec, ":,");

	*suffix = spec + len;
	for (size_t i = 0; i < sizeof(kind_names) / sizeof(*kind_names); i++)
		if (same_name(spec, len, kind_names[i].name))
			return kind_names[i].kind;
	return KIND_OTHER;
}

bool stat_kind_is_of_package(enum stat_kind kind)
{
	return kind == KIND_ENERGY || kind == KIND_CORE_ENERGY;
}

double stat_mean(const uint64_t *v, unsigned int n)
{
	long double sum = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += v[i];
	return n ? (double)(sum / n) : 0;
}

/* Of a sample: divided by n - 1. */
double stat_deviation(const uint64_t *v, unsigned int n)
{
	long double mean = 0, squares = 0;

	if (n < 2)
		return 0;
	for (unsigned int i = 0; i < n; i++)
		mean += (long double)v[i] / n;
	for (unsigned int i = 0; i < n; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	return sqrt((double)(squares / (n - 1)));
}

static enum stat_kind stat_metric_base(enum stat_kind kind)
{
	switch (kind) {
	case KIND_INSTRUCTIONS:
		return KIND_CYCLES;
	case KIND_BRANCH_MISSES:
		return KIND_BRANCHES;
	case KIND_CACHE_MISSES:
		return KIND_CACHE_REFS;
	default:
		return KIND_OTHER;
	}
}

static struct stat_metric ratio_metric(enum stat_kind kind, double quotient)
{
	switch (kind) {
	case KIND_BRANCH_MISSES:
		return (struct stat_metric){ quotient * 100, "% of branches" };
	case KIND_CACHE_MISSES:
		return (struct stat_metric){ quotient * 100,
					     "% of cache references" };
	default:
		return (struct stat_metric){ quotient,
					     "instructions per cycle" };
	}
}

struct stat_metric stat_metric(enum stat_kind kind, double count, double base,
			       double ns)
{
	if (base > 0 && kind != KIND_APERF)
		return ratio_metric(kind, count / base);
	if (!(ns > 0))
		return (struct stat_metric){ 0, NULL };
	if (kind == KIND_CYCLES)
		return (struct stat_metric){ count / ns, "GHz" };
	if (kind == KIND_APERF && base > 0)
		return (struct stat_metric){ count / base / ns, "GHz" };
	if (stat_kind_is_of_package(kind))
		return (struct stat_metric){ count / ns * 1e3, "W" };
	return (struct stat_metric){ count / ns * 1e9, "/s" };
}

uint64_t stat_event_total(const struct stat_event *ev)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < ev->ncell; i++)
		sum += ev->cell[i].value;
	return sum;
}

static uint64_t stat_event_delta(const struct stat_event *ev)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < ev->ncell; i++)
		sum += ev->cell[i].value - ev->cell[i].shown;
	return sum;
}

static const struct stat_event *stat_find(const struct stat_set *set,
				   enum stat_kind kind, const char *suffix,
				   unsigned int turn)
{
	for (unsigned int i = 0; i < set->nevent; i++) {
		const struct stat_event *ev = &set->event[i];

		/* Counts of other times have no ratio. */
		if (!ev->why && ev->kind == kind && ev->turn == turn &&
		    strcmp(ev->suffix, suffix) == 0)
			return ev;
	}
	return NULL;
}

/* The count of an event, or of one CPU of it, that a report shows. */
static double count_of(const struct stat_report *r, const struct stat_event *ev,
		       const struct stat_cell *cell)
{
	if (!r->interval)
		return stat_mean(cell ? cell->run : ev->run, r->nrun);
	return cell ? cell->value - cell->shown : stat_event_delta(ev);
}

/* The time that a rate is of: the program's own where it is known. */
static double rate_time(const struct stat_report *r,
			const struct stat_event *ev,
			const struct stat_cell *cell)
{
	double ns = r->interval ? r->length : r->mean.elapsed;

	if (!r->interval && r->mean.has_task && !r->o->delay_ns)
		ns = r->mean.user + r->mean.sys;
	if (r->set->nturn)
		ns = ev->ran_ns;
	/* How long a thread ran is not known. */
	if (cell && r->o->by == BY_THREAD)
		return 0;
	/* A frequency is of one CPU, other rates are of all together. */
	if ((ev->kind == KIND_CYCLES || ev->kind == KIND_APERF) && r->o->system)
		ns *= cell ? cell->ncpu : ev->ncell;
	return ns;
}

/* The same CPU's cell, or the same part, of another event: all have the same CPUs. */
static const struct stat_cell *same_cell(const struct stat_event *other,
					 const struct stat_event *ev,
					 const struct stat_cell *cell)
{
	if (!cell)
		return NULL;
	if (cell >= ev->cell && cell < ev->cell + ev->ncell)
		return &other->cell[cell - ev->cell];
	return &other->part[cell - ev->part];
}

/* The part of the time in which the CPU was not halted: by that, APERF is the frequency
 * that it ran at. 0: not known. */
static double busy_share(const struct stat_report *r, const struct stat_event *ev,
			 const struct stat_cell *cell)
{
	const struct stat_event *mperf = stat_find(r->set, KIND_MPERF, "", ev->turn);
	const struct stat_event *tsc = stat_find(r->set, KIND_TSC, "", ev->turn);
	double all = tsc ? count_of(r, tsc, same_cell(tsc, ev, cell)) : 0;

	if (!mperf || !(all > 0))
		return 0;
	return count_of(r, mperf, same_cell(mperf, ev, cell)) / all;
}

static double base_of(const struct stat_report *r, const struct stat_event *ev,
		      const struct stat_cell *cell)
{
	enum stat_kind kind = stat_metric_base(ev->kind);
	const struct stat_event *base;

	if (ev->kind == KIND_APERF)
		return busy_share(r, ev, cell);
	if (kind == KIND_OTHER)
		return 0;
	base = stat_find(r->set, kind, ev->suffix, ev->turn);
	if (!base)
		return 0;
	return count_of(r, base, same_cell(base, ev, cell));
}

bool stat_has_task_clock(const struct stat_report *r)
{
	return r->o->defaults && !r->interval && r->mean.has_task && !r->o->delay_ns;
}

uint64_t stat_task_clock(const struct stat_report *r)
{
	return r->mean.user + r->mean.sys;
}

struct stat_metric stat_task_metric(const struct stat_report *r)
{
	if (!r->mean.elapsed)
		return (struct stat_metric){ 0, NULL };
	return (struct stat_metric){ (double)stat_task_clock(r) / r->mean.elapsed,
				     "CPUs used" };
}

struct stat_figure stat_figure(const struct stat_report *r,
			       const struct stat_event *ev,
			       const struct stat_cell *cell)
{
	const uint64_t *run = cell ? cell->run : ev->run;
	struct stat_figure f = { .count = count_of(r, ev, cell) };
	uint64_t sum = 0;

	f.metric = stat_metric(ev->kind, f.count, base_of(r, ev, cell),
			       rate_time(r, ev, cell));
	if (r->interval) {
		f.exact = cell ? cell->value - cell->shown :
			  stat_event_delta(ev);
		f.whole = true;
		return f;
	}
	for (unsigned int i = 0; i < r->nrun; i++)
		sum += run[i];
	f.whole = sum % r->nrun == 0;
	f.exact = sum / r->nrun;
	f.deviation = stat_deviation(run, r->nrun);
	return f;
}
