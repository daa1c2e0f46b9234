// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * configure.c - the life of a log. Operations: process context, under hwpmc_lock, but
 * for flush, mmap and poll, which hold a reference instead. A log is made and freed
 * without it: whoever has a program's mmap_lock, or writes to its file, may wait as
 * long as the program likes.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "../compat/mm.h"
#include "../core/owner.h"
#include "../core/pmc.h"
#include "../debug/trace.h"
#include "../debug/tunables.h"
#include "../sampling/log_object.h"
#include "../task/system.h"
#include "configure.h"
#include "drain.h"
#include "records.h"

#define RING_SMALLEST	(16 * 1024)
#define RING_LARGEST	(64 * 1024 * 1024)

/* ---- memory -------------------------------------------------------------- */

static void free_cpu(struct hwpmc_log *log, struct hwpmc_log_cpu *lc)
{
	unsigned int i;

	vunmap(lc->data);
	for (i = 0; lc->pages && i < log->npages; i++)
		if (lc->pages[i])
			put_page(lc->pages[i]);
	kvfree(lc->pages);
}

static void *map_twice(struct page **data, unsigned int n)
{
	struct page **twice = kvmalloc_array(2 * n, sizeof(*twice), GFP_KERNEL);
	void *at;

	if (!twice)
		return NULL;
	memcpy(twice, data, n * sizeof(*twice));
	memcpy(twice + n, data, n * sizeof(*twice));
	at = vmap(twice, 2 * n, VM_MAP, PAGE_KERNEL);
	kvfree(twice);
	return at;
}

static int alloc_cpu(struct hwpmc_log *log, int cpu, u32 wakeup)
{
	struct hwpmc_log_cpu *lc = per_cpu_ptr(log->cpus, cpu);
	struct hwpmc_log_ring *ctl;
	unsigned int i;

	lc->pages = kvcalloc(log->npages, sizeof(*lc->pages), GFP_KERNEL_ACCOUNT);
	if (!lc->pages)
		return -ENOMEM;
	for (i = 0; i < log->npages; i++) {
		lc->pages[i] = alloc_pages_node(cpu_to_node(cpu),
						GFP_KERNEL_ACCOUNT | __GFP_ZERO |
						__GFP_NOWARN, 0);
		if (!lc->pages[i])
			return -ENOMEM;
	}
	lc->data = map_twice(lc->pages + 1, log->npages - 1);
	if (!lc->data)
		return -ENOMEM;
	ctl = page_address(lc->pages[0]);
	ctl->page = PAGE_SIZE;
	hwpmc_ring_init(&lc->ring, ctl, lc->data, log->ring_size, wakeup, cpu);
	return 0;
}

static void log_free(struct hwpmc_log *log)
{
	int cpu;

	for_each_possible_cpu(cpu)
		free_cpu(log, per_cpu_ptr(log->cpus, cpu));
	free_percpu(log->cpus);
	if (log->mm) {
		atomic64_sub(log->locked, &log->mm->pinned_vm);
		mmdrop(log->mm);
	}
	if (log->file)
		fput(log->file);
	if (log->cred)
		put_cred(log->cred);
	kfree(log);
}

static struct hwpmc_log *log_get(struct hwpmc_owner *owner)
{
	struct hwpmc_log *log;

	rcu_read_lock();
	log = READ_ONCE(owner->log);
	if (log && !refcount_inc_not_zero(&log->users))
		log = NULL;
	rcu_read_unlock();
	return log;
}

static void log_put(struct hwpmc_log *log)
{
	if (refcount_dec_and_test(&log->users))
		log_free(log);
}

/*
 * Rings that a program maps, or that anybody may ask for, are locked memory, as
 * long as they are mapped anywhere. Counted as pinned, which needs no lock, but
 * against the limit of all that it has locked.
 */
static int log_charge(struct hwpmc_log *log)
{
	unsigned long pages = (unsigned long)log->npages * num_possible_cpus();
	struct mm_struct *mm = current->mm;
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (log->privileged && !log->mapped)
		return 0;
	if (atomic64_add_return(pages, &mm->pinned_vm) +
	    READ_ONCE(mm->locked_vm) > limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(pages, &mm->pinned_vm);
		return -ENOMEM;
	}
	mmgrab(mm);
	log->mm = mm;
	log->locked = pages;
	return 0;
}

