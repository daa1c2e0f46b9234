/* SPDX-License-Identifier: BSD-2-Clause */
/* metrics.c - see metrics.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"
#include "common/msg.h"
#include "metrics.h"

/* ---- choosing ------------------------------------------------------------ */

static bool is_chosen(const struct metrics *m, const char *name)
{
	for (unsigned int i = 0; i < m->n; i++)
		if (strcmp(m->chosen[i].def->name, name) == 0)
			return true;
	return false;
}

/* The event's place in the list; it is added if it is not there. With turns it is
 * looked for in its group alone, which has one turn. */
static unsigned int list_event(struct evlist *list, const char *spec,
			       unsigned int group, bool turns)
{
	unsigned int i;

	for (i = 0; i < list->n; i++)
		if (strcmp(list->spec[i], spec) == 0 &&
		    (!turns || list->group[i] == group))
			return i;
	evlist_add_one(list, spec, group);
	return i;
}

static void choose(struct metrics *m, const struct define *def, const struct formula *f,
		   struct stat_options *o)
{
	struct chosen *c;

	/* Of turns each metric has its own. */
	if (o->rotate_ns)
		o->events.ngroup++;

	m->chosen = must_realloc(m->chosen, m->n + 1, sizeof(*m->chosen));
	c = &m->chosen[m->n++];
	*c = (struct chosen){ .def = def, .f = *f };
	for (unsigned int i = 0; i < f->nevent; i++)
		c->event[i] = list_event(&o->events, f->event[i], o->events.ngroup,
					 o->rotate_ns != 0);
}

static int check_smt(const struct define *def)
{
	if (!def->alone || !cpus_smt_active())
		return 0;
	msg("cannot count metric '%s': its slots are shared by the two threads of a core; while you measure, as root: echo off >/sys/devices/system/cpu/smt/control",
	    def->name);
	return -1;
}

/* Of a name all ways are tried; of a group, each of its names. */
static int choose_named(struct metrics *m, struct hwpmc *h, const char *name,
			struct stat_options *o)
{
	const char *why = NULL;
	unsigned int before = m->n;
	bool known = false;

	o->events.ngroup++;
	for (unsigned int i = 0; i < m->defines.n; i++) {
		const struct define *def = &m->defines.def[i];
		struct formula f;

		if (!define_is(def, name))
			continue;
		known = true;
		if (is_chosen(m, def->name) || !define_usable(def, h, &f, &why))
			continue;
		choose(m, def, &f, o);
		if (check_smt(def) < 0)
			return -1;
	}
	if (!known)
		msg("unknown metric or group '%s'; see: hwpmc list --metrics", name);
	else if (m->n == before && why)
		msg("cannot count metric '%s' on this processor: %s", name, why);
	return known && (m->n > before || !why) ? 0 : -1;
}

int metrics_open(struct metrics *m, struct hwpmc *h, struct stat_options *o)
{
	char *copy, *rest;
	int rc = 0;

	memset(m, 0, sizeof(*m));
	if (!o->metric)
		return 0;
	if (defines_load(&m->defines) < 0)
		return -1;
	copy = rest = must_strdup(o->metric);
	for (char *name = strsep(&rest, ","); name && !rc; name = strsep(&rest, ","))
		rc = choose_named(m, h, name, o);
	free(copy);
	return rc;
}

void metrics_close(struct metrics *m)
{
	for (unsigned int i = 0; i < m->n; i++)
		formula_free(&m->chosen[i].f);
	free(m->chosen);
	defines_free(&m->defines);
}

/* ---- values -------------------------------------------------------------- */

bool metrics_value(const struct stat_report *r, const struct chosen *c, int row,
		   double *value)
{
	double count[FORMULA_EVENTS];

	for (unsigned int i = 0; i < c->f.nevent; i++) {
		const struct stat_event *ev = &r->set->event[c->event[i]];
		const struct stat_cell *cell = NULL;
		unsigned int n = 0;

		if (row >= 0)
			cell = stat_rows(r->o, ev, &n);
		if (ev->why || row >= (int)n)
			return false;
		count[i] = stat_figure(r, ev, cell ? &cell[row] : NULL).count;
	}
	*value = formula_value(&c->f, count);
	return isfinite(*value);
}
