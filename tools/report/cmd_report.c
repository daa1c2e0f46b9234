/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_report.c - "hwpmc report": where the samples of a log are. Every count that is
 * printed adds up to the samples of the log: what is not known is a line too.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "common/commands.h"
#include "common/doubts.h"
#include "common/fmt.h"
#include "common/missing.h"
#include "common/msg.h"
#include "report.h"

const char cmd_report_help[] =
"usage: hwpmc report [option ...] [log]\n"
"\n"
"Show which functions, programs or lines the samples of a log hit.\n"
"\n"
"  -i FILE             read this log; default: hwpmc.log; - is standard input\n"
"  -s, --sort KEYS     print a line for each process, pid, comm (name of the\n"
"                      thread), thread, image, symbol, line, address, kind (of\n"
"                      core) or cpu, or for a list of these; default:\n"
"                      image,symbol. Add period to print the number of events.\n"
"                      perf's tid, dso, sym and srcline are accepted\n"
"      --children      also show the callers of sampled functions: samples with\n"
"                      the function on the stack, and those that hit it (self)\n"
"      --tree          show a call tree, callers above callees\n"
"      --callers[=FUNCTION]  show the callers of each function, or of this one\n"
"      --callees=FUNCTION  show the callees of this function\n"
"      --no-children   show no callers: the default (perf's option)\n"
"      --inlines       show inlined functions as functions of their own\n"
"      --json, --csv   print one object or line each\n"
"      --format FORMAT print text, json, csv, folded (one line per stack),\n"
"                      flamegraph (a page for the browser), or a file for other\n"
"                      programs: pprof, callgrind, gmon (one program: --image,\n"
"                      default: the command), firefox, speedscope\n"
LOGOPTS_FILTER_HELP
LOGOPTS_PLACE_HELP
"      --min-share PERCENT  in formats with stacks, merge stacks with a smaller\n"
"                      share into [other]; default: 0.01 for flamegraph and\n"
"                      pprof, else 0\n"
"      --limit PERCENT omit lines with a smaller share; print their sum\n"
"      --depth N       use only the innermost N frames of call chains\n"
LOGOPTS_SYMBOLS_HELP
"  -o FILE             write to FILE\n"
"      --stdio         do not start a pager\n"
"      --full-names    do not shorten names of functions on a terminal\n"
"\n"
"Exit status: 0; 1 if the log cannot be read; 2 for an invalid option.\n";

enum {
	OPT_TREE = 256, OPT_CHILDREN, OPT_CALLERS, OPT_FORMAT, OPT_LIMIT, OPT_MIN_SHARE, OPT_IMAGE,
	OPT_CALLEES, OPT_INLINES, OPT_STDIO, OPT_JSON, OPT_CSV, OPT_NO_CHILDREN,
	OPT_FULL_NAMES,
};

/* What perf calls keys and each line has, and is sorted by; or has if it is asked for. */
static bool is_column(struct report *r, const char *word)
{
	if (strcmp(word, "period") == 0) {
		r->events = true;
		return true;
	}
	return strcmp(word, "overhead") == 0 || strcmp(word, "sample") == 0;
}

static int parse_keys(struct report *r, char *arg)
{
	unsigned int n = 0;

	for (char *s = strsep(&arg, ","); s; s = strsep(&arg, ",")) {
		int key = report_key(s);

		if (is_column(r, s))
			continue;
		if (!n++)
			r->nkey = 0;
		if (key < 0 || r->nkey == REPORT_KEYS)
			return msg_usage("unknown sort key '%s' (process, pid, comm, thread, image, symbol, line, address, kind or cpu)",
					 s);
		r->key[r->nkey++] = key;
	}
	return 0;
}

static int parse_format(struct report *r, const char *arg)
{
	static const char *const names[] = { "text", "json", "csv", "folded" };

	r->export = NULL;
	r->format = REPORT_TEXT;
	for (unsigned int i = 0; i < 4; i++)
		if (strcmp(arg, names[i]) == 0) {
			r->format = i;
			return 0;
		}
	r->export = export_find(arg);
	if (r->export)
		return 0;
	return msg_usage("unknown format '%s' (text, json, csv, folded, %s)", arg,
			 export_names());
}

