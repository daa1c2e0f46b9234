/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_record.c - "hwpmc record": sample a command, processes or CPUs into a log.
 * The rings are mapped; this one thread takes what is in them to the file, many
 * times a second, and shows progress once a second on a terminal.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/missing.h"
#include "common/msg.h"
#include "common/watch.h"
#include "every.h"
#include "few.h"
#include "launch.h"
#include "net.h"
#include "note.h"
#include "pauses.h"
#include "pieces.h"
#include "sampler.h"
#include "sink.h"

#define STEP_NS		20000000ull
#define SECOND_NS	1000000000ull
#define END_PATIENCE_MS	10000

static const char default_output[] = "hwpmc.log";

const char cmd_record_help[] =
"usage: hwpmc record [option ...] [--] command [argument ...]\n"
"       hwpmc record [option ...] -p pid[,pid ...] [command ...]\n"
"       hwpmc record [option ...] -a | -C cpu[,cpu-cpu ...] [command ...]\n"
"\n"
"Sample a command and its descendants, running processes, or whole CPUs: write a\n"
"sample to a log each time an event has occurred PERIOD times. hwpmc report shows\n"
"the log. Ends when the command or the last process exits, or at Ctrl-C.\n"
"\n"
SAMPLER_HELP
"  -d SECONDS          stop after this time\n"
"  -o FILE|HOST:PORT   write the log there; default: hwpmc.log; - is standard\n"
"                      output (the command then writes to standard error); a\n"
"                      file is named FILE.part until the end, when an existing\n"
"                      FILE is renamed to FILE.old\n"
"  -z, --compress[=N]  compress the log by zstd (level N)\n"
"      --max-size SIZE stop when the log has this size (10M)\n"
"      --switch-output[=SIZE|TIME]  start a new log, FILE.0001, FILE.0002 and so\n"
"                      on, after 10M or 30s, and at SIGUSR2; see hwpmc merge\n"
"      --overwrite[=TIME]  keep the samples of the last TIME (10 seconds) in\n"
"                      memory; write them to FILE.0001 and so on at SIGUSR2, and\n"
"                      to FILE at the end\n"
"      --csw           also count the events, and log the count of each thread\n"
"                      at each of its context switches\n"
"      --exit          log the count of each process when it exits\n"
EVERY_HELP
"  -q                  print no messages but errors\n"
"\n"
"Exit status: that of the command; 128+N if signal N ended it; 126 or 127 if it\n"
"cannot be run; 125 if nothing could be sampled, or the log is incomplete; 2 for\n"
"an invalid option. Dropped samples are counted in the log and are not an error.\n";

enum {
	OPT_HELP = 256, OPT_CSW, OPT_EXIT, OPT_MAX_SIZE, OPT_SWITCH, OPT_OVERWRITE,
};

struct record {
	struct sampler sampler;
	bool quiet;
	uint64_t duration_ns;
	struct every every;
	const char *output;
	int level;			/* of zstd, 0: plain */
	struct sink sink;
	struct pieces pieces;
	uint64_t max_size;		/* bytes; 0: no limit */
	bool full;			/* that many are written */
	uint64_t samples;		/* in the file */
	uint64_t chain[HWPMC_CHAIN__COUNT];	/* walked by unwind tables, by their end */
	struct pauses pauses;
	uint64_t end;			/* ticks; of the last record */
	uint32_t khz;			/* of the log's clock */
	uint64_t raised;		/* the least period that is allowed, if it is more
					 * than what was asked for */
	uint64_t ran_ns;
	struct few few;			/* the samples of each PMC */
	bool begun;			/* INITIALIZE is in the file */
	bool ran;			/* what was to be sampled, while it was sampled */
	bool ending;			/* CLOSELOG is kept for the end: */
	struct hwpmc_log_closelog close;
};

/* ---- options ------------------------------------------------------------- */

