/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kinds.c - events where cores are of several kinds. A name that has another code on each
 * kind becomes an event of each kind that has it, and so does every event of the hardware
 * with --per-type; their sum follows them. One that only some kinds have is counted there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/msg.h"
#include "stat.h"

#define KINDS	3

static const uint32_t kinds[KINDS] = {
	HWPMC_KIND_CORE, HWPMC_KIND_ATOM, HWPMC_KIND_LOWPOWER,
};

/* Where the modes begin: "NAME:u", with or without FreeBSD's qualifiers behind. */
static size_t name_length(const char *spec)
{
	size_t len = strcspn(spec, ","), at = len;

	while (at && strchr("uUkK", spec[at - 1]))
		at--;
	return at > 1 && at < len && spec[at - 1] == ':' ? at - 1 : len;
}

/* "NAME:u" of one kind: "cpu_core/NAME/u"; "cpu/TERMS/u": "cpu_core/TERMS/u". Free it. */
static char *spec_of_kind(const char *spec, uint32_t kind)
{
	const char *unit = hwpmc_name_of_kind(kind);
	size_t len = name_length(spec), size = strlen(unit) + strlen(spec) + 4;
	char *text = must_calloc(size, 1);

	if (!strncasecmp(spec, "cpu/", 4))
		snprintf(text, size, "%s/%s", unit, spec + 4);
	else
		snprintf(text, size, "%s/%.*s/%s", unit, (int)len, spec,
			 spec + len + (spec[len] == ':'));
	return text;
}

static bool is_raw(const char *spec)
{
	size_t len = name_length(spec);

	return !strncasecmp(spec, "cpu/", 4) || !strncasecmp(spec, "0x", 2) ||
	       ((*spec == 'r' || *spec == 'R') && len > 1 &&
		strspn(spec + 1, "0123456789abcdefABCDEF") >= len - 1);
}

/* Why the module refuses the event, if it does. It is asked for user mode, which everybody
 * may count. */
static enum hwpmc_reason ask(struct hwpmc *h, struct hwpmc_event *ev)
{
	uint32_t id;

	for (uint32_t i = 0; i < ev->ncode; i++)
		ev->code[i].caps = (ev->code[i].caps & ~HWPMC_CAP_SYSTEM) | HWPMC_CAP_USER;
	if (hwpmc_allocate_event(h, ev, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id) < 0)
		return hwpmc_reason(h);
	hwpmc_release(h, id);
	return HWPMC_WHY_NONE;
}

/* By its table the kind has the event, but its counters may not. */
static bool has_event(struct hwpmc *h, const char *spec)
{
	struct hwpmc_event ev;

	return hwpmc_event_parse(h, spec, &ev) == 0 && ask(h, &ev) != HWPMC_WHY_EVENT_ROWS;
}

static bool is_to_be_split(struct hwpmc *h, const struct stat_options *o, const char *spec)
{
	struct hwpmc_event ev;

	if (hwpmc_event_parse(h, spec, &ev) < 0 || ev.kinds ||
	    (ev.code[0].class_id != HWPMC_CLASS_IAP && ev.code[0].class_id != HWPMC_CLASS_IAF))
		return false;
	return ask(h, &ev) == HWPMC_WHY_EVENT_KIND ? !is_raw(spec) : o->per_type;
}

static void append(struct evlist *list, unsigned int **sum, char *spec, unsigned int group,
		   unsigned int nsum)
{
	list->spec = must_realloc(list->spec, list->n + 1, sizeof(*list->spec));
	list->group = must_realloc(list->group, list->n + 1, sizeof(*list->group));
	*sum = must_realloc(*sum, list->n + 1, sizeof(**sum));
	list->spec[list->n] = spec;
	list->group[list->n] = group;
	(*sum)[list->n++] = nsum;
}

/* Slots are as many a cycle as the kind of core is wide: a sum would be of different things. */
static bool has_sum(const char *spec)
{
	return strncasecmp(spec, "topdown", 7) != 0 && strncasecmp(spec, "slots", 5) != 0;
}

/* The event of each kind that has it. How many. */
static unsigned int append_kinds(struct hwpmc *h, struct evlist *list, unsigned int **sum,
				 const char *spec, unsigned int group, uint32_t here)
{
	unsigned int n = 0;

	for (unsigned int k = 0; k < KINDS; k++) {
		char *text;

		if (!(here & kinds[k]))
			continue;
		text = spec_of_kind(spec, kinds[k]);
		if (!has_event(h, text)) {
			free(text);
			continue;
		}
		append(list, sum, text, group, 0);
		n++;
	}
	return n;
}

unsigned int *stat_kinds_split(struct hwpmc *h, struct stat_options *o)
{
	struct evlist list = { .ngroup = o->events.ngroup };
	unsigned int *sum = must_calloc(1, sizeof(*sum)), n;
	uint32_t here = 0, kind;

	if (hwpmc_kinds(h, 0, &here, &kind) < 0)
		here = 0;
	if (o->per_type && !here)
		msg("--per-type has no effect: all CPUs of this machine are of one kind");
	for (unsigned int i = 0; i < o->events.n; i++) {
		char *spec = o->events.spec[i];
		unsigned int group = o->events.group[i];

		n = here && is_to_be_split(h, o, spec) ?
		    append_kinds(h, &list, &sum, spec, group, here) : 0;
		if (!n || (n > 1 && has_sum(spec)))
			append(&list, &sum, spec, n ? 0 : group, n);
		else
			free(spec);
	}
	free(o->events.spec);
	free(o->events.group);
	o->events = list;
	return sum;
}

void stat_kinds_choose(struct hwpmc *h, const char *spec, const struct cpus *all,
		       struct cpus *list)
{
	struct hwpmc_event ev;
	uint32_t here, kind;

	*list = *all;
	if (hwpmc_event_parse(h, spec, &ev) < 0 || !ev.kinds)
		return;
	list->n = 0;
	for (unsigned int i = 0; i < all->n; i++)
		if (!hwpmc_kinds(h, all->cpu[i], &here, &kind) && ev.kinds & kind)
			list->cpu[list->n++] = all->cpu[i];
	/* None: the module says why. */
	if (!list->n)
		*list = *all;
}

/* The sum of a CPU, or of the process, over the nsum events before it. */
void stat_kinds_add(struct stat_event *sum)
{
	for (unsigned int i = 0; i < sum->ncell; i++) {
		struct stat_cell *cell = &sum->cell[i];

		cell->value = 0;
		for (unsigned int k = 1; k <= sum->nsum; k++)
			for (unsigned int j = 0; j < sum[-(int)k].ncell; j++)
				if (sum[-(int)k].cell[j].cpu == cell->cpu)
					cell->value += sum[-(int)k].cell[j].value;
	}
	sum->incomplete = false;
	for (unsigned int k = 1; k <= sum->nsum; k++)
		sum->incomplete |= sum[-(int)k].incomplete;
}
