/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tables.h - events by name from files: the vendor's JSON files, where the user has
 * some, then the tables of data/events, which have the same facts without descriptions.
 *	table_map.c	which files a CPU has		pure
 *	table_row.c	a line of a table to an event	pure
 *	table_index.c	a line of a table by its name	pure
 *	table_json.c	the vendor's form to a table	pure
 *	table_file.c	opens, reads, decompresses
 *	tables.c	finds and lists events; keeps what has been read
 * A table is text, an event a line: name, selects, counters, registers, their value,
 * flags, description (data/events/README.md). Files are not trusted: their sizes are
 * bounded, and one that is damaged is refused as a whole, with its name and the reason.
 */
#ifndef HWPMC_LIB_TABLES_H
#define HWPMC_LIB_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

#define ROW_NAME	128
#define ROW_CONFIGS	4
#define TABLE_NAME	64

/* One event. Of several configs each is the event, with a register of its own. */
struct event_row {
	char name[ROW_NAME];
	unsigned int nconfig;
	uint64_t config[ROW_CONFIGS];	/* layout of event.h */
	uint64_t counters;		/* bit per programmable counter; 0: unknown */
	int fixed;			/* fixed counter, -1: programmable */
	uint32_t reg;			/* MSR that has to be set beside, 0: none */
	uint64_t extra;			/* its value */
	bool deprecated, precise;
	const char *desc;		/* "": none; ends at a line's end, not with 0 */
	size_t ndesc;
};

/* ------------------------------------------------------------------------ */
/* table_row.c                                                               */

/* One line of n bytes, without its end. False: it is no event. */
bool event_row_parse(const char *line, size_t n, struct event_row *row);
/* As event_normal(), and ':' for a dot as libpfm4 has it. */
char event_row_plain(char c);
/* Is the name at the beginning of a line this one (in normal form, ':' as '_')? */
bool event_row_is(const char *line, size_t n, const char *normal);

/* The next line of [*at, end) that is an event; NULL: there is none. */
const char *event_row_next(const char **at, const char *end, size_t *n);

/* ------------------------------------------------------------------------ */
/* table_index.c                                                             */

struct event_index {
	uint32_t *slot;			/* beginnings of lines in the text; NULL: not made */
	uint32_t mask;
};

/* False: there is no memory for it. */
bool event_index_make(struct event_index *x, const char *text, size_t len);
/* The first line of the text that has this name, as event_row_is(). */
bool event_index_find(const struct event_index *x, const char *text, size_t len,
		      const char *normal, const char **line, size_t *n);
void event_index_free(struct event_index *x);

/* ------------------------------------------------------------------------ */
/* table_map.c                                                               */

/* The kind of core by the vendor's word, as a unit's name: "cpu_core". */
const char *event_map_kind(const char *role, size_t n);

struct event_map_line {
	char file[160];			/* as the map names it */
	char type[32];			/* "core", "hybridcore"; "" in a map of ours */
	char role[32];
	const char *kind;
};

/* The next line of a map (mapfile.csv, or intel-models.tsv with tabs) that is of this CPU's
 * core events. */
bool event_map_next(const char **at, const char *end, char separator,
		    const char *cpu, struct event_map_line *line);

/* ------------------------------------------------------------------------ */
/* table_json.c                                                              */

/* 0 and the same events as a table (malloc); -1 and why. */
int event_json_table(const char *json, size_t n, char **text, size_t *len,
		     char *why, size_t size);

/* ------------------------------------------------------------------------ */
/* table_file.c                                                              */

#define EVENT_MAP_LIMIT		(1u << 20)
#define EVENT_JSON_LIMIT	(8u << 20)
#define EVENT_XZ_LIMIT		(1u << 18)
#define EVENT_TABLE_LIMIT	(4u << 20)	/* decompressed */

/* 1: *text has *len bytes (malloc, with a 0 behind them). 0: there is no such file. -1: it
 * is not read, *why (of the caller, size bytes) says why. */
int event_file_read(const char *dir, const char *name, size_t limit,
		    char **text, size_t *len, char *why, size_t size);
/* 0, or -1 and why; as above. */
int event_decompress(const char *xz, size_t n, char **text, size_t *len,
		     char *why, size_t size);

/* ------------------------------------------------------------------------ */
/* tables.c                                                                  */

/* An event, and where it is from. */
struct event_found {
	struct event_row row;
	const char *table;		/* "skylake", "skylake_core.json" */
	const char *kind;		/* "cpu", "cpu_core", "cpu_atom", "cpu_lowpower" */
};

/* By its name in normal form, among the tables of the unit `pmu` ("": all). 1: found.
 * 0: no table has it. -1: a file is refused. */
int event_tables_find(const struct event_machine *m, const char *pmu,
		      const char *normal, struct event_found *f,
		      struct event_error *e);

typedef int event_tables_fn(const struct event_found *f, void *arg);
/* All events; a name of one kind once. Ends as fn does not return 0, and returns that; -1
 * where a file is refused. */
int event_tables_each(const struct event_machine *m, event_tables_fn *fn,
		      void *arg, struct event_error *e);

/* Has this CPU a table at all? */
bool event_tables_any(const struct event_machine *m);

#endif /* HWPMC_LIB_TABLES_H */
