/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * end.h - the end of a log: references, and what is done after its owner has let go of it.
 * Process context.
 */
#ifndef HWPMC_END_H
#define HWPMC_END_H

#include <linux/types.h>

struct hwpmc_hdr;
struct hwpmc_log;
struct hwpmc_owner;

/* The owner's log with a reference, or NULL. Any context that may take RCU. */
struct hwpmc_log *hwpmc_log_get(struct hwpmc_owner *owner);
/* May free the log, and so sleep; waits for no user. */
void hwpmc_log_put(struct hwpmc_log *log);

/* From here on only the records that end it are written. hwpmc_lock. */
void hwpmc_log_close_locked(struct hwpmc_log *log);
/* Those records. Sleeps for a grace period. */
void hwpmc_log_write_end(struct hwpmc_log *log);

/*
 * Detach the log from its owner, and stop the PMCs that need it. Under hwpmc_lock.
 * Returns the log, or NULL. discard: do not write the records that end it.
 */
struct hwpmc_log *hwpmc_log_end(struct hwpmc_owner *owner, bool discard);
/*
 * The second half, with or without hwpmc_lock: a work item goes on from here. It lets the
 * reader go on as long as that makes progress, unless `discard`; the file is put by the
 * drain thread, and nobody else waits for either. NULL is allowed.
 */
void hwpmc_log_end_later(struct hwpmc_log *log, bool discard);
/* Wait for the ends of an owner's logs, in its own process; killable. At most as long as
 * their readers make progress, and two seconds. */
void hwpmc_log_ends_await(struct hwpmc_owner *owner);
/* Of all logs that end now, but those of the caller's process, what is not written yet is
 * lost. Waits for them, for a second at most. */
void hwpmc_log_ends_discard(void);
/* The drain thread is gone. */
void hwpmc_log_drainer_gone(struct hwpmc_log *log);

int hwpmc_log_ends_init(void);
/* At unload: waits for them. */
void hwpmc_log_ends_exit(void);

#endif /* HWPMC_END_H */
