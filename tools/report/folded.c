/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * folded.c - one line a stack: process, name of the thread where it has another, and
 * functions, outermost first, separated by ';', then the samples. Flame-graph programs read it. Where there are
 * several events, each line begins with its own.
 */
#include <inttypes.h>
#include <string.h>

#include "common/fmt.h"
#include "report.h"

/* Names may hold what separates, and control characters. Tabs are as they are. */
static void put_name(FILE *f, const char *name)
{
	bool control;

	for (int len; *name; name += len) {
		len = fmt_unit(name, &control);
		fwrite(*name == ';' || *name == '\n' ? ":" :
		       control && *name != '\t' ? "??" : name, 1, len, f);
	}
}

static void put_stack(FILE *f, const struct hwpmc_stack *s)
{
	char name[EXPORT_NAME];

	put_name(f, s->thread->process);
	if (strcmp(s->thread->comm, s->thread->process)) {
		fputc(';', f);
		put_name(f, s->thread->comm);
	}
	for (uint32_t i = s->nframe; i-- > 0; ) {
		fputc(';', f);
		put_name(f, export_function(name, s->frame[i]->symbol));
		/* As others mark it. */
		if (s->frame[i]->kernel)
			fputs("_[k]", f);
	}
	fprintf(f, " %" PRIu64 "\n", s->count);
}

void report_folded(const struct report *r, FILE *f)
{
	const struct hwpmc_profile_event *event;
	const struct hwpmc_stack *stack;
	uint32_t n, nevent, sampled = 0;

	event = hwpmc_profile_events(r->profile, &nevent);
	for (uint32_t e = 0; e < nevent; e++)
		sampled += event[e].samples > 0;
	stack = hwpmc_profile_stacks(r->profile, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (sampled > 1) {
			put_name(f, event[stack[i].event].name);
			fputc(';', f);
		}
		put_stack(f, &stack[i]);
	}
}
