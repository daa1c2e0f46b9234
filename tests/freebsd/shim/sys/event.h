/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sys/event.h - FreeBSD's queues of events, as far as its tools of counters use them:
 * the end of a process, signals, timers, and descriptors that can be read.
 */
#ifndef HWPMC_FREEBSD_SYS_EVENT_H
#define HWPMC_FREEBSD_SYS_EVENT_H

#include <stdint.h>
#include <time.h>

#define EVFILT_READ	(-1)
#define EVFILT_PROC	(-5)
#define EVFILT_SIGNAL	(-6)
#define EVFILT_TIMER	(-7)

#define EV_ADD		0x0001
#define EV_DELETE	0x0002
#define EV_ONESHOT	0x0010
#define EV_ERROR	0x4000
#define EV_EOF		0x8000

#define NOTE_EXIT	0x80000000u
#define NOTE_SECONDS	0x0001u

struct kevent {
	uintptr_t	ident;
	short		filter;
	unsigned short	flags;
	unsigned int	fflags;
	int64_t		data;
	void		*udata;
};

#define EV_SET(e, i, f, fl, ff, d, u)					\
	(*(e) = (struct kevent){					\
		.ident = (uintptr_t)(i), .filter = (f), .flags = (fl),	\
		.fflags = (ff), .data = (d), .udata = (u) })

#ifdef __cplusplus
extern "C" {
#endif
int kqueue(void);
int kevent(int kq, const struct kevent *changes, int nchanges, struct kevent *events,
	   int nevents, const struct timespec *timeout);
#ifdef __cplusplus
}
#endif

#endif /* HWPMC_FREEBSD_SYS_EVENT_H */
