/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * backend.h - the contract between the core and a counter class.
 *
 * A backend is a const table of these callbacks and a struct hwpmc_class that
 * its probe fills. Only backends know registers. The core owns everything else:
 * which PMC is on which row, per-CPU shadows, values, delta arithmetic.
 *
 * How the core counts: a row is programmed with a *select* (one opaque 64-bit
 * word and one extra word, made by encode()), left counting, and read with
 * RDPMC at the two ends of a slice; counters are never written for counting.
 * The core remembers per CPU which select a row has (0: stopped) and calls
 * program() only to change it.
 *
 * Contexts: probe, claim, release, encode: process context, may sleep, under
 * hwpmc_lock. All *_irqoff: on the CPU concerned, interrupts off, possibly
 * with a run queue's lock held: no printk, no sleeping, no other CPU's memory.
 */
#ifndef HWPMC_BACKEND_H
#define HWPMC_BACKEND_H

#include "../compat/types.h"	/* fixed-width types, on the host too */
#include "hwpmc.h"		/* uapi */

struct hwpmc_class;

/* Rows of class SOFT; task/target.h counts migrations for each. */
#define HWPMC_SOFT_ROWS	16

/* What a PMC asks of a class, already checked against modes and flags. */
struct hwpmc_request {
	u32 caps;		/* HWPMC_CAP_*; USER and SYSTEM resolved: >= 1 set */
	u32 flags;		/* HWPMC_F_* */
	u32 mode;		/* enum hwpmc_mode */
	u32 ev;			/* without HWPMC_F_EV_PMU */
	u64 config, config1;	/* with it */
};

/* What a row is programmed with. sel is never 0 for a counting row. */
struct hwpmc_select {
	u64 sel;		/* EVTSEL with EN, PERF_CTL with EN, fixed field … */
	u64 extra;		/* OFFCORE_RSP value and such; 0: none */
};

/* Answer of encode(): which rows of the class can count it, and how. */
struct hwpmc_encoding {
	struct hwpmc_select select;
	u64 rows;		/* bit per row of the class; 0: none */
	bool counts_off_cpu;		/* happens to threads while they do not run
				 * (task/migrations.c) */
	u32 why;		/* enum hwpmc_reason where refused */
	s32 detail;
};

struct hwpmc_class_ops {
	/*
	 * Is this class on this machine? 0: yes, *cls is filled (name, id, caps,
	 * width, num, rdpmc_base). -ENODEV: not here. Other errors: it is here
	 * but cannot be used; one pr_info line said why.
	 */
	int (*probe)(struct hwpmc_class *cls);
	/* The module goes away. NULL where there is nothing to give back. */
	void (*exit)(struct hwpmc_class *cls);
	/*
	 * Take the hardware away from perf (x86_reserve.c), and give it back.
	 * NULL where nothing has to be claimed (TSC, SOFT). On refusal: -EBUSY,
	 * with *why PMU_RESERVED or PMU_RUNNING and *detail the MSR.
	 */
	int (*claim)(struct hwpmc_class *cls, u32 *why, s32 *detail);
	void (*release)(struct hwpmc_class *cls);
	/* Who has what claim() takes: enum hwpmc_pmu_state. NULL as claim. */
	u32 (*pmu_state)(const struct hwpmc_class *cls);
	/*
	 * Put this CPU's registers of the class into the clean state: all selects
	 * and fixed control 0, status acknowledged, global control `on` ? all
	 * rows of the class enabled : 0, or as it was found where perf may count
	 * on that (AMD). Called on each CPU after claim (on), at
	 * release (off), when a CPU comes and goes. Classes that share a global
	 * control register (IAF, IAP) each touch their own bits only. NULL
	 * where there are no registers (TSC).
	 */
	void (*reset_irqoff)(struct hwpmc_class *cls, bool on);
	/*
	 * Pure: may rows of this class count this, and with what select?
	 * 0, or -EINVAL/-EOPNOTSUPP with enc->why and enc->detail.
	 */
	int (*encode)(const struct hwpmc_class *cls,
		      const struct hwpmc_request *req,
		      struct hwpmc_encoding *enc);
	/*
	 * Make row ri (of the class) count *s, or stop it (s == NULL). NULL
	 * where rows always count (TSC).
	 */
	void (*program_irqoff)(struct hwpmc_class *cls, unsigned int ri,
			       const struct hwpmc_select *s);
	/* Read a row where rdpmc_base < 0 (TSC). */
	u64 (*read_irqoff)(struct hwpmc_class *cls, unsigned int ri);
	/*
	 * Classes that interrupt (CAP_INTERRUPT). Set the counter of row ri; the
	 * core writes -n to be interrupted after n events, 1 <= n <= max_period,
	 * so that its highest bit is set until then. NMI.
	 */
	void (*write_nmi)(struct hwpmc_class *cls, unsigned int ri, u64 value);
	/*
	 * The overflows of these rows (bit per row of the class) have been dealt
	 * with: clear their status. NULL where there is none. NMI.
	 */
	void (*ack_nmi)(struct hwpmc_class *cls, u64 rows);
	/*
	 * Add n to the counter of row ri: events of the current thread that happened
	 * while it did not run. Only for rows that count off CPU (see struct
	 * hwpmc_encoding), NULL where there are none.
	 */
	void (*add_irqoff)(struct hwpmc_class *cls, unsigned int ri, u64 n);
	/*
	 * Classes whose events have to be asked for (SOFT; NULL elsewhere): one
	 * more PMC, or one less, has this select. Process context, hwpmc_lock.
	 */
	int (*event_get)(struct hwpmc_class *cls, const struct hwpmc_select *s);
	void (*event_put)(struct hwpmc_class *cls, const struct hwpmc_select *s);
	/* Their names, one after the other, until NULL; and that of a number. */
	const char *(*event_at)(const struct hwpmc_class *cls,
				unsigned int place, u32 *ev);
	const char *(*event_name)(const struct hwpmc_class *cls, u32 ev);
	/* A name for GETPMCINFO: "IAP-3", "TSC". */
	void (*row_name)(const struct hwpmc_class *cls, unsigned int ri,
			 char *buf, size_t len);
};

struct hwpmc_class {
	const struct hwpmc_class_ops *ops;
	const char *name;	/* "IAP" */
	u32 id;			/* enum hwpmc_class_id */
	u32 caps;		/* HWPMC_CAP_* */
	u32 width;		/* bits of a counter */
	u32 num;		/* rows */
	u32 first;		/* first row; set by the core */
	s64 rdpmc_base;		/* RDPMC index of row 0 (rows follow), -1: none */
	u64 max_period;		/* see write_nmi() */
	bool nmi;		/* interrupts by the local APIC's LVTPC */
	bool shareable;		/* a row may serve any number of PMCs (TSC) */
	bool system_only;	/* no process-scope PMCs (TSC) */
	void *priv;		/* the backend's own */
};

/* One machine: which classes it has. Filled by hwpmc_machine_probe(). */
struct hwpmc_machine {
	u32 cputype;		/* FreeBSD's number, 0x400: generic */
	u32 pmu_version;	/* Intel: perfmon version; AMD: 0, 1 or 2 */
	char cpuid[HWPMC_NAME_MAX];
	unsigned int nclass;
	struct hwpmc_class cls[HWPMC_CLASS_MAX];
};

/*
 * The register that was the first to fault since the hardware was claimed, 0: none. A
 * hypervisor may filter any of them at any time. From then on nothing that claimed
 * classes count is vouched for, until the last of their PMCs is released. Read
 * anywhere.
 */
extern u32 hwpmc_msr_faulted;

#endif /* HWPMC_BACKEND_H */
