/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * log.h - an owner's log as its writers see it: one ring per CPU.
 *
 * CONFIGURELOG makes it and ends it, as does the end of its owner. It is freed by
 * RCU, after the owner's PMCs that need it were stopped on all CPUs. owner->log is
 * read under rcu_read_lock (or with interrupts off, or in NMI) or hwpmc_lock.
 *
 * A writer writes into the ring of its own CPU with preemption off, from any
 * context, NMI included: reserve, fill, commit, and nothing in between that sleeps
 * or fails. Records that do not fit are counted as dropped; no writer waits.
 */
#ifndef HWPMC_LOG_H
#define HWPMC_LOG_H

#include <linux/timekeeping.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "hwpmc_log.h"	/* uapi */
#include "ring.h"

struct hwpmc_owner;
struct hwpmc_log;

/* This CPU's ring; constant while the log exists. Preemption off, any context. */
struct hwpmc_ring *hwpmc_log_ring(struct hwpmc_log *log);

/*
 * The CPU's own TSC, always cheap: for differences of times of this CPU. Any context, as
 * all that follow.
 */
static inline u64 hwpmc_cpu_time_nmi(void)
{
	return rdtsc();
}

/* A guess where the kernel has none. Constant. */
extern u64 hwpmc_cpu_ticks_per_ms;

static inline u64 hwpmc_cpu_ticks_nmi(unsigned int ms)
{
	return ms * hwpmc_cpu_ticks_per_ms;
}

/* Is it the clock of logs as well? Constant. */
extern bool hwpmc_log_is_tsc;

/* Ticks from the TSC to the log's clock; see hwpmc_log_clock_resume_irqoff(). */
extern u64 hwpmc_log_tsc_offset;

/* The time of the clock that the INITIALIZE record describes; cpu_time is now. */
static inline u64 hwpmc_log_time_at_nmi(u64 cpu_time)
{
	return likely(hwpmc_log_is_tsc) ? cpu_time + hwpmc_log_tsc_offset :
	       ktime_get_mono_fast_ns();
}

u64 hwpmc_log_time_nmi(void);
/* Milliseconds as ticks of that clock. */
u64 hwpmc_log_ticks_nmi(unsigned int ms);
/* At load. */
void hwpmc_log_clock_init(void);
/* The machine suspends and resumes, on its last CPU. */
void hwpmc_log_clock_suspend_irqoff(void);
void hwpmc_log_clock_resume_irqoff(void);
u32 hwpmc_log_clock_kind(void);		/* enum hwpmc_log_clock_kind */
u32 hwpmc_log_clock_khz(void);
/* Three clocks at the same time. */
void hwpmc_log_clock_read(u64 *tick, u64 *monotonic, u64 *realtime);

/*
 * Room for a record of `len` bytes (rounded up to 8). Its header is filled in, with
 * flags and id 0; its body is not. NULL: counted as dropped. Else hwpmc_log_commit()
 * must follow at once. Preemption off, any context.
 */
void *hwpmc_log_reserve(struct hwpmc_log *log, u8 type, size_t len);
void hwpmc_log_commit(struct hwpmc_log *log);
/* The same for a sample of an event of the kernel, which waking the reader may cause: it is
 * woken once a millisecond from this CPU at most. Interrupts off, no NMI. */
void hwpmc_log_commit_tick_irqoff(struct hwpmc_log *log);
/* Room for a CONTEXT record and a sample, nothing filled in; NULL: counted as a
 * dropped sample. */
void *hwpmc_log_reserve_sample(struct hwpmc_log *log, size_t len);
/* Wake the reader by irq_work. Interrupts off or NMI, any lock held. */
void hwpmc_log_wake_nmi(struct hwpmc_log *log);

/* Count a record that cannot be written; cause: enum hwpmc_drop_cause. Process
 * context. */
void hwpmc_log_drop(struct hwpmc_log *log, unsigned int cause);

/* May it contain kernel addresses? Its maker had CAP_PERFMON. */
bool hwpmc_log_is_privileged(const struct hwpmc_log *log);

/* Does the owner have a log that accepts records? */
bool hwpmc_log_is_open(const struct hwpmc_owner *owner);

#endif /* HWPMC_LOG_H */
