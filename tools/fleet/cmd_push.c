/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_push.c - "hwpmc push": profiles of the logs in a directory, to a receiver of pprof. A log
 * is removed when the receiver has said that it has its profile, not before; so what the
 * receiver cannot take now is kept on disk, as long as its limit allows.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "common/commands.h"
#include "common/fmt.h"
#include "common/logopts.h"
#include "common/msg.h"
#include "common/watch.h"
#include "export/export.h"
#include "prom.h"
#include "push.h"
#include "record/logdir.h"

#define LABELS_MAX	16
#define SECOND_NS	1000000000ull
#define RETRY_MOST	60		/* seconds */
#define LOOK_SECONDS	60		/* at the directory, without a word from the kernel */

const char cmd_push_help[] =
"usage: hwpmc push --url URL [option ...]\n"
"\n"
"Send the logs of hwpmc record --every as pprof profiles to a server. Remove each\n"
"log when the server has accepted its profile. If the server cannot be reached,\n"
"keep the logs and try again.\n"
"\n"
"      --url URL       send to this server: http://host:4040 or https://…\n"
"      --to PROTOCOL   use pyroscope (push.v1, the default), pyroscope-ingest or\n"
"                      parca\n"
"  -i DIR              read logs from DIR; default: hwpmc.logs\n"
"      --once          send the logs of DIR once and exit\n"
"      --service NAME  use this service name; default: hwpmc\n"
"      --label K=V     add this label; repeatable; hostname is always added\n"
"      --headers FILE  add these request headers: X-Scope-OrgID, Authorization\n"
"      --ca FILE       trust the certificate authorities in FILE\n"
"      --textfile FILE what became of the logs, for node_exporter\n"
LOGOPTS_SYMBOLS_HELP
"\n"
"Exit status: 0; 1 when it cannot push, with --once also when logs remain; 2 for\n"
"a wrong option.\n";

enum {
	OPT_URL = 900, OPT_TO, OPT_ONCE, OPT_SERVICE, OPT_LABEL, OPT_HEADERS, OPT_CA,
	OPT_TEXTFILE,
};

/* A profile that is being pushed; kept while that is tried again. */
struct ready {
	uint64_t number;	/* of its log; 0: none */
	char *pprof;
	size_t len;
	uint64_t first, last;
};

struct push {
	struct logopts log;
	struct http_options http_options;
	unsigned int protocol;	/* enum push_protocol */
	bool once;
	const char *service, *textfile;
	struct push_label label[LABELS_MAX];
	unsigned int nlabel;
	char host[65];
	struct http *http;
	struct logdir logs;
	struct watch watch;
	struct ready ready;
	unsigned int tries;	/* without an answer since the last one that was good */
};

/* ---- options ------------------------------------------------------------- */

static int parse_label(struct push *p, char *arg)
{
	char *value = strchr(arg, '=');

	/* The argument is this process's own text. */
	if (value)
		*value = 0;
	if (!value || !value[1] || push_label_check(arg) < 0)
		return msg_usage("invalid label '%s' (name=value; names are letters, digits and _)",
				 arg);
	if (p->nlabel == LABELS_MAX)
		return msg_usage("more than %d labels", LABELS_MAX - 1);
	p->label[p->nlabel++] = (struct push_label){ arg, value + 1 };
	return 0;
}

static int parse_service(struct push *p, const char *arg)
{
	for (const char *c = arg; *c; c++)
		if (!strchr("-_./", *c) && !((*c | 32) >= 'a' && (*c | 32) <= 'z') &&
		    !(*c >= '0' && *c <= '9'))
			return msg_usage("invalid name '%s' (letters, digits, - _ . /)", arg);
	p->service = arg;
	return *arg ? 0 : msg_usage("the name of --service is empty: give a name");
}

static int parse_option(void *arg, int c)
{
	static const char *const protocols[] = {
		"pyroscope", "pyroscope-ingest", "parca",
	};
	struct push *p = arg;

	switch (c) {
	case OPT_URL:
		p->http_options.url = optarg;
		return 0;
	case OPT_TO:
		return logopts_word("protocol", "pyroscope, pyroscope-ingest or parca",
				    optarg, protocols, 3, &p->protocol);
	case OPT_ONCE:
		p->once = true;
		return 0;
	case OPT_SERVICE:
		return parse_service(p, optarg);
	case OPT_LABEL:
		return parse_label(p, optarg);
	case OPT_HEADERS:
		p->http_options.headers = optarg;
		return 0;
	case OPT_CA:
		p->http_options.ca = optarg;
		return 0;
	case OPT_TEXTFILE:
		p->textfile = optarg;
		return 0;
	default:
		p->log.input = optarg;
		return 0;
	}
}

