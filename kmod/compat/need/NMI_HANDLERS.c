// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Samples are taken by a handler of local NMIs, and leave it by irq_work. */
#include <linux/irq_work.h>
#include <asm/nmi.h>

static int handler(unsigned int type, struct pt_regs *regs)
{
	return NMI_HANDLED;
}

void need(struct irq_work *work);
void need(struct irq_work *work)
{
	if (register_nmi_handler(NMI_LOCAL, handler, 0, "need") == 0)
		unregister_nmi_handler(NMI_LOCAL, "need");
	irq_work_queue(work);
	irq_work_sync(work);
}