static int parse_option(struct record *r, int c)
{
	int err = sampler_parse(&r->sampler, c, optarg);
	uint64_t n;

	if (err == 1)
		err = every_parse(&r->every, c, optarg);
	if (err != 1)
		return err;
	switch (c) {
	case 'd':
		err = sampler_number("number of seconds", optarg, 1000000, &n);
		r->duration_ns = err ? 0 : n * SECOND_NS;
		return err;
	case 'o':
		r->output = optarg;
		return 0;
	case 'z':
		n = 3;
		err = optarg ? sampler_number("level", optarg, 19, &n) : 0;
		r->level = n;
		return err;
	case OPT_MAX_SIZE:
		return pieces_parse_size(optarg, &r->max_size);
	case OPT_SWITCH:
		return pieces_parse_switch(&r->pieces, optarg);
	case OPT_OVERWRITE:
		return pieces_parse_recent(&r->pieces, optarg);
	case OPT_CSW:
		r->sampler.values |= HWPMC_F_LOG_PROCCSW;
		return 0;
	case OPT_EXIT:
		r->sampler.values |= HWPMC_F_LOG_PROCEXIT;
		return 0;
	default:
		r->quiet = true;
		r->sampler.quiet = true;
		return 0;
	}
}

static int check_options(struct record *r)
{
	int status = sampler_check(&r->sampler);
	struct net_address address;

	if (!status && r->sampler.system && r->sampler.values)
		return msg_usage("--csw and --exit count processes: they cannot be combined with -a or -C");
	if (!status && r->pieces.kind != PIECES_NONE && r->every.every_ns)
		return msg_usage("--every cannot be combined with --switch-output or --overwrite");
	if (!status && r->pieces.kind != PIECES_NONE &&
	    (strcmp(r->output, "-") == 0 || net_parse(r->output, &address)))
		return msg_usage("--switch-output and --overwrite need a file name, not '%s'",
				 r->output);
	if (!status && r->pieces.kind == PIECES_RECENT && r->max_size)
		return msg_usage("--max-size and --overwrite cannot be combined");
	return status ? status : every_check(&r->every, r->sampler.command);
}

static int parse_options(struct record *r, int argc, char *argv[], bool *help)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, OPT_HELP },
		SAMPLER_OPTIONS,
		{ "duration", required_argument, NULL, 'd' },
		{ "output", required_argument, NULL, 'o' },
		{ "compress", optional_argument, NULL, 'z' },
		{ "max-size", required_argument, NULL, OPT_MAX_SIZE },
		{ "switch-output", optional_argument, NULL, OPT_SWITCH },
		{ "overwrite", optional_argument, NULL, OPT_OVERWRITE },
		{ "csw", no_argument, NULL, OPT_CSW },
		{ "exit", no_argument, NULL, OPT_EXIT },
		EVERY_OPTIONS,
		{ "quiet", no_argument, NULL, 'q' },
		{ NULL, 0, NULL, 0 },
	};
	int c, err;

	*r = (struct record){
		.output = default_output, .sink = { .fd = -1 },
	};
	sampler_init(&r->sampler);
	/* "+": the command's options are its own. */
	while ((c = getopt_long(argc, argv, "+:" SAMPLER_SHORT "d:o:qz::",
				options, NULL)) != -1) {
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		sampler_take_word(c, argv);
		*help = c == OPT_HELP;
		if (*help) {
			fputs(cmd_record_help, stdout);
			return 0;
		}
		err = parse_option(r, c);
		if (err)
			return err;
	}
	if (optind < argc)
		r->sampler.command = argv + optind;
	return check_options(r);
}

/* ---- the log ------------------------------------------------------------- */

/* How the chains end that were walked by unwind tables. */
static void note_chain(struct record *r, const struct hwpmc_log_hdr *h)
{
	int end = hwpmc_chain_end((const void *)h);

	if (end < 0)
		return;
	r->chain[end]++;
}

static struct few_pmc *find_pmc(struct record *r, uint32_t id)
{
	return few_find(&r->few, r->sampler.id, r->sampler.nid, id);
}

static void note_allocate(struct record *r, const struct hwpmc_log_allocate *record)
{
	const struct evrate *asked = sampler_asked(&r->sampler, record->hdr.id);
	struct few_pmc *pmc = find_pmc(r, record->hdr.id);

	if (!pmc || (record->mode != HWPMC_MODE_SS && record->mode != HWPMC_MODE_TS))
		return;
	pmc->hard = record->class != HWPMC_CLASS_SOFT;
	pmc->raised = asked->period && record->count > asked->period;
	if (pmc->raised)
		r->raised = record->count;
}

