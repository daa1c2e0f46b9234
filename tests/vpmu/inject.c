// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * inject.c - interrupts that are late, lost, doubled or without a cause, and
 * registers that fault, as hypervisors, errata and faults of machines make them,
 * also at the worst moment. Each vCPU has its knobs: to begin with those of the
 * options, then what the guest sets on that vCPU. Times are totals of retired
 * instructions of both modes.
 */
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "vpmu.h"

/* KNOB_HOLD: one vCPU is, or was since the knob was set. */
static atomic_bool held;
/* Faults on purpose, of all vCPUs. */
static atomic_uint n_refused;
static _Atomic(struct vcpu *) last_refused;

bool inject_option(const char *name, uint64_t val)
{
	/* Firmware and early kernels would not live through a storm. */
	static const char *const names[] = {
		[KNOB_LATE] = "late", [KNOB_LOST] = "lost",
		[KNOB_DOUBLE] = "double", [KNOB_LVTMASK] = "lvtmask",
		[KNOB_FILTER] = "filter", [KNOB_FROZEN] = "frozen",
		[KNOB_EMULATED] = "emulated", [KNOB_AT_ONCE] = "at-once",
		[KNOB_ALIAS] = "alias",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i] && strcmp(name, names[i]) == 0) {
			cfg.knob[i] = val;
			return true;
		}
	return false;
}

void inject_reset(struct vcpu *v)
{
	memcpy(v->knob, cfg.knob, sizeof(v->knob));
}

/* The guest's wish, on its own vCPU; the value before. */
uint64_t inject_set(struct vcpu *v, struct board *b, unsigned int knob,
		    uint64_t val)
{
	uint64_t old;

	if (knob >= KNOBS)
		return 0;
	old = v->knob[knob];
	v->knob[knob] = val;
	if (knob == KNOB_STORM)
		v->storm_due = retired_all(v, b) + val;
	if (knob == KNOB_HOLD)
		held = false;
	counter_sync(v, b);
	if (knob == KNOB_AT_ONCE)
		manners_share_again(v);
	counter_reconfigure(v, b);
	return old;
}

static uint64_t until(uint64_t due, uint64_t now)
{
	return due > now ? due - now : 0;
}

/* Instructions after which there may be something to do. */
uint64_t inject_until(struct vcpu *v, struct board *b)
{
	uint64_t now = retired_all(v, b), left = FAR;

	if (v->pmi_pending)
		left = until(v->pmi_due, now);
	if (v->double_pending)
		left = 0;
	if (v->knob[KNOB_STORM])
		left = MIN(left, until(v->storm_due, now));
	return left;
}

/* A counter has overflowed; a PMI may be on its way already. */
void inject_overflow(struct vcpu *v, struct board *b)
{
	uint64_t due = retired_all(v, b) + v->knob[KNOB_LATE];

	if (!v->pmi_pending)
		v->pmi_due = due;
	else if (v->knob[KNOB_QUEUE] && v->queued < QUEUE)
		v->queue[v->queued++] = due;
}

/* The first PMI is delivered: the next one, if there is any, takes its place. */
void inject_next(struct vcpu *v)
{
	v->pmi_pending = v->queued;
	if (!v->queued)
		return;
	v->pmi_due = v->queue[0];
	memmove(v->queue, v->queue + 1, --v->queued * sizeof(v->queue[0]));
}

bool inject_is_due(struct vcpu *v, struct board *b)
{
	return retired_all(v, b) >= v->pmi_due;
}

/* Each PMI asks before it is delivered; n_pmi counts this one. */
bool inject_loses(struct vcpu *v)
{
	if (!v->knob[KNOB_LOST] || v->n_pmi % v->knob[KNOB_LOST])
		return false;
	v->n_lost++;
	return true;
}

void inject_delivered(struct vcpu *v)
{
	if (v->knob[KNOB_DOUBLE] && v->n_pmi % v->knob[KNOB_DOUBLE] == 0)
		v->double_pending = true;
}

