// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * sample.c - writes a record into the owner's ring for each overflow, and arms the
 * counter again. No other writer of this CPU can interrupt an NMI, so there the
 * record is filled in place behind what is reserved, and reserved afterwards. Outside
 * NMI (SOFT) it is built in scratch memory first, for an NMI may come in between.
 */
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/sched.h>

#include "../backends/x86_pmi.h"
#include "../core/owner.h"
#include "../core/stats.h"
#include "../debug/trace.h"
#include "../debug/tunables.h"
#include "callchain.h"
#include "expected_nmi.h"
#include "kgmon.h"
#include "log.h"
#include "nmi_decide.h"
#include "payload.h"
#include "sample.h"
#include "scratch.h"
#include "throttle.h"

/* Lengths of a CONTEXT and a PERIOD record, and of a sample with one frame. */
#define CONTEXT		sizeof(struct hwpmc_log_context)
#define PERIOD		sizeof(struct hwpmc_log_period)
#define SMALLEST	(sizeof(struct hwpmc_log_sample) + sizeof(u64))

/* ---- the counter --------------------------------------------------------- */

/* An armed counter runs from -n up: its highest bit is set until it overflows. */
static bool has_overflowed_nmi(const struct hwpmc_row_cpu *rc, u64 counter)
{
	return !(counter & (rc->mask ^ rc->mask >> 1));
}

/* The events that the counter can be armed for, where it should overflow after n. */
static u64 armed_events_nmi(const struct hwpmc_arming *arming, u64 n)
{
	u64 rest = max_t(u64, arming->unit, 1) - 1;

	return (max_t(u64, n, arming->least) + rest) & ~rest;
}

static inline u64 take_armed_nmi(struct hwpmc_row_cpu *rc, const struct hwpmc_class *cls)
{
	u64 n = min(rc->sample.period_left, cls->max_period);
	u64 armed = armed_events_nmi(&rc->pmc->sampling.arming, n);

	rc->sample.period_left -= n;
	rc->sample.excess = armed - n;
	return armed;
}

static void arm_nmi(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];
	u64 armed = take_armed_nmi(&c->row[nr], row->cls);

	row->cls->ops->row.write_nmi(row->cls, row->ri, -armed);
}

/* ---- rows of classes that have their own test of an overflow --------------- */

/* The static key keeps switches and overflows as they are on machines without such a class. */
static __always_inline const struct hwpmc_sampler *sampler_nmi(unsigned int nr)
{
	if (static_branch_unlikely(&hwpmc_has_samplers))
		return hwpmc_rows[nr].cls->ops->interrupt.sampler;
	return NULL;
}

/* May an interrupt of a stopped row arrive without an overflow? */
static bool has_late_nmi(unsigned int nr)
{
	return sampler_nmi(nr) && sampler_nmi(nr)->late_nmi;
}

static void rearm_nmi(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];

	sampler_nmi(nr)->rearm_nmi(row->cls, row->ri, take_armed_nmi(&c->row[nr], row->cls));
}

static bool shows_overflow_nmi(const struct hwpmc_cpu *c, unsigned int nr)
{
	const struct hwpmc_row *row = &hwpmc_rows[nr];

	if (unlikely(sampler_nmi(nr)))
		return sampler_nmi(nr)->overflowed_nmi(row->cls, row->ri);
	return has_overflowed_nmi(&c->row[nr], hwpmc_row_read_irqoff(row) & c->row[nr].mask);
}

/* The counter of a stopped row, or what a counter with as many events left would have. */
static u64 stopped_counter_irqoff(const struct hwpmc_cpu *c, unsigned int nr)
{
	const struct hwpmc_row *row = &hwpmc_rows[nr];
	u64 counter;

	if (unlikely(sampler_nmi(nr)))
		counter = -sampler_nmi(nr)->left_irqoff(row->cls, row->ri);
	else
		counter = hwpmc_row_read_irqoff(row);
	return counter & c->row[nr].mask;
}

/*
 * How many periods have ended with an overflow that happened `overshoot` events ago:
 * one; more if the interrupt was late or lost; none in the middle of a period that is
 * longer than the counter. Events after the last one's end are counted towards the
 * next period, and so are those that the counter was armed for in excess.
 */
