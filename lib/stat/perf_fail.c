/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_fail.c - what is wrong with a file of perf record, in a sentence. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "perf.h"

static int fail(struct perfdata *p, int at, const char *format, va_list ap)
{
	vsnprintf(p->error + at, sizeof(p->error) - at, format, ap);
	p->failed = errno = EINVAL;
	return -1;
}

int perf_fail(struct perfdata *p, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fail(p, snprintf(p->error, sizeof(p->error), "perf.data: "), format, ap);
	va_end(ap);
	return -1;
}

int perf_damaged(struct perfdata *p, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fail(p, snprintf(p->error, sizeof(p->error), "perf.data: offset %llu: ",
			 (unsigned long long)p->record_at), format, ap);
	va_end(ap);
	return -1;
}
