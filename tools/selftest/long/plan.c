/* SPDX-License-Identifier: BSD-2-Clause */
/* plan.c - the steps, and the share of the time that each has. */
#include <string.h>

#include "common/msg.h"
#include "long.h"
#include "options.h"

static const struct long_step steps[] = {
	{ "registers", "registers before, during and after counting", 1, long_registers, 0 },
	{ "perf", "every row and perf alternately, which must agree", 9, long_perf, 0 },
	{ "limits", "events that only some counters can count", 8, long_limits, 0 },
	{ "switches", "switches between selects, and migration between CPUs", 6, long_switches, 0 },
	{ "edges", "regions of 0 to 600 NOPs", 5, long_edges, 0 },
	{ "conservation", "samples and drops of two rows add up to their periods", 9,
	  long_conservation, 0 },
	{ "nmis", "backtraces by NMIs while two rows sample", 4, long_nmis, 0 },
	{ "ibs-pt", "counting while perf uses IBS and Intel PT", 6, long_ibs_pt, 0 },
	{ "irqs-off", "interrupts disabled for 100 ms", 0, long_irqs_off, 0 },
	{ "skid", "distance from an event to the address of its sample", 4, long_skid, 0 },
	{ "energy", "energy compared with powercap", 4, long_energy, 0 },
	{ "clocks", "APERF and MPERF compared with cycles", 2, long_clocks, 0 },
	{ "hotplug", "CPUs go offline and come back", 3, long_hotplug, LONG_HOTPLUG },
	{ "suspend", "the machine sleeps for ten seconds", 1, long_suspend, LONG_SUSPEND },
};

#define STEPS	(sizeof(steps) / sizeof(*steps))

/* ---- which of them -------------------------------------------------------- */

/* Is name one of a list with commas between? */
static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (strncmp(at, name, len) == 0 && (!at[len] || at[len] == ','))
			return true;
	}
	return false;
}

static bool is_wanted(const struct long_run *r, const struct long_step *s)
{
	if (r->only && !is_listed(r->only, s->name))
		return false;
	return !s->option || r->options & s->option;
}

const char *long_unknown(const char *list)
{
	for (const char *at = list; at; at = strchr(at, ',')) {
		bool known = false;

		at += *at == ',';
		for (unsigned int i = 0; i < STEPS && !known; i++) {
			size_t len = strlen(steps[i].name);

			known = strncmp(at, steps[i].name, len) == 0 &&
				(!at[len] || at[len] == ',');
		}
		if (!known)
			return at;
	}
	return NULL;
}

static unsigned int all_weights(const struct long_run *r)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < STEPS; i++)
		sum += is_wanted(r, &steps[i]) ? steps[i].weight : 0;
	return sum;
}

/* ---- steps ------------------------------------------------------------------ */

static void announce(struct selftest *t, unsigned int i)
{
	struct long_run *r = t->run;
	double left = r->end > r->step_begin ? (r->end - r->step_begin) / 6e10 : 0;

	fprintf(t->quiet ? stderr : stdout, "\nstep %u of %zu: %s - %s (%.1f min; %.0f min left)\n",
		i + 1, STEPS, steps[i].name, steps[i].what,
		(r->step_end - r->step_begin) / 6e10, left);
	fflush(stdout);
}

static void run_step(struct selftest *t, unsigned int i, unsigned int weights)
{
	struct long_run *r = t->run;

	t->step = steps[i].name;
	r->step_begin = st_ns();
	r->step_end = r->step_begin;
	if (weights)
		r->step_end += r->minutes * 60000000000ull * steps[i].weight / weights;
	announce(t, i);
	steps[i].run(t);
	st_pin(-1);
	long_clear_progress(r);
	r->time[r->ntime++] = (struct long_time){ t->step, (st_ns() - r->step_begin) / 1e9 };
	if (long_stopped())
		r->interrupted = t->step;
	t->step = NULL;
}

void long_run(struct selftest *t)
{
	struct long_run *r = t->run;
	unsigned int weights = all_weights(r);

	long_catch_signals(true);
	t->stopped = long_stopped;
	r->begin = st_ns();
	r->end = r->begin + r->minutes * 60000000000ull;
	for (unsigned int i = 0; i < STEPS && !long_stopped(); i++) {
		if (is_wanted(r, &steps[i])) {
			run_step(t, i, weights);
			continue;
		}
		t->step = steps[i].name;
		if (steps[i].option && !r->only)
			st_not_tried(t, steps[i].name, "%s: only with --%s", steps[i].what,
				     steps[i].name);
	}
	t->step = NULL;
	long_catch_signals(false);
	if (r->interrupted)
		msg("interrupted in step '%s': later steps were not run, and all counters are released",
		    r->interrupted);
}
