// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ring.c - reserve, commit, and counts of dropped records. Pure: no calls of the
 * kernel. All functions run on the ring's own CPU, in any context, NMI included.
 *
 * Contexts nest and end in reverse order: an inner writer leaves all fields but
 * .reserved, .dropped and the counts as it found them. So plain loads and stores are
 * enough between contexts of one CPU, as long as the compiler does not move them.
 */
#include "ring.h"

#define FURTHER		(HWPMC_DROP__COUNT - HWPMC_DROP_FIXED)
#define NOTIFY		(sizeof(struct hwpmc_log_drop) + \
			 FURTHER * sizeof(struct hwpmc_log_drop_pair))
#define PERIOD		sizeof(struct hwpmc_log_period)
/* The first cause that has an entry of its own in each_dropped. */
#define FIRST_EACH	(HWPMC_DROP_FIXED + 1)

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

/* Bytes that the declaration of all drops so far takes. */
static size_t declaration_nmi(const struct hwpmc_ring *ring)
{
	return READ_ONCE(ring->events) ? PERIOD + NOTIFY : NOTIFY;
}

bool hwpmc_ring_can_declare(const struct hwpmc_ring *ring)
{
	return READ_ONCE(ring->dropped) && hwpmc_ring_room_nmi(ring) >= declaration_nmi(ring);
}

static void *ring_reserve_nmi(struct hwpmc_ring *ring, size_t len, size_t spare)
{
	u64 at;

	do {
		at = READ_ONCE(ring->reserved);
		if (hwpmc_ring_room_nmi(ring) < len + spare)
			return NULL;
	} while (cmpxchg_local(&ring->reserved, at, at + len) != at);
	return hwpmc_ring_at(ring, at);
}

void *hwpmc_ring_reserve_nmi(struct hwpmc_ring *ring, size_t len)
{
	void *at;

	ring->nest++;
	barrier();
	/* While drops are not declared, keep room for their declaration. */
	at = ring_reserve_nmi(ring, len, READ_ONCE(ring->dropped) ?
			      declaration_nmi(ring) : 0);
	if (!at)
		hwpmc_ring_commit_nmi(ring);
	return at;
}

/*
 * The outermost writer publishes all that is reserved, for then it is filled. A
 * writer that interrupts it before .nest is 0 publishes nothing itself; the loop finds
 * that .reserved has moved, and publishes that too.
 */
bool hwpmc_ring_commit_nmi(struct hwpmc_ring *ring)
{
	u64 head;

	barrier();
	if (ring->nest > 1) {
		ring->nest--;
		return false;
	}
	do {
		head = READ_ONCE(ring->reserved);
		hwpmc_ring_publish_nmi(ring, head);
		ring->nest = 0;
		barrier();
		if (READ_ONCE(ring->reserved) == head)
			break;
		ring->nest = 1;
		barrier();
	} while (1);
	return hwpmc_ring_wants_reader_nmi(ring, head);
}

/* Atomic against NMIs of this CPU. */
static void count_add_nmi(u64 *count, u64 added)
{
	u64 n;

	do {
		n = READ_ONCE(*count);
	} while (cmpxchg_local(count, n, n + added) != n);
}

static void note_first_drop_nmi(struct hwpmc_ring *ring, u64 now)
{
	if (!READ_ONCE(ring->dropped))
		WRITE_ONCE(ring->since, now);
}

/* The sum of a cause that the owner reads. */
static u64 *published_nmi(struct hwpmc_log_ring *ctl, unsigned int cause, bool sample)
{
	struct hwpmc_log_drop_pair *pair;

	if (cause < HWPMC_DROP_FIXED)
		return (u64 *)(sample ? &ctl->samples_dropped[cause] :
				     &ctl->others_dropped[cause]);
	pair = cause < FIRST_EACH ? &ctl->more_dropped[0] :
				    &ctl->each_dropped[cause - FIRST_EACH];
	return (u64 *)(sample ? &pair->samples : &pair->others);
}

/* Never read it back: the owner may write there too, and would keep a loop that compares
 * running. */
