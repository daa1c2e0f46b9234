/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cache.c - tables on disk, in a directory that nobody else can write to, by build-id. A
 * build-id is what its file says: one that another file claims must not give that file's
 * rows to this one, so a table is used only for the very file that it was made of.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "../stat/libhwpmcstat.h"
#include "cachedir.h"
#include "unwind.h"

#define EXPORT __attribute__((visibility("default")))

/* Changes with the form of this file, and with the rows that are made of a file. */
#define VERSION_OF_CACHE	3

/* Of all tables. */
#define BYTES_MAX	(256u << 20)

struct head {
	char magic[8];
	uint32_t version, nrow;
	uint64_t inode, size;
	int64_t seconds, nanoseconds;	/* of its last change */
	uint32_t major, minor;
	uint8_t build_id_len, build_id[20], zero[3];
	uint32_t crc;			/* of the rows */
	uint32_t zero32;
};

static struct head head_of(const struct stat *of, const struct hwpmc_unwind *u)
{
	struct head h = {
		.magic = "hwpmcunw", .version = VERSION_OF_CACHE, .nrow = u->nrow,
		.inode = u->inode, .size = of->st_size,
		.seconds = of->st_mtim.tv_sec, .nanoseconds = of->st_mtim.tv_nsec,
		.major = u->major, .minor = u->minor, .build_id_len = u->build_id_len,
	};

	memcpy(h.build_id, u->build_id, sizeof(h.build_id));
	return h;
}

static void name_of(const struct hwpmc_unwind *u, char *name, size_t size)
{
	for (unsigned int i = 0; i < u->build_id_len; i++)
		snprintf(name + 2 * i, size - 2 * i, "%02x", u->build_id[i]);
}

/* Nobody but this user and root could have written it. */
static bool is_own(const struct stat *st)
{
	return (st->st_uid == geteuid() || !st->st_uid) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

EXPORT int hwpmc_unwind_cache_open(const char *path, const char **why)
{
	struct stat st;
	int fd;

	if (unwind_null(!path || !why))
		return -1;
	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		*why = strerror(errno);
		return -1;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		*why = strerror(errno);
	} else if (!is_own(&st)) {
		*why = "it belongs to another user, or other users can write to it";
	} else {
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

EXPORT int hwpmc_unwind_cache_own(void)
{
	return cachedir_open("unwind");
}

/* ---- reading ------------------------------------------------------------- */

static bool do_rise(const struct hwpmc_unwind_row *row, uint32_t nrow)
{
	for (uint32_t i = 1; i < nrow; i++)
		if (row[i].at <= row[i - 1].at)
			return false;
	return true;
}

static bool read_rows(int fd, const struct stat *of, struct hwpmc_unwind *u)
{
	struct head head, want;
	struct stat st;
	size_t bytes;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !is_own(&st) ||
	    !cachedir_read(fd, &head, sizeof(head)))
		return false;
	u->nrow = head.nrow;
	want = head_of(of, u);
	want.crc = head.crc;
	bytes = (size_t)u->nrow * sizeof(*u->row);
	if (memcmp(&head, &want, sizeof(head)) || !u->nrow ||
	    u->nrow > HWPMC_UNWIND_ROWS_MAX || (uint64_t)st.st_size != sizeof(head) + bytes)
		return false;
	u->row = malloc(bytes);
	return u->row && cachedir_read(fd, u->row, bytes) &&
	       crc32(0, (const Bytef *)u->row, bytes) == head.crc && do_rise(u->row, u->nrow);
}

bool cache_load(int dir, const struct stat *of, struct hwpmc_unwind *u)
{
	char name[48] = "";
	int fd;

	name_of(u, name, sizeof(name));
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read_rows(fd, of, u)) {
		close(fd);
		return true;
	}
	close(fd);
	free(u->row);
	u->row = NULL;
	u->nrow = 0;
	return false;
}

/* ---- writing ------------------------------------------------------------- */

/* ---- size ---------------------------------------------------------------- */

/* The least recent table or remainder of one, and the bytes of all. */
static uint64_t measure(DIR *d, char *oldest, size_t size)
{
	struct timespec first = { .tv_sec = INT64_MAX };
	const struct dirent *e;
	uint64_t bytes = 0;
	struct stat st;

	*oldest = '\0';
	rewinddir(d);
	while ((e = readdir(d))) {
		const char *name = e->d_name + (e->d_name[0] == '.');

		/* Files of others are not touched. */
		if (strspn(name, "0123456789abcdef") < 8 ||
		    fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(st.st_mode))
			continue;
		bytes += st.st_size;
		if (st.st_mtim.tv_sec > first.tv_sec ||
		    (st.st_mtim.tv_sec == first.tv_sec && st.st_mtim.tv_nsec >= first.tv_nsec))
			continue;
		first = st.st_mtim;
		snprintf(oldest, size, "%s", e->d_name);
	}
	return bytes;
}

/* Programs are replaced and their tables stay: those that were stored first are removed. */
static void make_room(int dir, uint64_t more)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char oldest[NAME_MAX + 1];

	if (!d) {
		if (fd >= 0)
			close(fd);
		return;
	}
	while (measure(d, oldest, sizeof(oldest)) + more > BYTES_MAX && *oldest)
		if (unlinkat(dir, oldest, 0) < 0)
			break;
	closedir(d);
}

/* Whole or not at all: one that reads meanwhile finds the old one, or none. */
void cache_store(int dir, const struct stat *of, const struct hwpmc_unwind *u)
{
	size_t bytes = (size_t)u->nrow * sizeof(*u->row);
	struct head head = head_of(of, u);
	char name[48] = "", new[80];
	bool done;
	int fd;

	make_room(dir, sizeof(head) + bytes);
	name_of(u, name, sizeof(name));
	snprintf(new, sizeof(new), ".%s-%d", name, getpid());
	fd = openat(dir, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	head.crc = crc32(0, (const Bytef *)u->row, bytes);
	done = cachedir_write(fd, &head, sizeof(head)) && cachedir_write(fd, u->row, bytes);
	if (close(fd) < 0 || !done || renameat(dir, new, dir, name) < 0)
		unlinkat(dir, new, 0);
}
