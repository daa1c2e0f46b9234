// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * rings.c - memory of a log's rings. Allocated when the log is made, freed with it;
 * mappings hold the log and so the memory. Process context, without hwpmc_lock.
 */
#include <linux/capability.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "../compat/hrtimer.h"
#include "../core/owner.h"
#include "../debug/tunables.h"
#include "../sampling/log_object.h"
#include "rings.h"

#define RING_SMALLEST	(16 * 1024)
#define RING_LARGEST	(64 * 1024 * 1024)

/* Between two wake-ups for events of the kernel, from one CPU. */
#define QUIET_TIME	ns_to_ktime(NSEC_PER_MSEC)

/* ---- size, and the charge to RLIMIT_MEMLOCK ------------------------------ */

int hwpmc_rings_check_size(struct hwpmc_op_configurelog *op)
{
	u32 size = op->ring_size;

	if (!size || (size >= PAGE_SIZE && size <= RING_LARGEST &&
		      is_power_of_2(size)))
		return 0;
	return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_RING_SIZE,
			    RING_LARGEST / 1024);
}

/* All buffers of a CPU in one ring. The tunables' limits keep it within an int. */
static u32 default_ring_size(void)
{
	u32 size = roundup_pow_of_two(hwpmc_logbuffersize *
				      hwpmc_nbuffers_pcpu) * 1024;

	return max_t(u32, size, RING_SMALLEST);
}

static void set_ring_size(struct hwpmc_log *log, u32 size)
{
	log->ring_size = size;
	log->npages = 1 + size / PAGE_SIZE;
}

/*
 * Charge all rings to the caller's RLIMIT_MEMLOCK. The pages are counted in
 * pinned_vm, which needs no lock; the limit covers locked_vm too. False: over it.
 */
static bool try_charge(struct hwpmc_log *log)
{
	unsigned long pages = (unsigned long)log->npages * num_possible_cpus();
	struct mm_struct *mm = current->mm;
	u64 limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (atomic64_add_return(pages, &mm->pinned_vm) +
	    READ_ONCE(mm->locked_vm) > limit && !capable(CAP_IPC_LOCK)) {
		atomic64_sub(pages, &mm->pinned_vm);
		return false;
	}
	mmgrab(mm);
	log->mm = mm;
	log->locked = pages;
	return true;
}

/*
 * Set the size, and charge it where the memory is the program's: it is mapped, or
 * its owner is not privileged. A requested size is used or refused; the default
 * is halved until it fits.
 */
static int charge_rings(struct hwpmc_log *log, struct hwpmc_op_configurelog *op)
{
	set_ring_size(log, op->ring_size ?: default_ring_size());
	if (log->privileged && !log->mapped)
		return 0;
	while (!try_charge(log)) {
		if (op->ring_size || log->ring_size <= RING_SMALLEST)
			return hwpmc_refuse(&op->hdr, -EPERM,
					    HWPMC_WHY_LOCKED_MEMORY,
					    (log->ring_size + PAGE_SIZE) / 1024 *
					    num_possible_cpus());
		set_ring_size(log, log->ring_size / 2);
	}
	return 0;
}

static void uncharge_rings(struct hwpmc_log *log)
{
	if (!log->mm)
		return;
	atomic64_sub(log->locked, &log->mm->pinned_vm);
	mmdrop(log->mm);
}

/* ---- pages --------------------------------------------------------------- */

/* The data twice in a row: a record that wraps round is contiguous. */
static void *map_data_twice(struct page **data, unsigned int n)
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

/* What it allocated before it fails is freed by free_ring(). */
static int alloc_ring(struct hwpmc_log *log, int cpu, u32 wakeup)
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
	lc->data = map_data_twice(lc->pages + 1, log->npages - 1);
	if (!lc->data)
		return -ENOMEM;
	ctl = page_address(lc->pages[0]);
	ctl->page = PAGE_SIZE;
	hwpmc_ring_init(&lc->ring, ctl, lc->data, log->ring_size, wakeup, cpu);
	return 0;
}

static void free_ring(struct hwpmc_log *log, int cpu)
{
	struct hwpmc_log_cpu *lc = per_cpu_ptr(log->cpus, cpu);
	unsigned int i;

	vunmap(lc->data);
	for (i = 0; lc->pages && i < log->npages; i++)
		if (lc->pages[i])
			put_page(lc->pages[i]);
	kvfree(lc->pages);
}

static void wake_readers(struct irq_work *work)
{
	struct hwpmc_log_cpu *lc = container_of(work, struct hwpmc_log_cpu, wake);

	wake_up(&lc->log->owner->log_wait);
	/*
	 * Not from the event itself, which may hold any lock: those of timers too. While the
	 * timer's function runs the timer is active and not queued, and an event that comes
	 * after that function has read .owed relies on the timer that is started here.
	 */
	if (READ_ONCE(lc->quiet) && !hrtimer_is_queued(&lc->later))
		hrtimer_start(&lc->later, QUIET_TIME, HRTIMER_MODE_REL_PINNED_SOFT);
}

