/* SPDX-License-Identifier: BSD-2-Clause */
/* lib_refused.h - calls of the libraries that must fail with EINVAL. */
#ifndef HWPMC_TESTS_LIB_REFUSED_H
#define HWPMC_TESTS_LIB_REFUSED_H

#include <errno.h>
#include <string.h>

#include <check.h>

/* A call that returns -1. */
#define REFUSED(call)							\
	do {								\
		errno = 0;						\
		ck_assert_msg((call) == -1 && errno == EINVAL, "%s: %s", #call, \
			      strerror(errno));				\
	} while (0)
/* A call that returns NULL, false or 0. */
#define NONE(call)							\
	do {								\
		errno = 0;						\
		ck_assert_msg(!(call) && errno == EINVAL, "%s: %s", #call, \
			      strerror(errno));				\
	} while (0)

#endif /* HWPMC_TESTS_LIB_REFUSED_H */
