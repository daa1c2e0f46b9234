/* SPDX-License-Identifier: BSD-2-Clause */
/* output.c - opens files to write. */
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "msg.h"
#include "output.h"

/* The directory that path names a file in is not only its owner's. */
static bool is_shared(const char *path)
{
	char *copy = must_strdup(path);
	bool shared;
	struct stat st;

	shared = stat(dirname(copy), &st) == 0 &&
		 (st.st_mode & (S_IWGRP | S_IWOTH) ||
		  (st.st_uid && st.st_uid != geteuid()));
	free(copy);
	return shared;
}

int output_open(const char *path, int flags, mode_t mode)
{
	flags |= O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
	return open(path, flags | (is_shared(path) ? O_NOFOLLOW : 0), mode);
}

FILE *output_fopen(const char *path)
{
	int fd = output_open(path, 0, 0666);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	if (fd >= 0 && !f)
		close(fd);
	return f;
}
