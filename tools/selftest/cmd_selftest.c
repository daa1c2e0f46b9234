/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_selftest.c - "hwpmc selftest": what a person with a real machine runs first. Options,
 * and the page of text.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/fmt.h"
#include "common/machine.h"
#include "common/msg.h"
#include "long/long.h"
#include "long/options.h"
#include "report.h"
#include "selftest.h"

const char cmd_selftest_help[] =
"usage: hwpmc selftest [--json FILE]\n"
"       hwpmc selftest --long [--minutes N] [--steps LIST] [--hotplug]\n"
"                      [--suspend] [--json FILE]\n"
"\n"
"Check the counters of this machine: each row counts exactly, all reads\n"
"agree, each overflow interrupts, and common events count. Measure the cost of\n"
"reads, switches and samples. It takes some seconds and changes nothing. --long\n"
"is for the first hour on a real machine.\n"
"\n"
"      --long        also run the steps, for an hour: registers, rows and perf,\n"
"                    switches, edges, NMIs, skid, energy, clocks. They change no\n"
"                    setting; Ctrl-C ends them with a report\n"
"      --minutes N   run the steps for N minutes in total, 0 to 1440; default 60;\n"
"                    0: run each step once\n"
"      --steps LIST  run only these steps (separated by commas), and no checks\n"
"                    before them\n"
"      --hotplug     also take each CPU offline and online again\n"
"      --suspend     also suspend the machine for ten seconds\n"
"  -j, --json FILE   write the report, with the processor's identification, as\n"
"                    JSON; -: write it to standard output instead of the text\n"
"\n"
"Exit status: 0 if all checks held; 1 if a check failed or could not run, or the\n"
"steps were interrupted; 2 for an invalid option.\n";

static void print_machine(const struct selftest *t)
{
	const struct hwpmc_op_getcpuinfo *info = hwpmc_cpuinfo(t->h);
	struct utsname u;

	uname(&u);
	printf("hwpmc " VERSION " on %s, Linux %s, %u CPUs online%s\n", info->cpuid, u.release,
	       t->cpus, t->hypervisor ? ", under a hypervisor" : "");
	for (unsigned int i = 0; i < info->nclass; i++)
		printf("%s%s: %u of %u bits", i ? ", " : "",
		       hwpmc_name_of_class(info->classes[i].class),
		       info->classes[i].num, info->classes[i].width);
	printf("\n\n");
}

/* ---- all of it ------------------------------------------------------------ */

/* While perf has them every check would fail, for this reason alone. */
static bool counters_are_free(struct selftest *t)
{
	char who[128], remedy[192];
	uint32_t state;

	if (hwpmc_pmu_state(t->h, &state) < 0 || state != HWPMC_PMU_HELD)
		return true;
	hwpmc_pmu_holder(who, sizeof(who), remedy, sizeof(remedy));
	st_failed(t, "counters", "the counters are held by %s%s%s", who,
		  remedy[0] ? "; " : "", remedy);
	return false;
}

/* What the module itself has found amiss with a class of this machine at its last claim. */
static void check_notes(struct selftest *t)
{
	struct hwpmc_classnote note[HWPMC_NOTES_MAX];
	int n = hwpmc_notes(t->h, note), found = 0;
	char text[200];

	for (int i = 0; i < n; i++) {
		if (machine_note_is_missing(t->h, &note[i]))
			continue;
		hwpmc_note_text(&note[i], text, sizeof(text));
		/* Of the counters that are given each is right. */
		if (note[i].reason == HWPMC_WHY_ROWS_AT_ONCE) {
			st_measured(t, "notes", "%s: %s", hwpmc_name_of_class(note[i].class), text);
			continue;
		}
		found++;
		st_failed(t, "notes", "%s: %s", hwpmc_name_of_class(note[i].class), text);
	}
	if (n >= 0 && !found)
		st_held(t, "notes", "the module has found no fault of the counters");
}

