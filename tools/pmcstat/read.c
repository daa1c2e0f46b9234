/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read.c - print a log as text: a file, what another machine sends, or what
 * comes back from the kernel (a thread of log.c).
 */
#include <inttypes.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "common/logtext.h"
#include "common/missing.h"
#include "common/msg.h"
#include "pmcstat.h"
#include "record/net.h"

/* s: a sender writes the head of its log at once. */
#define FIRST_BYTE	60

struct missing {
	uint64_t samples, others;
};

static void count_missing(struct missing *m, const struct hwpmc_log_drop *r)
{
	uint64_t samples, others;

	hwpmc_record_drops(r, &samples, &others, 1);
	m->samples += samples;
	m->others += others;
}

static bool is_wanted(const struct pmcstat *ps, const struct hwpmc_record *r)
{
	return !ps->lwp || r->hdr->type != HWPMC_LOG_CALLCHAIN ||
	       r->tid == ps->lwp;
}

static void warn_missing(const struct pmcstat *ps, const struct hwpmc_input *in,
			 const struct missing *m)
{
	if (ps->quiet)
		return;
	if (m->samples || m->others)
		msg("%" PRIu64 " samples and %" PRIu64 " other records are missing "
		    "in the log; sample less often (-n)", m->samples, m->others);
	if (hwpmc_input_cut(in))
		msg(MISSING_END);
}

static int print_input(struct pmcstat *ps, struct hwpmc_input *in)
{
	struct missing missing = { 0, 0 };
	struct hwpmc_record r;
	int rc;

	while ((rc = hwpmc_input_next(in, &r)) > 0) {
		if (r.hdr->type == HWPMC_LOG_DROPNOTIFY)
			count_missing(&missing, r.drop);
		if (is_wanted(ps, &r))
			logtext_record(ps->out, &r);
		if (ferror(ps->out))
			break;
	}
	if (rc < 0)
		msg("%s", hwpmc_input_error(in));
	warn_missing(ps, in, &missing);
	hwpmc_input_close(in);
	return rc < 0 ? EXIT_FAILED : 0;
}

int pmcstat_print_log(struct pmcstat *ps, int fd, const char *path)
{
	struct hwpmc_input *in;
	char err[600];

	in = pmcstat_open_input(ps, fd, path, err, sizeof(err));
	if (in)
		return print_input(ps, in);
	msg("%s", err);
	return EXIT_FAILED;
}

static int accept_peer(struct pmcstat *ps)
{
	struct net_limits limits = { .silence = ps->silence, .first = FIRST_BYTE };
	char peer[NET_PEER], err[600];
	int fd;

	if (limits.silence && limits.silence < limits.first)
		limits.first = limits.silence;
	fd = net_accept(ps->read_path, peer, err, sizeof(err));
	if (fd >= 0 && !ps->quiet)
		msg("the log comes from %s", peer);
	if (fd >= 0 && net_wait_first(fd, &limits, err, sizeof(err)) == 0) {
		ps->from_peer = true;
		return fd;
	}
	msg("%s", err);
	if (fd >= 0)
		close(fd);
	return -1;
}

int pmcstat_read(struct pmcstat *ps)
{
	struct net_address address;
	int fd = -1, status;

	if (net_parse(ps->read_path, &address)) {
		fd = accept_peer(ps);
		if (fd < 0)
			return EXIT_FAILED;
	}
	status = ps->views.top ? pmcstat_top_read(ps, fd, ps->read_path) :
		 ps->views.any ? pmcstat_views_write(ps, fd, ps->read_path) :
		 pmcstat_print_log(ps, fd, ps->read_path);
	if (fd >= 0)
		close(fd);
	return status;
}
