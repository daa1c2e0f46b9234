// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * pace.c - a claim of hardware interrupts each CPU, and so does its end: CPUs that others have
 * isolated, too. A user without CAP_PERFMON makes BURST claims at once, and then one each
 * INTERVAL. It waits before its next allocation, without a lock, so that nobody else waits.
 */
#include <linux/capability.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uidgid.h>

#include "../core/lock.h"
#include "../core/owner.h"
#include "pace.h"

#define INTERVAL_MS	10
#define BURST		100
#define BITS		8

/* Users whose numbers have the same hash share one: jiffies64 in which all claims so far are
 * paid for, in ms. Written under hwpmc_lock, read anywhere. */
static u64 paid_at[1 << BITS];

static u64 *paid_by(const struct hwpmc_owner *owner)
{
	return &paid_at[hash_32(__kuid_val(owner->uid), BITS)];
}

static u64 now_ms(void)
{
	return jiffies64_to_msecs(get_jiffies_64());
}

void hwpmc_pace_count(const struct hwpmc_owner *owner, u64 claims)
{
	u64 *at = paid_by(owner);

	lockdep_assert_held(&hwpmc_lock);
	if (claims && !owner->kernel && !perfmon_capable())
		WRITE_ONCE(*at, max(*at, now_ms()) + claims * INTERVAL_MS);
}

int hwpmc_pace_wait(const struct hwpmc_owner *owner)
{
	s64 ahead = READ_ONCE(*paid_by(owner)) - now_ms() - BURST * INTERVAL_MS;

	might_sleep();
	if (likely(ahead <= 0) || perfmon_capable())
		return 0;
	schedule_timeout_killable(msecs_to_jiffies(ahead));
	return fatal_signal_pending(current) ? -EINTR : 0;
}
