/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * pmc.h - one allocated performance counter.
 *
 * Made by PMCALLOCATE, released by PMCRELEASE or with its owner. Freed by RCU once no CPU
 * counts for it, so that it can be read under rcu_read_lock().
 */
#ifndef HWPMC_PMC_H
#define HWPMC_PMC_H

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/list.h>
#include <linux/rcupdate.h>

#include "adapt.h"
#include "class.h"
#include "phase.h"
#include "../base/refusal.h"
#include "row.h"

struct cred;
struct hwpmc_block;
struct hwpmc_cpu;
struct hwpmc_owner;
struct hwpmc_rdpmc;
struct hwpmc_logged;

/* Why switches do more than add to a PMC's part. All but MAPPED stay. */
enum hwpmc_slow_reason {
	HWPMC_SLOW_SAMPLES	= 0x01,
	HWPMC_SLOW_VALUES	= 0x02,	/* its log has values of slices or processes */
	HWPMC_SLOW_KERNEL	= 0x04,	/* an owner in the kernel reads values of processes */
	HWPMC_SLOW_THREAD	= 0x08,	/* it is of one thread */
	HWPMC_SLOW_OFF_CPU	= 0x10,	/* its event happens to threads while they do not run */
	HWPMC_SLOW_KINDS	= 0x20,	/* it counts on some kinds of core alone */
	HWPMC_SLOW_RDPMC	= 0x40,	/* programs read it: its parts must stay as they are */
	HWPMC_SLOW_MAPPED	= 0x80,	/* its slices are shown in threads' pages; with RDPMC */
};

struct hwpmc_pmc {
	struct hwpmc_select select;	/* never changes */
	unsigned int nparts;		/* CPUs with a .part: all possible ones, or 0 */
	u64 __percpu *part;		/* of the count, by CPU: total.h; constant */
	struct hwpmc_block *block;	/* that .part is a word of, or NULL; constant */
	unsigned int row;		/* constant, as all up to .config1, and .name */
	u32 id;
	u32 mode;
	u32 cpu;			/* system scope; else HWPMC_CPU_ANY */
	u32 caps, flags, ev;
	u64 config, config1;
	u32 kinds;			/* of core that it counts on; 0: on all. In system
					 * scope the CPU says */
	u8 slow_path;			/* enum hwpmc_slow_reason: bits */
	u8 scope;			/* enum hwpmc_scope */
	bool pair, hidden;		/* see struct hwpmc_encoding */
	bool privileged;		/* the allocator had CAP_PERFMON; checked once,
					 * as perf does */
	bool user_only;			/* a hardware counter that counts user mode alone */
	u64 parts;			/* HWPMC_SLOW_MAPPED: the sum of .part, to which no slice
					 * is added any more */
	struct hwpmc_rdpmc *rdpmc;	/* an address space may use RDPMC for it, or
					 * NULL; hwpmc_lock */
	struct hwpmc_owner *owner;
	struct list_head owner_node;	/* in owner->pmcs; hwpmc_lock, RCU */
	struct list_head row_node;	/* in its row's pmcs; hwpmc_lock */

	enum hwpmc_state state;		/* hwpmc_lock; read anywhere */
	u32 looked;			/* .process.attaches when there were no links and all CPUs
					 * had looked at its registers (doubt.h) */
	u32 doubts;			/* found up to the last start, and the row's number of
					 * them then; hwpmc_lock, read anywhere */
	u32 doubts_seen;
	u64 began;			/* its last start, CLOCK_MONOTONIC in ns; hwpmc_lock */
	struct hwpmc_logged *logged;	/* losses that its log has (log/loss.c), or NULL;
					 * hwpmc_lock */
	bool logged_all;		/* .logged has all losses up to its last target's end;
					 * hwpmc_lock */
	bool doomed;			/* its owner has executed a program, a work item
					 * will release it; set once */

	/* Process scope. */
	struct {
		/* Links to targets, walks over them (cursor.h), and how many threads the targets
		 * have, or more: where it is 1 no other thread has a slice in flight (detach.c).
		 * hwpmc_targets_lock. */
		struct list_head links;
		struct list_head cursors;
		unsigned int nthreads;
		bool counting;			/* new links are active */
		bool was_attached;		/* ever; hwpmc_lock */
		bool owner_attached;		/* to its owner's process, ever; set under
						 * hwpmc_lock, read anywhere */
		bool incomplete;		/* no memory to follow a thread; set once */
		u32 attaches;			/* number of attaches so far; hwpmc_lock */
		const struct cred *cred;	/* of the caller of attach that has the fewest
						 * rights, or NULL; a reference. Written under
						 * hwpmc_lock and hwpmc_targets_lock */
		bool callers_differ;		/* none of them has the fewest: .cred is NULL
						 * for good; hwpmc_lock */
	} process;

