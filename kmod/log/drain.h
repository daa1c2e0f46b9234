/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* drain.h - the thread that writes a log to its descriptor. Process context. */
#ifndef HWPMC_DRAIN_H
#define HWPMC_DRAIN_H

struct hwpmc_log;

int hwpmc_drain_start(struct hwpmc_log *log);
/* discard: what is not yet written is not written. Returns when it is gone. */
void hwpmc_drain_stop(struct hwpmc_log *log, bool discard);
int hwpmc_drain_flush(struct hwpmc_log *log);

#endif /* HWPMC_DRAIN_H */
