/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * control_show.c - the state of the machine's counters, for people and as JSON:
 * processor, classes, the owner of the PMU and how to free it, rows, statistics.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "common/machine.h"
#include "common/msg.h"
#include "control.h"

static const char *known_name(const char *name)
{
	return name ? name : "?";
}

/* "vendor-family-model-stepping" as the kernel has it in /proc/cpuinfo. */
static void cpuid_of_proc(char *buf, size_t size)
{
	char line[512], vendor[64] = "unknown";
	int family = 0, model = 0, stepping = 0;
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && fgets(line, sizeof(line), f) && line[0] != '\n') {
		sscanf(line, "vendor_id : %63s", vendor);
		sscanf(line, "cpu family : %d", &family);
		sscanf(line, "model : %d", &model);
		sscanf(line, "stepping : %d", &stepping);
	}
	if (f)
		fclose(f);
	snprintf(buf, size, "%s-%d-%X-%X", vendor, family, model, stepping);
}

static void cpuid_text(const struct control *c, char buf[HWPMC_NAME_MAX])
{
	if (c->h)
		snprintf(buf, HWPMC_NAME_MAX, "%s", hwpmc_cpuinfo(c->h)->cpuid);
	else
		cpuid_of_proc(buf, HWPMC_NAME_MAX);
}

/* The owner of the PMU: as the module says, or without it as the system shows. */
struct holder {
	uint32_t state;			/* enum hwpmc_pmu_state */
	const char *fact;
	char who[128], remedy[256];
	const char *why;		/* NONE: there is none; or NULL */
};

static void find_holder(const struct control *c, struct holder *hold)
{
	static const char *const facts[] = {
		[HWPMC_PMU_NONE] = "no usable counters of hardware events; TSC and "
				   "SOFT work",
		[HWPMC_PMU_IDLE] = "free",
		[HWPMC_PMU_CLAIMED] = "in use by hwpmc",
		[HWPMC_PMU_HELD] = "held by",
	};
	int found;

	memset(hold, 0, sizeof(*hold));
	hold->state = HWPMC_PMU_HELD;
	if (c->h && hwpmc_pmu_state(c->h, &hold->state) < 0)
		hold->state = hwpmc_cpuinfo(c->h)->pmu_state;
	hold->fact = hold->state <= HWPMC_PMU_HELD ? facts[hold->state] : "?";
	if (c->h && hold->state == HWPMC_PMU_NONE)
		hold->why = machine_without_counters(c->h);
	if (hold->state != HWPMC_PMU_HELD)
		return;
	found = hwpmc_pmu_holder(hold->who, sizeof(hold->who), hold->remedy,
				 sizeof(hold->remedy));
	/* Without the module the PMU counts as free if no user of it is found. */
	if (!c->h && found < 0) {
		hold->state = HWPMC_PMU_IDLE;
		hold->fact = "no known user";
		hold->who[0] = '\0';
		hold->remedy[0] = '\0';
	}
}

/* From this column on, in lines of 80. */
static void print_caps(uint32_t caps, int left)
{
	int column = left;

	for (uint32_t bit = 1; bit && bit <= HWPMC_CAP_ALL; bit <<= 1) {
		const char *name;

		if (!(caps & bit))
			continue;
		name = known_name(hwpmc_name_of_capability(bit));
		if (column > left && column + 1 + (int)strlen(name) > 80) {
			printf("\n%*s", left, "");
			column = left;
		}
		column += printf("%s%s", column > left ? " " : "", name);
	}
}

static void print_classes(const struct hwpmc_op_getcpuinfo *info)
{
	for (unsigned int i = 0; i < info->nclass; i++) {
		const struct hwpmc_classinfo *cl = &info->classes[i];
		int left;

		left = printf("%-8s %-5s %2u x %u bits, row%s %u", i ? "" : "classes",
			      known_name(hwpmc_name_of_class(cl->class)), cl->num,
			      cl->width, cl->num > 1 ? "s" : "", cl->first);
		if (cl->num > 1)
			left += printf("-%u", cl->first + cl->num - 1);
		left += printf(": ");
		print_caps(cl->caps, left);
		putchar('\n');
	}
}

