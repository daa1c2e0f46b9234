/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dump.h - what the files of "hwpmc dump" share: cmd_dump.c (options, which records),
 * text.c and json.c (one line a record), piece.c.
 */
#ifndef TOOLS_DUMP_H
#define TOOLS_DUMP_H

#include <stdbool.h>
#include <stdio.h>

#include <libhwpmcstat.h>

#include "common/logopts.h"
#include "common/outbuf.h"

/* What a line repeats, made once. */
struct dump_piece {
	char *text;			/* in DUMP_PIECE bytes, if it is shorter */
	uint32_t len;
};

#define DUMP_PIECE	96

/* The piece of a sample's address, as long as it is that. */
struct dump_spot {
	uint64_t pc;
	const struct hwpmc_task *task;
	uint64_t from;			/* of its span */
	uint32_t kind;			/* flags of its sample, and since the last change */
	uint32_t len;
	const char *text;
};

#define DUMP_SPOTS	4096

struct dump_pieces {
	struct dump_piece *piece;	/* by serial number */
	uint32_t n;
};

/* What the PRECISE record before a sample says of its address. */
enum dump_mark {
	DUMP_UNMARKED,			/* there is no such record: as its PMC says */
	DUMP_EXACT,
	DUMP_INEXACT,
};

struct dump {
	bool event_seen;		/* the event of -e is in the log */
	struct logopts log;
	bool json, raw_time;
	bool types[256];		/* wanted */

	struct hwpmc_input *in;
	struct hwpmc_lookup *lookup;
	struct outbuf out;
	bool at_once;			/* a line is shown when it is made */
	struct dump_pieces places, events;
	/* How the line of the sample before began. */
	const struct hwpmc_task *task;
	int32_t cpu, pid, tid;
	uint64_t from, until;		/* what the thread's addresses are stays the same */
	struct dump_piece prefix;
	uint64_t second;		/* ns where it began whose digits are in .prefix */
	const struct hwpmc_lookup_event *event;	/* of the sample before, and its piece */
	uint32_t event_id;
	struct dump_piece event_piece;
	struct dump_piece own;		/* the same of a sample with a period of its own */
	struct dump_spot *spot;		/* DUMP_SPOTS, by address */
	enum dump_mark mark;		/* of this sample */
	struct {
		enum dump_mark mark;	/* of the next sample, if it is of ... */
		uint32_t id;		/* ... this PMC and CPU */
		int32_t cpu;
	} next;
	uint32_t changes;		/* that the lookup was told of */
	FILE *side;			/* what is not so frequent: by stdio */
	char *side_text;
	size_t side_len;
	const struct hwpmc_image **doubtful;	/* each once */
	uint32_t ndoubtful;
};

/* The piece of a number, or NULL: dump_make() it. */
static inline struct dump_piece *dump_find(const struct dump_pieces *p,
					   uint32_t serial)
{
	return serial < p->n && p->piece[serial].text ? &p->piece[serial] : NULL;
}

/* Of the address itself: that of a caller is behind the call that was looked up. */
static inline uint64_t dump_offset(const struct hwpmc_frame *f)
{
	return f->addr - f->symbol->start + f->caller;
}

static inline bool dump_is_exact(const struct dump *d, const struct hwpmc_lookup_event *e,
				 const struct hwpmc_record *r)
{
	if (r->hdr->flags & HWPMC_SAMPLE_HIDDEN)
		return false;
	return d->mark ? d->mark == DUMP_EXACT : e->flags & HWPMC_F_EXACT;
}

/* piece.c: of all that d->side got since the last call. */
struct dump_piece *dump_make(struct dump *d, struct dump_pieces *p,
			     uint32_t serial);
void dump_take(struct dump *d, struct dump_piece *piece);
/* d->side itself to the output. */
void dump_side(struct dump *d);

/* A place of the image is shown: at the end its doubt is said, if there is one. */
void dump_doubt(struct dump *d, const struct hwpmc_image *image);

void dump_text(struct dump *d, const struct hwpmc_record *r);
void dump_json(struct dump *d, const struct hwpmc_record *r);

#endif
