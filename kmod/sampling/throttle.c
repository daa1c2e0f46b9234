// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * throttle.c - pauses sampling on a CPU where its NMIs take more than
 * kern.hwpmc.selfcost percent of the time, or keep all other interrupts away. The
 * states and their transitions are in throttle_state.h.
 *
 * An NMI may not schedule work: it queues an irq_work, whose interrupt schedules the
 * work item that starts the rows again.
 */
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>

#include "../compat/irq_stat.h"
#include "../compat/irq_work.h"
#include "../core/owner.h"
#include "../core/work.h"
#include "../debug/tunables.h"
#include "expected_nmi.h"
#include "log.h"
#include "sample.h"
#include "throttle.h"
#include "throttle_state.h"

#define WINDOW_MS	10

/* Length of a pause: for its cost until the next window; a CPU that was starved of
 * interrupts has more work waiting than that. */
#define COST_PAUSE_MS		WINDOW_MS
#define STARVED_PAUSE_MS	100

/* Of one CPU. Written in its NMIs, and there in interrupts; all but pause_ms and the
 * queues by this CPU only. */
struct throttle {
	struct hwpmc_cost cost;
	struct hwpmc_starvation starvation;
	unsigned int pause_ms;		/* of the pause that has begun */
	u32 percent;			/* its cost */
	/* Neither of these two is accessed in NMI. */
	u64 told;			/* rows whose pause is in the log */
	u64 held;			/* rows whose periods of a pause are not declared */
	struct hwpmc_cost tick_cost;	/* of rows without NMI; interrupts off, */
	u32 tick_percent;
	u64 ticks_until;		/* which pause until this time; 0: they do not */
	struct irq_work probe;		/* the interrupt that PROBED waits for */
	struct irq_work hold_irq;	/* from NMI to hwpmc_sample_hold_irqoff() */
	struct irq_work pause_irq;	/* from NMI to hwpmc_work_later() */
	struct delayed_work resume_work;
	unsigned int cpu;		/* constant */
};

static DEFINE_PER_CPU(struct throttle, throttles);

static void record_throttle_irqoff(struct hwpmc_cpu *c, unsigned int nr, u8 flags,
				   u32 percent)
{
	struct hwpmc_pmc *pmc = c->row[nr].pmc;
	struct hwpmc_log_throttle *r;

	if (pmc->flags & HWPMC_F_KGMON)
		return;
	r = hwpmc_log_reserve(pmc->owner->log, HWPMC_LOG_THROTTLE, sizeof(*r));
	if (!r)
		return;
	r->hdr.flags = flags;
	r->hdr.id = pmc->id;
	r->cpu = smp_processor_id();
	r->percent = percent;
	hwpmc_log_commit(pmc->owner->log);
}

/*
 * The two records of a pause are written for an armed row, by interrupts, loads and
 * unloads: no NMI comes between what they do and .told. A thread that is switched out
 * takes its PMC along, so the unload writes that the pause is over; no later one could.
 */
static void tell_pause_irqoff(struct hwpmc_cpu *c, struct throttle *t, unsigned int nr)
{
	/* A pause that begins at the end of another one goes on in the log. */
	t->held |= BIT_ULL(nr);
	if (t->told & BIT_ULL(nr))
		return;
	t->told |= BIT_ULL(nr);
	record_throttle_irqoff(c, nr, 0, c->ticking & BIT_ULL(nr) ? t->tick_percent :
			       t->percent);
}

static void tell_end_irqoff(struct hwpmc_cpu *c, struct throttle *t, unsigned int nr)
{
	if (!(t->told & BIT_ULL(nr)))
		return;
	t->told &= ~BIT_ULL(nr);
	record_throttle_irqoff(c, nr, 1, 0);
}

void hwpmc_throttle_loaded_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	lockdep_assert_irqs_disabled();
	tell_pause_irqoff(c, this_cpu_ptr(&throttles), nr);
	hwpmc_sample_hold_irqoff(c, nr);
}

bool hwpmc_throttle_take_irqoff(unsigned int nr)
{
	struct throttle *t = this_cpu_ptr(&throttles);
	bool held = t->held & BIT_ULL(nr);

	lockdep_assert_irqs_disabled();
	t->held &= ~BIT_ULL(nr);
	return held;
}

