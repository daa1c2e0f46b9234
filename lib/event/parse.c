/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parse.c - the exported calls about events: parse a specification, allocate what it
 * means, list the events of this machine. Any thread; no state.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "event.h"
#include "tables.h"
#include "../pmc/internal.h"

static int parse_text(const struct event_machine *m, const char *spec,
		      struct event_terms *t, struct hwpmc_event *ev,
		      struct event_error *e)
{
	if (event_grammar(spec, t, e))
		return -1;
	return event_resolve(m, t, ev, e);
}

/* The event's part of the specification, as it was written. */
static void name_event(const char *spec, struct hwpmc_event *ev)
{
	size_t len = strcspn(spec, ",");

	if (!strncasecmp(spec, "cpu/", 4))
		len = strlen(spec);
	if (len >= sizeof(ev->name))
		len = sizeof(ev->name) - 1;
	memcpy(ev->name, spec, len);
	ev->name[len] = '\0';
}

int event_parse(const struct event_machine *m, const char *spec,
		struct hwpmc_event *ev, struct event_error *e)
{
	struct event_terms t;

	if (parse_text(m, spec, &t, ev, e))
		return -1;
	name_event(spec, ev);
	return 0;
}

static void machine_of(struct hwpmc *h, struct event_machine *m)
{
	event_machine_init(m, &h->info);
	event_machine_cpuid(m);
	m->find_soft = event_soft_find;
	m->arg = h;
}

EXPORT int hwpmc_event_parse(struct hwpmc *h, const char *spec,
			     struct hwpmc_event *event)
{
	struct event_machine m;
	struct event_error e;

	machine_of(h, &m);
	if (!event_parse(&m, spec, event, &e))
		return 0;
	return error_own(h, e.err,
			 what("bad event '%.80s', column %zu: %s", spec,
			      e.at + 1, e.text).text);
}

EXPORT int hwpmc_allocate(struct hwpmc *h, const char *spec,
			  enum hwpmc_mode mode, uint32_t flags, uint32_t cpu,
			  uint64_t count, uint32_t *id)
{
	struct hwpmc_event event;

	if (hwpmc_event_parse(h, spec, &event))
		return -1;
	return hwpmc_allocate_event(h, &event, mode, flags, cpu, count, id);
}

/* ------------------------------------------------------------------------ */

struct listing {
	const struct event_machine *m;
	uint32_t class_id;
	hwpmc_event_fn *fn;
	void *arg;
};

/* Only what can be counted here is listed, under the class it goes to. */
static int list_info(const struct listing *l, struct hwpmc_event_info *info)
{
	struct hwpmc_event ev;
	struct event_error e;
	uint32_t i;

	if (event_parse(l->m, info->name, &ev, &e))
		return 0;
	for (i = 0; i < ev.ncode; i++)
		if (l->class_id == HWPMC_CLASS_EVERY ||
		    l->class_id == ev.code[i].class_id)
			break;
	if (i == ev.ncode)
		return 0;
	info->class_id = ev.code[0].class_id;
	return l->fn(info, l->arg);
}

static int list_one(const struct listing *l, const char *name,
		    const char *desc, const char *pmu)
{
	struct hwpmc_event_info info = { .name = name, .desc = desc,
					 .pmu = pmu };

	return list_info(l, &info);
}

static int list_row(const struct event_found *f, void *arg)
{
	char desc[512];
	struct hwpmc_event_info info = {
		.name = f->row.name, .desc = desc, .pmu = f->table,
		.kind = f->kind, .counters = f->row.counters,
		.fixed = f->row.fixed < 0 ? 0 : 1u << f->row.fixed,
		.deprecated = f->row.deprecated,
	};

	snprintf(desc, sizeof(desc), "%.*s", f->row.ndesc < sizeof(desc) ?
		 (int)f->row.ndesc : (int)sizeof(desc) - 1, f->row.desc);
	return list_info(arg, &info);
}

static int list_pfm(const struct event_pfm_line *line, void *arg)
{
	const struct listing *l = arg;
	char normal[ROW_NAME], *p;
	struct event_found f;
	struct event_error e;

	/* What a file has has been listed. */
	event_normal(line->name, normal, sizeof(normal));
	for (p = normal; *p; p++)
		if (*p == ':')
			*p = '_';
	if (event_tables_find(l->m, "", normal, &f, &e) > 0)
		return 0;
	return list_one(l, line->name, line->desc, line->pmu);
}

static int list_soft(const struct listing *l, struct hwpmc *h)
{
	const struct soft_events *all = event_soft_all(h);
	struct hwpmc_event_info info = { .class_id = HWPMC_CLASS_SOFT };
	char name[HWPMC_NAME_MAX + 5];
	int rc = 0;

	if (l->class_id != HWPMC_CLASS_EVERY && l->class_id != HWPMC_CLASS_SOFT)
		return 0;
	for (uint32_t i = 0; all && !rc && i < all->n; i++) {
		snprintf(name, sizeof(name), "SOFT-%s", all->event[i].name);
		info.name = name;
		info.desc = event_soft_desc(all->event[i].ev);
		rc = l->fn(&info, l->arg);
	}
	return rc;
}

static int list_k8(const struct listing *l)
{
	char name[HWPMC_NAME_MAX + 3];
	unsigned int i;
	int rc = 0;

	for (i = 0; !rc && event_k8_at(i); i++) {
		snprintf(name, sizeof(name), "k8_%s", event_k8_at(i)->name);
		rc = list_one(l, name, "AMD K8 event", NULL);
	}
	return rc;
}

EXPORT int hwpmc_event_each(struct hwpmc *h, uint32_t class_id,
			    hwpmc_event_fn *fn, void *arg)
{
	struct event_machine m;
	struct listing l = { .m = &m, .class_id = class_id, .fn = fn,
			     .arg = arg };
	struct event_error e = { .text = "" };
	unsigned int i;
	int rc;

	/* They are in no table of events, whose every name would be parsed. */
	if (class_id == HWPMC_CLASS_SOFT)
		return list_soft(&l, h);
	machine_of(h, &m);
	rc = list_one(&l, "tsc", "time-stamp counter (system scope)", NULL);
	if (class_id == HWPMC_CLASS_TSC)
		return rc;
	for (i = 0; !rc && event_power_at(i); i++)
		rc = list_one(&l, event_power_at(i)->name, event_power_at(i)->desc, NULL);
	for (i = 0; !rc && event_generic_at(i); i++)
		rc = list_one(&l, event_generic_at(i)->name,
			      event_generic_at(i)->desc, NULL);
	rc = rc ? rc : list_soft(&l, h);
	/* FreeBSD's K8 names mean what they say on the families before 15h. */
	if (!rc && m.vendor == VENDOR_AMD && m.family && m.family < 0x15)
		rc = list_k8(&l);
	rc = rc ? rc : event_tables_each(&m, list_row, &l, &e);
	if (rc < 0 && e.text[0])
		return error_own(h, e.err, e.text);
	return rc ? rc : event_pfm_each(list_pfm, &l);
}
