/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * debugflags.h - the list of the module's tracepoints, and the parser of the tunable
 * debugflags, which chooses among them. The parser is pure; any context.
 */
#ifndef HWPMC_DEBUGFLAGS_H
#define HWPMC_DEBUGFLAGS_H

#include "../compat/types.h"

/* Major and minor of each tracepoint hwpmc_MAJOR_MINOR of debug/trace.h. */
#define HWPMC_DEBUG_EVENTS(EVENT)					\
	EVENT(cpu, exit) EVENT(cpu, init)				\
	EVENT(csw, swi) EVENT(csw, swo)					\
	EVENT(logging, config) EVENT(logging, flush)			\
	EVENT(logging, getbuf) EVENT(logging, release)			\
	EVENT(logging, write)						\
	EVENT(md, allocate) EVENT(md, config) EVENT(md, exit)		\
	EVENT(md, init) EVENT(md, release)				\
	EVENT(module, hook) EVENT(module, init) EVENT(module, syscall)	\
	EVENT(owner, allocate) EVENT(owner, exec)			\
	EVENT(owner, release) EVENT(owner, signal)			\
	EVENT(pmc, allocate) EVENT(pmc, attach) EVENT(pmc, read)	\
	EVENT(pmc, release) EVENT(pmc, start) EVENT(pmc, stop)		\
	EVENT(pmc, write)						\
	EVENT(process, exec) EVENT(process, exit) EVENT(process, fork)	\
	EVENT(process, linktarget) EVENT(process, unlinktarget)		\
	EVENT(sampling, intr) EVENT(sampling, sample)

struct hwpmc_debug_event {
	const char *major, *minor;
};

extern const struct hwpmc_debug_event hwpmc_debug_events[];
extern const unsigned int hwpmc_debug_nevents;	/* 64 at most */

/*
 * Parse "major=minor,minor major=*" into a set of events, one bit each in the order of
 * the table. A minor without a tracepoint adds nothing. -EINVAL, and *events is
 * unchanged, if a word is unknown.
 */
int hwpmc_debugflags_parse(const char *text, u64 *events);

#endif /* HWPMC_DEBUGFLAGS_H */