static u64 count_periods_nmi(struct hwpmc_row_cpu *rc, u64 period, u64 overshoot)
{
	u64 n = 1;

	overshoot += rc->sample.excess;
	rc->sample.excess = 0;
	if (unlikely(overshoot < rc->sample.period_left)) {
		rc->sample.period_left -= overshoot;
		return 0;
	}
	overshoot -= rc->sample.period_left;
	if (unlikely(overshoot >= period)) {
		u64 missed = div64_u64(overshoot, period);

		n += missed;
		overshoot -= missed * period;
	}
	rc->sample.period_left = period - overshoot;
	return n;
}

/* Of the periods that end now. */
static u64 period_nmi(const struct hwpmc_cpu *c, unsigned int nr)
{
	return hwpmc_pmc_period(c->row[nr].pmc, c->phase[nr]);
}

/*
 * n periods have ended, and what they stand for is recorded: the next one may have another
 * length. It has begun already, so it is longer than what was counted of it.
 */
static void adapt_nmi(struct hwpmc_cpu *c, unsigned int nr, u64 n, u64 now)
{
	struct hwpmc_row_cpu *rc = &c->row[nr];
	struct hwpmc_phase *ph = c->phase[nr];
	u64 period = hwpmc_pmc_period(rc->pmc, ph), overshoot = period - rc->sample.period_left;
	u64 ticks = now - ph->since;

	if (unlikely(n > 1))
		ticks = div64_u64(ticks, n);
	ph->period = max(hwpmc_adapt_period(&rc->pmc->sampling.adapt, period, ticks), overshoot + 1);
	ph->since = now;
	rc->sample.period_left = ph->period - overshoot;
}

/* ---- the record ---------------------------------------------------------- */

/* An entry is kept for the mark between kernel and user. Where only one fits it is a
 * frame, for a chain of one has no mark. */
static unsigned int max_depth_nmi(const struct hwpmc_pmc *pmc, u64 room)
{
	u64 most = pmc->flags & HWPMC_F_CALLCHAIN ? hwpmc_callchaindepth : 1;
	u64 entries = 1 + (room - SMALLEST) / sizeof(u64);

	return entries <= HWPMC_CALLCHAIN_MARKS ? 1 :
		min(entries - HWPMC_CALLCHAIN_MARKS, most);
}

static size_t put_context_nmi(void *at, struct hwpmc_ring *ring, s32 pid, s32 tid,
			      u64 now)
{
	struct hwpmc_log_context *r = at;

	r->hdr = (struct hwpmc_log_hdr){
		.len = CONTEXT, .type = HWPMC_LOG_CONTEXT, .time = now,
	};
	r->pid = pid;
	r->tid = tid;
	ring->pid = pid;
	ring->tid = tid;
	return CONTEXT;
}

static size_t put_period_nmi(struct hwpmc_log_period *r, const struct hwpmc_pmc *pmc,
			     u64 period, u64 now)
{
	r->hdr = (struct hwpmc_log_hdr){
		.len = PERIOD, .type = HWPMC_LOG_PERIOD, .id = pmc->id, .time = now,
	};
	r->period = period;
	return PERIOD;
}

/* A function of its own, for the address of .flags: where it is taken the stack has a
 * canary, which a sample without a chain needs not write and check. */
struct chain {
	u32 n;
	u8 flags;
};

static noinline struct chain put_chain_nmi(struct hwpmc_log_sample *s,
					   struct hwpmc_pmc *pmc, struct pt_regs *regs,
					   u64 room)
{
	struct chain chain;

	chain.n = hwpmc_callchain_nmi(pmc, regs, s->pc, max_depth_nmi(pmc, room),
				      &chain.flags);
	return chain;
}

static size_t put_sample_nmi(struct hwpmc_log_sample *s, struct hwpmc_pmc *pmc,
			     struct pt_regs *regs, bool user, u64 room, u64 now)
{
	struct chain chain = { .n = 1, .flags = HWPMC_SAMPLE_USER };
	size_t len;

	if (likely(!(pmc->flags & HWPMC_F_CALLCHAIN) && user))
		s->pc[0] = regs->ip;
	else
		chain = put_chain_nmi(s, pmc, regs, room);
	/* Read nothing back: the owner may have mapped this and write to it. */
	len = sizeof(*s) + chain.n * sizeof(u64);
	s->hdr.len = len;
	s->hdr.type = HWPMC_LOG_CALLCHAIN;
	s->hdr.flags = chain.flags;
	s->hdr.id = pmc->id;
	s->hdr.time = now;
	return len;
}

/* Count n samples as dropped. */
static void drop_samples_nmi(struct hwpmc_ring *ring, const struct hwpmc_pmc *pmc,
			     unsigned int cause, u64 n, u64 period, u64 now)
{
	hwpmc_ring_drop_nmi(ring, cause, true, n, now);
	if (unlikely(hwpmc_pmc_adapts(pmc)))
		hwpmc_ring_drop_events_nmi(ring, n * period, now);
}

