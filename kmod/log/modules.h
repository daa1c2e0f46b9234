/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * modules.h - kernel modules, in logs that may contain kernel addresses.
 */
#ifndef HWPMC_MODULES_H
#define HWPMC_MODULES_H

struct hwpmc_owner;

int hwpmc_modules_hook(void);
void hwpmc_modules_unhook(void);
void hwpmc_emit_modules(struct hwpmc_owner *owner);

#endif /* HWPMC_MODULES_H */