static int check_options(const struct push *p, int argc, char *argv[])
{
	const char *url = p->http_options.url;

	if (optind < argc)
		return msg_usage("unexpected argument '%s'", argv[optind]);
	if (!url)
		return msg_usage("--url is required, e.g. http://host:4040");
	if (strncmp(url, "http://", 7) && strncmp(url, "https://", 8))
		return msg_usage("invalid URL '%s' (http:// or https://)", url);
	if (strpbrk(url, "?#"))
		return msg_usage("invalid URL '%s': it must not contain '?' or '#'",
				 url);
	return 0;
}

static int parse_options(struct push *p, int argc, char *argv[])
{
	static const struct option options[] = {
		LOGOPTS_HELP,
		{ "input", required_argument, NULL, 'i' },
		{ "url", required_argument, NULL, OPT_URL },
		{ "to", required_argument, NULL, OPT_TO },
		{ "once", no_argument, NULL, OPT_ONCE },
		{ "service", required_argument, NULL, OPT_SERVICE },
		{ "label", required_argument, NULL, OPT_LABEL },
		{ "headers", required_argument, NULL, OPT_HEADERS },
		{ "ca", required_argument, NULL, OPT_CA },
		{ "textfile", required_argument, NULL, OPT_TEXTFILE },
		LOGOPTS_SYMBOLS,
		{ NULL, 0, NULL, 0 },
	};
	static const struct logopts_command command = {
		":i:" LOGOPTS_SYMBOLS_SHORT, options, cmd_push_help, parse_option,
	};
	int status;

	*p = (struct push){ .service = "hwpmc" };
	logopts_init(&p->log);
	p->log.input = "hwpmc.logs";
	gethostname(p->host, sizeof(p->host) - 1);
	p->label[p->nlabel++] = (struct push_label){ "hostname", p->host };
	status = logopts_parse_all(&p->log, argc, argv, &command, p);
	return status || p->log.help ? status : check_options(p, argc, argv);
}

/* ---- from a log to a profile --------------------------------------------- */

static void forget_ready(struct ready *r)
{
	free(r->pprof);
	*r = (struct ready){ .number = 0 };
}

/* Said in each profile, so that all of them together tell what is missing. */
static void put_account(struct push *p, uint64_t number, char *text, size_t size)
{
	struct logdir_account a = { { 0 } };
	uint64_t waiting, bytes;

	logdir_read(&p->logs, &a, &waiting, &bytes);
	snprintf(text, size, "recording %" PRIu64 " of %s; so far %" PRIu64
		 " logs were dropped, %" PRIu64 " refused, %" PRIu64 " empty, and %" PRIu64
		 " recordings failed", number, p->host, a.n[LOGDIR_DROPPED],
		 a.n[LOGDIR_REFUSED], a.n[LOGDIR_EMPTY], a.n[LOGDIR_FAILED]);
}

static void write_pprof(struct push *p, struct hwpmc_profile *profile, uint64_t number)
{
	struct export x = export_of(profile, NULL);
	struct ready *r = &p->ready;
	char comment[400];
	FILE *f;

	put_account(p, number, comment, sizeof(comment));
	x.comment = comment;
	f = open_memstream(&r->pprof, &r->len);
	if (!f)
		must_fail();
	export_pprof(&x, f);
	if (fclose(f))
		must_fail();
	r->number = number;
	r->first = x.totals->first;
	r->last = x.totals->last;
}

static struct hwpmc_profile *read_log(struct push *p, int fd, char *err, size_t size)
{
	struct hwpmc_input *in = hwpmc_input_fd(fd, err, size);
	struct hwpmc_profile *profile = NULL;

	if (in)
		profile = hwpmc_profile_read(in, &p->log.o, NULL, NULL, err, size);
	hwpmc_input_close(in);
	return profile;
}

/* LOGDIR_PUSHED: to be pushed; or what else becomes of it. */
static enum logdir_key make_ready(struct push *p, int fd, uint64_t number)
{
	struct hwpmc_profile *profile;
	enum logdir_key what;
	char err[600] = "no memory";
	struct export x;

	if (p->ready.number == number)
		return LOGDIR_PUSHED;
	forget_ready(&p->ready);
	profile = read_log(p, fd, err, sizeof(err));
	if (!profile) {
		msg("log %" PRIu64 " of '%s' is not pushed: %s", number, p->logs.path, err);
		return LOGDIR_REFUSED;
	}
	x = export_of(profile, NULL);
	what = x.totals->kept ? LOGDIR_PUSHED : LOGDIR_EMPTY;
	if (what == LOGDIR_PUSHED && export_pprof_check(&x) < 0)
		what = LOGDIR_REFUSED;
	if (what == LOGDIR_PUSHED)
		write_pprof(p, profile, number);
	hwpmc_profile_free(profile);
	return what;
}

/* ---- pushing ------------------------------------------------------------- */

static void post(struct push *p, struct http_answer *answer)
{
	const struct ready *r = &p->ready;
	struct push_body body;
	char id[160];
	struct push_profile profile = {
		.service = p->service, .label = p->label, .nlabel = p->nlabel, .id = id,
		.first = r->first, .last = r->last, .pprof = r->pprof, .len = r->len,
	};

	snprintf(id, sizeof(id), "%s-%" PRIu64 "-%" PRIu64, p->host, r->number, r->first);
	push_body(p->protocol, &profile, &body);
	http_post(p->http, &body, answer);
	push_body_free(&body);
}

