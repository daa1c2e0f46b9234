/* SPDX-License-Identifier: BSD-2-Clause */
/* sink.c - writes a log. The library reads it; see sink.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sink.h"

int sink_open(struct sink *s, const char *path)
{
	*s = (struct sink){ .fd = STDOUT_FILENO, .name = path };
	if (strcmp(path, "-") == 0) {
		s->name = "standard output";
		return 0;
	}
	s->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return s->fd < 0 ? -1 : 0;
}

void sink_write(struct sink *s, const void *data, size_t len)
{
	const char *at = data;

	while (len && !s->error) {
		ssize_t n = write(s->fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			s->error = errno;
			return;
		}
		at += n;
		len -= n;
		s->bytes += n;
	}
}

void sink_note(struct sink *s, uint32_t id, const char *key, const char *value)
{
	union {
		struct hwpmc_log_note note;
		char bytes[HWPMC_LOG_MAX];
	} u;
	size_t room = sizeof(u) - sizeof(u.note);
	int n;

	memset(&u, 0, sizeof(u));
	n = snprintf(u.note.text, room, "%s=%s", key, value);
	if (n < 0)
		return;
	if ((size_t)n >= room)
		n = room - 1;
	u.note.hdr.type = HWPMC_LOG_NOTE;
	u.note.hdr.id = id;
	u.note.hdr.len = (sizeof(u.note) + n + 1 + HWPMC_LOG_ALIGN - 1) &
			 ~(HWPMC_LOG_ALIGN - 1);
	sink_write(s, &u, u.note.hdr.len);
}

int sink_close(struct sink *s)
{
	if (s->fd > STDERR_FILENO && close(s->fd) < 0 && !s->error)
		s->error = errno;
	if (!s->error)
		return 0;
	errno = s->error;
	return -1;
}
