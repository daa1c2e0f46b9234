// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * counter_test.c - see counter_test.h.
 *
 * A counter that counts nothing shows nothing but a small number: firmware may have stopped it;
 * a hypervisor may filter its event, or make it of a counter of its host that another user has.
 * Such a one is not even 0: a hypervisor adds the instructions that it emulates, RDPMC itself
 * among them. So a loop of known length runs, and a number of events is expected.
 *
 * Counters are tried together, since a host can have fewer at a time than its guest lists,
 * and those that do not count then alone. A counter may have been taken for a moment: a claim
 * that finds something wrong which the claim before did not find tries again, after 1, 10 and
 * 100 ms. On real machines one CPU of each kind of core is tried, under a hypervisor each CPU.
 *
 * No moment has interrupts off for more than 1,200 instructions: rows that are tried together are
 * programmed in one, measured in the next, and stopped in a third. They are left stopped as they
 * were found; no PMC has them then, or none on this CPU. All is under hwpmc_lock.
 */
#include <linux/bitops.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/smp.h>
#include <asm/cpufeature.h>

#include "../backends/width.h"
#include "counter_test.h"

#define ROWS	32	/* of one class, or of two that share a claim */
#define BESIDE_TURNS	(HWPMC_TRIAL_TURNS / 8)

struct trial_row {
	const struct hwpmc_row *row;
	struct hwpmc_select select;
	enum hwpmc_trial_kind kind;
	u64 counted;
};

/* Rows that count at the same time on one CPU; too large for a stack. */
static struct trial_step {
	unsigned int n;
	struct trial_row at[ROWS];
} step;

static const unsigned int pause_ms[] = { 0, 1, 10, 100 };

/* What one CPU has shown of a class. */
struct finding {
	u64 rows;		/* that were tried, */
	u64 counts;		/* and do count */
	u64 misread, exceed;	/* count too much */
	u32 events, dead;	/* of the list: they count, or do not where others do */
	bool only_listed;
	u64 together;		/* .rows that count at the same time, of this class alone, */
	u64 with_mate;		/* and while all of the other class do */
};

static bool under_hypervisor(void)
{
	return boot_cpu_has(X86_FEATURE_HYPERVISOR);
}

/* ---- one step ---------------------------------------------------------------- */

static void program_irqoff(void *arg)
{
	struct trial_step *t = arg;
	struct trial_row *r, *end = t->at + t->n;

	for (r = t->at; r < end; r++)
		r->row->cls->ops->row.program_irqoff(r->row->cls, r->row->ri, &r->select);
}

static __always_inline void measure_turns_irqoff(struct trial_step *t, unsigned int turns)
{
	struct trial_row *r, *end = t->at + t->n;

	for (r = t->at; r < end; r++)
		r->counted = hwpmc_row_read_irqoff(r->row);
	hwpmc_still_work_irqoff(turns);
	for (r = t->at; r < end; r++)
		r->counted = hwpmc_width_delta(r->counted, hwpmc_row_read_irqoff(r->row),
					       r->row->mask);
}

static void measure_irqoff(void *arg)
{
	measure_turns_irqoff(arg, HWPMC_TRIAL_TURNS);
}

static void stop_irqoff(void *arg)
{
	struct trial_step *t = arg;
	struct trial_row *r, *end = t->at + t->n;

	for (r = t->at; r < end; r++)
		r->row->cls->ops->row.stop_nmi(r->row->cls, r->row->ri);
}

static void count_one_irqoff(void *arg)
{
	program_irqoff(arg);
	measure_irqoff(arg);
	stop_irqoff(arg);
}

/* Rows that are in use on this CPU count already. */
static void leave_out_used_irqoff(struct trial_step *t)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	u64 used = hwpmc_cpu_programmed_rows(c) | c->loaded | c->sampling |
		   c->unstoppable;
	unsigned int i, n = 0;

	for (i = 0; i < t->n; i++) {
		u64 bit = BIT_ULL(t->at[i].row - hwpmc_rows);

		if (used & bit || t->at[i].row->halves)
			continue;
		c->dirty |= bit;
		t->at[n++] = t->at[i];
	}
	t->n = n;
}

/*
 * A PMC may have one of the rows, though not on this CPU at the moment: so all is one moment, and
 * the loop is shorter.
 */
