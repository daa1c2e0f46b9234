/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * class.h - the machine's classes and rows, and who uses them.
 */
#ifndef HWPMC_CLASS_H
#define HWPMC_CLASS_H

#include <linux/list.h>

#include "../backends/backend.h"
#include "lock.h"

/*
 * A row: the counters with the same number on all CPUs. All but the last two
 * fields never change after load, and are read in the switch path.
 */
struct hwpmc_row {
	struct hwpmc_class *cls;
	u64 mask;		/* of a count: (1 << width) - 1 */
	s64 rdpmc;		/* RDPMC index, -1: read through the class */
	unsigned int ri;	/* number within the class */
	s32 users;		/* see row.h; hwpmc_lock */
	struct list_head pmcs;	/* struct hwpmc_pmc.row_node; hwpmc_lock */
};

extern struct hwpmc_machine hwpmc_machine;
extern struct hwpmc_row hwpmc_rows[HWPMC_ROW_MAX];
extern unsigned int hwpmc_nrows;

/* Rows for the classes that the probe found in hwpmc_machine. */
int hwpmc_classes_init(void);
void hwpmc_classes_exit(void);

u64 hwpmc_class_rows(const struct hwpmc_class *cls);
/* The class with this id, or NULL. */
struct hwpmc_class *hwpmc_class_find(u32 id);

/* 0, or the register that refused an access, so that what the class has counted
 * since then may be anything. Any context. */
static inline u32 hwpmc_class_msr_fault(const struct hwpmc_class *cls)
{
	u32 msr = READ_ONCE(hwpmc_msr_faulted);

	return unlikely(msr) && cls->ops->claim ? msr : 0;
}

/* Bit per class (its place in hwpmc_machine.cls) that interrupts by NMI. */
extern unsigned long hwpmc_classes_nmi;
/* Their rows. */
extern u64 hwpmc_rows_nmi;
/* As above: those that are claimed now. Changed under hwpmc_lock; read by hotplug
 * callbacks and in switches. */
extern unsigned long hwpmc_claimed_classes;

static inline unsigned long hwpmc_classes_claimed(void)
{
	return READ_ONCE(hwpmc_claimed_classes);
}

/* Claim generation: counts the times that the first class was claimed; between two
 * of them perf owns the counters. hwpmc_lock; read anywhere. */
extern unsigned long hwpmc_claim_generation;

/* For GETCPUINFO: enum hwpmc_pmu_state. Process context, under hwpmc_lock. */
u32 hwpmc_classes_pmu_state(void);

#endif /* HWPMC_CLASS_H */
