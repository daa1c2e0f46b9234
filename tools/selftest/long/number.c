/* SPDX-License-Identifier: BSD-2-Clause */
/* number.c - numbers of the steps, kept as JSON for the report. */
#include <stdarg.h>
#include <stdlib.h>

#include "common/msg.h"
#include "long.h"

/* Takes both strings. */
static void keep(struct selftest *t, char *name, char *json)
{
	struct long_run *r = t->run;

	r->number = must_realloc(r->number, r->nnumber + 1, sizeof(*r->number));
	r->number[r->nnumber++] = (struct long_number){ t->step, name, json };
}

static char *name_of(const char *fmt, va_list ap)
{
	char *name;

	if (vasprintf(&name, fmt, ap) < 0)
		must_fail();
	return name;
}

#define NAME(name, fmt)				\
	do {					\
		va_list ap;			\
						\
		va_start(ap, fmt);		\
		name = name_of(fmt, ap);	\
		va_end(ap);			\
	} while (0)

void long_number(struct selftest *t, double value, const char *fmt, ...)
{
	char *name, *json;

	NAME(name, fmt);
	if (asprintf(&json, "%.15g", value) < 0)
		must_fail();
	keep(t, name, json);
}

void long_hex(struct selftest *t, uint64_t value, const char *fmt, ...)
{
	char *name, *json;

	NAME(name, fmt);
	if (asprintf(&json, "\"0x%llx\"", (unsigned long long)value) < 0)
		must_fail();
	keep(t, name, json);
}

void long_free(struct selftest *t)
{
	struct long_run *r = t->run;

	for (unsigned int i = 0; r && i < r->nnumber; i++) {
		free(r->number[i].name);
		free(r->number[i].json);
	}
	if (r)
		free(r->number);
}
