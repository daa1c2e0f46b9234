/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cachedir.c - the caller's own directory for what can be made again:
 * $XDG_CACHE_HOME/hwpmc, or ~/.cache/hwpmc. Each folder below the first is the caller's, is
 * opened without following symbolic links, and nobody else can write to those that are made here.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cachedir.h"

#define FOLDER	(O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

/* mode: bits that it must not have. Closes `at`. */
static int enter(int at, const char *name, mode_t mode)
{
	struct stat st;
	int fd = -1;

	if (at >= 0) {
		(void)mkdirat(at, name, 0700);
		fd = openat(at, name, FOLDER);
		close(at);
	}
	if (fd < 0 || (fstat(fd, &st) == 0 && st.st_uid == geteuid() && !(st.st_mode & mode)))
		return fd;
	close(fd);
	return -1;
}

/* The first folder is named by the caller: links that lead to it are followed. */
static int open_base(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || (fstat(fd, &st) == 0 && (st.st_uid == geteuid() || !st.st_uid)))
		return fd;
	close(fd);
	return -1;
}

int cachedir_open(const char *below)
{
	const char *off = secure_getenv("HWPMC_CACHE");
	const char *base = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int fd;

	if (off && strcmp(off, "none") == 0)
		return -1;
	if (base && base[0] == '/')
		fd = open_base(base);
	else if (home && home[0] == '/')
		fd = enter(open_base(home), ".cache", 0);
	else
		return -1;
	fd = enter(fd, "hwpmc", S_IWGRP | S_IWOTH);
	return below ? enter(fd, below, S_IWGRP | S_IWOTH) : fd;
}

bool cachedir_read(int fd, void *to, size_t len)
{
	char *at = to;
	ssize_t n;

	for (; len; at += n, len -= n) {
		n = read(fd, at, len);
		if (n <= 0)
			return false;
	}
	return true;
}

bool cachedir_write(int fd, const void *from, size_t len)
{
	const char *at = from;
	ssize_t n;

	for (; len; at += n, len -= n) {
		n = write(fd, at, len);
		if (n <= 0)
			return false;
	}
	return true;
}
