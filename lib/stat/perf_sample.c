/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_sample.c - samples of perf record. Which fields a sample has, and so where each begins,
 * is in the attribute of its event. A chain of perf has marks where it goes from the kernel to
 * user mode, and begins with the interrupted address; one of a log begins with the sampled
 * address, which the hardware may have recorded more precisely.
 */
#include "perf.h"
#include "stat.h"

/* Addresses of a record of a log, with marks. */
#define CHAIN_MOST	((HWPMC_LOG_MAX - sizeof(struct hwpmc_log_hdr)) / sizeof(uint64_t))

struct fields {
	const uint8_t *at, *end;
	bool bad;			/* the record ended before */
};

/* The fields that are used. */
struct sample {
	uint64_t ip, time, id, period;
	int32_t pid, tid, cpu;
	const uint8_t *chain, *branch;
	uint64_t nchain, nbranch;
	uint16_t misc;
};

/* A chain as it is in the log. */
struct chain {
	uint64_t pc[CHAIN_MOST];
	uint32_t n;
	uint8_t flags;
};

static inline uint64_t take(struct fields *f)
{
	uint64_t x;

	if ((size_t)(f->end - f->at) < sizeof(x)) {
		f->bad = true;
		return 0;
	}
	x = perf_u64(f->at);
	f->at += sizeof(x);
	return x;
}

/* n entries of `each` bytes, and where they are. */
static inline const uint8_t *take_array(struct fields *f, uint64_t n, size_t each)
{
	const uint8_t *at = f->at;

	if (n > (size_t)(f->end - f->at) / each) {
		f->bad = true;
		return at;
	}
	f->at += n * each;
	return at;
}

static void take_read(struct fields *f, uint64_t format)
{
	uint64_t n = 1, each = 1;

	if (format & PERF_R_GROUP)
		n = take(f);
	if (format & PERF_R_ID)
		each++;
	if (format & PERF_R_LOST)
		each++;
	/* One value has the times behind it, a group before all values. */
	take_array(f, !!(format & PERF_R_ENABLED) + !!(format & PERF_R_RUNNING),
		   sizeof(uint64_t));
	take_array(f, n, each * sizeof(uint64_t));
}

static void take_raw(struct fields *f)
{
	const uint8_t *at = take_array(f, 1, sizeof(uint32_t));

	if (!f->bad)
		take_array(f, perf_u32(at), 1);
}

static void take_branches(struct fields *f, const struct perf_event *e, struct sample *s)
{
	s->nbranch = take(f);
	if (e->branches & PERF_B_HW_INDEX)
		take(f);
	s->branch = take_array(f, s->nbranch, PERF_BRANCH_SIZE);
	if (e->branches & PERF_B_COUNTERS)
		take_array(f, s->nbranch, sizeof(uint64_t));
}

/* Registers are there if they have a form. */
static void take_registers(struct fields *f, uint32_t n)
{
	if (take(f))
		take_array(f, n, sizeof(uint64_t));
}

/* Bytes, and how many of them the kernel has filled. */
static void take_stack(struct fields *f)
{
	uint64_t size = take(f);

	take_array(f, size, 1);
	if (size)
		take(f);
}

/* Fields of 8 bytes at the begin of each sample. */
static inline void take_fixed(struct fields *f, uint64_t type, struct sample *s)
{
	uint64_t both;

	if (type & PERF_S_IDENTIFIER)
		s->id = take(f);
	if (type & PERF_S_IP)
		s->ip = take(f);
	if (type & PERF_S_TID) {
		both = take(f);
		s->pid = (uint32_t)both;
		s->tid = both >> 32;
	}
	if (type & PERF_S_TIME)
		s->time = take(f);
	if (type & PERF_S_ADDR)
		take(f);
	if (type & PERF_S_ID)
		s->id = take(f);
	if (type & PERF_S_STREAM_ID)
		take(f);
	if (type & PERF_S_CPU)
		s->cpu = (uint32_t)take(f);
	if (type & PERF_S_PERIOD)
		s->period = take(f);
}

