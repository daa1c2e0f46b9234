/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log.c - the log of a pmcstat that runs. The kernel writes it, to a file, a
 * connection, a pipe from which a thread takes it back to print it, or, where views
 * are made of it in the end, a file that has no name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/output.h"
#include "pmcstat.h"
#include "record/net.h"
#include "record/note.h"

/* Close the pipe where reading ends, even by an error: else its writer would block. */
static void *read_back(void *arg)
{
	struct pmcstat *ps = arg;

	ps->read_status = ps->top ?
			  pmcstat_top_feed(ps, ps->back_fd, "log") :
			  pmcstat_print_log(ps, ps->back_fd, "log");
	close(ps->back_fd);
	return NULL;
}

static int open_pipe(struct pmcstat *ps)
{
	int fds[2], err;

	if (pipe2(fds, O_CLOEXEC) < 0) {
		msg("cannot read the log back: %s", strerror(errno));
		return -1;
	}
	ps->back_fd = fds[0];
	ps->log_fd = fds[1];
	err = pthread_create(&ps->reader, NULL, read_back, ps);
	if (!err)
		return 0;
	msg("cannot start a thread: %s", strerror(err));
	close(fds[0]);
	ps->back_fd = -1;
	return -1;
}

/* Mappings may stand behind the samples that they explain: read twice from a file,
 * a log has them in order without being held in memory.
 */
static int open_temporary(struct pmcstat *ps)
{
	const char *dir = getenv("TMPDIR");

	dir = dir && *dir ? dir : "/var/tmp";
	ps->log_fd = open(dir, O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
	if (ps->log_fd >= 0)
		return 0;
	msg("cannot create a temporary log in '%s': %s; set TMPDIR", dir,
	    strerror(errno));
	return -1;
}

/*
 * O_APPEND: the kernel and this process write to the same file, each at its end.
 */
static int open_path(struct pmcstat *ps)
{
	struct net_address address;
	char err[600];

	if (strcmp(ps->log_path, "-") == 0) {
		ps->log_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	} else if (net_parse(ps->log_path, &address)) {
		ps->log_fd = net_connect(ps->log_path, err, sizeof(err));
		if (ps->log_fd < 0)
			msg("%s", err);
		return ps->log_fd < 0 ? -1 : 0;
	} else {
		ps->log_fd = output_open(ps->log_path, O_APPEND, 0600);
	}
	if (ps->log_fd >= 0)
		return 0;
	msg("cannot write '%s': %s", ps->log_path, strerror(errno));
	return -1;
}

static int open_log(struct pmcstat *ps)
{
	return ps->log_path ? open_path(ps) :
	       ps->views.any ? open_temporary(ps) : open_pipe(ps);
}

int pmcstat_log_begin(struct pmcstat *ps)
{
	if (!ps->logging)
		return 0;
	if (open_log(ps) < 0)
		return -1;
	if (hwpmc_configure_log(ps->h, ps->log_fd) == 0)
		return 0;
	if (hwpmc_reason(ps->h) == HWPMC_WHY_LOG_FD)
		msg("cannot write '%s': the kernel cannot write to it; "
		    "write to a file, or to a pipe (| cat)",
		    ps->log_path ? ps->log_path : "the log");
	else
		msg("%s", hwpmc_error(ps->h));
	return -1;
}

/* Said once: what fails first also fails at the end. */
static int write_failed(struct pmcstat *ps, int err)
{
	if (ps->write_failed)
		return -1;
	ps->write_failed = true;
	msg("cannot write '%s': %s; the log is incomplete",
	    ps->log_path ? ps->log_path : "the log", strerror(err));
	return -1;
}

static int write_note(struct pmcstat *ps, uint32_t id, const char *key,
		      const char *value)
{
	union note n;
	size_t len = note_fill(&n, id, key, value), at = 0;

	while (at < len) {
		ssize_t done = write(ps->log_fd, n.bytes + at, len - at);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return write_failed(ps, errno);
		at += done;
	}
	return 0;
}

static void add_note(void *arg, uint32_t id, const char *key,
		     const char *value)
{
	struct pmcstat *ps = arg;

	if (!ps->notes_failed)
		ps->notes_failed = write_note(ps, id, key, value) < 0;
}

/*
 * What the events are called. The kernel has written all that there is, and writes
 * no more before a PMC runs: so no record of its is cut by one of ours.
 */
int pmcstat_log_notes(struct pmcstat *ps)
{
	if (!ps->logging)
		return 0;
	if (hwpmc_flush_log(ps->h) < 0)
		return write_failed(ps, errno);
	for (unsigned int i = 0; i < ps->nevent; i++)
		add_note(ps, ps->event[i].id, "event", ps->event[i].spec);
	note_run(ps->command, add_note, ps);
	return ps->notes_failed ? -1 : 0;
}

static int end_log(struct pmcstat *ps)
{
	int rc = 0;

	/* Of a log that failed it is refused: the flush says why. */
	hwpmc_close_log(ps->h);
	if (hwpmc_flush_log(ps->h) < 0 && hwpmc_reason(ps->h) != HWPMC_WHY_NO_LOG)
		rc = write_failed(ps, errno);
	/* The kernel's hold on the pipe ends with the log. */
	hwpmc_configure_log(ps->h, -1);
	return rc;
}

int pmcstat_log_end(struct pmcstat *ps)
{
	int rc;

	if (ps->log_fd < 0)
		return 0;
	rc = end_log(ps);
	/* Of a log that is not complete they are better than none. */
	if (ps->views.any && ps->started &&
	    pmcstat_views_write(ps, ps->log_fd, "log"))
		rc = -1;
	if (close(ps->log_fd) < 0 && !rc)
		rc = write_failed(ps, errno);
	if (ps->back_fd >= 0) {
		pthread_join(ps->reader, NULL);
		if (ps->read_status && !rc)
			rc = -1;
	}
	return rc;
}
