/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_log.h - logs that a test makes, record by record, and what it asks of the
 * profile: for the tests of libhwpmcstat. The log lies in memory of its size.
 */
#ifndef STAT_LOG_H
#define STAT_LOG_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libhwpmcstat.h>

#include "harness.h"

#define TICKS_PER_US	1000ull		/* the clock has 1 GHz: ticks are ns */

struct log {
	uint8_t *bytes;
	size_t len, room;
	uint64_t time;			/* of the next record; they come 1 apart */
	uint64_t samples;		/* that were written */
};

/* A record of that length at the end of the log, filled with zeros. */
void *log_add(struct log *log, uint8_t type, size_t len);
void log_free(struct log *log);

/* INITIALIZE, and a sampling PMC with id 7, "instructions". */
void log_begin(struct log *log);
void log_event(struct log *log, uint32_t id, const char *name, uint64_t period);
void log_cpu(struct log *log, uint32_t cpu);
void log_context(struct log *log, int32_t pid, int32_t tid);
void log_exec(struct log *log, int32_t pid, const char *path, const char *comm);
void log_fork(struct log *log, int32_t parent, int32_t child);
void log_exit(struct log *log, int32_t pid);
void log_note(struct log *log, const char *text);
struct hwpmc_log_map *log_map(struct log *log, int32_t pid, uint64_t start,
			      uint64_t size, uint64_t offset, const char *path);
void log_unmap(struct log *log, int32_t pid, uint64_t start, uint64_t size);
/* pc[0] is where it hit. Of PMC 7. */
void log_stack(struct log *log, uint8_t flags, uint32_t n, const uint64_t *pc);
/* One in user mode, without callers. */
void log_user(struct log *log, uint64_t pc);
void log_kernel(struct log *log, uint64_t pc);

/* Read it; a failure of that fails the test. NULL: default options. */
struct hwpmc_profile *log_profile(const struct log *log,
				  const struct hwpmc_profile_options *o);
struct hwpmc_profile_options log_options(void);
/* samples of the log = kept + filtered; kept = sum of stacks = of images. */
void check_conservation(const struct log *log, struct hwpmc_profile *p);
/* The stack whose first pc is that; there must be one. */
const struct hwpmc_stack *stack_at(struct hwpmc_profile *p, uint64_t pc);
/* Samples whose function has this name. */
uint64_t samples_in(struct hwpmc_profile *p, const char *symbol);
const struct hwpmc_image *image_of(struct hwpmc_profile *p, const char *name);

/* ---- programs of tests/symbols ------------------------------------------- */

/* "inlined": its path, below $BUILD. */
const char *program(const char *name);
/* The address of a symbol, by nm(1). */
uint64_t nm_addr(const char *path, const char *symbol);
/* A file's executable segment, by readelf(1). */
struct text {
	uint64_t offset, addr, size;	/* from page to page */
};
struct text text_of(const char *path);
/* Its build-id, by readelf(1); the number of bytes. */
uint32_t build_id_of(const char *path, uint8_t *id);
/* Of its text in this process, where ELF address 0 is at base. */
struct hwpmc_log_map *log_program(struct log *log, int32_t pid, uint64_t base,
				  const char *path);
/* In which line of tests/symbols/FILE the text is first. */
unsigned int line_with(const char *file, const char *text);

#endif
