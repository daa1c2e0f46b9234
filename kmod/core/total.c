// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * total.c - the parts of a PMC's count. Process context; PMCs are freed by RCU.
 *
 * Per-CPU memory takes thousands of instructions to allocate and free, more than all else
 * of an allocation. So it is taken in blocks of the words of 64 PMCs.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "../base/lock.h"
#include "total.h"

unsigned long *hwpmc_cpu_offset;
unsigned int hwpmc_ncpu_offsets;

#define BLOCK_WORDS	BITS_PER_LONG

struct block_words {
	u64 word[BLOCK_WORDS];
};

struct hwpmc_block {
	struct list_head node;		/* in blocks; blocks_lock */
	unsigned long used;		/* a bit a word; blocks_lock */
	struct block_words __percpu *words;
};

/* Those with a free word come first. */
static LIST_HEAD(blocks);
static DEFINE_SPINLOCK(blocks_lock);	/* also of RCU callbacks: bottom halves off */

static struct hwpmc_block *block_new(void)
{
	struct hwpmc_block *block = kzalloc(sizeof(*block), GFP_KERNEL_ACCOUNT);

	if (!block)
		return NULL;
	block->words = alloc_percpu_gfp(struct block_words, GFP_KERNEL_ACCOUNT);
	if (block->words)
		return block;
	kfree(block);
	return NULL;
}

static void block_free(struct hwpmc_block *block)
{
	if (!block)
		return;
	free_percpu(block->words);
	kfree(block);
}

/* Adds `fresh`, if there is one. False: each word is in use. */
static bool word_take(struct hwpmc_pmc *pmc, struct hwpmc_block *fresh)
{
	struct hwpmc_block *block;
	unsigned int word;

	spin_lock_bh(&blocks_lock);
	if (fresh)
		list_add(&fresh->node, &blocks);
	block = list_first_entry_or_null(&blocks, struct hwpmc_block, node);
	if (!block || block->used == ~0UL) {
		spin_unlock_bh(&blocks_lock);
		return false;
	}
	word = ffz(block->used);
	block->used |= BIT(word);
	if (block->used == ~0UL)
		list_move_tail(&block->node, &blocks);
	spin_unlock_bh(&blocks_lock);
	pmc->block = block;
	pmc->part = &block->words->word[word];
	return true;
}

/* The block, where no word of it is in use and others have free ones: it is to be freed. */
static struct hwpmc_block *word_give_back(struct hwpmc_block *block, unsigned int word)
{
	spin_lock_bh(&blocks_lock);
	block->used &= ~BIT(word);
	list_move(&block->node, &blocks);
	if (block->used || list_is_last(&block->node, &blocks) ||
	    list_next_entry(block, node)->used == ~0UL)
		block = NULL;
	else
		list_del(&block->node);
	spin_unlock_bh(&blocks_lock);
	return block;
}

/* What an earlier PMC has left in its word stays there: hwpmc_pmc_set_total() subtracts it. */
bool hwpmc_pmc_new_parts(struct hwpmc_pmc *pmc)
{
	struct hwpmc_block *fresh;

	lockdep_assert_held(&hwpmc_lock);
	if (!word_take(pmc, NULL)) {
		fresh = block_new();
		if (!fresh)
			return false;
		word_take(pmc, fresh);
	}
	pmc->nparts = hwpmc_ncpu_offsets;
	return true;
}

void hwpmc_pmc_free(struct hwpmc_pmc *pmc)
{
	if (pmc->block)
		block_free(word_give_back(pmc->block,
					  pmc->part - pmc->block->words->word));
	kvfree(pmc->logged);
	kfree(pmc);
}

static void free_callback(struct rcu_head *rcu)
{
	hwpmc_pmc_free(container_of(rcu, struct hwpmc_pmc, rcu));
}

void hwpmc_pmc_free_rcu(struct hwpmc_pmc *pmc)
{
	call_rcu(&pmc->rcu, free_callback);
}

int hwpmc_totals_init(void)
{
	int cpu;

	hwpmc_cpu_offset = kmalloc_array(num_possible_cpus(), sizeof(*hwpmc_cpu_offset),
					 GFP_KERNEL);
	if (!hwpmc_cpu_offset)
		return -ENOMEM;
	for_each_possible_cpu(cpu)
		hwpmc_cpu_offset[hwpmc_ncpu_offsets++] = per_cpu_offset(cpu);
	return 0;
}

void hwpmc_totals_exit(void)
{
	struct hwpmc_block *block, *next;

	rcu_barrier();	/* free_callback() */
	list_for_each_entry_safe(block, next, &blocks, node)
		block_free(block);
	kfree(hwpmc_cpu_offset);
}
