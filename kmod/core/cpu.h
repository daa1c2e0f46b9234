/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * cpu.h - what one CPU counts at the moment.
 *
 * A struct hwpmc_cpu is accessed on its own CPU with interrupts off, except: .row[].pmc
 * is read by other CPUs to find where a PMC is in flight; .disabled and .taken are
 * protected by hwpmc_lock; while the CPU is offline, a holder of cpus_read_lock may access
 * all of it.
 */
#ifndef HWPMC_CPU_H
#define HWPMC_CPU_H

#include <linux/cpumask.h>
#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/seqlock.h>

#include "../backends/width.h"
#include "../compat/msr.h"
#include "class.h"
#include "phase.h"
#include "pmc.h"
#include "total.h"

struct hwpmc_link;
struct hwpmc_ring;
struct hwpmc_thread;

/*
 * A slice is the time from a switch that loads a PMC into a row to the one that unloads it.
 * Its kind is chosen when it begins (task/slice.h). A slice of system scope is SAMPLE, or
 * its PMC has the state itself (struct hwpmc_pmc.system).
 */
enum hwpmc_slice_kind {
	HWPMC_SLICE_COUNT,	/* adds to the PMC's part; also of rows without a slice, so
				 * that most switches need not write it */
	HWPMC_SLICE_LINKED,	/* adds to the PMC's total, and to the target's link */
	HWPMC_SLICE_MAPPED,	/* the same, and is shown in the thread's page */
	HWPMC_SLICE_SAMPLE,	/* ends periods */
	HWPMC_SLICE_ELSEWHERE,	/* its PMC is for other kinds of core: only time passes */
};

/* Of COUNT; the last two of LINKED and MAPPED alone. */
struct hwpmc_count_slice {
	u64 start;		/* the counter when the slice began, or was harvested last */
	u64 counted;		/* in this slice up to .start */
	struct hwpmc_link *link;	/* of the target */
};

struct hwpmc_sample_slice {
	u64 excess;		/* the counter is armed for so many events more than the
				 * period has left */
	u64 period_left;	/* of the period, what did not fit in the counter */
	struct hwpmc_ring *ring;	/* the owner's, of this CPU; NULL: kgmon */
};

struct hwpmc_elsewhere_slice {
	u64 since;		/* local_clock() when it began, or was harvested last */
	struct hwpmc_pmc *pmc;	/* the row's .pmc is NULL */
};

/* One row of one CPU, in one cache line. .mask and .rdpmc are copies of struct hwpmc_row's, so
 * that a switch finds all of a row in one place. */
struct hwpmc_row_cpu {
	struct hwpmc_select shadow;	/* the row's program in the hardware; sel 0:
					 * stopped */
	struct hwpmc_pmc *pmc;		/* in flight, or NULL */
	union {				/* by .kind */
		struct hwpmc_count_slice count;
		struct hwpmc_sample_slice sample;
		struct hwpmc_elsewhere_slice elsewhere;
	};
	u64 mask;			/* never changes */
	s32 rdpmc;			/* never changes */
	u32 kind;			/* enum hwpmc_slice_kind */
};

static_assert(sizeof(struct hwpmc_row_cpu) == 64);

/*
 * When a row of a CPU was found not to count all that it should, and to count; times of
 * CLOCK_MONOTONIC in ns, 0: never. Written on its CPU, interrupts off; read anywhere by
 * hwpmc_doubt_last().
 */
struct hwpmc_loss {
	seqcount_t seq;
	u64 doubt;			/* as of struct hwpmc_row */
	u64 found;			/* last */
	u64 since;			/* .sound before that loss */
	u64 sound;			/* found to count last */
};

