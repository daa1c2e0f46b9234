// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 6.16: the sched_process_exit probe is told whether this is the last thread. */
#include <trace/events/sched.h>

void probe(void *data, struct task_struct *task, bool group_dead);
void check(void);

void check(void)
{
	check_trace_callback_type_sched_process_exit(probe);
}