static void count_beside_irqoff(void *arg)
{
	leave_out_used_irqoff(arg);
	program_irqoff(arg);
	measure_turns_irqoff(arg, BESIDE_TURNS);
	stop_irqoff(arg);
}

/* 0, or -ENXIO: the CPU went offline meanwhile, which has stopped all its rows. */
static int step_count(unsigned int cpu)
{
	if (step.n == 1)
		return hwpmc_cpu_call(cpu, count_one_irqoff, &step);
	return hwpmc_cpu_call(cpu, program_irqoff, &step) ?:
	       hwpmc_cpu_call(cpu, measure_irqoff, &step) ?:
	       hwpmc_cpu_call(cpu, stop_irqoff, &step);
}

/* Events that the loop makes at least. */
static u64 least_of(enum hwpmc_trial_kind kind)
{
	switch (kind) {
	case HWPMC_TRIAL_BRANCHES:
		return HWPMC_TRIAL_TURNS;
	case HWPMC_TRIAL_INSTRUCTIONS:
		return 2 * HWPMC_TRIAL_TURNS;
	case HWPMC_TRIAL_REFERENCE:
		return 4;
	default:
		/* It takes a cycle a turn; a turn may be one operation of the processor's. */
		return HWPMC_TRIAL_TURNS / 2;
	}
}

/*
 * More than it makes: twice as many are too many. Between the two reads of a row one read of
 * each row takes place.
 */
static bool counts_more(const struct trial_row *r, unsigned int n)
{
	u64 least = least_of(r->kind), reads = 64 + 40 * n;

	switch (r->kind) {
	case HWPMC_TRIAL_BRANCHES:
		return r->counted >= least + min(reads / 4, least - 16);
	case HWPMC_TRIAL_INSTRUCTIONS:
		return r->counted >= least + min(reads, least - 32);
	default:
		return r->counted > r->row->mask >> 1;
	}
}

static void step_add(struct hwpmc_class *cls, unsigned int ri, const struct hwpmc_select *select,
		     enum hwpmc_trial_kind kind)
{
	if (!WARN_ON_ONCE(step.n >= ROWS))
		step.at[step.n++] = (struct trial_row){
			.row = &hwpmc_rows[cls->first + ri], .select = *select, .kind = kind,
		};
}

/* The rows of the class in the step that were right. A fault proves nothing: they are. */
static u64 step_right(const struct hwpmc_class *cls, u64 *exceed)
{
	u64 right = 0, many = 0;
	unsigned int i;

	for (i = 0; i < step.n; i++) {
		const struct trial_row *r = &step.at[i];

		if (r->row->cls != cls)
			continue;
		if (hwpmc_class_msr_fault(cls) ||
		    (r->counted >= least_of(r->kind) && !counts_more(r, step.n)))
			right |= BIT_ULL(r->row->ri);
		else if (counts_more(r, step.n))
			many |= BIT_ULL(r->row->ri);
	}
	if (exceed)
		*exceed |= many;
	return right;
}

static void step_run(unsigned int cpu)
{
	unsigned int i;

	/* One that went offline meanwhile has nothing wrong. */
	if (!step_count(cpu))
		return;
	for (i = 0; i < step.n; i++) {
		step.at[i].kind = HWPMC_TRIAL_NONE;
		step.at[i].counted = HWPMC_TRIAL_TURNS;
	}
}

void hwpmc_trial_encode(const struct hwpmc_class *cls, unsigned int n, unsigned int cpu, u32 mode,
			struct hwpmc_encoding *enc)
{
	struct hwpmc_request req = {
		.caps = HWPMC_CAP_SYSTEM, .flags = HWPMC_F_EV_PMU, .mode = mode,
		.cpu = HWPMC_CPU_ANY, .cpu_kind = per_cpu_ptr(hwpmc_cpus, cpu)->kind,
	};

	enc->rows = 0;
	if (n == HWPMC_TRIAL_EVENTS && cls->ops->trial->unlisted)
		req.config = cls->ops->trial->unlisted(cls);
	else if (n < HWPMC_TRIAL_EVENTS)
		req.config = cls->ops->trial->event[n].config;
	/* The model may not have the event, or not on these counters. */
	if (req.config && cls->ops->encode(cls, &req, enc))
		enc->rows = 0;
}

u64 hwpmc_trial_rows(const struct hwpmc_class *cls, unsigned int cpu)
{
	return (per_cpu_ptr(hwpmc_cpus, cpu)->rows & hwpmc_class_rows(cls)) >> cls->first;
}

