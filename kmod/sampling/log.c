// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * log.c - the writer's side of a log: reserve, fill, commit. Any context, on the CPU
 * of the ring, preemption off.
 */
#include <linux/cpu.h>
#include <linux/smp.h>
#include <linux/spinlock.h>

#include "../core/owner.h"
#include "../core/stats.h"
#include "../debug/trace.h"
#include "log_object.h"

struct hwpmc_ring *hwpmc_log_ring(struct hwpmc_log *log)
{
	return &this_cpu_ptr(log->cpus)->ring;
}

void hwpmc_log_wake_nmi(struct hwpmc_log *log)
{
	irq_work_queue(&this_cpu_ptr(log->cpus)->wake);
}

static void wake_in_turn_irqoff(struct hwpmc_log *log)
{
	struct hwpmc_log_cpu *lc = this_cpu_ptr(log->cpus);

	lockdep_assert_irqs_disabled();
	if (lc->quiet) {
		WRITE_ONCE(lc->owed, true);
		return;
	}
	WRITE_ONCE(lc->quiet, true);
	irq_work_queue(&lc->wake);
}

static void *log_reserve(struct hwpmc_log *log, size_t len, bool sample, u64 now)
{
	struct hwpmc_ring *ring = hwpmc_log_ring(log);
	void *at = NULL;

	if (!sample)
		hwpmc_stat_inc(buffer_requests);
	if (likely(READ_ONCE(log->open))) {
		if (likely(!hwpmc_ring_declare_nmi(ring, now)))
			;
		else if (sample)
			wake_in_turn_irqoff(log);
		else
			hwpmc_log_wake_nmi(log);
		at = hwpmc_ring_reserve_nmi(ring, len);
	}
	trace_hwpmc_logging_getbuf(len, at ? 0 : -ENOSPC);
	if (unlikely(!at) && sample)
		hwpmc_stat_inc(intr_bufferfull);
	else if (unlikely(!at))
		hwpmc_stat_inc(buffer_requests_failed);
	if (unlikely(!at))
		hwpmc_ring_drop_nmi(ring, READ_ONCE(log->open) ? HWPMC_DROP_FULL :
				    HWPMC_DROP_CLOSED, sample, 1, now);
	return at;
}

void *hwpmc_log_reserve_sample(struct hwpmc_log *log, size_t len)
{
	return log_reserve(log, len, true, hwpmc_log_time_nmi());
}

void *hwpmc_log_reserve(struct hwpmc_log *log, u8 type, size_t len)
{
	u64 now = hwpmc_log_time_nmi();
	struct hwpmc_log_hdr *hdr;

	len = round_up(len, HWPMC_LOG_ALIGN);
	hdr = log_reserve(log, len, false, now);
	if (unlikely(!hdr))
		return NULL;
	/* Padding must not show what was there before. */
	*(u64 *)((void *)hdr + len - sizeof(u64)) = 0;
	*hdr = (struct hwpmc_log_hdr){ .len = len, .type = type, .time = now };
	return hdr;
}

void hwpmc_log_commit(struct hwpmc_log *log)
{
	if (unlikely(hwpmc_ring_commit_nmi(hwpmc_log_ring(log))))
		hwpmc_log_wake_nmi(log);
}

void hwpmc_log_commit_tick_irqoff(struct hwpmc_log *log)
{
	if (unlikely(hwpmc_ring_commit_nmi(hwpmc_log_ring(log))))
		wake_in_turn_irqoff(log);
}

void hwpmc_log_drop(struct hwpmc_log *log, unsigned int cause)
{
	preempt_disable();
	hwpmc_ring_drop_nmi(hwpmc_log_ring(log), cause, false, 1, hwpmc_log_time_nmi());
	preempt_enable();
}

static void declare_drops_ipi(void *arg)
{
	struct hwpmc_log *log = arg;

	hwpmc_ring_declare_nmi(hwpmc_log_ring(log), hwpmc_log_time_nmi());
}

/* Two callers at a time would both be the writer of a ring whose CPU is offline. */
static DEFINE_SPINLOCK(offline_lock);

static void declare_offline(struct hwpmc_ring *ring)
{
	spin_lock(&offline_lock);
	hwpmc_ring_declare_nmi(ring, hwpmc_log_time_nmi());
	spin_unlock(&offline_lock);
}

/* Is there anything to declare, and room for it? Both are the ring's CPU's: an answer that is
 * out of date is one of a moment ago. */
static bool can_declare(int cpu, void *arg)
{
	struct hwpmc_log *log = arg;

	return hwpmc_ring_can_declare(&per_cpu_ptr(log->cpus, cpu)->ring);
}

bool hwpmc_log_declare_all(struct hwpmc_log *log)
{
	bool all = true;
	int cpu;

	cpus_read_lock();
	on_each_cpu_cond(can_declare, declare_drops_ipi, log, true);
	for_each_possible_cpu(cpu) {
		struct hwpmc_ring *ring = &per_cpu_ptr(log->cpus, cpu)->ring;

		if (!cpu_online(cpu))
			declare_offline(ring);
		all &= !READ_ONCE(ring->dropped);
	}
	cpus_read_unlock();
	return all;
}

bool hwpmc_log_is_privileged(const struct hwpmc_log *log)
{
	return log->privileged;
}

bool hwpmc_log_is_open(const struct hwpmc_owner *owner)
{
	struct hwpmc_log *log = READ_ONCE(owner->log);

	return log && READ_ONCE(log->open);
}
