/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * freebsd.h - what FreeBSD's C library has and Linux's lacks, for the sources of its
 * programs: included before each of them. kqueue.c and libc.c have the functions.
 */
#ifndef HWPMC_FREEBSD_SHIM_H
#define HWPMC_FREEBSD_SHIM_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <err.h>
#include <getopt.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/param.h>
#include <sys/queue.h>
#include <sys/time.h>
#include <sys/types.h>
#include <unistd.h>
#ifdef __cplusplus
/* FreeBSD's headers of C++ include these, and may be included where names are of C. */
#include <algorithm>
#include <string>
#endif

#define __FBSDID(text)
#define __dead2		__attribute__((noreturn))
#ifndef __unused
#define __unused	__attribute__((unused))
#endif
#ifndef __DECONST
#define __DECONST(type, p) ((type)(uintptr_t)(const void *)(p))
#endif
#ifndef MAXCOMLEN
#define MAXCOMLEN	19
#endif
#define MAP_NOSYNC	0

#ifdef __cplusplus
extern "C" {
#endif
void errc(int status, int code, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
size_t strlcpy(char *to, const char *from, size_t size);
/* Options end at the first word that is none. */
int freebsd_getopt(int argc, char *const argv[], const char *options);
/* "r+": both ways. pclose() of what popen() here has opened. */
FILE *freebsd_popen(const char *command, const char *mode);
int freebsd_pclose(FILE *f);
#ifdef __cplusplus
}
#endif

#define getopt(argc, argv, options) freebsd_getopt(argc, argv, options)
#define popen(command, mode)	freebsd_popen(command, mode)
#define pclose(f)		freebsd_pclose(f)

#ifndef LIST_FOREACH_SAFE
#define LIST_FOREACH_SAFE(v, head, field, next)				\
	for ((v) = LIST_FIRST(head);					\
	     (v) && ((next) = LIST_NEXT(v, field), 1); (v) = (next))
#endif
#ifndef SLIST_FOREACH_SAFE
#define SLIST_FOREACH_SAFE(v, head, field, next)			\
	for ((v) = SLIST_FIRST(head);					\
	     (v) && ((next) = SLIST_NEXT(v, field), 1); (v) = (next))
#endif
#ifndef STAILQ_FOREACH_SAFE
#define STAILQ_FOREACH_SAFE(v, head, field, next)			\
	for ((v) = STAILQ_FIRST(head);					\
	     (v) && ((next) = STAILQ_NEXT(v, field), 1); (v) = (next))
#endif
#ifndef TAILQ_FOREACH_SAFE
#define TAILQ_FOREACH_SAFE(v, head, field, next)			\
	for ((v) = TAILQ_FIRST(head);					\
	     (v) && ((next) = TAILQ_NEXT(v, field), 1); (v) = (next))
#endif

#endif /* HWPMC_FREEBSD_SHIM_H */