static int parse_option(void *arg, int c)
{
	struct report *r = arg;

	switch (c) {
	case 'i':
		r->log.input = optarg;
		return 0;
	case 'o':
		r->output = optarg;
		return 0;
	case 's':
		return parse_keys(r, optarg);
	case OPT_TREE:
		r->view = REPORT_TREE;
		return 0;
	case OPT_CHILDREN:
	case OPT_NO_CHILDREN:
		r->children = c == OPT_CHILDREN;
		return 0;
	case OPT_CALLERS:
	case OPT_CALLEES:
		r->view = c == OPT_CALLERS ? REPORT_CALLERS : REPORT_CALLEES;
		r->function = optarg;
		return 0;
	case OPT_INLINES:
		r->log.o.symbols.inlines = true;
		return 0;
	case OPT_STDIO:
		r->stdio = true;
		return 0;
	case OPT_FULL_NAMES:
		r->full_names = true;
		return 0;
	case OPT_FORMAT:
		return parse_format(r, optarg);
	case OPT_JSON:
	case OPT_CSV:
		return parse_format(r, c == OPT_JSON ? "json" : "csv");
	case OPT_IMAGE:
		r->image = optarg;
		return 0;
	case OPT_MIN_SHARE:
		r->min_share_given = true;
		return logopts_percent(optarg, &r->min_share);
	default:
		return logopts_percent(optarg, &r->limit);
	}
}

/* What would be left out, and where it would go to. */
static int check_export(const struct report *r)
{
	bool folded = r->format == REPORT_FOLDED;

	if (r->limit > 0 && (r->export || folded))
		return msg_usage("--limit needs text, json or csv: %s always has all samples",
				 folded ? "folded" : r->export->name);
	if (r->min_share_given && !folded && (!r->export || !r->export->stacks))
		return msg_usage("--min-share needs flamegraph, pprof or folded");
	if (r->export && r->export->binary && isatty(STDOUT_FILENO) &&
	    (!r->output || strcmp(r->output, "-") == 0))
		return msg_usage("refusing to write %s to a terminal; use -o FILE",
				 r->export->name);
	return 0;
}

static int check_options(struct report *r, int argc, char *argv[])
{
	int err;

	if (optind < argc && r->view == REPORT_CALLERS && !r->function)
		return msg_usage("unexpected argument '%s' (for one function: --callers=FUNCTION)",
				 argv[optind]);
	err = logopts_operand(&r->log, argc, argv);
	if (!err)
		err = check_export(r);
	if (err)
		return err;
	if (r->view != REPORT_FLAT &&
	    (r->export || r->format == REPORT_FOLDED))
		return msg_usage("--tree, --callers and --callees need text, json or csv");
	if (r->children && (r->view != REPORT_FLAT || r->export ||
			    r->format == REPORT_FOLDED))
		return msg_usage("--children needs a list in text, json or csv");
	/* gmon is of one image, and says what hit others. */
	if (!r->export || strcmp(r->export->name, "gmon"))
		r->log.o.image = r->image;
	for (unsigned int i = 0; i < r->nkey; i++) {
		r->log.o.by_thread |= r->key[i] == REPORT_THREAD;
		r->log.o.by_cpu |= r->key[i] == REPORT_CPU;
		r->log.o.by_comm |= r->key[i] == REPORT_COMM;
	}
	r->log.o.by_comm |= r->format == REPORT_FOLDED;
	r->log.o.leaf_only = r->view == REPORT_FLAT && r->format != REPORT_FOLDED &&
			     !r->children;
	/* Formats of other programs have no place for it. */
	r->log.o.by_kind = !r->export && r->format != REPORT_FOLDED;
	if (r->export)
		export_options(r->export, &r->log.o);
	if (r->min_share_given)
		r->log.o.min_share = r->min_share;
	return 0;
}

