/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * debugflags.h - the module's tracepoints, and the language of the tunable
 * debugflags that chooses among them. The grammar is pure; any context.
 */
#ifndef HWPMC_DEBUGFLAGS_H
#define HWPMC_DEBUGFLAGS_H

#include "../compat/types.h"

/* Tracepoint hwpmc_MAJOR_MINOR of debug/trace.h each: major, minor. */
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
 * The set of events, a bit each in the order of the table, that a text names:
 * "major=minor,minor major=*". -EINVAL, and the set is as it was, if it has a word
 * that is not in the language; a minor without a tracepoint here names nothing.
 */
int hwpmc_debugflags_parse(const char *text, u64 *events);

#endif /* HWPMC_DEBUGFLAGS_H */