static void wake_readers(struct irq_work *work)
{
	struct hwpmc_log_cpu *lc = container_of(work, struct hwpmc_log_cpu, wake);

	wake_up(&lc->log->owner->log_wait);
}

static int alloc_rings(struct hwpmc_log *log, u32 wakeup)
{
	int cpu, ret = 0;

	for_each_possible_cpu(cpu) {
		struct hwpmc_log_cpu *lc = per_cpu_ptr(log->cpus, cpu);

		lc->log = log;
		init_irq_work(&lc->wake, wake_readers);
	}
	for_each_possible_cpu(cpu)
		ret = ret ?: alloc_cpu(log, cpu, wakeup);
	return ret;
}

/* Half as much, and half again, for who may not lock so much by default. */
static int charge_what_fits(struct hwpmc_log *log, bool by_default)
{
	int ret;

	for (;;) {
		log->npages = 1 + log->ring_size / PAGE_SIZE;
		ret = log_charge(log);
		if (!ret || !by_default || log->ring_size <= RING_SMALLEST)
			return ret;
		log->ring_size /= 2;
	}
}

/* All buffers of a CPU in one ring. The product is within the range of an int. */
static u32 default_size(void)
{
	u32 size = roundup_pow_of_two(hwpmc_logbuffersize *
				      hwpmc_nbuffers_pcpu) * 1024;

	return max_t(u32, size, RING_SMALLEST);
}

static struct hwpmc_log *log_new(struct hwpmc_owner *owner,
				 struct hwpmc_op_configurelog *op)
{
	struct hwpmc_log *log = kzalloc(sizeof(*log), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!log)
		return ERR_PTR(ret);
	log->owner = owner;
	log->mapped = op->flags & HWPMC_LOG_F_MAPPED;
	log->privileged = perfmon_capable();
	log->ring_size = op->ring_size ?: default_size();
	log->cred = get_current_cred();
	refcount_set(&log->users, 1);
	init_waitqueue_head(&log->flushers);
	mutex_init(&log->end_lock);
	log->cpus = alloc_percpu(struct hwpmc_log_cpu);
	if (!log->cpus)
		goto err;
	ret = charge_what_fits(log, !op->ring_size);
	if (!ret)
		ret = alloc_rings(log, op->wakeup ?: log->ring_size / 4);
	if (!ret)
		return log;
	/* -ENOMEM of the charge is the limit's, not the machine's. */
	if (ret == -ENOMEM && !log->mm && !(log->privileged && !log->mapped))
		ret = -EPERM;
	log_free(log);
	return ERR_PTR(ret);
err:
	put_cred(log->cred);
	kfree(log);
	return ERR_PTR(ret);
}

/* ---- configure, close, end ----------------------------------------------- */

static void stop_pmcs(struct hwpmc_owner *owner)
{
	struct hwpmc_pmc *pmc;

	lockdep_assert_held(&hwpmc_lock);
	list_for_each_entry(pmc, &owner->pmcs, owner_node)
		if (hwpmc_pmc_needs_log(pmc))
			hwpmc_pmc_halt(pmc);
}

int hwpmc_log_check_size(struct hwpmc_op_configurelog *op)
{
	u32 size = op->ring_size;

	if (!size || (size >= PAGE_SIZE && size <= RING_LARGEST &&
		      is_power_of_2(size)))
		return 0;
	return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_RING_SIZE,
			    RING_LARGEST / 1024);
}

static int refuse_new(struct hwpmc_op_configurelog *op, int err)
{
	u64 size = op->ring_size ?: RING_SMALLEST;

	if (err == -EPERM)
		return hwpmc_refuse(&op->hdr, err, HWPMC_WHY_LOCKED_MEMORY,
				    (size + PAGE_SIZE) / 1024 *
				    num_possible_cpus());
	return hwpmc_refuse(&op->hdr, err, HWPMC_WHY_NO_MEMORY, 0);
}