static void publish_nmi(u64 *published, const u64 *count)
{
	u64 sum;

	do {
		sum = READ_ONCE(*count);
		WRITE_ONCE(*published, sum);
	} while (READ_ONCE(*count) != sum);
}

/* The sum of all causes from FIRST_EACH on. */
static void publish_later_nmi(struct hwpmc_ring *ring, bool sample, u64 n)
{
	struct hwpmc_log_drop_pair *pair = &ring->ctl->more_dropped[1];
	u64 *all = sample ? &ring->later_samples : &ring->later_others;

	count_add_nmi(all, n);
	publish_nmi((u64 *)(sample ? &pair->samples : &pair->others), all);
}

void hwpmc_ring_drop_nmi(struct hwpmc_ring *ring, unsigned int cause, bool sample,
			 u64 n, u64 now)
{
	u64 *count = sample ? ring->samples : ring->others;
	u64 *all = sample ? ring->all_samples : ring->all_others;

	note_first_drop_nmi(ring, now);
	count_add_nmi(&count[cause], n);
	count_add_nmi(&all[cause], n);
	publish_nmi(published_nmi(ring->ctl, cause, sample), &all[cause]);
	if (cause >= FIRST_EACH)
		publish_later_nmi(ring, sample, n);
	barrier();
	WRITE_ONCE(ring->dropped, true);
}

static u64 count_take_nmi(u64 *count)
{
	u64 n;

	do {
		n = READ_ONCE(*count);
	} while (cmpxchg_local(count, n, 0) != n);
	return n;
}

void hwpmc_ring_drop_events_nmi(struct hwpmc_ring *ring, u64 events, u64 now)
{
	note_first_drop_nmi(ring, now);
	count_add_nmi(&ring->events, events);
	barrier();
	WRITE_ONCE(ring->dropped, true);
}

static void *put_dropped_period_nmi(struct hwpmc_ring *ring, struct hwpmc_log_period *r,
				    u64 now)
{
	r->hdr = (struct hwpmc_log_hdr){
		.len = PERIOD,
		.type = HWPMC_LOG_PERIOD,
		.flags = HWPMC_PERIOD_DROPPED,
		.time = now,
	};
	r->period = count_take_nmi(&ring->events);
	return r + 1;
}

static void put_drop_nmi(struct hwpmc_ring *ring, struct hwpmc_log_drop *r, u64 since,
			 u64 now)
{
	struct hwpmc_log_drop_pair *more = (void *)(r + 1);
	unsigned int i;

	r->hdr = (struct hwpmc_log_hdr){
		.len = NOTIFY,
		.type = HWPMC_LOG_DROPNOTIFY,
		.time = now,
	};
	r->cpu = ring->cpu;
	r->ncause = HWPMC_DROP__COUNT;
	r->since = since;
	for (i = 0; i < HWPMC_DROP_FIXED; i++) {
		r->samples[i] = count_take_nmi(&ring->samples[i]);
		r->others[i] = count_take_nmi(&ring->others[i]);
	}
	for (; i < HWPMC_DROP__COUNT; i++, more++) {
		more->samples = count_take_nmi(&ring->samples[i]);
		more->others = count_take_nmi(&ring->others[i]);
	}
}

bool hwpmc_ring_declare_nmi(struct hwpmc_ring *ring, u64 now)
{
	size_t len;
	void *r;

	if (!READ_ONCE(ring->dropped))
		return false;
	ring->nest++;
	barrier();
	len = declaration_nmi(ring);
	r = ring_reserve_nmi(ring, len, 0);
	if (r) {
		u64 since = READ_ONCE(ring->since);

		/* Before the counts are taken: a drop after that sets it again. */
		WRITE_ONCE(ring->dropped, false);
		barrier();
		if (len > NOTIFY)
			r = put_dropped_period_nmi(ring, r, now);
		put_drop_nmi(ring, r, since, now);
		/* Events of a drop that interrupted this have no PERIOD record yet. */
		if (READ_ONCE(ring->events))
			WRITE_ONCE(ring->dropped, true);
	}
	return hwpmc_ring_commit_nmi(ring);
}
