// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * tracepoints.c - finds a tracepoint of the kernel itself by its name: the
 * scheduler's are not exported, so register_trace_sched_switch() and its like
 * do not link in a module. Process context.
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