void hwpmc_throttle_unload_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct throttle *t = this_cpu_ptr(&throttles);

	lockdep_assert_irqs_disabled();
	/* The switch may come before the interrupt that the pausing NMI asked for. */
	if (hwpmc_is_throttled(c) && hwpmc_rows[nr].cls->nmi)
		tell_pause_irqoff(c, t, nr);
	tell_end_irqoff(c, t, nr);
	t->held &= ~BIT_ULL(nr);
}

/*
 * The NMI that paused this CPU may have hit hwpmc_sample_load_irqoff() after it had
 * tested c->throttled: that row was programmed all the same. Stop it again; only the
 * interrupt that the NMI asked for would, and it may have to wait for the end of NMIs.
 */
static void stop_rows_nmi(struct hwpmc_cpu *c)
{
	unsigned int nr;

	/* Some rows may interrupt once more (struct hwpmc_sampler). */
	if (unlikely(c->sampling & hwpmc_rows_sampler)) {
		u64 now = hwpmc_log_time_nmi(), before = c->nmi_expected;

		WRITE_ONCE(c->nmi_expected, now);
		hwpmc_expected_renew_nmi(c, now, before);
		barrier();
	}
	for_each_row(nr, c->sampling)
		hwpmc_cpu_stop_nmi(c, nr);
}

static void pause_nmi(struct hwpmc_cpu *c, struct throttle *t, unsigned int ms,
		      u32 percent)
{
	t->pause_ms = ms;
	t->percent = percent;
	c->throttled = true;
	stop_rows_nmi(c);
	irq_work_queue(&t->hold_irq);
	irq_work_queue(&t->pause_irq);
}

/* An IPI. */
static void resume_irqoff(void *unused)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	struct throttle *t = this_cpu_ptr(&throttles);
	unsigned int nr;

	if (!c->throttled)
		return;
	c->throttled = false;
	t->cost.spent = 0;
	t->cost.began = hwpmc_cpu_time_nmi();
	for_each_row(nr, c->sampling) {
		hwpmc_sample_restart_irqoff(c, nr);
		/* The NMI of a row that was started may have paused the CPU again. */
		if (c->throttled)
			continue;
		tell_end_irqoff(c, t, nr);
		t->held &= ~BIT_ULL(nr);
	}
	/* A row whose registers fault has left .sampling, and its PMC is not unloaded yet. */
	for_each_row(nr, t->told & ~c->sampling & ~c->ticking) {
		tell_end_irqoff(c, t, nr);
		t->held &= ~BIT_ULL(nr);
	}
}

static void resume_work_fn(struct work_struct *work)
{
	struct throttle *t = container_of(work, struct throttle, resume_work.work);

	/* A CPU that has gone offline meanwhile has no armed rows; cpu_forget() ends the
	 * pause before it comes back. Here it could end the next one. */
	hwpmc_cpu_call(t->cpu, resume_irqoff, NULL);
}

/*
 * Stops all first, also those that run: the NMI may have hit the load of one, and its overflow
 * would stop those that are held already.
 */
static void hold_irq_fn(struct irq_work *work)
{
	struct throttle *t = container_of(work, struct throttle, hold_irq);
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	unsigned int nr;

	if (!c->throttled)
		return;
	stop_rows_nmi(c);
	for_each_row(nr, c->sampling) {
		tell_pause_irqoff(c, t, nr);
		hwpmc_sample_hold_irqoff(c, nr);
	}
}

/* On PREEMPT_RT this is a thread. */
static void pause_irq_fn(struct irq_work *work)
{
	struct throttle *t = container_of(work, struct throttle, pause_irq);

	hwpmc_work_later(&t->resume_work, msecs_to_jiffies(t->pause_ms));
}

static void probe_irq_fn(struct irq_work *work)
{
	struct throttle *t = container_of(work, struct throttle, probe);

	hwpmc_starvation_probe_came(&t->starvation, hwpmc_cpu_time_nmi());
}

