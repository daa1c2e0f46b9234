// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * pace.c - a claim of hardware interrupts each CPU, and so does its end: CPUs that others have
 * isolated, too. A user without CAP_PERFMON makes BURST claims at once, and then one each
 * INTERVAL. The wait is before an allocation and without a lock, so that no other user waits.
 */
#include <linux/capability.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uidgid.h>

#include "../base/lock.h"
#include "../core/owner.h"
#include "pace.h"

#define INTERVAL_MS	10
#define BURST		100
#define BITS		8
#define PROBES		8	/* users whose numbers have the same hash */

/* All claims of a user are paid for at this time, in ms. hwpmc_lock. */
static struct account {
	kuid_t uid;
	u64 paid_at;
} accounts[1 << BITS];

static u64 now_ms(void)
{
	return jiffies64_to_msecs(get_jiffies_64());
}

/*
 * Returns the account of the user, or one that is paid for and becomes his, or NULL where as many
 * other users are in debt: they would have to be the same person's.
 */
static struct account *account_of(kuid_t uid)
{
	u32 first = hash_32(__kuid_val(uid), BITS), i;
	struct account *paid = NULL;

	lockdep_assert_held(&hwpmc_lock);
	for (i = 0; i < PROBES; i++) {
		struct account *a = &accounts[(first + i) & ((1 << BITS) - 1)];

		if (a->paid_at > now_ms()) {
			if (uid_eq(a->uid, uid))
				return a;
		} else if (!paid) {
			paid = a;
		}
	}
	if (paid)
		*paid = (struct account){ .uid = uid };
	return paid;
}

void hwpmc_pace_count(const struct hwpmc_owner *owner)
{
	struct account *a = account_of(owner->uid);

	if (a && !owner->kernel && !perfmon_capable())
		a->paid_at = max(a->paid_at, now_ms()) + INTERVAL_MS;
}

unsigned int hwpmc_pace_ahead(const struct hwpmc_owner *owner)
{
	struct account *a = account_of(owner->uid);
	s64 ahead = a ? a->paid_at - now_ms() - BURST * INTERVAL_MS : 0;

	return ahead <= 0 || perfmon_capable() ? 0 : ahead;
}

int hwpmc_pace_wait(unsigned int ms)
{
	might_sleep();
	schedule_timeout_killable(msecs_to_jiffies(ms));
	return fatal_signal_pending(current) ? -EINTR : 0;
}
