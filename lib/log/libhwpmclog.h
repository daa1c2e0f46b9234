/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libhwpmclog.h - reading logs. Part of libhwpmc.
 *
 * There are two layers. The parser turns bytes into records. It does no I/O, buffers at
 * most one incomplete record, never reads beyond the bytes that it was fed, and reports
 * an invalid record with its offset and the reason. The ring reader maps a handle's rings
 * and returns the bytes, or the records, in them.
 *
 * No function here prints or exits. One thread at a time may use a parser or a reader;
 * different parsers and readers are independent. The rule for null pointers is that of
 * libhwpmc.h.
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
 * within it, and its arrays fit into it. The pointer points into the bytes that were
 * fed, or into the parser's buffer, and is valid until the next call on the parser.
 * pid, tid and cpu come from the last CPU and CONTEXT records (which are returned too);
 * -1: unknown.
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
		const struct hwpmc_log_precise *precise;
	};
	uint64_t offset;	/* of the record in the stream */
	uint64_t serial;	/* 0 for the first record */
	int32_t cpu, pid, tid;
	uint32_t npc;		/* CALLCHAIN: entries of sample->pc[] */
	uint64_t period;	/* CALLCHAIN: number of events that the sample stands for;
				 * 0: the period of its PMC, which has no frequency */
};

/* Returns NULL if there is no memory. */
struct hwpmc_parser *hwpmc_parser_new(void);
void hwpmc_parser_free(struct hwpmc_parser *parser);

/*
 * Feed bytes, which the caller must keep until hwpmc_parser_next() returns MORE. Returns -1
 * with EBUSY before it has returned MORE for the previous bytes, and with EINVAL after an
 * error or the end.
 */
int hwpmc_parser_feed(struct hwpmc_parser *parser, const void *data,
		      size_t len);
/* Report that no bytes follow; an incomplete record is then an error. */
void hwpmc_parser_end(struct hwpmc_parser *parser);
enum hwpmc_parse hwpmc_parser_next(struct hwpmc_parser *parser,
				   struct hwpmc_record *record);
/* Validate and number samples, but do not return them: this makes a first pass over the
 * other records faster. */
void hwpmc_parser_skip_samples(struct hwpmc_parser *parser, bool skip);
/*
 * For readers of many samples: after hwpmc_parser_next() has returned a sample, return the
 * samples that follow it directly in the bytes that were fed. They have the same CPU and
 * thread, are validated, and have no period of their own. Each is hdr.len bytes long, and all
 * together are *bytes long; 0: the next record is not such a sample. hwpmc_parser_next() does
 * not return them again. They are valid until the next call.
 */
const struct hwpmc_log_sample *hwpmc_parser_samples(struct hwpmc_parser *parser,
						    size_t *bytes);
/* A sentence: "offset 4711: CALLCHAIN record of 20 bytes: must be a multiple of 8". */
const char *hwpmc_parser_error(const struct hwpmc_parser *parser);
uint64_t hwpmc_parser_error_offset(const struct hwpmc_parser *parser);
/* Returns 0 without an error, EINVAL if the bytes are not a valid log, or ENOMEM. */
int hwpmc_parser_errno(const struct hwpmc_parser *parser);

/* The name of a type of record ("CALLCHAIN"), or NULL. */
const char *hwpmc_name_of_record(uint8_t type);

/* ------------------------------------------------------------------------ */
/* PRECISE records                                                           */

/* Set *value to word n of a record. Returns false if the record does not have the word. The
 * record must be a whole one. */
bool hwpmc_precise_word(const struct hwpmc_log_precise *record, unsigned int n,
			uint64_t *value);
/* The name of a kind (enum hwpmc_precise_kind: "ibs-op"), and of a word of it ("dc-linaddr"), or
 * NULL. */
const char *hwpmc_name_of_precise(uint32_t kind);
const char *hwpmc_name_of_word(uint32_t kind, unsigned int n);

/* ------------------------------------------------------------------------ */
/* Drops by cause                                                            */

/*
 * Functions write drops to arrays of the caller, one entry per cause: enum hwpmc_drop_cause.
 * The last entry, n - 1, also contains the drops of all causes that have no name in this
 * library or no entry in the array. The entries therefore add up to all drops.
 *
 * Arrays of HWPMC_DROP_SLOTS entries, a number that never changes, have room for future
 * causes. Their last entry, HWPMC_DROP_OTHER, contains only causes without a name. A program
 * that prints each entry that is not 0 need not be built again for a new cause.
 */
#define HWPMC_DROP_SLOTS	8
#define HWPMC_DROP_OTHER	(HWPMC_DROP_SLOTS - 1)

/* The name of a cause ("ring full"), "other causes" for HWPMC_DROP_OTHER, or NULL. */
const char *hwpmc_name_of_drop(uint32_t cause);
/* The end of a chain that was walked by unwind tables: enum hwpmc_chain_end. Returns -1 if it
 * was not walked by tables. s must be a whole record. */
