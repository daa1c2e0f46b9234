// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 7.3: ktime_get_snapshot() takes the clock, and has another name. */
#include <linux/timekeeping.h>

void probe(struct system_time_snapshot *now);

void probe(struct system_time_snapshot *now)
{
	ktime_get_snapshot_id(CLOCK_REALTIME, now);
}