/*
 * An event that comes between two of these lines wakes the reader itself, and has the timer
 * started; so it is not forwarded, which must not be done to one that is queued.
 */
static enum hrtimer_restart wake_later(struct hrtimer *timer)
{
	struct hwpmc_log_cpu *lc = container_of(timer, struct hwpmc_log_cpu, later);

	WRITE_ONCE(lc->quiet, false);
	barrier();
	if (!READ_ONCE(lc->owed))
		return HRTIMER_NORESTART;
	WRITE_ONCE(lc->quiet, true);
	WRITE_ONCE(lc->owed, false);
	wake_up(&lc->log->owner->log_wait);
	hrtimer_start(timer, QUIET_TIME, HRTIMER_MODE_REL_PINNED_SOFT);
	return HRTIMER_NORESTART;
}

void hwpmc_rings_wake_no_more(struct hwpmc_log *log)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hwpmc_log_cpu *lc = per_cpu_ptr(log->cpus, cpu);

		if (!lc->log)
			continue;
		/* In this order: the interrupt starts the timer. */
		irq_work_sync(&lc->wake);
		hrtimer_cancel(&lc->later);
	}
}

static int alloc_all_rings(struct hwpmc_log *log, u32 wakeup)
{
	int cpu, ret = 0;

	for_each_possible_cpu(cpu) {
		struct hwpmc_log_cpu *lc = per_cpu_ptr(log->cpus, cpu);

		lc->log = log;
		init_irq_work(&lc->wake, wake_readers);
		hrtimer_setup(&lc->later, wake_later, CLOCK_MONOTONIC,
			      HRTIMER_MODE_REL_PINNED_SOFT);
	}
	for_each_possible_cpu(cpu)
		ret = ret ?: alloc_ring(log, cpu, wakeup);
	return ret;
}

int hwpmc_rings_alloc(struct hwpmc_log *log, struct hwpmc_op_configurelog *op)
{
	int ret;

	log->cpus = alloc_percpu(struct hwpmc_log_cpu);
	if (!log->cpus)
		return hwpmc_refuse(&op->hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	ret = charge_rings(log, op);
	if (ret)
		return ret;
	if (alloc_all_rings(log, op->wakeup ?: log->ring_size / 4))
		return hwpmc_refuse(&op->hdr, -ENOMEM, HWPMC_WHY_NO_MEMORY, 0);
	return 0;
}

void hwpmc_rings_free(struct hwpmc_log *log)
{
	int cpu;

	if (!log->cpus)
		return;
	for_each_possible_cpu(cpu)
		free_ring(log, cpu);
	free_percpu(log->cpus);
	uncharge_rings(log);
}

/* ---- use ----------------------------------------------------------------- */

int hwpmc_rings_check_area(const struct hwpmc_log *log, const struct vm_area_struct *vma)
{
	unsigned long cpu = vma->vm_pgoff >> (HWPMC_LOG_MAP_SHIFT - PAGE_SHIFT);
	unsigned long n = log->npages - 1;

	if (vma->vm_pgoff & (BIT(HWPMC_LOG_MAP_SHIFT - PAGE_SHIFT) - 1) ||
	    cpu >= nr_cpu_ids || !cpu_possible(cpu) ||
	    !(vma->vm_flags & VM_SHARED) ||
	    vma->vm_end - vma->vm_start != (1 + 2 * n) * PAGE_SIZE)
		return -EINVAL;
	return 0;
}

/* The control page, then the data twice. */
struct page *hwpmc_rings_page(struct hwpmc_log *log, unsigned long pgoff)
{
	unsigned long cpu = pgoff >> (HWPMC_LOG_MAP_SHIFT - PAGE_SHIFT);
	unsigned long i = pgoff & (BIT(HWPMC_LOG_MAP_SHIFT - PAGE_SHIFT) - 1);
	unsigned long n = log->npages - 1;

	if (cpu >= nr_cpu_ids || !cpu_possible(cpu) || i > 2 * n)
		return NULL;
	cpu = array_index_nospec(cpu, nr_cpu_ids);
	i = array_index_nospec(i > n ? i - n : i, n + 1);
	return per_cpu_ptr(log->cpus, cpu)->pages[i];
}

bool hwpmc_rings_have_records(struct hwpmc_log *log)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct hwpmc_ring *ring = &per_cpu_ptr(log->cpus, cpu)->ring;

		if (READ_ONCE(ring->reserved) != READ_ONCE(ring->ctl->tail))
			return true;
	}
	return false;
}
