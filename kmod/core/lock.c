// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* lock.c - the locks of the module; lock.h says what each protects. */
#include "lock.h"

/* Protects everything that is not per CPU, nor under hwpmc_targets_lock. */
DEFINE_MUTEX(hwpmc_lock);
/* Protects targets, links and threads. */
DEFINE_RAW_SPINLOCK(hwpmc_targets_lock);
