// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * counter.c - a vCPU's counters: brought up to date when somebody looks, and in
 * time for each overflow. Runs on the vCPU's own thread, but for the functions
 * named _any.
 */
#include <stdatomic.h>
#include <string.h>

#include "vpmu.h"

void counter_totals(struct vcpu *v, struct totals *t)
{
	struct board *b = board_of(v);

	for (int m = 0; m < MODES; m++) {
		t->insn[m] = retired(v, b, m);
		t->branch[m] = retired_branches(v, b, m);
		t->load[m] = b->load[m];
		t->store[m] = b->store[m];
	}
}

/* The same from any thread: exact if the vCPU does not run meanwhile. */
void counter_totals_any(struct vcpu *v, struct totals *t)
{
	unsigned int seq;

	do {
		while ((seq = atomic_load(&v->seq)) & 1)
			;
		counter_totals(v, t);
		atomic_thread_fence(memory_order_acquire);
	} while (seq != atomic_load(&v->seq));
}

/* Let the ticks until FIRE be others, without a change of the counts. */
void counter_shift_bias(struct vcpu *v, struct board *b, int mode,
			uint64_t ticks)
{
	atomic_fetch_add(&v->seq, 1);
	v->bias[mode] += ticks - (b->tick[mode] >> TICK_BITS);
	v->branch[mode] = retired_branches(v, b, mode);
	b->tick[mode] = ticks << TICK_BITS;
	atomic_fetch_add(&v->seq, 1);
}

uint64_t counter_total(const struct totals *t, const struct counter *c)
{
	return event_count(&c->ev, c->modes, t);
}

/* An odd counter of AMD's that is programmed so belongs to the even one before it. */
#define MERGE		(0xfULL << 32 | 0xff | 1 << 22)
#define UPPER_FULL	0xffffULL	/* the upper 16 of 64 bits are all that it has then */

bool counter_is_joined(const struct vcpu *v, int i)
{
	return cfg.amd && !(i & 1) && i + 1 < cfg.gp && v->evtsel[i + 1] == MERGE;
}

/* What a look at one counter gives: both of those that are joined. */
uint64_t counter_seen(const struct vcpu *v, int i)
{
	uint64_t val = v->ctr[i].val;

	return counter_is_joined(v, i) ? val | v->ctr[i + 1].val << cfg.width : val;
}

/* The lower one has passed its width: have both together overflowed? */
static bool carries_out(struct vcpu *v, int i)
{
	uint64_t *upper = &v->ctr[i + 1].val;

	if (!counter_is_joined(v, i))
		return true;
	*upper = (*upper + 1) & UPPER_FULL;
	return !*upper;
}

/* What a read of the counter would give now. */
uint64_t counter_now_any(struct vcpu *v, const struct counter *c)
{
	struct totals t;
	uint64_t val = c->val;

	if (!c->active)
		return val;
	counter_totals_any(v, &t);
	return (val + counter_total(&t, c) - c->raw) & cfg.width_mask;
}

static uint64_t status_bit(int i)
{
	return 1ULL << (i >= FIXED0 ? 32 + i - FIXED0 : i);
}

uint64_t counter_global_mask(const struct vcpu *v)
{
	return v->core->gp | (uint64_t)v->core->fixed << 32;
}

/* A counter has overflowed, and asks for an interrupt or not. */
void counter_note_overflow(struct vcpu *v, struct board *b, bool pmi)
{
	v->n_overflow++;
	if (pmi) {
		v->n_overflow_int++;
		inject_overflow(v, b);
		v->pmi_pending = true;
		v->skid_left = cfg.skid;
	}
}

/*
 * WRMSR of a counter. KNOB_SHORT: on some models one that is set nearer to its overflow than
 * so many events (bits 15:0), or to no multiple of so many (bits 31:16), does not overflow
 * as it should.
 */
void counter_set(struct vcpu *v, int i, uint64_t val)
{
	uint64_t least = v->knob[KNOB_SHORT] & 0xffff;
	uint64_t unit = v->knob[KNOB_SHORT] >> 16 & 0xffff;
	uint64_t left = -val & cfg.width_mask;

	v->ctr[i].val = val & manners_mask(v) & ~v->knob[KNOB_STUCK];
	v->ctr[i].short_set = left && (left < least || (unit && left % unit));
}

static bool loses_overflow(struct vcpu *v, struct counter *c)
{
	bool lost = c->short_set && c->pmi;

	c->short_set = false;
	v->n_short += lost;
	return lost;
}

static void note_overflow(struct vcpu *v, struct board *b, int i)
{
	if (loses_overflow(v, &v->ctr[i]))
		return;
	if (beside_has_record(v, i))
		return;
	v->global_status |= status_bit(i);
	trace(v, "OVERFLOW ctr=%d val=%" PRIx64, i, v->ctr[i].val);
	counter_note_overflow(v, b, v->ctr[i].pmi);
}

/* One event more, whatever the counter does. */
void counter_add_one(struct vcpu *v, struct board *b, int i)
{
	if (event_add(&v->ctr[i].val, 1, manners_mask(v)))
		note_overflow(v, b, i);
}

/* Bring every running counter up to date; note overflows. */
void counter_sync(struct vcpu *v, struct board *b)
{
	struct totals t;
	bool forget;

	if (cfg.p4) {
		p4_sync(v, b);
		return;
	}
	manners_arrive(v, b);
	forget = manners_forget(v);
	counter_totals(v, &t);
	for (int i = 0; i < MAX_CTR; i++) {
		struct counter *c = &v->ctr[i];
		uint64_t now, delta;

		if (!c->active)
			continue;
		now = counter_total(&t, c);
		delta = now - c->raw;
		c->raw = now;
		manners_counted(v, i, delta);
		delta += manners_added(v, i, delta);
		if (event_add(&c->val, delta, manners_mask(v)) && carries_out(v, i))
			note_overflow(v, b, i);
		if (forget)
			c->val = 0;
		c->val &= ~v->knob[KNOB_STUCK];
	}
	memset(v->entries, 0, sizeof(v->entries));
}

