/* SPDX-License-Identifier: BSD-2-Clause */
/* every.c - recordings again and again into a directory with a limit; see every.h. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "common/watch.h"
#include "every.h"
#include "logdir.h"

#define KEEP_DEFAULT	(256ull << 20)
#define KEEP_LEAST	(64ull << 10)

/* ---- options ------------------------------------------------------------- */

struct unit {
	const char *suffix;
	uint64_t factor;
};

/* A number and one of the units. */
static int parse_with_unit(const char *arg, const struct unit *unit, uint64_t *value)
{
	size_t digits = strspn(arg, "0123456789");
	char number[24];

	if (!digits || digits >= sizeof(number))
		return -1;
	memcpy(number, arg, digits);
	number[digits] = 0;
	for (; unit->suffix; unit++) {
		if (strcmp(arg + digits, unit->suffix))
			continue;
		if (fmt_parse_u64(number, 1, INT64_MAX / unit->factor, value) < 0)
			return -1;
		*value *= unit->factor;
		return 0;
	}
	return -1;
}

int every_time(const char *arg, uint64_t *ns)
{
	static const struct unit units[] = {
		{ "", 1000000000 }, { "ms", 1000000 }, { "s", 1000000000 },
		{ "m", 60000000000 }, { "h", 3600000000000 }, { NULL, 0 },
	};

	return parse_with_unit(arg, units, ns);
}

static int parse_size(const char *arg, uint64_t *bytes)
{
	static const struct unit units[] = {
		{ "", 1 }, { "K", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 },
		{ NULL, 0 },
	};

	return parse_with_unit(arg, units, bytes);
}

int every_parse(struct every *e, int c, const char *arg)
{
	if (c != EVERY_EVERY && c != EVERY_FOR && c != EVERY_KEEP)
		return 1;
	if (c == EVERY_KEEP && (parse_size(arg, &e->keep) < 0 || e->keep < KEEP_LEAST))
		return msg_usage("invalid size '%s' (64K at least; K, M, G)", arg);
	if (c != EVERY_KEEP &&
	    every_time(arg, c == EVERY_FOR ? &e->for_ns : &e->every_ns) < 0)
		return msg_usage("invalid time '%s' (500ms, 10s, 5m, 1h)", arg);
	return 0;
}

int every_check(const struct every *e, bool command)
{
	if (!e->every_ns && (e->for_ns || e->keep))
		return msg_usage("--for and --keep need --every");
	if (!e->every_ns)
		return 0;
	if (command)
		return msg_usage("--every needs -a, -C or -p, and no command");
	if ((e->for_ns ? e->for_ns : EVERY_FOR_DEFAULT) >= e->every_ns)
		return msg_usage("the time of --for must be less than that of --every");
	return 0;
}

/* ---- one recording ------------------------------------------------------- */

struct round {
	const struct every *e;
	struct logdir logs;
	struct watch watch;
	uint64_t most;		/* bytes that one log may have */
	const struct every_part *part;
};

static void child(struct round *r, const char *path)
{
	struct rlimit limit = { r->most, r->most };

	watch_close(&r->watch);
	/* A write beyond it fails with EFBIG, which the recorder says. */
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	exit(r->part->once(r->part->arg, path));
}

/* The pid, or -1 after a message. */
static pid_t start(struct round *r, uint64_t number)
{
	char name[LOGDIR_NAME], *path = NULL;
	pid_t pid;

	if (asprintf(&path, "%s/%s", r->logs.path, logdir_name(name, number)) < 0)
		must_fail();
	fflush(NULL);
	pid = fork();
	if (!pid)
		child(r, path);
	free(path);
	if (pid < 0)
		msg("cannot start a recording: %s", strerror(errno));
	return pid;
}

static void say_dropped(const struct round *r, unsigned int n)
{
	if (n)
		msg("dropped the %u oldest logs in '%s', which exceeded --keep",
		    n, r->logs.path);
}

/* Has it left a log? */
static bool record_once(struct round *r)
{
	struct watch *w = &r->watch;
	struct rusage usage;
	uint64_t number;
	int status = 0;
	pid_t pid;

	say_dropped(r, logdir_trim(&r->logs, r->e->keep - r->most));
	number = logdir_next(&r->logs);
	if (!number) {
		msg("cannot write '%s/account': %s", r->logs.path, strerror(errno));
		return false;
	}
	r->part->before(r->part->arg);
	pid = start(r, number);
	if (pid > 0 && watch_child(w, pid) < 0) {
		kill(pid, SIGTERM);
		w->child = pid;
	}
	if (pid > 0) {
		while (w->child_fd >= 0 && watch_wait(w, 0) != WATCH_CHILD)
			;
		watch_reap(w, &status, &usage);
	}
	return logdir_ended(&r->logs, number);
}

/* Ends with a signal, or when the time of all is up. */
static bool wait_for_next(struct round *r, uint64_t next, uint64_t end)
{
	uint64_t until = end && end < next ? end : next;

	if (!r->watch.signal && watch_wait(&r->watch, until) == WATCH_TIME)
		return !end || next < end;
	return false;
}

/*
 * Times are multiples of --every from the first one; what a slow machine has missed is
 * left out. A recording that fails is told by its child, and the next one is tried all the
 * same; if the first one leaves no log, that ends all, because nothing was right yet.
 */
static int run_rounds(struct round *r)
{
	uint64_t start_ns = watch_now(), next = start_ns;
	uint64_t end = r->e->duration_ns ? start_ns + r->e->duration_ns : 0;
	bool first = true;

	do {
		if (!record_once(r) && first && !r->watch.signal)
			return EXIT_STAT_FAILED;
		first = false;
		while (next <= watch_now())
			next += r->e->every_ns;
	} while (wait_for_next(r, next, end));
	say_dropped(r, logdir_trim(&r->logs, r->e->keep));
	return 0;
}

int every_run(const struct every *e, const struct every_part *part)
{
	struct every own = *e;
	struct round r = { .e = &own, .part = part };
	int status = EXIT_STAT_FAILED;
	char err[600];

	own.keep = e->keep ? e->keep : KEEP_DEFAULT;
	r.most = own.keep / 4;
	if (logdir_open(&r.logs, e->directory, true, err, sizeof(err)) < 0) {
		msg("%s", err);
		return status;
	}
	if (!logdir_begin(&r.logs))
		msg("cannot record into '%s': another hwpmc record --every writes there", e->directory);
	else if (watch_open(&r.watch) < 0)
		msg("cannot watch for signals: %s", strerror(errno));
	else {
		status = run_rounds(&r);
		watch_close(&r.watch);
	}
	logdir_close(&r.logs);
	return status;
}
