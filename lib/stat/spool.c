/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * spool.c - a file without a name, for a log that can be read only once: memory does not
 * grow with it, and nothing is left behind.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "stat.h"

/* Not every file system knows files without a name. */
static int open_and_remove(const char *dir)
{
	char path[4096];
	int fd, n = snprintf(path, sizeof(path), "%s/hwpmc-XXXXXX", dir);

	if (n < 0 || n >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

static int open_in(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR) ? fd :
	       open_and_remove(dir);
}

int spool_open(const char **dir)
{
	int fd;

	*dir = secure_getenv("TMPDIR");
	if (*dir && **dir)
		return open_in(*dir);
	/* Logs are larger than what is in memory, as /tmp often is. */
	*dir = "/var/tmp";
	fd = open_in(*dir);
	if (fd >= 0)
		return fd;
	*dir = "/tmp";
	return open_in(*dir);
}

int spool_write(int fd, const void *data, size_t len)
{
	for (const char *at = data; len;) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno != EINTR)
			return -1;
		if (n < 0)
			continue;
		at += n;
		len -= n;
	}
	return 0;
}
