/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfgen.h - writes files of perf record for tests: events first, then records one after the
 * other, then perfgen_finish(), which adds the header and features. Records that are not samples
 * get the trailer of their fields, with the time of the generator, which goes on by 1,000 ns a
 * record.
 */
#ifndef PERFGEN_H
#define PERFGEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfgen_bytes {
	uint8_t *bytes;
	size_t len, room;
};

struct perfgen_event {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags, branches;
	uint64_t regs_user, regs_intr;
	uint64_t id;			/* 0: without an identifier */
	const char *name;		/* NULL: it is not in the file */
};

#define PERFGEN_EVENTS		4
#define PERFGEN_FEATURES	16

struct perfgen {
	bool pipe, attrs_written;
	uint64_t time;			/* of the next record */
	struct perfgen_event event[PERFGEN_EVENTS];
	uint32_t nevent;
	struct perfgen_bytes data, out;
	struct perfgen_bytes feature[PERFGEN_FEATURES];
	uint32_t bit[PERFGEN_FEATURES], nfeature;
	void *packer;			/* perfgen_pack(): its stream */
};

/* A sample; fields that the event does not have are ignored. */
struct perfgen_sample {
	uint32_t event;			/* index */
	uint16_t misc;
	uint64_t ip, period;
	int32_t pid, tid;
	uint32_t cpu;
	uint32_t nchain;
	const uint64_t *chain;
	uint32_t nbranch;
	const uint64_t *branch;		/* from, to */
};

#define PERFGEN_FIRST	5000000000ull	/* time of the first record, ns */
#define PERFGEN_STEP	1000ull

void perfgen_begin(struct perfgen *g, bool pipe);
void perfgen_free(struct perfgen *g);
/* Its index. */
uint32_t perfgen_event(struct perfgen *g, const struct perfgen_event *e);
void perfgen_put(struct perfgen_bytes *b, const void *bytes, size_t len);
void perfgen_u64(struct perfgen_bytes *b, uint64_t x);
void perfgen_u32(struct perfgen_bytes *b, uint32_t x);
/* A feature of the header; in a pipe a record. */
void perfgen_feature(struct perfgen *g, uint32_t bit, const void *bytes, size_t len);
void perfgen_string(struct perfgen *g, uint32_t bit, const char *text);
/* "EVENT_DESC": the names of all events. */
void perfgen_names(struct perfgen *g);
void perfgen_build_id(struct perfgen *g, int32_t pid, uint16_t misc, uint8_t byte,
		      const char *path);
/* Any record, as it is. */
void perfgen_raw(struct perfgen *g, uint32_t type, uint16_t misc, const void *body, size_t len);
/* A record of the kernel, with its trailer. */
void perfgen_record(struct perfgen *g, uint32_t type, uint16_t misc, const void *body,
		    size_t len);
void perfgen_sample(struct perfgen *g, const struct perfgen_sample *s);
void perfgen_comm(struct perfgen *g, int32_t pid, int32_t tid, uint16_t misc, const char *comm);
void perfgen_mmap2(struct perfgen *g, int32_t pid, uint16_t misc, uint64_t start, uint64_t size,
		   uint64_t offset, const char *path);
void perfgen_mmap(struct perfgen *g, int32_t pid, uint16_t misc, uint64_t start, uint64_t size,
		  const char *path);
void perfgen_fork(struct perfgen *g, int32_t parent, int32_t parent_tid, int32_t pid, int32_t tid);
void perfgen_exit(struct perfgen *g, int32_t pid, int32_t tid);
/* The records from offset `at` of g->data on become compressed ones of at most `most` bytes. */
void perfgen_pack(struct perfgen *g, size_t at, uint32_t type, size_t most);
/* The file is in g->out. */
void perfgen_finish(struct perfgen *g);

#endif /* PERFGEN_H */
