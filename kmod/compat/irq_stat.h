/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* irq_stat.h - the kernel's count of local APIC interrupts. */
#ifndef HWPMC_COMPAT_IRQ_STAT_H
#define HWPMC_COMPAT_IRQ_STAT_H

#include <linux/hardirq.h>
#include <linux/percpu.h>

#include "have.h"

/* Timer interrupts of this CPU since boot. Preemption is off. */
static inline unsigned int hwpmc_timer_irqs_nmi(void)
{
#ifdef HAVE_IRQ_STAT_COUNTS
	return __this_cpu_read(irq_stat.counts[IRQ_COUNT_APIC_TIMER]);
#else
	return __this_cpu_read(irq_stat.apic_timer_irqs);
#endif
}

/* NMIs and interrupts of this CPU that perf's handlers have found to be theirs, and Intel's
 * each one in which a counter had overflowed. Preemption is off. */
static inline unsigned int hwpmc_perf_irqs_nmi(void)
{
#ifdef HAVE_IRQ_STAT_COUNTS
	return __this_cpu_read(irq_stat.counts[IRQ_COUNT_APIC_PERF]);
#else
	return __this_cpu_read(irq_stat.apic_perf_irqs);
#endif
}

#endif /* HWPMC_COMPAT_IRQ_STAT_H */
