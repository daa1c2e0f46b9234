/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libhwpmclog.h - reading logs. Part of libhwpmc.
 *
 * Two layers. The parser turns bytes into records. It does no I/O, buffers at most
 * one incomplete record, never reads beyond the bytes that it was fed, and reports
 * an invalid record with its offset and the reason. The ring reader maps a
 * handle's rings and returns the bytes in them.
 *
 * No function here prints or exits. One thread at a time may use a parser or a
 * reader; different ones are independent.
 */
#ifndef _LIBHWPMCLOG_H
#define _LIBHWPMCLOG_H

#include <libhwpmc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hwpmc_log.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum hwpmc_chain_end hwpmc_chain_end_t;	/* see libhwpmc.h */

/* ------------------------------------------------------------------------ */
/* Parser                                                                    */

struct hwpmc_parser;

enum hwpmc_parse {
	HWPMC_PARSE_RECORD,	/* *record is set */
	HWPMC_PARSE_MORE,	/* feed more bytes */
	HWPMC_PARSE_END,	/* after hwpmc_parser_end(): no more records */
	HWPMC_PARSE_ERROR,	/* see hwpmc_parser_error(); final */
};

/*
 * A validated record: its length is valid for its type, its strings are terminated
 * within it, its arrays fit into it. The pointer is into the bytes that were fed,
 * or into the parser's buffer: valid until the next call on the parser. pid, tid
 * and cpu are those of the last CPU and CONTEXT records (which are returned as
 * well); -1: unknown.
 */
struct hwpmc_record {
	union {
		const struct hwpmc_log_hdr *hdr;
		const struct hwpmc_log_initialize *initialize;
		const struct hwpmc_log_clock *clock;
		const struct hwpmc_log_drop *drop;
		const struct hwpmc_log_allocate *allocate;
		const struct hwpmc_log_attach *attach;
		const struct hwpmc_log_value *value;
		const struct hwpmc_log_throttle *throttle;
		const struct hwpmc_log_context *context;
		const struct hwpmc_log_sample *sample;
		const struct hwpmc_log_task *task;
		const struct hwpmc_log_fork *fork;
		const struct hwpmc_log_exec *exec;
		const struct hwpmc_log_map *map;
		const struct hwpmc_log_unmap *unmap;
		const struct hwpmc_log_note *note;
		const struct hwpmc_log_cpu_kind *cpu_kind;
		const struct hwpmc_log_period *period_of;
		const struct hwpmc_log_loss *loss;
	};
	uint64_t offset;	/* of the record in the stream */
	uint64_t serial;	/* 0 for the first record */
	int32_t cpu, pid, tid;
	uint32_t npc;		/* CALLCHAIN: entries of sample->pc[] */
	uint64_t period;	/* CALLCHAIN: events that it stands for, of a PMC with a
				 * frequency; 0: its PMC's period */
};

/* NULL: no memory. */
struct hwpmc_parser *hwpmc_parser_new(void);
void hwpmc_parser_free(struct hwpmc_parser *parser);

/*
 * Feed bytes; the caller must keep them until hwpmc_parser_next() returns MORE. -1
 * with errno: EBUSY before that, EINVAL after an error or the end.
 */
int hwpmc_parser_feed(struct hwpmc_parser *parser, const void *data,
		      size_t len);
/* No bytes follow: from now on an incomplete record is an error. */
void hwpmc_parser_end(struct hwpmc_parser *parser);
enum hwpmc_parse hwpmc_parser_next(struct hwpmc_parser *parser,
				   struct hwpmc_record *record);
/* Validate and number samples, but do not return them: a faster first pass over the
 * other records. */
void hwpmc_parser_skip_samples(struct hwpmc_parser *parser, bool skip);
/*
 * For readers of many samples: after hwpmc_parser_next() has returned one, those that
 * follow it directly in the bytes that were fed, so of the same CPU and thread, each
 * validated; none of them has a period of its own. They are passed over, and valid until the next call. Each ends where its
 * hdr.len says, the last one after *bytes; 0: none.
 */
const struct hwpmc_log_sample *hwpmc_parser_samples(struct hwpmc_parser *parser,
						    size_t *bytes);
/* "offset 4711: CALLCHAIN record of 20 bytes: must be a multiple of 8". */
const char *hwpmc_parser_error(const struct hwpmc_parser *parser);
uint64_t hwpmc_parser_error_offset(const struct hwpmc_parser *parser);
/* 0; EINVAL: not a log; ENOMEM. */
int hwpmc_parser_errno(const struct hwpmc_parser *parser);

/* "CALLCHAIN", or NULL. */
const char *hwpmc_name_of_record(uint8_t type);

/* ------------------------------------------------------------------------ */
/* Drops by cause                                                            */

