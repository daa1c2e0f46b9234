/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * unwind.h - user frames by unwind tables: the tables of an owner, and the walk in the NMI.
 *
 * Tables are added and removed in process context under hwpmc_lock, and read under RCU, in
 * NMI too. They end with their owner, with its exec, or when it is revoked.
 */
#ifndef HWPMC_UNWIND_H
#define HWPMC_UNWIND_H

#include <linux/types.h>

#include "hwpmc.h"	/* uapi */
#include "unwind_table.h"

struct hwpmc_owner;
struct hwpmc_pmc;
struct hwpmc_tables;
struct hwpmc_owned_table;
struct pt_regs;

/*
 * A table from the caller's memory, checked, indexed, and charged to its RLIMIT_MEMLOCK;
 * an ERR_PTR with the reason in op. Process context, without hwpmc_lock.
 */
struct hwpmc_owned_table *hwpmc_owned_table_new(struct hwpmc_op_unwind *op);
void hwpmc_owned_table_free(struct hwpmc_owned_table *table);
/* Returns false if it is a request to remove the table of its file. */
bool hwpmc_owned_table_is_added(const struct hwpmc_owned_table *table);
/*
 * Put it into the owner's, or, NULL, remove the one of op's file. *old: the table that it
 * replaces, or NULL; the caller frees it after an RCU grace period. hwpmc_lock.
 */
int hwpmc_tables_put(struct hwpmc_owner *owner, struct hwpmc_op_unwind *op,
		     struct hwpmc_owned_table *table, struct hwpmc_owned_table **old);
/* Take all tables from an owner: what is to be freed without the lock is added to *list,
 * which begins as NULL. hwpmc_lock. */
void hwpmc_tables_take(struct hwpmc_owner *owner, struct hwpmc_tables **list);
/* Those of any number of owners wait for one grace period. */
void hwpmc_tables_free(struct hwpmc_tables *tables);

/*
 * The frames of user mode at regs, of 64 bits: at most max entries, addresses and
 * marks; where there is no room for a mark the chain ends by its depth. readable: the
 * page tables of the current process are loaded. Adds to *flags. Returns the number of
 * entries. NMI, or interrupts off; page faults disabled.
 */
unsigned int hwpmc_unwind_chain_nmi(const struct hwpmc_pmc *pmc, const struct pt_regs *regs,
				    u64 *pc, unsigned int max, bool readable, u8 *flags);

#endif /* HWPMC_UNWIND_H */
