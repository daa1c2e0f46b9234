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
	return kp.addr;
}

#endif
