/* SPDX-License-Identifier: BSD-2-Clause */
/* cachedir.h - the caller's own directory for what can be made again. */
#ifndef HWPMC_LIB_CACHEDIR_H
#define HWPMC_LIB_CACHEDIR_H

#include <stdbool.h>
#include <stddef.h>

/* A folder of the caller's cache, which is made where it is not there; NULL: the cache itself.
 * The caller closes it. -1: there is none. */
int cachedir_open(const char *below);

/* Read or write all of `len` bytes. Return false if there are fewer, or at an error. */
bool cachedir_read(int fd, void *to, size_t len);
bool cachedir_write(int fd, const void *from, size_t len);

#endif /* HWPMC_LIB_CACHEDIR_H */
