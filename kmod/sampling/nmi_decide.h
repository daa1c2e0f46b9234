/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * nmi_decide.h - is an NMI ours? The decision of nmi.c as a table. Pure; inline, for
 * each NMI of the machine comes through here.
 *
 *	found	owned	masked	expected | verdict	  then
 *	yes	-	-	-	 | NMI_RAISED	  unmask
 *	no	yes	yes	-	 | NMI_RAISED	  unmask; consume an expectation
 *	no	yes	no	yes	 | NMI_SPENT	  consume the expectation
 *	no	no	-	yes	 | NMI_SPENT	  consume the expectation
 *	no	yes	no	no	 | NMI_FOREIGN	  nothing
 *	no	no	-	no	 | NMI_FOREIGN	  nothing
 *
 * One that .others have raised consumes no expectation: it is theirs where it finds nothing,
 * and where it finds an overflow, the counter's own NMI is still on its way.
 *
 * An NMI that finds several overflows was raised for one of them. Where the APIC did not mask
 * the interrupt as it delivered this one, as AMD's does not, one more NMI is expected for each
 * of the others. Where it did, it has dropped theirs: an expectation would only take a foreign
 * NMI for one of them. An NMI that finds nothing consumes one expectation, also where the mask
 * shows by itself that it was the counters'; all lapse some time after the last was added
 * (nmi.c).
 *
 * The NMI of another device that comes between an overflow and its interrupt finds the overflow,
 * and is claimed: nothing but the mask differs, and that is not read for a single overflow.
 *
 * found: .overflows or .unstoppable is not 0. "-" is not asked for: .masked costs an
 * access to the local APIC, .expected a multiplication. nmi.c fills in these two only
 * where hwpmc_nmi_asks_*() say that the verdict, or what is to come, depends on them.
 */
#ifndef HWPMC_NMI_DECIDE_H
#define HWPMC_NMI_DECIDE_H

#include "../compat/types.h"

struct hwpmc_nmi_facts {
	/* Armed rows of this CPU that the first look found overflowed. */
	unsigned int overflows;
	/* Rows that could not be stopped and have overflowed since. */
	unsigned int unstoppable;
	/* The counters of this CPU are the module's, or were until just now. */
	bool owned;
	/* The APIC has masked the counters' interrupt, as Intel's does at delivery, and
	 * some hypervisors' for AMD. */
	bool masked;
	/* Another handler has found it to be its own, on a processor whose counters raise an
	 * NMI each (AMD). */
	bool others;
	/* At least one NMI is expected whose overflow has been handled already. */
	bool expected;
};

enum hwpmc_nmi_verdict {
	HWPMC_NMI_FOREIGN,	/* leave it to the other handlers */
	HWPMC_NMI_RAISED,	/* ours: the counters raised it, so unmask them */
	HWPMC_NMI_SPENT,	/* ours: the expected one, with nothing left to find */
};

static inline bool hwpmc_nmi_found(const struct hwpmc_nmi_facts *f)
{
	return f->overflows || f->unstoppable;
}

static inline unsigned int hwpmc_nmi_nfound(const struct hwpmc_nmi_facts *f)
{
	return f->overflows + f->unstoppable;
}

static inline bool hwpmc_nmi_asks_masked(const struct hwpmc_nmi_facts *f)
{
	return f->owned && hwpmc_nmi_nfound(f) != 1;
}

/* After .masked has been filled in where it was asked for. */
static inline bool hwpmc_nmi_asks_expected(const struct hwpmc_nmi_facts *f)
{
	return !hwpmc_nmi_found(f) && !(f->owned && f->masked) && !f->others;
}

static inline enum hwpmc_nmi_verdict
hwpmc_nmi_decide(const struct hwpmc_nmi_facts *f)
{
	if (hwpmc_nmi_found(f) || (f->owned && f->masked))
		return HWPMC_NMI_RAISED;
	return f->expected && !f->others ? HWPMC_NMI_SPENT : HWPMC_NMI_FOREIGN;
}

/*
 * NMIs that are on their way and will find nothing: one for each overflow of the second look,
 * which came after the interrupt was unmasked, and, where it had not been masked before, one
 * for each of the first look but the one that raised this NMI.
 */
static inline unsigned int hwpmc_nmi_to_come(const struct hwpmc_nmi_facts *f,
					     unsigned int second_look)
{
	unsigned int found = hwpmc_nmi_nfound(f);

	/* Mostly: it was raised for the only overflow. */
	if (found == 1 && !f->others)
		return second_look;
	return second_look + (found && !f->masked ? found - !f->others : 0);
}

/*
 * Interrupts that can be on their way at a time, for counters can overflow again before
 * the interrupt of their last overflow has come. Processors and hypervisors may merge
 * them, and then fewer come than are expected: this bounds how many NMIs of others are
 * taken for them.
 */
#define HWPMC_NMI_MOST	32

/* Expected in total, with some expected already. merges: the APIC drops what comes while
 * one is on its way. */
static inline unsigned int hwpmc_nmi_expect(unsigned int already, unsigned int more,
					    bool merges)
{
	unsigned int most = merges ? 1 : HWPMC_NMI_MOST;

	return already + more < most ? already + more : most;
}

#endif /* HWPMC_NMI_DECIDE_H */
