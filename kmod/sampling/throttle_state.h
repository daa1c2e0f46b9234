/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * throttle_state.h - when sampling on a CPU has to pause: it costs more than its
 * limit, or its NMIs keep all other interrupts away. Pure; inline, for throttle.c
 * asks at each NMI with an overflow. Times are ticks of the CPU's own TSC.
 *
 *	state	 event				 next	  action of throttle.c
 *	RUNNING	 a timer interrupt came		 RUNNING  count NMIs from 0
 *	RUNNING	 more than MANY NMIs without	 PROBED	  count NMIs from 0; ask for
 *		 one, and 10 ms since the last		  an ordinary interrupt
 *		 sign of an interrupt
 *	PROBED	 the interrupt came		 RUNNING  none
 *	PROBED	 a timer interrupt came		 PROBED	  count NMIs from 0
 *	PROBED	 more than MANY NMIs found	 PAUSED	  stop all rows for 100 ms
 *		 interrupts enabled
 *	PROBED	 more than MANY NMIs, and 10 ms	 PAUSED	  stop all rows for 100 ms
 *		 since they are counted, which
 *		 leave no room between them
 *	PROBED	 the same, with room between	 PROBED	  count NMIs from 0, but those
 *						  with interrupts enabled
 *	PROBED	 the same, and 1 s since the	 PAUSED	  stop all rows for 100 ms
 *		 interrupt was asked for
 *	both	 the NMIs of a window of 10 ms	 PAUSED	  stop all rows for 10 ms
 *		 cost more than the limit
 *	PAUSED	 an NMI				 PAUSED	  stop all rows; ask for the
 *						  interrupt that holds them
 *	PAUSED	 the pause has ended		 RUNNING  start all rows (PROBED while
 *						  the interrupt has not come)
 *
 * PAUSED is hwpmc_cpu.throttled; PROBED is .probed of struct hwpmc_starvation. In PAUSED the
 * first interrupt has the rows count on, armed for so much that they raise no NMI.
 */
#ifndef HWPMC_THROTTLE_STATE_H
#define HWPMC_THROTTLE_STATE_H

#include "../compat/types.h"

/* ---- cost ---------------------------------------------------------------- */

struct hwpmc_cost {
	u64 began;		/* of the window */
	u64 spent;		/* by NMIs in it */
};

/* An NMI ran from `began` to `now`. */
static inline void hwpmc_cost_add(struct hwpmc_cost *cost, u64 began, u64 now,
				  u64 window)
{
	if (now - cost->began > window) {
		cost->began = began;
		cost->spent = 0;
	}
	cost->spent += now - began;
}

/*
 * A hypervisor may run others on the CPU for as long as it likes, in an NMI above all: each
 * access to a counter is its turn. What an NMI took longer than `most` is not its cost. Returns
 * when it would have begun.
 */
static inline u64 hwpmc_cost_began(u64 began, u64 now, u64 most)
{
	return now - began > most ? now - most : began;
}

static inline bool hwpmc_cost_is_over(const struct hwpmc_cost *cost, u64 window,
				      unsigned int limit_percent)
{
	return cost->spent * 100 > window * limit_percent;
}

/* Of the time since the window began. */
static inline u32 hwpmc_cost_percent(const struct hwpmc_cost *cost, u64 now)
{
	return cost->spent * 100 / (now - cost->began + 1);
}

/* ---- starvation ---------------------------------------------------------- */

/*
 * What the way into and out of an NMI costs cannot be measured from inside. Where
 * that alone is longer than a period, each NMI is followed by the next one and
 * nothing else runs, though the measured part is below the limit.
 *
 * An NMI that finds interrupts enabled proves that nothing else runs: the interrupt that was
 * asked for would come at once.
 *
 * The kernel has interrupts off for long as well, and then no interrupt comes although the
 * NMIs leave room for all else: it is what one samples by NMI for. So the ways are estimated,
 * to be as long as the measured part and 1/3000 of the window (3 us) more, which is more than
 * they are on a processor and less than on an emulated one, whose measured part is longer.
 *
 * The estimate is wrong where the handlers of other devices take the time: their time looks
 * like room. If each NMI is then raised before the last one has returned, the CPU executes no
 * instruction of the code that has interrupts off, and that code never ends. Sampling is
 * therefore paused after 100 windows (1 s) without the interrupt, whatever the estimate is.
 */
#define HWPMC_NMIS_MANY	16
#define HWPMC_NMI_WAY(patience)	((patience) / 3000)
#define HWPMC_NMIS_MOST(patience)	((patience) * 100)

