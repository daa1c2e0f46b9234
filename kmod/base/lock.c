// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* lock.c - the locks of the module; lock.h says what each protects. */
#include "lock.h"

/* Protects what operations change. */
DEFINE_MUTEX(hwpmc_lock);
/* Protects targets, links and threads. */
DEFINE_RAW_SPINLOCK(hwpmc_targets_lock);
