// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 6.13: hrtimer_setup() takes the function; 6.15: hrtimer_init() is gone. */
#include <linux/hrtimer.h>

void probe(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *));

void probe(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *))
{
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED_HARD);
}
