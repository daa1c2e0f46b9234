// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 5.19: the sched_switch probe has a fourth argument, the state of prev. */
#include <trace/events/sched.h>

void probe(void *data, bool preempt, struct task_struct *prev,
	   struct task_struct *next, unsigned int prev_state);
void check(void);

void check(void)
{
	check_trace_callback_type_sched_switch(probe);
}
