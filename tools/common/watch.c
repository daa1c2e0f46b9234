/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.c - the one place where the tools wait. Signals come by signalfd and
 * exits by pidfd, so that nothing is decided in a signal handler.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "msg.h"
#include "watch.h"

#define WATCH_FDS	5	/* signals, the command, input, rings, the device */

static sigset_t mask_before;
static void (*pipe_before)(int);

static int open_pidfd(pid_t pid)
{
	return syscall(SYS_pidfd_open, pid, 0);	/* is close-on-exec */
}

static void ending_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

int watch_open(struct watch *w)
{
	sigset_t set;

	memset(w, 0, sizeof(*w));
	w->child_fd = w->input_fd = w->rings_fd = w->device_fd = -1;
	ending_signals(&set);
	sigprocmask(SIG_BLOCK, &set, &mask_before);
	/* The command may be gone before it is let go. */
	pipe_before = signal(SIGPIPE, SIG_IGN);
	w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return w->signal_fd < 0 ? -1 : 0;
}

static void take_signals(struct watch *w)
{
	sigset_t set;

	ending_signals(&set);
	if (w->log)
		sigaddset(&set, SIGIO);
	if (w->user)
		sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signalfd(w->signal_fd, &set, 0);
}

void watch_log(struct watch *w)
{
	w->log = true;
	take_signals(w);
}

void watch_user(struct watch *w)
{
	w->user = true;
	take_signals(w);
}

void watch_let_die(void)
{
	sigset_t set;

	ending_signals(&set);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

void watch_end_without_reader(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	if (pipe_before == SIG_IGN || poll(&p, 1, 0) != 1 ||
	    !(p.revents & POLLERR))
		return;
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
}

void watch_unblock(void)
{
	signal(SIGPIPE, pipe_before);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
}

void watch_close(struct watch *w)
{
	struct signalfd_siginfo info;

	for (unsigned int i = 0; i < w->ntarget; i++)
		if (w->target_fd[i] >= 0)
			close(w->target_fd[i]);
	free(w->target_fd);
	if (w->child_fd >= 0)
		close(w->child_fd);
	/* One that is pending would end this process before it has reported how it
	 * went.
	 */
	while (read(w->signal_fd, &info, sizeof(info)) == sizeof(info))
		;
	close(w->signal_fd);
	if (w->log)
		signal(SIGIO, SIG_IGN);
	watch_unblock();
}

int watch_child(struct watch *w, pid_t pid)
{
	w->child_fd = open_pidfd(pid);
	if (w->child_fd < 0)
		return -1;
	w->child = pid;
	return 0;
}

int watch_target(struct watch *w, pid_t pid)
{
	int fd = open_pidfd(pid);

	if (fd < 0)
		return -1;
	w->target_fd = must_realloc(w->target_fd, w->ntarget + 1, sizeof(int));
	w->target_fd[w->ntarget++] = fd;
	w->nalive++;
	return 0;
}

/* Does a signal ask for the end now? */
static enum watch_event take_signal(struct watch *w)
{
	struct signalfd_siginfo info;

	if (read(w->signal_fd, &info, sizeof(info)) != sizeof(info))
		return WATCH_TIME;
	if (info.ssi_signo == SIGIO)
		return WATCH_LOG;
	if (info.ssi_signo == SIGUSR2)
		return WATCH_USER;
	w->signal = info.ssi_signo;
	if (!w->child)
		return WATCH_SIGNAL;
	if (info.ssi_code != SI_KERNEL)
		kill(w->child, info.ssi_signo);
	return WATCH_TIME;
}

static void drop_target(struct watch *w, unsigned int i)
{
	close(w->target_fd[i]);
	w->target_fd[i] = -1;
	w->nalive--;
}

static int poll_until(struct pollfd *fds, unsigned int n, uint64_t deadline)
{
	uint64_t now = deadline ? watch_now() : 0;
	uint64_t left = deadline > now ? deadline - now : 0;
	struct timespec ts = {
		.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000,
	};

	return ppoll(fds, n, deadline ? &ts : NULL, NULL);
}

/* The command goes on. */
static _Noreturn void end_revoked(const struct watch *w)
{
	msg("all PMCs were revoked to unload the module");
	exit(w->revoked_status ?: EXIT_FAILED);
}

/* What happened since, WATCH_TIME where nothing did that matters. */
static enum watch_event watch_look(struct watch *w, const struct pollfd *fds)
{
	enum watch_event event = WATCH_TIME;

	for (unsigned int i = 0; i < w->ntarget; i++)
		if (w->target_fd[i] >= 0 && fds[WATCH_FDS + i].revents)
			drop_target(w, i);
	if (fds[1].revents)
		return WATCH_CHILD;
	/* A log that has ended is POLLHUP alone. */
	if (fds[4].revents & POLLERR)
		end_revoked(w);
	if (fds[0].revents)
		event = take_signal(w);
	if (event != WATCH_TIME)
		return event;
	if (!w->child && w->ntarget && !w->nalive)
		return WATCH_TARGETS;
	if (fds[2].revents)
		return WATCH_INPUT;
	/* They end before the watch where the module is taken away. */
	if (fds[3].revents & ~POLLIN)
		w->rings_fd = -1;
	return fds[3].revents & POLLIN ? WATCH_RINGS : WATCH_TIME;
}

enum watch_event watch_wait(struct watch *w, uint64_t deadline)
{
	struct pollfd *fds = must_calloc(WATCH_FDS + w->ntarget, sizeof(*fds));
	enum watch_event event = WATCH_TIME;
	int n;

	do {
		fds[0] = (struct pollfd){ .fd = w->signal_fd, .events = POLLIN };
		fds[1] = (struct pollfd){ .fd = w->child_fd, .events = POLLIN };
		fds[2] = (struct pollfd){ .fd = w->input_fd, .events = POLLIN };
		fds[3] = (struct pollfd){ .fd = w->rings_fd, .events = POLLIN };
		fds[4] = (struct pollfd){ .fd = w->device_fd };
		for (unsigned int i = 0; i < w->ntarget; i++)
			fds[WATCH_FDS + i] = (struct pollfd){
				.fd = w->target_fd[i], .events = POLLIN,
			};
		n = poll_until(fds, WATCH_FDS + w->ntarget, deadline);
		if (n > 0)
			event = watch_look(w, fds);
	} while (event == WATCH_TIME && n != 0);
	free(fds);
	return event;
}

void watch_reap(struct watch *w, int *status, struct rusage *usage)
{
	while (wait4(w->child, status, 0, usage) < 0 && errno == EINTR)
		;
	close(w->child_fd);
	w->child_fd = -1;
	w->child = 0;
}

uint64_t watch_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}