/* Nothing of it is seen by anybody before it succeeds. */
static int begin_locked(struct hwpmc_log *log, struct hwpmc_op_configurelog *op)
{
	struct hwpmc_owner *owner = log->owner;

	lockdep_assert_held(&hwpmc_lock);
	if (owner->log)
		return hwpmc_refuse(&op->hdr, -EBUSY, HWPMC_WHY_LOG_EXISTS, 0);
	hwpmc_records_begin(log);
	if (log->file && hwpmc_drain_start(log))
		return hwpmc_refuse(&op->hdr, -EAGAIN, HWPMC_WHY_NO_MEMORY, 0);
	op->ring_size = log->ring_size;
	log->open = true;
	/* Who finds it finds it complete. */
	smp_store_release(&owner->log, log);
	trace_hwpmc_logging_config(log->ring_size, 0);
	hwpmc_records_pmcs(log);
	return 0;
}

int hwpmc_log_configure(struct hwpmc_owner *owner,
			struct hwpmc_op_configurelog *op, struct file *file)
{
	struct hwpmc_log *log = log_new(owner, op);
	int ret;

	if (IS_ERR(log)) {
		if (file)
			fput(file);
		return refuse_new(op, PTR_ERR(log));
	}
	log->file = file;
	ret = hwpmc_owner_lock(owner, &op->hdr);
	if (!ret) {
		ret = begin_locked(log, op);
		mutex_unlock(&hwpmc_lock);
	}
	if (ret)
		log_free(log);
	return ret;
}

int hwpmc_log_unconfigure(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	struct hwpmc_log *log;
	int ret;

	ret = hwpmc_owner_lock(owner, hdr);
	if (ret)
		return ret;
	log = hwpmc_log_end(owner, true);
	mutex_unlock(&hwpmc_lock);
	if (!log)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NO_LOG, 0);
	hwpmc_log_free(log, true);
	return 0;
}

/* No records from here on but those that end the log. */
static void close_log(struct hwpmc_log *log)
{
	stop_pmcs(log->owner);
	WRITE_ONCE(log->open, false);
	/* Writers that saw it open are done. */
	synchronize_rcu();
	WRITE_ONCE(log->closing, true);
	if (log->mapped)
		hwpmc_records_end(log);
	wake_up(&log->owner->log_wait);
}

int hwpmc_log_close(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	struct hwpmc_log *log = owner->log;

	lockdep_assert_held(&hwpmc_lock);
	if (!log)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NO_LOG, 0);
	if (!log->open)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_LOG_CLOSED, 0);
	close_log(log);
	return 0;
}

struct hwpmc_log *hwpmc_log_end(struct hwpmc_owner *owner, bool discard)
{
	struct hwpmc_log *log = owner->log;

	lockdep_assert_held(&hwpmc_lock);
	if (!log)
		return NULL;
	if (!discard && log->open)
		close_log(log);
	stop_pmcs(owner);
	WRITE_ONCE(log->open, false);
	WRITE_ONCE(owner->log, NULL);
	return log;
}

void hwpmc_log_free(struct hwpmc_log *log, bool discard)
{
	int cpu;

	if (!log)
		return;
	trace_hwpmc_logging_release(log->progress, log->error);
	synchronize_rcu();	/* writers, and who is about to take a reference */
	/* Mappings may keep it, and then it wakes nobody any more. */
	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu_ptr(log->cpus, cpu)->wake);
	if (log->drainer)
		hwpmc_drain_stop(log, discard);
	wake_up_all(&log->flushers);
	log_put(log);
}

int hwpmc_log_write(struct hwpmc_owner *owner, u32 userdata,
		    struct hwpmc_hdr *hdr)
{
	struct hwpmc_log_hdr *r;

