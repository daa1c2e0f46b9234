/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* O_PATH, secure_getenv() */
#endif
/*
 * table_file.c - reads files of events. A file that is read is a regular file, of a
 * bounded size, of this user or of root, not writable by everyone, and below its
 * directory whatever links and ".." say; its type is known before it is opened, so that
 * opening has no effect.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tables.h"

#define DECODER_MEMORY	(16u << 20)	/* what xz -6 wants */

static int refuse(char *why, size_t size, const char *what)
{
	snprintf(why, size, "%s", what);
	return -1;
}

/* A descriptor that neither reads nor writes: the file does not notice it. */
static int find_file(const char *dir, const char *name)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_MAGICLINKS | RESOLVE_BENEATH,
	};
	int at = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), fd;

	if (at < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, at, name, &how, sizeof(how));
	/* A sandbox without this call: no links, nothing in other folders. */
	if (fd < 0 && (errno == ENOSYS || errno == EPERM) && !strchr(name, '/'))
		fd = openat(at, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
	close(at);
	return fd;
}

static const char *what_forbids(const struct stat *st, size_t limit)
{
	if (!S_ISREG(st->st_mode))
		return "it is not a regular file";
	if (st->st_uid != 0 && st->st_uid != geteuid())
		return "it belongs to another user";
	if (st->st_mode & S_IWOTH)
		return "everyone can write to it";
	if (st->st_size < 0 || (uint64_t)st->st_size > limit)
		return "it is too large to be a file of events";
	return NULL;
}

/* size bytes and the 0 behind them: a file that shrinks or grows meanwhile is refused. */
static int read_all(int fd, size_t size, char **text)
{
	char *buf = malloc(size + 1);
	size_t at = 0;

	while (buf && at <= size) {
		ssize_t n = read(fd, buf + at, size + 1 - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += (size_t)n;
	}
	if (!buf || at != size) {
		free(buf);
		return -1;
	}
	buf[size] = '\0';
	*text = buf;
	return 0;
}

static int read_found(int found, size_t limit, char **text, size_t *len,
		      char *why, size_t size)
{
	const char *forbids;
	struct stat st;
	char path[40];
	int fd, rc;

	if (fstat(found, &st) < 0)
		return refuse(why, size, strerror(errno));
	forbids = what_forbids(&st, limit);
	if (forbids)
		return refuse(why, size, forbids);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return refuse(why, size, strerror(errno));
	*len = (size_t)st.st_size;
	rc = read_all(fd, *len, text);
	close(fd);
	return rc ? refuse(why, size, "it cannot be read completely") : 1;
}

int event_file_read(const char *dir, const char *name, size_t limit,
		    char **text, size_t *len, char *why, size_t size)
{
	int found = find_file(dir, name), rc;

	if (found < 0 && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return 0;
	if (found < 0)
		return refuse(why, size, errno == EXDEV ?
			      "its symbolic links lead out of the folder" : strerror(errno));
	rc = read_found(found, limit, text, len, why, size);
	close(found);
	return rc;
}

int event_decompress(const char *xz, size_t n, char **text, size_t *len,
		     char *why, size_t size)
{
	uint64_t memory = DECODER_MEMORY;
	size_t in = 0, out = 0;
	char *buf = malloc(EVENT_TABLE_LIMIT + 1), *small;
	lzma_ret rc;

	if (!buf)
		return refuse(why, size, "out of memory");
	rc = lzma_stream_buffer_decode(&memory, 0, NULL, (const uint8_t *)xz, &in, n,
				       (uint8_t *)buf, &out, EVENT_TABLE_LIMIT);
	if (rc != LZMA_OK || in != n) {
		free(buf);
		return refuse(why, size, rc == LZMA_BUF_ERROR ?
			      "it is too large or truncated" :
			      rc == LZMA_MEMLIMIT_ERROR ?
			      "its decompression needs too much memory" : "its compression is damaged");
	}
	small = realloc(buf, out + 1);
	if (small)
		buf = small;
	buf[out] = '\0';
	*text = buf;
	*len = out;
	return 0;
}