static enum hwpmc_trial_kind test_kind_of(const struct hwpmc_class *cls, unsigned int n)
{
	return n < HWPMC_TRIAL_EVENTS ? cls->ops->trial->event[n].kind : HWPMC_TRIAL_NONE;
}

static bool row_is_right(struct hwpmc_class *cls, unsigned int cpu, unsigned int ri, unsigned int n,
			 const struct hwpmc_encoding *enc, u64 *exceed)
{
	step.n = 0;
	step_add(cls, ri, &enc->select, test_kind_of(cls, n));
	step_run(cpu);
	return step_right(cls, exceed);
}

/* ---- RDPMC ------------------------------------------------------------------- */

/* Fits in all widths, and no two rows have the same. */
static u64 pattern_of(const struct hwpmc_row *row)
{
	return 0x5a00 + (row - hwpmc_rows) * 0x101;
}

static void match_irqoff(void *arg)
{
	struct trial_step *t = arg;
	struct trial_row *r, *end = t->at + t->n;

	for (r = t->at; r < end; r++)
		r->row->cls->ops->row.write_nmi(r->row->cls, r->row->ri, pattern_of(r->row));
	for (r = t->at; r < end; r++)
		r->counted = hwpmc_row_read_irqoff(r->row);
	for (r = t->at; r < end; r++)
		r->row->cls->ops->row.write_nmi(r->row->cls, r->row->ri, 0);
}

/* Does RDPMC of each row, which is stopped, read the counter that is written? */
static u64 rows_misread(struct hwpmc_class *cls, unsigned int cpu, u64 rows)
{
	static const struct hwpmc_select none;
	u64 misread = 0;
	unsigned int i;

	step.n = 0;
	for (i = 0; i < cls->num; i++)
		if (rows & BIT_ULL(i))
			step_add(cls, i, &none, HWPMC_TRIAL_NONE);
	if (hwpmc_cpu_call(cpu, match_irqoff, &step) || hwpmc_class_msr_fault(cls))
		return 0;
	for (i = 0; i < step.n; i++)
		if (step.at[i].counted != pattern_of(step.at[i].row))
			misread |= BIT_ULL(step.at[i].row->ri);
	return misread;
}

/* ---- one CPU ----------------------------------------------------------------- */

/* Which events of the list count, each on the first row that counts it? */
static void try_events(struct hwpmc_class *cls, unsigned int cpu, struct finding *f)
{
	struct hwpmc_encoding enc;
	unsigned int n, ri;

	for (n = 0; n < HWPMC_TRIAL_EVENTS; n++) {
		u64 exceed = 0;

		hwpmc_trial_encode(cls, n, cpu, HWPMC_MODE_SC, &enc);
		enc.rows &= f->rows;
		for (ri = 0; ri < cls->num && !(f->events & BIT(n)); ri++) {
			if (!(enc.rows & BIT_ULL(ri)) ||
			    !row_is_right(cls, cpu, ri, n, &enc, &exceed))
				continue;
			f->events |= BIT(n);
			f->counts |= BIT_ULL(ri);
		}
		if (enc.rows && !(f->events & BIT(n)))
			f->dead |= BIT(n);
		if (f->dead & BIT(n))
			f->exceed |= exceed;
	}
	/* Such a counter is not to be believed, whatever it makes of other events. */
	if (f->exceed)
		f->dead = 0;
}

/* Each row of the class with the first event that counts, or might, on it. */
static void step_add_class(struct hwpmc_class *cls, unsigned int cpu, const struct finding *f)
{
	struct hwpmc_encoding enc;
	u64 left = f->rows;
	unsigned int n, ri;

	for (n = 0; n < HWPMC_TRIAL_EVENTS; n++) {
		if (f->dead & BIT(n))
			continue;
		hwpmc_trial_encode(cls, n, cpu, HWPMC_MODE_SC, &enc);
		for (ri = 0; ri < cls->num; ri++)
			if (left & enc.rows & BIT_ULL(ri))
				step_add(cls, ri, &enc.select, test_kind_of(cls, n));
		left &= ~enc.rows;
	}
}

