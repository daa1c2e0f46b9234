/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - wait for the end of a measurement: the command exits, the last of
 * the watched processes is gone, a signal asks for it, or time is up.
 */
#ifndef TOOLS_WATCH_H
#define TOOLS_WATCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct watch {
	int signal_fd;
	pid_t child;		/* 0: none; the command, which ends the watch */
	int child_fd;
	unsigned int ntarget;	/* processes that were there already */
	int *target_fd;		/* -1: gone */
	unsigned int nalive;
	int input_fd;		/* -1: none; WATCH_INPUT when readable */
	int rings_fd;		/* -1: none; WATCH_RINGS when readable */
	int device_fd;		/* -1: none; of the counters: the program ends when they are
				 * revoked, */
	int revoked_status;	/* with this exit status; 0: EXIT_FAILED */
	int signal;		/* that asked for the end, 0: none */
	bool log;		/* SIGIO is taken: a log failed */
	bool user;		/* SIGUSR2 is taken */
};

enum watch_event {
	WATCH_TIME,		/* the deadline has passed */
	WATCH_CHILD,		/* the command has exited; reap it */
	WATCH_TARGETS,		/* all targets are gone, and there is no child */
	WATCH_SIGNAL,		/* asked to end, and there is no child */
	WATCH_INPUT,		/* input_fd has something */
	WATCH_RINGS,		/* rings_fd has something */
	WATCH_LOG,		/* SIGIO: a log could not be written */
	WATCH_USER,		/* SIGUSR2 */
};

/*
 * From now on SIGINT, SIGTERM and SIGHUP do not end this process: results are
 * still to be printed. 0, or -1 with errno.
 */
int watch_open(struct watch *w);
void watch_close(struct watch *w);

/* Take SIGIO too, which the kernel sends for a log that it cannot write. */
void watch_log(struct watch *w);
/* Take SIGUSR2 too, by which the user asks for something now. */
void watch_user(struct watch *w);
/* Restore the signals: what follows may block without a limit. */
void watch_let_die(void);

/* In a child: the signal mask as it was before watch_open(). */
void watch_unblock(void);

int watch_child(struct watch *w, pid_t pid);
int watch_target(struct watch *w, pid_t pid);	/* ESRCH: not there */

/*
 * Wait. deadline: watch_now() time, 0: none. While a command runs, a signal
 * that only this process got is passed on to it; the terminal's reach both.
 */
enum watch_event watch_wait(struct watch *w, uint64_t deadline);

/* Reap the command. */
void watch_reap(struct watch *w, int *status, struct rusage *usage);

/*
 * After a write failed: where the reader of a pipe is gone, as head(1) that has all that it wants,
 * this program ends as others do, by SIGPIPE. Returns otherwise, or if its parent ignores that.
 */
void watch_end_without_reader(int fd);

/* Nanoseconds of the monotonic clock. */
uint64_t watch_now(void);

#endif
