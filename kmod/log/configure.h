/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* configure.h - an owner's log begins, is read, and ends. */
#ifndef HWPMC_CONFIGURE_H
#define HWPMC_CONFIGURE_H

#include "../sampling/log.h"

struct file;
struct hwpmc_hdr;
struct hwpmc_op_configurelog;
struct poll_table_struct;
struct vm_area_struct;

/* The operations. Process context, under hwpmc_lock unless it says otherwise. */
/* Not under hwpmc_lock: the memory that it charges has a lock that anybody can hold. The file is
 * taken over, whatever comes of it. */
int hwpmc_log_configure(struct hwpmc_owner *owner,
			struct hwpmc_op_configurelog *op, struct file *file);
/* CONFIGURELOG -1; as that. */
int hwpmc_log_unconfigure(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);
/* 0, or -EINVAL RING_SIZE. Needs no lock. */
int hwpmc_log_check_size(struct hwpmc_op_configurelog *op);
int hwpmc_log_close(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);
int hwpmc_log_write(struct hwpmc_owner *owner, u32 userdata,
		    struct hwpmc_hdr *hdr);
/* Not under hwpmc_lock: waits for the reader. */
int hwpmc_log_flush(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);
/*
 * Take the owner's log away: the owner ends, or CONFIGURELOG -1. PMCs that need it
 * are stopped. The second half waits for writers, and, unless told to discard
 * what is not yet written, for a reader that goes on; not under hwpmc_lock then.
 */
struct hwpmc_log *hwpmc_log_end(struct hwpmc_owner *owner, bool discard);
void hwpmc_log_free(struct hwpmc_log *log, bool discard);

/* The mapped form: mmap() and poll() of the device. */
int hwpmc_log_mmap(struct hwpmc_owner *owner, struct vm_area_struct *vma);
__poll_t hwpmc_log_poll(struct hwpmc_owner *owner, struct file *file,
			struct poll_table_struct *wait);

#endif /* HWPMC_CONFIGURE_H */
