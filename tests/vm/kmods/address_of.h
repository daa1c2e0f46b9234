/* SPDX-License-Identifier: BSD-2-Clause */
/* address_of.h - functions that the kernel exports to KVM alone, or not at all. */
#ifndef ADDRESS_OF_H
#define ADDRESS_OF_H

#include <linux/kprobes.h>

/* NULL: there is none, or it cannot have a probe. */
static inline void *address_of(const char *symbol)
{
	struct kprobe kp = { .symbol_name = symbol };

	if (register_kprobe(&kp))
		return NULL;
	unregister_kprobe(&kp);
	/* A probe is behind the landing pad, and functions are aligned where there are such. */
	if (IS_ENABLED(CONFIG_X86_KERNEL_IBT))
		return (void *)ALIGN_DOWN((unsigned long)kp.addr, 16);
	return kp.addr;
}

#endif
