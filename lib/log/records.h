/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * records.h - the types of records, one table for all that check, translate or print
 * them: the parser, pmclog(3), hwpmc dump and pmcstat. Not installed; for lib/ and
 * tools/. The table is in rules.c.
 */
#ifndef HWPMC_LIB_RECORDS_H
#define HWPMC_LIB_RECORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <hwpmc_log.h>

/* What a field means; how it is printed is its printer's. */
enum record_kind {
	RECORD_U32,
	RECORD_I32,
	RECORD_U64,
	RECORD_ADDRESS,		/* or an offset; 64 bits */
	RECORD_FLAGS,		/* 32 bits */
	RECORD_TEXT,
	RECORD_ID,		/* hdr.id: of a PMC or as the type says */
	RECORD_LENGTH,		/* hdr.len */
	RECORD_MODE,
	RECORD_CLASS,
	RECORD_EVENT,		/* ALLOCATE: the event's name, or its code */
	RECORD_SNAPSHOT,	/* hdr.flags: it was there before the log */
	RECORD_ON,		/* hdr.flags: THROTTLE, LOSS */
	RECORD_LOSS,		/* LOSS: the sentence of its reason */
	RECORD_TICK,		/* a time of the log's clock */
	RECORD_DROPPED,		/* a number for each cause */
	RECORD_DROPS,		/* DROPNOTIFY: both numbers for each cause */
	RECORD_BUILD_ID,	/* MAP_IN */
	RECORD_FILE,		/* MAP_IN: size and times of its file, if it has them */
	RECORD_UNREAD,		/* hdr.flags of MAP_IN */
	RECORD_SCHEMA,
	RECORD_MACHINE,		/* INITIALIZE: the kind of CPU */
	RECORD_CPUS,
	RECORD_KHZ,
	RECORD_CORE,		/* a kind of core */
	RECORD_PRECISE,		/* hdr.flags of PRECISE: the kind */
	RECORD_EXACT,		/* PRECISE: the mark */
	RECORD_WORDS,		/* PRECISE: the words by name */
};

struct record_field {
	const char *name;
	enum record_kind kind;
	uint16_t offset;
};

struct record_type {
	const char *name;
	uint16_t least;		/* bytes */
	uint16_t string;	/* where a string begins that ends within; 0: none */
	uint16_t fixed;		/* an array of characters that has an end; 0: none */
	uint16_t fixed_size;
	uint16_t pid, tid;	/* its process and thread; 0: none */
	bool of_pmc;		/* hdr.id is a PMC's */
	bool of_stream;		/* says whose the records that follow are, or fills */
	/* Named fields. A field without a name ends both lists; NULL: hdr.id alone. */
	const struct record_field *fields;
	/* As a line of text: FreeBSD's word for it, and values in their order. CALLCHAIN
	 * has neither: samples are printed by functions of their own. */
	const char *keyword;
	const struct record_field *line;
};

/* NULL: a type that this library does not know. */
const struct record_type *record_type(uint8_t type);

/* The file of a MAP_IN as it was when it was mapped; false: the record does not have it. */
static inline bool record_file(const struct hwpmc_log_map *r, struct hwpmc_log_file *at)
{
	if (!(r->hdr.flags & HWPMC_MAP_HAS_FILE) ||
	    r->hdr.len < sizeof(*r) + strlen(r->path) + 1 + sizeof(*at))
		return false;
	memcpy(at, (const char *)r + r->hdr.len - sizeof(*at), sizeof(*at));
	return true;
}

#endif /* HWPMC_LIB_RECORDS_H */
