/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * hash.h - a hash by address that grows while it is used. Lookups take no lock: under
 * RCU, or with interrupts off, which is the same. Changes are made under the lock of the
 * caller, a raw spinlock.
 *
 * An entry has a node for each of two tables. To grow, a larger table is filled bucket by
 * bucket under the lock while entries are in both; then lookups are directed to it, and
 * after a grace period the old one is emptied in the same way and freed. No step holds the
 * lock for longer than one bucket, or HWPMC_HASH_BATCH empty ones.
 */
#ifndef HWPMC_HASH_H
#define HWPMC_HASH_H

#include <linux/hash.h>
#include <linux/mutex.h>
#include <linux/rculist.h>
#include <linux/spinlock.h>

#define HWPMC_HASH_BATCH	64	/* buckets between two releases of the lock */
#define HWPMC_HASH_BITS_MAX	20

struct hwpmc_hash_entry {
	struct hlist_node node[2];	/* the lock; RCU */
	const void *key;		/* constant while in the hash */
};

struct hwpmc_hash_table {
	unsigned int bits;
	unsigned int which;		/* node of the entries in this table */
	struct hlist_head bucket[];
};

struct hwpmc_hash {
	struct hwpmc_hash_table *table;		/* for lookups; the lock, RCU */
	struct hwpmc_hash_table *filling;	/* or NULL; the lock */
	unsigned int n;				/* entries; the lock */
	raw_spinlock_t *lock;
	struct mutex grow;			/* one growth at a time */
};

/* 0 or -ENOMEM. */
int hwpmc_hash_init(struct hwpmc_hash *hash, unsigned int bits, raw_spinlock_t *lock);
void hwpmc_hash_exit(struct hwpmc_hash *hash);

void hwpmc_hash_add_locked(struct hwpmc_hash *hash, struct hwpmc_hash_entry *entry,
			   const void *key);
/* The entry outlives a grace period. */
void hwpmc_hash_del_locked(struct hwpmc_hash *hash, struct hwpmc_hash_entry *entry);

/* More entries than buckets: hwpmc_hash_grow() would help. Any context. */
bool hwpmc_hash_is_full(const struct hwpmc_hash *hash);
/* Sleeps, for a grace period among others. Without memory the table stays as it is. */
void hwpmc_hash_grow(struct hwpmc_hash *hash);

static inline struct hwpmc_hash_entry *hwpmc_hash_entry_of(struct hlist_node *node,
							   unsigned int which)
{
	return container_of(node - which, struct hwpmc_hash_entry, node[0]);
}

static inline struct hlist_head *hwpmc_hash_bucket(struct hwpmc_hash_table *table,
						   const void *key)
{
	return &table->bucket[hash_ptr(key, table->bits)];
}

/* NULL: none has this key. Under RCU, with interrupts off, or under the lock. */
static inline struct hwpmc_hash_entry *hwpmc_hash_find(const struct hwpmc_hash *hash,
						       const void *key)
{
	struct hwpmc_hash_table *table = rcu_dereference_raw(hash->table);
	struct hlist_node *node;

	node = rcu_dereference_raw(hlist_first_rcu(hwpmc_hash_bucket(table, key)));
	while (node) {
		struct hwpmc_hash_entry *entry = hwpmc_hash_entry_of(node, table->which);

		if (entry->key == key)
			return entry;
		node = rcu_dereference_raw(hlist_next_rcu(node));
	}
	return NULL;
}

#endif /* HWPMC_HASH_H */
