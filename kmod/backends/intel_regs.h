/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * intel_regs.h - registers of Intel's architectural performance monitoring,
 * versions 1 to 6. Intel SDM volume 3, chapter "Performance Monitoring", and
 * volume 4 for the addresses; CPUID leaf 0xA in volume 2.
 */
#ifndef HWPMC_INTEL_REGS_H
#define HWPMC_INTEL_REGS_H

#include "../compat/types.h"

/* CPUID leaf 0x1A: the kind of core of this CPU. Leaf 7.0: the machine has several, leaf
 * 7.1: there is leaf 0x23, which has more than leaf 0xA, for this CPU alone. */
#define INTEL_LEAF_KIND		0x1a
#define   INTEL_CORE_TYPE	0x40
#define   INTEL_ATOM_TYPE	0x20
#define INTEL_LEAF_PERFMON	0x23
#define   INTEL_23_COUNTERS	BIT_ULL(1)	/* EAX: sub-leaf 1 exists */
#define   INTEL_23_RELOAD	BIT_ULL(2)	/* sub-leaf 2: counters that others reload */
#define   INTEL_23_PEBS		BIT_ULL(5)	/* sub-leaf 5: counters with PEBS */
#define   INTEL_23_UMASK2	BIT_ULL(0)	/* EBX: bits that a select may have */
#define   INTEL_23_EQ		BIT_ULL(1)
#define   INTEL_23_HIDE		BIT_ULL(2)

/* CPUID leaf 0xA. */
#define INTEL_CPUID_LEAF	0xa
#define   INTEL_EAX_VERSION(a)	((a) & 0xff)
#define   INTEL_EAX_NUM(a)	((a) >> 8 & 0xff)
#define   INTEL_EAX_WIDTH(a)	((a) >> 16 & 0xff)
#define   INTEL_EAX_EVENTS(a)	((a) >> 24 & 0xff)	/* bits valid in EBX */
#define   INTEL_EDX_FIXED(d)	((d) & 0x1f)		/* version 2 */
#define   INTEL_EDX_WIDTH(d)	((d) >> 5 & 0xff)	/* version 2 */
#define   INTEL_EDX_NO_ANY	BIT_ULL(15)

/* Programmable counters, version 1. */
#define INTEL_PMC(n)		(0x0c1 + (n))
#define INTEL_PMC_FULL(n)	(0x4c1 + (n))	/* writable in full width */
#define INTEL_EVTSEL(n)		(0x186 + (n))
#define   INTEL_SEL_EVENT	GENMASK_ULL(7, 0)
#define   INTEL_SEL_UMASK	GENMASK_ULL(15, 8)
#define   INTEL_SEL_USR		BIT_ULL(16)
#define   INTEL_SEL_OS		BIT_ULL(17)
#define   INTEL_SEL_EDGE	BIT_ULL(18)
#define   INTEL_SEL_INT		BIT_ULL(20)
#define   INTEL_SEL_ANY		BIT_ULL(21)	/* versions 3 and 4 */
#define   INTEL_SEL_EN		BIT_ULL(22)
#define   INTEL_SEL_INV		BIT_ULL(23)
#define   INTEL_SEL_CMASK	GENMASK_ULL(31, 24)
#define   INTEL_SEL_EQ		BIT_ULL(36)	/* equal to CMASK; by leaf 0x23 */
#define   INTEL_SEL_HIDE	BIT_ULL(37)	/* RDPMC of user mode reads 0; by leaf 0x23 */
#define   INTEL_SEL_UMASK2	GENMASK_ULL(47, 40)
#define   INTEL_SEL_MODIFIERS	(INTEL_SEL_EDGE | INTEL_SEL_INV | INTEL_SEL_CMASK)
#define   INTEL_SEL_CODE	(INTEL_SEL_EVENT | INTEL_SEL_UMASK)

/* Bits that select what the counter counts; a read returns them as written. */
#define   INTEL_SEL_COUNTS	(INTEL_SEL_CODE | INTEL_SEL_MODIFIERS |	\
				 INTEL_SEL_USR | INTEL_SEL_OS | INTEL_SEL_EN)

/* Bits that a request may set; the module sets all others. */
#define   INTEL_SEL_REQUEST	(INTEL_SEL_CODE | INTEL_SEL_EDGE |	\
				 INTEL_SEL_ANY | INTEL_SEL_INV | INTEL_SEL_CMASK)

/* Fixed counters, version 2: four control bits each, by leaf 0x23 one more. */
#define INTEL_FIXED_CTRL	0x38d
#define   INTEL_FIXED_OS	BIT_ULL(0)
#define   INTEL_FIXED_USR	BIT_ULL(1)
#define   INTEL_FIXED_INT	BIT_ULL(3)
#define   INTEL_FIXED_RUNS	(INTEL_FIXED_OS | INTEL_FIXED_USR)
#define   INTEL_FIXED_SHIFT(n)	(4 * (n))
#define   INTEL_FIXED_HIDE	BIT_ULL(33)	/* as INTEL_SEL_HIDE */
#define   INTEL_FIXED_FIELD	(GENMASK_ULL(3, 0) | INTEL_FIXED_HIDE)
#define INTEL_FIXED_CTR(n)	(0x309 + (n))
#define INTEL_RDPMC_FIXED	BIT_ULL(30)

/*
 * Version 6: four registers of each counter in a row. Counters, selects and fixed counters
 * are those above, at further addresses; the other two let counters reload each other, and
 * configure PEBS.
 */
#define INTEL_PMC_V6(n)		(0x1900 + 4 * (n))	/* writable in full width */
#define INTEL_EVTSEL_V6(n)	(0x1901 + 4 * (n))
#define INTEL_PMC_RELOAD(n)	(0x1902 + 4 * (n))
#define INTEL_PMC_CONFIG(n)	(0x1903 + 4 * (n))
#define INTEL_FIXED_CTR_V6(n)	(0x1980 + 4 * (n))
#define INTEL_FIXED_RELOAD(n)	(0x1982 + 4 * (n))
#define INTEL_FIXED_CONFIG(n)	(0x1983 + 4 * (n))

/* Global control, version 2: programmable counters from bit 0, fixed from 32. */
#define INTEL_GLOBAL_CTRL	0x38f
#define INTEL_GLOBAL_ACK	0x390	/* OVF_CTRL, from 4 on STATUS_RESET */
#define   INTEL_GLOBAL_FIXED	32
#define   INTEL_ACK_FREEZE	BIT_ULL(59)	/* version 4 */

#define INTEL_PERF_CAPABILITIES	0x345
#define   INTEL_CAP_FULL_WRITE	BIT_ULL(13)

/* Second half of an off-core response event; not architectural. */
#define INTEL_OFFCORE_RSP(n)	(0x1a6 + (n))
/* Likewise of events of the front end, which also count without PEBS. */
#define INTEL_PEBS_FRONTEND	0x3f7
/* Snoop response, beside events 0127H and 0227H: efficiency cores since Crestmont. */
#define INTEL_SNOOP_RSP(n)	(0x1328 + (n))

/* Registers beside the counters that others may have set; see intel_side_regs.c. */
#define INTEL_DEBUGCTL		0x1d9
#define   INTEL_DEBUGCTL_BTS	GENMASK_ULL(8, 6)	/* branch records to DS_AREA */
#define   INTEL_DEBUGCTL_FREEZE	BIT_ULL(12)		/* of counters, at an interrupt */
#define INTEL_PEBS_ENABLE	0x3f1
#define INTEL_DS_AREA		0x600

#endif /* HWPMC_INTEL_REGS_H */