/* After an IRET from an NMI: NMIs are masked again, and true: are to stay so. */
bool inject_masks(struct vcpu *v)
{
	uint32_t each = v->knob[KNOB_MASK];

	if (!each || ++v->n_iret % each)
		return false;
	nmi_mask_set(v);
	return v->knob[KNOB_MASK] & MASK_STAYS;
}

/* One may be in service and one waiting; more become one. */
static void without_cause(struct vcpu *v)
{
	v->unclaimed = MIN(v->unclaimed + 1, 2);
}

static bool storm(struct vcpu *v, struct board *b)
{
	uint64_t now = retired_all(v, b);

	if (!v->knob[KNOB_STORM] || now < v->storm_due)
		return false;
	v->storm_due = now + v->knob[KNOB_STORM];
	if (!pmi_cpu_is_up())
		return false;
	if (v->knob[KNOB_STORM_LEFT] && !--v->knob[KNOB_STORM_LEFT])
		v->knob[KNOB_STORM] = 0;
	v->n_storm++;
	without_cause(v);
	return v->knob[KNOB_STORM_PMI] ? pmi_raise_lvtpc(v) : pmi_raise_nmi(v);
}

/* What comes without a cause; true if an interrupt is now pending. */
bool inject_raise(struct vcpu *v, struct board *b)
{
	bool raised = storm(v, b);

	if (v->double_pending) {
		v->double_pending = false;
		if (!pmi_cpu_is_up())
			return raised;
		v->n_doubled++;
		without_cause(v);
		raised = pmi_raise_nmi(v) || raised;
	}
	return raised;
}

/* Is there one? For a handler that owns up to it. */
uint64_t inject_claim(struct vcpu *v)
{
	if (!v->unclaimed)
		return 0;
	v->unclaimed--;
	return 1;
}

static bool refuses(struct vcpu *v, uint32_t msr, bool write, uint64_t value)
{
	uint64_t which = v->knob[KNOB_REFUSE];

	if (write && value & v->knob[KNOB_REFUSE_ACK] && msr_class_of(v, msr) == MSR_ACK)
		return true;
	if (!which || (!write && !(which & REFUSE_READS)))
		return false;
	if (which & REFUSE_HELD && !held)
		return false;
	if ((uint32_t)which != REFUSE_ALL)
		return (uint32_t)which == msr;
	return msr_class_of(v, msr) != MSR_OTHER;
}

/* Is this access to fault? value: what is written. */
bool inject_refuses(struct vcpu *v, uint32_t msr, bool write, uint64_t value)
{
	if (!refuses(v, msr, write, value))
		return false;
	last_refused = v;
	n_refused++;
	return true;
}

static uint64_t retired_any(struct vcpu *v)
{
	struct totals t;

	counter_totals_any(v, &t);
	return t.insn[KERNEL] + t.insn[USER];
}

/*
 * What another vCPU is told meanwhile is between two instructions of this one. The
 * other has 100,000 to take the fault in. If it is not told anything the hold ends after
 * 10 seconds, and n_held_out tells: it may itself wait for this one.
 */
void inject_hold(struct vcpu *v, uint32_t msr)
{
	unsigned int before = n_refused, ms = 10000;
	uint64_t until;

	if (!v->knob[KNOB_HOLD] || v->knob[KNOB_HOLD] != msr || !nmi_mask_is_set(v))
		return;
	v->knob[KNOB_HOLD] = 0;
	held = true;
	for (; n_refused == before && ms; ms--)
		usleep(1000);
	if (!ms) {
		v->n_held_out++;
		return;
	}
	until = retired_any(last_refused) + 100000;
	for (; retired_any(last_refused) < until && ms; ms--)
		usleep(1000);
}

/* A program's has a right of its own, in CR4. */
bool inject_refuses_rdpmc(struct vcpu *v, int mode)
{
	return mode != USER && v->knob[KNOB_REFUSE] & REFUSE_RDPMC;
}
