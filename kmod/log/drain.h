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
/* True: it has put the file, and has exited. Of a log that has ended. */
bool hwpmc_drain_is_gone(struct hwpmc_log *log);
/*
 * It is to write what is left and put the file. Called once a second: if it has made no
 * progress since the last call, it is killed. False: it was killed at an earlier call, and
 * nobody is to wait for it any longer.
 */
bool hwpmc_drain_urge(struct hwpmc_log *log);
/* 0 when all records up to now are written, -EINTR, or the error of the write. */
int hwpmc_drain_flush(struct hwpmc_log *log);

#endif /* HWPMC_DRAIN_H */
