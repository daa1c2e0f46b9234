/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * views.c - graphs and lists of a log: their options, which of them can be
 * combined, and the writer of each. The log is a file, or the one that log.c reads back.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/doubts.h"
#include "common/fmt.h"
#include "common/missing.h"
#include "common/msg.h"
#include "common/output.h"
#include "export/export.h"
#include "pmcstat.h"

static int ask_for(struct pmcstat_views *v, int which, const char *path)
{
	v->path[which] = path;
	v->any = true;
	return 0;
}

static int parse_threshold(struct pmcstat_views *v, const char *value)
{
	char *end;

	v->o.threshold = strtod(value, &end);
	if (end == value || *end || !(v->o.threshold >= 0 &&
				      v->o.threshold <= 100))
		return msg_usage("invalid percentage '%s' (0 to 100)", value);
	v->have_threshold = true;
	return 0;
}

static int parse_plugin(struct pmcstat_views *v, const char *arg)
{
	if (strncmp(arg, "threshold=", 10) == 0)
		return parse_threshold(v, arg + 10);
	v->skip = strcmp(arg, "skiplink=1") == 0;
	v->have_skip = true;
	if (v->skip || strcmp(arg, "skiplink=0") == 0)
		return 0;
	return msg_usage("'%s' is neither threshold=PERCENT nor skiplink=0 or 1",
			 arg);
}

static int parse_depth(struct pmcstat_views *v, const char *arg)
{
	uint64_t depth;

	if (fmt_parse_u64(arg, 1, HWPMC_LOG_DEPTH_MAX, &depth) < 0)
		return msg_usage("invalid number of levels '%s' (1 to %d)",
				 arg, HWPMC_LOG_DEPTH_MAX);
	v->o.depth = depth;
	v->have_depth = true;
	return 0;
}

/* Those that ask for something. */
static int parse_wish(struct pmcstat_views *v, int c, const char *arg)
{
	v->need_read |= strchr("maM", c) != NULL;
	switch (c) {
	case 'G':
		return ask_for(v, VIEW_GRAPH, arg);
	case 'F':
		return ask_for(v, VIEW_CALLS, arg);
	case 'm':
		return ask_for(v, VIEW_PCS, arg);
	case 'a':
		return ask_for(v, VIEW_FRAMES, arg);
	case 'M':
		return ask_for(v, VIEW_MAP, arg);
	case 'T':
		v->top = true;
		return 0;
	default:
		v->gprof = v->any = true;
		return 0;
	}
}

/* Those that say how. */
int pmcstat_views_parse(struct pmcstat *ps, int c, const char *arg)
{
	struct pmcstat_views *v = &ps->views;

	switch (c) {
	case 'D':
		v->dir = arg;
		return 0;
	case 'e':
		v->wide = true;
		return 0;
	case 'f':
		return parse_plugin(v, arg);
	case 'I':
		v->o.offsets = true;
		return 0;
	case 'z':
		return parse_depth(v, arg);
	case 'k':
		v->kernel = arg;
		return 0;
	case 'r':
		v->root = arg;
		return 0;
	default:
		return parse_wish(v, c, arg);
	}
}

static unsigned int count_to_stdout(const struct pmcstat_views *v)
{
	unsigned int n = 0;

	for (int i = 0; i < VIEW_FILES; i++)
		n += v->path[i] && strcmp(v->path[i], "-") == 0;
	return n;
}

static int check_graph_options(const struct pmcstat_views *v)
{
	if (v->have_skip && !v->top)
		return msg_usage("-f skiplink needs -T");
	if (v->path[VIEW_GRAPH] || v->top)
		return 0;
	if (v->have_depth)
		return msg_usage("-z needs a call graph (-G or -T)");
	if (v->have_threshold)
		return msg_usage("-f needs a call graph (-G or -T)");
	if (v->o.offsets)
		return msg_usage("-I needs a call graph (-G or -T)");
	return 0;
}

static int check_gprof_options(const struct pmcstat_views *v)
{
	if (v->gprof)
		return 0;
	if (v->dir)
		return msg_usage("-D needs gprof files (-g)");
	if (v->wide)
		return msg_usage("-e needs gprof files (-g)");
	if (v->path[VIEW_MAP])
		return msg_usage("-M needs gprof files (-g)");
	return 0;
}

static int check_top(const struct pmcstat *ps)
{
	if (ps->views.any)
		return msg_usage("-T cannot be combined with -a, -F, -G, -g or -m");
	if (ps->log_path)
		return msg_usage("-T cannot be combined with -O");
	if (ps->ncounting)
		return msg_usage("-T cannot be combined with -p or -s");
	if (!ps->read_path && !ps->nsampling)
		return msg_usage("-T needs samples (-P, -S or -R)");
	return 0;
}

static int check_live(const struct pmcstat *ps)
{
	if (ps->views.need_read)
		return msg_usage("-a, -M and -m need a log to read (-R)");
	if (ps->log_path)
		return msg_usage("-F, -G and -g cannot be combined with -O; use them later, with -R");
	if (!ps->nsampling)
		return msg_usage("-F, -G and -g need samples (-P, -S or -R)");
	return 0;
}