/*
 * Drops are in arrays of the caller's, one entry a cause, by enum hwpmc_drop_cause. A
 * module may count causes that this library has no name for, or that the array has no
 * entry for: the last entry, n - 1, has their sum. The entries add up to all drops.
 *
 * HWPMC_DROP_SLOTS entries have room for causes to come; it never changes. Then the last,
 * HWPMC_DROP_OTHER, has only what has no name, and a program that prints each entry that
 * is not 0 need not be built again for a new cause.
 */
#define HWPMC_DROP_SLOTS	8
#define HWPMC_DROP_OTHER	(HWPMC_DROP_SLOTS - 1)

/* "ring full"; of HWPMC_DROP_OTHER: "other causes"; else NULL. */
const char *hwpmc_name_of_drop(uint32_t cause);
/* How a chain ended that was walked by unwind tables: enum hwpmc_chain_end; -1: it was not
 * walked by them. s lies whole in memory. */
int hwpmc_chain_end(const struct hwpmc_log_sample *s);
/* Of enum hwpmc_chain_end ("no unwind table"), or NULL. */
const char *hwpmc_name_of_chain_end(uint32_t end);
/* Of a DROPNOTIFY record of the parser: sets n entries each. Returns the number of causes
 * that the writer of the log counts. */
uint32_t hwpmc_record_drops(const struct hwpmc_log_drop *record,
			    uint64_t *samples, uint64_t *others, uint32_t n);

/* ------------------------------------------------------------------------ */
/* Mapped rings                                                              */

struct hwpmc_rings;

/*
 * Begin a log of this handle in the mapped form and map the rings of all CPUs.
 * ring_size: bytes per CPU, 0: the default. -1 with errno and hwpmc_error(h).
 */
int hwpmc_rings_open(struct hwpmc *h, uint32_t ring_size, uint32_t wakeup,
		     struct hwpmc_rings **rings);
/* Unmap. The log itself ends by hwpmc_configure_log(h, -1) or hwpmc_close(). */
void hwpmc_rings_close(struct hwpmc_rings *rings);

/*
 * Read the rings: call fn with complete records of one CPU at a time, in place in
 * the ring. If fn returns 0, their room is released; else hwpmc_rings_read()
 * returns that value and the records stay. A file needs a CPU record before each
 * piece: hwpmc_rings_mark() makes it. Returns 0 or the value of fn; *bytes (may be
 * NULL): bytes released. In a child of fork() it is -1 with ESRCH, as hwpmc_rings_wait()
 * is; hwpmc_rings_close() unmaps nothing there.
 */
typedef int hwpmc_rings_fn(unsigned int cpu, const void *data, size_t len,
			   void *arg);
int hwpmc_rings_read(struct hwpmc_rings *rings, hwpmc_rings_fn *fn, void *arg,
		     uint64_t *bytes);
/* Wait for records (poll(2) on hwpmc_fd()). 1: also if the log has ended; 0: timeout. */
int hwpmc_rings_wait(struct hwpmc_rings *rings, int timeout_ms);
void hwpmc_rings_mark(unsigned int cpu, struct hwpmc_log_hdr *mark);

/*
 * The next record of the rings, parsed: what a profiler calls in a loop. Sets *record, which
 * is valid until the next call with these rings, and returns 1. The stream is that of a log
 * file: CPU records are in it where another ring begins, and the records of the log itself
 * (INITIALIZE, processes, mappings, marks of hwpmc_write_log(), drops). A ring is released
 * when its records have been returned; rings take turns.
 *
 * Waits for records for up to `timeout` milliseconds (0: does not wait; -1: for ever),
 * and returns 0 if there is none; a record may wait in its ring for that long. -1:
 * EINTR: a signal; ENODATA: the log has ended (by hwpmc_close_log(), hwpmc_configure_log(h, -1),
 * or hwpmc-unload(8); another log may have begun), and all its records were returned; EINVAL,
 * ENOMEM: the parser's error, final (hwpmc_error()), also if hwpmc_rings_read() has taken the
 * beginning of the log; EBUSY: called by the function of hwpmc_rings_read(); ESRCH: in a child of
 * fork(). hwpmc_rings_read() is EBUSY until all records of a ring were returned.
 *
 *	while ((rc = hwpmc_rings_next(rings, 100, &record)) == 1)
 *		hwpmc_profile_feed(profile, &record);
 */
int hwpmc_rings_next(struct hwpmc_rings *rings, int timeout_ms,
		     struct hwpmc_record *record);
/* Samples and other records dropped so far on all CPUs, by cause: sets n entries each. */
void hwpmc_rings_drop_counts(const struct hwpmc_rings *rings, uint64_t *samples,
			     uint64_t *others, uint32_t n);
/* The same with arrays of HWPMC_DROP__COUNT entries, of which the header tells the
 * library how many they were when the caller was built. */
void hwpmc_rings_drops(const struct hwpmc_rings *rings, uint64_t *samples,
		       uint64_t *others);
#define hwpmc_rings_drops(rings, samples, others) \
	hwpmc_rings_drop_counts(rings, samples, others, HWPMC_DROP__COUNT)

#ifdef __cplusplus
}
#endif

#endif /* _LIBHWPMCLOG_H */
