// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * throttle.c - measures the NMIs of a window of time; when they took more than
 * kern.hwpmc.selfcost percent of it, stops what samples here. The NMI asks for an
 * interrupt, that for a work item, and that lets it go on.
 *
 * What an NMI takes beyond our part of it nobody can measure. Where that alone is
 * longer than a period, each NMI is followed by the next, and nothing else runs,
 * though our part be below the limit. So where many NMIs came and no tick, we ask for
 * an ordinary interrupt: if it does not come through between any of the next ones,
 * they are what keeps it away; and nearly so where interrupts are off all the while,
 * as in a context switch that takes an NMI for each of its instructions.
 */
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "../compat/irq_stat.h"
#include "../compat/irq_work.h"
#include "../core/owner.h"
#include "../debug/tunables.h"
#include "log.h"
#include "throttle.h"

#define WINDOW_MS	10

/* So many NMIs are many. */
#define MANY		16
/* Starved, a CPU has much to do before the next NMI. */
#define REST_MS		100

struct throttle {
	u64 began;		/* of the window */
	u64 cost;		/* of the NMIs in it; both in ticks of the log */
	unsigned int pause_ms;/* how long it stands still, in ms */
	unsigned int ticks;	/* that this CPU had at the last NMI */
	u64 alive;		/* time of the last sign of an interrupt, */
	unsigned int since;	/* NMIs since then, or since we asked for one, */
	unsigned int open;	/* and those of them that found interrupts on */
	u64 asked;		/* for one that has not come yet, or 0 */
	struct irq_work probe;
	struct irq_work irq_work;
	struct delayed_work work;
	unsigned int cpu;
};

static DEFINE_PER_CPU(struct throttle, throttles);

static void throttle_record(struct hwpmc_cpu *c, unsigned int nr, u8 flags, u32 percent)
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
 * Programmed by who was about to when the NMI came that stopped all: it looked before
 * that. Else nothing would ever stop it, nor let go on.
 */
static void stop_again_nmi(struct hwpmc_cpu *c)
{
	u64 rows;

	for (rows = c->sampling; rows; rows &= rows - 1) {
		unsigned int nr = __ffs64(rows);

		hwpmc_cpu_program_irqoff(c, nr, NULL);
	}
}

static void stop_nmi(struct hwpmc_cpu *c, u32 percent)
{
	u64 rows;

	c->throttled = true;
	for (rows = c->sampling; rows; rows &= rows - 1) {
		unsigned int nr = __ffs64(rows);

		hwpmc_cpu_program_irqoff(c, nr, NULL);
		throttle_record(c, nr, 0, percent);
	}
}

static void throttle_resume_here(void *unused)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	struct throttle *t = this_cpu_ptr(&throttles);
	u64 rows;

	if (!c->throttled)
		return;
	c->throttled = false;
	t->cost = 0;
	t->began = hwpmc_log_time();
	for (rows = c->sampling; rows; rows &= rows - 1) {
		unsigned int nr = __ffs64(rows);

		throttle_record(c, nr, 1, 0);
		hwpmc_cpu_program_irqoff(c, nr, &c->row[nr].pmc->select);
	}
}

/* A CPU that went offline meanwhile has nothing armed. */
static void throttle_resume_work(struct work_struct *work)
{
	struct throttle *t = container_of(work, struct throttle, work.work);

	if (hwpmc_cpu_call(t->cpu, throttle_resume_here, NULL))
		per_cpu_ptr(hwpmc_cpus, t->cpu)->throttled = false;
}

static void plan_irq(struct irq_work *irq_work)
{
	struct throttle *t = container_of(irq_work, struct throttle, irq_work);

	schedule_delayed_work(&t->work, msecs_to_jiffies(t->pause_ms));
}

static void came_through(struct irq_work *probe)
{
	struct throttle *t = container_of(probe, struct throttle, probe);

	WRITE_ONCE(t->asked, 0);
	/* An NMI just here asks once more. */
	WRITE_ONCE(t->alive, hwpmc_log_time());
}

static void begin_to_count_nmi(struct throttle *t)
{
	t->since = 0;
	t->open = 0;
}

static bool is_starved_nmi(struct throttle *t, const struct pt_regs *regs, u64 now)
{
	unsigned int ticks = hwpmc_timer_irqs_nmi();

	if (likely(ticks != t->ticks)) {
		t->ticks = ticks;
		t->alive = now;
		begin_to_count_nmi(t);
		return false;
	}
	t->since++;
	t->open += !!(regs->flags & X86_EFLAGS_IF);
	if (t->since <= MANY)
		return false;
	if (READ_ONCE(t->asked))
		return t->open > MANY || now - t->asked > hwpmc_log_ticks(WINDOW_MS);
	if (now - READ_ONCE(t->alive) > hwpmc_log_ticks(WINDOW_MS)) {
		begin_to_count_nmi(t);
		t->asked = now;
		irq_work_queue(&t->probe);
	}
	return false;
}

void hwpmc_throttle_nmi(struct hwpmc_cpu *c, const struct pt_regs *regs, u64 began)
{
	struct throttle *t = this_cpu_ptr(&throttles);
	unsigned int limit = READ_ONCE(hwpmc_selfcost);
	u64 now = hwpmc_log_time(), window = hwpmc_log_ticks(WINDOW_MS);
	bool starved;

	if (unlikely(c->throttled)) {
		stop_again_nmi(c);
		return;
	}
	if (now - t->began > window) {
		t->began = began;
		t->cost = 0;
	}
	t->cost += now - began;
	if (unlikely(!limit))
		return;
	starved = is_starved_nmi(t, regs, now);
	if (likely(t->cost * 100 <= window * limit && !starved))
		return;
	t->pause_ms = starved ? REST_MS : WINDOW_MS;
	stop_nmi(c, starved ? 100 : div64_u64(t->cost * 100, now - t->began + 1));
	irq_work_queue(&t->irq_work);
}

void hwpmc_throttle_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct throttle *t = per_cpu_ptr(&throttles, cpu);

		t->cpu = cpu;
		t->probe = IRQ_WORK_INIT_HARD(came_through);
		init_irq_work(&t->irq_work, plan_irq);
		INIT_DELAYED_WORK(&t->work, throttle_resume_work);
	}
}

/* Nothing samples any more. */
void hwpmc_throttle_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct throttle *t = per_cpu_ptr(&throttles, cpu);

		irq_work_sync(&t->probe);
		irq_work_sync(&t->irq_work);
		cancel_delayed_work_sync(&t->work);
	}
}