/* A row alone, with each event that counts on others. */
static bool row_counts(struct hwpmc_class *cls, unsigned int cpu, unsigned int ri, u32 events)
{
	struct hwpmc_encoding enc;
	unsigned int n;

	for (n = 0; n < HWPMC_TRIAL_EVENTS; n++) {
		if (!(events & BIT(n)))
			continue;
		hwpmc_trial_encode(cls, n, cpu, HWPMC_MODE_SC, &enc);
		if (enc.rows & BIT_ULL(ri) && row_is_right(cls, cpu, ri, n, &enc, NULL))
			return true;
	}
	return false;
}

static u64 rows_together(struct hwpmc_class *cls, struct hwpmc_class *with, unsigned int cpu,
			 const struct finding *f, const struct finding *g)
{
	step.n = 0;
	if (with)
		step_add_class(with, cpu, g);
	step_add_class(cls, cpu, f);
	step_run(cpu);
	return step_right(cls, NULL);
}

/* Rows that some event of the list can be tried on. */
static u64 rows_to_try(struct hwpmc_class *cls, unsigned int cpu)
{
	struct hwpmc_encoding enc;
	unsigned int n;
	u64 rows = 0;

	for (n = 0; n < HWPMC_TRIAL_EVENTS; n++) {
		hwpmc_trial_encode(cls, n, cpu, HWPMC_MODE_SC, &enc);
		rows |= enc.rows;
	}
	return rows & hwpmc_trial_rows(cls, cpu);
}

static bool lacks_unlisted(struct hwpmc_class *cls, unsigned int cpu, u64 counts)
{
	struct hwpmc_encoding enc;
	unsigned int ri;

	hwpmc_trial_encode(cls, HWPMC_TRIAL_EVENTS, cpu, HWPMC_MODE_SC, &enc);
	enc.rows &= counts;
	for (ri = 0; ri < cls->num; ri++)
		if (enc.rows & BIT_ULL(ri) &&
		    row_is_right(cls, cpu, ri, HWPMC_TRIAL_EVENTS, &enc, NULL))
			return false;
	return enc.rows;
}

/* Twice where not all do, for one may have been taken for a moment. */
static void try_together(struct hwpmc_class *cls, unsigned int cpu, struct finding *f)
{
	unsigned int i;

	for (i = 0; i < 2 && f->together != f->rows; i++) {
		u64 right = rows_together(cls, NULL, cpu, f, NULL);

		f->counts |= right;
		if (hweight64(right) > hweight64(f->together))
			f->together = right;
	}
}

static void try_class(struct hwpmc_class *cls, unsigned int cpu, struct finding *f)
{
	unsigned int ri;

	*f = (struct finding){ .rows = rows_to_try(cls, cpu) };
	f->misread = rows_misread(cls, cpu, hwpmc_trial_rows(cls, cpu));
	f->rows &= ~f->misread;
	try_events(cls, cpu, f);
	try_together(cls, cpu, f);
	for (ri = 0; ri < cls->num; ri++)
		if (f->rows & ~f->counts & BIT_ULL(ri) && row_counts(cls, cpu, ri, f->events))
			f->counts |= BIT_ULL(ri);
	f->counts &= ~f->exceed;
	f->together &= ~f->exceed;
	/* Fixed counters count one event each: which of the two it is cannot be said. */
	if (!f->events || !cls->ops->trial->event_bits)
		f->dead = 0;
	if (under_hypervisor() && !f->dead)
		f->only_listed = lacks_unlisted(cls, cpu, f->counts);
}

/* ---- all CPUs ---------------------------------------------------------------- */

/* Classes with one event a counter have a host's counters beside those of the others. */
static bool is_fixed(const struct hwpmc_class *cls)
{
	return !cls->ops->trial->event_bits;
}

/*
 * What the host has at a time. Events of programmable counters take the host's programmable
 * ones. A fixed counter that does not count beside all of those takes one of these as well.
 */
static void find_limit(struct hwpmc_class *cls, const struct finding *f,
		       struct hwpmc_class *fixed, const struct finding *g)
{
	u64 lacks = fixed ? g->counts & ~g->with_mate : 0;
	u32 limit = max(hweight64(f->together), 1ul);

	if (!f->counts || (f->together == f->counts && !lacks && !cls->ops->trial->pair_takes))
		return;
	if (!cls->at_once || limit < cls->at_once)
		cls->at_once = limit;
	cls->shared |= f->counts;
	if (!fixed)
		return;
	fixed->at_once = cls->at_once;
	fixed->shared |= lacks;
}

static void add_finding(struct hwpmc_class *cls, const struct finding *f)
{
	cls->found.still |= f->rows & ~f->counts;
	cls->found.misread |= f->misread;
	cls->found.filtered |= f->dead;
	cls->found.only_listed |= f->only_listed;
}

