/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * event.h - what a selector makes a counter count. Pure: also compiled into the
 * unit tests of the host.
 */
#ifndef VPMU_EVENT_H
#define VPMU_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum { KERNEL, USER, MODES };

enum event_kind {
	EV_NONE, EV_INSN, EV_BRANCH, EV_LOAD, EV_STORE,
};

struct event {
	enum event_kind kind;
	uint32_t div;		/* counts one in `div` of them */
};

/* All that a vCPU, or an address space, did: per mode. */
struct totals {
	uint64_t insn[MODES], branch[MODES], load[MODES], store[MODES];
};

struct event event_decode_intel(uint64_t sel);
struct event event_decode_amd(uint64_t sel);
uint64_t event_count(const struct event *ev, unsigned int modes,
		     const struct totals *t);
/* How many more of its events until a counter at `val` overflows, at least. */
uint64_t event_until_overflow(const struct event *ev, uint64_t val,
			      uint64_t width_mask);
/* Add to a counter of limited width; true: it overflowed. */
bool event_add(uint64_t *val, uint64_t delta, uint64_t width_mask);

void totals_add(struct totals *to, const struct totals *t);
void totals_sub(struct totals *from, const struct totals *t);

#endif
