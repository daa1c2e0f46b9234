/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* irq_work.h - work that is done as soon as interrupts are on again, RT or not. */
#ifndef HWPMC_COMPAT_IRQ_WORK_H
#define HWPMC_COMPAT_IRQ_WORK_H

#include <linux/irq_work.h>

#ifndef IRQ_WORK_INIT_HARD	/* since 5.11 */
#define IRQ_WORK_INIT_HARD(fn)						\
	(struct irq_work){ .flags = ATOMIC_INIT(IRQ_WORK_HARD_IRQ), .func = (fn) }
#endif

#endif /* HWPMC_COMPAT_IRQ_WORK_H */