static void print_notes(struct hwpmc *h)
{
	struct hwpmc_classnote notes[HWPMC_NOTES_MAX];
	int n = hwpmc_notes(h, notes);
	const char *last = "";
	char text[300];

	for (int i = 0; i < n; i++) {
		const char *title = machine_note_is_missing(h, &notes[i]) ? "missing" : "found";

		hwpmc_note_text(&notes[i], text, sizeof(text));
		printf("%-8s %-5s %s\n", strcmp(title, last) ? title : "",
		       known_name(hwpmc_name_of_class(notes[i].class)), text);
		last = title;
	}
}

static bool cpu_has_svm(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[8192];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = !strncmp(line, "flags", 5) && strstr(line, " svm");
	if (f)
		fclose(f);
	return found;
}

/* What counters make of this machine's own guests; NULL: it can have none. */
static const char *guests_text(const struct hwpmc_op_getcpuinfo *info)
{
	for (unsigned int i = 0; i < info->nclass; i++) {
		if (info->classes[i].class == HWPMC_CLASS_IAP)
			return "counted with the host: the counters cannot separate them";
		if (info->classes[i].class == HWPMC_CLASS_K8 && cpu_has_svm())
			return "not counted, unless an event says 'guest'";
	}
	return NULL;
}

/* The kind of a CPU; 0: all are alike, or the module does not say. */
static uint32_t kind_of(const struct control *c, unsigned int cpu)
{
	uint32_t kinds, kind;

	return c->h && hwpmc_kinds(c->h, cpu, &kinds, &kind) == 0 ? kind : 0;
}

/* "kinds    cpu_core: CPUs 0-1": a line for each kind of core. */
static void print_kinds(const struct control *c, const struct cpus *online)
{
	const char *title = "kinds";

	for (uint32_t bit = 1; bit && bit <= HWPMC_KIND_LOWPOWER; bit <<= 1) {
		const char *separator = " ";

		for (unsigned int i = 0, last; i < online->n; i = last + 1) {
			last = i;
			if (kind_of(c, online->cpu[i]) != bit)
				continue;
			while (last + 1 < online->n &&
			       online->cpu[last + 1] == online->cpu[last] + 1 &&
			       kind_of(c, online->cpu[last + 1]) == bit)
				last++;
			if (*separator == ' ')
				printf("%-8s %s: CPUs", title, hwpmc_name_of_kind(bit));
			printf("%s%u", separator, online->cpu[i]);
			if (last > i)
				printf("-%u", online->cpu[last]);
			separator = ",";
			title = "";
		}
		if (*separator == ',')
			putchar('\n');
	}
}

static void print_module(const struct control *c)
{
	uint32_t v;

	if (!c->h)
		printf("module   %s\n", c->why);
	else if (hwpmc_module_version(c->h, &v) == 0)
		printf("module   loaded, contract %u.%u.%u\n", v >> 24,
		       v >> 16 & 0xff, v & 0xffff);
}

static void print_machine(const struct control *c)
{
	const struct hwpmc_op_getcpuinfo *info = c->h ? hwpmc_cpuinfo(c->h) :
						 NULL;
	char cpuid[HWPMC_NAME_MAX];
	struct cpus online = { 0 };
	struct holder hold;

	cpuid_text(c, cpuid);
	cpus_online(&online);
	printf("machine  %s, %u CPU%s online\n", cpuid, online.n,
	       online.n == 1 ? "" : "s");
	print_kinds(c, &online);
	print_module(c);
	find_holder(c, &hold);
	printf("pmu      ");
	if (info && hold.state != HWPMC_PMU_NONE)
		printf("version %u, ", info->pmu_version);
	printf("%s%s%s\n", hold.fact, hold.who[0] ? " " : "", fmt_plain(hold.who));
	if (hold.why)
		printf("%-8s %s\n", "why", hold.why);
	if (hold.remedy[0])
		printf("%-8s %s\n", "to do", hold.remedy);
	if (!info)
		return;
	print_classes(info);
	if (guests_text(info))
		printf("%-8s %s\n", "guests", guests_text(info));
	print_notes(c->h);
}

/* What a row is used for: two columns and, in system scope, whose it is. */
static void print_row(unsigned int cpu, unsigned int row,
		      const struct hwpmc_pmcinfo *p)
{
	printf("%4u %4u  %-8s %-9s %-10s", cpu, row, p->name,
	       p->enabled ? "enabled" : "disabled",
	       known_name(hwpmc_name_of_disposition(p->rowdisp)));
	if (p->rowdisp == HWPMC_DISP_THREAD)
		printf(" %d PMC%s", p->users, p->users == 1 ? "" : "s");
	if (p->ownerpid >= 0)
		printf(" process %d, %s, event 0x%" PRIx64, p->ownerpid,
		       known_name(hwpmc_name_of_mode(p->mode)),
		       p->config ? (uint64_t)p->config : p->event);
	putchar('\n');
}