/* False: there is nothing to count with. */
static bool run_checks(struct selftest *t)
{
	if (!t->quiet)
		print_machine(t);
	if (!machine_has_counters(t->h)) {
		st_failed(t, "counters", "this machine has no counters that the module can use: %s",
			  machine_without_counters(t->h));
		return false;
	}
	if (!counters_are_free(t))
		return false;
	if (t->run && t->run->only)
		return true;
	st_count(t);
	st_fixed(t);
	st_modes(t);
	st_kernel(t);
	if (!t->no_rdpmc)
		st_registers(t);
	st_sample(t);
	st_events(t);
	check_notes(t);
	if (!t->quiet)
		puts("");
	st_costs(t);
	return true;
}

static int run_all(struct selftest *t, const char *json)
{
	int status;

	t->quiet = json && strcmp(json, "-") == 0;
	t->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	t->hypervisor = machine_has_hypervisor();
	if (run_checks(t) && t->run)
		long_run(t);
	if (!t->quiet)
		printf("\n%u held, %u failed, %u not tried, %u measured\n", t->count[ST_HELD],
		       t->count[ST_FAILED], t->count[ST_NOT_TRIED], t->count[ST_MEASURED]);
	status = t->count[ST_FAILED] || (t->run && t->run->interrupted) ? EXIT_FAILED : 0;
	if (json && report_write(t, json) < 0)
		status = EXIT_FAILED;
	long_free(t);
	st_free_results(t);
	return status;
}

/* An option of the long form. */
static int take_option(int c, struct long_run *run)
{
	uint64_t minutes;

	if (c == 'T') {
		if (long_unknown(optarg))
			return msg_usage("there is no step '%s'", long_unknown(optarg));
		run->only = optarg;
	} else if (c == 'H') {
		run->options |= LONG_HOTPLUG;
	} else if (c == 'S') {
		run->options |= LONG_SUSPEND;
	} else if (fmt_parse_u64(optarg, 0, LONG_MINUTES_MAX, &minutes) < 0) {
		return msg_usage("invalid --minutes '%s': expected a number from 0 to %d", optarg,
				 LONG_MINUTES_MAX);
	} else {
		run->minutes = minutes;
	}
	return 0;
}

static int parse(int argc, char *argv[], struct selftest *t, struct long_run *run,
		 const char **json)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "hotplug", no_argument, NULL, 'H' },
		{ "json", required_argument, NULL, 'j' },
		{ "long", no_argument, NULL, 'L' },
		{ "minutes", required_argument, NULL, 'M' },
		{ "steps", required_argument, NULL, 'T' },
		{ "suspend", no_argument, NULL, 'S' },
		{ NULL, 0, NULL, 0 },
	};
	bool others = false;
	int c, status;

	run->minutes = LONG_MINUTES;
	while ((c = getopt_long(argc, argv, ":j:", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(cmd_selftest_help, stdout);
			return -1;
		}
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		if (c == 'j')
			*json = optarg;
		else if (c == 'L')
			t->run = run;
		else if ((status = take_option(c, run)))
			return status;
		others |= c != 'j' && c != 'L';
	}
	if (optind < argc)
		return msg_usage("unexpected argument '%s'", argv[optind]);
	if (others && !t->run)
		return msg_usage("--minutes, --steps, --hotplug and --suspend need --long");
	return 0;
}

int cmd_selftest(int argc, char *argv[])
{
	struct long_run run = { .minutes = 0 };
	struct selftest t = { .h = NULL };
	const char *json = NULL;
	int status = parse(argc, argv, &t, &run, &json);

	if (status)
		return status < 0 ? 0 : status;
	if (hwpmc_open(&t.h) < 0) {
		msg("%s", hwpmc_error(NULL));
		return EXIT_FAILED;
	}
	status = run_all(&t, json);
	hwpmc_close(t.h);
	return status;
}
