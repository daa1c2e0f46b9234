/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * backend.h - the contract between the core and a counter class.
 *
 * A backend is a const table of these callbacks and a struct hwpmc_class that its
 * probe fills in. Only backends access registers. The core does everything else:
 * which PMC is on which row, per-CPU shadows, values, delta arithmetic.
 *
 * To count, a row is programmed with a *select* (an opaque 64-bit word and an extra
 * word, made by encode()), left running, and read with RDPMC at both ends of a slice;
 * counters are written for sampling only. The core keeps per CPU the select of each
 * row (0: stopped) and calls program_irqoff() and stop_nmi() only to change it.
 *
 * Contexts: probe, claim, release, encode: process context, may sleep, under
 * hwpmc_lock. *_irqoff: on the CPU concerned, interrupts off, possibly with a run
 * queue lock held: no printk, no sleep, no other CPU's memory. *_nmi: these and NMI.
 */
#ifndef HWPMC_BACKEND_H
#define HWPMC_BACKEND_H

#include "../base/refusal.h"
#include "../base/rows.h"
#include "../compat/fault.h"

struct hwpmc_class;

/* Rows of class SOFT; task/target.h counts migrations for each. */
#define HWPMC_SOFT_ROWS	16

/* What a PMC asks of a class; modes and flags have been checked. */
struct hwpmc_request {
	u32 caps;		/* HWPMC_CAP_*; USER or SYSTEM or both are set */
	u32 flags;		/* HWPMC_F_* */
	u32 mode;		/* enum hwpmc_mode */
	u32 cpu;		/* of system scope; else HWPMC_CPU_ANY */
	u32 ev;			/* without HWPMC_F_EV_PMU */
	u64 config, config1;	/* with it */
	u32 kinds;		/* HWPMC_KIND_* to count on; 0: all */
	u32 cpu_kind;		/* of .cpu, of system scope; else 0 */
};

/* What a row is programmed with. sel is never 0 for a counting row. */
struct hwpmc_select {
	u64 sel;		/* EVTSEL with EN, PERF_CTL with EN, fixed field … */
	u64 extra;		/* such as a value for OFFCORE_RSP; 0: none */
};

/*
 * What an armed counter needs to overflow as it should: at least so many events, and a
 * multiple of `unit` (a power of 2). 0: any number. The core arms for more where fewer are
 * left, and counts the excess towards the next period.
 */
struct hwpmc_arming {
	u16 least, unit;
};

/* With whom a counter of an event is shared, and so what its PMCs must not meet. */
enum hwpmc_scope {
	HWPMC_SCOPE_THREAD,	/* with no other CPU */
	HWPMC_SCOPE_CORE,	/* with the other thread of the core: none may be online
				 * (siblings.h) */
	HWPMC_SCOPE_PACKAGE,	/* on the CPUs of a package only one may have the row */
};

/* Result of encode(): which rows of the class can count the event, and how. */
struct hwpmc_encoding {
	struct hwpmc_select select;
	u64 rows;		/* bit per row of the class; 0: none */
	struct hwpmc_arming arming;	/* for sampling */
	bool counts_off_cpu;	/* the event happens to threads while they do not
				 * run (task/migrations.c) */
	bool pair;		/* takes the next row as well, which then counts for
				 * nobody */
	bool hidden;		/* RDPMC of user mode reads 0 from the counter */
	enum hwpmc_scope scope;
	struct hwpmc_hdr refusal;
};

static inline int hwpmc_encode_refuse(struct hwpmc_encoding *enc, int err, u32 why,
				      s32 detail)
{
	*enc = (struct hwpmc_encoding){ .refusal = { why, detail } };
	return err;
}

/*
 * Events that certainly happen while instructions run, in kernel mode: what a class is tried
 * with (sampling/counter_test.c).
 */
enum hwpmc_trial_kind {
	HWPMC_TRIAL_NONE,
	HWPMC_TRIAL_BRANCHES,
	HWPMC_TRIAL_INSTRUCTIONS,
	HWPMC_TRIAL_CYCLES,
	HWPMC_TRIAL_REFERENCE,	/* cycles of a clock that may be much slower */
	HWPMC_TRIAL_KINDS,
};

