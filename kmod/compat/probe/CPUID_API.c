// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Since about 6.16: cpuid() and its family have a header of their own. */
#include <asm/cpuid/api.h>

u32 probe(void);

u32 probe(void)
{
	return cpuid_eax(0);
}
