/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf.h - files of perf record as logs: struct perfdata reads the records of one and makes
 * records of a log (hwpmc_log.h) of them, piece by piece. input.c opens the file, and feeds
 * the pieces to its parser, so that all readers take such files.
 *
 *	perf.c		the begin, the end, and which function has which record
 *	perf_read.c	bytes of the file, compressed or not, to records of perf
 *	perf_header.c	the header of a file and its features
 *	perf_event.c	attributes: events, their names and numbers
 *	perf_sample.c	samples: fields, chains
 *	perf_trailer.c	fields of all other records
 *	perf_task.c	processes, threads, names
 *	perf_map.c	mappings, build-ids
 *	perf_lost.c	records that perf lost, and fields that are left out here
 *	perf_out.c	records of the log
 *	perf_fail.c	failures
 *
 * Files are believed nothing: sizes and offsets are compared with the bytes that are there,
 * and memory is bounded by what the file has, not by what it says.
 */
#ifndef HWPMC_LIB_PERF_H
#define HWPMC_LIB_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <zstd.h>

#include <hwpmc_log.h>

#include "perf_format.h"
#include "table.h"

/* ---- for input.c --------------------------------------------------------- */

/* The bytes of the file. */
struct perf_source {
	/* Reads at most len bytes from offset `at`; a stream is read in order. Returns 0 at the
	 * end, or -1 with errno; then the owner of the source has the message. */
	ssize_t (*read)(void *arg, uint64_t at, void *buf, size_t len);
	void *arg;
	uint64_t size;			/* of a file or memory; 0: a stream */
};

struct perfdata;

/* Whether the first bytes, at least 8, are those of a file of perf record. */
bool perf_is(const void *head, size_t len);
/* Whether they are those of one that can only be read with all of it there: not a pipe's. */
bool perf_is_file(const void *head, size_t len);
/* What the header of such a one shows, of its first bytes. 0; -1 and perf_error(). */
int perf_check_header(struct perfdata *p, const void *head, size_t len);
/* NULL: no memory. */
struct perfdata *perf_new(const struct perf_source *source);
void perf_free(struct perfdata *p);
/*
 * Returns the length of the next piece of the log, and the piece in *at, which is valid until
 * the next call; 0 at the end; or -1 with errno. If perf_error() is "" then, the source has the
 * message, and after EAGAIN the call can be repeated.
 */
ssize_t perf_more(struct perfdata *p, const uint8_t **at);
const char *perf_error(const struct perfdata *p);
/* At the end: whether the recording was not ended properly. */
bool perf_cut(const struct perfdata *p);
/* Without samples, or with them: for a first pass. */
void perf_skip_samples(struct perfdata *p, bool skip);

/* ---- for perf_*.c -------------------------------------------------------- */

/* An event, made of its attribute. Its PMC in the log has its index + 1. */
struct perf_event {
	uint32_t type;
	uint64_t config, period;	/* period: with PERF_A_FREQ a frequency */
	uint64_t sample_type, read_format, flags, branches;
	uint32_t nregs_user, nregs_intr;
	char *name;			/* NULL: the file has none */
	bool announced;			/* it is in the log */
	bool seen;			/* it has a sample */
};

/* The event of an identifier. */
struct perf_id {
	uint64_t id;
	uint32_t event;
};

struct perf_build_id {
	char *path;
	uint8_t len, id[HWPMC_LOG_BUILD_ID];
	bool kernel;
	bool doubtful;			/* the path has several */
};

/* A program was executed; its path comes with the first mapping. */
struct perf_exec {
	int32_t pid, tid;
	uint64_t time;
	char comm[HWPMC_LOG_COMM];
};

#define PERF_EXECS	64

/* Bytes that are here and not yet taken. */
struct perf_bytes {
	uint8_t *buf;
	size_t at, len, room;
};

/* What a file has that is not taken. */
enum perf_left {
	PERF_LEFT_TRACE,		/* fields of tracepoints */
	PERF_LEFT_AUX,			/* AUX data */
	PERF_LEFT_BRANCHES,
	PERF_LEFT_STACKS,		/* for unwinding by DWARF */
	PERF_LEFT_ADDRESSES,		/* of data */
	PERF_LEFT_READ,			/* values of counters with samples */
	PERF_LEFT_GUESTS,
	PERF_LEFT_DEFERRED,
	PERF_LEFT_UNKNOWN,		/* events that no attribute describes */
	PERF_LEFT__COUNT
};

/* Fields behind a record that is not a sample. */
struct perf_trailer {
	int32_t pid, tid, cpu;
	uint64_t time, id;
};

