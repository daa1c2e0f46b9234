/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* module.h - address range of a kernel module's text. */
#ifndef HWPMC_COMPAT_MODULE_H
#define HWPMC_COMPAT_MODULE_H

#include <linux/module.h>

#include "have.h"

static inline void hwpmc_module_text(const struct module *mod,
				     unsigned long *start, unsigned long *end)
{
#ifdef HAVE_MODULE_MEM
	*start = (unsigned long)mod->mem[MOD_TEXT].base;
	*end = *start + mod->mem[MOD_TEXT].size;
#else
	*start = (unsigned long)mod->core_layout.base;
	*end = *start + mod->core_layout.text_size;
#endif
}

#endif /* HWPMC_COMPAT_MODULE_H */
