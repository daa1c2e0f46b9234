/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_losses.h - the LOSS records of a session's log.
 */
#ifndef HWPMC_TESTS_KMOD_LOSSES_H
#define HWPMC_TESTS_KMOD_LOSSES_H

#include "kmod_session.h"

#define LOSSES	16
#define LOOKS	6	/* after this number all rows have been looked at, and more */

/* LOSS records so far; written by the reader's thread. */
extern struct hwpmc_log_loss losses[LOSSES];
extern atomic_uint nlosses;
/* The time of INITIALIZE. */
extern uint64_t log_began;

/* Begins a session without losses so far. */
void begin_logging(struct session *s);
/* Waits until there are n records in all. */
void await_losses(unsigned int n);
/* Returns the number of records of a PMC and CPU with these flags. */
unsigned int losses_of(uint32_t id, uint32_t cpu, uint8_t flags);

#endif /* HWPMC_TESTS_KMOD_LOSSES_H */
