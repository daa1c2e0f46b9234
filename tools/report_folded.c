/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * report_folded.c - one line a stack: process and functions, outermost first,
 * separated by ';', then the samples. Flame-graph programs read it.
 */
#include <inttypes.h>

#include "report.h"

/* Names may hold what separates. */
static void put_name(FILE *f, const char *name)
{
	for (; *name; name++)
		fputc(*name == ';' || *name == '\n' ? ':' : *name, f);
}

void report_folded(const struct report *r, FILE *f)
{
	const struct hwpmc_stack *stack;
	uint32_t n;

	stack = hwpmc_profile_stacks(r->profile, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct hwpmc_stack *s = &stack[i];

		put_name(f, s->thread->process);
		for (uint32_t j = s->nframe; j-- > 0; ) {
			fputc(';', f);
			put_name(f, s->frame[j]->symbol->name);
			/* As others mark it. */
			if (s->frame[j]->kernel)
				fputs("_[k]", f);
		}
		fprintf(f, " %" PRIu64 "\n", s->count);
	}
}