/* Is nothing wrong but what was wrong at the claim before? */
static bool is_known(const struct hwpmc_class *cls, const struct finding *f)
{
	return !(f->rows & ~f->counts & ~cls->before.still) &&
	       !(f->misread & ~cls->before.misread) && !(f->dead & ~cls->before.filtered) &&
	       (!f->only_listed || cls->before.only_listed);
}

/* False: this CPU is to be tried again. last: what is found is believed. */
static bool try_cpu(struct hwpmc_class *cls, struct hwpmc_class *fixed, unsigned int cpu, bool last)
{
	struct finding f, g = {};

	try_class(cls, cpu, &f);
	if (fixed)
		try_class(fixed, cpu, &g);
	if (!last && (!is_known(cls, &f) || (fixed && !is_known(fixed, &g))))
		return false;
	add_finding(cls, &f);
	if (fixed) {
		g.with_mate = rows_together(fixed, cls, cpu, &g, &f);
		add_finding(fixed, &g);
	}
	if (under_hypervisor() && !is_fixed(cls))
		find_limit(cls, &f, fixed, &g);
	return true;
}

/* Each CPU, since a hypervisor may give some less; else one of each kind of core. */
static void choose_cpus(struct cpumask *cpus)
{
	u32 kinds = 0;
	int cpu;

	cpumask_clear(cpus);
	for_each_online_cpu(cpu) {
		u32 kind = per_cpu_ptr(hwpmc_cpus, cpu)->kind ?: BIT(31);

		if (!hwpmc_cpu_is_admitted(cpu) || (kinds & kind && !under_hypervisor()))
			continue;
		kinds |= kind;
		cpumask_set_cpu(cpu, cpus);
	}
}

static struct cpumask cpus_to_try;	/* of try_cpus() alone: too large for its stack */

static void try_cpus(struct hwpmc_class *cls, struct hwpmc_class *fixed)
{
	unsigned int i;
	int cpu;

	choose_cpus(&cpus_to_try);
	for (i = 0; i < ARRAY_SIZE(pause_ms) && !cpumask_empty(&cpus_to_try); i++) {
		if (pause_ms[i])
			msleep(pause_ms[i]);
		for_each_cpu(cpu, &cpus_to_try)
			if (try_cpu(cls, fixed, cpu, i + 1 == ARRAY_SIZE(pause_ms)))
				cpumask_clear_cpu(cpu, &cpus_to_try);
	}
}

static void note_rows(struct hwpmc_class *cls, u32 why, u64 rows)
{
	hwpmc_class_forget_notes(cls, why);
	if (rows)
		hwpmc_class_note(cls, why, hweight64(rows), (u32)rows);
}

static void note_class(struct hwpmc_class *cls, unsigned int shared)
{
	const struct hwpmc_found *f = &cls->found;
	unsigned int n;

	note_rows(cls, HWPMC_WHY_ROW_STILL, f->still);
	note_rows(cls, HWPMC_WHY_ROW_MISREAD, f->misread);
	hwpmc_class_forget_notes(cls, HWPMC_WHY_EVENT_FILTERED);
	for (n = 0; n < HWPMC_TRIAL_EVENTS; n++)
		if (f->filtered & BIT(n))
			hwpmc_class_note(cls, HWPMC_WHY_EVENT_FILTERED,
					 (s32)cls->ops->trial->event[n].config, 0);
	hwpmc_class_forget_notes(cls, HWPMC_WHY_ONLY_LISTED);
	if (f->only_listed)
		hwpmc_class_note(cls, HWPMC_WHY_ONLY_LISTED, 0, 0);
	hwpmc_class_forget_notes(cls, HWPMC_WHY_ROWS_AT_ONCE);
	if (cls->shared && cls->at_once < shared)
		hwpmc_class_note(cls, HWPMC_WHY_ROWS_AT_ONCE, cls->at_once, (u32)cls->shared);
}

static void note_findings(struct hwpmc_class *cls, struct hwpmc_class *mate)
{
	unsigned int shared = hweight64(cls->shared) + (mate ? hweight64(mate->shared) : 0);

	note_class(cls, shared);
	if (mate)
		note_class(mate, shared);
}

static bool finds_fault(const struct hwpmc_class *cls)
{
	const struct hwpmc_found *f = &cls->found;

	return f->still || f->misread || f->filtered || f->only_listed;
}

