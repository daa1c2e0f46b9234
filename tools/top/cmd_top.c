/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_top.c - "hwpmc top": where events happen now, on a screen or, where standard
 * output is no terminal, as text round by round. One thread: it takes records many
 * times a second, looks for keys, and makes a round of what came every few seconds.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/msg.h"
#include "top.h"

#define STEP_NS		20000000ull

const char cmd_top_help[] =
"usage: hwpmc top [option ...] [--] [command [argument ...]]\n"
"\n"
"Sample a command, processes or whole CPUs, and show the functions that the\n"
"samples hit, every few seconds. Without a command or -p: sample all CPUs. On a\n"
"terminal, h lists the keys and q quits.\n"
"\n"
SAMPLER_HELP
"      --delay SECONDS update the screen every SECONDS (a round); default: 2\n"
"  -n ROUNDS           stop after ROUNDS updates\n"
"  -s, --sort KEY      print a line for each function, image, process, comm (name\n"
"                      of the thread), thread or kind (of core); names of hwpmc\n"
"                      report and perf also work\n"
"      --accumulate    show all samples since the start, not only the last round\n"
"      --filter TEXT   show only functions, images and processes with TEXT in the\n"
"                      name\n"
"      --batch         print text, also on a terminal\n"
"      --lines N       print N lines per round in text; default: 25\n"
LOGOPTS_SYMBOLS_HELP
"\n"
"While the screen is in use, /dev/null is input and output of the command.\n"
"Exit status: that of the command, as for hwpmc record; else 0; 125 if nothing\n"
"could be sampled; 2 for an invalid option.\n";

enum {
	OPT_HELP = 256, OPT_FILTER, OPT_BATCH, OPT_LINES,
};

struct options {
	struct top top;
	bool batch, help;
	int wait_status;		/* of the command */
};

/* ---- options ------------------------------------------------------------- */

static int parse_seconds(struct top *t, const char *arg)
{
	double seconds;
	char *end;

	seconds = strtod(arg, &end);
	if (*end || end == arg || !(seconds >= 0.1 && seconds <= 86400))
		return msg_usage("invalid number of seconds '%s' (0.1 to 86400)",
				 arg);
	t->interval_ns = seconds * 1e9;
	return 0;
}

/* What hwpmc report calls them, and perf. */
static const struct {
	const char *word;
	enum top_key key;
} other_keys[] = {
	{ "symbol", TOP_SYMBOL }, { "sym", TOP_SYMBOL }, { "dso", TOP_IMAGE },
	{ "tid", TOP_THREAD },
};

static int parse_key(struct top *t, const char *arg)
{
	for (unsigned int i = 0; i < sizeof(other_keys) / sizeof(*other_keys); i++)
		if (strcmp(arg, other_keys[i].word) == 0) {
			t->key = other_keys[i].key;
			return 0;
		}
	for (enum top_key key = 0; key < TOP_KEYS; key++)
		if (strcmp(arg, top_key_name(key)) == 0) {
			t->key = key;
			return 0;
		}
	return msg_usage("unknown sort key '%s' (function, image, process, comm, thread or kind)",
			 arg);
}

static int parse_own(struct options *o, int c)
{
	struct top *t = &o->top;

	switch (c) {
	case 'd':
		return parse_seconds(t, optarg);
	case 'n':
		return sampler_number("number of rounds", optarg, 1000000000,
				      &t->rounds);
	case 's':
		return parse_key(t, optarg);
	case 'z':
		t->accumulate = true;
		return 0;
	case OPT_FILTER:
		snprintf(t->filter, sizeof(t->filter), "%s", optarg);
		return 0;
	case OPT_LINES:
		return sampler_number("number of lines", optarg, UINT32_MAX,
				      &t->limit);
	default:
		o->batch = true;
		return 0;
	}
}

static int parse_option(struct options *o, int c)
{
	int rc = sampler_parse(&o->top.sampler, c, optarg);

	if (rc == 1)
		rc = logopts_parse(&o->top.log, c, optarg);
	return rc == 1 ? parse_own(o, c) : rc;
}

static int check_options(struct options *o)
{
	struct sampler *s = &o->top.sampler;

	if (!s->command && !s->system && !s->npid)
		s->all = true;
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		o->batch = true;
	return sampler_check(s);
}

static int parse_options(struct options *o, int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, OPT_HELP },
		SAMPLER_OPTIONS,
		{ "delay", required_argument, NULL, 'd' },
		{ "rounds", required_argument, NULL, 'n' },
		{ "sort", required_argument, NULL, 's' },
		{ "accumulate", no_argument, NULL, 'z' },
		{ "filter", required_argument, NULL, OPT_FILTER },
		{ "batch", no_argument, NULL, OPT_BATCH },
		{ "lines", required_argument, NULL, OPT_LINES },
		LOGOPTS_SYMBOLS,
		{ NULL, 0, NULL, 0 },
	};
	int c, err;

	/* "+": the command's options are its own. */
	while ((c = getopt_long(argc, argv, "+:" SAMPLER_SHORT "d:n:s:z"
				LOGOPTS_SYMBOLS_SHORT, options, NULL)) != -1) {
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		sampler_take_word(c, argv);
		o->help = c == OPT_HELP;
		if (o->help) {
			fputs(cmd_top_help, stdout);
			return 0;
		}
		err = parse_option(o, c);
		if (err)
			return err;
	}
	if (optind < argc)
		o->top.sampler.command = argv + optind;
	return check_options(o);
}

