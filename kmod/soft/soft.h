/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * soft.h - class SOFT: counters in memory for events of the kernel, which can be
 * counted and sampled without a PMU.
 *
 * A row of a CPU has a counter and a select, as hardware has. An event is added to the
 * counters of its CPU whose select names it. Slices, system scope and samples are done
 * by the same code as for hardware.
 *
 *	class.c		callbacks of the class
 *	tick.c		counting, and overflows
 *	events.c	table of events; tracepoint probes
 *	clock.c		timers
 *	test.c		class TEST, which has no other code in common with SOFT
 */
#ifndef HWPMC_SOFT_H
#define HWPMC_SOFT_H

#include <linux/hrtimer.h>
#include <linux/percpu.h>

#include "../backends/backend.h"

#define HWPMC_SOFT_CLOCKS	3

/* A select: the number of the event, and the modes in which it is counted. */
#define HWPMC_SOFT_USER		BIT_ULL(32)
#define HWPMC_SOFT_SYSTEM	BIT_ULL(33)
/* Happens to a thread that does not run: added at its next switch-in, not counted on
 * the CPU where it happens. */
#define HWPMC_SOFT_OFF_CPU	BIT_ULL(34)
#define HWPMC_SOFT_MODES	(HWPMC_SOFT_USER | HWPMC_SOFT_SYSTEM)

struct pt_regs;
struct hwpmc_cpu;
struct hwpmc_thread;

struct hwpmc_soft_clock {
	struct hrtimer timer;
	u32 ev;
	unsigned int cpu;
	u64 interval;			/* ns */
};

/* Of one CPU; used there with interrupts off. Counters change in NMI too: only by single
 * instructions. */
struct hwpmc_soft_cpu {
	u64 counter[HWPMC_SOFT_ROWS];
	u64 sel[HWPMC_SOFT_ROWS];
	u32 rows;			/* bit per row that counts */
	bool busy;			/* in a hit: events now are the module's own */
	struct hwpmc_soft_clock clock[HWPMC_SOFT_CLOCKS];
};

extern struct hwpmc_soft_cpu __percpu *hwpmc_soft_cpus;
extern struct hwpmc_class *hwpmc_soft_class;	/* constant after load */

/* An event. Its registers are looked up only if a row needs them. */
struct hwpmc_soft_hit {
	u32 ev;
	u64 n;				/* times */
	struct pt_regs *regs;		/* NULL: in the kernel, here */
	bool interrupt;			/* .regs: those this interrupt interrupted */
	bool known;			/* .regs is set */
};

/* Add the event to the rows of this CPU that count it. Interrupts off, or NMI. */
void hwpmc_soft_hit_nmi(struct hwpmc_soft_hit *hit);
/* Does a row of this CPU count it? */
bool hwpmc_soft_counts_irqoff(u32 ev);
/* Add n to one row, for events of the current thread while it did not run. */
void hwpmc_soft_add_irqoff(struct hwpmc_class *cls, unsigned int ri, u64 n);

/* ---- events.c ------------------------------------------------------------ */

int hwpmc_soft_events_init(void);
void hwpmc_soft_events_exit(void);
bool hwpmc_soft_event_is_here(u32 ev);
/* Is there a probe that this kernel may call? */
bool hwpmc_soft_event_has_probe(u32 ev);
/* Can it happen in user mode as well as in the kernel? */
bool hwpmc_soft_event_has_modes(u32 ev);
/* Callbacks `events` of the class. */
const char *hwpmc_soft_event_at(const struct hwpmc_class *cls, unsigned int place, u32 *ev);
const char *hwpmc_soft_event_name(const struct hwpmc_class *cls, u32 ev);
int hwpmc_soft_event_get(struct hwpmc_class *cls, const struct hwpmc_select *s,
			 struct hwpmc_hdr *hdr);
void hwpmc_soft_event_put(struct hwpmc_class *cls, const struct hwpmc_select *s);
/* At unload, when no PMC is left: probes end, before what they use does; RCU is due. Sleeps. */
void hwpmc_soft_settle(void);

/* ---- clock.c ------------------------------------------------------------- */

void hwpmc_soft_clocks_init(struct hwpmc_soft_cpu *s, unsigned int cpu);
bool hwpmc_soft_is_clock(u32 ev);
/* Start the clock on this CPU; it stops itself when no row counts it. */
void hwpmc_soft_clock_start_irqoff(struct hwpmc_soft_cpu *s, u32 ev);
void hwpmc_soft_clocks_stop_irqoff(struct hwpmc_soft_cpu *s);

#endif /* HWPMC_SOFT_H */
