// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * sample.c - from an overflow to a record in the owner's ring, and the counter
 * armed again. In NMI, where nothing of this CPU's writers runs on before we are
 * done: so the record is filled in place, behind what is reserved, and only then
 * taken. Outside NMI (SOFT) it is built aside, as an NMI may come in between.
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
#include "kgmon.h"
#include "log.h"
#include "sample.h"
#include "scratch.h"
#include "throttle.h"

/* A CONTEXT record, then the sample. */
#define CONTEXT		sizeof(struct hwpmc_log_context)
#define SMALLEST	(sizeof(struct hwpmc_log_sample) + sizeof(u64))

/* ---- the counter --------------------------------------------------------- */

static bool has_overflowed(const struct hwpmc_row_cpu *rc, u64 counter)
{
	return !(counter & (rc->mask ^ rc->mask >> 1));
}

static void arm_nmi(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];
	struct hwpmc_row_cpu *rc = &c->row[nr];
	u64 n = min(rc->period_left, row->cls->max_period);

	rc->period_left -= n;
	row->cls->ops->write_nmi(row->cls, row->ri, -n);
}

/*
 * How many periods ended with this overflow, that many events ago: one, unless the
 * interrupt was late or lost; none in the middle of a period that is longer than
 * the counter. What is beyond the last belongs to the next period.
 */
static u64 periods_over(struct hwpmc_row_cpu *rc, u64 overshoot)
{
	u64 period = rc->pmc->period, n = 1;

	if (unlikely(overshoot < rc->period_left)) {
		rc->period_left -= overshoot;
		return 0;
	}
	overshoot -= rc->period_left;
	if (unlikely(overshoot >= period)) {
		u64 more = div64_u64(overshoot, period);

		n += more;
		overshoot -= more * period;
	}
	rc->period_left = period - overshoot;
	return n;
}

/* ---- the record ---------------------------------------------------------- */

/* Where there is room for one entry alone there will be no mark beside it. */
static unsigned int depth_of(const struct hwpmc_pmc *pmc, u64 room)
{
	u64 most = pmc->flags & HWPMC_F_CALLCHAIN ? hwpmc_callchaindepth : 1;

	return clamp_t(u64, (room - SMALLEST) / sizeof(u64), 1, most);
}

