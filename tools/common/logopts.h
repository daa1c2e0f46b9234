/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logopts.h - the options that all commands have which read a log: which samples,
 * and where programs and their symbols are; and the reading.
 */
#ifndef TOOLS_LOGOPTS_H
#define TOOLS_LOGOPTS_H

#include <getopt.h>
#include <stdbool.h>

#include <libhwpmcstat.h>

#define LOGOPTS_DEFAULT	"hwpmc.log"

enum logopts_format { LOGOPTS_TEXT, LOGOPTS_JSON, LOGOPTS_CSV };

struct logopts {
	const char *input;
	struct hwpmc_profile_options o;
	bool help;			/* it was asked for, and was printed */
	/* LOGOPTS_OUTPUT */
	enum logopts_format format;
	const char *output;
	bool stdio;
	double limit;
};

enum {
	LOGOPT_COMM = 512, LOGOPT_DEPTH, LOGOPT_DEBUG,
	LOGOPT_KALLSYMS, LOGOPT_PERF_MAP, LOGOPT_FORMAT, LOGOPT_JSON,
	LOGOPT_CSV, LOGOPT_STDIO, LOGOPT_HELP, LOGOPT_TIME, LOGOPT_IMAGE,
	LOGOPT_SYMBOL, LOGOPT_PROCESS,
};

#define LOGOPTS_HELP	{ "help", no_argument, NULL, LOGOPT_HELP }

#define LOGOPTS_SYMBOLS_SHORT "k:r:"
#define LOGOPTS_SYMBOLS							\
	{ "root", required_argument, NULL, 'r' },			\
	{ "debug", required_argument, NULL, LOGOPT_DEBUG },		\
	{ "kernel", required_argument, NULL, 'k' },			\
	{ "kallsyms", required_argument, NULL, LOGOPT_KALLSYMS },	\
	{ "perf-map", required_argument, NULL, LOGOPT_PERF_MAP }

#define LOGOPTS_SYMBOLS_HELP						\
"      --root DIR      search for programs and libraries below DIR\n"	\
"      --debug DIRS    search DIR[:DIR...] for separate debug files\n"	\
"  -k, --kernel PATH   read kernel symbols from this vmlinux, or from the vmlinux\n" \
"                      and *.ko in this directory\n"			\
"      --kallsyms FILE without vmlinux: read kernel symbols from FILE; default:\n" \
"                      /proc/kallsyms\n"				\
"      --perf-map DIR  read symbols of generated code from DIR/perf-PID.map;\n" \
"                      default: /tmp\n"

/* Of which samples; -i is the command's own. */
#define LOGOPTS_FILTER_SHORT "e:p:t:C:"
#define LOGOPTS_FILTER							\
	{ "event", required_argument, NULL, 'e' },			\
	{ "pid", required_argument, NULL, 'p' },			\
	{ "tid", required_argument, NULL, 't' },			\
	{ "comm", required_argument, NULL, LOGOPT_COMM },		\
	{ "process", required_argument, NULL, LOGOPT_PROCESS },		\
	{ "cpu", required_argument, NULL, 'C' },				\
	{ "time", required_argument, NULL, LOGOPT_TIME }

#define LOGOPTS_FILTER_HELP						\
"  -e EVENT            use only samples of this event\n"			\
"  -p PIDS             use only samples of these processes; -t TIDS: threads\n" \
"      --comm NAME     use only samples of threads with this name\n"	\
"      --process NAME  use only samples of processes with this name\n"	\
"  -C, --cpu CPUS      use only samples of these CPUs: 0,2-3\n"		\
"      --time FROM,UNTIL  use only samples of this time, in seconds since boot\n" \
"                      (see hwpmc dump); +FROM,UNTIL: since the log began;\n" \
"                      FROM or UNTIL can be omitted\n"

/* Of which image and function; where a sample hit is known only with symbols. */
#define LOGOPTS_PLACE							\
	{ "image", required_argument, NULL, LOGOPT_IMAGE },		\
	{ "symbol", required_argument, NULL, LOGOPT_SYMBOL }

#define LOGOPTS_PLACE_HELP						\
"      --image NAME    use only samples in this program, library or module\n" \
"      --symbol NAME   use only samples in this function\n"

/* How figures are printed, where text, JSON and CSV are all that there is. */
#define LOGOPTS_OUTPUT_SHORT "o:l:"
#define LOGOPTS_OUTPUT							\
	{ "output", required_argument, NULL, 'o' },			\
	{ "limit", required_argument, NULL, 'l' },			\
	{ "format", required_argument, NULL, LOGOPT_FORMAT },		\
	{ "json", no_argument, NULL, LOGOPT_JSON },			\
	{ "csv", no_argument, NULL, LOGOPT_CSV },			\
	{ "stdio", no_argument, NULL, LOGOPT_STDIO }

void logopts_init(struct logopts *l);
void logopts_free(struct logopts *l);

/* 1: c is none of these; 0; or an exit status, after a message. */
int logopts_parse(struct logopts *l, int c, const char *arg);

/* The same for LOGOPTS_OUTPUT. */
int logopts_parse_output(struct logopts *l, int c, const char *arg);

/* Has the log, or one of several, the event of -e? 0, or an exit status after a message. */
int logopts_check_event(const struct logopts *l, struct hwpmc_profile *const *p,
			unsigned int n);

/* "12.5": a percentage. 0, or an exit status after a message. */
int logopts_percent(const char *arg, double *percent);
/* The index of arg among n words: *value, and 0; else an exit status, and a message
 * with the choices. */
int logopts_word(const char *what, const char *choices, const char *arg,
		 const char *const *words, unsigned int n, unsigned int *value);

/* The options of a command. */
struct logopts_command {
	const char *short_options;
	const struct option *options;
	const char *help;
	/* One that is not logopts_parse()'s. 0, or an exit status after a message. */
	int (*own)(void *arg, int c);
};

/* All up to the first operand, argv[optind]. 0, or an exit status after a message. */
int logopts_parse_all(struct logopts *l, int argc, char *argv[],
		      const struct logopts_command *command, void *arg);

/* The one operand that may follow the options is the log, as -i is. 0, or an exit status after a
 * message. */
int logopts_operand(struct logopts *l, int argc, char *argv[]);

/*
 * Read all of a log. On a terminal, and if it takes a while, standard error says how
 * far it is. NULL: a message was printed.
 */
struct hwpmc_profile *logopts_read(const struct logopts *l, const char *path);
/* The log, opened; NULL after a message. If there is no LOGOPTS_DEFAULT, the message says how to
 * record one. */
struct hwpmc_input *logopts_open(const char *path);

#define LOGOPTS_RATE	64
/* "a sample every 1000", "99 samples a second"; returns text. */
const char *logopts_rate(const struct hwpmc_profile_event *ev, char text[LOGOPTS_RATE]);
/* "17 samples", "17 samples of 17000 events". */
const char *logopts_taken(const struct hwpmc_profile_event *ev, char text[LOGOPTS_RATE]);
/* Was a number of samples per second asked for? */
static inline bool logopts_has_rate(const struct hwpmc_profile_event *ev)
{
	return ev->frequency && ev->frequency != HWPMC_LOG_OWN_PERIODS;
}

/* What is counted in lines and columns: "samples", or "events". */
static inline const char *logopts_unit(const struct hwpmc_profile_event *ev)
{
	return ev->frequency ? "events" : "samples";
}

#endif