static void write_sample_nmi(struct hwpmc_ring *ring, struct hwpmc_pmc *pmc,
			     struct pt_regs *regs, u64 period, u64 now)
{
	s32 pid = hwpmc_owner_tgid_nr(pmc->owner, current);
	s32 tid = hwpmc_owner_tid_nr(pmc->owner, current);
	size_t head = hwpmc_pmc_adapts(pmc) ? PERIOD : 0, len = 0;
	u64 room;
	u8 *at;

	if (unlikely(ring->dropped) && hwpmc_ring_declare_nmi(ring, now))
		hwpmc_log_wake_nmi(pmc->owner->log);
	room = hwpmc_ring_room_nmi(ring);
	if (unlikely(ring->dropped || room < CONTEXT + SMALLEST + head)) {
		hwpmc_stat_inc(intr_bufferfull);
		drop_samples_nmi(ring, pmc, HWPMC_DROP_FULL, 1, period, now);
		return;
	}
	at = hwpmc_ring_at(ring, ring->reserved);
	if (unlikely(head))
		len = put_period_nmi((void *)at, pmc, period, now);
	if (unlikely(tid != ring->tid || pid != ring->pid))
		len += put_context_nmi(at + len, ring, pid, tid, now);
	len += put_sample_nmi((void *)(at + len), pmc, regs, user_mode(regs),
			      room - len, now);
	trace_hwpmc_sampling_sample(pmc, len);
	if (unlikely(hwpmc_ring_push_nmi(ring, len)))
		hwpmc_log_wake_nmi(pmc->owner->log);
}

/* ---- overflows ----------------------------------------------------------- */

/* n periods have ended, but where the program was then is not known. */
static void count_missed_nmi(struct hwpmc_row_cpu *rc, unsigned int cause, u64 n, u64 period,
			     u64 now)
{
	if (rc->sample.ring)
		drop_samples_nmi(rc->sample.ring, rc->pmc, cause, n, period, now);
	else
		hwpmc_kgmon_lost_nmi(n);
}

/* The row may not have stopped: then it overflows later and raises an NMI. */
static void mark_unstoppable_nmi(struct hwpmc_cpu *c, unsigned int nr)
{
	if (!shows_overflow_nmi(c, nr))
		c->unstoppable |= BIT_ULL(nr);
}

unsigned int hwpmc_sample_unstoppable_nmi(struct hwpmc_cpu *c)
{
	unsigned int nr, n = 0;

	for_each_row(nr, c->unstoppable) {
		if (!shows_overflow_nmi(c, nr))
			continue;
		c->unstoppable &= ~BIT_ULL(nr);
		n++;
	}
	return n;
}

/*
 * Its counter could not be written: left in c->sampling, it would look overflowed at
 * each NMI. The next stop or flush of its owner returns the error.
 */
static noinline void give_up_row_nmi(struct hwpmc_cpu *c, unsigned int nr)
{
	c->sampling &= ~BIT_ULL(nr);
	hwpmc_cpu_stop_nmi(c, nr);
	/* Not only at unload, before which its thread may run here for long. */
	mark_unstoppable_nmi(c, nr);
}

/*
 * Events since the overflow that belong to the periods after it. Where kernel mode is counted
 * the first ones are those of the way into the NMI, which would shorten each period; but where
 * there are more than that the NMI was late, behind another one or behind firmware, and the
 * periods that ended meanwhile are declared.
 */
#define LATE_EVENTS	20000

static u64 overshoot_nmi(const struct hwpmc_pmc *pmc, u64 period, u64 counter)
{
	if (pmc->sampling.carry_overshoot || unlikely(counter >= max_t(u64, period, LATE_EVENTS)))
		return counter;
	return 0;
}

static void handle_overflow_nmi(struct hwpmc_cpu *c, unsigned int nr, u64 counter,
				struct pt_regs *regs, u64 now)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);
	struct hwpmc_pmc *pmc = rc->pmc;
	u64 period, n;

	/* An RDPMC that faults reads as an overflow. */
	if (unlikely(READ_ONCE(hwpmc_msr_faulted))) {
		give_up_row_nmi(c, nr);
		return;
	}
	period = period_nmi(c, nr);
	n = count_periods_nmi(rc, period, overshoot_nmi(pmc, period, counter));
	if (likely(n)) {
		if (likely(rc->sample.ring))
			write_sample_nmi(rc->sample.ring, pmc, regs, period, now);
		else
			hwpmc_kgmon_hit_nmi(regs);
		if (unlikely(n > 1))
			count_missed_nmi(rc, c->throttled ? HWPMC_DROP_PAUSED : HWPMC_DROP_LATE,
					 n - 1, period, now);
		if (unlikely(hwpmc_pmc_adapts(pmc)))
			adapt_nmi(c, nr, n, now);
	}
	arm_nmi(c, nr);
	if (unlikely(READ_ONCE(hwpmc_msr_faulted)))
		give_up_row_nmi(c, nr);
}

