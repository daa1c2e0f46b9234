/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * loss.h - LOSS records: a counter did not count all events of a PMC (core/doubt.h), and when
 * it counts again. Process context, hwpmc_lock.
 */
#ifndef HWPMC_LOG_LOSS_H
#define HWPMC_LOG_LOSS_H

struct hwpmc_pmc;

/*
 * Writes what the log of the owner of the PMC, if it has one, does not have yet of this PMC,
 * which runs or has stopped just now. One record a CPU and change, whoever calls how often.
 */
void hwpmc_log_losses(struct hwpmc_pmc *pmc);
/* The same of all PMCs that run. */
void hwpmc_log_all_losses(void);

#endif /* HWPMC_LOG_LOSS_H */