struct hwpmc_cpu {
	u64 loaded;			/* rows with a .pmc */
	struct hwpmc_thread *thread;	/* that .loaded counts for, or NULL */
	u64 slow_path;			/* of .loaded: the slice is none of HWPMC_SLICE_COUNT */
	/* Rows that are armed for sampling, of either scope, by NMI and by ticks;
	 * and when an NMI was seen to be on its way for nothing, 0: none. Also
	 * looked at in NMI. */
	u64 sampling;
	u64 ticking;
	u64 nmi_expected;
	unsigned int nmi_more;		/* so many more are; 0 where .nmi_expected is */
	unsigned int perf_irqs;		/* hwpmc_perf_irqs_nmi() at the last NMI */
	u64 nmi_last;			/* time of the last one that found an overflow,
					 * 0: never */
	/* Rows that could not be stopped and may still overflow; no PMC samples with
	 * them any more. */
	u64 unstoppable;
	bool throttled;			/* sampling rows write no samples (throttle.c); also
					 * looked at in NMI */
	bool nmi_late;			/* that of a stopped sampler (struct hwpmc_sampler) is
					 * among the expected ones; as .nmi_expected */
	bool admitted;			/* online, and what it has is known: set and cleared
					 * by its hotplug callbacks, read anywhere */
	unsigned long on;		/* classes switched on here, by index */
	struct list_head sys;		/* started system-scope PMCs */
	u64 disabled;			/* rows disabled by the administrator */
	u64 package_taken;		/* rows that no other CPU of the package may have */
	u64 taken;			/* rows that a system-scope PMC has here; not of
					 * shareable classes */
	u64 dirty;			/* rows whose counter may not be 0 */
	u64 noted;			/* rows whose counter still.c has noted since they were
					 * programmed */
	/* What this CPU has, where CPUs differ; set when it goes online. */
	u64 rows;			/* rows: all, or those of its kind of core */
	u32 kind;			/* HWPMC_KIND_*, 0: CPUs are alike */
	/* The row whose interrupt is tried (sampling/counter_test.c), or NULL; whether it has come,
	 * and whether that of a former attempt may yet. Read in NMI. */
	const struct hwpmc_row *trial;
	bool trial_came, trial_late;
	/* Of an armed row: where its PMC is in its period, for this thread or CPU. */
	struct hwpmc_phase *phase[HWPMC_ROW_MAX];
	/* How often a row did not count all that it should; see doubt.h. Read anywhere. */
	u32 doubts[HWPMC_ROW_MAX];
	struct hwpmc_loss loss[HWPMC_ROW_MAX];
	struct hwpmc_row_cpu row[];	/* hwpmc_nrows of them */
};

extern struct hwpmc_cpu __percpu *hwpmc_cpus;

/* The kernel is left: by reboot, halt or kexec. Set once, before each CPU switches its
 * classes off; from then on none is switched on, and no row programmed. Any context. */
extern bool hwpmc_leaving;

/*
 * Can PMCs of this CPU, below nr_cpu_ids, be allocated? It is online a while before: until
 * hotplug.c has asked it, it is not known which kind of core and which thread of a core it
 * is, and so which counters are its own.
 */
static inline bool hwpmc_cpu_is_admitted(unsigned int cpu)
{
	return cpu_online(cpu) && READ_ONCE(per_cpu_ptr(hwpmc_cpus, cpu)->admitted);
}

/* Reset the class's registers on this CPU, and enable or disable the class. */
void hwpmc_cpu_reset_class_irqoff(struct hwpmc_cpu *c, struct hwpmc_class *cls,
				  bool on);
/*
 * Switch the hardware of a class on, on all CPUs but those where a counter runs that
 * is not reserved: 0, or the MSR that lets one run. Off, where it is on. Process
 * context, hwpmc_lock.
 */
u32 hwpmc_cpus_class_on(struct hwpmc_class *cls);
void hwpmc_cpus_class_off(struct hwpmc_class *cls);
/* Stop a row, which has no user, on all CPUs that have it programmed. hwpmc_lock. */
void hwpmc_cpus_stop_row(unsigned int nr);
/* Run fn on a CPU, interrupts off. -ENXIO where it is not online. */
int hwpmc_cpu_call(unsigned int cpu, void (*fn)(void *), void *arg);

/* Rows that this CPU has programmed. */
u64 hwpmc_cpu_programmed_rows(const struct hwpmc_cpu *c);

/* Program a row of this CPU, or stop it; only needed where the shadow differs. */
void hwpmc_cpu_program_irqoff(struct hwpmc_cpu *c, unsigned int nr,
			      const struct hwpmc_select *select);
