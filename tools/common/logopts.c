/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logopts.c - options that choose samples and symbols, and reading a log with a
 * line on the terminal that says how far it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpus.h"
#include "fmt.h"
#include "logopts.h"
#include "msg.h"
#include "watch.h"

void logopts_init(struct logopts *l)
{
	*l = (struct logopts){ .input = LOGOPTS_DEFAULT };
}

void logopts_free(struct logopts *l)
{
	free((void *)l->o.pids);
	free((void *)l->o.tids);
	free((void *)l->o.cpus);
}

static int parse_ids(const char *arg, const int32_t **list, uint32_t *n)
{
	char *copy = must_strdup(arg), *rest = copy;
	int32_t *ids = (int32_t *)*list;
	uint64_t id = 0;
	int status = 0;

	for (char *s = strsep(&rest, ","); s && !status;
	     s = strsep(&rest, ",")) {
		if (fmt_parse_u64(s, 0, INT32_MAX, &id) < 0)
			status = msg_usage("invalid process or thread ID '%s'", s);
		ids = must_realloc(ids, *n + 1, sizeof(*ids));
		ids[(*n)++] = id;
	}
	*list = ids;
	free(copy);
	return status;
}

static int parse_number(const char *arg, const char *what, uint64_t lo,
			uint64_t hi, uint64_t *n)
{
	if (fmt_parse_u64(arg, lo, hi, n) < 0)
		return msg_usage("invalid %s '%s'", what, arg);
	return 0;
}

static int parse_cpus(const char *arg, struct hwpmc_profile_options *o)
{
	static struct cpus list;
	int32_t *cpus;

	if (cpus_parse(arg, &list) < 0)
		return msg_usage("invalid CPU list '%s' (0,2-5)", arg);
	free((void *)o->cpus);
	cpus = must_calloc(list.n, sizeof(*cpus));
	for (unsigned int i = 0; i < list.n; i++)
		cpus[i] = list.cpu[i];
	o->cpus = cpus;
	o->ncpu = list.n;
	return 0;
}

static int parse_seconds(const char *arg, const char *text, uint64_t *ns)
{
	double seconds;
	char *end;

	*ns = 0;
	if (!*text)
		return 0;
	seconds = strtod(text, &end);
	if (*end || !(seconds >= 0 && seconds < 1e9))
		return msg_usage("invalid time '%s': expected FROM,UNTIL in seconds", arg);
	*ns = seconds * 1e9 + 0.5;
	return 0;
}

/* "12.5,13", "12.5,", ",13"; "+1,2": since the log began. */
static int parse_time(struct hwpmc_profile_options *o, const char *arg)
{
	char *copy = must_strdup(arg), *until = strchr(copy, ',');
	int err = until ? 0 : msg_usage("invalid time '%s': expected FROM,UNTIL in seconds", arg);

	o->since_boot = *arg != '+';
	if (until)
		*until++ = 0;
	if (!err)
		err = parse_seconds(arg, copy + !o->since_boot, &o->from);
	if (!err)
		err = parse_seconds(arg, until, &o->until);
	free(copy);
	if (!err && o->until && o->until <= o->from)
		return msg_usage("invalid time '%s': it ends before it begins", arg);
	return err;
}

static int parse_symbols(struct hwpmc_symbol_options *s, int c, const char *arg)
{
	switch (c) {
	case 'r':
		s->root = arg;
		return 0;
	case LOGOPT_DEBUG:
		s->debug = arg;
		return 0;
	case 'k':
		s->kernel = arg;
		return 0;
	case LOGOPT_KALLSYMS:
		s->kallsyms = arg;
		return 0;
	case LOGOPT_PERF_MAP:
		s->perf_map = arg;
		return 0;
	default:
		return 1;
	}
}

int logopts_parse(struct logopts *l, int c, const char *arg)
{
	struct hwpmc_profile_options *o = &l->o;
	uint64_t n = 0;
	int err;

	switch (c) {
	case 'e':
		o->event = arg;
		return 0;
	case 'p':
		return parse_ids(arg, &o->pids, &o->npid);
	case 't':
		return parse_ids(arg, &o->tids, &o->ntid);
	case LOGOPT_COMM:
		o->comm = arg;
		return 0;
	case LOGOPT_PROCESS:
		o->process = arg;
		return 0;
	case 'C':
		return parse_cpus(arg, o);
	case LOGOPT_TIME:
		return parse_time(o, arg);
	case LOGOPT_IMAGE:
		o->image = arg;
		return 0;
	case LOGOPT_SYMBOL:
		o->symbol = arg;
		return 0;
	case LOGOPT_DEPTH:
		err = parse_number(arg, "number of frames", 1,
				   HWPMC_LOG_DEPTH_MAX, &n);
		o->depth = n;
		return err;
	default:
		return parse_symbols(&o->symbols, c, arg);
	}
}

int logopts_percent(const char *arg, double *percent)
{
	char *end;

	*percent = strtod(arg, &end);
	if (*end || end == arg || !(*percent >= 0 && *percent <= 100))
		return msg_usage("invalid percentage '%s' (0 to 100)", arg);
	return 0;
}

int logopts_word(const char *what, const char *choices, const char *arg,
		 const char *const *words, unsigned int n, unsigned int *value)
{
	for (unsigned int i = 0; i < n; i++)
		if (strcmp(arg, words[i]) == 0) {
			*value = i;
			return 0;
		}
	return msg_usage("unknown %s '%s' (%s)", what, arg, choices);
}