enum hwpmc_starvation_state {
	HWPMC_STARVATION_RUNNING,
	HWPMC_STARVATION_PROBED,
};

struct hwpmc_starvation {
	unsigned int timer_irqs;	/* of this CPU, at the last NMI */
	unsigned int nmis;		/* since a timer interrupt or the probe */
	unsigned int nmis_irqs_on;	/* of them: interrupts were enabled */
	u64 spent;			/* by them, as far as it can be measured */
	u64 since;			/* they are counted */
	u64 alive;			/* last sign of an interrupt */
	u64 probed;			/* when an interrupt was asked for that has
					 * not come yet, or 0 */
};

enum hwpmc_starvation_action {
	HWPMC_STARVATION_GO_ON,
	HWPMC_STARVATION_PROBE,		/* ask for an ordinary interrupt */
	HWPMC_STARVATION_PAUSE,
};

static inline enum hwpmc_starvation_state
hwpmc_starvation_state(const struct hwpmc_starvation *s)
{
	return READ_ONCE(s->probed) ? HWPMC_STARVATION_PROBED :
				      HWPMC_STARVATION_RUNNING;
}

static inline void hwpmc_starvation_count_anew(struct hwpmc_starvation *s, u64 now)
{
	s->nmis = 0;
	s->nmis_irqs_on = 0;
	s->spent = 0;
	s->since = now;
}

/* Did they take three quarters of the time, their ways included? */
static inline bool hwpmc_starvation_fills_time(const struct hwpmc_starvation *s, u64 now,
					       u64 patience)
{
	u64 cost = 2 * s->spent + s->nmis * HWPMC_NMI_WAY(patience);

	return cost * 4 > (now - s->since) * 3;
}

static inline enum hwpmc_starvation_action
hwpmc_starvation_many_probed(struct hwpmc_starvation *s, u64 now, u64 patience)
{
	unsigned int irqs_on = s->nmis_irqs_on;

	if (irqs_on > HWPMC_NMIS_MANY)
		return HWPMC_STARVATION_PAUSE;
	if (now - s->since <= patience)
		return HWPMC_STARVATION_GO_ON;
	if (now - s->probed > HWPMC_NMIS_MOST(patience))
		return HWPMC_STARVATION_PAUSE;
	if (hwpmc_starvation_fills_time(s, now, patience))
		return HWPMC_STARVATION_PAUSE;
	hwpmc_starvation_count_anew(s, now);
	s->nmis_irqs_on = irqs_on;
	return HWPMC_STARVATION_GO_ON;
}

/* More than MANY NMIs came without a timer interrupt between them. */
static inline enum hwpmc_starvation_action
hwpmc_starvation_many(struct hwpmc_starvation *s, u64 now, u64 patience)
{
	if (hwpmc_starvation_state(s) == HWPMC_STARVATION_PROBED)
		return hwpmc_starvation_many_probed(s, now, patience);
	if (now - READ_ONCE(s->alive) <= patience)
		return HWPMC_STARVATION_GO_ON;
	hwpmc_starvation_count_anew(s, now);
	s->probed = now;
	return HWPMC_STARVATION_PROBE;
}

/* An NMI, from `began` to `now`. timer_irqs: timer interrupts that this CPU has had until
 * now. */
static inline enum hwpmc_starvation_action
hwpmc_starvation_nmi(struct hwpmc_starvation *s, unsigned int timer_irqs, bool irqs_on,
		     u64 began, u64 now, u64 patience)
{
	if (timer_irqs != s->timer_irqs) {
		s->timer_irqs = timer_irqs;
		s->alive = now;
		hwpmc_starvation_count_anew(s, now);
		return HWPMC_STARVATION_GO_ON;
	}
	s->nmis++;
	s->spent += now - began;
	s->nmis_irqs_on += irqs_on;
	if (s->nmis <= HWPMC_NMIS_MANY)
		return HWPMC_STARVATION_GO_ON;
	return hwpmc_starvation_many(s, now, patience);
}

/*
 * The interrupt that was asked for has come. In this order: an NMI between the two
 * stores finds RUNNING with an old .alive and asks once more; the other way round it
 * would find PROBED and could pause.
 */
static inline void hwpmc_starvation_probe_came(struct hwpmc_starvation *s, u64 now)
{
	WRITE_ONCE(s->probed, 0);
	WRITE_ONCE(s->alive, now);
}

#endif /* HWPMC_THROTTLE_STATE_H */
