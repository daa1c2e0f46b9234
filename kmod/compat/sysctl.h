/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * sysctl.h - tables for register_sysctl(): an array of struct ctl_table that
 * ends with HWPMC_SYSCTL_END (no comma before it), and handlers that take a
 * hwpmc_ctl_table *. Kernels with a const table take its length from the array and
 * refuse an empty last entry; earlier ones need that entry.
 */
#ifndef HWPMC_COMPAT_SYSCTL_H
#define HWPMC_COMPAT_SYSCTL_H

#include <linux/sysctl.h>

#include "have.h"

#ifdef HAVE_CTL_TABLE_CONST
typedef const struct ctl_table hwpmc_ctl_table;
#define HWPMC_SYSCTL_END
#else
typedef struct ctl_table hwpmc_ctl_table;
#define HWPMC_SYSCTL_END	, { }
#endif

#endif /* HWPMC_COMPAT_SYSCTL_H */
