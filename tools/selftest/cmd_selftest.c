/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_selftest.c - "hwpmc selftest": what a person with a real machine runs first. Options,
 * the page of text, and the report as JSON.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/fmt.h"
#include "common/machine.h"
#include "common/msg.h"
#include "selftest.h"

const char cmd_selftest_help[] =
"usage: hwpmc selftest [--json FILE]\n"
"\n"
"Check the counters of this machine: does each row count exactly, is it read the\n"
"same in every way, does it interrupt as often as it must, do common events count\n"
"at all; and what reads, switches and samples cost. Takes some seconds, and\n"
"changes nothing.\n"
"\n"
"  -j, --json FILE   the report with the processor's identification, to be sent\n"
"                    in; - is standard output, with no text then\n"
"\n"
"Exit status: 0 if all held; 1 if a check failed or could not run; 2 for a wrong\n"
"option.\n";

static const char *const verdicts[] = {
	[ST_HELD] = "held", [ST_FAILED] = "failed", [ST_NOT_TRIED] = "not-tried",
	[ST_MEASURED] = "measured",
};

/* ---- the machine --------------------------------------------------------- */

static bool has_hypervisor(void)
{
	char line[8192];
	bool found = false;
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && !found && fgets(line, sizeof(line), f))
		found = strncmp(line, "flags", 5) == 0 && strstr(line, " hypervisor");
	if (f)
		fclose(f);
	return found;
}

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

static void write_machine(FILE *f, const struct selftest *t)
{
	const struct hwpmc_op_getcpuinfo *info = hwpmc_cpuinfo(t->h);
	struct utsname u;

	uname(&u);
	fputs("  \"cpuid\": ", f);
	fmt_json_string(f, info->cpuid);
	fprintf(f, ",\n  \"pmu_version\": %u,\n  \"hypervisor\": %s,\n  \"cpus\": %u,\n",
		info->pmu_version, t->hypervisor ? "true" : "false", t->cpus);
	fputs("  \"kernel\": ", f);
	fmt_json_string(f, u.release);
	fputs(",\n  \"classes\": [", f);
	for (unsigned int i = 0; i < info->nclass; i++)
		fprintf(f, "%s\n    { \"class\": \"%s\", \"rows\": %u, \"width\": %u }",
			i ? "," : "", hwpmc_name_of_class(info->classes[i].class),
			info->classes[i].num, info->classes[i].width);
	fputs("\n  ],\n", f);
}

static void write_json(FILE *f, const struct selftest *t)
{
	fputs("{\n  \"version\": \"" VERSION "\",\n", f);
	write_machine(f, t);
	fputs("  \"checks\": [", f);
	for (unsigned int i = 0; i < t->nresult; i++) {
		fprintf(f, "%s\n    { \"name\": \"%s\", \"verdict\": \"%s\", \"text\": ",
			i ? "," : "", t->result[i].name, verdicts[t->result[i].verdict]);
		fmt_json_string(f, t->result[i].text);
		fputs(" }", f);
	}
	fputs("\n  ],\n  \"costs\": [", f);
	for (unsigned int i = 0; i < t->ncost; i++)
		fprintf(f, "%s\n    { \"name\": \"%s\", \"ticks\": %.1f, \"ns\": %.1f }",
			i ? "," : "", t->cost[i].name, t->cost[i].ticks, t->cost[i].ns);
	fputs("\n  ]\n}\n", f);
}

static int write_report(const struct selftest *t, const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "we") : stdout;
	bool bad;

	if (!f) {
		msg("cannot write '%s': %s", path, strerror(errno));
		return -1;
	}
	write_json(f, t);
	bad = ferror(f);
	if ((f == stdout ? fflush(f) : fclose(f)) || bad) {
		msg("cannot write '%s': %s", path, strerror(errno));
		return -1;
	}
	return 0;
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

static void run_checks(struct selftest *t)
{
	if (!t->quiet)
		print_machine(t);
	if (!machine_has_counters(t->h)) {
		st_failed(t, "counters", "this machine has no counters that the module can use: %s",
			  machine_without_counters(t->h));
		return;
	}
	if (!counters_are_free(t))
		return;
	st_count(t);
	st_fixed(t);
	st_modes(t);
	st_kernel(t);
	if (!t->no_rdpmc)
		st_registers(t);
	st_sample(t);
	st_events(t);
	if (!t->quiet)
		puts("");
	st_costs(t);
}

static int run(struct selftest *t, const char *json)
{
	int status;

	t->quiet = json && strcmp(json, "-") == 0;
	t->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	t->hypervisor = has_hypervisor();
	run_checks(t);
	if (!t->quiet)
		printf("\n%u held, %u failed, %u not tried, %u measured\n", t->count[ST_HELD],
		       t->count[ST_FAILED], t->count[ST_NOT_TRIED], t->count[ST_MEASURED]);
	status = t->count[ST_FAILED] ? EXIT_FAILED : 0;
	if (json && write_report(t, json) < 0)
		status = EXIT_FAILED;
	st_free_results(t);
	return status;
}

int cmd_selftest(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", required_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	const char *json = NULL;
	struct selftest t = { .h = NULL };
	int c, status;

	while ((c = getopt_long(argc, argv, ":j:", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(cmd_selftest_help, stdout);
			return 0;
		}
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		json = optarg;
	}
	if (optind < argc)
		return msg_usage("unexpected argument '%s'", argv[optind]);
	if (hwpmc_open(&t.h) < 0) {
		msg("%s", hwpmc_error(NULL));
		return EXIT_FAILED;
	}
	status = run(&t, json);
	hwpmc_close(t.h);
	return status;
}
