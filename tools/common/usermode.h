/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usermode.h - a user who may not measure kernel mode measures user mode.
 */
#ifndef TOOLS_USERMODE_H
#define TOOLS_USERMODE_H

#include <libhwpmc.h>

/* What to print, once, if a specification was replaced. */
#define USERMODE_NOTE							\
	"user mode only: kernel mode needs CAP_PERFMON; run it as root, "	\
	"or: sysctl kern.hwpmc.unprivileged_kernel=1"

struct usermode_request {
	enum hwpmc_mode mode;
	uint32_t flags;
	uint32_t cpu;
	uint64_t count;
	pid_t pid;			/* the process that it is opened for; 0: none yet */
};

/*
 * As hwpmc_allocate(), or with r->pid hwpmc_open_counter(); if that process has exited, it is
 * for its attach to say so. Where kernel mode is refused to the caller and *spec names no
 * mode, its user mode is allocated: *spec, which is freed, is then replaced by
 * the event with ":u", and *replaced is set.
 */
int usermode_allocate(struct hwpmc *h, char **spec,
		      const struct usermode_request *r, uint32_t *id,
		      bool *replaced);

#endif
