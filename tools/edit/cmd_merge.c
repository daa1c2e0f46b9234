/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_merge.c - "hwpmc merge": several logs of one machine, between two boots, as one:
 * the pieces of a long recording, or recordings side by side. PMCs get numbers of their
 * own where two logs have the same; processes are the same in all.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/commands.h"
#include "common/fmt.h"
#include "common/missing.h"
#include "common/msg.h"
#include "edit.h"

/* Of the time of boot as two logs give it: the clock may be set in between. */
#define BOOT_TOLERANCE_NS	60000000000ull

const char cmd_merge_help[] =
"usage: hwpmc merge [option ...] -o file log ...\n"
"\n"
"Merge logs of one machine into one log: the files of one recording (hwpmc record\n"
"--switch-output), or recordings of the same time.\n"
"\n"
"  -o FILE             write the new log to FILE; - is standard output\n"
"  -z, --compress[=N]  compress the new log by zstd (level N)\n"
"\n"
"Exit status: 0; 1 if a log cannot be read or written, or the logs are of\n"
"different machines or boots; 2 for an invalid option.\n";

struct merge_log {
	const char *path;
	struct hwpmc_input *in;
	struct hwpmc_log_initialize begin;
	struct hwpmc_log_allocate *pmc;
	uint32_t npmc;
	char hostname[128];
};

struct merge_id {
	uint32_t log, id, as;
	bool again;			/* an earlier piece of the recording has it */
};

struct merge {
	const char *output;
	int level;
	bool help;
	struct merge_log *log;
	uint32_t n;
	struct edit_out out;
	struct merge_id *id;		/* of the PMCs of all logs */
	uint32_t nid;
};

/* ---- options ------------------------------------------------------------- */

static int parse_options(struct merge *m, int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "output", required_argument, NULL, 'o' },
		{ "compress", optional_argument, NULL, 'z' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t level = 3;
	int c;

	while ((c = getopt_long(argc, argv, ":o:z::", options, NULL)) != -1) {
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		if (c == 'h') {
			fputs(cmd_merge_help, stdout);
			m->help = true;
			return 0;
		}
		if (c == 'o')
			m->output = optarg;
		else if (optarg && fmt_parse_u64(optarg, 1, 19, &level) < 0)
			return msg_usage("invalid level '%s' (1 to 19)", optarg);
		else
			m->level = level;
	}
	if (!m->output)
		return msg_usage("give the new log a name (-o)");
	if (argc - optind < 2)
		return msg_usage("give at least two logs");
	m->n = argc - optind;
	m->log = must_calloc(m->n, sizeof(*m->log));
	for (uint32_t i = 0; i < m->n; i++)
		m->log[i].path = argv[optind + i];
	return 0;
}

/* ---- are they of one machine? -------------------------------------------- */

static bool is_allocate(uint8_t type)
{
	return type == HWPMC_LOG_PMCALLOCATE || type == HWPMC_LOG_PMCALLOCATEDYN;
}

static void note_log(struct merge_log *l, const struct hwpmc_record *r)
{
	if (is_allocate(r->hdr->type)) {
		l->pmc = must_realloc(l->pmc, l->npmc + (size_t)1, sizeof(*l->pmc));
		l->pmc[l->npmc++] = *r->allocate;
	}
	if (r->hdr->type == HWPMC_LOG_INITIALIZE)
		l->begin = *r->initialize;
	else if (r->hdr->type == HWPMC_LOG_NOTE &&
		 strncmp(r->note->text, "hostname=", 9) == 0)
		snprintf(l->hostname, sizeof(l->hostname), "%s", r->note->text + 9);
}

