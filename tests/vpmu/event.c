// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * event.c - events and widths: selector to event, totals to count. Cycles are
 * instructions (the model's CPI is 1); misses are fixed fractions. Pure.
 */
#include "event.h"

static struct event every(enum event_kind kind, uint32_t div)
{
	return (struct event){ kind, div };
}

struct event event_decode_intel(uint64_t sel)
{
	switch (sel & 0xffff) {
	case 0x00c0: return every(EV_INSN, 1);		/* instructions */
	case 0x01c0: return every(EV_INSN, 1);		/* the same, of fewer counters */
	case 0x003c: return every(EV_INSN, 1);		/* core cycles */
	case 0x013c: return every(EV_INSN, 1);		/* reference cycles */
	case 0x0300: return every(EV_INSN, 1);
	case 0x00c4: return every(EV_BRANCH, 1);
	case 0x00c5: return every(EV_BRANCH, 64);	/* "mispredicted" */
	case 0x11c4: return every(EV_BRANCH, 2);	/* "conditional" of Golden Cove */
	case 0x7ec4: return every(EV_BRANCH, 4);	/* and of Gracemont */
	case 0x4f2e: return every(EV_INSN, 128);	/* "LLC reference" */
	case 0x412e: return every(EV_INSN, 1024);	/* "LLC miss" */
	case 0x81d0: return every(EV_LOAD, 1);
	case 0x82d0: return every(EV_STORE, 1);
	default:     return every(EV_NONE, 1);
	}
}

struct event event_decode_amd(uint64_t sel)
{
	uint32_t umask = sel >> 8 & 0xff;

	switch ((sel & 0xff) | (sel >> 24 & 0xf00)) {
	case 0x003: return every(EV_INSN, 1);		/* of two counters joined; strict.c */
	case 0x0c0: return every(EV_INSN, 1);		/* instructions */
	case 0x0c1: return every(EV_INSN, 1);		/* operations: one each */
	case 0x076: return every(EV_INSN, 1);		/* cycles */
	case 0x120: return every(EV_INSN, 1);		/* reference cycles */
	case 0x0c2: return every(EV_BRANCH, 1);
	case 0x0c3: return every(EV_BRANCH, 64);
	case 0x060: return every(EV_INSN, 128);
	case 0x064: return every(EV_INSN, 1024);
	case 0x029:
		if (umask == 1)
			return every(EV_LOAD, 1);
		if (umask == 2)
			return every(EV_STORE, 1);
	}
	return every(EV_NONE, 1);
}

uint64_t event_count(const struct event *ev, unsigned int modes,
		     const struct totals *t)
{
	uint64_t sum = 0;

	for (int m = 0; m < MODES; m++) {
		if (!(modes & 1u << m))
			continue;
		switch (ev->kind) {
		case EV_INSN:	sum += t->insn[m]; break;
		case EV_BRANCH:	sum += t->branch[m]; break;
		case EV_LOAD:	sum += t->load[m]; break;
		case EV_STORE:	sum += t->store[m]; break;
		case EV_NONE:	break;
		}
	}
	return ev->div > 1 ? sum / ev->div : sum;
}

uint64_t event_until_overflow(const struct event *ev, uint64_t val,
			      uint64_t width_mask)
{
	uint64_t need = width_mask + 1 - val;

	/* The phase of a derived event is not known: the earliest is meant. */
	return ev->div > 1 ? (need - 1) * ev->div + 1 : need;
}

bool event_add(uint64_t *val, uint64_t delta, uint64_t width_mask)
{
	uint64_t sum = *val + delta;

	*val = sum & width_mask;
	return sum > width_mask;
}

void totals_add(struct totals *to, const struct totals *t)
{
	for (int m = 0; m < MODES; m++) {
		to->insn[m] += t->insn[m];
		to->branch[m] += t->branch[m];
		to->load[m] += t->load[m];
		to->store[m] += t->store[m];
	}
}

void totals_sub(struct totals *from, const struct totals *t)
{
	for (int m = 0; m < MODES; m++) {
		from->insn[m] -= t->insn[m];
		from->branch[m] -= t->branch[m];
		from->load[m] -= t->load[m];
		from->store[m] -= t->store[m];
	}
}
