/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * x86_pmi.h - the counters' interrupt: the local APIC delivers it as an NMI.
 */
#ifndef HWPMC_X86_PMI_H
#define HWPMC_X86_PMI_H

#include "backend.h"

/* Mark a class as interrupting by LVTPC; without a local APIC, take CAP_INTERRUPT
 * away from it. In its probe. */
void hwpmc_pmi_class(struct hwpmc_class *cls);

/*
 * Unmask this CPU's interrupt, as NMI. Intel's APIC masks it at each delivery, AMD's does
 * not, but that of a hypervisor may (KVM of Linux 6.9). perf unmasks it once, when it
 * detects a PMU, and relies on finding it so.
 */
void hwpmc_pmi_open_irqoff(void);
void hwpmc_pmi_open_nmi(void);
/*
 * Has the interrupt been delivered since it was unmasked? Where the APIC masks it the
 * mask tells; elsewhere the answer is no.
 */
bool hwpmc_pmi_has_come_nmi(void);
/* At most one interrupt is on its way at a time, however many counters overflow: Intel. */
bool hwpmc_pmi_merges_nmi(void);

#endif /* HWPMC_X86_PMI_H */
