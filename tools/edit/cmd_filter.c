/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_filter.c - "hwpmc filter": a log with some of the samples of another. What says
 * which processes there were, and what they had mapped, stays, so that the rest is named
 * as before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/commands.h"
#include "common/fmt.h"
#include "common/logfilter.h"
#include "common/logopts.h"
#include "common/missing.h"
#include "common/msg.h"
#include "edit.h"

const char cmd_filter_help[] =
"usage: hwpmc filter [option ...] -o file\n"
"\n"
"Copy a log with only the selected samples, and with all other records.\n"
"\n"
"  -i FILE             read this log; default: hwpmc.log; - is standard input\n"
"  -o FILE             write the new log to FILE; - is standard output\n"
LOGOPTS_FILTER_HELP
"  -z, --compress[=N]  compress the new log by zstd (level N)\n"
"\n"
"Exit status: 0; 1 if a log cannot be read or written, or does not have the event\n"
"of -e; 2 for an invalid option.\n";

struct filter {
	struct logopts log;
	const char *output;
	int level;
	struct edit_out out;
	/* The PRECISE record of the next sample, if that is of its PMC and CPU. */
	bool has_precise;
	int32_t precise_cpu;
	uint64_t precise[HWPMC_LOG_MAX / sizeof(uint64_t)];
};

static int parse_option(void *arg, int c)
{
	struct filter *f = arg;
	uint64_t n = 3;

	switch (c) {
	case 'i':
		f->log.input = optarg;
		return 0;
	case 'o':
		f->output = optarg;
		return 0;
	default:
		if (optarg && fmt_parse_u64(optarg, 1, 19, &n) < 0)
			return msg_usage("invalid level '%s' (1 to 19)", optarg);
		f->level = n;
		return 0;
	}
}

static int parse_options(struct filter *f, int argc, char *argv[])
{
	static const struct option options[] = {
		LOGOPTS_HELP,
		{ "input", required_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "compress", optional_argument, NULL, 'z' },
		LOGOPTS_FILTER,
		{ NULL, 0, NULL, 0 },
	};
	static const struct logopts_command command = {
		":i:o:z::" LOGOPTS_FILTER_SHORT, options, cmd_filter_help, parse_option,
	};
	int status = logopts_parse_all(&f->log, argc, argv, &command, f);

	if (status || f->log.help)
		return status;
	if (optind < argc)
		return msg_usage("unexpected argument '%s'", argv[optind]);
	if (!f->output)
		return msg_usage("give the new log a name (-o)");
	if (!logfilter_chooses(&f->log.o))
		return msg_usage("no samples are selected: give -e, -p, -t, --comm, --cpu or --time");
	return 0;
}

/* Values of the event are as good as samples of it. */
static bool is_measured(const struct hwpmc_record *r)
{
	return r->hdr->type == HWPMC_LOG_CALLCHAIN || r->hdr->type == HWPMC_LOG_PROCCSW ||
	       r->hdr->type == HWPMC_LOG_PROCEXIT;
}

/* A sample that stays keeps its period. */
static void put_period(struct filter *f, const struct hwpmc_record *sample)
{
	struct hwpmc_log_period period = {
		.hdr = { .len = sizeof(period), .type = HWPMC_LOG_PERIOD,
			 .id = sample->hdr->id, .time = sample->hdr->time },
		.period = sample->period,
	};
	struct hwpmc_record r = *sample;

	r.hdr = &period.hdr;
	edit_put(&f->out, &r, period.hdr.id);
}

/* What the hardware recorded about the sample that comes. */
static void keep_precise(struct filter *f, const struct hwpmc_record *r)
{
	memcpy(f->precise, r->hdr, r->hdr->len);
	f->has_precise = true;
	f->precise_cpu = r->cpu;
}

/* A sample that stays keeps its PRECISE record. */
static void put_precise(struct filter *f, const struct hwpmc_record *sample)
{
	struct hwpmc_record r = *sample;

	r.hdr = (const void *)f->precise;
	if (r.hdr->id == sample->hdr->id && f->precise_cpu == sample->cpu)
		edit_put(&f->out, &r, r.hdr->id);
}

/* Does it go with a sample, which is asked for or not? */
static bool is_of_sample(const struct hwpmc_record *r)
{
	return r->hdr->type == HWPMC_LOG_PRECISE ||
	       (r->hdr->type == HWPMC_LOG_PERIOD && !(r->hdr->flags & HWPMC_PERIOD_DROPPED));
}

static bool is_sample(const struct hwpmc_record *r)
{
	return r->hdr->type == HWPMC_LOG_CALLCHAIN;
}

/* A record that is asked for, with those that go with it. */
static void put_record(struct filter *f, const struct hwpmc_record *r)
{
	if (r->period)
		put_period(f, r);
	if (is_sample(r) && f->has_precise)
		put_precise(f, r);
	edit_put(&f->out, r, r->hdr->id);
}

static int copy_records(struct filter *f, struct hwpmc_input *in, struct logfilter *lf)
{
	struct hwpmc_record r;
	uint64_t all = 0;
	int rc;

	while ((rc = hwpmc_input_next(in, &r)) > 0 && !f->out.sink.error) {
		bool measured = is_measured(&r);

		logfilter_see(lf, &r);
		all += is_sample(&r);
		if (r.hdr->type == HWPMC_LOG_PRECISE)
			keep_precise(f, &r);
		if (!is_of_sample(&r) && (!measured || logfilter_passes(lf, &r)))
			put_record(f, &r);
		if (is_sample(&r))
			f->has_precise = false;
	}
	if (rc < 0)
		msg("%s", hwpmc_input_error(in));
	else if (f->log.o.event && !lf->event_seen)
		msg("no event '%s' is in the log", f->log.o.event);
	else if (hwpmc_lookup_error(lf->lookup))
		msg("cannot filter %s: out of memory", f->log.input);
	else
		rc = 1;
	if (rc != 1)
		return -1;
	f->out.cut = hwpmc_input_cut(in);
	f->out.filtered += all - f->out.samples;
	fprintf(stderr, "%" PRIu64 " of %" PRIu64 " sample%s in %s%s\n", f->out.samples, all,
		fmt_plural(all), f->out.sink.name, hwpmc_input_cut(in) ? "; " MISSING_END : "");
	return 0;
}

static int filter_log(struct filter *f, struct hwpmc_input *in)
{
	struct logfilter lf = { .o = &f->log.o };
	char err[600];
	int rc = -1;

	lf.lookup = hwpmc_lookup_new(&f->log.o.symbols);
	if (!lf.lookup)
		msg("out of memory");
	else if (hwpmc_lookup_learn(lf.lookup, in, err, sizeof(err)) < 0)
		msg("%s", err);
	else if (edit_open(&f->out, f->output, f->level) == 0) {
		rc = copy_records(f, in, &lf);
		if (edit_close(&f->out, rc == 0) < 0)
			rc = -1;
	}
	hwpmc_lookup_free(lf.lookup);
	return rc;
}

static int filter_run(struct filter *f)
{
	struct hwpmc_input *in = edit_input(f->log.input);
	int rc = in ? filter_log(f, in) : -1;

	hwpmc_input_close(in);
	return rc < 0 ? EXIT_FAILED : 0;
}

int cmd_filter(int argc, char *argv[])
{
	struct filter f = { .level = 0 };
	int status;

	logopts_init(&f.log);
	f.log.o.symbols.no_symbols = true;
	status = parse_options(&f, argc, argv);
	if (!status && !f.log.help)
		status = filter_run(&f);
	logopts_free(&f.log);
	return status;
}
