// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * p4.c - the PMU of Netburst's 64-bit models: 18 counters with their CCCRs and ESCRs,
 * which the threads of a core share. Which register selects what is written down here
 * from Intel's manual, independently of the module. Each vCPU adds what it executed
 * itself; the core's lock covers the core.
 */
#include <pthread.h>

#include "vpmu.h"

#define COUNTERS	18
#define ESCR_FIRST	0x3a0
#define ESCRS		0x42

#define CCCR_ENABLE	(1u << 12)
#define CCCR_SELECT(c)	((c) >> 13 & 7)
#define CCCR_PMI(t)	(1u << (26 + (t)))
#define CCCR_OVF	(1u << 31)
#define CCCR_RESERVED	0x30000fffu

#define ESCR_EVENT(e)	((e) >> 25 & 0x3f)
#define ESCR_MASK(e)	((e) >> 9 & 0xffff)
#define ESCR_RESERVED	0x80000000u

struct p4_counter {
	uint64_t val;			/* as of the last sync */
	struct event ev;
	bool active;
	uint8_t modes[2];		/* of each thread: bit per mode */
	uint64_t raw[2];		/* of each thread: event total at its last sync */
};

struct core {
	pthread_mutex_t lock;
	uint32_t cccr[COUNTERS], escr[ESCRS];
	struct p4_counter ctr[COUNTERS];
};

static struct core *cores;

static struct core *core_of(const struct vcpu *v)
{
	return &cores[v->index / cfg.threads];
}

static unsigned int thread_of(const struct vcpu *v)
{
	return v->index % cfg.threads;
}

void p4_start(void)
{
	cores = g_new0(struct core, max_vcpus);
	for (int i = 0; i < max_vcpus; i++)
		pthread_mutex_init(&cores[i].lock, NULL);
}

/* ---- what a counter counts ------------------------------------------------ */

/* The first ESCR of the pair that a counter's CCCR selects; 0: none. */
static uint32_t selected_pair(unsigned int i, unsigned int select)
{
	static const uint16_t bpu[8] = { 0x3b2, 0x3b4, 0x3aa, 0x3b6, 0x3ac, 0x3c8,
					 0x3a2, 0x3a0 };
	static const uint16_t ms[8] = { 0x3c0, 0x3c4, 0x3c2 };
	static const uint16_t flame[8] = { 0x3a6, 0x3a4, 0x3ae, 0x3b0, 0, 0x3a8 };
	static const uint16_t iq[8] = { 0, 0x3ca, 0x3bc, 0x3be, 0x3b8, 0x3cc, 0x3e0 };

	if (i < 4)
		return bpu[select];
	if (i < 8)
		return ms[select];
	return i < 12 ? flame[select] : iq[select];
}

/* Counters 0 1 4 5 8 9 12 13 16 listen to the first one, the others to the second. */
static bool is_second_half(unsigned int i)
{
	return i < 16 ? i & 2 : i == 17;
}

static struct event decode(uint32_t pair, uint32_t escr)
{
	uint32_t mask = ESCR_MASK(escr);
	const struct event none = { EV_NONE, 1 };

	switch (pair << 8 | ESCR_EVENT(escr)) {
	case 0x3a213:			/* global_power_events */
	case 0x3b802:			/* instr_retired: not bogus, not tagged */
	case 0x3b801:			/* uops_retired: not bogus */
	case 0x3b807:			/* instr_completed: not bogus */
		return mask & 1 ? (struct event){ EV_INSN, 1 } : none;
	case 0x3cc06:			/* branch_retired, all four kinds */
		return mask == 0xf ? (struct event){ EV_BRANCH, 1 } : none;
	case 0x3c204:			/* retired_branch_type, all four */
		return mask == 0x1e ? (struct event){ EV_BRANCH, 1 } : none;
	case 0x3b803:			/* mispred_branch_retired */
		return mask & 1 ? (struct event){ EV_BRANCH, 64 } : none;
	case 0x3a00c:			/* BSQ_cache_reference: hits, misses */
		if (mask & 0x3f)
			return (struct event){ EV_INSN, 128 };
		return mask & 0x700 ? (struct event){ EV_INSN, 1024 } : none;
	}
	return none;
}