int hwpmc_chain_end(const struct hwpmc_log_sample *s);
/* The name of a value of enum hwpmc_chain_end ("no unwind table"), or NULL. */
const char *hwpmc_name_of_chain_end(uint32_t end);
/* The drops that a DROPNOTIFY record of the parser declares: sets n entries of each array.
 * Returns the number of causes that the writer of the log counts. */
uint32_t hwpmc_record_drops(const struct hwpmc_log_drop *record,
			    uint64_t *samples, uint64_t *others, uint32_t n);

/* ------------------------------------------------------------------------ */
/* Mapped rings                                                              */

struct hwpmc_rings;

/*
 * Begin a log of this handle in the mapped form and map the rings of all CPUs.
 * ring_size: bytes per CPU, a power of two; 0: the default. wakeup: bytes in a ring that
 * wake the reader; 0: a quarter of the ring. Returns -1 with errno and hwpmc_error(h).
 */
int hwpmc_rings_open(struct hwpmc *h, uint32_t ring_size, uint32_t wakeup,
		     struct hwpmc_rings **rings);
/* Unmap the rings. The log itself ends by hwpmc_configure_log(h, -1) or hwpmc_close(). In a
 * child of fork() the call unmaps nothing. */
void hwpmc_rings_close(struct hwpmc_rings *rings);

/*
 * Read the rings: call fn with all complete records of one CPU after the other; data points
 * into the ring. If fn returns 0, the records are released; any other value ends the call,
 * which returns it, and the records stay. Returns 0 or the value of fn, and in *bytes, unless
 * bytes is NULL, the number of bytes released. A file needs a CPU record before each piece,
 * which hwpmc_rings_mark() makes. Returns -1 with EBUSY while hwpmc_rings_next() has returned
 * only a part of a ring, and with ESRCH in a child of fork().
 */
typedef int hwpmc_rings_fn(unsigned int cpu, const void *data, size_t len,
			   void *arg);
int hwpmc_rings_read(struct hwpmc_rings *rings, hwpmc_rings_fn *fn, void *arg,
		     uint64_t *bytes);
/* Wait for records, by poll(2) on hwpmc_fd(). Returns 1 if there are records or the log has
 * ended, 0 after timeout_ms milliseconds, or -1 (ESRCH in a child of fork()). */
int hwpmc_rings_wait(struct hwpmc_rings *rings, int timeout_ms);
/* Make a CPU record, to be written to a file before records of this CPU. */
void hwpmc_rings_mark(unsigned int cpu, struct hwpmc_log_hdr *mark);

/*
 * Return the next record of the rings, parsed; a profiler calls this in a loop. Sets *record,
 * which is valid until the next call with these rings, and returns 1. The stream is that of a
 * log file: it has a CPU record where another ring begins, and the records of the log itself
 * (INITIALIZE, processes, mappings, marks of hwpmc_write_log(), drops). Rings take turns, and
 * the space of a ring is released after all its records have been returned.
 *
 * If all rings are empty, the call waits for up to timeout_ms milliseconds (0: not at all, -1:
 * for ever), and returns 0 if no record arrives. Fewer than `wakeup` bytes in a ring do not
 * wake it. Returns -1 with one of these errors:
 *	EINTR	a signal arrived
 *	ENODATA	the log was ended, by hwpmc_close_log(), hwpmc_configure_log(h, -1) or
 *		hwpmc-unload(8), and all its records were returned; another log may have begun
 *	EINVAL, ENOMEM
 *		the parser failed (hwpmc_error()), for example because hwpmc_rings_read() has
 *		taken the beginning of the log; all later calls fail too
 *	EBUSY	the callback of hwpmc_rings_read() made the call
 *	ESRCH	the caller is a child of fork()
 *
 *	while ((rc = hwpmc_rings_next(rings, 100, &record)) == 1)
 *		hwpmc_profile_feed(profile, &record);
 */
int hwpmc_rings_next(struct hwpmc_rings *rings, int timeout_ms,
		     struct hwpmc_record *record);
/* The samples and the other records dropped so far on all CPUs, declared in the log or not:
 * sets n entries of each array. */
void hwpmc_rings_drop_counts(const struct hwpmc_rings *rings, uint64_t *samples,
			     uint64_t *others, uint32_t n);
/* The same with arrays of HWPMC_DROP__COUNT entries. The macro passes the number that the
 * caller was built with. */
void hwpmc_rings_drops(const struct hwpmc_rings *rings, uint64_t *samples,
		       uint64_t *others);
#define hwpmc_rings_drops(rings, samples, others) \
	hwpmc_rings_drop_counts(rings, samples, others, HWPMC_DROP__COUNT)

#ifdef __cplusplus
}
#endif

#endif /* _LIBHWPMCLOG_H */
