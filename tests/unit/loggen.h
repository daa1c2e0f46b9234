/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loggen.h - writes logs for tests: records one after the other into memory. What a
 * function returns is the record just added, to fill in more; it stays until the
 * next is added. Time goes on by a microsecond a record (1 GHz clock).
 */
#ifndef LOGGEN_H
#define LOGGEN_H

#include <stddef.h>
#include <stdint.h>

#include <hwpmc_log.h>

struct loggen {
	uint8_t *bytes;
	size_t len, room;
	uint64_t time;			/* of the next record */
	unsigned int n;			/* records */
};

#define LOGGEN_FIRST	1000000000ull	/* ticks; CLOCK_MONOTONIC is 5 s then */
#define LOGGEN_STEP	1000ull

/* A log that begins with INITIALIZE. */
void loggen_begin(struct loggen *g);
void loggen_free(struct loggen *g);
/* Zeros behind the header; the length is rounded up. */
void *loggen_add(struct loggen *g, uint8_t type, size_t len);

struct hwpmc_log_allocate *loggen_allocate(struct loggen *g, uint32_t id,
					   const char *name, uint64_t period);
void loggen_note(struct loggen *g, uint32_t id, const char *text);
void loggen_cpu(struct loggen *g, uint32_t cpu);
void loggen_kind(struct loggen *g, uint32_t cpu, uint32_t kind);
void loggen_period(struct loggen *g, uint32_t id, uint64_t period, uint8_t flags);
void loggen_context(struct loggen *g, int32_t pid, int32_t tid);
struct hwpmc_log_sample *loggen_sample(struct loggen *g, uint32_t id,
				       uint8_t flags, unsigned int n,
				       const uint64_t *pc);
struct hwpmc_log_map *loggen_map(struct loggen *g, int32_t pid, uint64_t start,
				 uint64_t end, uint64_t offset,
				 const char *path);
void loggen_unmap(struct loggen *g, int32_t pid, uint64_t start, uint64_t end);
struct hwpmc_log_exec *loggen_exec(struct loggen *g, int32_t pid,
				   const char *comm, const char *path);
struct hwpmc_log_attach *loggen_attach(struct loggen *g, uint32_t id,
				       int32_t pid, const char *path);
void loggen_fork(struct loggen *g, int32_t parent, int32_t child);
struct hwpmc_log_task *loggen_task(struct loggen *g, uint8_t type, int32_t pid,
				   int32_t tid, const char *comm);
struct hwpmc_log_value *loggen_value(struct loggen *g, uint8_t type,
				     uint32_t id, int32_t pid, uint64_t value);
struct hwpmc_log_drop *loggen_drop(struct loggen *g, uint64_t samples);
/* words: one for each bit of present & HWPMC_PRECISE_WORDS. */
struct hwpmc_log_precise *loggen_precise(struct loggen *g, uint32_t id, uint8_t kind,
					 uint64_t present, const uint64_t *words);
/* flags: HWPMC_LOSS_*; events are missing for 1,000 ticks. */
struct hwpmc_log_loss *loggen_loss(struct loggen *g, uint32_t pmc, uint32_t cpu,
				   uint32_t reason, uint8_t flags);

/* Six samples with exact addresses and without; the comments in loggen.c say which. */
void loggen_exact(struct loggen *g);
/* Of PMC 9 with a frequency beside PMC 7 with a period: samples that say what they stand
 * for, some that do not, and drops. Three samples of each. */
void loggen_frequency(struct loggen *g);
/* One record of each type that there is, and one of a type of later versions. */
void loggen_every_type(struct loggen *g);

#endif
