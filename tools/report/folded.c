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

/* A byte that is no UTF-8 ends some readers. */
#define NO_UTF8	"\xef\xbf\xbd"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Where the blank stands before a number at the end of a name, or NULL. Readers would take that
 * number for the first of two counts. */
static const char *blank_before_count(const char *name)
{
	const char *end = name + strlen(name), *digits;
	size_t point;

	for (digits = end; digits > name && strchr("0123456789.", digits[-1]); digits--)
		;
	point = strspn(digits, "0123456789");
	if (!point || (digits[point] == '.' && strchr(digits + point + 1, '.')))
		return NULL;
	return digits > name && is_blank(digits[-1]) ? digits - 1 : NULL;
}

/* Names may hold what separates, and control characters. Tabs are as they are. */
static void put_name(FILE *f, const char *name, bool last)
{
	const char *blank = last ? blank_before_count(name) : NULL;
	bool control;

	if (!*name)
		fputs("[unnamed]", f);
	for (int len; *name; name += len) {
		len = fmt_unit(name, &control);
		if (*name == ';' || *name == '\n')
			fputc(':', f);
		else if (name == blank)
			fputc('_', f);
		else if (control && *name != '\t')
			fwrite("??", 1, len, f);
		else if (len == 1 && (unsigned char)*name >= 0x80)
			fputs(NO_UTF8, f);
		else
			fwrite(name, 1, len, f);
	}
}

static void put_stack(FILE *f, const struct hwpmc_stack *s)
{
	char name[EXPORT_NAME];

	put_name(f, s->thread->process, !s->nframe);
	if (strcmp(s->thread->comm, s->thread->process)) {
		fputc(';', f);
		put_name(f, s->thread->comm, !s->nframe);
	}
	for (uint32_t i = s->nframe; i-- > 0; ) {
		fputc(';', f);
		put_name(f, export_function(name, s->frame[i]->symbol), !i && !s->frame[i]->kernel);
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
			put_name(f, event[stack[i].event].name, false);
			fputc(';', f);
		}
		put_stack(f, &stack[i]);
	}
}
