/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * parse.c - the exported calls about events: parse a specification, allocate what it
 * means, list the events of this machine. Any thread; no state.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
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

static const struct kind_name {
	const char *prefix;
	uint32_t kind;
} kind_names[] = {
	{ "cpu_core/", HWPMC_KIND_CORE },
	{ "cpu_atom/", HWPMC_KIND_ATOM },
	{ "cpu_lowpower/", HWPMC_KIND_LOWPOWER },
};

static const struct kind_name *kind_of(const char *spec)
{
	unsigned int i;

	for (i = 0; i < sizeof(kind_names) / sizeof(*kind_names); i++)
		if (!strncasecmp(spec, kind_names[i].prefix, strlen(kind_names[i].prefix)))
			return &kind_names[i];
	return NULL;
}

/* The event's part of the specification, as it was written. */
static void name_event(const char *spec, struct hwpmc_event *ev)
{
	size_t len = strcspn(spec, ",");

	/* Commas between slashes are a part of it. */
	if (memchr(spec, '/', len))
		len = strlen(spec);
	if (len >= sizeof(ev->name))
		len = sizeof(ev->name) - 1;
	memcpy(ev->name, spec, len);
	ev->name[len] = '\0';
}

/* Codes that mean the same on each kind of core: raw ones, and the architectural events. */
static bool means_the_same(const char *body, const struct hwpmc_event *ev)
{
	static const uint16_t same[] = {
		0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5, 0x01a4,
	};
	const char *digits = body + (*body == 'r' || *body == 'R' ? 1 : 0);
	unsigned int k;

	if (!strncasecmp(body, "0x", 2))
		digits = body + 2;
	if (digits != body && strspn(digits, "0123456789abcdefABCDEF") == strlen(digits))
		return true;
	for (uint32_t i = 0; i < ev->ncode; i++) {
		if (ev->code[i].class_id != HWPMC_CLASS_IAP)
			continue;
		for (k = 0; k < sizeof(same) / sizeof(*same); k++)
			if ((ev->code[i].config & (CODE_EVENT | CODE_UMASK)) == same[k])
				break;
		if (k == sizeof(same) / sizeof(*same))
			return false;
	}
	return true;
}

/*
 * A name: that of the vendor's table for this kind of core, or of an event that all have. One
 * of another kind's table would be another event here.
 */
static int parse_kind_name(const struct event_machine *m, const char *body,
			   const char *modifiers, const struct kind_name *kind,
			   struct event_terms *t, struct hwpmc_event *ev,
			   struct event_error *e)
{
	const char *colon = *modifiers && *modifiers != ',' ? ":" : "";
	char text[640];

	snprintf(text, sizeof(text), "%.*s::%s%s%s", (int)strlen(kind->prefix) - 1,
		 kind->prefix, body, colon, modifiers);
	if (!parse_text(m, text, t, ev, e))
		return 0;
	snprintf(text, sizeof(text), "%s%s%s", body, colon, modifiers);
	if (parse_text(m, text, t, ev, e))
		return -1;
	if (!means_the_same(body, ev))
		return event_refuse(e, ENOENT, 0, "this kind of core has no such event here");
	return 0;
}

/* The event between the slashes: terms, or a name. The columns are those of the whole. */
static int parse_kind(const struct event_machine *m, const char *spec,
		      const struct kind_name *kind, struct event_terms *t,
		      struct hwpmc_event *ev, struct event_error *e)
{
	size_t skip = strlen(kind->prefix), before = 0;
	const char *body = spec + skip, *end = strrchr(body, '/');
	char text[512], name[256];
	int ret;

	if (!end)
		return event_refuse(e, EINVAL, strlen(spec), "'/' is missing");
	if (strlen(body) + sizeof("cpu/") > sizeof(text) ||
	    (size_t)(end - body) >= sizeof(name))
		return event_refuse(e, EINVAL, 0, "this is too long");
	if (memchr(body, '=', (size_t)(end - body))) {
		before = strlen("cpu/");
		snprintf(text, sizeof(text), "cpu/%s", body);
		ret = parse_text(m, text, t, ev, e);
	} else {
		snprintf(name, sizeof(name), "%.*s", (int)(end - body), body);
		ret = parse_kind_name(m, name, end + 1, kind, t, ev, e);
	}
	if (ret) {
		e->at += skip - (e->at < before ? e->at : before);
		return -1;
	}
	ev->kinds = kind->kind;
	return 0;
}