/* Bits of a thread in an ESCR: kernel and user mode. */
static uint8_t modes_of(uint32_t escr, unsigned int thread)
{
	uint32_t bits = thread ? escr : escr >> 2;

	return (bits & 1 ? 1 << USER : 0) | (bits & 2 ? 1 << KERNEL : 0);
}

static void configure(struct core *c, unsigned int i)
{
	struct p4_counter *ctr = &c->ctr[i];
	uint32_t pair = selected_pair(i, CCCR_SELECT(c->cccr[i]));
	uint32_t escr;

	ctr->active = false;
	/* The erratum: counter 1 counts nothing. */
	if (!(c->cccr[i] & CCCR_ENABLE) || !pair || i == 1)
		return;
	escr = c->escr[pair - ESCR_FIRST + is_second_half(i)];
	ctr->ev = decode(pair, escr);
	for (unsigned int t = 0; t < 2; t++)
		ctr->modes[t] = modes_of(escr, t);
	ctr->active = ctr->ev.kind != EV_NONE;
}

/* ---- counting ------------------------------------------------------------- */

static bool wants_pmi(const struct core *c, const struct vcpu *v, unsigned int i)
{
	return c->cccr[i] & CCCR_PMI(thread_of(v));
}

/* A CCCR asserts its interrupt for as long as its flag is set. */
static bool is_asserted(const struct core *c, const struct vcpu *v)
{
	for (unsigned int i = 0; i < COUNTERS; i++)
		if (c->cccr[i] & CCCR_OVF && wants_pmi(c, v, i))
			return true;
	return false;
}

static void sync_locked(struct core *c, struct vcpu *v, struct board *b)
{
	unsigned int t = thread_of(v);
	struct totals now;

	counter_totals(v, &now);
	for (unsigned int i = 0; i < COUNTERS; i++) {
		struct p4_counter *ctr = &c->ctr[i];
		uint64_t total, delta;

		if (!ctr->active || !ctr->modes[t])
			continue;
		total = event_count(&ctr->ev, ctr->modes[t], &now);
		delta = total - ctr->raw[t];
		ctr->raw[t] = total;
		if (!event_add(&ctr->val, delta, cfg.width_mask))
			continue;
		c->cccr[i] |= CCCR_OVF;
		trace(v, "OVERFLOW ctr=%u val=%" PRIx64, i, ctr->val);
		counter_note_overflow(v, b, wants_pmi(c, v, i));
	}
}

void p4_sync(struct vcpu *v, struct board *b)
{
	struct core *c = core_of(v);

	pthread_mutex_lock(&c->lock);
	sync_locked(c, v, b);
	pthread_mutex_unlock(&c->lock);
}

/* Each thread's part of a counter goes on from what the thread has executed now. */
static void restart(struct core *c, struct vcpu *v, unsigned int i)
{
	unsigned int first = v->index - thread_of(v);
	struct totals now;

	for (unsigned int t = 0; t < (unsigned int)cfg.threads; t++) {
		if (first + t >= (unsigned int)vcpus_seen)
			return;
		counter_totals_any(&vcpus[first + t], &now);
		c->ctr[i].raw[t] = event_count(&c->ctr[i].ev, c->ctr[i].modes[t], &now);
	}
}

void p4_deadlines(struct vcpu *v, uint64_t left[MODES], uint64_t *both)
{
	struct core *c = core_of(v);

	pthread_mutex_lock(&c->lock);
	for (unsigned int i = 0; i < COUNTERS; i++) {
		struct p4_counter *ctr = &c->ctr[i];
		uint8_t modes = ctr->modes[thread_of(v)];
		uint64_t need;

		if (!ctr->active || !modes || !wants_pmi(c, v, i))
			continue;
		need = event_until_overflow(&ctr->ev, ctr->val, cfg.width_mask);
		counter_deadline(modes, MIN(need, FAR), left, both);
	}
	pthread_mutex_unlock(&c->lock);
}

/* ---- the interrupt -------------------------------------------------------- */

/* After a delivery, or one that LVTPC's mask prevented: the interrupt comes (again) when
 * the mask is cleared before the flag is. True: look again at the next block. */
bool p4_line_is_up(struct vcpu *v)
{
	struct core *c = core_of(v);
	bool up;

	pthread_mutex_lock(&c->lock);
	up = is_asserted(c, v);
	pthread_mutex_unlock(&c->lock);
	return up;
}

