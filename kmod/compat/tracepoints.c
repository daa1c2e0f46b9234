// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * tracepoints.c - finds a tracepoint of the kernel by its name: those of the scheduler
 * are not exported, so a module cannot link register_trace_sched_switch() and the
 * like. Process context.
 */
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "tracepoints.h"

struct search {
	const char *name;
	struct tracepoint *found;
};

static void tracepoint_compare(struct tracepoint *tp, void *data)
{
	struct search *search = data;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

int hwpmc_tracepoint_get(const char *name, struct tracepoint **tp)
{
	struct search search = { .name = name };

	for_each_kernel_tracepoint(tracepoint_compare, &search);
	*tp = search.found;
	return search.found ? 0 : -ENOENT;
}
