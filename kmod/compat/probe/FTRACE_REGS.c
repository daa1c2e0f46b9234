// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 5.11 and later: a callback of the function tracer can get, and change, all registers. */
#include <linux/ftrace.h>

#if !defined(CONFIG_DYNAMIC_FTRACE_WITH_REGS)
#error callbacks get no registers
#endif

void probe(struct ftrace_regs *fregs, struct ftrace_ops *ops);

void probe(struct ftrace_regs *fregs, struct ftrace_ops *ops)
{
	ftrace_get_regs(fregs)->di = 0;
	ops->flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_PERMANENT;
}
