/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmcstat.h - what the files of pmcstat share: pmcstat.c parses options,
 * run.c counts and samples, print.c prints columns, log.c
 * has the log written, read.c prints one, views.c makes graphs and
 * lists of one, top.c shows one while it comes.
 */
#ifndef TOOLS_PMCSTAT_H
#define TOOLS_PMCSTAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <libhwpmclog.h>
#include <pthread.h>

#include "view/view.h"

/* A PMC; a column if it counts. What -c, -d, -C, -n, -N, -U, -W and -E said
 * before it is settled in it.
 */
struct pmcstat_event {
	char *spec;
	bool system;
	bool sampling;
	bool cumulative;
	bool incomplete;		/* some thread could not be followed */
	uint32_t cpu;			/* HWPMC_CPU_ANY in process scope */
	uint32_t flags;			/* HWPMC_F_* */
	uint64_t rate;			/* events a sample; 0: it counts */
	uint32_t id;
	uint64_t value, saved;		/* now, and when printed last */
	int width;			/* of its column */
};

/* Files that are made of a log: -G, -F, -m, -a, -M. */
enum { VIEW_GRAPH, VIEW_CALLS, VIEW_PCS, VIEW_FRAMES, VIEW_MAP, VIEW_FILES };

struct pmcstat_views {
	const char *path[VIEW_FILES];	/* "-": standard output; NULL: not asked for */
	FILE *file[VIEW_FILES];
	bool any;			/* of the files, or others */
	bool need_read;			/* some are of logs that are there only */
	bool top;			/* -T */
	bool gprof;			/* -g, to the directory of -D */
	const char *dir;
	bool wide;			/* -e */
	bool have_threshold, have_depth, have_skip;
	bool skip;			/* -f skiplink=1 */
	const char *root;		/* -r */
	const char *kernel;		/* -k */
	struct view_options o;
};

struct pmcstat {
	struct hwpmc *h;
	unsigned int nevent;
	struct pmcstat_event *event;
	unsigned int ncounting, nsampling, nprocess;	/* of the events */
	unsigned int npid;		/* -t */
	pid_t *pid;
	uint64_t interval_ns;		/* -w */
	uint64_t limit_ns;		/* -l, 0: none */
	int verbose;
	bool quiet;
	const char *output_path;	/* -o, NULL: standard error */
	FILE *out;
	unsigned int lines;		/* since the last header */
	char **command;			/* NULL: none */
	const char *log_path;		/* -O; NULL: print the log, if there is one */
	const char *read_path;		/* -R */
	uint64_t max_mib;		/* of a connection; 0: any number */
	uint64_t silence;		/* s; 0: any */
	bool from_peer;			/* the log comes from a connection */
	int32_t lwp;			/* -i, 0: all threads */
	bool list;			/* -L */
	const char *describe;		/* -u */
	bool logging;			/* some event needs a log */
	bool started;			/* something was measured */
	int log_fd;			/* -1: none */
	bool write_failed;		/* and that was said */
	bool notes_failed;		/* a message was printed */
	int back_fd;			/* the log comes back here; -1: it does not */
	pthread_t reader;		/* of what comes back */
	int read_status;
	char read_error[600];
	struct pmcstat_views views;
	struct pmcstat_top *top;
};

struct watch;

/* run.c: allocate, count until the end, print. The exit status. */
int pmcstat_run(struct pmcstat *ps);

/*
 * log.c. begin: before PMCs are allocated; notes: when they are, and none
 * runs yet; end: wait until all of it is written. Each 0, or -1 and a message.
 */
int pmcstat_log_begin(struct pmcstat *ps);
int pmcstat_log_notes(struct pmcstat *ps);
int pmcstat_log_end(struct pmcstat *ps);

/* read.c: -R. The exit status. */
int pmcstat_read(struct pmcstat *ps);
/* The log of fd (-1: of the file path), with the limits of a connection. As of
 * hwpmc_input_open(). */
struct hwpmc_input *pmcstat_open_input(const struct pmcstat *ps, int fd,
				       const char *path, char *err, size_t size);
/* Print records as text until their end, and warn of what is missing. */
int pmcstat_print_log(struct pmcstat *ps, int fd, const char *path);

/*
 * views.c. parse: an option of VIEW_OPTIONS, EXIT_USAGE if it is wrong; check:
 * whether the options go together; open: the files, before there is something to
 * lose; write: read the log of fd (-1: the file path) to its end and write them.
 */
#define VIEW_OPTIONS	"a:D:eF:f:G:gIk:M:m:r:Tz:"
int pmcstat_views_parse(struct pmcstat *ps, int c, const char *arg);
int pmcstat_views_check(const struct pmcstat *ps);
int pmcstat_views_open(struct pmcstat *ps);
int pmcstat_views_write(struct pmcstat *ps, int fd, const char *path);

/*
 * top.c. begin: before a thread feeds the log of fd (-1: the file path); run:
 * show it until the end of what w watches; end: when all was fed, the last round.
 * read: all of that, of a log that is there.
 */
/* live: of what is sampled here, whose symbols are read before. */
void pmcstat_top_begin(struct pmcstat *ps, bool live);
int pmcstat_top_feed(struct pmcstat *ps, int fd, const char *path);
void pmcstat_top_run(struct pmcstat *ps, struct watch *w);
int pmcstat_top_end(struct pmcstat *ps);
int pmcstat_top_read(struct pmcstat *ps, int fd, const char *path);

/* print.c */
void pmcstat_set_widths(struct pmcstat *ps);
void pmcstat_print_counts(struct pmcstat *ps);

#endif
