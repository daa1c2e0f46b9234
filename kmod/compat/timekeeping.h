/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* timekeeping.h - the number of changes of the clock source, modulo 256. */
#ifndef HWPMC_COMPAT_TIMEKEEPING_H
#define HWPMC_COMPAT_TIMEKEEPING_H

#include <linux/ktime.h>
#include <linux/timekeeping.h>

#include "have.h"

/* Any context but NMI. */
static inline u8 hwpmc_clock_changes(void)
{
	struct system_time_snapshot now;

#ifdef HAVE_KTIME_SNAPSHOT_ID
	ktime_get_snapshot_id(CLOCK_REALTIME, &now);
#else
	ktime_get_snapshot(&now);
#endif
	return now.cs_was_changed_seq;
}

#endif /* HWPMC_COMPAT_TIMEKEEPING_H */
