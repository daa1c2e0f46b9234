/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * class.h - the machine's classes and rows, and which are in use.
 */
#ifndef HWPMC_CLASS_H
#define HWPMC_CLASS_H

#include <linux/atomic.h>
#include <linux/jump_label.h>
#include <linux/list.h>

#include "../backends/backend.h"
#include "../base/lock.h"

/*
 * A row: the counters with the same number on all CPUs. All fields up to .ri
 * are constant after load; the switch path reads them.
 */
struct hwpmc_row {
	struct hwpmc_class *cls;
	u64 mask;		/* of a count: (1 << width) - 1 */
	s64 rdpmc;		/* RDPMC index, -1: read through the class */
	unsigned int ri;	/* number within the class */
	s32 users;		/* see row.h; hwpmc_lock */
	u32 halves;		/* PMCs of the row before that take this one as well;
				 * hwpmc_lock */
	struct list_head pmcs;	/* struct hwpmc_pmc.row_node; hwpmc_lock */
	/* How often a CPU has found that it did not count all, since the load, and the last
	 * reason and detail; see doubt.h. Any context. */
	atomic_t doubts;
	u64 doubt;
};

extern struct hwpmc_machine hwpmc_machine;
extern struct hwpmc_row hwpmc_rows[HWPMC_ROW_MAX];
extern unsigned int hwpmc_nrows;

/* Make the rows of the classes that the probe has put into hwpmc_machine. */
int hwpmc_classes_init(void);
void hwpmc_classes_exit(void);

u64 hwpmc_class_rows(const struct hwpmc_class *cls);
/* The class with this id, or NULL. */
struct hwpmc_class *hwpmc_class_find(u32 id);

/* A note on a class that is there, for GETCPUINFO; and none any more for this reason.
 * hwpmc_lock. */
void hwpmc_class_note(const struct hwpmc_class *cls, u32 why, s32 detail, u32 rows);
void hwpmc_class_forget_notes(const struct hwpmc_class *cls, u32 why);

/* 0, or the MSR whose access faulted: counts of the class since then are unreliable. Any
 * context. */
static inline u32 hwpmc_class_msr_fault(const struct hwpmc_class *cls)
{
	u32 msr = READ_ONCE(hwpmc_msr_faulted);

	if (cls->own_faults)
		return READ_ONCE(cls->read_fault);
	return unlikely(msr) && cls->ops->hardware.claim ? msr : 0;
}

/* The same, and where a class has nothing but registers that are read. Any context. */
static inline u32 hwpmc_class_fault(const struct hwpmc_class *cls)
{
	return hwpmc_class_msr_fault(cls) ?: READ_ONCE(cls->read_fault);
}

/* Bit per class (its place in hwpmc_machine.cls) that has counters and interrupts by NMI. */
extern unsigned long hwpmc_classes_nmi;
/* Their rows. */
extern u64 hwpmc_rows_nmi;
/* Rows of classes with a struct hwpmc_sampler that interrupt by NMI. */
extern u64 hwpmc_rows_sampler;
/* Is a class claimed that has a struct hwpmc_sampler, with or without NMI? Changed under
 * hwpmc_lock. Where it is not, none of its rows is armed. */
DECLARE_STATIC_KEY_FALSE(hwpmc_has_samplers);
/* Bit per class that is claimed now. Changed under hwpmc_lock; read by hotplug callbacks
 * and in switches. */
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
