/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * amd_regs.h - AMD's core performance counters in their three forms. AMD64
 * Architecture Programmer's Manual volume 2, chapter "Debug and Performance
 * Resources", and volume 3 for CPUID; family manuals for event codes.
 */
#ifndef HWPMC_AMD_REGS_H
#define HWPMC_AMD_REGS_H

#include "../compat/types.h"

/* The legacy four, from family 06h on. */
#define AMD_LEGACY_CTL(n)	(0xc0010000 + (n))
#define AMD_LEGACY_CTR(n)	(0xc0010004 + (n))
#define AMD_LEGACY_NUM		4

/* The extended six, CPUID 8000_0001 ECX bit 23; the first four alias the legacy four. */
#define AMD_CTL(n)		(0xc0010200 + 2 * (n))
#define AMD_CTR(n)		(0xc0010201 + 2 * (n))
#define AMD_EXTENDED_NUM	6
#define   AMD_CTL_EVENT_LOW	GENMASK_ULL(7, 0)
#define   AMD_CTL_EVENT_HIGH	GENMASK_ULL(35, 32)	/* family 10h */
#define   AMD_CTL_UMASK		GENMASK_ULL(15, 8)
#define   AMD_CTL_USR		BIT_ULL(16)
#define   AMD_CTL_OS		BIT_ULL(17)
#define   AMD_CTL_EDGE		BIT_ULL(18)
#define   AMD_CTL_INT		BIT_ULL(20)
#define   AMD_CTL_EN		BIT_ULL(22)
#define   AMD_CTL_INV		BIT_ULL(23)
#define   AMD_CTL_CMASK		GENMASK_ULL(31, 24)
/* Family 10h: count guests alone, the host alone; neither or both: all. */
#define   AMD_CTL_GUEST		BIT_ULL(40)
#define   AMD_CTL_HOST		BIT_ULL(41)
#define   AMD_CTL_WHOSE		(AMD_CTL_GUEST | AMD_CTL_HOST)

/* What the counter after an even one is programmed with to join it: the even one then adds
 * more than 15 a cycle, and carries into the other. Family 17h. */
/* Bits that select what the counter counts; a read returns them as written. */
#define   AMD_CTL_COUNTS	(AMD_CTL_EVENT_HIGH | AMD_CTL_EVENT_LOW | AMD_CTL_UMASK | \
				 AMD_CTL_USR | AMD_CTL_OS | AMD_CTL_EDGE | AMD_CTL_EN |	\
				 AMD_CTL_INV | AMD_CTL_CMASK)
#define   AMD_CTL_MERGE		(AMD_CTL_EVENT_HIGH | AMD_CTL_EVENT_LOW | AMD_CTL_EN)

#define AMD_UPPER_BITS		GENMASK_ULL(15, 0)	/* bits 63:48, in the odd counter */

/* Bits that a request may set; the module sets all others. */
#define   AMD_CTL_REQUEST	(AMD_CTL_EVENT_LOW | AMD_CTL_UMASK |	\
				 AMD_CTL_EDGE | AMD_CTL_INV | AMD_CTL_CMASK)

/* PerfMonV2: CPUID 8000_0022, EAX bit 0; EBX[3:0] core counters. */
#define AMD_CPUID_PERFMON	0x80000022
#define   AMD_EAX_V2		BIT_ULL(0)
#define   AMD_EAX_FREEZE	BIT_ULL(2)	/* DEBUGCTL can freeze LBR and counters */
#define   AMD_EBX_NUM(b)	((b) & 0xf)
#define AMD_GLOBAL_CTL		0xc0000301
#define AMD_GLOBAL_ACK		0xc0000302	/* PerfCntrGlobalStatusClr */
#define   AMD_GLOBAL_FROZEN	GENMASK_ULL(59, 58)	/* LBR, and the counters */
#define AMD_DEBUGCTL		0x1d9
#define   AMD_DEBUGCTL_FREEZE	BIT_ULL(12)	/* counters, at an overflow */

#define AMD_WIDTH		48
#define AMD_EVEN_ROWS		0x5555555555555555ULL

#endif /* HWPMC_AMD_REGS_H */