#define HWPMC_TRIAL_EVENTS	3

struct hwpmc_trial {
	/* Codes as of HWPMC_F_EV_PMU. Of a class whose counters a hypervisor may share out, the
	 * first is one that no fixed counter of a host counts. */
	struct {
		u64 config;
		enum hwpmc_trial_kind kind;
	} event[HWPMC_TRIAL_EVENTS];
	u64 event_bits;		/* of a select: the event and its unit mask; 0: each counter
				 * has an event of its own */
	unsigned int pair_takes;	/* counters of the host that a pair uses; 0: no pairs */
	/* An event of this model that happens as well, and that a list of architectural events
	 * does not have; 0: none is certain. Is an event on each such list? */
	u64 (*unlisted)(const struct hwpmc_class *cls);
	bool (*is_listed)(u64 sel);
	/* HWPMC_CERTAIN_*: when row ri (of the class) certainly counts, with this select. */
	u32 (*certain)(unsigned int ri, u64 sel);
};

/* While programs, or the kernel, run; and some in each turn of a loop. */
#define HWPMC_CERTAIN_USER	0x1
#define HWPMC_CERTAIN_KERNEL	0x2
#define HWPMC_CERTAIN_LOOP	0x4

#define HWPMC_PAYLOAD_WORDS	32

/*
 * The record that the hardware made of a row's overflow. The core filters it by mode, omits
 * words that the owner may not read, and writes the rest into the log (sampling/payload.h).
 */
struct hwpmc_payload {
	u64 pc;			/* .exact: the address of the instruction of the event */
	bool exact;
	bool useless;		/* the hardware should not have recorded it, or has left out the
				 * address: dropped as FILTERED */
	u8 kind;		/* enum hwpmc_precise_kind */
	u64 present;		/* bit n: word[n] is valid; below HWPMC_PAYLOAD_WORDS */
	u64 virtual, physical;	/* words that are addresses */
	u64 word[HWPMC_PAYLOAD_WORDS];
};

/*
 * A class whose rows are no counters that run from -n up (IBS), or whose overflows are recorded
 * by the hardware (PEBS): the core then calls these instead of reading and writing counters.
 * A row counts towards its next overflow while it is both armed and programmed, in whichever
 * order. ri: number of the row in its class.
 */
struct hwpmc_sampler {
	/* Has row ri overflowed since it was armed? */
	bool (*overflowed_nmi)(struct hwpmc_class *cls, unsigned int ri);
	/* The payload of that overflow; flags: HWPMC_F_* of the PMC. *p is zero, except .word. */
	void (*payload_nmi)(struct hwpmc_class *cls, unsigned int ri, u32 flags,
			    struct hwpmc_payload *p);
	/* Have row ri overflow after n events; n is as write_nmi() has it. */
	void (*rearm_nmi)(struct hwpmc_class *cls, unsigned int ri, u64 n);
	/* How many of these events are left, after stop_nmi(); 0: it has overflowed. At most half of
	 * the range of the class's width. */
	u64 (*left_irqoff)(struct hwpmc_class *cls, unsigned int ri);
	/* With an overflow: how many before it, or more, were lost, because a buffer of the hardware
	 * was full. NULL: none can be. */
	u64 (*lost_nmi)(struct hwpmc_class *cls, unsigned int ri);
	/* An interrupt may arrive after the row was stopped, though it had not overflowed. */
	bool late_nmi;
};