/* ---- overflows with a payload ------------------------------------------- */

/*
 * The chain of a sample with a payload. The interrupt came later than the event: if in the other
 * mode, its frames are not those of the instruction.
 */
static struct chain put_exact_chain_nmi(struct hwpmc_log_sample *s, struct hwpmc_pmc *pmc,
					struct pt_regs *regs,
					const struct hwpmc_payload *p, u64 room)
{
	struct chain chain = put_chain_nmi(s, pmc, regs, room);
	bool user = !hwpmc_payload_is_kernel(p->pc);

	if (!p->exact)
		return chain;
	if (!(chain.flags & HWPMC_SAMPLE_USER) == user)
		chain = (struct chain){
			.n = 1, .flags = user ? HWPMC_SAMPLE_USER :
				pmc->privileged ? 0 : HWPMC_SAMPLE_HIDDEN,
		};
	s->pc[0] = hwpmc_payload_shows_address(p, pmc->privileged) ? p->pc : HWPMC_PC_HIDDEN;
	return chain;
}

/* Writes the PERIOD, CONTEXT and PRECISE records of a sample; `len` is that of the last one, 0:
 * none. Returns the place behind them. */
static void *put_payload_nmi(void *at, struct hwpmc_ring *ring, const struct hwpmc_pmc *pmc,
			     const struct hwpmc_payload *p, size_t len, bool context,
			     u64 period, u64 now)
{
	if (hwpmc_pmc_adapts(pmc))
		at += put_period_nmi(at, pmc, period, now);
	if (context)
		at += put_context_nmi(at, ring, hwpmc_owner_tgid_nr(pmc->owner, current),
				      hwpmc_owner_tid_nr(pmc->owner, current), now);
	if (len)
		hwpmc_payload_put(at, p, pmc->id, len, pmc->privileged, now);
	return at + len;
}

static size_t put_payload_sample_nmi(struct hwpmc_log_sample *s, struct hwpmc_pmc *pmc,
				     struct pt_regs *regs, const struct hwpmc_payload *p,
				     u64 room, u64 now)
{
	struct chain chain = put_exact_chain_nmi(s, pmc, regs, p, room);
	size_t len = sizeof(*s) + chain.n * sizeof(u64);

	s->hdr = (struct hwpmc_log_hdr){
		.len = len, .type = HWPMC_LOG_CALLCHAIN, .flags = chain.flags, .id = pmc->id,
		.time = now,
	};
	return len;
}

typedef void write_fn(struct hwpmc_ring *ring, struct hwpmc_pmc *pmc, struct pt_regs *regs,
		      const struct hwpmc_payload *p, u64 period, u64 now);

/* In place, as write_sample_nmi(). */
static void write_payload_nmi(struct hwpmc_ring *ring, struct hwpmc_pmc *pmc,
			      struct pt_regs *regs, const struct hwpmc_payload *p, u64 period,
			      u64 now)
{
	void *begin, *at;
	size_t len;
	size_t words = hwpmc_payload_bytes(p, pmc->flags, pmc->privileged);
	bool context = ring->tid != hwpmc_owner_tid_nr(pmc->owner, current) ||
		       ring->pid != hwpmc_owner_tgid_nr(pmc->owner, current);
	u64 room;

	if (unlikely(ring->dropped) && hwpmc_ring_declare_nmi(ring, now))
		hwpmc_log_wake_nmi(pmc->owner->log);
	room = hwpmc_ring_room_nmi(ring);
	if (unlikely(ring->dropped || room < PERIOD + CONTEXT + words + SMALLEST)) {
		drop_samples_nmi(ring, pmc, HWPMC_DROP_FULL, 1, period, now);
		hwpmc_stat_inc(intr_bufferfull);
		return;
	}
	begin = hwpmc_ring_at(ring, ring->reserved);
	at = put_payload_nmi(begin, ring, pmc, p, words, context, period, now);
	len = at - begin;
	len += put_payload_sample_nmi(at, pmc, regs, p, room - len, now);
	trace_hwpmc_sampling_sample(pmc, len);
	if (hwpmc_ring_push_nmi(ring, len))
		hwpmc_log_wake_nmi(pmc->owner->log);
}

