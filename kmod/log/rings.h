/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * rings.h - memory of a log's rings, one ring for each possible CPU: its size, what
 * RLIMIT_MEMLOCK has to say, its pages. Process context, without hwpmc_lock:
 * allocating sleeps, and a fault of a program holds mmap_lock.
 */
#ifndef HWPMC_RINGS_H
#define HWPMC_RINGS_H

#include "../sampling/log.h"

struct hwpmc_op_configurelog;
struct page;
struct vm_area_struct;

/* 0, or -EINVAL RING_SIZE. */
int hwpmc_rings_check_size(struct hwpmc_op_configurelog *op);
/*
 * Fill in the memory of a new log (owner, mapped, privileged are set). Refuses with
 * -EPERM LOCKED_MEMORY or -ENOMEM NO_MEMORY; hwpmc_rings_free() is due either way.
 */
int hwpmc_rings_alloc(struct hwpmc_log *log, struct hwpmc_op_configurelog *op);
void hwpmc_rings_free(struct hwpmc_log *log);
/* No reader is woken by an interrupt or a timer from here on, if nobody writes. Sleeps. */
void hwpmc_rings_wake_no_more(struct hwpmc_log *log);

/* Is the area the whole ring of a CPU, which vm_pgoff selects? 0, or -EINVAL; in mmap(). */
int hwpmc_rings_check_area(const struct hwpmc_log *log, const struct vm_area_struct *vma);
/* The page of a ring at an offset of the device; NULL: there is none. In a fault. */
struct page *hwpmc_rings_page(struct hwpmc_log *log, unsigned long pgoff);
/* Has a reader anything to read? */
bool hwpmc_rings_have_records(struct hwpmc_log *log);

#endif /* HWPMC_RINGS_H */
