/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink.h - where a log goes that a tool writes: a file, or standard output.
 * Errors are kept until somebody asks: what follows them is thrown away.
 */
#ifndef TOOLS_SINK_H
#define TOOLS_SINK_H

#include <stddef.h>
#include <stdint.h>

#include <libhwpmclog.h>

struct sink {
	int fd;
	const char *name;
	uint64_t bytes;
	int error;			/* errno of the write that failed, or 0 */
};

/* path "-": standard output. 0, or -1 with errno. */
int sink_open(struct sink *s, const char *path);
void sink_write(struct sink *s, const void *data, size_t len);
/* A NOTE record; id as the key wants it. */
void sink_note(struct sink *s, uint32_t id, const char *key, const char *value);
/* 0, or -1 with errno of the first thing that went wrong. */
int sink_close(struct sink *s);

#endif