static int control_fail(const struct control *c)
{
	msg("%s", hwpmc_error(c->h));
	return EXIT_FAILED;
}

static int print_rows(const struct control *c)
{
	puts("\n CPU  row  name     state     use");
	for (unsigned int i = 0; i < c->cpus.n; i++) {
		struct hwpmc_pmcinfo *rows;
		unsigned int n;

		if (hwpmc_pmcinfo(c->h, c->cpus.cpu[i], &rows, &n) < 0)
			return control_fail(c);
		for (unsigned int j = 0; j < n; j++)
			print_row(c->cpus.cpu[i], j, &rows[j]);
		free(rows);
	}
	return 0;
}

/* Statistics: the same order and words in text and in JSON. */
struct stat_line {
	const char *key, *text;
	uint64_t value;
};

#define NSTAT 10

static void stat_lines(const struct hwpmc_op_getdriverstats *s,
		       struct stat_line line[NSTAT])
{
	const struct stat_line all[NSTAT] = {
		{ "operations", "operations", s->syscalls },
		{ "operations_failed", "operations that failed",
		  s->syscall_errors },
		{ "interrupts", "interrupts", s->intr_processed },
		{ "interrupts_ignored", "interrupts of other owners",
		  s->intr_ignored },
		{ "interrupts_buffer_full", "samples dropped: ring full",
		  s->intr_bufferfull },
		{ "buffers", "log buffers requested", s->buffer_requests },
		{ "buffers_failed", "log buffers not allocated",
		  s->buffer_requests_failed },
		{ "log_sweeps", "log sweeps", s->log_sweeps },
		{ "threads_missed", "threads not followed: no memory",
		  s->threads_missed },
		{ "switches_programmed", "switches that wrote a counter",
		  s->switch_programmed },
	};

	memcpy(line, all, sizeof(all));
}

static int read_stats(const struct control *c, struct stat_line line[NSTAT])
{
	struct hwpmc_op_getdriverstats stats;

	if (hwpmc_driver_stats(c->h, &stats) < 0)
		return control_fail(c);
	stat_lines(&stats, line);
	return 0;
}

static int print_stats(const struct control *c)
{
	struct stat_line line[NSTAT];
	int err = read_stats(c, line);

	if (err)
		return err;
	putchar('\n');
	for (unsigned int i = 0; i < NSTAT; i++)
		printf("%-34s %12" PRIu64 "\n", line[i].text, line[i].value);
	return 0;
}

int control_show_text(const struct control *c)
{
	int err = 0;

	print_machine(c);
	if (!c->h && (c->rows || c->stats)) {
		msg("%s", c->why);
		return EXIT_FAILED;
	}
	if (c->rows)
		err = print_rows(c);
	if (!err && c->stats)
		err = print_stats(c);
	return err;
}

/* ------------------------------------------------------------------------ */

static void json_pair(const char *name, const char *value)
{
	printf("\"%s\":", name);
	if (value && *value)
		fmt_json_string(stdout, value);
	else
		fputs("null", stdout);
}

static void json_module(const struct control *c)
{
	uint32_t v;

	printf(",\"module\":{\"loaded\":%s", c->h ? "true" : "false");
	if (c->h && hwpmc_module_version(c->h, &v) == 0)
		printf(",\"contract\":\"%u.%u.%u\"", v >> 24, v >> 16 & 0xff,
		       v & 0xffff);
	if (!c->h) {
		putchar(',');
		json_pair("why", c->why);
	}
	putchar('}');
}

static void json_pmu(const struct control *c)
{
	struct holder hold;

	find_holder(c, &hold);
	fputs(",\"pmu\":{", stdout);
	json_pair("state", hwpmc_name_of_pmu_state(hold.state));
	if (c->h)
		printf(",\"version\":%u", hwpmc_cpuinfo(c->h)->pmu_version);
	putchar(',');
	json_pair("holder", hold.who);
	putchar(',');
	json_pair("remedy", hold.remedy);
	putchar(',');
	json_pair("why", hold.why);
	putchar('}');
}