/*
 * Will it never be taken as it is? What says that the server, the way to it or a password
 * is wrong says nothing of the profile: it is kept.
 */
static bool is_final(long status)
{
	return status == 400 || status == 413 || status == 415 || status == 422;
}

static bool is_good(long status)
{
	return status >= 200 && status < 300;
}

static void say_waiting(struct push *p, const struct http_answer *a)
{
	uint64_t waiting = 0, bytes = 0;
	struct logdir_account account;

	if (p->tries++)
		return;
	logdir_read(&p->logs, &account, &waiting, &bytes);
	msg("cannot push to %s: %s; %" PRIu64 " logs wait in '%s'; trying again",
	    p->http_options.url, a->why, waiting, p->logs.path);
}

static void say_again(struct push *p)
{
	if (p->tries)
		msg("%s accepts profiles again, after %u tries", p->http_options.url, p->tries);
	p->tries = 0;
}

/* One log. 0: it is done with; else the number of seconds after which to try again. */
static unsigned int push_one(struct push *p, int fd, uint64_t number)
{
	enum logdir_key what = make_ready(p, fd, number);
	struct http_answer answer;
	unsigned int wait;

	if (what == LOGDIR_PUSHED) {
		post(p, &answer);
		if (is_final(answer.status)) {
			msg("%s refused the profile of log %" PRIu64 ": %s",
			    p->http_options.url, number, answer.why);
			what = LOGDIR_REFUSED;
		} else if (!is_good(answer.status)) {
			wait = p->tries < 6 ? 1u << p->tries : RETRY_MOST;
			say_waiting(p, &answer);
			return answer.retry_after ? answer.retry_after : wait;
		}
		say_again(p);
	}
	logdir_done(&p->logs, number, what);
	forget_ready(&p->ready);
	return 0;
}

/* All that is there, oldest first. 0, or seconds as above. */
static unsigned int push_all(struct push *p)
{
	uint64_t number = 0;
	unsigned int wait = 0;
	int fd;

	while (!wait && (fd = logdir_take(&p->logs, number, &number)) >= 0) {
		wait = push_one(p, fd, number);
		/* Unlocked while it waits: then it may be dropped. */
		close(fd);
	}
	return wait;
}

static void write_textfile(struct push *p)
{
	struct prom out;

	if (!p->textfile)
		return;
	if (prom_begin(&out, p->textfile) == 0) {
		prom_logdir(out.f, &p->logs);
		if (prom_end(&out) == 0)
			return;
	}
	msg("cannot write '%s': %s", p->textfile, strerror(errno));
}

/* Until the time, or a new log where new ones matter. True: a signal asks for the end. */
static bool wait_for(struct push *p, unsigned int seconds, bool new_logs)
{
	uint64_t until = watch_now() + seconds * SECOND_NS;
	enum watch_event event;
	char events[4096];

	do {
		event = watch_wait(&p->watch, until);
		/* How many logs came is of no interest. */
		if (event == WATCH_INPUT)
			while (read(p->watch.input_fd, events, sizeof(events)) > 0)
				;
	} while (event == WATCH_INPUT && !new_logs);
	return event == WATCH_SIGNAL;
}

static int push_until_signal(struct push *p)
{
	unsigned int wait;

	do {
		wait = push_all(p);
		write_textfile(p);
		if (p->once)
			return wait ? EXIT_FAILED : 0;
		/* A new log is no reason to ask a server before its time. */
	} while (!wait_for(p, wait ? wait : LOOK_SECONDS, !wait));
	return 0;
}

static int push_run(struct push *p)
{
	int status = EXIT_FAILED;
	char err[600];

	if (logdir_open(&p->logs, p->log.input, false, err, sizeof(err)) < 0) {
		msg("%s; create it by hwpmc record --every", err);
		return status;
	}
	if (watch_open(&p->watch) < 0) {
		msg("cannot watch for signals: %s", strerror(errno));
		logdir_close(&p->logs);
		return status;
	}
	p->watch.input_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (p->watch.input_fd >= 0)
		inotify_add_watch(p->watch.input_fd, p->log.input, IN_MOVED_TO);
	p->http_options.stop_fd = p->watch.signal_fd;
	p->http = http_open(&p->http_options);
	if (p->http)
		status = push_until_signal(p);
	http_close(p->http);
	if (p->watch.input_fd >= 0)
		close(p->watch.input_fd);
	watch_close(&p->watch);
	forget_ready(&p->ready);
	logdir_close(&p->logs);
	return status;
}

int cmd_push(int argc, char *argv[])
{
	struct push p;
	int status = parse_options(&p, argc, argv);

	if (!status && !p.log.help) {
		export_options(export_find("pprof"), &p.log.o);
		status = push_run(&p);
	}
	logopts_free(&p.log);
	return status;
}