#define SEL_USR		(1ULL << 16)
#define SEL_OS		(1ULL << 17)
#define SEL_INT		(1ULL << 20)

static bool configure_general(struct vcpu *v, int i, uint64_t sel)
{
	struct counter *c = &v->ctr[i];

	c->ev = cfg.amd ? event_decode_amd(sel) : event_decode_intel(sel);
	if (c->ev.kind == EV_NONE && strict_lists(v, i, sel))
		c->ev = (struct event){ EV_INSN, 1 };
	c->modes = manners_modes(v, (sel & SEL_USR ? 1 << USER : 0) |
				    (sel & SEL_OS ? 1 << KERNEL : 0));
	c->pmi = sel & SEL_INT;
	c->instructions = (sel & 0xffff) == 0xc0;
	return sel & SEL_EN && (!cfg.amd || msr_amd_counts(v, sel));
}

/*
 * Fixed counter 3 counts slots, as many as instructions; 4, 5 and 6 bad speculation, the
 * front end's and retired slots. Only named machines have an event for them.
 */
static struct event fixed_event(int n)
{
	static const uint32_t div[MAX_FIXED] = { 1, 1, 1, 1, 64, 8, 1 };

	if (n >= 3 && !cfg.machine)
		return (struct event){ EV_NONE, 1 };
	return (struct event){ EV_INSN, div[n] };
}

static bool configure_fixed(struct vcpu *v, struct counter *c, int n, uint64_t ctl)
{
	c->ev = fixed_event(n);
	c->modes = manners_modes(v, (ctl & 2 ? 1 << USER : 0) |
				    (ctl & 1 ? 1 << KERNEL : 0));
	c->pmi = ctl & 8;
	c->instructions = !n;
	return ctl & 3;
}

/* Is it enabled? */
static bool configure(struct vcpu *v, int i)
{
	struct counter *c = &v->ctr[i];
	int n = i - FIXED0;
	bool en;

	if (i < FIXED0 && machine_has_gp(v, i))
		en = configure_general(v, i, v->evtsel[i]);
	else if (n >= 0 && machine_has_fixed(v, n))
		en = configure_fixed(v, c, n, v->fixed_ctrl >> (4 * n));
	else
		return false;
	return en && (cfg.version < 2 || v->global_ctrl & status_bit(i));
}

/* Recompute what each counter does, from the control registers. */
void counter_reconfigure(struct vcpu *v, struct board *b)
{
	struct totals t;

	if (cfg.p4)		/* done by each write of a register */
		return;
	counter_totals(v, &t);
	for (int i = 0; i < MAX_CTR; i++)
		v->ctr[i].enabled = configure(v, i);
	manners_share(v);
	for (int i = 0; i < MAX_CTR; i++) {
		struct counter *c = &v->ctr[i];

		c->active = c->enabled && c->modes && c->ev.kind != EV_NONE &&
			    manners_let_count(v, i, i < cfg.gp ? v->evtsel[i] : 0);
		c->raw = counter_total(&t, c);
	}
}

/* One that counts in these modes overflows after `need` instructions. */
void counter_deadline(uint8_t modes, uint64_t need, uint64_t left[MODES],
		      uint64_t *both)
{
	if (modes == (1 << KERNEL | 1 << USER))
		*both = MIN(*both, need);
	else
		left[modes == 1 << USER] = MIN(left[modes == 1 << USER], need);
}

/* Instructions of each mode after which some counter may have overflowed. */
static void deadlines(struct vcpu *v, struct board *b, int mode,
		      uint64_t left[MODES])
{
	uint64_t both = inject_until(v, b);

	for (int i = 0; i < MAX_CTR; i++) {
		struct counter *c = &v->ctr[i];
		uint64_t need;

		if (!c->active || !c->pmi)
			continue;
		need = counter_is_joined(v, i) && (v->ctr[i + 1].val & UPPER_FULL) != UPPER_FULL ? FAR :
		       event_until_overflow(&c->ev, c->val, manners_mask(v));
		counter_deadline(c->modes, MIN(need, FAR), left, &both);
	}
	if (cfg.p4)
		p4_deadlines(v, left, &both);
	if (cfg.ibs)
		both = MIN(both, ibs_until(v, b));
	if (both < FAR) {
		uint64_t other = both / 16;

		left[mode] = MIN(left[mode], both - other);
		left[!mode] = MIN(left[!mode], both ? MAX(other, 1) : 0);
	}
}

/*
 * Set both ticks so that FIRE comes no later than the first block boundary at
 * which some counter has overflowed.  Every event needs at least one
 * instruction (`div` of them for the derived ones), so for anything other than
 * instructions this is a lower bound, and the deadline is then set anew.  A
 * counter of both modes splits what is left between them, most of it to the
 * current mode.
 */
void counter_arm(struct vcpu *v, struct board *b, int mode)
{
	uint64_t left[MODES] = { FAR, FAR };

	deadlines(v, b, mode, left);
	if (v->patch.site || v->iret || v->line_watched || v->eilvt_read ||
	    v->esr_read)
		left[KERNEL] = left[USER] = 0;
	for (int m = 0; m < MODES; m++)
		counter_shift_bias(v, b, m, FIRE_TICKS - MIN(left[m], REACH));
}
