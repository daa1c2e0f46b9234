/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * space.h - a table of address spaces by key, with what was done in each. The
 * key is the physical address of the page table; Linux uses it anew for another
 * process once the first is gone, so only differences of totals mean anything.
 * Pure; the caller locks.
 */
#ifndef VPMU_SPACE_H
#define VPMU_SPACE_H

#include "event.h"

#define SPACE_KINDS	3		/* of core */

struct space {
	uint64_t key;
	/* On each kind of core, but for what vCPUs have not added. */
	struct totals done[SPACE_KINDS];
	/* Set by a guest in this space: totals then, its own and of all. */
	struct totals mark_own, mark_all;
};

struct space_table {
	struct space **slot;		/* open addressing; NULL: free */
	unsigned int size, used;	/* size: a power of two */
};

/*
 * The space that a value of CR3 stands for. Kernel page-table isolation gives a
 * process two tables side by side, the user one with bit 12 set.
 */
uint64_t space_key(uint64_t cr3, bool pti);
/* Entries stay where they are until the table is freed. */
struct space *space_find(const struct space_table *t, uint64_t key);
struct space *space_get(struct space_table *t, uint64_t key);
void space_free(struct space_table *t);

#endif
