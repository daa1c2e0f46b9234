// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * manners.c - what keeps a counter from counting although it was told to: an event that a
 * hypervisor filters, a counter that stands still, one that cannot count that event on the
 * model (strict.c), one that the host has taken; what becomes of registers where a VM is moved;
 * and what adds to a counter: the other thread of the core, microcode, a hypervisor that
 * emulates instructions. Each is a knob of vpmu_guest.h, or an option.
 */
#include <stdatomic.h>
#include <string.h>

#include "vpmu.h"
#include "vpmu_guest.h"

/* Counters by their bits in global control. */
static uint64_t bit_of(int i)
{
	return 1ULL << (i >= FIXED0 ? 32 + i - FIXED0 : i);
}

static bool is_on_every_list(uint64_t sel)
{
	static const uint16_t intel[] = {
		0x003c, 0x00c0, 0x013c, 0x4f2e, 0x412e, 0x00c4, 0x00c5, 0x01a4,
	};
	static const uint16_t amd[] = {
		0x0076, 0x00c0, 0xff60, 0x0964, 0x00c2, 0x00c3, 0x0287, 0x0187,
	};
	const uint16_t *list = cfg.amd ? amd : intel;

	for (size_t i = 0; i < G_N_ELEMENTS(intel); i++)
		if ((sel & 0xffff) == list[i])
			return true;
	return false;
}

static bool is_filtered(const struct vcpu *v, int i, uint64_t sel)
{
	uint64_t filter = v->knob[KNOB_FILTER];

	if (!(filter & VPMU_FILTER_ON))
		return false;
	if (i >= FIXED0)
		return filter & VPMU_FILTER_FIXED;
	if (filter & VPMU_FILTER_BUT)
		return !is_on_every_list(sel);
	return (filter & VPMU_FILTER_ALL) || (sel & 0xffff) == (filter & 0xffff);
}

/* The host has the counter for itself. */
static bool is_host_s(const struct vcpu *v, int i)
{
	return (v->knob[KNOB_FROZEN] | v->stolen) & bit_of(i) || !v->ctr[i].given;
}

/* sel: of a programmable counter; else 0. */
bool manners_let_count(struct vcpu *v, int i, uint64_t sel)
{
	if (beside_is_frozen(v) || is_filtered(v, i, sel) || is_host_s(v, i))
		return false;
	return i >= FIXED0 || strict_allows(v, i, sel);
}

/* ---- a hypervisor makes each counter of one of its host's ---------------------- */

static uint64_t wanted(const struct vcpu *v, int i)
{
	if (!v->ctr[i].enabled)
		return 0;
	return i < FIXED0 ? v->evtsel[i] : 1 | v->fixed_ctrl >> (4 * (i - FIXED0)) << 1;
}

/* The host's own event of AMD's 003 takes two counters that it joins. */
static unsigned int cost_of(const struct vcpu *v, int i)
{
	if (i >= FIXED0 && v->knob[KNOB_AT_ONCE] & VPMU_AT_ONCE_BUT_FIXED)
		return 0;
	return cfg.amd && i < FIXED0 && (v->evtsel[i] & 0xf000000ffULL) == 0x003 ? 2 : 1;
}

/*
 * KNOB_AT_ONCE: a counter that is enabled, or told to count another event, gets one of the
 * host's if there are any left; if not it stands still until it is told something else.
 */
void manners_share(struct vcpu *v)
{
	unsigned int most = (uint32_t)v->knob[KNOB_AT_ONCE], given = 0;

	for (int i = 0; i < MAX_CTR; i++) {
		v->ctr[i].given &= v->ctr[i].wanted && v->ctr[i].wanted == wanted(v, i);
		given += v->ctr[i].given ? cost_of(v, i) : 0;
	}
	for (int i = 0; i < MAX_CTR; i++) {
		uint64_t now = wanted(v, i);
		bool asks = now && now != v->ctr[i].wanted;

		v->ctr[i].wanted = now;
		if (!asks || (most && given + cost_of(v, i) > most))
			continue;
		v->ctr[i].given = true;
		given += cost_of(v, i);
	}
}

/* The host has another number of them: all are asked for again. */
void manners_share_again(struct vcpu *v)
{
	for (int i = 0; v->knob[KNOB_AT_ONCE] && i < MAX_CTR; i++)
		v->ctr[i].wanted = 0;
}

/* An instruction has been emulated, which the processor's counters do not see. */
void manners_emulated(struct vcpu *v, struct board *b, int mode)
{
	for (int i = 0; v->knob[KNOB_EMULATED] && i < MAX_CTR; i++) {
		const struct counter *c = &v->ctr[i];

		if (c->enabled && c->instructions && c->modes & 1 << mode && is_host_s(v, i))
			counter_add_one(v, b, i);
	}
}

/* The counter that RDPMC of counter i reads. */
int manners_rdpmc(const struct vcpu *v, int i)
{
	if (!(v->knob[KNOB_ALIAS] & bit_of(i)))
		return i;
	return i < FIXED0 ? i ^ 1 : FIXED0 + ((i - FIXED0) ^ 1);
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
	if (n) {
		more += v->ctr[i].leaked;
		v->ctr[i].leaked = 0;
	}
	return more + entered(v, &v->ctr[i]);
}

/* A select is about to be replaced by x. */
void manners_select(struct vcpu *v, int i, uint64_t x)
{
	if (v->evtsel[i] & x & SEL_EN && v->evtsel[i] != x)
		v->ctr[i].leaked = v->knob[KNOB_REWRITE];
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

/* ---- a VM that is moved, and a host that takes counters --------------------- */

uint64_t manners_global_at_reset(const struct vcpu *v)
{
	return cfg.amd ? counter_global_mask(v) : v->core->gp;
}

/* Each vCPU takes part before it looks at its registers next. */
void manners_migrate(void)
{
	for (int i = 0; i < vcpus_seen; i++)
		atomic_store(&vcpus[i].migrated, true);
}

void manners_arrive(struct vcpu *v, struct board *b)
{
	if (!atomic_load(&v->migrated))
		return;
	atomic_store(&v->migrated, false);
	memset(v->evtsel, 0, sizeof(v->evtsel));
	for (int i = 0; i < MAX_CTR; i++)
		v->ctr[i].val = 0;
	v->fixed_ctrl = 0;
	v->global_status = 0;
	v->global_ctrl = manners_global_at_reset(v);
	counter_reconfigure(v, b);
}

uint64_t manners_steal(struct vcpu *v, struct board *b, uint64_t counters)
{
	counter_sync(v, b);
	v->stolen |= counters;
	counter_reconfigure(v, b);
	return v->stolen;
}

void manners_control(const struct vcpu *v, struct control *now)
{
	memcpy(now->evtsel, v->evtsel, sizeof(now->evtsel));
	now->fixed_ctrl = v->fixed_ctrl;
	now->global_ctrl = v->global_ctrl;
}

/* The host tries once more for each counter whose control has changed. */
void manners_written(struct vcpu *v, const struct control *before)
{
	if (!v->stolen)
		return;
	for (int i = 0; i < MAX_GP; i++)
		if (v->evtsel[i] != before->evtsel[i])
			v->stolen &= ~bit_of(i);
	for (int n = 0; n < MAX_FIXED; n++)
		if ((v->fixed_ctrl ^ before->fixed_ctrl) >> 4 * n & 0xf)
			v->stolen &= ~bit_of(FIXED0 + n);
	if (v->global_ctrl != before->global_ctrl)
		v->stolen = 0;
}
