/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * run.c - one measurement: allocate all, attach, start, print at each
 * interval, and end with the command, the last target, the time limit or a
 * signal.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "common/usermode.h"
#include "common/watch.h"
#include "pmcstat.h"
#include "record/launch.h"

static int run_refused(const struct pmcstat *ps)
{
	msg("%s", hwpmc_error(ps->h));
	return -1;
}

static enum hwpmc_mode mode_of(const struct pmcstat_event *ev)
{
	if (ev->system)
		return ev->sampling ? HWPMC_MODE_SS : HWPMC_MODE_SC;
	return ev->sampling ? HWPMC_MODE_TS : HWPMC_MODE_TC;
}

static int allocate_all(struct pmcstat *ps)
{
	/* A command alone counts from its exec on; a process that runs
	 * already may never exec again.
	 */
	uint32_t exec = ps->command && !ps->npid ? HWPMC_F_EXEC_START : 0;
	bool replaced = false;

	for (unsigned int i = 0; i < ps->nevent; i++) {
		struct pmcstat_event *ev = &ps->event[i];
		struct usermode_request r = {
			.mode = mode_of(ev),
			.flags = ev->flags | (ev->system ? 0 : exec),
			.cpu = ev->cpu,
			.count = ev->rate,
		};

		if (usermode_allocate(ps->h, &ev->spec, &r, &ev->id,
				      &replaced) < 0)
			return run_refused(ps);
		if (ps->verbose)
			msg("%s %s in row %u", ev->spec,
			    ev->sampling ? "samples" : "counts",
			    HWPMC_ID_ROW(ev->id));
	}
	if (replaced && !ps->quiet)
		msg(USERMODE_NOTE);
	pmcstat_set_widths(ps);
	return 0;
}

static int attach_all(struct pmcstat *ps, pid_t pid)
{
	for (unsigned int i = 0; i < ps->nevent; i++)
		if (!ps->event[i].system &&
		    hwpmc_attach(ps->h, ps->event[i].id, pid) < 0)
			return run_refused(ps);
	if (ps->verbose)
		msg("attached to process %d", pid);
	return 0;
}

static int start_all(struct pmcstat *ps)
{
	for (unsigned int i = 0; i < ps->nevent; i++)
		if (hwpmc_start(ps->h, ps->event[i].id) < 0)
			return run_refused(ps);
	return 0;
}

static int read_all(struct pmcstat *ps)
{
	for (unsigned int i = 0; i < ps->nevent; i++) {
		struct pmcstat_event *ev = &ps->event[i];

		if (ev->sampling || hwpmc_read(ps->h, ev->id, &ev->value) == 0)
			continue;
		if (hwpmc_reason(ps->h) != HWPMC_WHY_INCOMPLETE)
			return run_refused(ps);
		ev->incomplete = true;
	}
	return 0;
}

static int stop_all(struct pmcstat *ps)
{
	for (unsigned int i = 0; i < ps->nevent; i++)
		if (hwpmc_stop(ps->h, ps->event[i].id) < 0)
			return run_refused(ps);
	return 0;
}

static int attach_targets(struct pmcstat *ps, struct watch *w)
{
	for (unsigned int i = 0; i < ps->npid; i++) {
		if (watch_target(w, ps->pid[i]) < 0) {
			msg("cannot attach to process %d: %s", ps->pid[i],
			    strerror(errno));
			return -1;
		}
		if (attach_all(ps, ps->pid[i]) < 0)
			return -1;
	}
	return 0;
}

static int prepare_target(struct pmcstat *ps, struct watch *w, struct launch *l)
{
	if (allocate_all(ps) < 0 || pmcstat_log_notes(ps) < 0)
		return -1;
	if (ps->command && launch_prepare(l, ps->command) < 0) {
		msg("cannot start '%s': %s", ps->command[0], strerror(errno));
		return -1;
	}
	if (ps->command && watch_child(w, l->pid) < 0) {
		msg("cannot watch process %d: %s", l->pid, strerror(errno));
		goto err_launch;
	}
	if ((ps->command && attach_all(ps, l->pid) < 0) ||
	    attach_targets(ps, w) < 0 || start_all(ps) < 0)
		goto err_launch;
	return 0;

err_launch:
	if (ps->command)
		launch_cancel(l);
	return -1;
}

/* The next moment to wake: an interval's end or the time limit; 0: none. */
static uint64_t next_deadline(const struct pmcstat *ps, uint64_t start,
			      uint64_t tick)
{
	uint64_t end = start + ps->limit_ns;

	if (!ps->ncounting)
		return ps->limit_ns ? end : 0;
	return ps->limit_ns && end < tick ? end : tick;
}

static int show_counts(struct pmcstat *ps)
{
	if (!ps->ncounting)
		return 0;
	if (read_all(ps) < 0)
		return -1;
	pmcstat_print_counts(ps);
	return 0;
}

/* Until the end; -1 when a count could not be read. */
static int count_until_end(struct pmcstat *ps, struct watch *w)
{
	uint64_t start = watch_now(), tick = start + ps->interval_ns;

	w->device_fd = hwpmc_fd(ps->h);
	while (watch_wait(w, next_deadline(ps, start, tick)) == WATCH_TIME) {
		uint64_t now = watch_now();

		if (ps->limit_ns && now - start >= ps->limit_ns)
			break;
		if (show_counts(ps) < 0)
			return -1;
		while (tick <= now)
			tick += ps->interval_ns;
	}
	return stop_all(ps) < 0 || show_counts(ps) < 0 ? -1 : 0;
}

static int show_until_end(struct pmcstat *ps, struct watch *w)
{
	pmcstat_top_run(ps, w);
	return stop_all(ps);
}

static void warn_incomplete(const struct pmcstat *ps)
{
	for (unsigned int i = 0; i < ps->nevent; i++)
		if (ps->event[i].incomplete && !ps->quiet)
			msg("the count of %s is too low: the kernel had no "
			    "memory to follow some new thread or process",
			    ps->event[i].spec);
}

static int run_prepared(struct pmcstat *ps, struct watch *w, struct launch *l)
{
	int err = ps->command ? launch_go(l) : 0;

	if (err)
		return launch_error(ps->command[0], err);
	ps->started = true;
	err = ps->top ? show_until_end(ps, w) : count_until_end(ps, w);
	/* Only a limit or an error leaves the command running. */
	if (w->child)
		kill(w->child, SIGINT);
	warn_incomplete(ps);
	return err < 0 ? EXIT_FAILED : 0;
}

int pmcstat_run(struct pmcstat *ps)
{
	struct launch l = { .pid = 0 };
	int status = EXIT_FAILED;
	struct watch w;

	if (watch_open(&w) < 0) {
		msg("cannot watch for signals: %s", strerror(errno));
		return EXIT_FAILED;
	}
	if (ps->logging)
		watch_log(&w);
	if (ps->views.top)
		pmcstat_top_begin(ps, true);
	if (pmcstat_log_begin(ps) == 0 && prepare_target(ps, &w, &l) == 0)
		status = run_prepared(ps, &w, &l);
	/* The reader of the log may have stopped reading: an interrupt ends the wait. */
	watch_let_die();
	if (pmcstat_log_end(ps) < 0 && !status)
		status = EXIT_FAILED;
	if (ps->top && pmcstat_top_end(ps) && !status)
		status = EXIT_FAILED;
	watch_close(&w);
	return status;
}