/* The sample, or that it was not of a mode that is sampled. */
static void record_payload_nmi(struct hwpmc_row_cpu *rc, unsigned int nr, struct pt_regs *regs,
			       write_fn *write, u64 period, u64 now)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];
	struct hwpmc_pmc *pmc = rc->pmc;
	struct hwpmc_payload p;

	memset(&p, 0, offsetof(struct hwpmc_payload, word));
	sampler_nmi(nr)->payload_nmi(row->cls, row->ri, pmc->flags, &p);
	if (hwpmc_payload_is_filtered(&p, pmc->caps, regs && user_mode(regs))) {
		if (rc->sample.ring)
			drop_samples_nmi(rc->sample.ring, pmc, HWPMC_DROP_FILTERED, 1, period, now);
	} else if (!rc->sample.ring) {
		if (regs)
			hwpmc_kgmon_hit_nmi(regs);
	} else {
		if (!pmc->privileged)
			hwpmc_payload_restrict(&p);
		write(rc->sample.ring, pmc, regs, &p, period, now);
	}
}

/* Declares the overflows that the hardware lost before this one. They are not measured by events:
 * each was a period. Returns their number. */
static u64 declare_lost_nmi(struct hwpmc_row_cpu *rc, unsigned int nr, u64 period, u64 now)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];
	u64 lost = 0;

	if (sampler_nmi(nr)->lost_nmi)
		lost = sampler_nmi(nr)->lost_nmi(row->cls, row->ri);
	if (lost && rc->sample.ring)
		drop_samples_nmi(rc->sample.ring, rc->pmc, HWPMC_DROP_UNCOUNTED, lost, period, now);
	return lost;
}

/* Returns the number of periods that have ended. */
static u64 handle_payload_nmi(struct hwpmc_cpu *c, unsigned int nr, struct pt_regs *regs,
			      write_fn *write, u64 now)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);
	u64 period = period_nmi(c, nr), lost = declare_lost_nmi(rc, nr, period, now), n;

	n = count_periods_nmi(rc, period, 0);
	if (n)
		record_payload_nmi(rc, nr, regs, write, period, now);
	if (n > 1)
		count_missed_nmi(rc, HWPMC_DROP_LATE, n - 1, period, now);
	if (n && hwpmc_pmc_adapts(rc->pmc))
		adapt_nmi(c, nr, n + lost, now);
	rearm_nmi(c, nr);
	return n + lost;
}

unsigned int hwpmc_sample_payloads_nmi(struct hwpmc_cpu *c, u64 rows,
				       struct pt_regs *regs, u64 now)
{
	unsigned int nr, handled = 0;

	for_each_row(nr, rows) {
		if (!shows_overflow_nmi(c, nr))
			continue;
		handled++;
		handle_payload_nmi(c, nr, regs, write_payload_nmi, now);
		if (unlikely(hwpmc_class_msr_fault(hwpmc_rows[nr].cls)))
			give_up_row_nmi(c, nr);
	}
	return handled;
}

/* ---- the NMI -------------------------------------------------------------- */

bool hwpmc_sample_any_nmi(const struct hwpmc_cpu *c)
{
	unsigned int nr;

	for_each_row(nr, READ_ONCE(c->sampling))
		if (has_overflowed_nmi(&c->row[nr], hwpmc_rdpmc(hwpmc_rows[nr].rdpmc)))
			return true;
	return false;
}

unsigned int hwpmc_sample_all_nmi(struct hwpmc_cpu *c, struct pt_regs *regs,
				  u64 now)
{
	unsigned int nr, handled = 0;

	for_each_row(nr, READ_ONCE(c->sampling)) {
		struct hwpmc_row *row = &hwpmc_rows[nr];
		u64 counter;

		counter = hwpmc_rdpmc(row->rdpmc) & c->row[nr].mask;
		if (!has_overflowed_nmi(&c->row[nr], counter))
			continue;
		handled++;
		/* Before the row is armed: an overflow after that is a new one. */
		if (row->cls->ops->interrupt.ack_nmi)
			row->cls->ops->interrupt.ack_nmi(row->cls, BIT_ULL(row->ri));
		handle_overflow_nmi(c, nr, counter, regs, now);
	}
	return handled;
}

