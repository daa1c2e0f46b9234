/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_control.c - "hwpmc control": show the machine's counters and their owner, enable or
 * disable rows. Showing works without the module too.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/commands.h"
#include "common/fmt.h"
#include "common/msg.h"
#include "control.h"

const char cmd_control_help[] =
"usage: hwpmc control [-l] [-s] [-c CPUS] [--json]\n"
"       hwpmc control {-e ROW | -d ROW} ... [-c CPUS]\n"
"\n"
"Show the machine, its classes of counters, and who holds the counters and how to\n"
"free them; or enable and disable rows.\n"
"\n"
"  -l              list the use of each row of each CPU\n"
"  -s              print statistics of the module\n"
"  -c CPUS         act on these CPUs (0,2-3); default: all online CPUs\n"
"  -e ROW          enable a row again\n"
"  -d ROW          disable a row that is not in use\n"
"      --json      print one JSON object\n";

/* A change to a row, in the order of the command line. */
struct change {
	uint32_t row, state;
};

struct changes {
	unsigned int n;
	struct change *list;
};

static int add_change(struct changes *ch, const char *arg, uint32_t state)
{
	uint64_t row;

	if (fmt_parse_u64(arg, 0, HWPMC_ROW_MAX - 1, &row) < 0)
		return msg_usage("no counter '%s'; see: hwpmc control -l",
				 arg);
	ch->list = must_realloc(ch->list, ch->n + 1, sizeof(*ch->list));
	ch->list[ch->n++] = (struct change){ row, state };
	return 0;
}

static int apply_changes(const struct control *c, const struct changes *ch)
{
	for (unsigned int i = 0; i < ch->n; i++)
		for (unsigned int j = 0; j < c->cpus.n; j++)
			if (hwpmc_admin(c->h, c->cpus.cpu[j], ch->list[i].row,
					ch->list[i].state) < 0) {
				msg("%s", hwpmc_error(c->h));
				return EXIT_FAILED;
			}
	return 0;
}

static int parse_option(struct control *c, struct changes *ch, int opt)
{
	switch (opt) {
	case 'l':
		c->rows = true;
		return 0;
	case 's':
		c->stats = true;
		return 0;
	case 'j':
		c->json = true;
		return 0;
	case 'c':
		if (cpus_parse(optarg, &c->cpus) < 0)
			return msg_usage("invalid CPU list '%s' (0,2-5)", optarg);
		return 0;
	case 'e':
		return add_change(ch, optarg, HWPMC_STATE_FREE);
	default:
		return add_change(ch, optarg, HWPMC_STATE_DISABLED);
	}
}

static int parse_options(struct control *c, struct changes *ch, int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "list", no_argument, NULL, 'l' },
		{ "stats", no_argument, NULL, 's' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "enable", required_argument, NULL, 'e' },
		{ "disable", required_argument, NULL, 'd' },
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	int opt, err;

	while ((opt = getopt_long(argc, argv, ":lsc:e:d:", options,
				  NULL)) != -1) {
		if (opt == 'h') {
			fputs(cmd_control_help, stdout);
			exit(0);
		}
		if (opt == '?' || opt == ':')
			return msg_bad_option(opt, optopt, argv, optind);
		err = parse_option(c, ch, opt);
		if (err)
			return err;
	}
	if (optind < argc)
		return msg_usage("unexpected argument '%s'", argv[optind]);
	return 0;
}

static int control_run(struct control *c, const struct changes *ch)
{
	int err;

	if (ch->n && !c->h) {
		msg("%s", c->why);
		return EXIT_FAILED;
	}
	err = ch->n ? apply_changes(c, ch) : 0;
	/* A change alone says nothing where it succeeds. */
	if (err || (ch->n && !c->rows && !c->stats && !c->json))
		return err;
	return c->json ? control_show_json(c) : control_show_text(c);
}

int cmd_control(int argc, char *argv[])
{
	struct control c = { .h = NULL };
	struct changes ch = { 0 };
	int status = parse_options(&c, &ch, argc, argv);

	if (!status && !c.cpus.n && cpus_online(&c.cpus) < 0) {
		msg("cannot read the list of online CPUs: %s", strerror(errno));
		status = EXIT_FAILED;
	}
	if (!status) {
		if (hwpmc_open(&c.h) < 0)
			c.why = hwpmc_error(NULL);
		status = control_run(&c, &ch);
	}
	hwpmc_close(c.h);
	free(ch.list);
	return status;
}
