/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_metrics.c - "hwpmc metrics": counts of whole CPUs since it began, in Prometheus's
 * text format, again and again. The counters run all the time; only their reading is
 * repeated, so no event is between two lines.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libhwpmc.h>

#include "common/commands.h"
#include "common/cpus.h"
#include "common/evlist.h"
#include "common/msg.h"
#include "common/usermode.h"
#include "common/watch.h"
#include "prom.h"
#include "record/every.h"

const char cmd_metrics_help[] =
"usage: hwpmc metrics [option ...]\n"
"\n"
"Count events on all CPUs, and write the counts in the text format of Prometheus,\n"
"for the textfile collector of node_exporter, until a signal.\n"
"\n"
"  -e EVENTS           count these events (see: hwpmc list); default:\n"
"                      cycles,instructions\n"
"  -C CPUS             count on these CPUs: 0,2-3\n"
"  -o FILE             replace FILE each time (FILE.prom for node_exporter);\n"
"                      default: standard output\n"
"      --every TIME    write the counts every TIME: 15s (the default), 500ms, 1m\n"
"  -d TIME             stop after this time\n"
"      --logs DIR      also report the logs of hwpmc record --every in DIR\n"
"\n"
"Exit status: 0; 1 if it cannot count or write; 2 for an invalid option.\n";

enum {
	OPT_HELP = 256, OPT_EVERY, OPT_LOGS,
};

struct metrics {
	struct evlist events;
	struct cpus cpus;
	const char *output, *logs_path;
	struct logdir logs;
	uint64_t every_ns, duration_ns;
	struct hwpmc *h;
	struct hwpmc_batch_entry *entry;	/* of each event, of each CPU */
	unsigned int n;
	bool user_mode;
};

/* ---- options ------------------------------------------------------------- */

static int parse_time(const char *arg, uint64_t *ns)
{
	return every_time(arg, ns) < 0 ?
	       msg_usage("invalid time '%s' (500ms, 15s, 1m)", arg) : 0;
}

static int parse_option(struct metrics *m, int c)
{
	switch (c) {
	case 'e':
		if (evlist_add(&m->events, optarg) < 0)
			return msg_usage("invalid event list '%s': %s", optarg, m->events.why);
		if (evlist_has_rate(&m->events))
			return msg_usage("invalid event list '%s': period= and freq= are for hwpmc record and top; remove them",
					 optarg);
		return 0;
	case 'C':
		if (cpus_parse(optarg, &m->cpus) < 0)
			return msg_usage("invalid CPU list '%s' (0,2-5)", optarg);
		return 0;
	case 'o':
		m->output = optarg;
		return 0;
	case OPT_LOGS:
		m->logs_path = optarg;
		return 0;
	default:
		return parse_time(optarg, c == 'd' ? &m->duration_ns : &m->every_ns);
	}
}

static int check_options(struct metrics *m, int argc, char *argv[])
{
	if (optind < argc)
		return msg_usage("unexpected argument '%s'", argv[optind]);
	if (!m->events.n)
		evlist_add(&m->events, "cycles,instructions");
	if (m->cpus.n || cpus_online(&m->cpus) == 0)
		return 0;
	msg("cannot read the list of online CPUs: %s", strerror(errno));
	return EXIT_FAILED;
}

static int parse_options(struct metrics *m, int argc, char *argv[], bool *help)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, OPT_HELP },
		{ "event", required_argument, NULL, 'e' },
		{ "cpu", required_argument, NULL, 'C' },
		{ "output", required_argument, NULL, 'o' },
		{ "duration", required_argument, NULL, 'd' },
		{ "every", required_argument, NULL, OPT_EVERY },
		{ "logs", required_argument, NULL, OPT_LOGS },
		{ NULL, 0, NULL, 0 },
	};
	int c, err;

	*m = (struct metrics){ .output = "-", .every_ns = 15000000000ull };
	while ((c = getopt_long(argc, argv, ":e:C:o:d:", options, NULL)) != -1) {
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		*help = c == OPT_HELP;
		if (*help) {
			fputs(cmd_metrics_help, stdout);
			return 0;
		}
		err = parse_option(m, c);
		if (err)
			return err;
	}
	return check_options(m, argc, argv);
}

/* ---- counters ------------------------------------------------------------ */

static int allocate(struct metrics *m, char **spec)
{
	struct usermode_request r = { .mode = HWPMC_MODE_SC };

	for (unsigned int i = 0; i < m->cpus.n; i++) {
		uint32_t id;

		r.cpu = m->cpus.cpu[i];
		if (usermode_allocate(m->h, spec, &r, &id, &m->user_mode) < 0) {
			msg("%s", hwpmc_error(m->h));
			return -1;
		}
		m->entry[m->n++].pmcid = id;
	}
	return 0;
}

