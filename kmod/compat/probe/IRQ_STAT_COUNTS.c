// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 7.x: the interrupts of a CPU are counted in an array. */
#include <linux/hardirq.h>

unsigned int probe(const irq_cpustat_t *stat);

unsigned int probe(const irq_cpustat_t *stat)
{
	return stat->counts[IRQ_COUNT_APIC_TIMER];
}
