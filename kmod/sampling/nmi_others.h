/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * nmi_others.h - NMIs that other handlers claim, and what one that nobody claims is then.
 *
 * Where no mask marks a counter's NMI, as on AMD, an overflow may be found in the NMI of another
 * device, which looks like the counter's own one. That comes later, finds nothing, and nobody
 * claims it. It is taken for the counter's if both can be so: an overflow has been found, and
 * another handler is at work, for it has claimed NMIs that were left to it. Each of these
 * permits one, and no two are taken for one overflow. All of it lapses with the time in which an
 * NMI may arrive (nmi.c). So a foreign NMI that nobody claims is hidden only beside others that
 * somebody claims.
 *
 * Handlers of the kernel are all called, and learn nothing of each other. But the handlers of
 * unknown NMIs are called only where none has claimed it: an NMI that was left, and did not
 * come there, was claimed.
 *
 * In NMI, on its own CPU.
 */
#ifndef HWPMC_NMI_OTHERS_H
#define HWPMC_NMI_OTHERS_H

#include <linux/percpu.h>

struct hwpmc_nmi_others {
	u64 left;		/* time of an NMI that was left, and did not come back yet; or 0 */
	u64 claimed;		/* time of the last one that another handler has claimed */
	unsigned int credit;	/* their number, less the NMIs that were taken for a counter's */
	u64 answered;		/* time of the overflow that the last taken one was for */
};

DECLARE_PER_CPU(struct hwpmc_nmi_others, hwpmc_nmi_others);

/* hwpmc_lock. */
int hwpmc_nmi_others_register(void);
void hwpmc_nmi_others_exit(void);

/* An NMI is left to the other handlers. */
void hwpmc_nmi_others_leave_nmi(u64 now);
void hwpmc_nmi_others_claimed_nmi(struct hwpmc_nmi_others *o);

/* An NMI has come: one that was left before was claimed. */
static inline void hwpmc_nmi_others_begin_nmi(void)
{
	if (unlikely(this_cpu_read(hwpmc_nmi_others.left)))
		hwpmc_nmi_others_claimed_nmi(this_cpu_ptr(&hwpmc_nmi_others));
}

#endif /* HWPMC_NMI_OTHERS_H */
