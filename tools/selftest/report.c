/* SPDX-License-Identifier: BSD-2-Clause */
/* report.c - see report.h. */
#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "judge.h"
#include "long/long.h"
#include "report.h"

static const char *const verdicts[] = {
	[ST_HELD] = "held", [ST_FAILED] = "failed", [ST_NOT_TRIED] = "not-tried",
	[ST_MEASURED] = "measured",
};

static void write_classes(FILE *f, struct selftest *t)
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

/* Those of a step; NULL: of the short form. */
static void write_checks(FILE *f, const struct selftest *t, const char *step, const char *indent)
{
	const char *comma = "";

	for (unsigned int i = 0; i < t->nresult; i++) {
		const struct st_result *r = &t->result[i];

		if (r->step != step)
			continue;
		fprintf(f, "%s\n%s{ \"name\": \"%s\", \"verdict\": \"%s\", \"text\": ", comma,
			indent, r->name, verdicts[r->verdict]);
		fmt_json_string(f, r->text);
		fputs(" }", f);
		comma = ",";
	}
}

static const char *verdict_of(const struct selftest *t, const char *step)
{
	unsigned int count[ST_VERDICTS] = { 0 };

	for (unsigned int i = 0; i < t->nresult; i++)
		if (t->result[i].step == step)
			count[t->result[i].verdict]++;
	return verdicts[judge_step(count[ST_HELD], count[ST_FAILED], count[ST_NOT_TRIED],
				   count[ST_MEASURED])];
}

static void write_step(FILE *f, const struct selftest *t, const struct long_time *time)
{
	const struct long_run *r = t->run;
	const char *comma = "";

	fprintf(f, "    { \"name\": \"%s\", \"verdict\": \"%s\", \"seconds\": %.1f,\n      \"checks\": [",
		time->step, verdict_of(t, time->step), time->seconds);
	write_checks(f, t, time->step, "        ");
	fputs("\n      ],\n      \"numbers\": {", f);
	for (unsigned int i = 0; i < r->nnumber; i++) {
		if (r->number[i].step != time->step)
			continue;
		fprintf(f, "%s\n        ", comma);
		fmt_json_string(f, r->number[i].name);
		fprintf(f, ": %s", r->number[i].json);
		comma = ",";
	}
	fputs("\n      } }", f);
}

static void write_long(FILE *f, const struct selftest *t)
{
	const struct long_run *r = t->run;

	fprintf(f, ",\n  \"minutes\": %u,\n  \"interrupted\": ", r->minutes);
	if (r->interrupted)
		fmt_json_string(f, r->interrupted);
	else
		fputs("null", f);
	fputs(",\n  \"steps\": [", f);
	for (unsigned int i = 0; i < r->ntime; i++) {
		fputs(i ? ",\n" : "\n", f);
		write_step(f, t, &r->time[i]);
	}
	fputs("\n  ]", f);
}

static void write_json(FILE *f, struct selftest *t)
{
	fputs("{\n  \"version\": \"" VERSION "\",\n", f);
	write_classes(f, t);
	machine_write(f, t);
	fputs("  \"checks\": [", f);
	write_checks(f, t, NULL, "    ");
	fputs("\n  ],\n  \"costs\": [", f);
	for (unsigned int i = 0; i < t->ncost; i++)
		fprintf(f, "%s\n    { \"name\": \"%s\", \"ticks\": %.1f, \"ns\": %.1f }",
			i ? "," : "", t->cost[i].name, t->cost[i].ticks, t->cost[i].ns);
	fputs("\n  ]", f);
	if (t->run)
		write_long(f, t);
	fputs("\n}\n", f);
}

int report_write(struct selftest *t, const char *path)
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
