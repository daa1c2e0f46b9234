/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* irq_work.h - irq_work that runs in hard interrupt context on RT kernels too. */
#ifndef HWPMC_COMPAT_IRQ_WORK_H
#define HWPMC_COMPAT_IRQ_WORK_H

#include <linux/irq_work.h>

#ifndef IRQ_WORK_INIT_HARD	/* since 5.11 */
#define IRQ_WORK_INIT_HARD(fn)						\
	(struct irq_work){ .flags = ATOMIC_INIT(IRQ_WORK_HARD_IRQ), .func = (fn) }
#endif

#endif /* HWPMC_COMPAT_IRQ_WORK_H */
