/* SPDX-License-Identifier: BSD-2-Clause */
/* cachedir.h - the caller's own directory for what can be made again. */
#ifndef HWPMC_LIB_CACHEDIR_H
#define HWPMC_LIB_CACHEDIR_H

/* A folder of the caller's cache, which is made where it is not there; NULL: the cache itself.
 * The caller closes it. -1: there is none. */
int cachedir_open(const char *below);

#endif /* HWPMC_LIB_CACHEDIR_H */