static int parse_options(struct report *r, int argc, char *argv[])
{
	static const struct option options[] = {
		LOGOPTS_HELP,
		{ "input", required_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "sort", required_argument, NULL, 's' },
		{ "tree", no_argument, NULL, OPT_TREE },
		{ "children", no_argument, NULL, OPT_CHILDREN },
		{ "no-children", no_argument, NULL, OPT_NO_CHILDREN },
		{ "callers", optional_argument, NULL, OPT_CALLERS },
		{ "callees", required_argument, NULL, OPT_CALLEES },
		{ "inlines", no_argument, NULL, OPT_INLINES },
		{ "stdio", no_argument, NULL, OPT_STDIO },
		{ "full-names", no_argument, NULL, OPT_FULL_NAMES },
		{ "format", required_argument, NULL, OPT_FORMAT },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "csv", no_argument, NULL, OPT_CSV },
		{ "image", required_argument, NULL, OPT_IMAGE },
		{ "symbol", required_argument, NULL, LOGOPT_SYMBOL },
		{ "limit", required_argument, NULL, OPT_LIMIT },
		{ "min-share", required_argument, NULL, OPT_MIN_SHARE },
		{ "depth", required_argument, NULL, LOGOPT_DEPTH },
		LOGOPTS_FILTER,
		LOGOPTS_SYMBOLS,
		{ NULL, 0, NULL, 0 },
	};
	static const struct logopts_command command = {
		":i:o:s:" LOGOPTS_FILTER_SHORT LOGOPTS_SYMBOLS_SHORT, options,
		cmd_report_help, parse_option,
	};
	int status;

	*r = (struct report){
		.nkey = 2, .key = { REPORT_IMAGE, REPORT_SYMBOL },
	};
	logopts_init(&r->log);
	status = logopts_parse_all(&r->log, argc, argv, &command, r);
	if (status || r->log.help)
		return status;
	return check_options(r, argc, argv);
}

/* A log without samples is no error: say what it has. */
static void print_all(struct report *r)
{
	if (r->export) {
		export_write(r->export, r->profile, r->image, r->out.f);
		return;
	}
	report_count_kinds(r);
	if (r->format == REPORT_FOLDED)
		report_folded(r, r->out.f);
	else if (r->view == REPORT_FLAT)
		report_flat(r);
	else
		report_tree(r);
}

static int print_report(struct report *r)
{
	bool text = !r->export && r->format == REPORT_TEXT;
	int status;

	if (r->export && export_check(r->export, r->profile, r->image) < 0)
		return EXIT_FAILED;
	status = report_tree_check(r);
	if (!status)
		status = pager_open(&r->out, r->output, r->stdio || !text);
	if (status)
		return status;
	if (r->full_names)
		pager_full_names(&r->out);
	print_all(r);
	return pager_close(&r->out);
}

/* Nothing is left out in silence. */
static void tell_folded(const struct report *r)
{
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(r->profile);

	if (t->folded)
		msg("%" PRIu64 " of %" PRIu64 " samples are in [other]: in stacks with less than %g%%; --min-share 0 shows them",
		    t->folded, t->kept, r->log.o.min_share);
}

/* Formats of other programs show these chains as if they were whole. */
static void tell_short(const struct report *r)
{
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(r->profile);

	if (!t->fp_short || (!r->export && r->format == REPORT_TEXT))
		return;
	fprintf(stderr, "%s: ", msg_prog);
	missing_put_short(stderr, t->fp_chains, t->fp_short);
	fputc('\n', stderr);
}

/* Nor do they have a place for a doubt. */
static void tell_doubts(const struct report *r)
{
	if (r->export || r->format != REPORT_TEXT)
		doubts_tell(r->profile);
}

static int report_run(struct report *r)
{
	int status;

	r->profile = logopts_read(&r->log, r->log.input);
	if (!r->profile)
		return EXIT_FAILED;
	status = logopts_check_event(&r->log, &r->profile, 1);
	if (!status)
		status = print_report(r);
	if (!status) {
		tell_folded(r);
		tell_short(r);
		tell_doubts(r);
	}
	free(r->on);
	hwpmc_profile_free(r->profile);
	return status;
}

int cmd_report(int argc, char *argv[])
{
	struct report r;
	int status = parse_options(&r, argc, argv);

	if (!status && !r.log.help)
		status = report_run(&r);
	logopts_free(&r.log);
	return status;
}