int pmcstat_views_check(const struct pmcstat *ps)
{
	const struct pmcstat_views *v = &ps->views;
	int err = check_graph_options(v);

	if (!err)
		err = check_gprof_options(v);
	if (err)
		return err;
	if (v->top)
		return check_top(ps);
	if ((v->root || v->kernel) && !v->any)
		return msg_usage("-k and -r need -a, -F, -G, -g, -m or -T");
	if (count_to_stdout(v) > 1)
		return msg_usage("only one of -a, -F, -G, -M and -m can go to standard output");
	return v->any && !ps->read_path ? check_live(ps) : 0;
}

int pmcstat_views_open(struct pmcstat *ps)
{
	struct pmcstat_views *v = &ps->views;

	if (v->gprof && !v->dir)
		v->dir = ".";
	if (v->gprof && access(v->dir, W_OK | X_OK) < 0) {
		msg("cannot write to '%s': %s", v->dir, strerror(errno));
		return EXIT_FAILED;
	}
	for (int i = 0; i < VIEW_FILES; i++) {
		if (!v->path[i])
			continue;
		v->file[i] = strcmp(v->path[i], "-") == 0 ? stdout :
			     output_fopen(v->path[i]);
		if (v->file[i])
			continue;
		msg("cannot write '%s': %s", v->path[i], strerror(errno));
		return EXIT_FAILED;
	}
	return 0;
}

/* ---- reading and writing ------------------------------------------------- */

static struct hwpmc_profile *read_profile(const struct pmcstat *ps, int fd,
					  const char *path)
{
	const struct pmcstat_views *v = &ps->views;
	struct hwpmc_profile_options o = {
		.symbols = { .root = v->root, .kernel = v->kernel },
		.tids = ps->lwp ? &ps->lwp : NULL, .ntid = ps->lwp ? 1 : 0,
		.timeline = v->need_read,
		.leaf_only = !v->path[VIEW_GRAPH] && !v->path[VIEW_FRAMES] &&
			     !v->path[VIEW_CALLS] && !v->gprof,
	};
	struct hwpmc_profile *p = NULL;
	struct hwpmc_input *in;
	char err[600];

	in = pmcstat_open_input(ps, fd, path, err, sizeof(err));
	if (in)
		p = hwpmc_profile_read(in, &o, NULL, NULL, err, sizeof(err));
	hwpmc_input_close(in);
	if (!p)
		msg("%s", err);
	return p;
}

static int write_gprof(struct pmcstat *ps, struct hwpmc_profile *p)
{
	const struct pmcstat_views *v = &ps->views;
	uint64_t without;

	if (!v->gprof)
		return 0;
	if (view_gprof(p, v->dir, v->file[VIEW_MAP], &without) < 0)
		return EXIT_FAILED;
	if (without && !ps->quiet)
		msg("%" PRIu64 " samples are outside of all programs, libraries and modules, and in no gprof file",
		    without);
	return 0;
}

/* What -M asks for is there already. */
static void write_view(const struct pmcstat_views *v, int which,
		       struct hwpmc_profile *p)
{
	struct export x = export_of(p, NULL);
	FILE *f = v->file[which];

	switch (which) {
	case VIEW_CALLS:
		export_callgrind(&x, f);
		break;
	case VIEW_GRAPH:
		view_graph(f, p, &v->o);
		break;
	case VIEW_PCS:
		view_pcs(f, p);
		break;
	case VIEW_FRAMES:
		view_frames(f, p);
		break;
	}
}

static int end_file(struct pmcstat_views *v, int which)
{
	FILE *f = v->file[which];
	int bad = fflush(f) || ferror(f);

	if (f != stdout)
		bad |= fclose(f);
	v->file[which] = NULL;
	if (!bad)
		return 0;
	msg("cannot write '%s': %s", v->path[which], strerror(errno));
	return EXIT_FAILED;
}

static void print_totals(const struct pmcstat *ps, const struct hwpmc_profile *p)
{
	FILE *f = ps->output_path ? ps->out : stderr;

	if (ps->quiet)
		return;
	view_totals(f, p);
	fflush(f);
	if (hwpmc_profile_totals(p)->cut)
		msg(MISSING_END);
	doubts_tell(p);
}

int pmcstat_views_write(struct pmcstat *ps, int fd, const char *path)
{
	struct hwpmc_profile *p = read_profile(ps, fd, path);
	int status;

	if (!p)
		return EXIT_FAILED;
	status = write_gprof(ps, p);
	for (int i = 0; i < VIEW_FILES; i++) {
		if (!ps->views.file[i])
			continue;
		write_view(&ps->views, i, p);
		if (end_file(&ps->views, i))
			status = EXIT_FAILED;
	}
	print_totals(ps, p);
	hwpmc_profile_free(p);
	return status;
}