	/* System scope: this CPU's list of started PMCs, its counter when last harvested, and
	 * whether it counts (not while the CPU is offline). Accessed on .cpu, interrupts off. */
	struct {
		struct list_head node;
		u64 start;
		bool in_flight;
	} system;

	/* A PMC that samples. All but the last change only while it is stopped. */
	struct {
		u64 period;			/* with HWPMC_F_FREQUENCY the first one */
		struct hwpmc_arming arming;	/* of its counter; constant */
		bool carry_overshoot;		/* the module's own code causes none of its
						 * events: a late sample shortens the next
						 * period; constant */
		u32 frequency;			/* with HWPMC_F_FREQUENCY: samples a second */
		struct hwpmc_adapt adapt;
		struct hwpmc_phase phase;	/* of system scope; as .system */
	} sampling;

	char name[HWPMC_NAME_MAX];	/* the owner's, of its event, for logs; "": none */

	struct rcu_head rcu;

	/*
	 * Events so far that are in no .part, without those of slices in flight: read
	 * by hwpmc_pmc_total(). Any CPU adds to it in the slow path of switches; so its
	 * cache line has none of the fields above, which switches on all CPUs read.
	 */
	atomic64_t total ____cacheline_aligned_in_smp;
	/* With .kinds: threads' time on other CPUs, in ns, and how many slices that was, not
	 * those in flight. */
	atomic64_t elsewhere_ns, elsewhere_slices;
};

static inline bool hwpmc_pmc_is_system(const struct hwpmc_pmc *pmc)
{
	return hwpmc_mode_is_system(pmc->mode);
}

static inline bool hwpmc_pmc_samples(const struct hwpmc_pmc *pmc)
{
	return hwpmc_mode_is_sampling(pmc->mode);
}

static inline bool hwpmc_pmc_counts_off_cpu(const struct hwpmc_pmc *pmc)
{
	return pmc->slow_path & HWPMC_SLOW_OFF_CPU;
}

static inline bool hwpmc_pmc_adapts(const struct hwpmc_pmc *pmc)
{
	return pmc->flags & HWPMC_F_FREQUENCY;
}

/* Of a sampling PMC: what its owner asked for. */
static inline u64 hwpmc_pmc_asked(const struct hwpmc_pmc *pmc)
{
	return hwpmc_pmc_adapts(pmc) ? pmc->sampling.frequency : pmc->sampling.period;
}

/* Of the next sample of what is in this phase. */
static inline u64 hwpmc_pmc_period(const struct hwpmc_pmc *pmc, const struct hwpmc_phase *ph)
{
	return unlikely(hwpmc_pmc_adapts(pmc)) && ph->period ? ph->period : pmc->sampling.period;
}

/* Can it be started without a log? */
static inline bool hwpmc_pmc_needs_log(const struct hwpmc_pmc *pmc)
{
	return (hwpmc_pmc_samples(pmc) && !(pmc->flags & HWPMC_F_KGMON)) ||
	       pmc->flags & (HWPMC_F_LOG_PROCCSW | HWPMC_F_LOG_PROCEXIT);
}

int hwpmc_pmc_refuse_msr_fault(const struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);

/* 0, or -EIO PMU_REFUSED: an MSR access faulted, so its counts and samples are
 * unreliable. Any context. */
static inline int hwpmc_pmc_msr_fault(const struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	if (likely(!hwpmc_class_fault(hwpmc_rows[pmc->row].cls)))
		return 0;
	return hwpmc_pmc_refuse_msr_fault(pmc, hdr);
}

/* Returns how often a counter was found to have missed events of this PMC; see doubt.h. Any
 * context. */
u32 hwpmc_pmc_doubts(const struct hwpmc_pmc *pmc);
int hwpmc_pmc_refuse_unreliable(const struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr);

/* 0, or -EIO: its value is unreliable, by a fault or by a doubt. Any context. */
static inline int hwpmc_pmc_check_value(const struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	if (likely(!READ_ONCE(hwpmc_unreliable.any)))
		return 0;
	return hwpmc_pmc_refuse_unreliable(pmc, hdr);
}

/* System scope, in flight on this CPU: add to the total what was counted up to now. */
void hwpmc_pmc_harvest_irqoff(struct hwpmc_pmc *pmc);

#endif /* HWPMC_PMC_H */