static void note_sample(struct record *r, const struct hwpmc_log_hdr *h)
{
	struct few_pmc *pmc = find_pmc(r, h->id);

	r->samples++;
	if (pmc)
		pmc->samples++;
	note_chain(r, h);
}

/* What the summary tells of the log. */
static void note_record(struct record *r, const struct hwpmc_log_hdr *h)
{
	if (h->time > r->end)
		r->end = h->time;
	switch (h->type) {
	case HWPMC_LOG_CALLCHAIN:
		note_sample(r, h);
		break;
	case HWPMC_LOG_THROTTLE:
		pauses_add(&r->pauses, (const void *)h);
		break;
	case HWPMC_LOG_INITIALIZE:
		r->khz = ((const struct hwpmc_log_initialize *)h)->khz;
		break;
	case HWPMC_LOG_PMCALLOCATE:
		note_allocate(r, (const void *)h);
		break;
	}
}

static void note_records(struct record *r, const void *data, size_t len)
{
	const char *at = data, *end = at + len;

	while (at < end) {
		const struct hwpmc_log_hdr *h = (const void *)at;

		note_record(r, h);
		at += h->len;
	}
}

/* The bytes before CLOSELOG, which is the last record of one ring: it will be the last of the log,
 * behind what the other rings have. */
static size_t without_close(struct record *r, const void *data, size_t len)
{
	const char *at = data, *end = at + len;

	while (at < end) {
		const struct hwpmc_log_hdr *h = (const void *)at;

		if (h->type == HWPMC_LOG_CLOSELOG) {
			memcpy(&r->close, h, sizeof(r->close));
			return at - (const char *)data;
		}
		at += h->len;
	}
	return len;
}

static int record_take(unsigned int cpu, const void *data, size_t len, void *arg)
{
	struct record *r = arg;
	struct hwpmc_log_hdr mark;

	if (r->pieces.kind != PIECES_NONE) {
		pieces_take(&r->pieces, cpu, data, len);
		note_records(r, data, len);
		return 0;
	}
	/* The file begins with INITIALIZE, which the first ring has. */
	if (r->begun) {
		hwpmc_rings_mark(cpu, &mark);
		sink_write(&r->sink, &mark, sizeof(mark));
	}
	r->begun = true;
	if (r->ending)
		len = without_close(r, data, len);
	sink_write(&r->sink, data, len);
	if (!r->sink.error)
		note_records(r, data, len);
	return 0;
}

static void add_note(void *arg, uint32_t id, const char *key,
		     const char *value)
{
	struct record *r = arg;

	if (r->pieces.kind != PIECES_NONE)
		pieces_note(&r->pieces, id, key, value);
	else
		sink_note(&r->sink, id, key, value);
}

static int open_output(struct record *r, char *err, size_t size)
{
	if (r->pieces.kind == PIECES_NONE)
		return sink_open(&r->sink, r->output, r->level, err, size);
	return pieces_open(&r->pieces, &r->sink, r->output, r->level, err, size);
}

static int begin_log(struct record *r, struct watch *w)
{
	char err[600];

	if (r->pieces.kind != PIECES_NONE)
		watch_user(w);
	if (open_output(r, err, sizeof(err)) < 0) {
		msg("%s", err);
		return -1;
	}
	/* The sink has a descriptor of its own: what the command prints is no part of the
	 * log. */
	if (strcmp(r->output, "-") == 0)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	/* An interrupt ends a write to a reader that does not read. */
	r->sink.stop_fd = w->signal_fd;
	r->sampler.take = record_take;
	r->sampler.note = add_note;
	r->sampler.arg = r;
	if (sampler_open(&r->sampler) < 0)
		return -1;
	note_run(r->sampler.command, add_note, r);
	return 0;
}

/* ---- the run ------------------------------------------------------------- */

static void show_progress(struct record *r, uint64_t ns, bool last)
{
	static bool shown;

	if (r->quiet || !isatty(STDERR_FILENO))
		return;
	if (last) {
		if (shown)
			fputs("\r\033[K", stderr);
		return;
	}
	shown = true;
	fprintf(stderr, "\r\033[K%" PRIu64 " s, %" PRIu64 " samples, %" PRIu64
		" KiB, %" PRIu64 " dropped", (uint64_t)(ns / SECOND_NS), r->samples,
		r->sink.bytes / 1024, sampler_dropped(&r->sampler));
	fflush(stderr);
}

