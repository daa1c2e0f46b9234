// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * manners.c - what keeps a counter from counting although it was told to: an event that a
 * hypervisor filters, a counter that stands still, one that cannot count that event on the
 * model (strict.c); and what adds to a counter: the other thread of the core, microcode. Each
 * is a knob of vpmu_guest.h, or an option.
 */
#include <stdatomic.h>

#include "vpmu.h"
#include "vpmu_guest.h"

/* Counters by their bits in global control. */
static uint64_t bit_of(int i)
{
	return 1ULL << (i >= FIXED0 ? 32 + i - FIXED0 : i);
}

static bool is_filtered(const struct vcpu *v, int i, uint64_t sel)
{
	uint64_t filter = v->knob[KNOB_FILTER];

	if (!(filter & VPMU_FILTER_ON))
		return false;
	if (i >= FIXED0)
		return filter & VPMU_FILTER_FIXED;
	return (filter & VPMU_FILTER_ALL) || (sel & 0xffff) == (filter & 0xffff);
}

/* sel: of a programmable counter; else 0. */
bool manners_let_count(struct vcpu *v, int i, uint64_t sel)
{
	if (beside_is_frozen(v) || is_filtered(v, i, sel) || v->knob[KNOB_FROZEN] & bit_of(i))
		return false;
	return i >= FIXED0 || strict_allows(v, i, sel);
}

/* Memory events of the errata of Sandy Bridge to Haswell. */
static bool harms_sibling(const struct vcpu *v, int i)
{
	uint64_t code = v->evtsel[i] & 0xff;

	return cfg.harm && i < FIXED0 && code >= 0xd0 && code <= 0xd3;
}

/* What this counter has counted goes to the same one of the other thread as well. */
void manners_counted(struct vcpu *v, int i, uint64_t n)
{
	unsigned int other = v->index ^ 1;

	if (harms_sibling(v, i) && other < (unsigned int)vcpus_seen)
		atomic_fetch_add(&vcpus[other].harm[i], n);
}

static uint64_t entered(const struct vcpu *v, const struct counter *c)
{
	uint64_t n = 0;

	if (c->ev.kind != EV_BRANCH || c->ev.div != 1)
		return 0;
	for (int m = 0; m < MODES; m++)
		if (c->modes & 1 << m)
			n += v->entries[m];
	return n;
}

/* What others have added to it since it was last asked; modulo 2^64. */
uint64_t manners_added(struct vcpu *v, int i, uint64_t n)
{
	uint64_t more = cfg.harm ? atomic_exchange(&v->harm[i], 0) : 0;

	if (beside_is_withheld(v, i))
		more += n / 16;
	if (v->knob[KNOB_MORE])
		more += n / v->knob[KNOB_MORE];
	if (v->knob[KNOB_LESS])
		more -= n / v->knob[KNOB_LESS];
	return more + entered(v, &v->ctr[i]);
}

/* A hypervisor that takes the interrupt enters the guest again in the mode that it had. */
void manners_interrupted(struct vcpu *v, int mode)
{
	v->entries[mode] += v->knob[KNOB_ENTRY];
}

/* The kernel's RDPMC of this index. */
bool manners_refuse_rdpmc(const struct vcpu *v, uint32_t index)
{
	int i = index & 1u << 30 ? FIXED0 + (int)(index & 0xff) : (int)index;

	return i < MAX_CTR && v->knob[KNOB_NO_RDPMC] & bit_of(i);
}

/* The modes that a counter counts, of those that it is told to. */
uint8_t manners_modes(const struct vcpu *v, uint8_t modes)
{
	return modes && v->knob[KNOB_MODES] ? 1 << USER | 1 << KERNEL : modes;
}

/* A counter that is narrower than it is said to be. */
uint64_t manners_mask(const struct vcpu *v)
{
	return v->knob[KNOB_NARROW] ? (1ULL << v->knob[KNOB_NARROW]) - 1 : cfg.width_mask;
}

/* Have the counters lost what was in them, as over a sleep of the machine? */
bool manners_forget(struct vcpu *v)
{
	return v->knob[KNOB_FORGET] && ++v->n_looks % v->knob[KNOB_FORGET] == 0;
}
