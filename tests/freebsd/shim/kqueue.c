/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kqueue.c - FreeBSD's queues of events over poll(2): a process by its descriptor, signals
 * by one of signalfd(2), timers by timerfd(2). One queue a program, one thread.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/event.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#define SOURCES		64

static struct source {
	struct kevent ev;
	int fd;				/* -1: free */
} sources[SOURCES];
static int nsource;

int kqueue(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int timer_of(const struct kevent *ev)
{
	int64_t ms = ev->fflags & NOTE_SECONDS ? ev->data * 1000 : ev->data;
	struct itimerspec t = {
		.it_value = { ms / 1000, ms % 1000 * 1000000 },
		.it_interval = { ms / 1000, ms % 1000 * 1000000 },
	};
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0 && timerfd_settime(fd, 0, &t, NULL))
		return -1;
	return fd;
}

static void ignore(int sig)
{
	(void)sig;
}

/* The handler is what makes the module send SIGIO; what comes is read here. */
static int signal_of(const struct kevent *ev)
{
	struct sigaction old;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, (int)ev->ident);
	if (!sigaction((int)ev->ident, NULL, &old) && old.sa_handler == SIG_DFL)
		signal((int)ev->ident, ignore);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int source_fd(const struct kevent *ev)
{
	switch (ev->filter) {
	case EVFILT_READ:
		return dup((int)ev->ident);
	case EVFILT_PROC:
		return (int)syscall(SYS_pidfd_open, (pid_t)ev->ident, 0);
	case EVFILT_SIGNAL:
		return signal_of(ev);
	case EVFILT_TIMER:
		return timer_of(ev);
	}
	errno = EINVAL;
	return -1;
}

static int source_add(const struct kevent *ev)
{
	int fd = source_fd(ev);

	if (fd < 0 || nsource == SOURCES)
		return -1;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	sources[nsource++] = (struct source){ *ev, fd };
	return 0;
}

/* A child starts with the signals that it was started with. */
static void unblock_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
}

static int reads_log(void)
{
	for (int i = 0; i < nsource; i++)
		if (sources[i].ev.filter == EVFILT_READ &&
		    sources[i].ev.ident != STDIN_FILENO)
			return 1;
	return 0;
}

/*
 * False: nothing to tell of. FreeBSD's pmcstat ends at once by SIGCHLD, which its child
 * sends it where it cannot be started; that a child has ended is not to cut its log.
 */
static int signal_take(const struct source *s)
{
	struct signalfd_siginfo info;
	int told = 0;

	while (read(s->fd, &info, sizeof(info)) > 0)
		told |= s->ev.ident != SIGCHLD || info.ssi_code <= 0 || !reads_log();
	return told;
}

static int source_take(int i, struct kevent *to)
{
	uint64_t n;

	*to = sources[i].ev;
	to->flags &= (unsigned short)~(EV_ADD | EV_ONESHOT);
	if (to->filter == EVFILT_SIGNAL && !signal_take(&sources[i]))
		return 0;
	if (to->filter == EVFILT_TIMER && read(sources[i].fd, &n, sizeof(n)) < 0)
		return 0;
	if (to->filter == EVFILT_PROC || sources[i].ev.flags & EV_ONESHOT) {
		close(sources[i].fd);
		sources[i] = sources[--nsource];
	}
	return 1;
}

/* The end of a process is told before its SIGCHLD; the others in turn, as a terminal that
 * was closed can always be read. */
static int choose(const struct pollfd *pfd)
{
	static int turn;

	for (int i = 0; i < nsource; i++)
		if (pfd[i].revents && sources[i].ev.filter == EVFILT_PROC)
			return i;
	do {
		turn++;
	} while (!pfd[turn % nsource].revents);
	return turn % nsource;
}

int kevent(int kq, const struct kevent *changes, int nchanges, struct kevent *events,
	   int nevents, const struct timespec *timeout)
{
	static int forks;
	struct pollfd pfd[SOURCES];
	int n;

	(void)kq;
	if (!forks++)
		pthread_atfork(NULL, NULL, unblock_signals);
	for (int i = 0; i < nchanges; i++)
		if (source_add(&changes[i]))
			return -1;
	if (!nevents)
		return 0;
	do {
		for (int i = 0; i < nsource; i++)
			pfd[i] = (struct pollfd){ .fd = sources[i].fd, .events = POLLIN };
		n = ppoll(pfd, (nfds_t)nsource, timeout, NULL);
	} while (n > 0 && !source_take(choose(pfd), events));
	return n > 0 ? 1 : n;
}
