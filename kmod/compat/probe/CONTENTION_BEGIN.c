// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 5.19: a tracepoint where a lock is waited for. */
#include <linux/tracepoint.h>
#include <trace/events/lock.h>

void probe(void *data, void *lock, unsigned int flags);
void check(void);

void check(void)
{
	check_trace_callback_type_contention_begin(probe);
}
