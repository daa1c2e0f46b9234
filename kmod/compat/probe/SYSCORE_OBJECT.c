// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 6.18, and 6.12 stable: suspend callbacks are registered as a struct syscore. */
#include <linux/syscore_ops.h>

void probe(struct syscore *entry);

void probe(struct syscore *entry)
{
	register_syscore(entry);
}
