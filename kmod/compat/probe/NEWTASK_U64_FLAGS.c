// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 6.18: the task_newtask probe gets its clone flags as u64. */
#include <trace/events/task.h>

void probe(void *data, struct task_struct *task, u64 clone_flags);
void check(void);

void check(void)
{
	check_trace_callback_type_task_newtask(probe);
}
