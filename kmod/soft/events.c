// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * events.c - the table of events, and the tracepoint probes that count them while a
 * PMC has them. Tables: made at load, user counts under hwpmc_lock. Probes: any context
 * of the kernel, NMI included; they disable interrupts.
 *
 * Any tracepoint is an event, by its name. Its number is its index in the kernel's
 * table, which does not change until the next boot. A kernel with kCFI takes
 * probes of the tracepoint's own type alone: those of fixed[] and typed[].
 */
#include <linux/hardirq.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <asm/trap_pf.h>

#include "../compat/tracepoints.h"
#include "../core/class.h"
#include "../core/work.h"
#include "../task/migrations.h"
#include "../task/target.h"
#include "soft.h"

/*
 * Registering a probe, and removing it, patches the kernel's text, which interrupts all CPUs.
 * So probes stay for so long after the last PMC that needs them.
 */
#define IDLE_DELAY	HZ

static void probes_idle_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(probes_idle, probes_idle_work);

/* At sched_switch: before the probe that ends slices of threads without a notifier. */
#define PROBE_PRIO	(TRACEPOINT_DEFAULT_PRIO + 1)

static void event_hit_nmi(u32 ev, struct pt_regs *regs)
{
	struct hwpmc_soft_hit h = {
		.ev = ev, .n = 1, .regs = regs, .known = true,
	};
	unsigned long flags;

	local_irq_save(flags);
	hwpmc_soft_hit_nmi(&h);
	local_irq_restore(flags);
}

/*
 * Probe of any tracepoint, where there is no kCFI: arguments after the first differ, and
 * are in registers that this function does not read. data: the number of the event.
 */
static void probe_any_nmi(void *data)
{
	event_hit_nmi((unsigned long)data, NULL);
}

HWPMC_PROBE_SCHED_SWITCH(probe_switch_nmi, prev, next)
{
	probe_any_nmi(hwpmc_data);
}

HWPMC_PROBE_CONTENTION(probe_contention_nmi)
{
	probe_any_nmi(hwpmc_data);
}

HWPMC_PROBE_SYSCALL(probe_sys_enter_nmi, sys_enter)
{
	probe_any_nmi(hwpmc_data);
}

HWPMC_PROBE_SYSCALL(probe_sys_exit_nmi, sys_exit)
{
	probe_any_nmi(hwpmc_data);
}

HWPMC_PROBE_WAKEUP(probe_waking_nmi, sched_waking)
{
	probe_any_nmi(hwpmc_data);
}

HWPMC_PROBE_WAKEUP(probe_wakeup_nmi, sched_wakeup)
{
	probe_any_nmi(hwpmc_data);
}

static void probe_fault_nmi(void *data, unsigned long address, struct pt_regs *regs,
			    unsigned long error)
{
	u32 ev = (unsigned long)data;
	bool write = error & X86_PF_WRITE;

	/* A profiler that reads user stacks: not a fault of the program. */
	if (in_nmi())
		return;
	if (ev == HWPMC_EV_SOFT_PAGE_FAULT_ALL ||
	    ev == (write ? HWPMC_EV_SOFT_PAGE_FAULT_WRITE :
		   HWPMC_EV_SOFT_PAGE_FAULT_READ))
		event_hit_nmi(ev, regs);
}

static void probe_migration(void *data, struct task_struct *task, int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	hwpmc_thread_migrated_irqoff(task);
	local_irq_restore(flags);
	event_hit_nmi(HWPMC_EV_SOFT_CPU_MIGRATION, NULL);
}

#define FAULTS	{ "page_fault_user", "page_fault_kernel" }

/* hwpmc_lock. */
struct hwpmc_soft_use {
	unsigned int users;		/* PMCs */
	bool hooked;			/* its probes are registered; may be without users */
};

