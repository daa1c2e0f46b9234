/* SPDX-License-Identifier: BSD-2-Clause */
/* table.c - the formats that hwpmc report has. */
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "export.h"

static const struct export_format formats[] = {
	{ .name = "flamegraph", .write = export_flamegraph, .names = true, .stacks = true },
	{ .name = "pprof", .check = export_pprof_check, .write = export_pprof, .threads = true,
	  .binary = true, .stacks = true },
	{ .name = "callgrind", .write = export_callgrind },
	{ .name = "gmon", .check = export_gmon_check, .write = export_gmon,
	  .binary = true },
	{ .name = "firefox", .write = export_firefox, .threads = true,
	  .timeline = true },
	{ .name = "speedscope", .write = export_speedscope, .threads = true,
	  .timeline = true },
};

#define NFORMAT	(sizeof(formats) / sizeof(*formats))

const struct export_format *export_find(const char *name)
{
	for (unsigned int i = 0; i < NFORMAT; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

const char *export_names(void)
{
	static char names[128];

	names[0] = '\0';
	for (unsigned int i = 0; i < NFORMAT; i++) {
		strcat(names, i ? ", " : "");
		strcat(names, formats[i].name);
	}
	return names;
}

void export_options(const struct export_format *format,
		    struct hwpmc_profile_options *o)
{
	o->leaf_only = false;
	o->by_thread |= format->threads;
	o->by_comm |= format->names;
	o->timeline |= format->timeline;
	if (format->stacks)
		o->min_share = EXPORT_MIN_SHARE;
}

int export_check(const struct export_format *format,
		 struct hwpmc_profile *profile, const char *image)
{
	struct export x = export_of(profile, image);

	return format->check ? format->check(&x) : 0;
}

/*
 * Events of which the options have left nothing are no columns of what is written,
 * unless there is no other. What is made here is freed after writing.
 */
struct chosen {
	struct hwpmc_profile_event *event;
	struct hwpmc_stack *stack;
};

static bool is_left(const struct hwpmc_profile_event *event)
{
	return event->samples || !event->filtered;
}

static void choose_events(struct export *x, struct chosen *c)
{
	uint32_t *to = must_calloc(x->nevent, sizeof(*to)), n = 0;

	c->event = must_calloc(x->nevent, sizeof(*c->event));
	c->stack = must_calloc(x->nstack, sizeof(*c->stack));
	for (uint32_t e = 0; e < x->nevent; e++) {
		to[e] = n;
		if (is_left(&x->event[e]))
			c->event[n++] = x->event[e];
	}
	for (uint32_t i = 0; i < x->nstack; i++) {
		c->stack[i] = x->stack[i];
		c->stack[i].event = to[x->stack[i].event];
	}
	free(to);
	if (!n)
		return;
	x->event = c->event;
	x->nevent = n;
	x->stack = c->stack;
}

void export_write(const struct export_format *format,
		  struct hwpmc_profile *profile, const char *image, FILE *f)
{
	struct export x = export_of(profile, image);
	struct chosen c;

	choose_events(&x, &c);
	format->write(&x, f);
	free(c.event);
	free(c.stack);
}
