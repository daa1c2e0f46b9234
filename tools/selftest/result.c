/* SPDX-License-Identifier: BSD-2-Clause */
/* result.c - what the checks found: a line each, and kept for the report. */
#include <stdarg.h>
#include <stdlib.h>

#include "common/msg.h"
#include "selftest.h"

static void note(struct selftest *t, enum st_verdict verdict, const char *name,
		 const char *fmt, va_list ap)
{
	struct st_result *r = &t->result[t->nresult];
	char *text;

	t->count[verdict]++;
	if (vasprintf(&text, fmt, ap) < 0)
		must_fail();
	if (!t->quiet)
		printf("  %-9s  %s\n", verdict == ST_FAILED ? "FAILED" :
		       verdict == ST_HELD ? "held" : "not tried", text);
	if (t->nresult == ST_RESULTS) {
		free(text);
		return;
	}
	*r = (struct st_result){ verdict, name, text };
	t->nresult++;
}

#define NOTE(verdict)				\
	do {					\
		va_list ap;			\
						\
		va_start(ap, fmt);		\
		note(t, verdict, name, fmt, ap); \
		va_end(ap);			\
	} while (0)

void st_held(struct selftest *t, const char *name, const char *fmt, ...)
{
	NOTE(ST_HELD);
}

void st_failed(struct selftest *t, const char *name, const char *fmt, ...)
{
	NOTE(ST_FAILED);
}

void st_not_tried(struct selftest *t, const char *name, const char *fmt, ...)
{
	NOTE(ST_NOT_TRIED);
}

void st_cost(struct selftest *t, const char *name, const char *of, double ticks, double ns)
{
	if (t->ncost == ST_COSTS)
		return;
	t->cost[t->ncost++] = (struct st_cost){ name, of, ticks, ns };
	if (!t->quiet)
		printf("  %8.0f ns  %s (%.0f ticks)\n", ns, of, ticks);
}
