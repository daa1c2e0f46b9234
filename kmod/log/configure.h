/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * configure.h - life of an owner's log. Process context.
 *
 * States, each entered once, in this order; `closing` is skipped on request:
 *
 *	new	log_new(); no other thread can find it
 *	open	begin_locked(); owner->log points to it, records are written
 *	closing	hwpmc_log_close() or hwpmc_log_free(): its PMCs are stopped, only the
 *		records that end it are written
 *	ended	hwpmc_log_end(): owner->log is NULL
 *	freed	hwpmc_log_free(): writers and the drain thread are gone; the memory
 *		stays until the last flush and the last mapping drop their reference
 */
#ifndef HWPMC_CONFIGURE_H
#define HWPMC_CONFIGURE_H

#include "../sampling/log.h"

struct file;
struct hwpmc_hdr;
struct hwpmc_op_configurelog;

/*
 * CONFIGURELOG. Not under hwpmc_lock, because it allocates much memory. Takes over
 * the reference to the file (NULL: mapped form) even if it fails.
 */
int hwpmc_log_configure(struct hwpmc_owner *owner,
			struct hwpmc_op_configurelog *op, struct file *file);
/* CONFIGURELOG with descriptor -1. Not under hwpmc_lock. */
int hwpmc_log_unconfigure(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);
/* CLOSELOG. Not under hwpmc_lock: waits for writers. */
int hwpmc_log_close(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);
/* WRITELOG. Under hwpmc_lock. */
int hwpmc_log_write(struct hwpmc_owner *owner, u32 userdata,
		    struct hwpmc_hdr *hdr);
/* FLUSHLOG. Not under hwpmc_lock: waits for the reader. */
int hwpmc_log_flush(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);

/*
 * Detach the log from its owner, and stop the PMCs that need it. Under hwpmc_lock.
 * Returns the log, or NULL. discard: do not write the records that end it.
 */
struct hwpmc_log *hwpmc_log_end(struct hwpmc_owner *owner, bool discard);
/*
 * The second half, without hwpmc_lock: waits for writers, and for the reader as long
 * as it makes progress, unless `discard`. NULL is allowed.
 */
void hwpmc_log_free(struct hwpmc_log *log, bool discard);
/*
 * The same by a work item, which holds the owner; under hwpmc_lock, so that a close that
 * finds the log gone knows that it is still ending.
 */
void hwpmc_log_free_later(struct hwpmc_log *log);
int hwpmc_log_ends_init(void);
/* At unload: waits for them. */
void hwpmc_log_ends_exit(void);

/* The owner's log with a reference, or NULL. Any context that may take RCU. */
struct hwpmc_log *hwpmc_log_get(struct hwpmc_owner *owner);
/* May free the log, and so sleep. */
void hwpmc_log_put(struct hwpmc_log *log);

#endif /* HWPMC_CONFIGURE_H */
