/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_dump.c - "hwpmc dump": the records of a log, a line each, in the order in which
 * they are in it. Here are the options and which records are wanted; the lines are
 * made in text.c and json.c.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/doubts.h"
#include "common/logfilter.h"
#include "common/missing.h"
#include "common/msg.h"
#include "common/output.h"
#include "dump.h"
#include "records.h"

const char cmd_dump_help[] =
"usage: hwpmc dump [option ...] [log]\n"
"\n"
"Print the records of a log, one per line: samples with process, thread, CPU,\n"
"time, event and address, and all other records.\n"
"\n"
"  -i FILE             read this log; default: hwpmc.log; - is standard input\n"
"      --type TYPES    print records of these types: sample, map-in, proccsw...;\n"
"                      all: also records that name the thread of later samples\n"
LOGOPTS_FILTER_HELP
"      --depth N       print only the innermost N frames of call chains\n"
"      --no-symbols    print addresses and images instead of functions\n"
"      --raw-time      print ticks of the log's clock, not seconds since boot\n"
"      --json          print one JSON object per line\n"
LOGOPTS_SYMBOLS_HELP
"  -o FILE             write to FILE\n"
"\n"
"Exit status: 0; 1 if the log cannot be read; 2 for an invalid option.\n";

enum {
	OPT_TYPE = 256, OPT_NO_SYMBOLS, OPT_RAW_TIME, OPT_JSON,
};

/* ---- options ------------------------------------------------------------- */

/* "map-in" is MAP_IN. */
static bool same_word(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (toupper((unsigned char)*a) != *b &&
		    !(*a == '-' && *b == '_'))
			return false;
	return !*a && !*b;
}

static bool want_type(struct dump *d, const char *word)
{
	bool found = same_word(word, "ALL");

	for (unsigned int i = 0; i < 256; i++) {
		const struct record_type *type = record_type(i);

		if (same_word(word, "ALL") || (type && same_word(word, type->name)) ||
		    (type && type->keyword && strcmp(word, type->keyword) == 0) ||
		    (i == HWPMC_LOG_CALLCHAIN && same_word(word, "SAMPLE")))
			found = d->types[i] = true;
	}
	return found;
}

static int parse_types(struct dump *d, const char *arg)
{
	char *copy = must_strdup(arg), *rest = copy;
	int status = 0;

	memset(d->types, 0, sizeof(d->types));
	for (char *s = strsep(&rest, ","); s && !status;
	     s = strsep(&rest, ","))
		if (!want_type(d, s))
			status = msg_usage("unknown record type '%s' (sample, or one of hwpmc_log(5))",
					   s);
	free(copy);
	return status;
}

static int parse_option(void *arg, int c)
{
	struct dump *d = arg;

	switch (c) {
	case 'i':
		d->log.input = optarg;
		return 0;
	case 'o':
		d->log.output = optarg;
		return 0;
	case OPT_TYPE:
		return parse_types(d, optarg);
	case OPT_NO_SYMBOLS:
		d->log.o.symbols.no_symbols = true;
		return 0;
	case OPT_RAW_TIME:
		d->raw_time = true;
		return 0;
	default:
		d->json = true;
		return 0;
	}
}

static int parse_options(struct dump *d, int argc, char *argv[])
{
	static const struct option options[] = {
		LOGOPTS_HELP,
		{ "input", required_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "type", required_argument, NULL, OPT_TYPE },
		{ "depth", required_argument, NULL, LOGOPT_DEPTH },
		{ "no-symbols", no_argument, NULL, OPT_NO_SYMBOLS },
		{ "raw-time", no_argument, NULL, OPT_RAW_TIME },
		{ "json", no_argument, NULL, OPT_JSON },
		LOGOPTS_FILTER,
		LOGOPTS_SYMBOLS,
		{ NULL, 0, NULL, 0 },
	};
	static const struct logopts_command command = {
		":i:o:" LOGOPTS_FILTER_SHORT LOGOPTS_SYMBOLS_SHORT, options,
		cmd_dump_help, parse_option,
	};
	int status = logopts_parse_all(&d->log, argc, argv, &command, d);

	if (status || d->log.help)
		return status;
	return logopts_operand(&d->log, argc, argv);
}

/* ---- the loop ------------------------------------------------------------ */

static void note_precise(struct dump *d, const struct hwpmc_record *r)
{
	d->next.mark = r->precise->present & HWPMC_PRECISE_EXACT ? DUMP_EXACT : DUMP_INEXACT;
	d->next.id = r->hdr->id;
	d->next.cpu = r->cpu;
}

static void take_mark(struct dump *d, const struct hwpmc_record *r)
{
	d->mark = d->next.id == r->hdr->id && d->next.cpu == r->cpu ? d->next.mark :
		  DUMP_UNMARKED;
	d->next.mark = DUMP_UNMARKED;
}

