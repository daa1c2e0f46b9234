// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * unwind_maps.c - the executable mappings of address spaces, by mm. An entry holds a
 * reference to the mm_struct, not to the memory, so that no other mm can have its address.
 */
#include <linux/hash.h>
#include <linux/llist.h>
#include <linux/lockdep.h>
#include <linux/mm.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../base/lock.h"
#include "../core/work.h"
#include "unwind_maps.h"

#define BUCKET_BITS	9

struct space {
	struct hlist_node node;			/* in its bucket; maps_lock, RCU */
	struct mm_struct *mm;			/* constant */
	struct hwpmc_unwind_maps __rcu *maps;	/* maps_lock, RCU */
	union {
		struct rcu_head rcu;
		struct llist_node ended;	/* in `ended` */
	};
};

static struct hlist_head buckets[1 << BUCKET_BITS];
static DEFINE_RAW_SPINLOCK(maps_lock);
static unsigned int unwind_maps_users;			/* hwpmc_lock, read anywhere */
static atomic64_t serial = ATOMIC64_INIT(1);

u64 hwpmc_unwind_serial(void)
{
	return atomic64_inc_return(&serial);
}

bool hwpmc_unwind_maps_wanted(void)
{
	return READ_ONCE(unwind_maps_users);
}

static struct hlist_head *map_bucket_nmi(const struct mm_struct *mm)
{
	return &buckets[hash_ptr(mm, BUCKET_BITS)];
}

/* ---- in the NMI ----------------------------------------------------------- */

const struct hwpmc_unwind_maps *hwpmc_unwind_maps_nmi(const struct mm_struct *mm)
{
	const struct space *space;

	hlist_for_each_entry_rcu(space, map_bucket_nmi(mm), node,
				 lockdep_is_held(&maps_lock))
		if (space->mm == mm)
			return rcu_dereference_raw(space->maps);
	return NULL;
}

/* ---- entries -------------------------------------------------------------- */

static struct space *space_find(const struct mm_struct *mm)
{
	struct space *space;

	lockdep_assert_held(&maps_lock);
	hlist_for_each_entry(space, map_bucket_nmi(mm), node)
		if (space->mm == mm)
			return space;
	return NULL;
}

static LLIST_HEAD(ended);

static void free_ended(struct work_struct *unused)
{
	struct space *space, *next;

	llist_for_each_entry_safe(space, next, llist_del_all(&ended), ended) {
		mmdrop(space->mm);
		kfree(space);
	}
}

static DECLARE_WORK(free_work, free_ended);

/* The last reference to an mm frees its page tables, under a lock that the kernel takes
 * with softirqs on: never here. */
static void space_free_rcu(struct rcu_head *rcu)
{
	struct space *space = container_of(rcu, struct space, rcu);

	kfree(rcu_dereference_raw(space->maps));
	if (llist_add(&space->ended, &ended))
		hwpmc_work(&free_work);
}

static void space_remove_locked(struct space *space)
{
	lockdep_assert_held(&maps_lock);
	hlist_del_rcu(&space->node);
	call_rcu(&space->rcu, space_free_rcu);
}

/* An address space can end without the exit that hwpmc_unwind_maps_exit() waits for, if a
 * reader of /proc was its last user. */
static void bucket_sweep_locked(struct hlist_head *bucket)
{
	struct hlist_node *next;
	struct space *space;

	lockdep_assert_held(&maps_lock);
	hlist_for_each_entry_safe(space, next, bucket, node)
		if (!atomic_read(&space->mm->mm_users))
			space_remove_locked(space);
}

static struct space *space_new(struct mm_struct *mm, gfp_t gfp)
{
	struct space *space = kzalloc(sizeof(*space), gfp);

	if (!space)
		return NULL;
	mmgrab(mm);
	space->mm = mm;
	return space;
}

static void maps_replace_locked(struct space *space, struct hwpmc_unwind_maps *maps)
{
	struct hwpmc_unwind_maps *old;

	lockdep_assert_held(&maps_lock);
	old = rcu_dereference_protected(space->maps, lockdep_is_held(&maps_lock));
	rcu_assign_pointer(space->maps, maps);
	if (old)
		kfree_rcu(old, rcu);
}

/* ---- arrays --------------------------------------------------------------- */

struct hwpmc_unwind_maps *hwpmc_unwind_maps_alloc(unsigned int n, gfp_t gfp)
{
	struct hwpmc_unwind_maps *maps;

	if (n > HWPMC_UNWIND_MAPS_MAX)
		return NULL;
	maps = kmalloc(struct_size(maps, map, n), gfp);
	if (!maps)
		return NULL;
	maps->serial = hwpmc_unwind_serial();
	maps->n = 0;
	return maps;
}