void hwpmc_trial_counters(struct hwpmc_class *cls, struct hwpmc_class *mate)
{
	lockdep_assert_held(&hwpmc_lock);
	if (!cls->ops->trial || hwpmc_class_msr_fault(cls))
		return;
	if (mate && is_fixed(cls))
		swap(cls, mate);
	try_cpus(cls, mate);
	note_findings(cls, mate);
	/* The guest may be on another host by now. */
	if (finds_fault(cls) || (mate && finds_fault(mate)))
		hwpmc_trial_interrupt_forget();
}

/* ---- while the class is claimed ------------------------------------------------ */

/*
 * A single event is enough: the events that count are known. If the CPU goes offline, a
 * register faults or no event can be tried, nothing is known.
 */
static enum hwpmc_still try_again(struct hwpmc_class *cls, unsigned int cpu, unsigned int ri)
{
	struct hwpmc_encoding enc = { .rows = 0 };
	unsigned int n;

	for (n = 0; n < HWPMC_TRIAL_EVENTS && !(enc.rows & BIT_ULL(ri)); n++) {
		enc.rows = 0;
		if (!(cls->found.filtered & BIT(n)))
			hwpmc_trial_encode(cls, n, cpu, HWPMC_MODE_SC, &enc);
	}
	if (!(enc.rows & BIT_ULL(ri)))
		return HWPMC_STILL_UNKNOWN;
	step.n = 0;
	step_add(cls, ri, &enc.select, test_kind_of(cls, n - 1));
	if (step_count(cpu) || hwpmc_class_msr_fault(cls))
		return HWPMC_STILL_UNKNOWN;
	return step_right(cls, NULL) ? HWPMC_STILL_COUNTS : HWPMC_STILL;
}

static bool cpu_has_row(unsigned int cpu, const struct hwpmc_class *cls, unsigned int ri)
{
	return hwpmc_cpu_is_admitted(cpu) && hwpmc_trial_rows(cls, cpu) & BIT_ULL(ri);
}

static enum hwpmc_still row_on_cpu(struct hwpmc_class *cls, unsigned int cpu, unsigned int ri)
{
	return cpu_has_row(cpu, cls, ri) ? try_again(cls, cpu, ri) : HWPMC_STILL_UNKNOWN;
}

static unsigned int cpu_refused;	/* hwpmc_lock */

/* The CPU of the last refusal is tried first: if the row stands still there, no other CPU is
 * interrupted. */
bool hwpmc_trial_row(struct hwpmc_class *cls, unsigned int ri)
{
	enum hwpmc_still still;
	bool counts;
	int cpu;

	lockdep_assert_held(&hwpmc_lock);
	still = cpu_online(cpu_refused) ? row_on_cpu(cls, cpu_refused, ri) : HWPMC_STILL_UNKNOWN;
	if (still == HWPMC_STILL)
		return false;
	counts = still == HWPMC_STILL_COUNTS;
	for_each_online_cpu(cpu) {
		if (cpu == cpu_refused)
			continue;
		still = row_on_cpu(cls, cpu, ri);
		if (still == HWPMC_STILL) {
			cpu_refused = cpu;
			return false;
		}
		counts |= still == HWPMC_STILL_COUNTS;
	}
	return counts;
}

/* The rows of the class that are in order. */
static u64 known_rows(const struct hwpmc_class *cls)
{
	return hwpmc_class_rows(cls) >> cls->first & ~cls->found.still & ~cls->found.misread;
}

static void step_add_known(struct hwpmc_class *cls, unsigned int cpu)
{
	struct finding f = {
		.rows = known_rows(cls) & rows_to_try(cls, cpu),
		.dead = cls->found.filtered,
	};

	step_add_class(cls, cpu, &f);
}

/* All rows that are in order, counting on one CPU. Either class can be NULL. */
struct together {
	struct hwpmc_class *cls, *fixed;
	unsigned int lack;		/* rows that did not count */
	u64 shared, fixed_shared;	/* rows of the limit: of each class, */
	unsigned int most;		/* number of .rows that count at a time */
};