int logopts_parse_output(struct logopts *l, int c, const char *arg)
{
	static const char *const formats[] = { "text", "json", "csv" };

	switch (c) {
	case 'o':
		l->output = arg;
		return 0;
	case 'l':
		return logopts_percent(arg, &l->limit);
	case LOGOPT_FORMAT:
		return logopts_word("format", "text, json or csv", arg,
				    formats, 3, &l->format);
	case LOGOPT_JSON:
		l->format = LOGOPTS_JSON;
		return 0;
	case LOGOPT_CSV:
		l->format = LOGOPTS_CSV;
		return 0;
	case LOGOPT_STDIO:
		l->stdio = true;
		return 0;
	default:
		return 1;
	}
}

int logopts_parse_all(struct logopts *l, int argc, char *argv[],
		      const struct logopts_command *command, void *arg)
{
	int c, err;

	while ((c = getopt_long(argc, argv, command->short_options,
				command->options, NULL)) != -1) {
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		l->help = c == LOGOPT_HELP;
		if (l->help) {
			fputs(command->help, stdout);
			return 0;
		}
		err = logopts_parse(l, c, optarg);
		if (err == 1)
			err = command->own(arg, c);
		if (err)
			return err;
	}
	return 0;
}

int logopts_operand(struct logopts *l, int argc, char *argv[])
{
	if (optind == argc)
		return 0;
	if (argc - optind > 1 || strcmp(l->input, LOGOPTS_DEFAULT))
		return msg_usage("unexpected argument '%s'", argv[argc - 1]);
	l->input = argv[optind];
	return 0;
}

/* ---- reading ------------------------------------------------------------- */

#define TELL_AFTER_NS	500000000ull

struct progress {
	uint64_t size;		/* of the file, 0: not known */
	uint64_t start;
	bool shown;
};

/* Of a plain log. How much a packed one holds, or one of perf record, is not known before its
 * end. */
static uint64_t size_of(const char *path)
{
	static const uint8_t zstd[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	uint8_t first[4] = { 0 };
	struct stat st = { .st_size = 0 };
	int fd;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, first, sizeof(first)) != sizeof(first) ||
	    memcmp(first, zstd, sizeof(zstd)) == 0 || memcmp(first, "PERF", 4) == 0)
		st.st_size = 0;
	close(fd);
	return st.st_size;
}

static void show_progress(uint64_t bytes, void *arg)
{
	struct progress *p = arg;

	if (watch_now() - p->start < TELL_AFTER_NS)
		return;
	p->shown = true;
	fprintf(stderr, "\r\033[Kreading the log: %" PRIu64 " MiB", bytes >> 20);
	if (p->size)
		fprintf(stderr, " of %" PRIu64, p->size >> 20);
	fflush(stderr);
}

/* 0: it is there. */
static int list_events(const char *name, struct hwpmc_profile *p, FILE *f)
{
	const struct hwpmc_profile_event *ev;
	uint32_t n;

	ev = hwpmc_profile_events(p, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (!strcmp(ev[i].name, name))
			return 0;
		fprintf(f, "%s'%s'", ftell(f) ? ", " : "", ev[i].name);
	}
	return 1;
}

int logopts_check_event(const struct logopts *l, struct hwpmc_profile *const *p,
			unsigned int n)
{
	char *names = NULL;
	size_t size;
	FILE *f = l->o.event ? open_memstream(&names, &size) : NULL;
	bool found = !f;

	for (unsigned int i = 0; i < n && !found; i++)
		found = !list_events(l->o.event, p[i], f);
	if (f)
		fclose(f);
	if (!found)
		msg("no event '%s' is in the log: it has %s", l->o.event,
		    *names ? names : "none");
	free(names);
	return found ? 0 : EXIT_FAILED;
}

struct hwpmc_input *logopts_open(const char *path)
{
	struct hwpmc_input *in;
	char err[600];

	in = hwpmc_input_open(path, err, sizeof(err));
	if (!in)
		msg("%s%s", err, errno == ENOENT && strcmp(path, LOGOPTS_DEFAULT) == 0 ?
		    "; record one with: hwpmc record COMMAND, or name one with -i" : "");
	return in;
}

struct hwpmc_profile *logopts_read(const struct logopts *l, const char *path)
{
	bool terminal = isatty(STDERR_FILENO);
	struct progress progress = { .start = watch_now() };
	struct hwpmc_profile *p = NULL;
	struct hwpmc_input *in;
	char err[600];

	if (terminal)
		progress.size = size_of(path);
	in = logopts_open(path);
	if (!in)
		return NULL;
	p = hwpmc_profile_read(in, &l->o, terminal ? show_progress : NULL, &progress, err,
			       sizeof(err));
	hwpmc_input_close(in);
	if (progress.shown)
		fputs("\r\033[K", stderr);
	if (!p)
		msg("%s", err);
	return p;
}

const char *logopts_rate(const struct hwpmc_profile_event *ev, char text[LOGOPTS_RATE])
{
	if (ev->frequency == HWPMC_LOG_OWN_PERIODS)
		snprintf(text, LOGOPTS_RATE, "samples of several periods");
	else if (ev->frequency)
		snprintf(text, LOGOPTS_RATE, "%" PRIu64 " sample%s a second", ev->frequency,
			 ev->frequency == 1 ? "" : "s");
	else
		snprintf(text, LOGOPTS_RATE, "a sample every %" PRIu64, ev->period);
	return text;
}

const char *logopts_taken(const struct hwpmc_profile_event *ev, char text[LOGOPTS_RATE])
{
	if (ev->frequency && ev->taken)
		snprintf(text, LOGOPTS_RATE, "%" PRIu64 " samples of %" PRIu64 " events",
			 ev->taken, ev->samples);
	else if (ev->frequency)
		snprintf(text, LOGOPTS_RATE, "%" PRIu64 " events", ev->samples);
	else
		snprintf(text, LOGOPTS_RATE, "%" PRIu64 " sample%s", ev->samples,
			 ev->samples == 1 ? "" : "s");
	return text;
}
