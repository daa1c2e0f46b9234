// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 6.4: a module's memory by its use, in place of core_layout. */
#include <linux/module.h>

void *probe(const struct module *mod);
void *probe(const struct module *mod)
{
	return mod->mem[MOD_TEXT].base;
}
