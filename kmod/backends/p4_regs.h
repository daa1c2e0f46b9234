/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * p4_regs.h - Netburst's performance monitoring: 18 counters, each with a counter
 * configuration control register (CCCR), and event selection control registers (ESCR),
 * two of each unit of the core. Intel SDM volume 3, "Performance Monitoring
 * (Processors Based on Intel NetBurst Microarchitecture)"; volume 4 for the addresses.
 */
#ifndef HWPMC_P4_REGS_H
#define HWPMC_P4_REGS_H

#include "../compat/types.h"

#define P4_NUM			18
#define P4_WIDTH		40
#define P4_CTR(n)		(0x300 + (n))
#define P4_CCCR(n)		(0x360 + (n))
#define P4_ESCR_FIRST		0x3a0

/* With hyper-threading thread 0 has these counters and the first ESCR of each unit,
 * thread 1 has the others. */
#define P4_ROWS_THREAD0		(BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(4) | BIT_ULL(5) |	\
				 BIT_ULL(8) | BIT_ULL(9) | BIT_ULL(12) |		\
				 BIT_ULL(13) | BIT_ULL(16))
#define P4_ROWS_THREAD1		(BIT_ULL(2) | BIT_ULL(3) | BIT_ULL(6) | BIT_ULL(7) |	\
				 BIT_ULL(10) | BIT_ULL(11) | BIT_ULL(14) |		\
				 BIT_ULL(15) | BIT_ULL(17))

#define   P4_CCCR_ENABLE	BIT_ULL(12)
#define   P4_CCCR_SELECT_SHIFT	13
#define   P4_CCCR_SELECT	GENMASK_ULL(15, 13)	/* selects an ESCR */
#define   P4_CCCR_THREAD_ANY	GENMASK_ULL(17, 16)	/* whichever thread is active */
#define   P4_CCCR_COMPARE	BIT_ULL(18)
#define   P4_CCCR_COMPLEMENT	BIT_ULL(19)
#define   P4_CCCR_THRESHOLD	GENMASK_ULL(23, 20)
#define   P4_CCCR_EDGE		BIT_ULL(24)
#define   P4_CCCR_PMI_T0	BIT_ULL(26)
#define   P4_CCCR_PMI_T1	BIT_ULL(27)

#define   P4_ESCR_T1		GENMASK_ULL(1, 0)	/* user mode, kernel mode */
#define   P4_ESCR_T0_USR	BIT_ULL(2)
#define   P4_ESCR_T0_OS		BIT_ULL(3)
#define   P4_ESCR_T0		(P4_ESCR_T0_USR | P4_ESCR_T0_OS)
#define   P4_ESCR_MASK		GENMASK_ULL(24, 9)
#define   P4_ESCR_MASK_SHIFT	9
#define   P4_ESCR_EVENT_SHIFT	25

/*
 * A request is perf's raw code of these CPUs: the CCCR in the low half, the ESCR in the
 * high half, with the event's number in perf's list in place of its code, because the
 * same code means different events in different units.
 */
#define   P4_REQUEST_CCCR	(P4_CCCR_THREAD_ANY | P4_CCCR_COMPARE |		\
				 P4_CCCR_COMPLEMENT | P4_CCCR_THRESHOLD | P4_CCCR_EDGE)
#define   P4_REQUEST_EVENT_SHIFT (32 + P4_ESCR_EVENT_SHIFT)
#define   P4_REQUEST_EVENT	GENMASK_ULL(62, 57)
#define   P4_REQUEST_MASK	(P4_ESCR_MASK << 32)
#define   P4_REQUEST_TAG	GENMASK_ULL(40, 36)	/* value and enable */

#define P4_MISC_ENABLE		0x1a0
#define   P4_MISC_PERFMON	BIT_ULL(7)

#endif /* HWPMC_P4_REGS_H */