static void set_new(struct mm_struct *mm, struct hwpmc_unwind_maps *maps, gfp_t gfp)
{
	struct space *fresh = space_new(mm, gfp), *space;

	raw_spin_lock(&maps_lock);
	bucket_sweep_locked(map_bucket_nmi(mm));
	space = space_find(mm);
	/* Without users nothing keeps them up to date: see forget_all(). */
	if (space && unwind_maps_users) {
		maps_replace_locked(space, maps);
		maps = NULL;
	} else if (fresh && unwind_maps_users) {
		rcu_assign_pointer(fresh->maps, maps);
		hlist_add_head_rcu(&fresh->node, map_bucket_nmi(mm));
		fresh = NULL;
		maps = NULL;
	}
	raw_spin_unlock(&maps_lock);
	kfree(maps);
	if (fresh) {
		mmdrop(mm);
		kfree(fresh);
	}
}

void hwpmc_unwind_maps_set(struct mm_struct *mm, struct hwpmc_unwind_maps *maps, gfp_t gfp)
{
	if (maps)
		set_new(mm, maps, gfp);
	else
		hwpmc_unwind_maps_exit(mm);
}

static bool is_left_nmi(const struct hwpmc_unwind_map *m)
{
	return READ_ONCE(m->start) < READ_ONCE(m->end);
}

static unsigned int maps_left(const struct hwpmc_unwind_maps *maps)
{
	unsigned int i, left = 0;

	for (i = 0; i < maps->n; i++)
		left += is_left_nmi(&maps->map[i]);
	return left;
}

static unsigned int space_left(const struct mm_struct *mm)
{
	const struct hwpmc_unwind_maps *maps;
	unsigned int left;

	rcu_read_lock();
	maps = hwpmc_unwind_maps_nmi(mm);
	left = maps ? maps_left(maps) : 0;
	rcu_read_unlock();
	return left;
}

/* What is left of the space's array, as far as there is room. False: there is more.
 * *of: the number of the state that it is a copy of, 0: there is no array. */
static bool maps_take(struct hwpmc_unwind_maps *maps, const struct mm_struct *mm,
		      unsigned int room, u64 *of)
{
	const struct hwpmc_unwind_maps *old;
	bool all = true;
	unsigned int i;

	rcu_read_lock();
	old = hwpmc_unwind_maps_nmi(mm);
	/* Before the bounds, which change before it. */
	*of = old ? smp_load_acquire(&old->serial) : 0;
	for (i = 0; all && old && i < old->n; i++) {
		if (!is_left_nmi(&old->map[i]))
			continue;
		all = maps->n < room;
		if (all)
			maps->map[maps->n++] = old->map[i];
	}
	rcu_read_unlock();
	return all;
}

/*
 * A copy of what is left of the array, with room for more; NULL also where there is none.
 * *of: the number of the state that it is a copy of. In one state mappings only become
 * fewer; there may be another one with more when the memory has been allocated, which can
 * sleep, and so is not done under RCU.
 */
static struct hwpmc_unwind_maps *maps_copy(struct mm_struct *mm, unsigned int more, gfp_t gfp,
					   u64 *of)
{
	struct hwpmc_unwind_maps *maps = NULL;
	unsigned int left;

	do {
		kfree(maps);
		left = space_left(mm);
		maps = hwpmc_unwind_maps_alloc(left + more, gfp);
		if (!maps)
			return NULL;
	} while (!maps_take(maps, mm, left, of));
	if (*of)
		return maps;
	kfree(maps);
	return NULL;
}

void hwpmc_unwind_maps_fork(struct mm_struct *parent, struct mm_struct *child)
{
	struct hwpmc_unwind_maps *maps;
	u64 of;

	if (parent == child)
		return;
	maps = maps_copy(parent, 0, GFP_ATOMIC | __GFP_NOWARN, &of);
	if (maps)
		hwpmc_unwind_maps_set(child, maps, GFP_ATOMIC | __GFP_NOWARN);
}

/* Shrink or empty what overlaps [start, end); of one that has parts on both sides the lower
 * is kept. A reader in NMI sees the old or the new bounds of each. */
