// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* 6.16: rdmsrq() and its family took the place of rdmsrl(); rdpmc() of rdpmcl(). */
#include <asm/msr.h>

u64 probe(void);

u64 probe(void)
{
	u64 value;

	rdmsrq(0, value);
	return value + rdpmc(0);
}
