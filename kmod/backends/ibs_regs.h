/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * ibs_regs.h - registers of AMD's instruction-based sampling: AMD64 Architecture Programmer's
 * Manual, volume 2, chapter 13, and the processor programming references.
 */
#ifndef HWPMC_IBS_REGS_H
#define HWPMC_IBS_REGS_H

#include "../compat/types.h"

#define AMD_IBS_MSR_FETCH_CTL	0xc0011030
#define AMD_IBS_MSR_FETCH_LINADDR	0xc0011031
#define AMD_IBS_MSR_FETCH_PHYSADDR	0xc0011032
#define AMD_IBS_MSR_OP_CTL		0xc0011033
#define AMD_IBS_MSR_OP_RIP		0xc0011034
#define AMD_IBS_MSR_OP_DATA		0xc0011035
#define AMD_IBS_MSR_OP_DATA2	0xc0011036
#define AMD_IBS_MSR_OP_DATA3	0xc0011037
#define AMD_IBS_MSR_DC_LINADDR	0xc0011038
#define AMD_IBS_MSR_DC_PHYSADDR	0xc0011039
#define AMD_IBS_MSR_BRTARGET	0xc001103b
#define AMD_IBS_MSR_FETCH_EXTCTL	0xc001103c
#define AMD_IBS_MSR_OP_CTL2	0xc001103e
#define AMD_IBS_MSR_FETCH_CTL2	0xc001103f

/* CPUID 0x8000001b EAX. */
#define AMD_IBS_CPUID		0x8000001b
#define AMD_IBS_CAP_VALID		0x0001u
#define AMD_IBS_CAP_FETCH		0x0002u
#define AMD_IBS_CAP_OP		0x0004u
#define AMD_IBS_CAP_CURCNT		0x0008u	/* the count of ops can be read and written */
#define AMD_IBS_CAP_OPCNT		0x0010u	/* dispatched ops can be counted */
#define AMD_IBS_CAP_BRTARGET	0x0020u
#define AMD_IBS_CAP_OPEXT		0x0040u	/* 27 bits of count, not 20 */
#define AMD_IBS_CAP_RIPINVALID	0x0080u	/* OP_DATA says whether the address is valid */
#define AMD_IBS_CAP_EXTCTL		0x0200u
#define AMD_IBS_CAP_ZEN4		0x0800u	/* L3MissOnly */
#define AMD_IBS_CAP_LDLAT		0x1000u	/* a filter of latencies of loads */
#define AMD_IBS_CAP_DIS		0x2000u	/* Zen 6: second control registers */
#define AMD_IBS_CAP_FETCHLAT	0x4000u	/* a filter of latencies of fetches */
#define AMD_IBS_CAP_BIT63	0x8000u	/* filters of the address's highest bit */
#define AMD_IBS_CAP_STREAM	0x10000u	/* a filter of streaming stores */

#define AMD_IBS_OP_MAX		0x000000000000ffffull	/* bits 19:4 of the period */
#define AMD_IBS_OP_L3MISS		(1ull << 16)
#define AMD_IBS_OP_EN		(1ull << 17)
#define AMD_IBS_OP_VAL		(1ull << 18)
#define AMD_IBS_OP_CNT_OPS		(1ull << 19)		/* 0: cycles */
#define AMD_IBS_OP_MAX_EXT		0x0000000007f00000ull	/* bits 26:20 of the period, in place */
#define AMD_IBS_OP_CUR_SHIFT	32
#define AMD_IBS_OP_CUR_MASK		0x7ffffffull
#define AMD_IBS_OP_RANDOM		0x7full	/* bits of the count that are random after a sample */
#define AMD_IBS_OP_LDLAT_SHIFT	59
#define AMD_IBS_OP_LDLAT_MASK	(0xfull << AMD_IBS_OP_LDLAT_SHIFT)	/* (cycles / 128) - 1 */
#define AMD_IBS_OP_LDLAT_EN		(1ull << 63)

#define AMD_IBS_FETCH_MAX		0x000000000000ffffull	/* bits 19:4 of the period */
#define AMD_IBS_FETCH_CUR_SHIFT	16			/* bits 19:4 of the count */
#define AMD_IBS_FETCH_EN		(1ull << 48)
#define AMD_IBS_FETCH_VAL		(1ull << 49)
#define AMD_IBS_FETCH_PHYS_VALID	(1ull << 52)
#define AMD_IBS_FETCH_RAND		(1ull << 57)
#define AMD_IBS_FETCH_L3MISS	(1ull << 59)

/* The second control registers; the filters of modes are in another order in each. */
#define AMD_IBS_CTL2_DIS		(1ull << 0)
#define AMD_IBS_OP2_NO_USER	(1ull << 1)
#define AMD_IBS_OP2_NO_KERNEL	(1ull << 2)
#define AMD_IBS_OP2_STREAM	(1ull << 3)
#define AMD_IBS_FETCH2_LAT		(0xfull << 1)	/* cycles / 128; 0: all */
#define AMD_IBS_FETCH2_NO_KERNEL	(1ull << 5)
#define AMD_IBS_FETCH2_NO_USER	(1ull << 6)

#define AMD_IBS_DATA_BRANCH		(1ull << 37)	/* a branch retired */
#define AMD_IBS_DATA_RIP_INVALID	(1ull << 38)

#define AMD_IBS_DATA3_LOAD		(1ull << 0)
#define AMD_IBS_DATA3_STORE		(1ull << 1)
#define AMD_IBS_DATA3_MISS		(1ull << 7)	/* the data cache was missed */
#define AMD_IBS_DATA3_LIN_VALID	(1ull << 17)
#define AMD_IBS_DATA3_PHYS_VALID	(1ull << 18)
#define AMD_IBS_DATA3_LAT_SHIFT	32
#define AMD_IBS_DATA3_LAT_MASK	0xffffull

#endif /* HWPMC_IBS_REGS_H */