static void write_sample_irqoff(struct hwpmc_ring *ring, struct hwpmc_pmc *pmc,
				struct pt_regs *regs, u64 period, u64 now)
{
	struct hwpmc_scratch *s = this_cpu_ptr(hwpmc_scratch);
	s32 pid = hwpmc_owner_tgid_nr(pmc->owner, current);
	s32 tid = hwpmc_owner_tid_nr(pmc->owner, current);
	size_t skip = hwpmc_pmc_adapts(pmc) ? 0 : PERIOD, len;
	void *at;

	len = put_sample_nmi((void *)&s->hdr, pmc, regs, regs && user_mode(regs),
			     sizeof(s->hdr) + sizeof(s->pc), now);
	len += PERIOD + CONTEXT - skip;
	at = hwpmc_log_reserve_sample(pmc->owner->log, len);
	if (!at) {
		if (hwpmc_pmc_adapts(pmc))
			hwpmc_ring_drop_events_nmi(ring, period, now);
		return;
	}
	trace_hwpmc_sampling_sample(pmc, len);
	put_period_nmi(&s->period, pmc, period, now);
	put_context_nmi(&s->context, ring, pid, tid, now);
	memcpy(at, (u8 *)s + skip, len);
	hwpmc_log_commit_tick_irqoff(pmc->owner->log);
}

/* The cause of periods that have ended without a sample: enum hwpmc_drop_cause. */
static unsigned int missed_cause_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	return hwpmc_throttle_take_irqoff(nr) ? HWPMC_DROP_PAUSED : HWPMC_DROP_LATE;
}

static void write_payload_irqoff(struct hwpmc_ring *ring, struct hwpmc_pmc *pmc,
				 struct pt_regs *regs, const struct hwpmc_payload *p, u64 period,
				 u64 now)
{
	struct hwpmc_scratch *s = this_cpu_ptr(hwpmc_scratch);
	size_t words = hwpmc_payload_bytes(p, pmc->flags, pmc->privileged);
	size_t sample, head = (hwpmc_pmc_adapts(pmc) ? PERIOD : 0) + CONTEXT + words;
	void *at;

	sample = put_payload_sample_nmi((void *)&s->hdr, pmc, regs, p,
					sizeof(s->hdr) + sizeof(s->pc), now);
	at = hwpmc_log_reserve_sample(pmc->owner->log, head + sample);
	if (!at) {
		if (hwpmc_pmc_adapts(pmc))
			hwpmc_ring_drop_events_nmi(ring, period, now);
		return;
	}
	trace_hwpmc_sampling_sample(pmc, head + sample);
	at = put_payload_nmi(at, ring, pmc, p, words, true, period, now);
	memcpy(at, &s->hdr, sample);
	hwpmc_log_commit_tick_irqoff(pmc->owner->log);
}

/* No counter counts on in a pause: each overflow is declared as dropped where it happens. */
static void count_paused_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 now)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);
	u64 period = period_nmi(c, nr);

	hwpmc_throttle_take_irqoff(nr);
	count_missed_nmi(rc, HWPMC_DROP_PAUSED, count_periods_nmi(rc, period, 0), period, now);
	rearm_nmi(c, nr);
}

void hwpmc_sample_payload_irqoff(struct hwpmc_cpu *c, unsigned int nr, struct pt_regs *regs)
{
	u64 began = hwpmc_cpu_time_nmi(), now = hwpmc_log_time_at_nmi(began);

	lockdep_assert_irqs_disabled();
	if (unlikely(hwpmc_throttle_holds_irqoff(c, nr, began))) {
		count_paused_irqoff(c, nr, now);
		return;
	}
	if (handle_payload_nmi(c, nr, regs, write_payload_irqoff, now))
		hwpmc_stat_inc(intr_processed);
	hwpmc_throttle_tick_irqoff(c, nr, began);
}

void hwpmc_sample_overflow_irqoff(struct hwpmc_cpu *c, unsigned int nr,
				  struct pt_regs *regs, u64 overshoot)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);
	u64 n, period, began = hwpmc_cpu_time_nmi(), now = hwpmc_log_time_at_nmi(began);
	unsigned int cause;

	lockdep_assert_irqs_disabled();
	if (unlikely(hwpmc_throttle_holds_irqoff(c, nr, began)))
		return;
	cause = missed_cause_irqoff(c, nr);
	period = period_nmi(c, nr);
	n = count_periods_nmi(rc, period, overshoot);
	if (n && rc->sample.ring)
		write_sample_irqoff(rc->sample.ring, rc->pmc, regs, period, now);
	else if (n && regs)
		hwpmc_kgmon_hit_nmi(regs);
	if (n > 1)
		count_missed_nmi(rc, cause, n - 1, period, now);
	if (n && hwpmc_pmc_adapts(rc->pmc))
		adapt_nmi(c, nr, n, now);
	if (n)
		hwpmc_stat_inc(intr_processed);
	arm_nmi(c, nr);
	hwpmc_throttle_tick_irqoff(c, nr, began);
}

