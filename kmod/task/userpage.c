// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * userpage.c - the page of a thread that says, for each row, what the counter's value
 * means (struct hwpmc_user_row). The module writes, the program can only read. A page is
 * written on the CPU where its thread runs or is switched, with interrupts off, so the
 * thread sees a change between two of its instructions; .seq shows it a change between
 * its own loads.
 *
 * A child's copy of the mapping is a page in which no row is valid.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/refcount.h>
#include <linux/slab.h>

#include "../compat/mm.h"
#include "../core/cpu.h"
#include "../core/owner.h"
#include "registry.h"
#include "target.h"
#include "userpage.h"

static_assert(sizeof(struct hwpmc_user_row) * HWPMC_ROW_MAX == HWPMC_USER_SIZE);

struct hwpmc_userpage {
	refcount_t users;		/* the thread, and mappings */
	struct mm_struct *mm;		/* of the thread; compared while it exists */
	struct hwpmc_user_row *row;	/* a page; HWPMC_ROW_MAX of them */
};

/* ---- slices -------------------------------------------------------------- */

static void user_row_invalidate(struct hwpmc_user_row *e)
{
	WRITE_ONCE(e->seq, e->seq + 1);
	WRITE_ONCE(e->own, ~e->seq);
	WRITE_ONCE(e->sum, ~e->seq);
}

static bool is_certain(const struct hwpmc_pmc *pmc)
{
	return !READ_ONCE(hwpmc_msr_faulted) && !hwpmc_pmc_doubts(pmc);
}

void hwpmc_userpage_begin_irqoff(struct hwpmc_thread *thread, unsigned int nr,
				 const struct hwpmc_row_cpu *rc)
{
	struct hwpmc_userpage *page = READ_ONCE(thread->page);
	struct hwpmc_user_row *e;

	lockdep_assert_irqs_disabled();
	/* The program then falls back to the system call, which gives the reason. */
	if (!page || unlikely(READ_ONCE(hwpmc_unreliable.any) && !is_certain(rc->pmc)))
		return;
	e = &page->row[nr];
	WRITE_ONCE(e->seq, e->seq + 1);
	e->index = rc->rdpmc;
	e->thread -= rc->count.start;
	e->total = atomic64_read(&rc->pmc->total) + rc->pmc->parts -
		   rc->count.start;
	WRITE_ONCE(e->own, e->seq);
	WRITE_ONCE(e->sum, READ_ONCE(rc->pmc->process.nthreads) == 1 ? e->seq : ~e->seq);
}

void hwpmc_userpage_end_irqoff(struct hwpmc_thread *thread, unsigned int nr,
			       const struct hwpmc_row_cpu *rc)
{
	struct hwpmc_userpage *page = READ_ONCE(thread->page);
	struct hwpmc_user_row *e;

	lockdep_assert_irqs_disabled();
	if (!page)
		return;
	e = &page->row[nr];
	/* A page made in the middle of the slice has no part of it. Between slices
	 * .thread is the count. */
	if (e->own == e->seq)
		e->thread += rc->count.start;
	user_row_invalidate(e);
}

/*
 * The program does not know the counter's width, so the counter must not wrap. It was 0
 * when the thread was switched in (rdpmc_switch.c); past half of its range it is set to 0.
 */
static void counter_restart_irqoff(unsigned int nr, struct hwpmc_row_cpu *rc)
{
	struct hwpmc_row *row = &hwpmc_rows[nr];

	if (rc->count.start <= rc->mask >> 1)
		return;
	row->cls->ops->row.write_nmi(row->cls, row->ri, 0);
	rc->count.start = 0;
}

void hwpmc_userpage_renew_irqoff(struct hwpmc_cpu *c, unsigned int nr)
{
	struct hwpmc_row_cpu *rc = &c->row[nr];

	hwpmc_cpu_harvest_irqoff(c, nr);	/* before the counter may be set to 0 */
	hwpmc_userpage_end_irqoff(c->thread, nr, rc);
	counter_restart_irqoff(nr, rc);
	hwpmc_userpage_begin_irqoff(c->thread, nr, rc);
}

static void userpage_renew_all_irqoff(struct hwpmc_cpu *c)
{
	unsigned int nr;

	for_each_row(nr, c->slow_path)
		if (c->row[nr].kind == HWPMC_SLICE_MAPPED)
			hwpmc_userpage_renew_irqoff(c, nr);
}

void hwpmc_userpage_shared_irqoff(void)
{
	struct hwpmc_cpu *c = this_cpu_ptr(hwpmc_cpus);
	struct hwpmc_userpage *page;
	unsigned int nr;

	lockdep_assert_irqs_disabled();
	page = c->thread ? READ_ONCE(c->thread->page) : NULL;
	if (!page)
		return;
	for (nr = 0; nr < hwpmc_nrows; nr++)
		WRITE_ONCE(page->row[nr].sum, ~page->row[nr].seq);
}