/* ---- the run ------------------------------------------------------------- */

/* false: that was the last one. */
static bool next_round(struct options *o)
{
	struct top *t = &o->top;

	top_next_round(t);
	if (o->batch)
		top_print_round(t);
	else
		top_screen_draw(t);
	return !t->broken && !ferror(stdout) &&
	       !(t->rounds && t->round >= t->rounds);
}

/* Nothing will be sampled any more. What was stays on the screen until the user
 * has seen it. */
static bool top_finish(struct options *o, struct watch *w)
{
	struct rusage usage;

	if (w->child)
		watch_reap(w, &o->wait_status, &usage);
	w->ntarget = 0;
	o->top.over = true;
	sampler_end(&o->top.sampler);
	next_round(o);
	return !o->batch;
}

/* What happened, until the next round is due. false: the end. */
static bool wait_and_take(struct options *o, struct watch *w, uint64_t next)
{
	struct top *t = &o->top;
	uint64_t step = watch_now() + (t->over ? 10 * STEP_NS : STEP_NS);
	enum watch_event e;

	e = watch_wait(w, step < next || t->over ? step : next);
	if (!t->over)
		sampler_drain(&t->sampler);
	if (!o->batch && top_screen_keys(t))
		return false;
	/* The terminal's Ctrl-C is for both, and the command is yet to end. */
	if (!o->batch && w->signal)
		return false;
	switch (e) {
	case WATCH_CHILD:
	case WATCH_TARGETS:
		return top_finish(o, w);
	case WATCH_SIGNAL:
		return false;
	default:
		return true;
	}
}

static void run_until_end(struct options *o, struct watch *w)
{
	uint64_t next = o->top.ended + o->top.interval_ns;

	while (wait_and_take(o, w, next)) {
		if (o->top.over || watch_now() < next)
			continue;
		if (!next_round(o))
			break;
		next = watch_now() + o->top.interval_ns;
	}
}

/* The terminal's Ctrl-C is for both, and either may be heard of first. */
static bool ended_with(const struct options *o, const struct watch *w)
{
	return w->signal && WIFSIGNALED(o->wait_status) &&
	       WTERMSIG(o->wait_status) == w->signal;
}

/* The command goes with its observer, as it would go with its terminal. */
static int end_command(struct options *o, struct watch *w)
{
	struct rusage usage;

	if (!o->top.sampler.command)
		return 0;
	if (w->child) {
		kill(w->child, SIGTERM);
		watch_reap(w, &o->wait_status, &usage);
		return 0;
	}
	return !o->batch && ended_with(o, w) ? 0 :
	       launch_exit_status(o->wait_status);
}

static int tell_failure(const struct options *o)
{
	if (o->top.broken) {
		msg("cannot continue: the log of the module is damaged: %s",
		    o->top.broken);
		return EXIT_STAT_FAILED;
	}
	if (ferror(stdout)) {
		watch_end_without_reader(STDOUT_FILENO);
		msg("cannot write to standard output: %s", strerror(errno));
		return EXIT_STAT_FAILED;
	}
	return 0;
}

static int run_started(struct options *o, struct watch *w, struct launch *l)
{
	char **command = o->top.sampler.command;
	int err, status;

	/* Before the command runs: what it makes drop at once is of the round. */
	o->top.began = o->top.ended = watch_now();
	o->top.dropped_ended = sampler_dropped(&o->top.sampler);
	o->top.dropped_began = o->top.dropped_ended;
	err = command ? launch_go(l) : 0;
	if (err)
		return launch_error(command[0], err);
	if (!o->batch && top_screen_open(&o->top) < 0)
		return EXIT_STAT_FAILED;
	if (!o->batch)
		w->input_fd = STDIN_FILENO;
	run_until_end(o, w);
	if (!o->batch)
		top_screen_close();
	status = end_command(o, w);
	return tell_failure(o) ?: status;
}

static int top_run(struct options *o)
{
	struct launch l = { .pid = 0, .quiet = !o->batch };
	int status = EXIT_STAT_FAILED;
	struct watch w;

	if (watch_open(&w) < 0) {
		msg("cannot watch for signals: %s", strerror(errno));
		return status;
	}
	if (top_begin(&o->top) == 0 &&
	    sampler_start(&o->top.sampler, &w, &l) == 0)
		status = run_started(o, &w, &l);
	watch_close(&w);
	return status;
}

int cmd_top(int argc, char *argv[])
{
	struct options o = { .batch = false };
	int status;

	top_init(&o.top);
	status = parse_options(&o, argc, argv);
	if (!status && !o.help)
		status = top_run(&o);
	top_free(&o.top);
	return status;
}
