/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sampler.h - what hwpmc record and hwpmc top do alike: options that say what to
 * sample, PMCs for it, and mapped rings that one thread takes records from. The
 * bytes and what the module does not know (notes) go to two functions.
 */
#ifndef TOOLS_SAMPLER_H
#define TOOLS_SAMPLER_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <libhwpmclog.h>

#include "common/cpus.h"
#include "common/evlist.h"
#include "common/watch.h"
#include "launch.h"
#include "tables.h"

struct sampler {
	/* What to sample. */
	struct evlist events;
	uint64_t period;		/* 0: the default, or of each event its own */
	uint64_t frequency;		/* samples a second, or 0: a period */
	uint32_t flags;			/* HWPMC_F_*CALLCHAIN, HWPMC_F_TABLES */
	struct tables tables;		/* that the module has been given */
	uint32_t values;		/* HWPMC_F_LOG_*, 0: samples only */
	bool all, system, descendants;
	const char *table_cache;	/* directory for unwind tables, or NULL */
	bool frame_pointers;		/* user chains by these, not by tables */
	bool quiet;			/* do not say what was chosen */
	struct cpus cpus;
	pid_t *pid;
	unsigned int npid;
	uint32_t ring_size;
	char **command;

	/* Receivers of records and notes. */
	hwpmc_rings_fn *take;
	void (*note)(void *arg, uint32_t id, const char *key, const char *value);
	void *arg;			/* of both */

	char ***of;			/* of each PMC the event's text */
	struct hwpmc *h;
	struct hwpmc_rings *rings;
	uint32_t *id;			/* of the PMCs */
	struct evrate *asked;		/* of each PMC; of one that counts, zeros */
	unsigned int nid;
};

enum {
	SAMPLER_NO_DESC = 768, SAMPLER_USER_CHAIN, SAMPLER_RING_SIZE,
	SAMPLER_CALL_GRAPH, SAMPLER_TABLE_CACHE,
};

#define SAMPLER_RATE	4000	/* samples a second, as perf takes, where no option gives one */

#define SAMPLER_SHORT "e:c:F:gaC:p:"
#define SAMPLER_OPTIONS							\
	{ "event", required_argument, NULL, 'e' },			\
	{ "count", required_argument, NULL, 'c' },			\
	{ "freq", required_argument, NULL, 'F' },			\
	{ "call-graph", optional_argument, NULL, SAMPLER_CALL_GRAPH },	\
	{ "unwind-cache", required_argument, NULL, SAMPLER_TABLE_CACHE }, \
	{ "user-callchain", no_argument, NULL, SAMPLER_USER_CHAIN },	\
	{ "all-cpus", no_argument, NULL, 'a' },				\
	{ "cpu", required_argument, NULL, 'C' },			\
	{ "pid", required_argument, NULL, 'p' },			\
	{ "no-descendants", no_argument, NULL, SAMPLER_NO_DESC },	\
	{ "ring-size", required_argument, NULL, SAMPLER_RING_SIZE }

#define SAMPLER_HELP							\
"  -e EVENTS           sample these events (see: hwpmc list); default: cycles, or\n" \
"                      clock.prof if the machine has no counters\n"	\
"  -c PERIOD           take a sample every PERIOD events; default: -F 4000; every\n" \
"                      8 of clock.prof, 1 of other events of the kernel. One\n" \
"                      event's own: -e EVENT/period=N/ or EVENT/freq=N/\n"	\
"  -F FREQ             take FREQ samples per second on each CPU, or in each\n" \
"                      running thread: adapt the period\n"		\
"  -g                  record call chains, of kernel samples those of the program\n" \
"                      too\n"						\
"      --call-graph=HOW  record call chains by unwind tables (tables), also by\n" \
"                      frame pointers in code without tables (tables,fp, as -g),\n" \
"                      by frame pointers alone (fp), which few programs have, or\n" \
"                      none\n"						\
"      --unwind-cache=DIR  keep unwind tables here, not in ~/.cache/hwpmc\n" \
"      --user-callchain  the same as -g\n"				\
"  -a                  sample all CPUs, all processes\n"		\
"  -C CPUS             sample these CPUs: 0,2-3\n"			\
"  -p PIDS             sample these processes\n"				\
"      --no-descendants  do not sample the children of processes\n"	\
"      --ring-size KIB  use a sample ring of this size for each CPU\n"

void sampler_init(struct sampler *s);
void sampler_free(struct sampler *s);

/* After getopt_long(3) has returned c: takes a value that perf writes without "=". */
void sampler_take_word(int c, char *argv[]);

/* 1: c is none of these; 0; or an exit status, after a message. */
int sampler_parse(struct sampler *s, int c, const char *arg);
/* Do the options go together? The defaults. 0, or an exit status after a message. */
int sampler_check(struct sampler *s);

/* Remove the processes that have ended from those of -p, with a message for each. */
void sampler_remove_gone(struct sampler *s);

/* A number of an option. 0, or an exit status after a message. */
int sampler_number(const char *what, const char *arg, uint64_t hi,
		   uint64_t *value);

/* Those below: 0, or -1 after a message. */

/* The device and its rings; takes what begins the log. */
int sampler_open(struct sampler *s);
/* PMCs, attached and started; the command waits for launch_go(). */
int sampler_start(struct sampler *s, struct watch *w, struct launch *l);
/* Give what lies in the rings to .take(). */
void sampler_drain(struct sampler *s);
/*
 * Stop, take everything, have what is missing declared (there is room for that
 * now), and end the log.
 */
void sampler_end(struct sampler *s);

/* The period or the rate that a PMC was asked for; zeros if it is none of these. */
const struct evrate *sampler_asked(const struct sampler *s, uint32_t id);

/* Records that were dropped so far. */
uint64_t sampler_dropped(const struct sampler *s);

#endif
