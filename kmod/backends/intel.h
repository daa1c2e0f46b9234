/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * intel.h - what classes IAF and IAP share: the description of the PMU, the bank that
 * is claimed, the global control register.
 */
#ifndef HWPMC_INTEL_H
#define HWPMC_INTEL_H

#include <linux/jump_label.h>
#include <linux/percpu.h>

#include "intel_encode.h"
#include "intel_regs.h"
#include "x86_reserve.h"

extern struct hwpmc_intel_pmu hwpmc_intel_pmu;
/* This CPU's: of its kind of core, or the same where all are alike. Set when the CPU comes
 * up. */
DECLARE_PER_CPU(const struct hwpmc_intel_pmu *, hwpmc_intel_here);

/* Version 6: counters and selects are written at its addresses. */
DECLARE_STATIC_KEY_FALSE(hwpmc_intel_v6);

static inline u32 hwpmc_intel_evtsel(unsigned int ri)
{
	return static_branch_unlikely(&hwpmc_intel_v6) ? INTEL_EVTSEL_V6(ri) :
							 INTEL_EVTSEL(ri);
}

static inline u32 hwpmc_intel_fixed_ctr(unsigned int ri)
{
	return static_branch_unlikely(&hwpmc_intel_v6) ? INTEL_FIXED_CTR_V6(ri) :
							 INTEL_FIXED_CTR(ri);
}

/* Clear (on) what each counter of this CPU has beside its select, or write it back. */
void hwpmc_intel_more_gp_irqoff(const struct hwpmc_intel_pmu *here, bool on);
void hwpmc_intel_more_fixed_irqoff(const struct hwpmc_intel_pmu *here, bool on);

/* Fill in the description and the bank, once. Returns as probe() in backend.h does. */
int hwpmc_intel_detect(struct hwpmc_class *cls);

/*
 * On this CPU: acknowledge the overflow status of the counters `own`, and enable (on)
 * or disable them. Bits as in INTEL_GLOBAL_CTRL.
 */
void hwpmc_intel_global_irqoff(u64 own, bool on);

/* INTEL_GLOBAL_CTRL, where it does not enable all of these any more; else 0. */
u32 hwpmc_intel_global_changed_irqoff(u64 own);

/* Have these of INTEL_GLOBAL_CTRL that are on, by the function above, been switched off by
 * somebody else? Then all are switched on again. */
bool hwpmc_intel_global_restore_nmi(u64 own);

/* Registers that others have left so that counters could not interrupt or would stand still,
 * on this CPU: cleared, if they are not yet, and given back; see intel_side_regs.c. */
void hwpmc_intel_found_clear_irqoff(void);
void hwpmc_intel_found_restore_irqoff(void);

/* Callbacks `hardware` of both classes. */
int hwpmc_intel_claim(struct hwpmc_class *cls, struct hwpmc_hdr *hdr);
u32 hwpmc_intel_running_irqoff(const struct hwpmc_class *cls);

#endif /* HWPMC_INTEL_H */