	lockdep_assert_held(&hwpmc_lock);
	if (!owner->log)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NO_LOG, 0);
	if (!owner->log->open)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_LOG_CLOSED, 0);
	preempt_disable();
	r = hwpmc_log_reserve(owner->log, HWPMC_LOG_USERDATA, sizeof(*r));
	if (r) {
		r->id = userdata;
		hwpmc_log_commit(owner->log);
	}
	preempt_enable();
	return r ? 0 : hwpmc_refuse(hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
}

/* ---- what does not hold hwpmc_lock --------------------------------------- */

static int log_flush(struct hwpmc_log *log)
{
	if (!log->mapped)
		return hwpmc_drain_flush(log);
	if (READ_ONCE(log->closing)) {
		hwpmc_records_end(log);
	} else {
		hwpmc_log_declare_all(log);
		hwpmc_records_clock(log);
	}
	return 0;
}

int hwpmc_log_flush(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	struct hwpmc_log *log = log_get(owner);
	int ret;

	if (!log)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_NO_LOG, 0);
	ret = log_flush(log);
	trace_hwpmc_logging_flush(0, ret);
	if (ret && ret == READ_ONCE(log->error))
		hwpmc_refuse(hdr, ret, HWPMC_WHY_LOG_ERROR, -ret);
	log_put(log);
	return ret ?: hwpmc_owner_msr_fault(owner, hdr);
}

/* A mapping keeps the log, and what was charged for it. */
static void ring_area_open(struct vm_area_struct *vma)
{
	struct hwpmc_log *log = vma->vm_private_data;

	refcount_inc(&log->users);
}

static void ring_area_close(struct vm_area_struct *vma)
{
	log_put(vma->vm_private_data);
}

static const struct vm_operations_struct ring_vm_ops = {
	.open = ring_area_open,
	.close = ring_area_close,
};

static int map_ring(struct hwpmc_log *log, struct vm_area_struct *vma)
{
	unsigned long cpu = vma->vm_pgoff >> (HWPMC_LOG_MAP_SHIFT - PAGE_SHIFT);
	unsigned long n = log->npages - 1, i;
	struct hwpmc_log_cpu *lc;
	int ret = 0;

	if (vma->vm_pgoff & (BIT(HWPMC_LOG_MAP_SHIFT - PAGE_SHIFT) - 1) ||
	    cpu >= nr_cpu_ids || !cpu_possible(cpu) ||
	    !(vma->vm_flags & VM_SHARED) ||
	    vma->vm_end - vma->vm_start != (1 + 2 * n) * PAGE_SIZE)
		return -EINVAL;
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	lc = per_cpu_ptr(log->cpus, cpu);
	for (i = 0; !ret && i < 1 + 2 * n; i++)
		ret = vm_insert_page(vma, vma->vm_start + i * PAGE_SIZE,
				     lc->pages[i > n ? i - n : i]);
	return ret;
}

int hwpmc_log_mmap(struct hwpmc_owner *owner, struct vm_area_struct *vma)
{
	struct hwpmc_log *log = log_get(owner);
	int ret = -EINVAL;

	if (!log)
		return ret;
	if (log->mapped && task_tgid(current) == owner->tgid)
		ret = map_ring(log, vma);
	if (ret) {
		log_put(log);
		return ret;
	}
	vma->vm_private_data = log;
	vma->vm_ops = &ring_vm_ops;
	/* A child may have other rights than its parent. */
	hwpmc_vma_flags(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, 0);
	return 0;
}

static bool has_records(struct hwpmc_log *log)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hwpmc_ring *ring = &per_cpu_ptr(log->cpus, cpu)->ring;

		if (READ_ONCE(ring->reserved) != READ_ONCE(ring->ctl->tail))
			return true;
	}
	return false;
}

__poll_t hwpmc_log_poll(struct hwpmc_owner *owner, struct file *file,
			struct poll_table_struct *wait)
{
	struct hwpmc_log *log;
	__poll_t mask = 0;

	poll_wait(file, &owner->log_wait, wait);
	log = log_get(owner);
	if (!log)
		return 0;
	if (log->mapped && has_records(log))
		mask = EPOLLIN | EPOLLRDNORM;
	if (!READ_ONCE(log->open))
		mask |= EPOLLHUP;
	log_put(log);
	return mask;
}