/* false: there is no room for more, or no way to write it. */
static bool can_go_on(struct record *r, bool asked)
{
	if (pieces_tick(&r->pieces, asked) < 0 && !r->sink.error)
		r->sink.error = EIO;
	r->full = r->max_size && r->pieces.bytes + r->sink.bytes >= r->max_size;
	return !r->full && !r->sink.error;
}

static void run_until_end(struct record *r, struct watch *w)
{
	uint64_t start = watch_now(), told = start, now = start;
	enum watch_event ev;

	while ((ev = watch_wait(w, now + STEP_NS)) == WATCH_TIME || ev == WATCH_USER) {
		now = watch_now();
		sampler_drain(&r->sampler);
		if (now - told >= SECOND_NS) {
			sink_flush(&r->sink);
			show_progress(r, now - start, false);
			told = now;
		}
		if (r->duration_ns && now - start >= r->duration_ns)
			break;
		if (!can_go_on(r, ev == WATCH_USER))
			break;
	}
	r->ran_ns = now - start;
	show_progress(r, now - start, true);
	/* The signal has been read. A reader that stands still gets the rest no more. */
	if (w->signal)
		r->sink.patience_ms = END_PATIENCE_MS;
}

static void print_drops(const struct record *r)
{
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS];

	hwpmc_rings_drop_counts(r->sampler.rings, samples, others, HWPMC_DROP_SLOTS);
	for (uint32_t i = 0; i < HWPMC_DROP_SLOTS; i++)
		if (samples[i] + others[i] && i != HWPMC_DROP_PAUSED &&
		    missing_is_loss(i))
			msg("%s%" PRIu64 " records are missing in the log (%s): %s",
			    missing_bound(i), samples[i] + others[i], hwpmc_name_of_drop(i),
			    missing_advice(i));
}

static void print_pauses(const struct record *r)
{
	struct missing_pauses m = {
		.times = r->pauses.times,
		.ns = r->khz ? pauses_until(&r->pauses, r->end) * 1e6 / r->khz : 0,
		.percent = r->pauses.percent,
	};
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS];
	char lead[100];

	hwpmc_rings_drop_counts(r->sampler.rings, samples, others, HWPMC_DROP_SLOTS);
	m.lost = samples[HWPMC_DROP_PAUSED];
	m.all = r->samples + missing_sum(samples, HWPMC_DROP_SLOTS);
	snprintf(lead, sizeof(lead), "%s: ", msg_prog);
	if (missing_put_pauses(stderr, lead, &m))
		fputc('\n', stderr);
}

static void print_chains(const struct record *r)
{
	if (!missing_chains(r->chain))
		return;
	missing_put_chains(stderr, r->chain, NULL, NULL);
	fputc('\n', stderr);
}

/* The samples of all PMCs of an event. */
static struct few_event sum_event(struct record *r, unsigned int which)
{
	const struct sampler *s = &r->sampler;
	const struct evrate *own = &s->events.rate[which];
	struct few_event e = {
		.name = s->events.spec[which], .own = own->period || own->frequency,
	};

	for (unsigned int i = 0; i < s->nid; i++) {
		const struct few_pmc *pmc = find_pmc(r, s->id[i]);

		if (s->of[i] != &s->events.spec[which] ||
		    (!s->asked[i].period && !s->asked[i].frequency))
			continue;
		e.asked = s->asked[i];
		e.hard |= pmc->hard;
		e.raised |= pmc->raised;
		e.samples += pmc->samples;
	}
	return e;
}

/* What is missing has hints of its own. */
static void print_few(struct record *r, uint64_t lost)
{
	const struct sampler *s = &r->sampler;
	bool attached = s->npid && !s->command;
	char text[FEW_TEXT];

	if (lost || r->full || r->pieces.overwritten)
		return;
	for (unsigned int i = 0; i < s->events.n; i++) {
		struct few_event e = sum_event(r, i);

		if (few_text(text, &e, s->events.n > 1, attached))
			msg("%s", text);
	}
}