/* ---- arming and disarming ------------------------------------------------ */

/* Has an access to the row's hardware faulted since it was claimed? */
static bool has_msr_fault(unsigned int nr)
{
	if (unlikely(sampler_nmi(nr)))
		return hwpmc_rows[nr].cls->nmi && hwpmc_class_msr_fault(hwpmc_rows[nr].cls);
	return READ_ONCE(hwpmc_msr_faulted) && hwpmc_rows[nr].cls->nmi;
}

/*
 * The counter counts on in a pause, armed for so much more that it raises no NMI. The unload of
 * the row declares the periods that ended in the pause. The counter is stopped between the read
 * and the write, by the NMI that began the pause or here, so no event is lost there. A row of a
 * class with a struct hwpmc_sampler stays stopped: it cannot be armed for more than its period.
 */
void hwpmc_sample_hold_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);
	u64 most = armed_events_nmi(&rc->pmc->sampling.arming, row->cls->max_period / 2), left;

	lockdep_assert_irqs_disabled();
	if (rc->shadow.sel)
		hwpmc_cpu_stop_nmi(c, nr);
	if (unlikely(sampler_nmi(nr)))
		return;
	left = -hwpmc_row_read_irqoff(row) & rc->mask;
	/* An overflow without an NMI is found when the row is disarmed. */
	if (has_msr_fault(nr) || has_overflowed_nmi(rc, -left))
		return;
	if (left < most) {
		rc->sample.excess += most - left;
		row->cls->ops->row.write_nmi(row->cls, row->ri, -most);
	}
	hwpmc_cpu_program_irqoff(c, nr, &rc->pmc->select);
}

void hwpmc_sample_load_irqoff(struct hwpmc_cpu *c, unsigned int nr,
			      struct hwpmc_pmc *pmc, struct hwpmc_phase *ph)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);

	lockdep_assert_irqs_disabled();
	/* The row may still count for the thread that ran here before. */
	if (rc->shadow.sel)
		hwpmc_cpu_stop_nmi(c, nr);
	rc->kind = HWPMC_SLICE_SAMPLE;
	rc->sample.ring = pmc->flags & HWPMC_F_KGMON ? NULL :
		   hwpmc_log_ring(pmc->owner->log);
	rc->sample.period_left = ph->left ?: hwpmc_pmc_period(pmc, ph);
	if (unlikely(hwpmc_pmc_adapts(pmc)))
		ph->since = hwpmc_log_time_nmi() - ph->since;
	c->phase[nr] = ph;
	WRITE_ONCE(rc->pmc, pmc);
	/* Hardware that faults may not stop either: its NMI would have no owner. */
	if (unlikely(has_msr_fault(nr)))
		return;
	if (unlikely(sampler_nmi(nr)))
		rearm_nmi(c, nr);
	else
		arm_nmi(c, nr);
	/* hwpmc_sample_all_nmi() finds all of the above once the bit is set. */
	barrier();
	if (unlikely(has_msr_fault(nr)))
		return;
	if (likely(hwpmc_rows[nr].cls->nmi))
		c->sampling |= BIT_ULL(nr);
	else
		c->ticking |= BIT_ULL(nr);
	if (likely(!(hwpmc_is_throttled(c) && c->sampling & BIT_ULL(nr))))
		hwpmc_cpu_program_irqoff(c, nr, &pmc->select);
	else
		hwpmc_throttle_loaded_irqoff(c, nr);
}

/* What a counter shows after it was told to stop. */
enum stopped {
	STOPPED,	/* before an overflow: no NMI will come for it */
	OVERFLOWED,	/* its NMI is on its way and will find nothing */
	UNSTOPPABLE,	/* an MSR faults: it may run on, and overflow later */
};

static enum stopped how_stopped_irqoff(const struct hwpmc_row_cpu *rc, unsigned int nr,
				       u64 counter)
{
	if (unlikely(hwpmc_class_msr_fault(hwpmc_rows[nr].cls)))
		return UNSTOPPABLE;
	return unlikely(has_overflowed_nmi(rc, counter)) ? OVERFLOWED : STOPPED;
}