static int look_at(struct merge_log *l)
{
	struct hwpmc_record r;
	int rc;

	l->in = edit_input(l->path);
	if (!l->in)
		return -1;
	hwpmc_input_skip_samples(l->in, true);
	while ((rc = hwpmc_input_next(l->in, &r)) > 0)
		note_log(l, &r);
	if (rc < 0)
		msg("%s", hwpmc_input_error(l->in));
	hwpmc_input_skip_samples(l->in, false);
	return rc < 0 ? -1 : hwpmc_input_rewind(l->in);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static const char *difference(const struct merge_log *a, const struct merge_log *b)
{
	const struct hwpmc_log_initialize *x = &a->begin, *y = &b->begin;

	if (strcmp(a->hostname, b->hostname))
		return "the names of the machines differ";
	if (strncmp(x->cpuid, y->cpuid, sizeof(x->cpuid)) || x->ncpu != y->ncpu)
		return "their processors differ";
	if (x->khz != y->khz || x->clock != y->clock)
		return "their clocks differ";
	/* A file of perf record mostly lacks the time of day. */
	if (x->realtime && y->realtime &&
	    distance(x->realtime - x->monotonic, y->realtime - y->monotonic) > BOOT_TOLERANCE_NS)
		return "the machine was booted in between";
	return NULL;
}

static int by_begin(const void *a, const void *b)
{
	const struct merge_log *x = a, *y = b;

	return (x->begin.tick > y->begin.tick) - (x->begin.tick < y->begin.tick);
}

/* Nothing tells boots apart without the time of day. */
static void note_times(const struct merge *m)
{
	for (uint32_t i = 0; i < m->n; i++) {
		if (m->log[i].begin.realtime)
			continue;
		msg("%s lacks the time of day (perf record -k mono writes it): the logs must be of one boot",
		    m->log[i].path);
		return;
	}
}

static int look_at_all(struct merge *m)
{
	const char *why;

	for (uint32_t i = 0; i < m->n; i++) {
		if (look_at(&m->log[i]) < 0)
			return -1;
		why = difference(&m->log[0], &m->log[i]);
		if (!why)
			continue;
		msg("cannot merge %s with %s: %s; hwpmc diff compares them",
		    m->log[i].path, m->log[0].path, why);
		return -1;
	}
	note_times(m);
	qsort(m->log, m->n, sizeof(*m->log), by_begin);
	return 0;
}

/* ---- numbers of PMCs ----------------------------------------------------- */

static bool is_taken(const struct merge *m, uint32_t id)
{
	for (uint32_t i = 0; i < m->nid; i++)
		if (m->id[i].as == id)
			return true;
	return false;
}

static const struct hwpmc_log_allocate *find_pmc(const struct merge_log *l, uint32_t id)
{
	for (uint32_t i = 0; i < l->npmc; i++)
		if (l->pmc[i].hdr.id == id)
			return &l->pmc[i];
	return NULL;
}

/* Pieces of a recording have copies of its first records. */
static bool are_pieces(const struct merge_log *a, const struct merge_log *b, uint32_t id)
{
	const struct hwpmc_log_allocate *x = find_pmc(a, id), *y = find_pmc(b, id);

	return x && y && memcmp(&a->begin, &b->begin, sizeof(a->begin)) == 0 &&
	       memcmp(x, y, sizeof(*x)) == 0;
}

static const struct merge_id *find_id(const struct merge *m, uint32_t log, uint32_t id)
{
	for (uint32_t i = m->nid; i-- > 0; )
		if (m->id[i].id == id &&
		    (m->id[i].log == log || are_pieces(&m->log[m->id[i].log], &m->log[log], id)))
			return &m->id[i];
	return NULL;
}

/* 0 and HWPMC_ID_INVALID are of no PMC. *again: an earlier piece has the PMC. */
static uint32_t number_of(struct merge *m, uint32_t log, uint32_t id, bool *again)
{
	const struct merge_id *known;
	uint32_t as = id;

	*again = false;
	if (!id || id == HWPMC_ID_INVALID)
		return id;
	known = find_id(m, log, id);
	if (known && known->log == log) {
		*again = known->again;
		return known->as;
	}
	if (known)
		as = known->as;
	else
		while (is_taken(m, as) || !as || as == HWPMC_ID_INVALID)
			as++;
	*again = known;
	m->id = must_realloc(m->id, m->nid + 1, sizeof(*m->id));
	m->id[m->nid++] = (struct merge_id){ log, id, as, *again };
	return as;
}

/* ---- the new log --------------------------------------------------------- */

static int copy_log(struct merge *m, uint32_t which)
{
	struct merge_log *l = &m->log[which];
	uint32_t last = 0, as = 0;
	bool again = false;
	struct hwpmc_record r;
	int rc;

	while ((rc = hwpmc_input_next(l->in, &r)) > 0 && !m->out.sink.error) {
		/* Samples of a PMC come in rows. */
		if (r.hdr->id != last) {
			last = r.hdr->id;
			as = number_of(m, which, last, &again);
		}
		if (again && is_allocate(r.hdr->type))
			continue;
		if (r.hdr->type != HWPMC_LOG_INITIALIZE || !which)
			edit_put(&m->out, &r, last ? as : 0);
	}
	if (rc < 0)
		msg("%s", hwpmc_input_error(l->in));
	m->out.cut |= hwpmc_input_cut(l->in);
	if (rc >= 0 && hwpmc_input_cut(l->in))
		msg("%s: " MISSING_END, l->path);
	return rc < 0 ? -1 : 0;
}

static int merge_run(struct merge *m)
{
	int rc = look_at_all(m);

	if (rc < 0 || edit_open(&m->out, m->output, m->level) < 0)
		return EXIT_FAILED;
	for (uint32_t i = 0; i < m->n && !rc; i++)
		rc = copy_log(m, i);
	if (edit_close(&m->out, rc == 0) < 0)
		return EXIT_FAILED;
	if (!rc)
		fprintf(stderr, "%" PRIu64 " sample%s of %u logs in %s\n", m->out.samples,
			fmt_plural(m->out.samples), m->n, m->out.sink.name);
	return rc < 0 ? EXIT_FAILED : 0;
}

int cmd_merge(int argc, char *argv[])
{
	struct merge m = { .level = 0 };
	int status = parse_options(&m, argc, argv);

	if (!status && !m.help)
		status = merge_run(&m);
	for (uint32_t i = 0; i < m.n; i++) {
		hwpmc_input_close(m.log[i].in);
		free(m.log[i].pmc);
	}
	free(m.log);
	free(m.id);
	return status;
}
