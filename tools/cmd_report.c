/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_report.c - "hwpmc report": where the samples of a log are. Every count that is
 * printed adds up to the samples of the log: what is not known is a line too.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <libhwpmcstat.h>

#include "fmt.h"
#include "hwpmc.h"
#include "msg.h"
#include "report.h"

const char cmd_report_help[] =
"usage: hwpmc report [option ...]\n"
"\n"
"Show where the samples of a log are, as hwpmc record wrote it.\n"
"\n"
"  -i FILE             the log; default: hwpmc.log; - is standard input\n"
"  -s, --sort KEYS     a line for each process, pid, thread, image, symbol, or\n"
"                      several of them; default: image,symbol\n"
"      --tree          call tree, callers above callees\n"
"      --callers       the same upside down: under each function who called it\n"
"      --format FORMAT text, json, csv, or folded (a line a stack, for flame\n"
"                      graphs)\n"
"  -e EVENT            samples of this event only\n"
"  -p PIDS             of these processes; -t TIDS: of these threads\n"
"      --comm NAME     of processes with this name\n"
"      --cpu CPU       of this CPU\n"
"      --limit PERCENT leave out what has less; its sum is a line\n"
"      --depth N       the innermost N frames of chains only\n"
"      --root DIR      look for programs and libraries under this directory\n"
"      --debug DIRS    look for separate debug files there: dir:dir\n"
"      --kallsyms FILE symbols of the kernel; default: /proc/kallsyms\n"
"      --perf-map DIR  perf-PID.map files of generated code; default: /tmp\n"
"  -o FILE             print there\n"
"\n"
"Exit status: 0; 1 when the log cannot be read; 2 for a wrong option.\n";

enum {
	OPT_HELP = 256, OPT_TREE, OPT_CALLERS, OPT_FORMAT, OPT_COMM, OPT_CPU,
	OPT_LIMIT, OPT_DEPTH, OPT_ROOT, OPT_DEBUG, OPT_KALLSYMS, OPT_PERF_MAP,
};

static int parse_ids(char *arg, int32_t **list, uint32_t *n)
{
	uint64_t id;

	for (char *s = strsep(&arg, ","); s; s = strsep(&arg, ",")) {
		if (fmt_parse_u64(s, 0, INT32_MAX, &id) < 0)
			return msg_usage("'%s' is no process or thread id", s);
		*list = must_realloc(*list, *n + 1, sizeof(**list));
		(*list)[(*n)++] = id;
	}
	return 0;
}

static int parse_keys(struct report *r, char *arg)
{
	r->nkey = 0;
	for (char *s = strsep(&arg, ","); s; s = strsep(&arg, ",")) {
		int key = report_key(s);

		if (key < 0 || r->nkey == REPORT_KEYS)
			return msg_usage("'%s' is no key to sort by: process, pid, thread, image or symbol",
					 s);
		r->key[r->nkey++] = key;
	}
	return 0;
}

static int parse_format(struct report *r, const char *arg)
{
	static const char *const names[] = { "text", "json", "csv", "folded" };

	for (unsigned int i = 0; i < 4; i++)
		if (strcmp(arg, names[i]) == 0) {
			r->format = i;
			return 0;
		}
	return msg_usage("'%s' is no format: text, json, csv or folded", arg);
}

static int parse_limit(struct report *r, const char *arg)
{
	char *end;

	r->limit = strtod(arg, &end);
	if (*end || end == arg || !(r->limit >= 0 && r->limit <= 100))
		return msg_usage("'%s' is no percentage", arg);
	return 0;
}

static int parse_filter(struct report *r, int c)
{
	struct hwpmc_profile_options *o = &r->o;
	uint64_t n;

	switch (c) {
	case 'e':
		o->event = optarg;
		return 0;
	case 'p':
		return parse_ids(optarg, (int32_t **)&o->pids, &o->npid);
	case 't':
		return parse_ids(optarg, (int32_t **)&o->tids, &o->ntid);
	case OPT_COMM:
		o->comm = optarg;
		return 0;
	case OPT_CPU:
		if (fmt_parse_u64(optarg, 0, 4095, &n) < 0)
			return msg_usage("'%s' is no CPU", optarg);
		o->cpu = n;
		return 0;
	default:
		if (fmt_parse_u64(optarg, 1, HWPMC_LOG_DEPTH_MAX, &n) < 0)
			return msg_usage("'%s' is no number of frames", optarg);
		o->depth = n;
		return 0;
	}
}

