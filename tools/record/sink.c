/* SPDX-License-Identifier: BSD-2-Clause */
/* sink.c - writes a log. The library reads it; see sink.h. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/msg.h"
#include "net.h"
#include "note.h"
#include "sink.h"

#define PACKED	(256 * 1024)

static int open_fd(struct sink *s, const char *path, char *err, size_t size)
{
	struct net_address address;

	if (strcmp(path, "-") == 0) {
		s->name = "standard output";
		/* The caller may then give standard output to a command. */
		s->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (s->fd >= 0)
			return 0;
		snprintf(err, size, "cannot write to %s: %s", s->name,
			 strerror(errno));
		return -1;
	}
	if (net_parse(path, &address)) {
		s->fd = net_connect(path, err, size);
		return s->fd < 0 ? -1 : 0;
	}
	s->fd = beside_open(&s->file, path);
	if (s->fd >= 0)
		return 0;
	snprintf(err, size, "cannot write '%s': %s", path, errno == EBUSY ?
		 "another recording writes to it; use another file (-o)" :
		 strerror(errno));
	return -1;
}

static int begin_zstd(struct sink *s, int level)
{
	s->zstd = ZSTD_createCCtx();
	s->packed = must_calloc(PACKED, 1);
	if (!s->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd,
				     ZSTD_c_compressionLevel, level)))
		return -1;
	/* Damage in the file is found, and not taken for records. */
	ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_checksumFlag, 1);
	return 0;
}

int sink_open(struct sink *s, const char *path, int level, char *err,
	      size_t size)
{
	struct stat st;

	*s = (struct sink){ .fd = -1, .stop_fd = -1, .patience_ms = -1,
			   .name = path };
	if (open_fd(s, path, err, size) < 0)
		return -1;
	s->may_block = fstat(s->fd, &st) < 0 || S_ISFIFO(st.st_mode) ||
		       S_ISSOCK(st.st_mode);
	if (!level || begin_zstd(s, level) == 0)
		return 0;
	snprintf(err, size, "cannot compress '%s': out of memory", s->name);
	sink_discard(s);
	return -1;
}

/* Until the other side takes something; false: stop_fd became readable, or it took too
 * long. */
static bool wait_for_reader(struct sink *s)
{
	struct pollfd fds[2] = {
		{ .fd = s->fd, .events = POLLOUT },
		{ .fd = s->stop_fd, .events = POLLIN },
	};

	for (;;) {
		int n = poll(fds, 2, s->patience_ms);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || fds[0].revents)
			return n >= 0;
		errno = EINTR;
		return false;
	}
}

/* A piece that a pipe takes whole or not at all does not block. */
static ssize_t write_some(struct sink *s, const char *at, size_t len)
{
	if (!s->may_block)
		return write(s->fd, at, len);
	if (!wait_for_reader(s))
		return -1;
	return write(s->fd, at, len < PIPE_BUF ? len : PIPE_BUF);
}

static void write_all(struct sink *s, const char *at, size_t len)
{
	while (len && !s->error) {
		ssize_t n = write_some(s, at, len);

		if (n < 0) {
			s->error = errno;
			return;
		}
		at += n;
		len -= n;
		s->bytes += n;
	}
}

static void sink_compress(struct sink *s, const void *data, size_t len,
			  ZSTD_EndDirective how)
{
	ZSTD_inBuffer from = { data, len, 0 };
	size_t left;

	do {
		ZSTD_outBuffer to = { s->packed, PACKED, 0 };

		left = ZSTD_compressStream2(s->zstd, &to, &from, how);
		if (ZSTD_isError(left)) {
			s->error = EIO;
			return;
		}
		write_all(s, s->packed, to.pos);
	} while (!s->error && (from.pos < len || (how != ZSTD_e_continue && left)));
}

void sink_write(struct sink *s, const void *data, size_t len)
{
	if (s->error)
		return;
	if (s->zstd)
		sink_compress(s, data, len, ZSTD_e_continue);
	else
		write_all(s, data, len);
}

void sink_flush(struct sink *s)
{
	if (s->zstd && !s->error)
		sink_compress(s, NULL, 0, ZSTD_e_flush);
}

void sink_note(struct sink *s, uint32_t id, const char *key, const char *value)
{
	union note n;

	sink_write(s, &n, note_fill(&n, id, key, value));
}

static void sink_free(struct sink *s)
{
	ZSTD_freeCCtx(s->zstd);
	free(s->packed);
	if (s->fd > STDERR_FILENO && close(s->fd) < 0 && !s->error)
		s->error = errno;
	s->fd = -1;
}

void sink_discard(struct sink *s)
{
	/* Before its lock is given back by close(): the name may then be another's. */
	beside_discard(&s->file);
	sink_free(s);
}

int sink_close(struct sink *s)
{
	if (s->zstd && !s->error)
		sink_compress(s, NULL, 0, ZSTD_e_end);
	if (beside_keep(&s->file) < 0 && !s->error)
		s->error = errno;
	sink_free(s);
	if (!s->error)
		return 0;
	errno = s->error;
	return -1;
}
