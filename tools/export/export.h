/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * export.h - profiles in the formats of other programs. Each other file writes
 * one of them to a stream and knows nothing of options or files. The samples of
 * what is written add up to those of the profile; where a format cannot hold some
 * of them, the writer says how many.
 */
#ifndef TOOLS_EXPORT_H
#define TOOLS_EXPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <libhwpmcstat.h>

/* What a writer gets. */
struct export {
	struct hwpmc_profile *profile;
	const struct hwpmc_profile_totals *totals;
	const struct hwpmc_profile_event *event;
	const struct hwpmc_stack *stack;
	uint32_t nevent, nstack;
	const char *image;	/* gmon: path or name of the image; NULL: the one
				 * with the most samples */
	const char *comment;	/* pprof: one more; NULL: none */
};

/* Percent of an event: what has less is not seen in a page that is 10,000 wide. */
#define EXPORT_MIN_SHARE	0.01

struct export_format {
	const char *name;
	/* May it be written? 0, or -1 after a message. NULL: always. */
	int (*check)(const struct export *x);
	/* Errors of f are its caller's. */
	void (*write)(const struct export *x, FILE *f);
	bool threads, timeline;	/* of hwpmc_profile_options: needed */
	bool names;		/* names of threads are needed, threads are not */
	bool stacks;		/* as large as there are different ones: --min-share */
	bool binary;		/* nothing for a terminal */
};

/* NULL: there is none of that name. */
const struct export_format *export_find(const char *name);
/* "flamegraph, pprof, …" for messages. */
const char *export_names(void);
/* What the profile must have been read with. */
void export_options(const struct export_format *format,
		    struct hwpmc_profile_options *o);
/* Before anything is opened for it: 0, or -1 after a message. */
int export_check(const struct export_format *format,
		 struct hwpmc_profile *profile, const char *image);
void export_write(const struct export_format *format,
		  struct hwpmc_profile *profile, const char *image, FILE *f);

void export_callgrind(const struct export *x, FILE *f);
void export_firefox(const struct export *x, FILE *f);
void export_flamegraph(const struct export *x, FILE *f);
int export_gmon_check(const struct export *x);
void export_gmon(const struct export *x, FILE *f);
int export_pprof_check(const struct export *x);
void export_pprof(const struct export *x, FILE *f);
void export_speedscope(const struct export *x, FILE *f);

/* The argument of a writer that is called directly, not through the table. */
struct export export_of(struct hwpmc_profile *profile, const char *image);
/* The program that the command line names, if it has samples: of several that it names (of a
 * shell, say) the one with the most. NULL: none. */
const struct hwpmc_image *export_main_image(const struct export *x);
/* gmon of a given image, if there can be one: the samples that it has. */
bool export_gmon_can(const struct hwpmc_image *image);
uint64_t export_gmon_image(const struct export *x,
			   const struct hwpmc_image *image, FILE *f);

/* ---- what the writers share ---------------------------------------------- */

/* Numbers from 0 for pairs of words, in the order in which they are asked for. */
struct ids {
	struct ids_key {
		uint64_t a, b;
	} *key;			/* by number */
	uint32_t n;
	uint32_t *slot;		/* number + 1; 0: free */
	uint32_t nslot;
};

uint32_t ids_get(struct ids *ids, uint64_t a, uint64_t b);
/* Its number, without giving it one. */
bool ids_has(const struct ids *ids, uint64_t a, uint64_t b, uint32_t *id);
#define ids_ptr(ids, p)	ids_get(ids, (uintptr_t)(p), 0)
void ids_free(struct ids *ids);

/* The same for strings. */
struct strings {
	char **text;		/* by number */
	uint32_t n;
	uint32_t *slot;
	uint32_t nslot;
};

uint32_t strings_get(struct strings *strings, const char *text);
void strings_free(struct strings *strings);

/* Text in memory, written like a file. */
struct text {
	FILE *f;
	char *text;		/* the caller frees it */
	size_t len;
};

void text_open(struct text *t);
const char *text_close(struct text *t);

/* The samples of one event in one thread, by time. */
struct track {
	const struct hwpmc_thread_info *thread;
	uint32_t event;
	uint32_t *point;	/* indices of the profile's timeline */
	uint32_t n;
};

struct track *export_tracks(const struct export *x, uint32_t *n);
void export_tracks_free(struct track *track, uint32_t n);

/*
 * How a function is called where its image is not shown beside it: its name, and
 * for what is not known the image, so that it stays a category of its own.
 */
#define EXPORT_NAME	1024
const char *export_function(char buf[EXPORT_NAME],
			    const struct hwpmc_symbol *symbol);
/* Where a frame is in the source; false: not known. */
bool export_line(const struct export *x, const struct hwpmc_frame *frame,
		 const char **file, unsigned int *line);
/* "hot3 (812)", with the thread where it is not the first; the event if there
 * are several. */
const char *export_track_name(char buf[EXPORT_NAME], const struct export *x,
			      const struct track *track);
/* Of the program that was measured, for titles. */
const char *export_title(const struct export *x);
/* When the first sample was taken, ns of CLOCK_REALTIME; 0: a log without the time of day, whose
 * times are since the boot. */
uint64_t export_began(const struct export *x);
void export_hex(char *out, const uint8_t *bytes, uint32_t n);

#endif
