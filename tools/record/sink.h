/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sink.h - where a log goes that a tool writes: a file, standard output, another
 * machine; compressed or not. The first error is kept for the caller, and what is written
 * after it is discarded.
 */
#ifndef TOOLS_SINK_H
#define TOOLS_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include <libhwpmclog.h>

#include "beside.h"

struct sink {
	int fd;
	const char *name;
	struct beside file;		/* of a file: complete at the end */
	bool may_block;			/* a pipe or a connection */
	int stop_fd;			/* readable: end a blocked write;
					 * -1: there is none */
	int patience_ms;		/* a write waits so long for the reader to take
					 * something; -1: for ever */
	uint64_t bytes;			/* as written */
	int error;			/* errno of the write that failed, or 0 */
	ZSTD_CCtx *zstd;		/* NULL: plain */
	char *packed;			/* what zstd gives */
};

/*
 * path "-": standard output; "host:port": connect; else a file, which is PATH.part
 * until sink_close(). level 0: plain, else zstd's. 0, or -1 with one sentence.
 */
int sink_open(struct sink *s, const char *path, int level, char *err,
	      size_t size);
void sink_write(struct sink *s, const void *data, size_t len);
/* Let a reader have all so far: what zstd has kept back. */
void sink_flush(struct sink *s);
/* A NOTE record; id as the key wants it. */
void sink_note(struct sink *s, uint32_t id, const char *key, const char *value);
/*
 * 0, or -1 with errno of the first thing that went wrong. A file gets its name even if a
 * write failed: it holds what was recorded.
 */
int sink_close(struct sink *s);
/* Nothing was recorded: a file that was there stays as it is. */
void sink_discard(struct sink *s);

#endif
