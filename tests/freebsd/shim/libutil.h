/* SPDX-License-Identifier: BSD-2-Clause */
/* libutil.h - a set of CPUs from text. */
#ifndef HWPMC_FREEBSD_LIBUTIL_H
#define HWPMC_FREEBSD_LIBUTIL_H

#include <sys/cpuset.h>

#define CPUSET_PARSE_OK			0
#define CPUSET_PARSE_INVALID_CPU	(-3)

#ifdef __cplusplus
extern "C" {
#endif
/* Numbers and ranges: 0,2-5. */
int cpuset_parselist(const char *list, cpuset_t *set);
#ifdef __cplusplus
}
#endif

#endif /* HWPMC_FREEBSD_LIBUTIL_H */