struct perfdata {
	struct perf_source source;
	uint64_t at, end;		/* next byte to read; end: of the data, UINT64_MAX: none */
	bool pipe, header_read, ended, cut, skip;
	int failed;			/* errno; 0: not failed */
	char error[320];
	struct perf_bytes raw;		/* as in the file */
	struct perf_bytes plain;	/* decompressed */
	uint64_t skip_bytes;		/* that follow a record */
	ZSTD_DStream *zstd;
	ZSTD_inBuffer packed;		/* of the record that is decompressed */
	bool more_plain;		/* the decompressor has more than fitted */
	uint64_t record_at;		/* where the record began, or the compressed one with it */
	struct perf_bytes out;		/* the log */
	bool begun;			/* its first record is complete */
	uint64_t first;			/* the first time; 0: not found */
	uint64_t last, order;		/* the latest time; without times: of the order */
	struct perf_event *event;
	uint32_t nevent, nannounced;
	struct perf_id *id;
	struct table ids;
	uint64_t ids_read;		/* bytes of the sections with the identifiers of events */
	uint64_t features_read;		/* bytes of the sections of features */
	struct perf_build_id *build_id;
	struct table build_ids;		/* by path */
	struct perf_exec exec[PERF_EXECS];
	uint32_t nexec;
	int32_t cpu, pid, tid;		/* of the last records of the log */
	bool has_context;
	uint32_t ncpu;
	char cpuid[64];
	uint64_t wall, wall_at;		/* CLOCK_REALTIME at that time of the file's; 0: unknown */
	uint64_t lost, lost_samples;	/* records of the buffers, samples of them */
	bool left[PERF_LEFT__COUNT];
};

/* perf_fail.c */
/* -1 with EINVAL and the sentence. */
__attribute__((format(printf, 2, 3)))
int perf_fail(struct perfdata *p, const char *format, ...);
/* A failure of the record that is read: the sentence begins with its offset. */
__attribute__((format(printf, 2, 3)))
int perf_damaged(struct perfdata *p, const char *format, ...);

/* perf_read.c */
/* 1 and the record; 0 at the end; -1. */
int perf_next(struct perfdata *p, const struct perf_hdr **record);
/* Of a stream: its next bytes. 1; 0: there are fewer; -1. */
int perf_peek(struct perfdata *p, size_t len, const uint8_t **at);
void perf_drop(struct perfdata *p, size_t len);
/* Of a file: exactly len bytes. -1: it is shorter, or cannot be read. */
int perf_read_at(struct perfdata *p, uint64_t at, void *buf, size_t len);
/* The bytes [at, at + len) are of the file. */
bool perf_within(const struct perfdata *p, uint64_t at, uint64_t len);
void perf_read_end(struct perfdata *p);

/* perf_header.c */
/* 0, or -1. */
int perf_header(struct perfdata *p);
void perf_feature(struct perfdata *p, uint64_t feature, const uint8_t *data, size_t len);

/* perf_event.c */
int perf_add_event(struct perfdata *p, const uint8_t *attr, size_t size);
void perf_add_id(struct perfdata *p, uint64_t id, uint32_t event);
void perf_name_event(struct perfdata *p, uint32_t event, const char *name, size_t len);
/* The attribute with the event and its ids: a record of a pipe. */
int perf_header_attr(struct perfdata *p, const struct perf_hdr *h);
void perf_event_update(struct perfdata *p, const struct perf_hdr *h);
/* Of an id; NULL: none. */
struct perf_event *perf_event_of(struct perfdata *p, uint64_t id);
/* To the log: all events that may have samples; one that has. */
void perf_announce(struct perfdata *p);
void perf_announce_event(struct perfdata *p, struct perf_event *e);
void perf_events_end(struct perfdata *p);

/* perf_sample.c */
int perf_sample(struct perfdata *p, const struct perf_hdr *h);

/* perf_trailer.c */
/* Of a record that is not a sample: body has its own bytes, without the trailer. */
struct perf_trailer perf_trailer(struct perfdata *p, const struct perf_hdr *h, size_t *body);
/* The time of a record, where the file has any. */
uint64_t perf_time(struct perfdata *p, uint64_t time);

/* perf_task.c */
int perf_comm(struct perfdata *p, const struct perf_hdr *h);
int perf_fork(struct perfdata *p, const struct perf_hdr *h);
int perf_exit(struct perfdata *p, const struct perf_hdr *h);
/* Execs whose program was not mapped; with a path, that of pid. */
void perf_flush_execs(struct perfdata *p, int32_t pid, const char *path);

/* perf_map.c */
int perf_mmap(struct perfdata *p, const struct perf_hdr *h);
int perf_mmap2(struct perfdata *p, const struct perf_hdr *h);
/* A record of the table of build-ids. */
void perf_add_build_id(struct perfdata *p, const uint8_t *record, size_t len);
void perf_maps_end(struct perfdata *p);

/* perf_lost.c */
int perf_lost(struct perfdata *p, const struct perf_hdr *h);
int perf_lost_samples(struct perfdata *p, const struct perf_hdr *h);
int perf_throttle(struct perfdata *p, const struct perf_hdr *h);
void perf_leave(struct perfdata *p, enum perf_left what);
/* At the end: notes. */
void perf_put_left(struct perfdata *p);

/* perf_out.c */
/* A record of zeros at the end of the log. NULL: no memory. */
void *perf_put(struct perfdata *p, uint8_t type, size_t len, uint64_t time);
void perf_put_note(struct perfdata *p, uint32_t id, const char *key, const char *value);
/* The CPU and the thread of the samples that follow; cpu -1: unknown. */
void perf_put_context(struct perfdata *p, int32_t cpu, int32_t pid, int32_t tid, uint64_t time);
void perf_put_begin(struct perfdata *p);
/* The record of perf_put_begin() gets what is known now. */
void perf_settle_begin(struct perfdata *p);

#endif /* HWPMC_LIB_PERF_H */