/* ---- registers ------------------------------------------------------------ */

static bool is_escr(uint32_t msr)
{
	/* IQ_ESCR0 and 1 (0x3ba, 0x3bb) are models 1 and 2 only. */
	return (msr >= 0x3a0 && msr <= 0x3bf && msr != 0x3ba && msr != 0x3bb) ||
	       (msr >= 0x3c0 && msr <= 0x3c5) || (msr >= 0x3c8 && msr <= 0x3cd) ||
	       msr == 0x3e0 || msr == 0x3e1;
}

/* Both threads' events up to now. */
static uint64_t counter_locked(struct core *c, struct vcpu *v, unsigned int i)
{
	unsigned int first = v->index - thread_of(v);
	struct p4_counter *ctr = &c->ctr[i];
	uint64_t val = ctr->val;
	struct totals now;

	if (!ctr->active)
		return val;
	for (unsigned int t = 0; t < (unsigned int)cfg.threads; t++) {
		if (first + t >= (unsigned int)vcpus_seen)
			break;
		counter_totals_any(&vcpus[first + t], &now);
		val += event_count(&ctr->ev, ctr->modes[t], &now) - ctr->raw[t];
	}
	return val & cfg.width_mask;
}

static uint64_t read_locked(struct core *c, struct vcpu *v, uint32_t msr)
{
	if (msr - 0x300 < COUNTERS)
		return counter_locked(c, v, msr - 0x300);
	if (msr - 0x360 < COUNTERS)
		return c->cccr[msr - 0x360];
	return c->escr[msr - ESCR_FIRST];
}

/* What the sibling has counted since its last sync with a counter that is changed here is
 * lost; a driver changes its own CPU's only. */
static void write_locked(struct core *c, struct vcpu *v, uint32_t msr, uint64_t x)
{
	if (msr - 0x300 < COUNTERS)
		c->ctr[msr - 0x300].val = x;
	else if (msr - 0x360 < COUNTERS)
		c->cccr[msr - 0x360] = x;
	else
		c->escr[msr - ESCR_FIRST] = x;
	for (unsigned int i = 0; i < COUNTERS; i++) {
		struct p4_counter before = c->ctr[i], *now = &c->ctr[i];

		configure(c, i);
		if (msr == 0x300 + i || now->active != before.active ||
		    now->ev.kind != before.ev.kind || now->ev.div != before.ev.div ||
		    now->modes[0] != before.modes[0] || now->modes[1] != before.modes[1])
			restart(c, v, i);
	}
}

enum msr_class msr_p4_class(uint32_t msr)
{
	if (msr - 0x300 < COUNTERS)
		return MSR_COUNTER;
	return msr - 0x360 < COUNTERS || is_escr(msr) ? MSR_SELECT : MSR_OTHER;
}

static bool is_hole(uint32_t msr)
{
	return msr - ESCR_FIRST < ESCRS && !is_escr(msr);
}

enum access msr_p4_read(struct vcpu *v, uint32_t msr, uint64_t *x)
{
	struct core *c = core_of(v);

	if (msr_p4_class(msr) == MSR_OTHER)
		return is_hole(msr) ? FAULT : NATIVE;
	pthread_mutex_lock(&c->lock);
	*x = read_locked(c, v, msr);
	pthread_mutex_unlock(&c->lock);
	return DONE;
}

static bool has_reserved_bits(uint32_t msr, uint64_t x)
{
	if (msr - 0x300 < COUNTERS)
		return x & ~cfg.width_mask;
	return x >> 32 || x & (msr - 0x360 < COUNTERS ? CCCR_RESERVED : ESCR_RESERVED);
}

enum access msr_p4_write(struct vcpu *v, uint32_t msr, uint64_t x)
{
	struct core *c = core_of(v);

	if (msr_p4_class(msr) == MSR_OTHER)
		return is_hole(msr) ? FAULT : NATIVE;
	if (has_reserved_bits(msr, x))
		return FAULT;
	pthread_mutex_lock(&c->lock);
	write_locked(c, v, msr, x);
	pthread_mutex_unlock(&c->lock);
	return DONE;
}

uint64_t p4_register_any(struct vcpu *v, uint32_t msr)
{
	uint64_t x = 0;

	msr_p4_read(v, msr, &x);
	return x;
}