/* Where the program was at this end of a period is not known any more. */
static void count_late_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 overshoot)
{
	unsigned int cause = missed_cause_irqoff(c, nr);
	struct hwpmc_row_cpu *rc = &c->row[nr];
	u64 period = period_nmi(c, nr), now, n;

	n = count_periods_nmi(rc, period, overshoot);
	if (!n)
		return;
	now = hwpmc_log_time_nmi();
	count_missed_nmi(rc, cause, n, period, now);
	if (hwpmc_pmc_adapts(rc->pmc))
		adapt_nmi(c, nr, n, now);
}

static void count_overflow_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 overshoot)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];

	if (unlikely(sampler_nmi(nr)))
		declare_lost_nmi(&c->row[nr], nr, period_nmi(c, nr), hwpmc_log_time_nmi());
	if (row->cls->ops->interrupt.ack_nmi)
		row->cls->ops->interrupt.ack_nmi(row->cls, BIT_ULL(row->ri));
	count_late_irqoff(c, nr, overshoot);
}

/*
 * left: events to the overflow. Periods may have ended before it, where the counter was armed
 * for more: their samples would have been late, or sampling was paused. They are missed.
 */
static u64 stopped_period_left_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 left)
{
	struct hwpmc_row_cpu *rc = &c->row[nr];
	u64 excess = rc->sample.excess;

	if (likely(left > excess))
		return rc->sample.period_left + left - excess;
	rc->sample.excess = 0;
	count_late_irqoff(c, nr, excess - left);
	return rc->sample.period_left;
}

/* A row was stopped before an overflow at `at`. */
static void settle_late_nmi_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 at, u64 before)
{
	if (unlikely(has_late_nmi(nr)))
		hwpmc_expected_renew_nmi(c, at, before);
	else
		hwpmc_expected_take_back_irqoff(c, at, before);
}

void hwpmc_sample_unload_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);
	struct hwpmc_phase *ph = c->phase[nr];
	u64 before, counter, now = hwpmc_log_time_nmi();
	bool late = has_late_nmi(nr);

	lockdep_assert_irqs_disabled();
	if (likely(!late) && rc->shadow.sel)
		hwpmc_cpu_stop_nmi(c, nr);
	before = hwpmc_expected_begin_irqoff(c, now);
	/* handle_nmi() finds the row armed or the NMI expected, if not both. */
	barrier();
	/* This stop clears the overflow as well, so that the NMI would find none. */
	if (unlikely(late) && rc->shadow.sel)
		hwpmc_cpu_stop_nmi(c, nr);
	c->sampling &= ~BIT_ULL(nr);
	c->ticking &= ~BIT_ULL(nr);
	/* hwpmc_sample_all_nmi() writes the counters of armed rows: from here on it
	 * leaves this one alone. */
	barrier();
	counter = stopped_counter_irqoff(c, nr);
	switch (how_stopped_irqoff(rc, nr, counter)) {
	case UNSTOPPABLE:
		ph->left = 0;
		mark_unstoppable_nmi(c, nr);
		break;
	case OVERFLOWED:
		/* An event of the kernel that was counted in an NMI sends none. */
		if (likely(hwpmc_rows[nr].cls->nmi))
			hwpmc_expected_keep_irqoff(c, now, before);
		else
			hwpmc_expected_take_back_irqoff(c, now, before);
		count_overflow_irqoff(c, nr, counter);
		ph->left = rc->sample.period_left;
		break;
	case STOPPED:
		ph->left = stopped_period_left_irqoff(c, nr, -counter & rc->mask);
		settle_late_nmi_irqoff(c, nr, now, before);
		break;
	}
	if (unlikely(hwpmc_pmc_adapts(rc->pmc)))
		ph->since = hwpmc_log_time_nmi() - ph->since;
	if (unlikely(!hwpmc_rows[nr].cls->nmi || hwpmc_is_throttled(c)))
		hwpmc_throttle_unload_irqoff(c, nr);
	rc->kind = HWPMC_SLICE_COUNT;
	smp_store_release(&rc->pmc, NULL);	/* A: hwpmc_pmc_read() */
}

bool hwpmc_sample_has_overflowed_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	lockdep_assert_irqs_disabled();
	return shows_overflow_nmi(c, nr);
}

void hwpmc_sample_restart_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_pmc *pmc = hwpmc_row_cpu(c, nr)->pmc;

	hwpmc_sample_unload_irqoff(c, nr);
	hwpmc_sample_load_irqoff(c, nr, pmc, c->phase[nr]);
}
