/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* drain.h - the thread that writes a log to its descriptor. Process context. */
#ifndef HWPMC_DRAIN_H
#define HWPMC_DRAIN_H

#include <linux/types.h>

struct file;
struct hwpmc_log;

/* Can a log be written to it? */
bool hwpmc_drain_can_write(const struct file *file);

int hwpmc_drain_start(struct hwpmc_log *log);
/* Returns when the thread is gone. discard: what is not yet written is lost. */
void hwpmc_drain_stop(struct hwpmc_log *log, bool discard);
/* 0 when all records up to now are written, -EINTR, or the error of the write. */
int hwpmc_drain_flush(struct hwpmc_log *log);

#endif /* HWPMC_DRAIN_H */