void hwpmc_cpu_stop_nmi(struct hwpmc_cpu *c, unsigned int nr);

static inline u64 hwpmc_row_read_irqoff(const struct hwpmc_row *row)
{
	if (likely(row->rdpmc >= 0))
		return hwpmc_rdpmc(row->rdpmc);
	return row->cls->ops->row.read_irqoff(row->cls, row->ri);
}

/* Otherwise the compiler computes the address again for every field. */
static inline struct hwpmc_row_cpu *hwpmc_row_cpu(struct hwpmc_cpu *c,
						  unsigned int nr)
{
	struct hwpmc_row_cpu *rc = &c->row[nr];

	OPTIMIZER_HIDE_VAR(rc);
	return rc;
}

static inline u64 hwpmc_row_cpu_read_irqoff(const struct hwpmc_row_cpu *rc,
					    unsigned int nr)
{
	if (likely(rc->rdpmc >= 0))
		return hwpmc_rdpmc(rc->rdpmc);
	return hwpmc_row_read_irqoff(&hwpmc_rows[nr]);
}

/* A counter that goes back was written by another program, or is another machine's: a doubt
 * (doubt.c). Returns 0. */
u64 hwpmc_cpu_stepped_back_irqoff(struct hwpmc_cpu *c, unsigned int nr);

/* Events since the slice began. A slice is harvested before it has half of the counter's
 * range (width.h). */
static inline u64 hwpmc_cpu_delta_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 start,
					 u64 now, u64 mask)
{
	u64 delta = hwpmc_width_delta(start, now, mask);

	if (unlikely(delta > mask >> 1))
		return hwpmc_cpu_stepped_back_irqoff(c, nr);
	return delta;
}

/* Begin a slice that counts. The counter is read last, so that of this
 * function's instructions the slice counts the read alone. */
static inline void hwpmc_cpu_load_irqoff(struct hwpmc_cpu *c, unsigned int nr,
					 struct hwpmc_pmc *pmc)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);

	if (unlikely(rc->shadow.sel != pmc->select.sel ||
		     rc->shadow.extra != pmc->select.extra))
		hwpmc_cpu_program_irqoff(c, nr, &pmc->select);
	WRITE_ONCE(rc->pmc, pmc);
	rc->count.start = hwpmc_row_cpu_read_irqoff(rc, nr);
}

/* Add a slice that counts to the PMC, so far; it goes on. Returns the row. A call of its own would
 * be a twentieth of a read. */
static __always_inline struct hwpmc_row_cpu *
hwpmc_cpu_harvest_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);
	u64 now = hwpmc_row_cpu_read_irqoff(rc, nr);
	u64 delta = hwpmc_cpu_delta_irqoff(c, nr, rc->count.start, now, rc->mask);

	rc->count.start = now;
	if (unlikely(rc->kind)) {
		atomic64_add(delta, &rc->pmc->total);
		rc->count.counted += delta;
	} else {
		hwpmc_pmc_add_irqoff(rc->pmc, delta);
	}
	return rc;
}

/*
 * End a slice. The total is complete before .pmc is cleared (x86 keeps the order of these
 * stores), so a reader that sees .pmc cleared sees the slice in the total. A: pairs with
 * process_harvest() in pmc/run.c.
 */
static inline void hwpmc_cpu_unload_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row_cpu *rc = hwpmc_cpu_harvest_irqoff(c, nr);

	smp_store_release(&rc->pmc, NULL);	/* A: process_harvest() */
}

/* The same of HWPMC_SLICE_COUNT: where most slices end. */
static inline void hwpmc_cpu_unload_fast_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);
	u64 now = hwpmc_row_cpu_read_irqoff(rc, nr);

	hwpmc_pmc_add_irqoff(rc->pmc,
			     hwpmc_cpu_delta_irqoff(c, nr, rc->count.start, now, rc->mask));
	smp_store_release(&rc->pmc, NULL);	/* A: process_harvest() */
}

#endif /* HWPMC_CPU_H */