static void note_lack(struct together *t)
{
	unsigned int i;

	t->lack = 0;
	t->shared = t->cls ? known_rows(t->cls) : 0;
	t->fixed_shared = t->cls ? 0 : known_rows(t->fixed);
	for (i = 0; i < step.n; i++) {
		const struct trial_row *r = &step.at[i];

		if (r->counted * HWPMC_TRIAL_TURNS >= least_of(r->kind) * BESIDE_TURNS)
			continue;
		t->lack++;
		/* Fixed counters that count next to all have the host's own: see find_limit(). */
		if (r->row->cls == t->fixed)
			t->fixed_shared |= BIT_ULL(r->row->ri);
	}
	t->most = max_t(int, hweight64(t->shared) + hweight64(t->fixed_shared) - t->lack, 1);
}

/*
 * Twice where not all count, for one may have been taken for a moment. Returns false if nothing
 * is known.
 */
static bool try_beside(struct together *t, unsigned int cpu)
{
	struct together now = *t;
	unsigned int i;

	t->lack = UINT_MAX;
	for (i = 0; i < 2 && t->lack; i++) {
		step.n = 0;
		if (t->cls)
			step_add_known(t->cls, cpu);
		if (t->fixed)
			step_add_known(t->fixed, cpu);
		if (hwpmc_cpu_call(cpu, count_beside_irqoff, &step) ||
		    hwpmc_class_msr_fault(t->cls ?: t->fixed))
			return false;
		note_lack(&now);
		if (now.lack < t->lack)
			*t = now;
	}
	return true;
}

/*
 * A limit is a number and a set of rows, and neither is changed alone: the limit that the claim
 * has found may suffice for the rows that lack a counter here.
 */
static void limit_to(const struct together *t, struct hwpmc_class *cls, struct hwpmc_class *fixed)
{
	struct hwpmc_class *one = cls ?: fixed;
	unsigned int others = cls ? hweight64(t->shared & ~cls->shared) : 0;

	others += fixed ? hweight64(t->fixed_shared & ~fixed->shared) : 0;
	if (one->at_once && one->at_once + others <= t->most)
		return;
	if (!one->at_once || t->most < one->at_once)
		one->at_once = t->most;
	if (cls)
		cls->shared |= t->shared;
	if (!fixed)
		return;
	fixed->at_once = one->at_once;
	fixed->shared |= t->fixed_shared;
}

/* All do: one more, then, of those that have a limit. */
static void extend_limit(struct hwpmc_class *cls, struct hwpmc_class *fixed)
{
	cls->at_once++;
	if (fixed)
		fixed->at_once = cls->at_once;
}

static void find_limit_again(struct hwpmc_class *cls, struct hwpmc_class *fixed,
			     struct hwpmc_class *back, unsigned int ri)
{
	struct together t = { .cls = cls, .fixed = fixed };
	bool known = false, lack = false;
	int cpu;

	if (back->at_once && back == cls)
		cls->shared |= BIT_ULL(ri);
	for_each_online_cpu(cpu) {
		if (!cpu_has_row(cpu, back, ri) || !try_beside(&t, cpu))
			continue;
		known = true;
		lack |= t.lack;
		if (t.lack)
			limit_to(&t, cls, fixed);
	}
	if (known && !lack && back->at_once && back == cls)
		extend_limit(cls, fixed);
}

void hwpmc_trial_row_came_back(struct hwpmc_class *cls, unsigned int ri, struct hwpmc_class *mate)
{
	lockdep_assert_held(&hwpmc_lock);
	cls->found.still &= ~BIT_ULL(ri);
	if (is_fixed(cls))
		find_limit_again(mate, cls, cls, ri);
	else
		find_limit_again(cls, mate, cls, ri);
	note_findings(cls, mate);
}

u32 hwpmc_trial_why(const struct hwpmc_class *cls, const struct hwpmc_select *s)
{
	const struct hwpmc_trial *t = cls->ops->trial;
	unsigned int n;

	for (n = 0; cls->found.filtered && n < HWPMC_TRIAL_EVENTS; n++)
		if (cls->found.filtered & BIT(n) &&
		    !((s->sel ^ t->event[n].config) & t->event_bits))
			return HWPMC_WHY_EVENT_FILTERED;
	return cls->found.only_listed && !t->is_listed(s->sel) ? HWPMC_WHY_ONLY_LISTED : 0;
}

void hwpmc_trial_forget(struct hwpmc_class *cls)
{
	lockdep_assert_held(&hwpmc_lock);
	cls->before = cls->found;
	cls->found = (struct hwpmc_found){};
	cls->at_once = 0;
	cls->shared = 0;
}
