/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * soft.h - class SOFT: counters in memory that the kernel's own events tick, so
 * that there is something to count and to sample where there is no PMU.
 *
 * A row of a CPU has a counter and a select, as hardware has; a tick adds one
 * to the counters of this CPU whose select has the event. All else (slices, system
 * scope, samples) is done by the same code as for hardware.
 *
 *	class.c		rows, as the core sees them
 *	tick.c		ticks and overflows
 *	events.c	which events there are; the probes that tick
 *	clock.c		timers that tick
 */
#ifndef HWPMC_SOFT_H
#define HWPMC_SOFT_H

#include <linux/hrtimer.h>
#include <linux/percpu.h>

#include "../backends/backend.h"

#define HWPMC_SOFT_CLOCKS	3

/* A select: the event's number, and the modes in which it is counted. */
#define HWPMC_SOFT_USER		BIT_ULL(32)
#define HWPMC_SOFT_SYSTEM	BIT_ULL(33)
/* Of a thread, which is told when it runs again; not ticked where it happens. */
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

/* Of one CPU; touched there with interrupts off. Counters also in NMI, hence
 * by instructions that an NMI cannot divide. */
struct hwpmc_soft_cpu {
	u64 counter[HWPMC_SOFT_ROWS];
	u64 sel[HWPMC_SOFT_ROWS];
	u32 rows;			/* that count */
	bool busy;			/* in a tick: what happens now is our own */
	struct hwpmc_soft_clock clock[HWPMC_SOFT_CLOCKS];
};

extern struct hwpmc_soft_cpu __percpu *hwpmc_soft_cpus;
extern struct hwpmc_class *hwpmc_soft_class;	/* never changes after load */

/* What happened. Where it hit is looked for when somebody wants to know. */
struct hwpmc_soft_hit {
	u32 ev;
	u64 n;				/* times */
	struct pt_regs *regs;		/* NULL: in the kernel, here */
	bool interrupt;			/* what this interrupt has interrupted, and
					 * .regs is not known yet */
	bool known;			/* .regs says whether user or kernel */
};

/* Tick the rows of this CPU that count the event. Interrupts off, or NMI. */
void hwpmc_soft_hit_irqoff(struct hwpmc_soft_hit *hit);
/* Does a row of this CPU count it? */
bool hwpmc_soft_counts_irqoff(u32 ev);
/* One row alone, for what happened to the thread that was switched in. */
void hwpmc_soft_row_irqoff(unsigned int ri, u64 n);

/* ---- events.c ------------------------------------------------------------ */

int hwpmc_soft_events_init(void);
void hwpmc_soft_events_exit(void);
bool hwpmc_soft_event_is_here(u32 ev);
/* Does it happen in user mode at times, so that the two can be told apart? */
bool hwpmc_soft_event_has_modes(u32 ev);
/* NULL: there is none of that place in the list. */
const char *hwpmc_soft_event_at(unsigned int place, u32 *ev);
const char *hwpmc_soft_event_name(u32 ev);
/* One more, or less, who counts it. Sleeps; hwpmc_lock. */
int hwpmc_soft_event_get(u32 ev);
void hwpmc_soft_event_put(u32 ev);

/* ---- clock.c ------------------------------------------------------------- */

void hwpmc_soft_clocks_init(struct hwpmc_soft_cpu *s, unsigned int cpu);
bool hwpmc_soft_is_clock(u32 ev);
/* Have it tick on this CPU, until no row there counts it. */
void hwpmc_soft_clock_begin_irqoff(struct hwpmc_soft_cpu *s, u32 ev);
void hwpmc_soft_clocks_end_irqoff(struct hwpmc_soft_cpu *s);
/* Of what the interrupt that runs here has interrupted; NULL: cannot tell. */
struct pt_regs *hwpmc_soft_interrupted_irqoff(void);

#endif /* HWPMC_SOFT_H */
