/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * ring.h - one CPU's ring of one log: records in their final form, written once.
 * Pure: the same source runs in unit tests.
 *
 * One writer CPU, any number of contexts on it that nest like a stack (task,
 * interrupt, NMI): each reserves, fills, commits before the one below goes on.
 * `reserved` moves at once, the head that the reader sees when the outermost
 * commits: then all below it is filled. One reader anywhere.
 *
 * The page at .ctl may be mapped by a program that means ill: nothing that was
 * written there is ever read back, except tail, and that with suspicion.
 */
#ifndef HWPMC_RING_H
#define HWPMC_RING_H

#include "../compat/types.h"
#include "hwpmc_log.h"	/* uapi */

struct hwpmc_ring {
	struct hwpmc_log_ring *ctl;
	u8 *data;		/* size bytes, twice: a record never wraps */
	u64 size;
	u64 reserved;		/* bytes, since the beginning */
	u64 woken;		/* .reserved when the reader was last woken */
	u64 wakeup;		/* bytes that wake it */
	unsigned int nest;	/* writers between reserve and commit */
	u32 cpu;
	s32 pid, tid;		/* of the last CONTEXT record; -1: none */
	/* Not yet declared in a DROPNOTIFY. */
	bool dropped;
	u64 since;
	u64 samples[HWPMC_DROP__COUNT];
	u64 others[HWPMC_DROP__COUNT];
	/* In all, by the same indices; told in .ctl. */
	u64 all_samples[HWPMC_DROP__COUNT];
	u64 all_others[HWPMC_DROP__COUNT];
};

/* Bytes that fit now. Whatever a reader did to tail: at most size. */
static inline u64 hwpmc_ring_room(const struct hwpmc_ring *ring)
{
	u64 used = READ_ONCE(ring->reserved) - READ_ONCE(ring->ctl->tail);

	return used > ring->size ? 0 : ring->size - used;
}

static inline void *hwpmc_ring_at(const struct hwpmc_ring *ring, u64 where)
{
	return ring->data + (where & (ring->size - 1));
}

static inline void hwpmc_ring_publish(struct hwpmc_ring *ring, u64 head)
{
	/* C: pairs with the reader's acquire of head, in the drain thread or in
	 * the owner: what head covers is written. */
	smp_store_release(&ring->ctl->head, head);
}

/* Is it time to wake the reader? Asks once for every .wakeup bytes. */
static inline bool hwpmc_ring_wants_reader(struct hwpmc_ring *ring, u64 head)
{
	if (head - ring->woken < ring->wakeup)
		return false;
	ring->woken = head;
	return true;
}

/*
 * The innermost context, which nothing interrupts (NMI), has filled `len` bytes
 * behind what is reserved: take them. True: the reader is to be woken.
 */
static inline bool hwpmc_ring_push_nmi(struct hwpmc_ring *ring, size_t len)
{
	u64 head = ring->reserved + len;

	ring->reserved = head;
	if (ring->nest)
		return false;	/* whom we interrupted will publish it */
	hwpmc_ring_publish(ring, head);
	return hwpmc_ring_wants_reader(ring, head);
}

void hwpmc_ring_init(struct hwpmc_ring *ring, struct hwpmc_log_ring *ctl,
		     void *data, u64 size, u32 wakeup, u32 cpu);

/* len: a multiple of 8. NULL: no room; the caller counts that. */
void *hwpmc_ring_reserve(struct hwpmc_ring *ring, size_t len);
/* True: the reader is to be woken. */
bool hwpmc_ring_commit(struct hwpmc_ring *ring);

/* Count n records that are missing; `now` by the log's clock. */
void hwpmc_ring_drop(struct hwpmc_ring *ring, unsigned int cause, bool sample,
		     u64 n, u64 now);
/* Declare what is missing if there is any and it fits. */
void hwpmc_ring_declare(struct hwpmc_ring *ring, u64 now);

#endif /* HWPMC_RING_H */
