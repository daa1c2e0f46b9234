/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmccontrol.c - see and administer rows as FreeBSD's pmccontrol(8) does.
 * Options are positional: -c names the CPUs of the -e and -d that follow.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libhwpmc.h>

#include "common/cpus.h"
#include "common/fmt.h"
#include "common/msg.h"

static const char help[] =
"usage: pmccontrol [-c CPU|*] {-d ROW|* | -e ROW|*} ...\n"
"       pmccontrol -l | -L | -s\n"
"\n"
"  -c CPU      CPU of the -d and -e options that follow; default * (all)\n"
"  -d ROW      disable a row (*: all rows)\n"
"  -e ROW      enable a row (*: all rows)\n"
"  -l          list the rows of each CPU and their use\n"
"  -L          list the events of each class\n"
"  -s          print statistics of the module\n"
"      --help  --version\n";

static int control_fail(struct hwpmc *h)
{
	msg("%s", hwpmc_error(h));
	return EXIT_FAILED;
}

static const char *known_name(const char *name)
{
	return name ? name : "?";
}

/* Goes on after a row that is refused, so that * does what it can. */
static int change_rows(struct hwpmc *h, const struct cpus *cpus,
		       uint32_t first, uint32_t last, uint32_t state)
{
	int status = 0;

	for (unsigned int i = 0; i < cpus->n; i++)
		for (uint32_t row = first; row <= last; row++)
			if (hwpmc_admin(h, cpus->cpu[i], row, state) < 0)
				status = control_fail(h);
	return status;
}

static int change_row(struct hwpmc *h, const struct cpus *cpus, const char *arg,
		      uint32_t state)
{
	uint64_t row;

	if (strcmp(arg, "*") == 0)
		return change_rows(h, cpus, 0, hwpmc_cpuinfo(h)->npmc - 1,
				   state);
	if (fmt_parse_u64(arg, 0, HWPMC_ROW_MAX - 1, &row) < 0)
		return msg_usage("no counter '%s'; see: pmccontrol -l",
				 arg);
	return change_rows(h, cpus, row, row, state);
}

static int choose_cpus(struct cpus *cpus, const char *arg)
{
	int err = strcmp(arg, "*") == 0 ? cpus_online(cpus) :
		  cpus_parse(arg, cpus);

	return err < 0 ? msg_usage("invalid CPU '%s'", arg) : 0;
}

/* ------------------------------------------------------------------------ */

static void print_row(unsigned int row, const struct hwpmc_pmcinfo *p)
{
	bool used = p->rowdisp != HWPMC_DISP_FREE;

	printf(" #%-3u %-7s %-5s %-10s", row, p->name,
	       known_name(hwpmc_name_of_class(p->class)),
	       !p->enabled ? "DISABLED" : p->ownerpid >= 0 ? "ALLOCATED" :
	       "FREE");
	printf(" %s", used ? known_name(hwpmc_name_of_disposition(p->rowdisp)) :
	       "(none)");
	if (p->ownerpid >= 0)
		printf(" (pid %d) 0x%" PRIx64, p->ownerpid,
		       p->config ? (uint64_t)p->config : p->event);
	if (p->ownerpid >= 0 && (p->mode == HWPMC_MODE_SS ||
				 p->mode == HWPMC_MODE_TS))
		printf(" (reload count %" PRIu64 ")",
		       (uint64_t)p->reloadcount);
	putchar('\n');
}

static int list_rows(struct hwpmc *h)
{
	struct cpus cpus;

	if (cpus_online(&cpus) < 0) {
		msg("cannot read the list of online CPUs: %s", strerror(errno));
		return EXIT_FAILED;
	}
	for (unsigned int i = 0; i < cpus.n; i++) {
		struct hwpmc_pmcinfo *rows;
		unsigned int n;

		if (hwpmc_pmcinfo(h, cpus.cpu[i], &rows, &n) < 0)
			return control_fail(h);
		printf("CPU %u:\n", cpus.cpu[i]);
		for (unsigned int row = 0; row < n; row++)
			print_row(row, &rows[row]);
		free(rows);
	}
	return 0;
}

static int print_event(const struct hwpmc_event_info *info, void *arg)
{
	printf("\t%s\n", info->name);
	return 0;
}

static int list_events(struct hwpmc *h)
{
	const struct hwpmc_op_getcpuinfo *info = hwpmc_cpuinfo(h);

	for (unsigned int i = 0; i < info->nclass; i++) {
		uint32_t class_id = info->classes[i].class;

		printf("%s\n", known_name(hwpmc_name_of_class(class_id)));
		if (hwpmc_event_each(h, class_id, print_event, NULL) < 0)
			return control_fail(h);
	}
	return 0;
}

static int print_stats(struct hwpmc *h)
{
	struct hwpmc_op_getdriverstats s;

	if (hwpmc_driver_stats(h, &s) < 0)
		return control_fail(h);
#define LINE(text, field) printf(" %s: %" PRIu64 "\n", text, (uint64_t)s.field)
	LINE("interrupts processed", intr_processed);
	LINE("non-PMC interrupts", intr_ignored);
	LINE("sampling stalls due to space shortages", intr_bufferfull);
	LINE("system calls", syscalls);
	LINE("system calls with errors", syscall_errors);
	LINE("buffer requests", buffer_requests);
	LINE("buffer requests failed", buffer_requests_failed);
	LINE("sampling log sweeps", log_sweeps);
	LINE("threads missed", threads_missed);
	LINE("switches that wrote a counter", switch_programmed);
#undef LINE
	return 0;
}

/* ------------------------------------------------------------------------ */

static int run_option(struct hwpmc *h, struct cpus *cpus, int c)
{
	switch (c) {
	case 'c':
		return choose_cpus(cpus, optarg);
	case 'd':
		return change_row(h, cpus, optarg, HWPMC_STATE_DISABLED);
	case 'e':
		return change_row(h, cpus, optarg, HWPMC_STATE_FREE);
	case 'l':
		return list_rows(h);
	case 'L':
		return list_events(h);
	default:
		return print_stats(h);
	}
}

static const struct option options[] = {
	{ "help", no_argument, NULL, 256 },
	{ "version", no_argument, NULL, 257 },
	{ NULL, 0, NULL, 0 },
};

static int next_option(int argc, char *argv[])
{
	return getopt_long(argc, argv, ":c:d:e:lLs", options, NULL);
}

/* The whole line is looked at before anything is done. */
static int check_options(int argc, char *argv[])
{
	bool work = false;
	int c;

	while ((c = next_option(argc, argv)) != -1) {
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		if (c == 256 || c == 257) {
			fputs(c == 256 ? help : "pmccontrol " VERSION "\n",
			      stdout);
			exit(0);
		}
		work |= c != 'c';
	}
	if (optind < argc)
		return msg_usage("unexpected argument '%s'", argv[optind]);
	return work ? 0 : msg_usage("no action: give -d, -e, -l, -L or -s");
}

static int run_options(struct hwpmc *h, int argc, char *argv[])
{
	struct cpus cpus;
	int c, err = choose_cpus(&cpus, "*");

	optind = 0;
	while (!err && (c = next_option(argc, argv)) != -1)
		err = run_option(h, &cpus, c);
	return err;
}

int main(int argc, char *argv[])
{
	struct hwpmc *h;
	int status;

	msg_prog = "pmccontrol";
	status = check_options(argc, argv);
	if (status)
		return status;
	if (hwpmc_open(&h) < 0) {
		msg("%s", hwpmc_error(NULL));
		return EXIT_FAILED;
	}
	status = run_options(h, argc, argv);
	hwpmc_close(h);
	return status;
}
