/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libhwpmclog.h - reading logs. Part of libhwpmc.
 *
 * Two layers. The parser takes bytes from anywhere and gives records: it does no
 * I/O, keeps no more than one unfinished record, and refuses whatever a log
 * cannot hold, with the offset and the reason, without having read past the end
 * of what it was given. The ring reader maps a handle's rings and gives the
 * bytes that are in them.
 *
 * No function here prints or exits. Each parser and each reader belongs to one
 * thread at a time; different ones are independent.
 */
#ifndef _LIBHWPMCLOG_H
#define _LIBHWPMCLOG_H

#include <libhwpmc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
/* As in libhwpmc.h. */
#define class class_id
#include <hwpmc_log.h>
#undef class
extern "C" {
#else
#include <hwpmc_log.h>
#endif

/* ------------------------------------------------------------------------ */
/* Parser                                                                    */

struct hwpmc_parser;

enum hwpmc_parse {
	HWPMC_PARSE_RECORD,	/* *record is one */
	HWPMC_PARSE_MORE,	/* feed more bytes */
	HWPMC_PARSE_END,	/* hwpmc_parser_end() was called, all is told */
	HWPMC_PARSE_ERROR,	/* hwpmc_parser_error(); and so ever after */
};

/*
 * A record that was checked: its length is right for its type, its strings end
 * within it, counts in it fit into it. The pointer is into the bytes that were
 * fed, or into the parser's own buffer: valid until the next call on the parser.
 * pid, tid and cpu are those of the stream at this place (CPU and CONTEXT
 * records, which are told as well); -1 where they are not known.
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
	};
	uint64_t offset;	/* of its first byte in the stream */
	uint64_t serial;	/* 0 for the first record */
	int32_t cpu, pid, tid;
	uint32_t npc;		/* CALLCHAIN: entries of sample->pc[] */
};

/* NULL: no memory. */
struct hwpmc_parser *hwpmc_parser_new(void);
void hwpmc_parser_free(struct hwpmc_parser *parser);

/*
 * Give it bytes; they must stay where they are until hwpmc_parser_next() has
 * said MORE. -1 with errno: EBUSY before that, EINVAL after an error or the end.
 */
int hwpmc_parser_feed(struct hwpmc_parser *parser, const void *data,
		      size_t len);
/* No bytes will follow: an unfinished record is an error from now on. */
void hwpmc_parser_end(struct hwpmc_parser *parser);
enum hwpmc_parse hwpmc_parser_next(struct hwpmc_parser *parser,
				   struct hwpmc_record *record);
/* Check samples and count them in the serial numbers, but do not tell them: whoever
 * first wants to know all else reads a log faster so. */
void hwpmc_parser_skip_samples(struct hwpmc_parser *parser, bool skip);
/* "offset 4711: a CALLCHAIN record of 20 bytes: must be a multiple of 8". */
const char *hwpmc_parser_error(const struct hwpmc_parser *parser);
uint64_t hwpmc_parser_error_offset(const struct hwpmc_parser *parser);
/* 0; EINVAL: it is no log; ENOMEM. */
int hwpmc_parser_errno(const struct hwpmc_parser *parser);

/* "CALLCHAIN" or NULL; how a drop cause is called: "ring full". */
const char *hwpmc_name_of_record(uint8_t type);
const char *hwpmc_name_of_drop(uint32_t cause);

/* ------------------------------------------------------------------------ */
/* Mapped rings                                                              */

struct hwpmc_rings;

/*
 * Begin a log of this handle in the mapped form and map the rings of all CPUs.
 * ring_size: bytes a CPU, 0: the default. -1 with errno and hwpmc_error(h).
 */
int hwpmc_rings_open(struct hwpmc *h, uint32_t ring_size, uint32_t wakeup,
		     struct hwpmc_rings **rings);
/* Unmap; the log ends with hwpmc_configure_log(h, -1) or the handle. */
void hwpmc_rings_close(struct hwpmc_rings *rings);

/*
 * Hand over what lies in the rings now: fn is called with whole records of one
 * CPU at a time, straight from the ring; they are free for new ones after it
 * returned 0. Else that is returned and nothing of this piece was taken. What a
 * file needs before each piece, a CPU record, is hwpmc_rings_mark().
 * Returns 0 or what fn returned; *bytes (may be NULL): how much it was.
 */
typedef int hwpmc_rings_fn(unsigned int cpu, const void *data, size_t len,
			   void *arg);
int hwpmc_rings_read(struct hwpmc_rings *rings, hwpmc_rings_fn *fn, void *arg,
		     uint64_t *bytes);
/* Wait until there is something (poll(2) on hwpmc_fd()). 1, 0: time is out. */
int hwpmc_rings_wait(struct hwpmc_rings *rings, int timeout_ms);
void hwpmc_rings_mark(unsigned int cpu, struct hwpmc_log_hdr *mark);
/* Samples and other records dropped so far on all CPUs, by cause. */
void hwpmc_rings_drops(const struct hwpmc_rings *rings,
		       uint64_t samples[HWPMC_DROP__COUNT],
		       uint64_t others[HWPMC_DROP__COUNT]);

#ifdef __cplusplus
}
#endif

#endif /* _LIBHWPMCLOG_H */
