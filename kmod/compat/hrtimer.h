/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * hrtimer.h - hrtimer_setup(), which takes the callback as an argument since 6.13;
 * before, it was a field.
 */
#ifndef HWPMC_COMPAT_HRTIMER_H
#define HWPMC_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>

#include "have.h"

#ifndef HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*fn)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
}
#endif

#endif /* HWPMC_COMPAT_HRTIMER_H */
