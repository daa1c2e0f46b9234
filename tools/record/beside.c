/* SPDX-License-Identifier: BSD-2-Clause */
/* beside.c - a file that replaces another when it is complete; see beside.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/output.h"
#include "beside.h"

static char *with_suffix(const char *path, const char *suffix)
{
	char *name = must_calloc(strlen(path) + strlen(suffix) + 1, 1);

	strcat(strcpy(name, path), suffix);
	return name;
}

static void beside_free(struct beside *b)
{
	free(b->path);
	free(b->part);
	free(b->old);
	*b = (struct beside){ .path = NULL };
}

/* The process that holds the lock renames the file at its end: then it is another one. */
static bool is_still(int fd, const char *path)
{
	struct stat opened, named;

	return fstat(fd, &opened) == 0 && lstat(path, &named) == 0 &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/* What a killed process has left is used again. The lock shows that no process writes it. */
static int open_part(const char *part)
{
	struct stat st;
	int fd;

	for (;;) {
		fd = open(part, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
			  O_NONBLOCK, 0600);
		if (fd < 0)
			return -1;
		if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
			errno = errno == EWOULDBLOCK ? EBUSY : errno;
			break;
		}
		if (!is_still(fd, part)) {
			close(fd);
			continue;
		}
		errno = EPERM;
		if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
		    st.st_uid != geteuid() || st.st_nlink != 1)
			break;
		if (fchmod(fd, 0600) < 0 || ftruncate(fd, 0) < 0)
			break;
		return fd;
	}
	close(fd);
	return -1;
}

/* 1: path is, or may become, a regular file; 0: another kind; -1: errno. */
static int is_replaceable(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return 0;
	/* What forbids to write it is said now, not when all is recorded. */
	fd = output_open_kept(path);
	if (fd < 0)
		return errno == ENOENT ? 1 : -1;
	close(fd);
	return 1;
}

int beside_open(struct beside *b, const char *path)
{
	int kind = is_replaceable(path), fd;

	*b = (struct beside){ .path = NULL };
	if (kind < 0)
		return -1;
	if (!kind)
		return output_open(path, 0, 0600);
	b->path = realpath(path, NULL);
	if (!b->path)
		b->path = must_strdup(path);
	b->part = with_suffix(b->path, ".part");
	b->old = with_suffix(b->path, ".old");
	fd = open_part(b->part);
	if (fd < 0) {
		int err = errno;

		beside_free(b);
		errno = err;
	}
	return fd;
}

int beside_keep(struct beside *b)
{
	struct stat st;

	if (!b->part)
		return 0;
	/* Of an empty file, as mktemp(1) makes, nothing is to be kept. */
	if (stat(b->path, &st) == 0 && st.st_size && rename(b->path, b->old) < 0)
		return -1;
	if (rename(b->part, b->path) < 0)
		return -1;
	beside_free(b);
	return 0;
}

void beside_discard(struct beside *b)
{
	if (b->part)
		unlink(b->part);
	beside_free(b);
}
