/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * log.h - an owner's log: one ring a CPU, a reader, and who may write into it.
 *
 * Made by CONFIGURELOG, ends by the same or with its owner; freed by RCU, after
 * the owner's PMCs that need it were stopped on all CPUs. Whoever finds it through
 * owner->log does so under rcu_read_lock (or with interrupts off, or in NMI) or
 * hwpmc_lock.
 *
 * Writers: every writer writes into the ring of its own CPU with preemption off,
 * from any context, NMI included: reserve, fill, commit, nothing else between
 * that could sleep or fail. What does not fit is counted, never waited for.
 */
#ifndef HWPMC_LOG_H
#define HWPMC_LOG_H

#include "hwpmc_log.h"	/* uapi */
#include "ring.h"

struct hwpmc_owner;
struct hwpmc_log;

/* This CPU's ring, in writers and in NMI (constant while the log exists). */
struct hwpmc_ring *hwpmc_log_ring(struct hwpmc_log *log);

/* Now, by the clock that the log's INITIALIZE record describes. Any context. */
u64 hwpmc_log_time(void);
/* So many milliseconds, in ticks of that clock. Any context. */
u64 hwpmc_log_ticks(unsigned int ms);
void hwpmc_log_clock_init(void);
u32 hwpmc_log_clock_kind(void);		/* enum hwpmc_log_clock_kind */
u32 hwpmc_log_clock_khz(void);
void hwpmc_log_clock_read(u64 *tick, u64 *monotonic, u64 *realtime);

/*
 * Room for a record of `len` bytes (rounded up to 8) of the type, its header
 * filled in (flags and id 0) and the bytes behind it not. Preemption off, any
 * context. NULL: dropped and counted. After it hwpmc_log_commit(), at once.
 */
void *hwpmc_log_reserve(struct hwpmc_log *log, u8 type, size_t len);
void hwpmc_log_commit(struct hwpmc_log *log);
/* Bare room for a sample and its CONTEXT; a drop counts as one of a sample. */
void *hwpmc_log_reserve_sample(struct hwpmc_log *log, size_t len);
/* Have the reader woken. Interrupts off or NMI, any locks held. */
void hwpmc_log_wake_irqoff(struct hwpmc_log *log);

/* A record that cannot be written, and why: enum hwpmc_drop_cause. Any context that
 * sleeps. */
void hwpmc_log_drop(struct hwpmc_log *log, unsigned int cause);

/* May it tell where the kernel and its modules are? */
bool hwpmc_log_is_privileged(const struct hwpmc_log *log);

/* May records be written (PMCSTART asks)? */
bool hwpmc_log_is_open(const struct hwpmc_owner *owner);

#endif /* HWPMC_LOG_H */
