/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * configure.h - life of an owner's log. Process context.
 *
 * States, each entered once, in this order; `closing` is skipped on request:
 *
 *	new	log_new(); no other thread can find it
 *	open	begin_locked(); owner->log points to it, records are written
 *	closing	hwpmc_log_close() or hwpmc_log_end_later(): its PMCs are stopped, only the
 *		records that end it are written
 *	ended	hwpmc_log_end(): owner->log is NULL
 *	freed	hwpmc_log_end_later(): writers and the drain thread are gone; the memory
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

#endif /* HWPMC_CONFIGURE_H */