static void take_rest(struct fields *f, const struct perf_event *e, struct sample *s)
{
	static const uint32_t words = PERF_S_WEIGHT | PERF_S_WEIGHT_STRUCT, behind =
		PERF_S_PHYS_ADDR | PERF_S_CGROUP | PERF_S_DATA_PAGE | PERF_S_CODE_PAGE;
	uint64_t type = e->sample_type;

	if (type & PERF_S_READ)
		take_read(f, e->read_format);
	if (type & PERF_S_CALLCHAIN) {
		s->nchain = take(f);
		s->chain = take_array(f, s->nchain, sizeof(uint64_t));
	}
	if (type & PERF_S_RAW)
		take_raw(f);
	if (type & PERF_S_BRANCH_STACK)
		take_branches(f, e, s);
	if (type & PERF_S_REGS_USER)
		take_registers(f, e->nregs_user);
	if (type & PERF_S_STACK_USER)
		take_stack(f);
	take_array(f, !!(type & words) + !!(type & PERF_S_DATA_SRC) +
		   !!(type & PERF_S_TRANSACTION), sizeof(uint64_t));
	if (type & PERF_S_REGS_INTR)
		take_registers(f, e->nregs_intr);
	take_array(f, __builtin_popcount(type & behind), sizeof(uint64_t));
	if (type & PERF_S_AUX)
		take_array(f, take(f), 1);
}

/* The identifier is at the same place of each sample, before the fields of its own event. */
static struct perf_event *event_of(struct perfdata *p, const uint8_t *at, size_t len)
{
	uint64_t type = p->nevent ? p->event[0].sample_type : 0, skip = 0;

	if (p->nevent < 2)
		return p->nevent ? p->event : NULL;
	if (!(type & PERF_S_IDENTIFIER)) {
		if (!(type & PERF_S_ID))
			return p->event;
		skip = 8 * __builtin_popcount(type & (PERF_S_IP | PERF_S_TID | PERF_S_TIME |
						      PERF_S_ADDR));
	}
	return len >= skip + 8 ? perf_event_of(p, perf_u64(at + skip)) : NULL;
}

/* ---- chains -------------------------------------------------------------- */

static inline void add_pc(struct chain *c, uint64_t pc)
{
	if (c->n < CHAIN_MOST)
		c->pc[c->n++] = pc;
	else
		c->flags |= HWPMC_SAMPLE_CUT;
}

/* User frames of a sample of the kernel have a mark before them. */
static void begin_user(struct chain *c)
{
	if (c->flags & (HWPMC_SAMPLE_USER | HWPMC_SAMPLE_SPLIT))
		return;
	add_pc(c, HWPMC_PC_USER);
	c->flags |= HWPMC_SAMPLE_SPLIT;
}

/* A mark of a chain: returns whether the addresses behind it are of user mode. Words of a stack
 * that is not one of frames may look like marks: no mark ends user mode. */
static bool mode_of_mark(uint64_t mark, bool in_user)
{
	return in_user || mark == PERF_CONTEXT_USER;
}

/*
 * The frames of both modes. The first address of the mode that was interrupted stands for the
 * sampled one; a sample of user mode has no frames of the kernel.
 */
static void add_frames(struct chain *c, const struct sample *s)
{
	bool user = c->flags & HWPMC_SAMPLE_USER, in_user = false, first = true;

	for (uint64_t i = 0; i < s->nchain; i++) {
		uint64_t pc = perf_u64(s->chain + i * sizeof(pc));

		if (pc == PERF_CONTEXT_DEFERRED && !in_user)
			break;
		if (pc >= PERF_CONTEXT_MARKS) {
			in_user = mode_of_mark(pc, in_user);
			continue;
		}
		if (in_user == user && first) {
			first = false;
			continue;
		}
		if (user && !in_user)
			continue;
		if (in_user)
			begin_user(c);
		add_pc(c, pc);
	}
}

/* Calls that the hardware has stored: the addresses of call instructions. A log has return
 * addresses, which are behind them. */
static void add_calls(struct chain *c, const struct sample *s)
{
	for (uint64_t i = 0; i < s->nbranch; i++) {
		begin_user(c);
		add_pc(c, perf_u64(s->branch + i * PERF_BRANCH_SIZE) + 1);
	}
}

static bool is_user(const struct sample *s)
{
	switch (s->misc & PERF_MODE_MASK) {
	case PERF_MODE_KERNEL:
	case PERF_MODE_HYPERVISOR:
		return false;
	case PERF_MODE_GUEST_KERNEL:
	case PERF_MODE_GUEST_USER:
	case PERF_MODE_USER:
		return true;
	default:
		return !(s->ip >> 63);
	}
}

static bool is_of_guest(uint16_t misc)
{
	uint16_t mode = misc & PERF_MODE_MASK;

	return mode == PERF_MODE_GUEST_KERNEL || mode == PERF_MODE_GUEST_USER;
}

