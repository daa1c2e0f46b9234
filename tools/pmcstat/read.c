/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * read.c - print a log as text: a file, what another machine sends, or what
 * comes back from the kernel (a thread of log.c).
 */
#include <inttypes.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "common/logtext.h"
#include "common/msg.h"
#include "pmcstat.h"
#include "record/net.h"

struct missing {
	uint64_t samples, others;
};

static void count_missing(struct missing *m, const struct hwpmc_log_drop *r)
{
	for (int i = 0; i < HWPMC_DROP__COUNT; i++) {
		m->samples += r->samples[i];
		m->others += r->others[i];
	}
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
		    "in the log: sample less often (-n)", m->samples, m->others);
	if (hwpmc_input_cut(in))
		msg("the log ends in the middle of a record");
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

	in = fd >= 0 ? hwpmc_input_fd(fd, err, sizeof(err)) :
	     hwpmc_input_open(path, err, sizeof(err));
	if (in)
		return print_input(ps, in);
	msg("%s", err);
	return EXIT_FAILED;
}

int pmcstat_read(struct pmcstat *ps)
{
	struct net_address address;
	int fd = -1, status;
	char err[600];

	if (net_parse(ps->read_path, &address)) {
		fd = net_accept(ps->read_path, err, sizeof(err));
		if (fd < 0) {
			msg("%s", err);
			return EXIT_FAILED;
		}
	}
	status = ps->views.top ? pmcstat_top_read(ps, fd, ps->read_path) :
		 ps->views.any ? pmcstat_views_write(ps, fd, ps->read_path) :
		 pmcstat_print_log(ps, fd, ps->read_path);
	if (fd >= 0)
		close(fd);
	return status;
}