/* ---- the page ------------------------------------------------------------ */

/* What a child sees: no row is valid. Made by the first mmap(), set once, freed at
 * unload. */
static struct hwpmc_user_row *invalid_rows;

static struct hwpmc_user_row *new_rows(gfp_t gfp)
{
	struct hwpmc_user_row *row = (void *)get_zeroed_page(gfp);
	unsigned int nr;

	for (nr = 0; row && nr < HWPMC_ROW_MAX; nr++)
		user_row_invalidate(&row[nr]);
	return row;
}

void hwpmc_userpage_put(struct hwpmc_userpage *page)
{
	if (!page || !refcount_dec_and_test(&page->users))
		return;
	free_page((unsigned long)page->row);
	kfree(page);
}

void hwpmc_userpage_exit(void)
{
	free_page((unsigned long)invalid_rows);
}

static struct hwpmc_userpage *new_page(void)
{
	struct hwpmc_userpage *page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);

	if (!page)
		return NULL;
	page->row = new_rows(GFP_KERNEL_ACCOUNT);
	if (!page->row) {
		kfree(page);
		return NULL;
	}
	refcount_set(&page->users, 1);
	page->mm = current->mm;
	return page;
}

static vm_fault_t userpage_fault(struct vm_fault *vmf)
{
	struct hwpmc_userpage *page = vmf->vma->vm_private_data;

	if (vmf->pgoff != HWPMC_USER_OFFSET >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	vmf->page = virt_to_page(page ? page->row : invalid_rows);
	get_page(vmf->page);
	return 0;
}

/*
 * The copy of a child, and what is copied of that, has no page of a thread for good: later
 * the thread's mm may be gone, and another one may be at its address.
 */
static void userpage_open(struct vm_area_struct *vma)
{
	struct hwpmc_userpage *page = vma->vm_private_data;

	if (page && vma->vm_mm == page->mm)
		refcount_inc(&page->users);
	else
		vma->vm_private_data = NULL;
}

static void userpage_close(struct vm_area_struct *vma)
{
	hwpmc_userpage_put(vma->vm_private_data);
}

static const struct vm_operations_struct userpage_vm_ops = {
	.fault = userpage_fault,
	.open = userpage_open,
	.close = userpage_close,
};

/* Give the current thread the page if it has none, and show the slices in flight in it.
 * NULL: the thread is not measured. */
static struct hwpmc_userpage *thread_take_page(struct hwpmc_userpage *fresh)
{
	struct hwpmc_userpage *page = NULL;
	struct hwpmc_thread *thread;
	unsigned long flags;

	raw_spin_lock_irqsave(&hwpmc_targets_lock, flags);
	thread = hwpmc_thread_find(current);
	if (thread && thread->target) {
		/* An mm of the same address that is another one: no mapping of the page is
		 * left, and the page is the thread's. */
		if (!thread->page || thread->page->mm != current->mm)
			swap(thread->page, fresh);
		page = thread->page;
		refcount_inc(&page->users);
		userpage_renew_all_irqoff(this_cpu_ptr(hwpmc_cpus));
	}
	raw_spin_unlock_irqrestore(&hwpmc_targets_lock, flags);
	hwpmc_userpage_put(fresh);
	return page;
}

static int check_area(const struct hwpmc_owner *owner,
		      const struct vm_area_struct *vma)
{
	if (task_tgid(current) != owner->tgid)
		return -ESRCH;
	if (vma->vm_end - vma->vm_start != PAGE_SIZE ||
	    !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	return vma->vm_flags & VM_WRITE ? -EACCES : 0;
}

static int invalid_rows_get(void)
{
	struct hwpmc_user_row *row;

	if (READ_ONCE(invalid_rows))
		return 0;
	row = new_rows(GFP_KERNEL);
	if (!row)
		return -ENOMEM;
	if (cmpxchg(&invalid_rows, NULL, row))
		free_page((unsigned long)row);
	return 0;
}

int hwpmc_userpage_mmap(struct hwpmc_owner *owner, struct vm_area_struct *vma)
{
	struct hwpmc_userpage *page;
	int ret;

	ret = check_area(owner, vma);
	ret = ret ?: invalid_rows_get();
	if (ret)
		return ret;
	page = new_page();
	if (!page)
		return -ENOMEM;
	page = thread_take_page(page);
	if (!page)
		return -ESRCH;
	vma->vm_private_data = page;
	vma->vm_ops = &userpage_vm_ops;
	hwpmc_vma_flags(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_WIPEONFORK,
			VM_MAYWRITE);
	return 0;
}
