/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark_file.h - the memory that a listener shares with the programs whose marks it counts: a
 * header, and a record for each thread and mark. It is sparse: pages that no value has reached take no
 * memory. Programs write, and the listener trusts nothing in it but what it wrote before.
 */
#ifndef HWPMC_LIB_MARK_FILE_H
#define HWPMC_LIB_MARK_FILE_H

#include <stdatomic.h>
#include <stdint.h>

#include "../pmc/hwpmc_mark.h"
#include "../pmc/spread.h"

#define MARK_FILE_MAGIC		0x314b52414d504d48ull	/* "HMPMARK1" */
#define MARK_FILE_RECORDS	4096
#define MARK_FILE_EVENT		256
#define MARK_FILE_PAGE		4096

struct mark_file {
	uint64_t magic;
	uint32_t nevent;		/* constant */
	uint32_t reserved;
	uint64_t record_size;		/* constant: bytes, a multiple of a page */
	uint64_t size;			/* constant: of all */
	atomic_uint_fast64_t nrecord;	/* that were wanted; more than there are are lost */
	atomic_uint_fast64_t lost;	/* begins in threads without a record */
	atomic_uint_fast64_t programs;	/* that opened the device */
	atomic_int has_why;		/* 1: .why is being written, 2: it is complete */
	char why[512];
	char event[HWPMC_MARKS_EVENTS][MARK_FILE_EVENT];	/* constant */
};

struct mark_record {
	atomic_int ready;		/* pid, tid and name are set */
	int32_t pid, tid;
	char name[HWPMC_MARK_NAME];
	uint64_t begun, dropped, misused;	/* by the thread alone */
	struct spread values[];		/* by event */
};

static inline uint64_t mark_record_size(unsigned int nevent)
{
	uint64_t size = sizeof(struct mark_record) + nevent * sizeof(struct spread);

	return (size + MARK_FILE_PAGE - 1) / MARK_FILE_PAGE * MARK_FILE_PAGE;
}

static inline struct mark_record *mark_record_at(struct mark_file *file, uint64_t record_size,
						 uint64_t i)
{
	return (void *)((char *)file + MARK_FILE_PAGE * 2 + i * record_size);
}

_Static_assert(sizeof(struct mark_file) <= 2 * MARK_FILE_PAGE, "two pages");

#endif /* HWPMC_LIB_MARK_FILE_H */
