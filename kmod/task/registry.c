// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * registry.c - see registry.h.
 */
#include <linux/log2.h>

#include "../core/work.h"
#include "../debug/tunables.h"
#include "registry.h"
#include "target.h"

/* Of hwpmc_hashsize buckets at first. hwpmc_targets_lock, RCU. */
static struct hwpmc_hash targets, threads;

/* Interrupts off are an RCU read-side section, here and below. */
struct hwpmc_target *hwpmc_target_find(const struct task_struct *task)
{
	struct hwpmc_hash_entry *entry = hwpmc_hash_find(&targets, task->signal);

	return entry ? container_of(entry, struct hwpmc_target, hash) : NULL;
}

struct hwpmc_thread *hwpmc_thread_find(const struct task_struct *task)
{
	struct hwpmc_hash_entry *entry = hwpmc_hash_find(&threads, task);

	return entry ? container_of(entry, struct hwpmc_thread, hash) : NULL;
}

static void grow_hashes(struct work_struct *work)
{
	if (hwpmc_hash_is_full(&targets))
		hwpmc_hash_grow(&targets);
	if (hwpmc_hash_is_full(&threads))
		hwpmc_hash_grow(&threads);
}

static DECLARE_WORK(grow_work, grow_hashes);

void hwpmc_targets_grow(void)
{
	if (hwpmc_hash_is_full(&targets) || hwpmc_hash_is_full(&threads))
		hwpmc_work(&grow_work);
}

void hwpmc_registry_add_target_locked(struct hwpmc_target *target)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	hwpmc_hash_add_locked(&targets, &target->hash, target->signal);
}

void hwpmc_registry_del_target_locked(struct hwpmc_target *target)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	hwpmc_hash_del_locked(&targets, &target->hash);
}

void hwpmc_registry_add_thread_locked(struct hwpmc_thread *thread)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	hwpmc_hash_add_locked(&threads, &thread->hash, thread->task);
}

void hwpmc_registry_del_thread_locked(struct hwpmc_thread *thread)
{
	lockdep_assert_held(&hwpmc_targets_lock);
	hwpmc_hash_del_locked(&threads, &thread->hash);
}

int hwpmc_registry_init(void)
{
	unsigned int bits = ilog2(hwpmc_hashsize);
	int ret;

	ret = hwpmc_hash_init(&targets, bits, &hwpmc_targets_lock);
	return ret ?: hwpmc_hash_init(&threads, bits, &hwpmc_targets_lock);
}

void hwpmc_registry_stop_growing(void)
{
	cancel_work_sync(&grow_work);
}

void hwpmc_registry_exit(void)
{
	hwpmc_hash_exit(&threads);
	hwpmc_hash_exit(&targets);
}