static __always_inline u64 cost_began_nmi(u64 began, u64 now)
{
	if (!cpu_feature_enabled(X86_FEATURE_HYPERVISOR))
		return began;
	return hwpmc_cost_began(began, now, hwpmc_cpu_ticks_nmi(1));
}

void hwpmc_throttle_nmi(struct hwpmc_cpu *c, const struct pt_regs *regs, u64 began)
{
	struct throttle *t = this_cpu_ptr(&throttles);
	u64 now = hwpmc_cpu_time_nmi(), window = hwpmc_cpu_ticks_nmi(WINDOW_MS);
	unsigned int limit = READ_ONCE(hwpmc_selfcost);
	enum hwpmc_starvation_action action;

	/* A row that was loaded when the pause began, or held for longer than its counter lasts:
	 * the interrupt holds all again. */
	if (unlikely(c->throttled)) {
		stop_rows_nmi(c);
		irq_work_queue(&t->hold_irq);
		return;
	}
	hwpmc_cost_add(&t->cost, cost_began_nmi(began, now), now, window);
	if (unlikely(!limit))
		return;
	action = hwpmc_starvation_nmi(&t->starvation, hwpmc_timer_irqs_nmi(),
				      regs->flags & X86_EFLAGS_IF, began, now, window);
	if (unlikely(action == HWPMC_STARVATION_PROBE))
		irq_work_queue(&t->probe);
	if (unlikely(action == HWPMC_STARVATION_PAUSE))
		pause_nmi(c, t, STARVED_PAUSE_MS, 100);
	else if (unlikely(hwpmc_cost_is_over(&t->cost, window, limit)))
		pause_nmi(c, t, COST_PAUSE_MS, hwpmc_cost_percent(&t->cost, now));
}

bool hwpmc_throttle_holds_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 now)
{
	struct throttle *t = this_cpu_ptr(&throttles);
	unsigned int other;

	lockdep_assert_irqs_disabled();
	if (likely(!t->ticks_until))
		return false;
	/* After a suspend the clock may have begun again: that ends a pause. */
	if (t->ticks_until - now <= hwpmc_cpu_ticks_nmi(COST_PAUSE_MS) + 1) {
		tell_pause_irqoff(c, t, nr);
		return true;
	}
	t->ticks_until = 0;
	for_each_row(other, t->told & c->ticking)
		tell_end_irqoff(c, t, other);
	return false;
}

/* No interrupt and no work item: what would start the rows again could be what they sample. */
void hwpmc_throttle_tick_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 began)
{
	struct throttle *t = this_cpu_ptr(&throttles);
	u64 now = hwpmc_cpu_time_nmi(), window = hwpmc_cpu_ticks_nmi(WINDOW_MS);
	unsigned int limit = READ_ONCE(hwpmc_selfcost);

	lockdep_assert_irqs_disabled();
	hwpmc_cost_add(&t->tick_cost, cost_began_nmi(began, now), now, window);
	if (!limit || likely(!hwpmc_cost_is_over(&t->tick_cost, window, limit)))
		return;
	t->tick_percent = hwpmc_cost_percent(&t->tick_cost, now);
	t->tick_cost.began = 0;
	t->ticks_until = (now + hwpmc_cpu_ticks_nmi(COST_PAUSE_MS)) | 1;
	tell_pause_irqoff(c, t, nr);
}

void hwpmc_throttle_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct throttle *t = per_cpu_ptr(&throttles, cpu);

		t->cpu = cpu;
		t->probe = IRQ_WORK_INIT_HARD(probe_irq_fn);
		t->hold_irq = IRQ_WORK_INIT_HARD(hold_irq_fn);
		init_irq_work(&t->pause_irq, pause_irq_fn);
		INIT_DELAYED_WORK(&t->resume_work, resume_work_fn);
	}
}

/* At unload: nothing samples any more. */
void hwpmc_throttle_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct throttle *t = per_cpu_ptr(&throttles, cpu);

		irq_work_sync(&t->probe);
		irq_work_sync(&t->hold_irq);
		irq_work_sync(&t->pause_irq);
		cancel_delayed_work_sync(&t->resume_work);
	}
}