static int begin_counting(struct metrics *m)
{
	if (hwpmc_open(&m->h) < 0) {
		msg("%s", hwpmc_error(NULL));
		return -1;
	}
	m->entry = must_calloc(m->events.n * m->cpus.n, sizeof(*m->entry));
	for (unsigned int i = 0; i < m->events.n; i++)
		if (allocate(m, &m->events.spec[i]) < 0)
			return -1;
	if (m->user_mode)
		msg(USERMODE_NOTE);
	if (hwpmc_batch(m->h, HWPMC_BATCH_START, m->entry, m->n) == 0)
		return 0;
	msg("%s", hwpmc_error(m->h));
	return -1;
}

/* ---- writing ------------------------------------------------------------- */

/* A CPU that cannot be read has no line: a figure that stands still would be a lie. */
static void write_events(struct metrics *m, FILE *f)
{
	const struct hwpmc_batch_entry *entry = m->entry;

	hwpmc_batch(m->h, HWPMC_BATCH_READ, m->entry, m->n);
	prom_metric(f, "hwpmc_events_total", "counter",
		    "Events counted on a CPU since hwpmc metrics started.");
	for (unsigned int i = 0; i < m->events.n; i++)
		for (unsigned int j = 0; j < m->cpus.n; j++, entry++) {
			if (entry->error)
				continue;
			fputs("hwpmc_events_total{event=", f);
			prom_value(f, m->events.spec[i]);
			fprintf(f, ",cpu=\"%u\"} %" PRIu64 "\n", m->cpus.cpu[j],
				(uint64_t)entry->value);
		}
}

static void put_counter(FILE *f, const char *name, const char *help, uint64_t value)
{
	prom_metric(f, name, "counter", help);
	fprintf(f, "%s %" PRIu64 "\n", name, value);
}

static void write_driver(struct metrics *m, FILE *f)
{
	struct hwpmc_op_getdriverstats s;

	if (hwpmc_driver_stats(m->h, &s) < 0)
		return;
	put_counter(f, "hwpmc_overflows_total", "Overflows of sampling counters.",
		    s.intr_processed);
	put_counter(f, "hwpmc_overflows_dropped_total",
		    "Samples dropped because a ring was full.", s.intr_bufferfull);
	put_counter(f, "hwpmc_operations_total", "Operations on the device.", s.syscalls);
	put_counter(f, "hwpmc_operations_failed_total", "Operations that failed.",
		    s.syscall_errors);
	put_counter(f, "hwpmc_threads_missed_total",
		    "New threads that were not counted because memory was short.",
		    s.threads_missed);
}

static int write_all(struct metrics *m)
{
	struct prom out;

	if (prom_begin(&out, m->output) == 0) {
		write_events(m, out.f);
		write_driver(m, out.f);
		if (m->logs_path)
			prom_logdir(out.f, &m->logs);
		if (prom_end(&out) == 0)
			return 0;
	}
	if (strcmp(m->output, "-") == 0)
		watch_end_without_reader(STDOUT_FILENO);
	msg("cannot write '%s': %s", m->output, strerror(errno));
	return -1;
}

static int run_until_end(struct metrics *m, struct watch *w)
{
	uint64_t next = watch_now(), end = m->duration_ns ? next + m->duration_ns : 0;
	uint64_t until;

	w->device_fd = hwpmc_fd(m->h);
	do {
		if (write_all(m) < 0)
			return EXIT_FAILED;
		while (next <= watch_now())
			next += m->every_ns;
		until = end && end < next ? end : next;
	} while (watch_wait(w, until) == WATCH_TIME && (!end || next < end));
	/* The last events too. */
	return write_all(m) < 0 ? EXIT_FAILED : 0;
}

static int metrics_run(struct metrics *m)
{
	int status = EXIT_FAILED;
	struct watch w;
	char err[600];

	if (m->logs_path && logdir_open(&m->logs, m->logs_path, false, err,
					sizeof(err)) < 0) {
		msg("%s", err);
		return status;
	}
	if (begin_counting(m) == 0) {
		if (watch_open(&w) == 0) {
			status = run_until_end(m, &w);
			watch_close(&w);
		} else {
			msg("cannot watch for signals: %s", strerror(errno));
		}
	}
	if (m->logs_path)
		logdir_close(&m->logs);
	return status;
}

int cmd_metrics(int argc, char *argv[])
{
	struct metrics m;
	bool help = false;
	int status = parse_options(&m, argc, argv, &help);

	if (!status && !help) {
		status = metrics_run(&m);
		hwpmc_close(m.h);
		free(m.entry);
	}
	evlist_free(&m.events);
	return status;
}