static size_t put_context(void *at, struct hwpmc_ring *ring, s32 pid, s32 tid,
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

static size_t put_sample_nmi(struct hwpmc_log_sample *s, struct hwpmc_pmc *pmc,
			     struct pt_regs *regs, bool user, u64 room, u64 now)
{
	unsigned int n;
	size_t len;
	u8 flags;

	if (likely(!(pmc->flags & HWPMC_F_CALLCHAIN) && user)) {
		flags = HWPMC_SAMPLE_USER;
		s->pc[0] = regs->ip;
		n = 1;
	} else {
		n = hwpmc_callchain_nmi(pmc, regs, s->pc, depth_of(pmc, room),
					&flags);
	}
	/* Nothing is read back: the owner may write here at the same time. */
	len = sizeof(*s) + n * sizeof(u64);
	s->hdr.len = len;
	s->hdr.type = HWPMC_LOG_CALLCHAIN;
	s->hdr.flags = flags;
	s->hdr.id = pmc->id;
	s->hdr.time = now;
	return len;
}

static void write_nmi(struct hwpmc_ring *ring, struct hwpmc_pmc *pmc,
		      struct pt_regs *regs, u64 now)
{
	s32 pid = hwpmc_owner_tgid_nr(pmc->owner, current);
	s32 tid = hwpmc_owner_tid_nr(pmc->owner, current);
	size_t len = 0;
	u64 room;
	u8 *at;

	if (unlikely(ring->dropped))
		hwpmc_ring_declare(ring, now);
	room = hwpmc_ring_room(ring);
	if (unlikely(ring->dropped || room < CONTEXT + SMALLEST)) {
		hwpmc_stat_inc(intr_bufferfull);
		hwpmc_ring_drop(ring, HWPMC_DROP_FULL, true, 1, now);
		return;
	}
	at = hwpmc_ring_at(ring, ring->reserved);
	if (unlikely(tid != ring->tid || pid != ring->pid))
		len = put_context(at, ring, pid, tid, now);
	len += put_sample_nmi((void *)(at + len), pmc, regs, user_mode(regs),
			      room - len, now);
	trace_hwpmc_sampling_sample(pmc, len);
	if (unlikely(hwpmc_ring_push_nmi(ring, len)))
		hwpmc_log_wake_irqoff(pmc->owner->log);
}

/* ---- overflows ----------------------------------------------------------- */

/* Periods that have ended nobody knows where. */
static void missed_nmi(struct hwpmc_row_cpu *rc, u64 n, u64 now)
{
	if (rc->ring)
		hwpmc_ring_drop(rc->ring, HWPMC_DROP_LATE, true, n, now);
	else
		hwpmc_kgmon_late_nmi(n);
}

/* Perhaps it goes on, armed: it would overflow once more. */
static void mark_unstoppable_nmi(struct hwpmc_cpu *c, unsigned int nr, u64 counter)
{
	if (!has_overflowed(&c->row[nr], counter & c->row[nr].mask))
		c->unstoppable |= BIT_ULL(nr);
}

unsigned int hwpmc_sample_unstoppable_nmi(struct hwpmc_cpu *c)
{
	unsigned int n = 0;
	u64 rows;

	for (rows = c->unstoppable; rows; rows &= rows - 1) {
		unsigned int nr = __ffs64(rows);
		u64 counter = hwpmc_row_read_irqoff(&hwpmc_rows[nr]);

		if (!has_overflowed(&c->row[nr], counter & c->row[nr].mask))
			continue;
		c->unstoppable &= ~BIT_ULL(nr);
		n++;
	}
	return n;
}

/* Not armed again, it would look as if it had overflowed at each NMI. Its owner
 * hears of it when it stops or flushes. */
static void give_up_nmi(struct hwpmc_cpu *c, unsigned int nr)
{
	c->sampling &= ~BIT_ULL(nr);
	hwpmc_cpu_program_irqoff(c, nr, NULL);
	/* Its thread may be here for long yet. */
	mark_unstoppable_nmi(c, nr, hwpmc_row_read_irqoff(&hwpmc_rows[nr]));
}

static void overflow_nmi(struct hwpmc_cpu *c, unsigned int nr, u64 counter,
			 struct pt_regs *regs, u64 now)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);
	struct hwpmc_pmc *pmc = rc->pmc;
	u64 n;

	/* With kernel mode counted, what came meanwhile is what NMIs do. */
	n = periods_over(rc, pmc->carry_overshoot ? counter : 0);
	if (likely(n)) {
		if (likely(rc->ring))
			write_nmi(rc->ring, pmc, regs, now);
		else
			hwpmc_kgmon_hit_nmi(regs);
		if (unlikely(n > 1))
			missed_nmi(rc, n - 1, now);
	}
	if (likely(!READ_ONCE(hwpmc_msr_faulted)))
		arm_nmi(c, nr);
	if (unlikely(READ_ONCE(hwpmc_msr_faulted)))
		give_up_nmi(c, nr);
}

unsigned int hwpmc_sample_all_nmi(struct hwpmc_cpu *c, struct pt_regs *regs,
				  u64 now)
{
	u64 rows = READ_ONCE(c->sampling);
	unsigned int handled = 0;

	for (; rows; rows &= rows - 1) {
		unsigned int nr = __ffs64(rows);
		struct hwpmc_row *row = &hwpmc_rows[nr];
		u64 counter;

		counter = hwpmc_rdpmc(row->rdpmc) & c->row[nr].mask;
		if (!has_overflowed(&c->row[nr], counter))
			continue;
		handled++;
		/* Before it is armed: an overflow after that is a new one. */
		if (row->cls->ops->ack_nmi)
			row->cls->ops->ack_nmi(row->cls, BIT_ULL(row->ri));
		overflow_nmi(c, nr, counter, regs, now);
	}
	return handled;
}

static void write_irqoff(struct hwpmc_ring *ring, struct hwpmc_pmc *pmc,
			 struct pt_regs *regs)
{
	struct hwpmc_scratch *s = this_cpu_ptr(hwpmc_scratch);
	s32 pid = hwpmc_owner_tgid_nr(pmc->owner, current);
	s32 tid = hwpmc_owner_tid_nr(pmc->owner, current);
	u64 now = hwpmc_log_time();
	size_t len;
	void *at;

	len = put_sample_nmi((void *)&s->hdr, pmc, regs, regs && user_mode(regs),
			     sizeof(s->hdr) + sizeof(s->pc), now);
	at = hwpmc_log_reserve_sample(pmc->owner->log, CONTEXT + len);
	if (!at)
		return;
	trace_hwpmc_sampling_sample(pmc, CONTEXT + len);
	put_context(&s->context, ring, pid, tid, now);
	memcpy(at, s, CONTEXT + len);
	hwpmc_log_commit(pmc->owner->log);
}

