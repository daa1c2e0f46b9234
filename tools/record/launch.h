/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * launch.h - a command that stands behind a pipe until it may run, so that
 * everything is attached and started, or refused, before its first instruction.
 */
#ifndef TOOLS_LAUNCH_H
#define TOOLS_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch {
	pid_t pid;
	int go_fd;		/* a byte here lets it go, end of file ends it */
	int error_fd;		/* errno of an exec that failed comes from here */
	bool quiet;		/* its input and output are /dev/null; given */
};

/*
 * Fork. The child waits before exec, with the signal mask that this process
 * had before watch_open(). 0, or -1 with errno.
 */
int launch_prepare(struct launch *l, char *const argv[]);

/* Let it exec. 0, or the errno of the exec; the child is then reaped. */
int launch_go(struct launch *l);

/* It never ran: end and reap it. */
void launch_cancel(struct launch *l);

/* Print that `what` cannot be run, as a shell does: exit status 127 or 126. */
int launch_error(const char *what, int err);

/* What to exit with for a wait status: its own, or 128 + signal. */
int launch_exit_status(int wait_status);

#endif
