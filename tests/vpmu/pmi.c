// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * pmi.c - the counters' interrupt, delivered as the local APIC would: through
 * LVTPC, at block boundaries only, as a message addressed to this very vCPU.
 */
#include "vpmu.h"

#define APIC_BASE	0xfee00000u
#define APIC_ID		0x020
#define APIC_LVTPC	0x340
#define LVT_MASKED	(1u << 16)
#define LVT_MODE	0x700
#define LVT_MODE_NMI	0x400

static void message(struct vcpu *v, uint32_t data)
{
	uint32_t id = v->index << 24;

	phys_read32(APIC_BASE + APIC_ID, &id);
	phys_write32(APIC_BASE | (id >> 24) << 12, data);
}

bool pmi_raise_nmi(struct vcpu *v)
{
	message(v, LVT_MODE_NMI);
	return true;
}

/* By another entry than LVTPC. False: it is masked. */
bool pmi_raise_entry(struct vcpu *v, uint32_t entry)
{
	if (entry & LVT_MASKED)
		return false;
	message(v, entry & 0x7ff);
	return true;
}

/*
 * A CPU that was just woken has no interrupt table yet: an NMI would be its end,
 * and the machine's. Its LVTPC is as INIT left it until the kernel sets it up.
 */
bool pmi_cpu_is_up(void)
{
	uint32_t lvt = 0;

	phys_read32(APIC_BASE + APIC_LVTPC, &lvt);
	return (lvt & LVT_MODE) == LVT_MODE_NMI;
}

bool pmi_is_masked(void)
{
	uint32_t lvt = LVT_MASKED;

	phys_read32(APIC_BASE + APIC_LVTPC, &lvt);
	return lvt & LVT_MASKED;
}

bool pmi_raise_lvtpc(struct vcpu *v)
{
	uint32_t lvt = LVT_MASKED;

	phys_read32(APIC_BASE + APIC_LVTPC, &lvt);
	trace(v, "PMI lvtpc=%x status=%" PRIx64, lvt, v->global_status);
	if (lvt & LVT_MASKED || apic_opens_late(v)) {
		v->n_pmi_masked++;
		return false;
	}
	if ((lvt & LVT_MODE) == LVT_MODE_NMI)
		v->n_pmi_nmi++;
	if (!cfg.amd || v->knob[KNOB_LVTMASK])	/* Intel's masks it on delivery */
		phys_write32(APIC_BASE + APIC_LVTPC, lvt | LVT_MASKED);
	message(v, lvt & 0x7ff);
	return true;
}

bool pmi_deliver(struct vcpu *v)
{
	inject_next(v);
	v->n_pmi++;
	if (inject_loses(v))
		return false;
	beside_freeze(v);
	v->line_watched = cfg.p4 || (!cfg.amd && v->knob[KNOB_LEVEL]);
	if (!pmi_raise_lvtpc(v))
		return false;
	inject_delivered(v);
	return true;
}
