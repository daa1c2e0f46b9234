// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* divert.c - see divert.h. */
#include <linux/ftrace.h>

#include "divert.h"

#ifdef HAVE_FTRACE_REGS

static u32 (*diverted_to)(u32 argument);

static void notrace divert_call(unsigned long ip, unsigned long parent, struct ftrace_ops *ops,
				struct ftrace_regs *fregs)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	if (regs)
		regs->di = diverted_to((u32)regs->di);
}

static struct ftrace_ops divert_ops = {
	.func = divert_call,
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_PERMANENT,
};

int hwpmc_divert(const unsigned long *function, unsigned int num, u32 (*argument)(u32))
{
	unsigned int i;
	int ret = 0;

	diverted_to = argument;
	for (i = 0; !ret && i < num; i++)
		ret = ftrace_set_filter_ip(&divert_ops, function[i], 0, 0);
	ret = ret ?: register_ftrace_function(&divert_ops);
	if (ret) {
		ftrace_free_filter(&divert_ops);
		diverted_to = NULL;
	}
	return ret;
}

void hwpmc_divert_end(void)
{
	if (!diverted_to)
		return;
	/* Waits for calls that are in the tracer or behind it (tasks' RCU). */
	unregister_ftrace_function(&divert_ops);
	ftrace_free_filter(&divert_ops);
	diverted_to = NULL;
}

#else

int hwpmc_divert(const unsigned long *function, unsigned int num, u32 (*argument)(u32))
{
	return -EOPNOTSUPP;
}

void hwpmc_divert_end(void)
{
}

#endif
