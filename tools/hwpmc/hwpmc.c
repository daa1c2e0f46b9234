/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hwpmc.c - count hardware events: one command for people. Here are only the
 * table of commands and the global options; each command has its own file.
 */
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "common/commands.h"
#include "common/fmt.h"
#include "common/msg.h"

static const struct command {
	const char *name;
	int (*run)(int argc, char *argv[]);
	const char *help;
	const char *prog;		/* begins its messages */
	const char *summary;
} commands[] = {
	{ "stat", cmd_stat, cmd_stat_help, "hwpmc stat",
	  "count events of a command, of processes or of CPUs" },
	{ "record", cmd_record, cmd_record_help, "hwpmc record",
	  "sample a command, processes or CPUs into a log" },
	{ "report", cmd_report, cmd_report_help, "hwpmc report",
	  "show which functions the samples of a log hit" },
	{ "top", cmd_top, cmd_top_help, "hwpmc top",
	  "show a live profile" },
	{ "annotate", cmd_annotate, cmd_annotate_help, "hwpmc annotate",
	  "show the samples by instruction and source line" },
	{ "dump", cmd_dump, cmd_dump_help, "hwpmc dump",
	  "print the records of a log, one per line" },
	{ "diff", cmd_diff, cmd_diff_help, "hwpmc diff",
	  "compare the samples of two logs" },
	{ "filter", cmd_filter, cmd_filter_help, "hwpmc filter",
	  "copy a log, with some of its samples only" },
	{ "merge", cmd_merge, cmd_merge_help, "hwpmc merge",
	  "merge logs of one machine into one log" },
	{ "list", cmd_list, cmd_list_help, "hwpmc list",
	  "list the events that this machine can count" },
	{ "control", cmd_control, cmd_control_help, "hwpmc control",
	  "show the counters of this machine, enable or disable them" },
	{ "doctor", cmd_doctor, cmd_doctor_help, "hwpmc doctor",
	  "diagnose why hwpmc cannot count, and how to fix it" },
	{ "selftest", cmd_selftest, cmd_selftest_help, "hwpmc selftest",
	  "check that this machine's counters count correctly" },
	{ "kgmon", cmd_kgmon, cmd_kgmon_help, "hwpmc kgmon",
	  "profile the kernel for gprof" },
	{ "push", cmd_push, cmd_push_help, "hwpmc push",
	  "send profiles of recordings to a server" },
	{ "metrics", cmd_metrics, cmd_metrics_help, "hwpmc metrics",
	  "export counts of all CPUs to Prometheus" },
	{ "unload", cmd_unload, cmd_unload_help, "hwpmc unload",
	  "stop all counters and unload the module" },
};

#define NCOMMAND	(sizeof(commands) / sizeof(*commands))

static void print_help(void)
{
	puts("usage: hwpmc [--help] [--version] command [argument ...]\n");
	for (size_t i = 0; i < NCOMMAND; i++)
		printf("    %-9s %s\n", commands[i].name, commands[i].summary);
	puts("\nFor details, see hwpmc COMMAND --help and hwpmc(1).");
}

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < NCOMMAND; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int unknown_command(const char *name)
{
	char what[256];

	snprintf(what, sizeof(what), "command '%s'", name);
	return msg_unknown(what, "", name);
}

static int help_on(const char *name)
{
	const struct command *c;

	if (!name) {
		print_help();
		return 0;
	}
	c = find_command(name);
	if (!c)
		return unknown_command(name);
	fputs(c->help, stdout);
	return 0;
}

/* kgmon has a -h of its own. */
static bool asks_for_help(const struct command *c, const char *word)
{
	return strcmp(word, "--help") == 0 ||
	       (strcmp(word, "-h") == 0 && !strstr(c->help, "\n  -h "));
}

static int run_command(int argc, char *argv[])
{
	const struct command *c = find_command(argv[0]);

	if (!c)
		return unknown_command(argv[0]);
	msg_prog = c->prog;
	if (argc > 1 && asks_for_help(c, argv[1]))
		return help_on(c->name);
	optind = 0;		/* a fresh scan */
	return c->run(argc, argv);
}

int main(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	/* Data and options have decimal points in every country. */
	setlocale(LC_ALL, "");
	fmt_separator();
	setlocale(LC_NUMERIC, "C");
	/* "+": what follows the command's name is the command's. */
	while ((c = getopt_long(argc, argv, "+:hV", options, NULL)) != -1) {
		if (c == 'h')
			return help_on(argv[optind]);
		if (c != 'V')
			return msg_bad_option(c, optopt, argv, optind);
		puts("hwpmc " VERSION);
		return 0;
	}
	if (optind == argc)
		return msg_usage("no command given");
	if (strcmp(argv[optind], "help") == 0)
		return help_on(argv[optind + 1]);
	return run_command(argc - optind, argv + optind);
}