int event_parse(const struct event_machine *m, const char *spec,
		struct hwpmc_event *ev, struct event_error *e)
{
	const struct kind_name *kind = kind_of(spec);
	struct event_terms t;

	if (kind ? parse_kind(m, spec, kind, &t, ev, e) : parse_text(m, spec, &t, ev, e))
		return -1;
	name_event(spec, ev);
	return 0;
}

static void machine_of(struct hwpmc *h, struct event_machine *m)
{
	event_machine_init(m, &h->info);
	event_machine_cpuid(m);
	m->find_soft = event_soft_find;
	m->offline = handle_has_names_only(h);
	m->arg = h;
}

/* A name as the table of one kind of core has it; NULL: of any kind. */
static int parse_on(struct hwpmc *h, const char *kind, const char *spec,
		    struct hwpmc_event *event)
{
	struct event_machine m;
	struct event_error e;

	machine_of(h, &m);
	m.kind = kind;
	if (!event_parse(&m, spec, event, &e))
		return 0;
	return error_own(h, e.err,
			 what("bad event '%.80s', column %zu: %s", spec,
			      e.at + 1, e.text).text);
}

EXPORT int hwpmc_event_parse(struct hwpmc *h, const char *spec,
			     struct hwpmc_event *event)
{
	if (null_given(h, !h || !spec || !event, "hwpmc_event_parse"))
		return -1;
	return parse_on(h, NULL, spec, event);
}

/* In system scope a name is an event of the CPU's kind: on another one the same name may have
 * another code, and the same code another meaning. */
static const char *kind_of_cpu(struct hwpmc *h, enum hwpmc_mode mode, uint32_t cpu)
{
	uint32_t kinds, kind;

	if ((mode != HWPMC_MODE_SC && mode != HWPMC_MODE_SS) ||
	    hwpmc_kinds(h, cpu, &kinds, &kind) || !kind)
		return NULL;
	return hwpmc_name_of_kind(kind);
}

EXPORT int hwpmc_allocate(struct hwpmc *h, const char *spec,
			  enum hwpmc_mode mode, uint32_t flags, uint32_t cpu,
			  uint64_t count, uint32_t *id)
{
	struct hwpmc_event event;

	if (null_given(h, !h || !spec || !id, "hwpmc_allocate"))
		return -1;
	if (parse_on(h, kind_of_cpu(h, mode, cpu), spec, &event))
		return -1;
	return hwpmc_allocate_event(h, &event, mode, flags, cpu, count, id);
}

EXPORT int hwpmc_open_counter(struct hwpmc *h, const char *spec, enum hwpmc_mode mode,
			      uint32_t flags, pid_t pid, uint64_t count, uint32_t *id)
{
	struct hwpmc_event event;

	if (hwpmc_event_parse(h, spec, &event))
		return -1;
	return hwpmc_open_event(h, &event, mode, flags, pid, count, id);
}

/* ------------------------------------------------------------------------ */

struct listing {
	const struct event_machine *m;
	uint32_t class_id;
	hwpmc_event_wanted_fn *wanted;	/* NULL: all are */
	hwpmc_event_fn *fn;
	void *arg;
};

static bool is_listed(const struct listing *l, const struct hwpmc_event_info *info)
{
	return !l->wanted || l->wanted(info, l->arg);
}

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

	return is_listed(l, &info) ? list_info(l, &info) : 0;
}

static int list_row(const struct event_found *f, void *arg)
{
	char desc[512];
	struct hwpmc_event_info info = {
		.name = f->row.name, .desc = "", .pmu = f->table,
		.kind = f->kind, .counters = f->row.counters,
		.fixed = f->row.fixed < 0 ? 0 : 1u << f->row.fixed,
		.deprecated = f->row.deprecated,
	};

	if (!is_listed(arg, &info))
		return 0;
	snprintf(desc, sizeof(desc), "%.*s", f->row.ndesc < sizeof(desc) ?
		 (int)f->row.ndesc : (int)sizeof(desc) - 1, f->row.desc);
	info.desc = desc;
	return list_info(arg, &info);
}