void hwpmc_sample_overflow_irqoff(struct hwpmc_cpu *c, unsigned int nr,
				  struct pt_regs *regs, u64 overshoot)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);
	u64 n;

	lockdep_assert_irqs_disabled();
	n = periods_over(rc, overshoot);
	if (n && rc->ring)
		write_irqoff(rc->ring, rc->pmc, regs);
	else if (n && regs)
		hwpmc_kgmon_hit_nmi(regs);
	if (n > 1)
		missed_nmi(rc, n - 1, hwpmc_log_time());
	if (n)
		hwpmc_stat_inc(intr_processed);
	arm_nmi(c, nr);
}

/* ---- arming and disarming ------------------------------------------------ */

/* Has the hardware of the row refused something, just now or before? */
static bool is_refused(unsigned int nr)
{
	return READ_ONCE(hwpmc_msr_faulted) && hwpmc_rows[nr].cls->nmi;
}

void hwpmc_sample_load_irqoff(struct hwpmc_cpu *c, unsigned int nr,
			      struct hwpmc_pmc *pmc, u64 left)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);

	/* The row may count for somebody who was here before. */
	if (rc->shadow.sel)
		hwpmc_cpu_program_irqoff(c, nr, NULL);
	rc->ring = pmc->flags & HWPMC_F_KGMON ? NULL :
		   hwpmc_log_ring(pmc->owner->log);
	rc->period_left = left ?: pmc->period;
	WRITE_ONCE(rc->pmc, pmc);
	/* Perhaps it could not be stopped: it would overflow, and nobody know it. */
	if (unlikely(is_refused(nr)))
		return;
	arm_nmi(c, nr);
	barrier();	/* an NMI finds all of the above, or nothing */
	if (unlikely(is_refused(nr)))
		return;
	if (likely(hwpmc_rows[nr].cls->nmi))
		c->sampling |= BIT_ULL(nr);
	else
		c->ticking |= BIT_ULL(nr);
	if (likely(!(hwpmc_is_throttled(c) && c->sampling & BIT_ULL(nr))))
		hwpmc_cpu_program_irqoff(c, nr, &pmc->select);
}

/*
 * The counter has overflowed and its NMI has not come: where it hit is not known
 * any more. The NMI is still to come and will find nothing.
 */
static void late_irqoff(struct hwpmc_cpu *c, unsigned int nr, u64 overshoot)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];
	struct hwpmc_row_cpu *rc = &c->row[nr];
	u64 n;

	if (row->cls->ops->ack_nmi)
		row->cls->ops->ack_nmi(row->cls, BIT_ULL(row->ri));
	n = periods_over(rc, overshoot);
	if (n)
		missed_nmi(rc, n, hwpmc_log_time());
}

u64 hwpmc_sample_unload_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row_cpu *rc = hwpmc_row_cpu(c, nr);
	u64 counter, left, expected, now = hwpmc_log_time();

	if (rc->shadow.sel)
		hwpmc_cpu_program_irqoff(c, nr, NULL);
	/*
	 * From here on no overflow; an NMI may still come for one before, at any
	 * of these instructions or later, and is to find that it is expected.
	 */
	do {
		expected = READ_ONCE(c->nmi_expected);
	} while (cmpxchg_local(&c->nmi_expected, expected, now) != expected);
	barrier();
	c->sampling &= ~BIT_ULL(nr);
	c->ticking &= ~BIT_ULL(nr);
	barrier();
	counter = hwpmc_row_read_irqoff(&hwpmc_rows[nr]) & rc->mask;
	if (unlikely(hwpmc_class_msr_fault(hwpmc_rows[nr].cls))) {
		left = 0;
		mark_unstoppable_nmi(c, nr, counter);
	} else if (unlikely(has_overflowed(rc, counter))) {
		late_irqoff(c, nr, counter);
		left = rc->period_left;
	} else {
		left = rc->period_left + (-counter & rc->mask);
		/* Unless it has come, or another row's NMI expects one now. */
		cmpxchg_local(&c->nmi_expected, now, expected);
	}
	smp_store_release(&rc->pmc, NULL);	/* A: hwpmc_pmc_read() */
	return left;
}
