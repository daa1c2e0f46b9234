// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * mapped.c - the mapped form of a log: mmap() and poll() of the device. They hold a
 * reference to the log in place of hwpmc_lock, which must not be taken inside a
 * program's mmap_lock.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sched/signal.h>

#include "../compat/mm.h"
#include "../core/owner.h"
#include "../sampling/log_object.h"
#include "end.h"
#include "mapped.h"
#include "rings.h"

/*
 * A mapping holds the log, its memory, and the charge for it, which is its own mm's. A
 * program can clear VM_DONTCOPY (MADV_DOFORK): the copy in a child then holds nothing, and
 * has no pages. Pages are mapped by faults alone, so that fork copies no page table. The
 * mapping that is copied is the mm's of the charge, or holds nothing: the two are compared
 * while both exist.
 */
static void ring_area_open(struct vm_area_struct *vma)
{
	struct hwpmc_log *log = vma->vm_private_data;

	if (log && vma->vm_mm == log->mm)
		refcount_inc(&log->users);
	else
		vma->vm_private_data = NULL;
}

static void ring_area_close(struct vm_area_struct *vma)
{
	if (vma->vm_private_data)
		hwpmc_log_put(vma->vm_private_data);
}

static vm_fault_t ring_area_fault(struct vm_fault *vmf)
{
	struct hwpmc_log *log = vmf->vma->vm_private_data;
	struct page *page = log ? hwpmc_rings_page(log, vmf->pgoff) : NULL;

	if (!page)
		return VM_FAULT_SIGBUS;
	get_page(page);
	vmf->page = page;
	return 0;
}

static const struct vm_operations_struct ring_vm_ops = {
	.open = ring_area_open,
	.close = ring_area_close,
	.fault = ring_area_fault,
};

int hwpmc_log_mmap(struct hwpmc_owner *owner, struct vm_area_struct *vma)
{
	struct hwpmc_log *log = hwpmc_log_get(owner);
	int ret = -EINVAL;

	if (!log)
		return ret;
	if (log->mapped && task_tgid(current) == owner->tgid && log->mm == vma->vm_mm)
		ret = hwpmc_rings_check_area(log, vma);
	if (ret) {
		hwpmc_log_put(log);
		return ret;
	}
	/* The reference is the mapping's from here on. */
	vma->vm_private_data = log;
	vma->vm_ops = &ring_vm_ops;
	/* Not for children: they may have lost the privileges of their parent. */
	hwpmc_vma_flags(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, 0);
	return 0;
}

/* The last log has all its records: a reader that finds none need not wait for more. */
static bool mapped_log_is_gone(const struct hwpmc_owner *owner)
{
	return READ_ONCE(owner->had_mapped_log) && !atomic_read(&owner->mapped_logs);
}

/*
 * Records may be on their way for a moment after a log is closed: a reader takes the records that
 * it finds at EPOLLHUP for the last ones. Pairs with hwpmc_log_write_end().
 */
static bool has_ended(const struct hwpmc_log *log)
{
	/* Pairs with log_silence(). */
	return log->mapped ? smp_load_acquire(&log->quiet) : !READ_ONCE(log->open);
}

__poll_t hwpmc_log_poll(struct hwpmc_owner *owner, struct file *file,
			struct poll_table_struct *wait)
{
	struct hwpmc_log *log;
	__poll_t mask = 0;

	poll_wait(file, &owner->log_wait, wait);
	log = hwpmc_log_get(owner);
	if (!log)
		return mapped_log_is_gone(owner) ? EPOLLHUP : 0;
	if (has_ended(log))
		mask |= EPOLLHUP;
	if (log->mapped && hwpmc_rings_have_records(log))
		mask |= EPOLLIN | EPOLLRDNORM;
	hwpmc_log_put(log);
	return mask;
}