static int pfm_is_listed(const struct event_pfm_line *line, void *arg)
{
	struct hwpmc_event_info info = { .name = line->name, .desc = "", .pmu = line->pmu };

	return is_listed(arg, &info);
}

static int list_pfm(const struct event_pfm_line *line, void *arg)
{
	const struct listing *l = arg;
	struct hwpmc_event_info info = { .name = line->name, .desc = line->desc,
					 .pmu = line->pmu };
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
	return list_info(l, &info);
}

static int list_soft(const struct listing *l, struct hwpmc *h)
{
	const struct soft_events *all = event_soft_all(h);
	struct hwpmc_event_info info = { .class_id = HWPMC_CLASS_SOFT };
	char name[HWPMC_NAME_MAX + 5] = "SOFT-";
	size_t len;
	int rc = 0;

	if (l->class_id != HWPMC_CLASS_EVERY && l->class_id != HWPMC_CLASS_SOFT)
		return 0;
	for (uint32_t i = 0; all && !rc && i < all->n; i++) {
		if (all->event[i].reason)
			continue;
		len = strnlen(all->event[i].name, HWPMC_NAME_MAX - 1);
		memcpy(name + 5, all->event[i].name, len);
		name[5 + len] = '\0';
		info.name = name;
		info.desc = event_soft_desc(all->event[i].ev);
		if (is_listed(l, &info))
			rc = l->fn(&info, l->arg);
	}
	return rc;
}

/* Of energy a machine has some parts alone: the module says which. */
static int list_power(const struct listing *l, struct hwpmc *h, uint32_t class_id)
{
	struct soft_events *all;
	int err = errno, rc = 0;
	uint32_t n;

	if (!event_machine_has(l->m, class_id))
		return 0;
	all = event_ask(h, class_id);
	errno = err;
	for (unsigned int i = 0; all && !rc && event_power_at(i); i++) {
		const struct event_power *p = event_power_at(i);

		for (n = 0; n < all->n && all->event[n].ev != p->ev; n++)
			;
		if (p->class_id == class_id && n < all->n)
			rc = list_one(l, p->name, p->desc, NULL);
	}
	free(all);
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

EXPORT int hwpmc_event_each_wanted(struct hwpmc *h, uint32_t class_id,
				   hwpmc_event_wanted_fn *wanted, hwpmc_event_fn *fn,
				   void *arg)
{
	struct event_machine m;
	struct listing l = { .m = &m, .class_id = class_id, .wanted = wanted, .fn = fn,
			     .arg = arg };
	struct event_error e = { .text = "" };
	unsigned int i;
	int rc;

	if (null_given(h, !h || !fn, "hwpmc_event_each_wanted"))
		return -1;
	/* They are in no table of events, whose every name would be parsed. */
	if (class_id == HWPMC_CLASS_SOFT)
		return list_soft(&l, h);
	machine_of(h, &m);
	m.terse = true;
	rc = list_one(&l, "tsc", "time-stamp counter (system scope)", NULL);
	if (class_id == HWPMC_CLASS_TSC)
		return rc;
	rc = rc ? rc : list_power(&l, h, HWPMC_CLASS_RAPL);
	rc = rc ? rc : list_power(&l, h, HWPMC_CLASS_PERF);
	for (i = 0; !rc && event_ibs_at(i); i++)
		rc = list_one(&l, event_ibs_at(i)->name, event_ibs_at(i)->desc, NULL);
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
	return rc ? rc : event_pfm_each(pfm_is_listed, list_pfm, &l);
}

EXPORT int hwpmc_event_each(struct hwpmc *h, uint32_t class_id,
			    hwpmc_event_fn *fn, void *arg)
{
	if (null_given(h, !h || !fn, "hwpmc_event_each"))
		return -1;
	return hwpmc_event_each_wanted(h, class_id, NULL, fn, arg);
}
