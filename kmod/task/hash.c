// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* hash.c - see hash.h. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "hash.h"

static struct hwpmc_hash_table *table_new(unsigned int bits, unsigned int which)
{
	struct hwpmc_hash_table *table;

	table = kvzalloc(struct_size(table, bucket, 1ul << bits), GFP_KERNEL);
	if (table) {
		table->bits = bits;
		table->which = which;
	}
	return table;
}

int hwpmc_hash_init(struct hwpmc_hash *hash, unsigned int bits, raw_spinlock_t *lock)
{
	hash->table = table_new(bits, 0);
	hash->filling = NULL;
	hash->n = 0;
	hash->lock = lock;
	mutex_init(&hash->grow);
	return hash->table ? 0 : -ENOMEM;
}

void hwpmc_hash_exit(struct hwpmc_hash *hash)
{
	kvfree(hash->table);
	hash->table = NULL;
}

static void table_add(struct hwpmc_hash_table *table, struct hwpmc_hash_entry *entry)
{
	hlist_add_head_rcu(&entry->node[table->which], hwpmc_hash_bucket(table, entry->key));
}

void hwpmc_hash_add_locked(struct hwpmc_hash *hash, struct hwpmc_hash_entry *entry,
			   const void *key)
{
	lockdep_assert_held(hash->lock);
	entry->key = key;
	INIT_HLIST_NODE(&entry->node[0]);
	INIT_HLIST_NODE(&entry->node[1]);
	table_add(hash->table, entry);
	if (hash->filling)
		table_add(hash->filling, entry);
	WRITE_ONCE(hash->n, hash->n + 1);
}

void hwpmc_hash_del_locked(struct hwpmc_hash *hash, struct hwpmc_hash_entry *entry)
{
	lockdep_assert_held(hash->lock);
	/* One that is in no table is left as it is. */
	if (hlist_unhashed(&entry->node[0]) && hlist_unhashed(&entry->node[1]))
		return;
	hlist_del_init_rcu(&entry->node[0]);
	hlist_del_init_rcu(&entry->node[1]);
	WRITE_ONCE(hash->n, hash->n - 1);
}

bool hwpmc_hash_is_full(const struct hwpmc_hash *hash)
{
	struct hwpmc_hash_table *table;
	bool full;

	rcu_read_lock();
	table = rcu_dereference_raw(hash->table);
	full = READ_ONCE(hash->n) >> table->bits && table->bits < HWPMC_HASH_BITS_MAX;
	rcu_read_unlock();
	return full;
}

/* ---- growing --------------------------------------------------------------- */

/* fn(bucket) for each bucket of the table, the lock released now and then. */
static void each_bucket(struct hwpmc_hash *hash, struct hwpmc_hash_table *table,
			void (*fn)(struct hwpmc_hash *hash, struct hwpmc_hash_table *table,
				   struct hlist_head *bucket))
{
	unsigned long flags;
	unsigned int i, batch;

	for (i = 0; i < 1u << table->bits; ) {
		raw_spin_lock_irqsave(hash->lock, flags);
		batch = HWPMC_HASH_BATCH;
		while (i < 1u << table->bits && batch) {
			struct hlist_head *bucket = &table->bucket[i++];

			batch = hlist_empty(bucket) ? batch - 1 : 0;
			fn(hash, table, bucket);
		}
		raw_spin_unlock_irqrestore(hash->lock, flags);
		cond_resched();
	}
}

/* What was added since the filling began is there already. */
static void fill_from(struct hwpmc_hash *hash, struct hwpmc_hash_table *table,
		      struct hlist_head *bucket)
{
	struct hwpmc_hash_table *filling = hash->filling;
	struct hlist_node *node;

	lockdep_assert_held(hash->lock);
	for (node = bucket->first; node; node = node->next) {
		struct hwpmc_hash_entry *entry = hwpmc_hash_entry_of(node, table->which);

		if (hlist_unhashed(&entry->node[filling->which]))
			table_add(filling, entry);
	}
}

/* No lookup reads the table any more. */
static void empty_bucket(struct hwpmc_hash *hash, struct hwpmc_hash_table *table,
			 struct hlist_head *bucket)
{
	lockdep_assert_held(hash->lock);
	while (bucket->first)
		hlist_del_init(bucket->first);
}

static void set_filling(struct hwpmc_hash *hash, struct hwpmc_hash_table *table)
{
	unsigned long flags;

	raw_spin_lock_irqsave(hash->lock, flags);
	hash->filling = table;
	raw_spin_unlock_irqrestore(hash->lock, flags);
}

static void publish_filling(struct hwpmc_hash *hash)
{
	unsigned long flags;

	raw_spin_lock_irqsave(hash->lock, flags);
	/* Its buckets before it: lookups depend on the pointer. */
	smp_store_release(&hash->table, hash->filling);
	hash->filling = NULL;
	raw_spin_unlock_irqrestore(hash->lock, flags);
}

void hwpmc_hash_grow(struct hwpmc_hash *hash)
{
	struct hwpmc_hash_table *old, *table;
	unsigned int bits;

	mutex_lock(&hash->grow);
	old = hash->table;
	bits = order_base_2(READ_ONCE(hash->n) + 1);
	bits = min_t(unsigned int, bits, HWPMC_HASH_BITS_MAX);
	table = bits > old->bits ? table_new(bits, !old->which) : NULL;
	if (table) {
		set_filling(hash, table);
		each_bucket(hash, old, fill_from);
		publish_filling(hash);
		synchronize_rcu();
		each_bucket(hash, old, empty_bucket);
		kvfree(old);
	}
	mutex_unlock(&hash->grow);
}