static void json_caps(uint32_t caps)
{
	const char *sep = "";

	fputs("\"caps\":[", stdout);
	for (uint32_t bit = 1; bit && bit <= HWPMC_CAP_ALL; bit <<= 1) {
		if (!(caps & bit))
			continue;
		printf("%s\"%s\"", sep, known_name(hwpmc_name_of_capability(bit)));
		sep = ",";
	}
	putchar(']');
}

static void json_classes(const struct hwpmc_op_getcpuinfo *info)
{
	fputs(",\"classes\":[", stdout);
	for (unsigned int i = 0; i < info->nclass; i++) {
		const struct hwpmc_classinfo *cl = &info->classes[i];

		printf("%s{", i ? "," : "");
		json_pair("class", hwpmc_name_of_class(cl->class));
		printf(",\"rows\":%u,\"first\":%u,\"width\":%u,", cl->num,
		       cl->first, cl->width);
		json_caps(cl->caps);
		putchar('}');
	}
	putchar(']');
}

/* "notes": what is amiss with a class; its other members say which it is. */
static void json_notes(struct hwpmc *h)
{
	struct hwpmc_classnote notes[HWPMC_NOTES_MAX];
	int n = hwpmc_notes(h, notes);
	char text[300];

	fputs(",\"notes\":[", stdout);
	for (int i = 0; i < n; i++) {
		hwpmc_note_text(&notes[i], text, sizeof(text));
		printf("%s{", i ? "," : "");
		json_pair("class", hwpmc_name_of_class(notes[i].class));
		printf(",\"missing\":%s,",
		       machine_note_is_missing(h, &notes[i]) ? "true" : "false");
		json_pair("reason", hwpmc_name_of_reason(notes[i].reason));
		putchar(',');
		json_pair("why", text);
		putchar('}');
	}
	putchar(']');
}

static void json_row(const struct hwpmc_pmcinfo *p, unsigned int row)
{
	printf("%s{\"row\":%u,", row ? "," : "", row);
	json_pair("name", p->name);
	putchar(',');
	json_pair("class", hwpmc_name_of_class(p->class));
	printf(",\"enabled\":%s,", p->enabled ? "true" : "false");
	json_pair("use", hwpmc_name_of_disposition(p->rowdisp));
	printf(",\"users\":%d", p->users);
	if (p->ownerpid >= 0) {
		printf(",\"owner\":%d,", p->ownerpid);
		json_pair("mode", hwpmc_name_of_mode(p->mode));
		printf(",\"event\":%u,\"config\":%" PRIu64, p->event,
		       (uint64_t)p->config);
	}
	putchar('}');
}

static int json_rows(const struct control *c)
{
	fputs(",\"cpus\":[", stdout);
	for (unsigned int i = 0; i < c->cpus.n; i++) {
		struct hwpmc_pmcinfo *rows;
		unsigned int n;

		if (hwpmc_pmcinfo(c->h, c->cpus.cpu[i], &rows, &n) < 0)
			return control_fail(c);
		printf("%s{\"cpu\":%u,\"rows\":[", i ? "," : "",
		       c->cpus.cpu[i]);
		for (unsigned int j = 0; j < n; j++)
			json_row(&rows[j], j);
		fputs("]}", stdout);
		free(rows);
	}
	putchar(']');
	return 0;
}

static int json_stats(const struct control *c)
{
	struct stat_line line[NSTAT];
	int err = read_stats(c, line);

	if (err)
		return err;
	fputs(",\"stats\":{", stdout);
	for (unsigned int i = 0; i < NSTAT; i++)
		printf("%s\"%s\":%" PRIu64, i ? "," : "", line[i].key,
		       line[i].value);
	putchar('}');
	return 0;
}

int control_show_json(const struct control *c)
{
	char cpuid[HWPMC_NAME_MAX];
	struct cpus online = { 0 };
	int err = 0;

	cpuid_text(c, cpuid);
	cpus_online(&online);
	printf("{\"cpuid\":");
	fmt_json_string(stdout, cpuid);
	printf(",\"cpus_online\":%u", online.n);
	json_module(c);
	json_pmu(c);
	if (c->h) {
		json_classes(hwpmc_cpuinfo(c->h));
		json_notes(c->h);
		putchar(',');
		json_pair("guests", guests_text(hwpmc_cpuinfo(c->h)));
	}
	if (c->h && c->rows)
		err = json_rows(c);
	if (c->h && c->stats && !err)
		err = json_stats(c);
	puts("}");
	if (!c->h && (c->rows || c->stats)) {
		msg("%s", c->why);
		return EXIT_FAILED;
	}
	return err;
}
