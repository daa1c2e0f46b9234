// SPDX-License-Identifier: BSD-2-Clause
/*
 * hashmod.c - the hash of targets and threads by itself, with as many entries as a large
 * machine has threads. While it is loaded entries are added and removed, and a thread on
 * another CPU looks up those that stay, all of them, again and again, while the table
 * grows. Loading fails with EINVAL if one was not found, or a removed one was. steps_100 is
 * the average steps of a lookup of all entries, times 100.
 */
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

/* A part of this module: it is no interface of the product. */
#include "hash.c"

#define ENTRIES		50000
#define STAY		1000	/* from the first on, looked up all the time */

struct thing {
	struct hwpmc_hash_entry hash;
	char key[64];		/* apart as tasks are, more or less */
};

static DEFINE_RAW_SPINLOCK(lock);
static struct hwpmc_hash hash;
static struct thing *things;
static bool stay, missed;

static unsigned int steps_100;
module_param(steps_100, uint, 0444);
static unsigned int buckets;
module_param(buckets, uint, 0444);

static int look_up(void *unused)
{
	while (!kthread_should_stop()) {
		unsigned int i;

		for (i = 0; READ_ONCE(stay) && i < STAY; i++) {
			rcu_read_lock();
			if (hwpmc_hash_find(&hash, things[i].key) != &things[i].hash)
				WRITE_ONCE(missed, true);
			rcu_read_unlock();
		}
		cond_resched();
	}
	return 0;
}

static void add(unsigned int first, unsigned int end)
{
	unsigned long flags;
	unsigned int i;

	for (i = first; i < end; i++) {
		raw_spin_lock_irqsave(&lock, flags);
		hwpmc_hash_add_locked(&hash, &things[i].hash, things[i].key);
		raw_spin_unlock_irqrestore(&lock, flags);
	}
}

static void remove(unsigned int first, unsigned int end)
{
	unsigned long flags;
	unsigned int i;

	for (i = first; i < end; i++) {
		raw_spin_lock_irqsave(&lock, flags);
		hwpmc_hash_del_locked(&hash, &things[i].hash);
		raw_spin_unlock_irqrestore(&lock, flags);
	}
}

/* Each of the entries is found, or none. */
static bool are_found(unsigned int first, unsigned int end, bool want)
{
	bool all = true;
	unsigned int i;

	rcu_read_lock();
	for (i = first; i < end; i++)
		all &= (hwpmc_hash_find(&hash, things[i].key) == &things[i].hash) == want;
	rcu_read_unlock();
	return all;
}

static void measure(void)
{
	u64 steps = 0;
	unsigned int i;

	rcu_read_lock();
	for (i = 0; i < hash.n; i++) {
		struct hlist_node *node =
			hwpmc_hash_bucket(hash.table, things[i].key)->first;

		for (steps++; node != &things[i].hash.node[hash.table->which];
		     node = node->next)
			steps++;
	}
	rcu_read_unlock();
	steps_100 = div_u64(steps * 100, hash.n);
	buckets = 1u << hash.table->bits;
}

static bool grow_and_look(void)
{
	bool right = true;
	unsigned int i;

	add(0, STAY);
	WRITE_ONCE(stay, true);
	for (i = STAY; i < ENTRIES; i += STAY) {
		add(i, i + STAY);
		if (hwpmc_hash_is_full(&hash))
			hwpmc_hash_grow(&hash);
		/* Removed, and added anew after a grace period. */
		remove(i, i + STAY / 2);
		right &= are_found(i, i + STAY / 2, false);
		synchronize_rcu();
		add(i, i + STAY / 2);
		right &= are_found(0, i + STAY, true);
	}
	right &= hash.n == ENTRIES && !hwpmc_hash_is_full(&hash);
	measure();
	WRITE_ONCE(stay, false);
	return right;
}

static int __init hashmod_init(void)
{
	struct task_struct *task;
	bool right;
	int ret;

	things = vzalloc(array_size(ENTRIES, sizeof(*things)));
	if (!things)
		return -ENOMEM;
	ret = hwpmc_hash_init(&hash, 4, &lock);
	if (ret)
		goto out;
	task = kthread_run(look_up, NULL, "hashmod");
	if (IS_ERR(task)) {
		ret = PTR_ERR(task);
		goto out_hash;
	}
	right = grow_and_look();
	kthread_stop(task);
	remove(0, ENTRIES);
	right &= !hash.n && are_found(0, ENTRIES, false);
	ret = right && !missed ? 0 : -EINVAL;
	synchronize_rcu();
out_hash:
	hwpmc_hash_exit(&hash);
out:
	vfree(things);
	return ret;
}

static void __exit hashmod_exit(void)
{
}

module_init(hashmod_init);
module_exit(hashmod_exit);
MODULE_LICENSE("Dual BSD/GPL");
MODULE_DESCRIPTION("test of hwpmc's hash");