/* In the order of their numbers. */
static struct fixed {
	const char *name;
	const char *tp_name[2];		/* none: a clock (clock.c) */
	void *probe;
	bool modes;			/* user and kernel can be told apart */
	struct tracepoint *tp[2];	/* NULL: this kernel has none */
	struct hwpmc_soft_use use;
} fixed[] = {
	{ "CLOCK.HARD", .modes = true },
	{ "CLOCK.STAT", .modes = true },
	{ "CLOCK.PROF", .modes = true },
	{ "LOCK.FAILED", { "contention_begin" }, probe_contention_nmi },
	{ "PAGE_FAULT.ALL", FAULTS, probe_fault_nmi, true },
	{ "PAGE_FAULT.READ", FAULTS, probe_fault_nmi, true },
	{ "PAGE_FAULT.WRITE", FAULTS, probe_fault_nmi, true },
	{ "CONTEXT_SWITCH", { "sched_switch" }, probe_switch_nmi },
	{ "CPU_MIGRATION", { "sched_migrate_task" }, probe_migration },
};

/* Tracepoints whose type is known: what the name of an event can be under kCFI. */
static const struct typed {
	const char *name;
	void *probe;
} typed[] = {
	{ "contention_begin", probe_contention_nmi },
	{ "sched_switch", probe_switch_nmi },
	{ "sched_waking", probe_waking_nmi },
	{ "sched_wakeup", probe_wakeup_nmi },
	{ "sys_enter", probe_sys_enter_nmi },
	{ "sys_exit", probe_sys_exit_nmi },
};

static struct named {
	struct tracepoint *tp;
	struct hwpmc_soft_use use;
} *named;
static unsigned int nnamed;

/* ---- tables -------------------------------------------------------------- */

static struct fixed *get_fixed(u32 ev)
{
	u32 i = ev - HWPMC_EV_SOFT_FIRST;

	return i < ARRAY_SIZE(fixed) ? &fixed[array_index_nospec(i, ARRAY_SIZE(fixed))] : NULL;
}

static struct named *get_named(u32 ev)
{
	u32 i = ev - HWPMC_EV_SOFT_TRACEPOINT;

	return ev >= HWPMC_EV_SOFT_TRACEPOINT && i < nnamed ?
	       &named[array_index_nospec(i, nnamed)] : NULL;
}

static bool is_fixed_here(const struct fixed *f)
{
	return f && (!f->tp_name[0] || f->tp[0]);
}

bool hwpmc_soft_event_is_here(u32 ev)
{
	return is_fixed_here(get_fixed(ev)) || get_named(ev);
}

/* NULL: none that this kernel may call. */
static void *get_probe(const struct named *t)
{
	unsigned int i;

	if (!HWPMC_PROBES_ARE_TYPED)
		return probe_any_nmi;
	for (i = 0; i < ARRAY_SIZE(typed); i++)
		if (!strcmp(t->tp->name, typed[i].name))
			return typed[i].probe;
	return NULL;
}

bool hwpmc_soft_event_has_probe(u32 ev)
{
	struct named *t = get_named(ev);

	return !t || get_probe(t);
}

bool hwpmc_soft_event_has_modes(u32 ev)
{
	struct fixed *f = get_fixed(ev);

	return f && f->modes;
}

const char *hwpmc_soft_event_name(const struct hwpmc_class *cls, u32 ev)
{
	struct fixed *f = get_fixed(ev);
	struct named *t = get_named(ev);

	return f ? f->name : t ? t->tp->name : NULL;
}

const char *hwpmc_soft_event_at(const struct hwpmc_class *cls, unsigned int place, u32 *ev)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (!is_fixed_here(&fixed[i]) || place--)
			continue;
		*ev = HWPMC_EV_SOFT_FIRST + i;
		return fixed[i].name;
	}
	if (place >= nnamed)
		return NULL;
	*ev = HWPMC_EV_SOFT_TRACEPOINT + place;
	return named[place].tp->name;
}

static void count_tracepoint(struct tracepoint *tp, void *n)
{
	++*(unsigned int *)n;
}

static void add_tracepoint(struct tracepoint *tp, void *max)
{
	if (nnamed < *(unsigned int *)max)
		named[nnamed++].tp = tp;
}

static void find_fixed(struct fixed *f)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(f->tp) && f->tp_name[i]; i++)
		if (hwpmc_tracepoint_get(f->tp_name[i], &f->tp[i]))
			f->tp[0] = NULL;
}