static inline void dump_record(struct dump *d, struct logfilter *f,
			       const struct hwpmc_record *r, bool filters)
{
	logfilter_see(f, r);
	d->mark = DUMP_UNMARKED;
	if (r->hdr->type == HWPMC_LOG_PRECISE)
		note_precise(d, r);
	else if (r->hdr->type == HWPMC_LOG_CALLCHAIN && d->next.mark)
		take_mark(d, r);
	if (!d->types[r->hdr->type] || (filters && !logfilter_passes(f, r)))
		return;
	if (d->json)
		dump_json(d, r);
	else
		dump_text(d, r);
	if (d->at_once)
		outbuf_flush(&d->out);
}

/* What was found before another record came, which may have changed it. */
static void dump_forget(struct dump *d)
{
	d->event = NULL;
	d->until = 0;
	/* Numbers come again: what is left of the first is not to be found then. */
	d->changes += 256;
	if (!d->changes)
		memset(d->spot, 0, DUMP_SPOTS * sizeof(*d->spot));
}

/* Those behind a sample, of the same thread. */
static void dump_samples(struct dump *d, struct logfilter *f, struct hwpmc_record *r,
			 bool filters)
{
	size_t bytes;
	const char *at = (const char *)hwpmc_input_samples(d->in, &bytes);
	const char *end = at + bytes;

	for (; at < end && !d->out.error; at += r->hdr->len) {
		r->hdr = (const void *)at;
		r->npc = (r->hdr->len - sizeof(*r->hdr)) / sizeof(uint64_t);
		r->period = 0;
		dump_record(d, f, r, filters);
	}
}

static int dump_records(struct dump *d, bool learned)
{
	struct logfilter f = { .o = &d->log.o, .lookup = d->lookup };
	bool filters = logfilter_chooses(f.o);
	struct hwpmc_record r;
	int rc;

	d->at_once = isatty(d->out.fd);
	while ((rc = hwpmc_input_next(d->in, &r)) > 0 && !d->out.error) {
		if (!learned && r.hdr->type != HWPMC_LOG_CALLCHAIN) {
			hwpmc_lookup_feed(d->lookup, &r);
			dump_forget(d);
		}
		dump_record(d, &f, &r, filters);
		if (r.hdr->type == HWPMC_LOG_CALLCHAIN)
			dump_samples(d, &f, &r, filters);
	}
	d->event_seen = f.event_seen;
	return rc;
}

static int read_log(struct dump *d)
{
	char err[600];
	int rc;

	d->in = logopts_open(d->log.input);
	if (!d->in)
		return EXIT_FAILED;
	rc = hwpmc_lookup_learn(d->lookup, d->in, err, sizeof(err));
	if (rc < 0) {
		msg("%s", err);
		return EXIT_FAILED;
	}
	rc = dump_records(d, rc);
	if (rc < 0)
		msg("%s", hwpmc_input_error(d->in));
	else if (d->log.o.event && !d->event_seen)
		msg("no event '%s' is in the log; see: hwpmc dump --type pmcallocate",
		    d->log.o.event);
	else if (hwpmc_lookup_error(d->lookup))
		msg("%s: out of memory; not all records are printed", d->log.input);
	else if (hwpmc_input_cut(d->in))
		msg("%s: " MISSING_END, d->log.input);
	return rc < 0 || hwpmc_lookup_error(d->lookup) ||
	       (d->log.o.event && !d->event_seen) ? EXIT_FAILED : 0;
}

static void pieces_free(struct dump_pieces *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		free(p->piece[i].text);
	free(p->piece);
}

static int dump_run(struct dump *d)
{
	int fd = STDOUT_FILENO, status;

	if (d->log.output && strcmp(d->log.output, "-"))
		fd = output_open(d->log.output, 0, 0666);
	d->side = open_memstream(&d->side_text, &d->side_len);
	if (fd < 0 || !d->side) {
		msg("cannot write '%s': %s", d->log.output, strerror(errno));
		return EXIT_FAILED;
	}
	outbuf_open(&d->out, fd);
	d->spot = must_realloc(NULL, DUMP_SPOTS, sizeof(*d->spot));
	memset(d->spot, 0, DUMP_SPOTS * sizeof(*d->spot));
	d->lookup = hwpmc_lookup_new(&d->log.o.symbols);
	if (!d->lookup) {
		msg("out of memory");
		return EXIT_FAILED;
	}
	status = read_log(d);
	for (uint32_t i = 0; i < d->ndoubtful; i++)
		doubts_tell_one(d->doubtful[i]);
	free(d->doubtful);
	if (outbuf_close(&d->out) < 0) {
		msg("cannot write the records: %s", strerror(errno));
		status = EXIT_FAILED;
	}
	if (fd != STDOUT_FILENO)
		close(fd);
	fclose(d->side);
	free(d->side_text);
	free(d->prefix.text);
	free(d->own.text);
	free(d->spot);
	pieces_free(&d->places);
	pieces_free(&d->events);
	hwpmc_input_close(d->in);
	hwpmc_lookup_free(d->lookup);
	return status;
}

int cmd_dump(int argc, char *argv[])
{
	struct dump d = { .json = false };
	int status;

	logopts_init(&d.log);
	for (unsigned int i = 0; i < 256; i++)
		d.types[i] = !record_type(i) || !record_type(i)->of_stream;
	status = parse_options(&d, argc, argv);
	if (!status && !d.log.help)
		status = dump_run(&d);
	logopts_free(&d.log);
	return status;
}
