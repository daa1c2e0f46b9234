/* SPDX-License-Identifier: BSD-2-Clause */
/* output.c - opens files to write. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "msg.h"
#include "output.h"

/* Others than root and this user can write to the directory. */
static bool is_others(const struct stat *st)
{
	return st->st_mode & (S_IWGRP | S_IWOTH) ||
	       (st->st_uid && st->st_uid != geteuid());
}

/* The directory that path names a file in is not only its owner's. */
static bool is_shared(const char *path)
{
	char *copy = must_strdup(path);
	struct stat st;
	bool shared;

	shared = stat(dirname(copy), &st) == 0 && is_others(&st);
	free(copy);
	return shared;
}

int output_open(const char *path, int flags, mode_t mode)
{
	flags |= O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
	return open(path, flags | (is_shared(path) ? O_NOFOLLOW : 0), mode);
}

int output_open_kept(const char *path)
{
	return open(path, O_WRONLY | O_CLOEXEC | (is_shared(path) ? O_NOFOLLOW : 0));
}

static FILE *stream_of(int fd)
{
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (fd >= 0 && !f)
		close(fd);
	return f;
}

FILE *output_fopen(const char *path)
{
	return stream_of(output_open(path, 0, 0666));
}

int output_mkdir(const char *path)
{
	int link = is_shared(path) ? O_NOFOLLOW : 0;

	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return -1;
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC | link);
}

FILE *output_fopen_at(int dir, const char *name)
{
	struct stat st;
	int link;

	if (fstat(dir, &st) < 0)
		return NULL;
	link = is_others(&st) ? O_NOFOLLOW : 0;
	return stream_of(openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | link,
				0666));
}
