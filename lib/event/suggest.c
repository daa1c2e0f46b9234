/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * suggest.c - the known event whose name is nearest to a wrong one. Pure but for
 * libpfm4's list of names and files'.
 */
#include "event.h"
#include "tables.h"

static int consider_row(const struct event_found *f, void *arg)
{
	if (!f->row.deprecated)
		event_nearest_consider(arg, f->row.name);
	return 0;
}

static int consider_line(const struct event_pfm_line *line, void *arg)
{
	event_nearest_consider(arg, line->name);
	return 0;
}

bool event_suggest(const struct event_machine *m, const char *name, char *buf,
		   size_t size)
{
	struct event_nearest n;
	struct event_error e;
	unsigned int i;

	event_nearest_start(&n, name);
	for (i = 0; event_generic_at(i); i++)
		event_nearest_consider(&n, event_generic_at(i)->name);
	for (i = 0; event_alias_at(i); i++)
		event_nearest_consider(&n, event_alias_at(i));
	if (m->vendor == VENDOR_AMD)
		for (i = 0; event_k8_at(i); i++)
			event_nearest_consider(&n, event_k8_at(i)->name);
	event_tables_each(m, consider_row, &n, &e);
	event_pfm_each(NULL, consider_line, &n);
	return event_nearest_name(&n, buf, size);
}

bool event_model_known(const struct event_machine *m)
{
	return event_tables_any(m) || event_pfm_any();
}