/* What a backend does, in parts. NULL: the class has no need of it, if nothing else is said. */
struct hwpmc_class_ops {
	/*
	 * Does this machine have the class? 0: yes, *cls is filled in (name, id,
	 * caps, width, num, rdpmc_base). An error: no, for the reason in
	 * cls->refusal, or NONE where the processor's vendor has no such class. But for
	 * -ENODEV one pr_info line has said it as well.
	 */
	int (*probe)(struct hwpmc_class *cls);
	/* At unload. */
	void (*exit)(struct hwpmc_class *cls);
	/*
	 * Which rows of this class can count the event, with which select? Takes nothing.
	 * 0, or -EINVAL or -EOPNOTSUPP with enc->refusal.
	 */
	int (*encode)(const struct hwpmc_class *cls,
		      const struct hwpmc_request *req,
		      struct hwpmc_encoding *enc);
	/* The events that have a number. */
	struct {
		/* Name and number of the event at a place of the list, NULL behind its end;
		 * and the name of a number. */
		const char *(*at)(const struct hwpmc_class *cls, unsigned int place, u32 *ev);
		const char *(*name)(const struct hwpmc_class *cls, u32 ev);
		/* Why an event of the list is refused on this kernel, 0: it is not. */
		u32 (*why)(const struct hwpmc_class *cls, u32 ev);
		/*
		 * One PMC more, or less, has this select: SOFT enables its event. Process
		 * context, hwpmc_lock.
		 */
		int (*get)(struct hwpmc_class *cls, const struct hwpmc_select *s,
			   struct hwpmc_hdr *hdr);
		void (*put)(struct hwpmc_class *cls, const struct hwpmc_select *s);
	} events;
	/* What the class takes from others while it has PMCs: all NULL where there is nothing
	 * to claim (TSC). */
	struct {
		/* Reserve the hardware against perf (x86_reserve.c), and release it. -EBUSY:
		 * PMU_RESERVED with the MSR, or PMU_MEDIATED. */
		int (*claim)(struct hwpmc_class *cls, struct hwpmc_hdr *hdr);
		void (*release)(struct hwpmc_class *cls);
		/* After claim(), on each CPU: the control MSR of a counter that runs although
		 * no class has used it yet, 0: none. */
		u32 (*running_irqoff)(const struct hwpmc_class *cls);
		/* enum hwpmc_pmu_state. Takes nothing. */
		u32 (*state)(const struct hwpmc_class *cls);
		/* Changes when others take what claim() takes, 0: not seen. */
		u64 (*taken_times)(const struct hwpmc_class *cls);
	} hardware;
	/* The life of a CPU. */
	struct {
		/*
		 * This CPU goes online; also called on each one at load. An error: it must
		 * stay offline. NULL: any CPU may come. No other CPU comes or goes meanwhile.
		 */
		int (*online_irqoff)(struct hwpmc_class *cls);
		/* The rows that this CPU has, and its kind, where CPUs have different ones.
		 * NULL: all rows. After online_irqoff(). */
		u64 (*rows_irqoff)(const struct hwpmc_class *cls, u32 *kind);
		/*
		 * Put this CPU's registers of the class into a defined state: selects and
		 * fixed control 0, status acknowledged; global control with all rows of the
		 * class enabled if `on`, else 0, or as it was before where perf relies on
		 * that (AMD). Called on each CPU after claim, where no counter runs (on), and
		 * at release (off), and when a CPU comes online or goes offline. Classes that
		 * share a global control register (IAF, IAP) change their own bits only.
		 */
		void (*reset_irqoff)(struct hwpmc_class *cls, bool on);
	} cpu;
	/* A row of this CPU; ri: its number in the class. */
	struct {
		/* Its name, where it is not the number. */
		const char *(*name)(unsigned int ri);
		/* Have it count *s, or stop it. NULL where rows always count (TSC). */
		void (*program_irqoff)(struct hwpmc_class *cls, unsigned int ri,
				       const struct hwpmc_select *s);
		void (*stop_nmi)(struct hwpmc_class *cls, unsigned int ri);
		/* Read it, where rdpmc_base < 0 (TSC, SOFT). */
		u64 (*read_irqoff)(struct hwpmc_class *cls, unsigned int ri);
		/*
		 * Classes with CAP_INTERRUPT. Set the counter. The core writes -n to be
		 * interrupted after n events, 1 <= n <= max_period, so that the counter's
		 * highest bit is set until then.
		 */
		void (*write_nmi)(struct hwpmc_class *cls, unsigned int ri, u64 value);
		/* Add n events of the current thread that happened while it did not run, in
		 * rows with .counts_off_cpu (struct hwpmc_encoding). */
		void (*add_irqoff)(struct hwpmc_class *cls, unsigned int ri, u64 n);
		/*
		 * Is it, which counts *s, still programmed so? 0, or the register that another
		 * has written. It uses RDMSR, so hot paths do not call it. NULL if no other
		 * code can write it.
		 */
		u32 (*changed_irqoff)(const struct hwpmc_class *cls, unsigned int ri,
				      const struct hwpmc_select *s);
	} row;
	/* The control that the rows of the class share. */
	struct {
		/* As the row's: does it let them count? */
		u32 (*changed_irqoff)(const struct hwpmc_class *cls);
		/*
		 * Follow, of what decides whether the rows count, that which others change as
		 * they need it. 0, or the register in which a change was found that the rows
		 * had missed; they count by it from here on. *rows: those that it decides on.
		 * Once a second under a hypervisor.
		 */
		u32 (*follow_irqoff)(const struct hwpmc_class *cls, u64 *rows);
		/* Let the rows count again where another handler of this NMI has switched them
		 * off: true if it had. NULL where none does. */
		bool (*restore_nmi)(const struct hwpmc_class *cls);
	} control;
	struct {
		/* Clear the overflow status of these rows (bit per row of the class), whose
		 * overflows have been handled. */
		void (*ack_nmi)(struct hwpmc_class *cls, u64 rows);
		/* NULL: overflows are seen by the counters' highest bit, and have no payload. */
		const struct hwpmc_sampler *sampler;
	} interrupt;
	/* NULL: the class is not tried. Its encode() does not sleep. */
	const struct hwpmc_trial *trial;
};

