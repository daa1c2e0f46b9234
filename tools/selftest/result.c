/* SPDX-License-Identifier: BSD-2-Clause */
/* result.c - results of the checks: a line each, and kept for the report. */
#include <stdarg.h>
#include <stdlib.h>

#include "common/msg.h"
#include "selftest.h"

static const char *const words[ST_VERDICTS] = {
	[ST_HELD] = "held", [ST_FAILED] = "FAILED", [ST_NOT_TRIED] = "not tried",
	[ST_MEASURED] = "measured",
};

static void note(struct selftest *t, enum st_verdict verdict, const char *name,
		 const char *fmt, va_list ap)
{
	char *text;

	/* A signal ends waits and calls of the kernel: what fails of it is no failure. */
	if (verdict == ST_FAILED && t->stopped && t->stopped())
		verdict = ST_NOT_TRIED;
	t->count[verdict]++;
	if (vasprintf(&text, fmt, ap) < 0)
		must_fail();
	if (!t->quiet)
		printf("  %-9s  %s\n", words[verdict], text);
	t->result = must_realloc(t->result, t->nresult + 1, sizeof(*t->result));
	t->result[t->nresult++] = (struct st_result){ verdict, t->step, name, text };
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

void st_measured(struct selftest *t, const char *name, const char *fmt, ...)
{
	NOTE(ST_MEASURED);
}

void st_free_results(struct selftest *t)
{
	for (unsigned int i = 0; i < t->nresult; i++)
		free(t->result[i].text);
	free(t->result);
	t->result = NULL;
	t->nresult = 0;
}

void st_cost(struct selftest *t, const char *name, const char *of, double ticks, double ns)
{
	/* A difference of two times that is not above their noise: nothing takes less than none. */
	bool noise = ticks < 0 || ns < 0;

	if (t->ncost == ST_COSTS)
		return;
	t->cost[t->ncost++] = (struct st_cost){ name, of, noise ? 0 : ticks, noise ? 0 : ns };
	if (!t->quiet && noise)
		printf("  %8s ns  %s (within the noise of the measurement)\n", "0", of);
	else if (!t->quiet)
		printf("  %8.0f ns  %s (%.0f ticks)\n", ns, of, ticks);
}
