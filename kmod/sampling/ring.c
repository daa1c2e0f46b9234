// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ring.c - reserve, commit, and the account of what did not fit. Pure: no calls of
 * the kernel; entered on the ring's own CPU from any context, NMI included.
 *
 * Contexts nest and end in reverse order, so plain loads and stores do for what
 * one CPU does to itself, as long as the compiler does not move them: an inner
 * writer leaves everything but .reserved, .dropped and its counts as it found it.
 */
#include "ring.h"

#define DECLARATION	sizeof(struct hwpmc_log_drop)

void hwpmc_ring_init(struct hwpmc_ring *ring, struct hwpmc_log_ring *ctl,
		     void *data, u64 size, u32 wakeup, u32 cpu)
{
	*ring = (struct hwpmc_ring){
		.ctl = ctl,
		.data = data,
		.size = size,
		.wakeup = wakeup,
		.cpu = cpu,
		.pid = -1,
		.tid = -1,
	};
	ctl->size = size;
	ctl->cpu = cpu;
}

static void *ring_reserve(struct hwpmc_ring *ring, size_t len, size_t spare)
{
	u64 at;

	do {
		at = READ_ONCE(ring->reserved);
		if (hwpmc_ring_room(ring) < len + spare)
			return NULL;
	} while (cmpxchg_local(&ring->reserved, at, at + len) != at);
	return hwpmc_ring_at(ring, at);
}

void *hwpmc_ring_reserve(struct hwpmc_ring *ring, size_t len)
{
	void *at;

	ring->nest++;
	barrier();
	/* While something is not declared, its declaration goes first. */
	at = ring_reserve(ring, len, READ_ONCE(ring->dropped) ? DECLARATION : 0);
	if (!at)
		hwpmc_ring_commit(ring);
	return at;
}

/*
 * The outermost writer publishes what is reserved: all of it is filled. It does so
 * before it leaves: who comes in between finds .nest set and publishes nothing,
 * which the last look finds.
 */
bool hwpmc_ring_commit(struct hwpmc_ring *ring)
{
	u64 head;

	barrier();
	if (ring->nest > 1) {
		ring->nest--;
		return false;
	}
	do {
		head = READ_ONCE(ring->reserved);
		hwpmc_ring_publish(ring, head);
		ring->nest = 0;
		barrier();
		if (READ_ONCE(ring->reserved) == head)
			break;
		ring->nest = 1;
		barrier();
	} while (1);
	return hwpmc_ring_wants_reader(ring, head);
}

/* An NMI in the middle of it is not lost. */
static void count_add(u64 *count, u64 more)
{
	u64 n;

	do {
		n = READ_ONCE(*count);
	} while (cmpxchg_local(count, n, n + more) != n);
}

void hwpmc_ring_drop(struct hwpmc_ring *ring, unsigned int cause, bool sample,
		     u64 n, u64 now)
{
	u64 *count = sample ? ring->samples : ring->others;
	u64 *all = sample ? ring->all_samples : ring->all_others;
	u64 *told = (u64 *)(sample ? ring->ctl->samples_dropped :
				     ring->ctl->others_dropped);
	u64 sum;

	if (!READ_ONCE(ring->dropped))
		WRITE_ONCE(ring->since, now);
	count_add(&count[cause], n);
	count_add(&all[cause], n);
	/* Only written: the owner may write there at the same time, for ever. */
	do {
		sum = READ_ONCE(all[cause]);
		WRITE_ONCE(told[cause], sum);
	} while (READ_ONCE(all[cause]) != sum);
	barrier();
	WRITE_ONCE(ring->dropped, true);
}

static u64 count_take(u64 *count)
{
	u64 n;

	do {
		n = READ_ONCE(*count);
	} while (cmpxchg_local(count, n, 0) != n);
	return n;
}

void hwpmc_ring_declare(struct hwpmc_ring *ring, u64 now)
{
	struct hwpmc_log_drop *r;
	unsigned int i;

	if (!READ_ONCE(ring->dropped))
		return;
	ring->nest++;
	barrier();
	r = ring_reserve(ring, DECLARATION, 0);
	if (r) {
		r->hdr = (struct hwpmc_log_hdr){
			.len = DECLARATION,
			.type = HWPMC_LOG_DROPNOTIFY,
			.time = now,
		};
		r->cpu = ring->cpu;
		r->ncause = HWPMC_DROP__COUNT;
		r->since = READ_ONCE(ring->since);
		/* First, so that who drops meanwhile sets it again. */
		WRITE_ONCE(ring->dropped, false);
		barrier();
		for (i = 0; i < HWPMC_DROP__COUNT; i++) {
			r->samples[i] = count_take(&ring->samples[i]);
			r->others[i] = count_take(&ring->others[i]);
		}
	}
	hwpmc_ring_commit(ring);
}