/* Addresses of a guest are not those of the process that runs it, and have no mapping. */
static void make_chain(struct chain *c, const struct perf_event *e, const struct sample *s)
{
	c->n = 0;
	c->flags = is_user(s) ? HWPMC_SAMPLE_USER : 0;
	if (is_of_guest(s->misc)) {
		add_pc(c, HWPMC_PC_END(HWPMC_CHAIN_NO_MAPPING));
		return;
	}
	add_pc(c, s->ip);
	if (s->nchain)
		add_frames(c, s);
	if (e->branches & PERF_B_CALL_STACK)
		add_calls(c, s);
}

/* ---- the sample ---------------------------------------------------------- */

/* Fields of the samples of an event that are read and not taken. */
static void leave_fields(struct perfdata *p, struct perf_event *e)
{
	uint64_t type = e->sample_type;

	e->seen = true;
	if (!e->announced)
		perf_announce_event(p, e);
	if (type & PERF_S_RAW && e->type == PERF_T_TRACEPOINT)
		perf_leave(p, PERF_LEFT_TRACE);
	if (type & PERF_S_AUX)
		perf_leave(p, PERF_LEFT_AUX);
	if (type & PERF_S_BRANCH_STACK && !(e->branches & PERF_B_CALL_STACK))
		perf_leave(p, PERF_LEFT_BRANCHES);
	if (type & PERF_S_STACK_USER)
		perf_leave(p, PERF_LEFT_STACKS);
	/* Samples with stacks have an address, which is 0. */
	if (type & (PERF_S_DATA_SRC | PERF_S_PHYS_ADDR) ||
	    (type & PERF_S_ADDR && !(type & PERF_S_STACK_USER)))
		perf_leave(p, PERF_LEFT_ADDRESSES);
	if (type & PERF_S_READ)
		perf_leave(p, PERF_LEFT_READ);
	if (e->flags & PERF_A_DEFERRED)
		perf_leave(p, PERF_LEFT_DEFERRED);
}

/* A sample of a precise event whose address is not exact has a record that lacks the mark. */
static void put_inexact(struct perfdata *p, const struct perf_event *e, const struct sample *s)
{
	struct hwpmc_log_precise *r;

	if (!(e->flags & PERF_A_PRECISE) || s->misc & PERF_MISC_EXACT_IP)
		return;
	r = perf_put(p, HWPMC_LOG_PRECISE, sizeof(*r), s->time);
	if (r)
		r->hdr.id = e - p->event + 1;
}

static void put_sample(struct perfdata *p, const struct perf_event *e, const struct sample *s,
		       const struct chain *c)
{
	uint32_t id = e - p->event + 1;
	struct hwpmc_log_period *period;
	struct hwpmc_log_sample *r;

	perf_put_context(p, s->cpu, s->pid, s->tid, s->time);
	put_inexact(p, e, s);
	if (e->sample_type & PERF_S_PERIOD) {
		period = perf_put(p, HWPMC_LOG_PERIOD, sizeof(*period), s->time);
		if (period) {
			period->hdr.id = id;
			period->period = s->period;
		}
	}
	r = perf_put(p, HWPMC_LOG_CALLCHAIN, sizeof(*r) + c->n * sizeof(uint64_t), s->time);
	if (!r)
		return;
	r->hdr.id = id;
	r->hdr.flags = c->flags;
	memcpy(r->pc, c->pc, c->n * sizeof(uint64_t));
}

int perf_sample(struct perfdata *p, const struct perf_hdr *record)
{
	struct perf_hdr h = perf_hdr_of(record);
	const uint8_t *at = (const uint8_t *)record + sizeof(h);
	struct fields f = { at, (const uint8_t *)record + h.size, false };
	struct sample s = { .pid = -1, .tid = -1, .cpu = -1, .misc = h.misc };
	struct perf_event *e = event_of(p, at, h.size - sizeof(h));
	struct chain c;

	if (!e) {
		perf_leave(p, PERF_LEFT_UNKNOWN);
		return 0;
	}
	if (!e->seen)
		leave_fields(p, e);
	if (is_of_guest(h.misc))
		perf_leave(p, PERF_LEFT_GUESTS);
	take_fixed(&f, e->sample_type, &s);
	if (!f.bad && p->skip && p->first) {
		/* Records behind the sample are later. */
		p->order += !(e->sample_type & PERF_S_TIME);
		put_inexact(p, e, &s);
		return 0;
	}
	take_rest(&f, e, &s);
	if (f.bad)
		return perf_damaged(p, "SAMPLE record of %u bytes: too short for its fields",
				    h.size);
	/* Without times the order of the file is that of the log. */
	s.time = perf_time(p, e->sample_type & PERF_S_TIME ? s.time : ++p->order);
	if (p->skip) {
		put_inexact(p, e, &s);
		return 0;
	}
	make_chain(&c, e, &s);
	put_sample(p, e, &s, &c);
	return 0;
}
