/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * classify.h - what matters of an instruction's encoding. Pure: also compiled
 * into the unit tests of the host.
 */
#ifndef VPMU_CLASSIFY_H
#define VPMU_CLASSIFY_H

#include <stddef.h>
#include <stdint.h>

enum {
	F_BRANCH = 1,		/* counts as a branch */
	F_TRAP = 2,		/* INT3 and such: retires, then traps */
	F_REP = 4,		/* a repeated string instruction */
	F_PURE = 8,		/* cannot leave its block early */
	F_SITE = 16,		/* is emulated, or looked at: see `kind` */
	F_SWITCH = 32,		/* may change the privilege level */
	F_IRET = 64,		/* lets NMIs come again */
	F_INT3 = 128,
	F_RETURN = 256,
};

enum kind { K_CPUID, K_RDMSR, K_WRMSR, K_RDPMC, K_CR3, K_RDTSC };

struct insn {
	unsigned int flags;
	int kind;		/* enum kind, if F_SITE */
	int reg;		/* source register of MOV to CR3 */
};

struct insn classify(const uint8_t *bytes, size_t len);

#endif