int hwpmc_soft_events_init(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(fixed); i++)
		find_fixed(&fixed[i]);
	for_each_kernel_tracepoint(count_tracepoint, &n);
	n = min_t(unsigned int, n, HWPMC_EV_SOFT_LAST -
				   HWPMC_EV_SOFT_TRACEPOINT + 1);
	named = kvcalloc(n, sizeof(*named), GFP_KERNEL);
	if (!named)
		return -ENOMEM;
	for_each_kernel_tracepoint(add_tracepoint, &n);
	return 0;
}

void hwpmc_soft_events_exit(void)
{
	tracepoint_synchronize_unregister();
	kvfree(named);
	named = NULL;
	nnamed = 0;
}

/* ---- probes -------------------------------------------------------------- */

static int hook_fixed(struct fixed *f, u32 ev)
{
	void *data = (void *)(unsigned long)ev;
	int ret;

	lockdep_assert_held(&hwpmc_lock);
	if (!f->tp[0])
		return 0;
	ret = tracepoint_probe_register_prio(f->tp[0], f->probe, data, PROBE_PRIO);
	if (ret || !f->tp[1])
		return ret;
	ret = tracepoint_probe_register_prio(f->tp[1], f->probe, data, PROBE_PRIO);
	if (ret)
		tracepoint_probe_unregister(f->tp[0], f->probe, data);
	return ret;
}

static void unhook_fixed(struct fixed *f, u32 ev)
{
	void *data = (void *)(unsigned long)ev;
	unsigned int i;

	lockdep_assert_held(&hwpmc_lock);
	for (i = 0; i < ARRAY_SIZE(f->tp) && f->tp[i]; i++)
		tracepoint_probe_unregister(f->tp[i], f->probe, data);
}

static int hook_named(const struct named *t, u32 ev)
{
	return tracepoint_probe_register_prio(t->tp, get_probe(t), (void *)(unsigned long)ev,
					      PROBE_PRIO);
}

static void unhook_named(const struct named *t, u32 ev)
{
	tracepoint_probe_unregister(t->tp, get_probe(t), (void *)(unsigned long)ev);
}

static bool ends_hook(struct hwpmc_soft_use *use)
{
	bool ends = use->hooked && !use->users;

	lockdep_assert_held(&hwpmc_lock);
	if (ends)
		use->hooked = false;
	return ends;
}

static void unhook_idle(void)
{
	unsigned int i;

	mutex_lock(&hwpmc_lock);
	for (i = 0; i < ARRAY_SIZE(fixed); i++)
		if (ends_hook(&fixed[i].use))
			unhook_fixed(&fixed[i], HWPMC_EV_SOFT_FIRST + i);
	for (i = 0; i < nnamed; i++)
		if (ends_hook(&named[i].use))
			unhook_named(&named[i], HWPMC_EV_SOFT_TRACEPOINT + i);
	mutex_unlock(&hwpmc_lock);
}

static void probes_idle_work(struct work_struct *work)
{
	unhook_idle();
}

void hwpmc_soft_settle(void)
{
	cancel_delayed_work_sync(&probes_idle);
	unhook_idle();
}

int hwpmc_soft_event_get(struct hwpmc_class *cls, const struct hwpmc_select *s,
			 struct hwpmc_hdr *hdr)
{
	u32 ev = s->sel;
	struct fixed *f = get_fixed(ev);
	struct named *t = get_named(ev);
	struct hwpmc_soft_use *use = f ? &f->use : &t->use;
	int ret = 0;

	lockdep_assert_held(&hwpmc_lock);
	if (!use->hooked)
		ret = f ? hook_fixed(f, ev) : hook_named(t, ev);
	if (ret)
		return hwpmc_refuse(hdr, ret, HWPMC_WHY_NO_MEMORY, 0);
	use->hooked = true;
	use->users++;
	return 0;
}

void hwpmc_soft_event_put(struct hwpmc_class *cls, const struct hwpmc_select *s)
{
	u32 ev = s->sel;
	struct fixed *f = get_fixed(ev);
	struct named *t = get_named(ev);
	struct hwpmc_soft_use *use = f ? &f->use : &t->use;

	lockdep_assert_held(&hwpmc_lock);
	/* Not put off by those that follow: each is registered once in IDLE_DELAY at most. */
	if (!--use->users)
		hwpmc_work_later(&probes_idle, IDLE_DELAY);
}