struct hwpmc_class {
	const struct hwpmc_class_ops *ops;
	const char *name;	/* "IAP" */
	u32 id;			/* enum hwpmc_class_id */
	u32 caps;		/* HWPMC_CAP_* */
	u32 width;		/* bits of a counter */
	u32 num;		/* rows; where CPUs differ, of all together */
	u32 kinds;		/* HWPMC_KIND_* of its CPUs; 0: they are alike */
	u32 first;		/* first row; set by the core */
	s64 rdpmc_base;		/* RDPMC index of row 0 (rows follow), -1: none */
	u32 payloads;		/* HWPMC_F_* of HWPMC_F_PAYLOAD that it delivers */
	u32 siblings_why;	/* enum hwpmc_reason: HWPMC_SCOPE_CORE meets siblings */
	u32 pmu_version;	/* of struct hwpmc_machine */
	u32 wrap_ms;		/* how often rows have to be read while they count; 0: as
				 * `width` wants it */
	u64 max_period;		/* see write_nmi() */
	struct hwpmc_hdr refusal;	/* of probe() */
	bool nmi;		/* interrupts by the local APIC's LVTPC */
	bool shareable;		/* a row may serve any number of PMCs (TSC) */
	bool system_only;	/* no process-scope PMCs (TSC) */
	bool stays_on;		/* claim() takes nothing from others: once used, it is on
				 * until unload */
	bool privileged;	/* tells what other programs do: no tunable permits it to
				 * everybody */
	u32 read_fault;		/* classes that claim nothing, or have .own_faults: the register
				 * whose access has faulted, 0: none since the first PMC */
	bool own_faults;	/* a fault of its registers ends nothing of other classes */
	void *priv;		/* the backend's own */
	/* Findings of the trials since the claim. hwpmc_lock. */
	struct hwpmc_found {
		u64 still;		/* rows of the class that do not count as they should */
		u64 misread;		/* rows whose RDPMC reads another counter */
		u32 filtered;		/* events of the trial's list that count 0 */
		bool only_listed;	/* events that are not architectural count 0 */
	} found, before;		/* .before: at the claim before */
	u32 at_once;		/* number of rows in .shared, of all classes of the claim, that
				 * count at a time on a CPU; 0: all of them */
	u64 shared;
};

/* The classes of this machine. Filled in by hwpmc_machine_probe(). */
struct hwpmc_machine {
	u32 cputype;		/* FreeBSD's number, 0x400: generic */
	u32 pmu_version;	/* Intel: perfmon version; AMD: 0, 1 or 2 */
	char cpuid[HWPMC_NAME_MAX];
	unsigned int nclass;
	struct hwpmc_class cls[HWPMC_CLASS_MAX];
	/* Why no class has hardware counters; NONE: one has. */
	struct hwpmc_hdr refusal;
	/* Of single classes. */
	unsigned int nnotes;
	struct hwpmc_classnote notes[HWPMC_NOTES_MAX];
};

#endif /* HWPMC_BACKEND_H */
