/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pieces.h - a recording that is more than one log: a new one at each limit
 * (--switch-output), or what there was lately (--overwrite). Each is a whole log: it
 * begins with all that says which events, processes and mappings there are.
 */
#ifndef TOOLS_PIECES_H
#define TOOLS_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libhwpmclog.h>

#include "sink.h"

enum pieces_kind {
	PIECES_NONE,		/* one log */
	PIECES_SWITCH,
	PIECES_RECENT,		/* in memory, the last .keep_ns */
};

struct pieces_block;

/* Of a CPU: its thread, and the block that has said so. */
struct pieces_cpu {
	struct hwpmc_log_context context;	/* len 0: not yet known */
	uint64_t block;
};

/* The last record of each sort of a loss: of a PMC, CPU and reason. */
struct pieces_loss {
	struct hwpmc_log_loss found;	/* len 0: none yet */
	unsigned int cpu;		/* CPU of its ring */
	uint64_t over;			/* ticks, 0: none */
};

/* The last THROTTLE record that began a pause: of a PMC and CPU. */
struct pieces_pause {
	struct hwpmc_log_throttle began;
	unsigned int cpu;		/* CPU of its ring */
	unsigned int open;		/* pauses that have not ended */
};

struct pieces_buffer {
	char *data;
	size_t n, room;
	int32_t cpu;			/* whose the last record is */
};

struct pieces {
	enum pieces_kind kind;
	const char *output;
	int level;			/* of zstd */
	uint64_t size, period_ns;	/* a new piece then; 0: not for that */
	uint64_t keep_ns;

	struct sink *sink;		/* of the piece that is written */
	char *name;			/* of it */
	unsigned int n;			/* pieces so far */
	uint64_t began;			/* watch_now() of the piece */
	struct pieces_buffer head;	/* what each log begins with */
	struct pieces_cpu *cpu;
	unsigned int ncpu;
	struct pieces_loss *loss;	/* open before the piece, or the first block */
	unsigned int nloss;
	struct pieces_pause *pause;	/* the same */
	unsigned int npause;
	uint64_t time;			/* ticks; of the last record before it */
	struct pieces_block *first, *last;	/* PIECES_RECENT */
	uint64_t serial;		/* of the last */
	uint64_t overwritten;		/* samples */
	uint64_t bytes;			/* of the pieces that are complete */
	bool closed;			/* CLOSELOG has come, and is not in the log yet */
};

/* "10M", "512K", "30s", "5m", "" (at a signal only). 0, or an exit status. */
int pieces_parse_switch(struct pieces *p, const char *arg);
/* "10": seconds. */
int pieces_parse_recent(struct pieces *p, const char *arg);
/* "10M": bytes. */
int pieces_parse_size(const char *arg, uint64_t *bytes);

/* The first piece. sink is the caller's. 0, or -1 with a sentence in err. */
int pieces_open(struct pieces *p, struct sink *sink, const char *output, int level,
		char *err, size_t size);
/* Records of a ring. */
void pieces_take(struct pieces *p, unsigned int cpu, const void *data, size_t len);
void pieces_note(struct pieces *p, uint32_t id, const char *key, const char *value);
/* A new piece, if it is time for one or `now_please`. 0, or -1 after a message. */
int pieces_tick(struct pieces *p, bool now_please);
/* Before the sink is closed: what is only in memory. */
void pieces_end(struct pieces *p);
void pieces_free(struct pieces *p);

#endif
