/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * x86_pmi.h - the counters' interrupt: the local APIC delivers it as an NMI.
 */
#ifndef HWPMC_X86_PMI_H
#define HWPMC_X86_PMI_H

#include "backend.h"

/* A class of this machine has counters with this interrupt, or, without a local
 * APIC, has not: sampling is taken from its capabilities. Probe. */
void hwpmc_pmi_class(struct hwpmc_class *cls);

/*
 * Let this CPU's interrupt come (again). Intel's APIC masks it at each delivery;
 * perf unmasks it once, when it finds a PMU, and relies on that.
 */
void hwpmc_pmi_open_irqoff(void);
void hwpmc_pmi_open_nmi(void);
/*
 * Has it come since it was opened? Intel's tells, by its mask; where nothing tells
 * the answer is no.
 */
bool hwpmc_pmi_has_come_nmi(void);

#endif /* HWPMC_X86_PMI_H */