static bool maps_cut(struct hwpmc_unwind_maps *maps, u64 start, u64 end, bool files)
{
	bool changed = false;
	unsigned int i;

	lockdep_assert_held(&maps_lock);
	for (i = 0; i < maps->n; i++) {
		struct hwpmc_unwind_map *m = &maps->map[i];

		if (m->end <= start || m->start >= end || m->start == m->end ||
		    (!files && m->file.kind == UNWIND_FILE_INODE && !m->file.copied))
			continue;
		if (m->start < start)
			WRITE_ONCE(m->end, start);
		else if (m->end <= end)
			WRITE_ONCE(m->end, m->start);
		else
			WRITE_ONCE(m->start, end);
		changed = true;
	}
	if (!changed)
		return false;
	/* After the bounds: what is remembered under the old number is not found any more.
	 * Pairs with hwpmc_unwind_chain_nmi(). */
	smp_store_release(&maps->serial, hwpmc_unwind_serial());
	return true;
}

bool hwpmc_unwind_maps_remove(struct mm_struct *mm, u64 start, u64 end, bool files)
{
	struct hwpmc_unwind_maps *maps;
	bool changed = false;

	if (!hwpmc_unwind_maps_known(mm))
		return false;
	raw_spin_lock(&maps_lock);
	maps = (struct hwpmc_unwind_maps *)hwpmc_unwind_maps_nmi(mm);
	if (maps)
		changed = maps_cut(maps, start, end, files);
	raw_spin_unlock(&maps_lock);
	return changed;
}

static void maps_insert(struct hwpmc_unwind_maps *maps, const struct hwpmc_unwind_map *map)
{
	unsigned int i = maps->n++;

	for (; i && maps->map[i - 1].start > map->start; i--)
		maps->map[i] = maps->map[i - 1];
	maps->map[i] = *map;
}

static bool map_is_there(struct mm_struct *mm, const struct hwpmc_unwind_map *map)
{
	const struct hwpmc_unwind_maps *maps;
	const struct hwpmc_unwind_map *m;
	bool found = false;

	rcu_read_lock();
	maps = hwpmc_unwind_maps_nmi(mm);
	m = maps ? unwind_find_map_nmi(maps->map, maps->n, map->start) : NULL;
	if (m)
		found = !memcmp(m, map, sizeof(*m));
	rcu_read_unlock();
	return found;
}

/* False: the array has changed since it was copied. */
static bool maps_replace(struct mm_struct *mm, struct hwpmc_unwind_maps *maps, u64 of)
{
	struct hwpmc_unwind_maps *old;
	struct space *space;
	bool done = true;

	raw_spin_lock(&maps_lock);
	space = space_find(mm);
	old = space ? rcu_dereference_protected(space->maps,
						lockdep_is_held(&maps_lock)) : NULL;
	if (old && old->serial != of) {
		done = false;
	} else if (space) {
		maps_replace_locked(space, maps);
		maps = NULL;
	}
	raw_spin_unlock(&maps_lock);
	kfree(maps);
	return done;
}

void hwpmc_unwind_maps_add(struct mm_struct *mm, const struct hwpmc_unwind_map *map,
			   gfp_t gfp)
{
	struct hwpmc_unwind_maps *maps;
	u64 of;

	if (map_is_there(mm, map))
		return;
	do {
		hwpmc_unwind_maps_remove(mm, map->start, map->end, true);
		maps = maps_copy(mm, 1, gfp, &of);
		if (!maps)
			return;
		maps_insert(maps, map);
	} while (!maps_replace(mm, maps, of));
}

void hwpmc_unwind_maps_exit(struct mm_struct *mm)
{
	struct space *space;

	raw_spin_lock(&maps_lock);
	space = space_find(mm);
	if (space)
		space_remove_locked(space);
	raw_spin_unlock(&maps_lock);
}

bool hwpmc_unwind_maps_known(struct mm_struct *mm)
{
	bool known;

	rcu_read_lock();
	known = hwpmc_unwind_maps_nmi(mm);
	rcu_read_unlock();
	return known;
}

/* ---- users ---------------------------------------------------------------- */

static void forget_all(void)
{
	struct hlist_node *next;
	struct space *space;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(buckets); i++) {
		raw_spin_lock(&maps_lock);
		hlist_for_each_entry_safe(space, next, &buckets[i], node)
			space_remove_locked(space);
		raw_spin_unlock(&maps_lock);
	}
}

void hwpmc_unwind_maps_get(void)
{
	lockdep_assert_held(&hwpmc_lock);
	WRITE_ONCE(unwind_maps_users, unwind_maps_users + 1);
}

void hwpmc_unwind_maps_put(void)
{
	lockdep_assert_held(&hwpmc_lock);
	WRITE_ONCE(unwind_maps_users, unwind_maps_users - 1);
	if (!unwind_maps_users)
		forget_all();
}

void hwpmc_unwind_maps_end(void)
{
	forget_all();
	rcu_barrier();
	flush_work(&free_work);
}
