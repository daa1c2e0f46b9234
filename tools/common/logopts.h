/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logopts.h - the options that all commands have which read a log: which samples,
 * and where programs and their symbols are; and the reading.
 */
#ifndef TOOLS_LOGOPTS_H
#define TOOLS_LOGOPTS_H

#include <getopt.h>

#include <libhwpmcstat.h>

struct logopts {
	const char *input;
	struct hwpmc_profile_options o;
};

enum {
	LOGOPT_COMM = 512, LOGOPT_CPU, LOGOPT_DEPTH, LOGOPT_DEBUG,
	LOGOPT_KALLSYMS, LOGOPT_PERF_MAP,
};

#define LOGOPTS_SYMBOLS_SHORT "k:r:"
#define LOGOPTS_SYMBOLS							\
	{ "root", required_argument, NULL, 'r' },			\
	{ "debug", required_argument, NULL, LOGOPT_DEBUG },		\
	{ "kernel", required_argument, NULL, 'k' },			\
	{ "kallsyms", required_argument, NULL, LOGOPT_KALLSYMS },	\
	{ "perf-map", required_argument, NULL, LOGOPT_PERF_MAP }

#define LOGOPTS_SYMBOLS_HELP						\
"  -r, --root DIR      look for programs and libraries under this directory\n" \
"      --debug DIRS    look for separate debug files there: dir:dir\n"	\
"  -k, --kernel PATH   the kernel's vmlinux, or a directory with it and *.ko\n" \
"      --kallsyms FILE else symbols of the kernel; default: /proc/kallsyms\n" \
"      --perf-map DIR  perf-PID.map files of generated code; default: /tmp\n"

/* Of which samples; -i is the command's own. */
#define LOGOPTS_FILTER_SHORT "e:p:t:"
#define LOGOPTS_FILTER							\
	{ "event", required_argument, NULL, 'e' },			\
	{ "pid", required_argument, NULL, 'p' },			\
	{ "tid", required_argument, NULL, 't' },			\
	{ "comm", required_argument, NULL, LOGOPT_COMM },		\
	{ "cpu", required_argument, NULL, LOGOPT_CPU }

#define LOGOPTS_FILTER_HELP						\
"  -e EVENT            samples of this event only\n"			\
"  -p PIDS             of these processes; -t TIDS: of these threads\n"	\
"      --comm NAME     of processes with this name\n"			\
"      --cpu CPU       of this CPU\n"

void logopts_init(struct logopts *l);
void logopts_free(struct logopts *l);

/* 1: c is none of these; 0; or what to exit with, told. */
int logopts_parse(struct logopts *l, int c, const char *arg);

/* "12.5": a percentage. 0, or what to exit with, told. */
int logopts_percent(const char *arg, double *percent);

/*
 * Read all of a log. On a terminal, and if it takes a while, standard error says how
 * far it is. NULL: told.
 */
struct hwpmc_profile *logopts_read(const struct logopts *l, const char *path);

#endif
