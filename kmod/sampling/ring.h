/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * ring.h - one CPU's ring of one log. Records are written once, in their final form.
 * Pure: the same source runs in unit tests.
 *
 * One CPU writes, in contexts that nest like a stack (task, interrupt, NMI): each
 * reserves, fills and commits before the one that it interrupted goes on. Reserving
 * moves .reserved; the head that the reader sees moves when the outermost context
 * commits, for then all that it covers is filled. One reader, on any CPU.
 *
 * The page at .ctl may be mapped by a hostile program: of what is there only tail is
 * read, and any value of it is allowed for.
 */
#ifndef HWPMC_RING_H
#define HWPMC_RING_H

#include "../compat/types.h"
#include "hwpmc_log.h"	/* uapi */

struct hwpmc_ring {
	struct hwpmc_log_ring *ctl;
	u8 *data;		/* size bytes, mapped twice: no record wraps */
	u64 size;
	u64 reserved;		/* bytes since the log was made */
	u64 woken;		/* .reserved when the reader was last woken */
	u64 wakeup;		/* wake it after this many bytes */
	unsigned int nest;	/* writers between reserve and commit */
	u32 cpu;
	s32 pid, tid;		/* of the last CONTEXT record; -1: none */
	/* Drops that no DROPNOTIFY record has declared; since: the time of the first. */
	bool dropped;
	u64 since;
	u64 samples[HWPMC_DROP__COUNT];
	u64 others[HWPMC_DROP__COUNT];
	u64 events;		/* of dropped samples whose periods differ */
	/* All drops, by the same indices; copied to .ctl. */
	u64 all_samples[HWPMC_DROP__COUNT];
	u64 all_others[HWPMC_DROP__COUNT];
	u64 later_samples, later_others;	/* of all causes behind PAUSED */
};

/* Bytes that are free; at most .size, whatever the reader has written to tail. */
static inline u64 hwpmc_ring_room_nmi(const struct hwpmc_ring *ring)
{
	u64 used = READ_ONCE(ring->reserved) - READ_ONCE(ring->ctl->tail);

	return used > ring->size ? 0 : ring->size - used;
}

static inline void *hwpmc_ring_at(const struct hwpmc_ring *ring, u64 where)
{
	return ring->data + (where & (ring->size - 1));
}

static inline void hwpmc_ring_publish_nmi(struct hwpmc_ring *ring, u64 head)
{
	/* C: pairs with the reader's acquire of head in the drain thread or the
	 * owner: the records that head covers are written. */
	smp_store_release(&ring->ctl->head, head);
}

/* Is it time to wake the reader? True once for every .wakeup bytes. */
static inline bool hwpmc_ring_wants_reader_nmi(struct hwpmc_ring *ring, u64 head)
{
	if (head - ring->woken < ring->wakeup)
		return false;
	ring->woken = head;
	return true;
}

/*
 * Reserve and commit `len` bytes that an NMI, which no other writer interrupts, has
 * filled behind .reserved. True: wake the reader.
 */
static inline bool hwpmc_ring_push_nmi(struct hwpmc_ring *ring, size_t len)
{
	u64 head = ring->reserved + len;

	ring->reserved = head;
	if (ring->nest)
		return false;	/* the writer that was interrupted publishes it */
	hwpmc_ring_publish_nmi(ring, head);
	return hwpmc_ring_wants_reader_nmi(ring, head);
}

void hwpmc_ring_init(struct hwpmc_ring *ring, struct hwpmc_log_ring *ctl,
		     void *data, u64 size, u32 wakeup, u32 cpu);

/* len: a multiple of 8. NULL: no room; the caller counts the drop. */
void *hwpmc_ring_reserve_nmi(struct hwpmc_ring *ring, size_t len);
/* True: wake the reader. */
bool hwpmc_ring_commit_nmi(struct hwpmc_ring *ring);

/* Count n dropped records; `now` by the log's clock. */
void hwpmc_ring_drop_nmi(struct hwpmc_ring *ring, unsigned int cause, bool sample,
			 u64 n, u64 now);
/* The samples that were just dropped stood for so many events. */
void hwpmc_ring_drop_events_nmi(struct hwpmc_ring *ring, u64 events, u64 now);
/* Would a declaration be written now? Any CPU. */
bool hwpmc_ring_can_declare(const struct hwpmc_ring *ring);
/*
 * Write a DROPNOTIFY record for undeclared drops, if there are any and it fits. True: wake
 * the reader; what is written after it is not told so once more.
 */
bool hwpmc_ring_declare_nmi(struct hwpmc_ring *ring, u64 now);

#endif /* HWPMC_RING_H */
