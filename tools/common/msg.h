/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * msg.h - how the tools speak when something goes wrong: one line that says
 * what failed, on what, why and what to do. Usage is printed on --help only.
 */
#ifndef TOOLS_MSG_H
#define TOOLS_MSG_H

#include <stddef.h>

/* Exit statuses of the tools themselves. */
enum {
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_STAT_FAILED = 125,	/* hwpmc stat: 1 may be the command's own */
	EXIT_NOT_RUNNABLE = 126,
	EXIT_NOT_FOUND = 127,
};

/* The name that begins every line: "hwpmc", "hwpmc stat". */
extern const char *msg_prog;

void msg(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A line, and after it where help is; returns EXIT_USAGE. */
int msg_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "unknown WHAT", and the name here if `word`, of perf's `command`, is known from perf. Returns
 * EXIT_USAGE. */
int msg_unknown(const char *what, const char *command, const char *word);

/*
 * The one message for what getopt_long() refused. `c` is its return value,
 * ':' or '?'; the option strings of all tools begin with ':'.
 */
int msg_bad_option(int c, int optopt_, char *const argv[], int optind_);

/* Memory, or the end of the program. */
void *must_calloc(size_t n, size_t size);
void *must_realloc(void *p, size_t n, size_t size);
char *must_strdup(const char *s);
/* That end, for what else needs memory. */
void must_fail(void) __attribute__((noreturn));

#endif