static int parse_option(struct report *r, int c)
{
	struct hwpmc_symbol_options *s = &r->o.symbols;

	switch (c) {
	case 'i':
		r->input = optarg;
		return 0;
	case 'o':
		r->output = optarg;
		return 0;
	case 's':
		return parse_keys(r, optarg);
	case OPT_TREE:
		r->view = REPORT_TREE;
		return 0;
	case OPT_CALLERS:
		r->view = REPORT_CALLERS;
		return 0;
	case OPT_FORMAT:
		return parse_format(r, optarg);
	case OPT_LIMIT:
		return parse_limit(r, optarg);
	case OPT_ROOT:
		s->root = optarg;
		return 0;
	case OPT_DEBUG:
		s->debug = optarg;
		return 0;
	case OPT_KALLSYMS:
		s->kallsyms = optarg;
		return 0;
	case OPT_PERF_MAP:
		s->perf_map = optarg;
		return 0;
	default:
		return parse_filter(r, c);
	}
}

static int check_options(struct report *r, int argc, char *argv[])
{
	if (optind < argc)
		return msg_usage("'%s' is one argument too many", argv[optind]);
	if (r->view != REPORT_FLAT && r->format != REPORT_TEXT)
		return msg_usage("--tree and --callers are text");
	for (unsigned int i = 0; i < r->nkey; i++)
		r->o.by_thread |= r->key[i] == REPORT_THREAD;
	r->o.leaf_only = r->view == REPORT_FLAT && r->format != REPORT_FOLDED;
	return 0;
}

static int parse(struct report *r, int argc, char *argv[], bool *help)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, OPT_HELP },
		{ "input", required_argument, NULL, 'i' },
		{ "output", required_argument, NULL, 'o' },
		{ "sort", required_argument, NULL, 's' },
		{ "tree", no_argument, NULL, OPT_TREE },
		{ "callers", no_argument, NULL, OPT_CALLERS },
		{ "format", required_argument, NULL, OPT_FORMAT },
		{ "event", required_argument, NULL, 'e' },
		{ "pid", required_argument, NULL, 'p' },
		{ "tid", required_argument, NULL, 't' },
		{ "comm", required_argument, NULL, OPT_COMM },
		{ "cpu", required_argument, NULL, OPT_CPU },
		{ "limit", required_argument, NULL, OPT_LIMIT },
		{ "depth", required_argument, NULL, OPT_DEPTH },
		{ "root", required_argument, NULL, OPT_ROOT },
		{ "debug", required_argument, NULL, OPT_DEBUG },
		{ "kallsyms", required_argument, NULL, OPT_KALLSYMS },
		{ "perf-map", required_argument, NULL, OPT_PERF_MAP },
		{ NULL, 0, NULL, 0 },
	};
	int c, err;

	*r = (struct report){
		.input = "hwpmc.log", .o = { .cpu = -1 }, .nkey = 2,
		.key = { REPORT_IMAGE, REPORT_SYMBOL },
	};
	while ((c = getopt_long(argc, argv, ":i:o:s:e:p:t:", options,
				NULL)) != -1) {
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		*help = c == OPT_HELP;
		if (*help) {
			fputs(cmd_report_help, stdout);
			return 0;
		}
		err = parse_option(r, c);
		if (err)
			return err;
	}
	return check_options(r, argc, argv);
}

/* A log without samples is no error: say what it has. */
static void print_all(struct report *r, FILE *f)
{
	if (r->format == REPORT_FOLDED)
		report_folded(r, f);
	else if (r->view == REPORT_FLAT)
		report_flat(r, f);
	else
		report_tree(r, f);
}

static int print(struct report *r)
{
	FILE *f = stdout;
	int bad;

	if (r->output && strcmp(r->output, "-"))
		f = fopen(r->output, "we");
	if (!f) {
		msg("cannot write '%s': %s", r->output, strerror(errno));
		return EXIT_FAILED;
	}
	print_all(r, f);
	bad = fflush(f) || ferror(f);
	if (f != stdout)
		bad |= fclose(f);
	if (!bad)
		return 0;
	msg("cannot write the report: %s", strerror(errno));
	return EXIT_FAILED;
}

static int run(struct report *r)
{
	struct hwpmc_input *in;
	char err[600];
	int status;

	in = hwpmc_input_open(r->input, err, sizeof(err));
	if (in)
		r->profile = hwpmc_profile_read(in, &r->o, NULL, NULL, err,
						sizeof(err));
	hwpmc_input_close(in);
	if (!r->profile) {
		msg("%s", err);
		return EXIT_FAILED;
	}
	status = print(r);
	hwpmc_profile_free(r->profile);
	return status;
}

int cmd_report(int argc, char *argv[])
{
	struct report r;
	bool help = false;
	int status = parse(&r, argc, argv, &help);

	if (!status && !help)
		status = run(&r);
	free((void *)r.o.pids);
	free((void *)r.o.tids);
	return status;
}