static void print_summary(struct record *r)
{
	uint64_t kept = r->samples - r->pieces.overwritten;
	uint64_t lost = sampler_dropped(&r->sampler);

	if (r->quiet)
		return;
	if (r->raised)
		msg("the period was raised to %" PRIu64 ", the least that kern.hwpmc.mincount allows",
		    r->raised);
	print_drops(r);
	print_pauses(r);
	if (r->full)
		msg("stopped at --max-size; later samples were not recorded");
	if (r->pieces.overwritten)
		msg("%" PRIu64 " samples were overwritten by later ones",
		    r->pieces.overwritten);
	fprintf(stderr, "%" PRIu64 " sample%s, %" PRIu64 " dropped, %" PRIu64
		" KiB in %s%s\n", kept, kept == 1 ? "" : "s", lost,
		(r->pieces.kind ? r->pieces.bytes : r->sink.bytes) / 1024,
		r->pieces.n > 1 ? "several logs, the last " : "", r->sink.name);
	print_chains(r);
	print_few(r, lost);
}

static int end_command(struct record *r, struct watch *w, int status)
{
	struct rusage usage;
	int wait_status;

	if (!r->sampler.command)
		return status;
	/* Time was up, or the disk full: the command goes with the recording. */
	if (w->child && (r->duration_ns || r->full || r->sink.error))
		kill(w->child, SIGTERM);
	watch_reap(w, &wait_status, &usage);
	return status ? status : launch_exit_status(wait_status);
}

static int run_prepared(struct record *r, struct watch *w, struct launch *l)
{
	int err = r->sampler.command ? launch_go(l) : 0;

	if (err)
		return launch_error(r->sampler.command[0], err);
	r->ran = true;
	run_until_end(r, w);
	r->ending = true;
	sampler_end(&r->sampler);
	if (r->close.hdr.len)
		sink_write(&r->sink, &r->close, sizeof(r->close));
	if (r->pieces.kind != PIECES_NONE)
		pieces_end(&r->pieces);
	sink_flush(&r->sink);
	return end_command(r, w, 0);
}

static int record_run(struct record *r)
{
	struct launch l = { .pid = 0 };
	int status = EXIT_STAT_FAILED;
	struct watch w;

	if (watch_open(&w) < 0) {
		msg("cannot watch for signals: %s", strerror(errno));
		return status;
	}
	if (begin_log(r, &w) == 0 && sampler_start(&r->sampler, &w, &l) == 0) {
		status = run_prepared(r, &w, &l);
		if (r->ran)
			print_summary(r);
	}
	/* From here on signals end this program. */
	r->sink.stop_fd = -1;
	watch_close(&w);
	return status;
}

static int close_output(struct record *r, int status)
{
	int err = r->sink.error;

	if (r->sink.fd < 0)
		return status;
	if (!r->ran)
		sink_discard(&r->sink);
	else if (sink_close(&r->sink) < 0)
		err = errno;
	if (!err)
		return status;
	msg("cannot write '%s': %s; the log is incomplete", r->sink.name,
	    strerror(err));
	return EXIT_STAT_FAILED;
}

static int record_once(struct record *r)
{
	int status = record_run(r);

	sampler_free(&r->sampler);
	few_free(&r->few);
	status = close_output(r, status);
	pieces_free(&r->pieces);
	return status;
}

/* The children's lists begin without the processes that have ended, each reported once. */
static void before_part(void *arg)
{
	struct record *r = arg;

	sampler_remove_gone(&r->sampler);
}

/* In a child of every_run(). */
static int record_part(void *arg, const char *path)
{
	struct record *r = arg;

	r->output = path;
	r->duration_ns = r->every.for_ns ? r->every.for_ns : EVERY_FOR_DEFAULT;
	/* What is missing is in the log; a line each ten seconds has no reader. */
	r->quiet = true;
	return record_once(r);
}

static int record_every(struct record *r)
{
	const struct every_part part = { before_part, record_part, r };
	struct every *e = &r->every;
	int status;

	e->duration_ns = r->duration_ns;
	e->directory = r->output == default_output ? "hwpmc.logs" : r->output;
	status = every_run(e, &part);
	sampler_free(&r->sampler);
	return status;
}

int cmd_record(int argc, char *argv[])
{
	struct record r;
	bool help = false;
	int status = parse_options(&r, argc, argv, &help);

	if (status || help)
		return status;
	return r.every.every_ns ? record_every(&r) : record_once(&r);
}
