/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * lost_pmi.h - rows that sample and whose interrupt the hardware has lost. A row that is
 * switched out is found then; one of a CPU, or of a program that never gives way, would
 * count on without a sample. So while a PMC samples by NMI each CPU that does so is looked
 * at once a second.
 */
#ifndef HWPMC_LOST_PMI_H
#define HWPMC_LOST_PMI_H

#include <linux/types.h>

/* A PMC that samples by NMI exists, or does not any more. Process context, hwpmc_lock. */
void hwpmc_overdue_get(void);
void hwpmc_overdue_put(void);
/* Is there one alone? */
bool hwpmc_overdue_has_one(void);
/* At unload. */
void hwpmc_overdue_exit(void);

#endif /* HWPMC_LOST_PMI_H */
