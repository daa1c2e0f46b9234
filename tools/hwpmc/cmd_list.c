/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cmd_list.c - "hwpmc list": the events that this machine can count, by class.
 * The library knows them; here is only how they are shown.
 */
#include <ctype.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <libhwpmc.h>

#include "common/commands.h"
#include "common/fmt.h"
#include "common/machine.h"
#include "common/msg.h"
#include "list.h"

const char cmd_list_help[] =
"usage: hwpmc list [-v] [--json] [--metrics] [pattern ...]\n"
"\n"
"List the events that this machine can count, by class of counter: first names\n"
"that work on all machines, then those of the processor. With patterns, list only\n"
"events with one of them in the name (case is ignored; space . _ - are equal).\n"
"Without the module the list is that of the processor's tables.\n"
"\n"
"  -v              print full descriptions, the table of each name, the kind of\n"
"                  core and the counters that can count the event\n"
"      --metrics   list the metrics of stat -M by name and group; with -v: with\n"
"                  their formulas\n"
"      --json      print one JSON object per line\n";

#define NAME_COLUMN	30

struct list {
	bool verbose, json;
	bool offline;			/* the device cannot be opened */
	char **pattern;			/* ends with NULL */
	unsigned int columns;		/* of the terminal, 0: no limit */
	struct hwpmc *h;
	struct hwpmc_event_info *event;	/* to show; their strings are copies */
	unsigned int nevent;
	unsigned int shown, before;	/* before: of other classes */
	bool named;			/* a table has this processor's events */
};

static char put_plain(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A' + 'a';
	return c == ' ' || c == '.' || c == '_' ? '-' : c;
}

bool list_has_part(const char *name, const char *part)
{
	char first = put_plain(*part);

	for (; *name; name++) {
		size_t i = 0;

		if (put_plain(*name) != first && first)
			continue;
		while (part[i] && put_plain(name[i]) == put_plain(part[i]))
			i++;
		if (!part[i])
			return true;
	}
	return !*part;
}

static bool event_wanted(const struct list *l, const char *name)
{
	if (!*l->pattern)
		return true;
	for (char **p = l->pattern; *p; p++)
		if (list_has_part(name, *p))
			return true;
	return false;
}

static const char *class_name(uint32_t class_id)
{
	const char *name = hwpmc_name_of_class(class_id);

	return name ? name : "?";
}

static void print_json(const struct hwpmc_event_info *info)
{
	fputs("{\"event\":", stdout);
	fmt_json_string(stdout, info->name);
	printf(",\"class\":\"%s\",\"table\":", class_name(info->class_id));
	if (info->pmu)
		fmt_json_string(stdout, info->pmu);
	else
		fputs("null", stdout);
	fputs(",\"kind\":", stdout);
	if (info->kind)
		fmt_json_string(stdout, info->kind);
	else
		fputs("null", stdout);
	printf(",\"counters\":%ju,\"fixed\":%u,\"deprecated\":%s",
	       (uintmax_t)info->counters, info->fixed,
	       info->deprecated ? "true" : "false");
	fputs(",\"description\":", stdout);
	fmt_json_string(stdout, info->desc ? info->desc : "");
	puts("}");
}

/* "counters 0-3", "counters 0,2", "fixed counter 1" */
static void print_counters(uint64_t bits, const char *what)
{
	const char *separator = "";

	if (!bits)
		return;
	printf(", %s%s ", what, bits & (bits - 1) ? "s" : "");
	for (unsigned int i = 0, last; i < 64; i = last + 1) {
		last = i;
		if (!(bits >> i & 1))
			continue;
		while (last < 63 && bits >> (last + 1) & 1)
			last++;
		printf(last > i ? "%s%u-%u" : "%s%u", separator, i, last);
		separator = ",";
	}
}

static void print_long(const struct hwpmc_event_info *info)
{
	printf("  %s%s%s", info->name, info->pmu ? "  of " : "",
	       info->pmu ? info->pmu : "");
	if (info->kind && strcmp(info->kind, "cpu") != 0)
		printf(" (%s)", info->kind);
	print_counters(info->counters, "counter");
	print_counters(info->fixed, "fixed counter");
	printf("%s\n", info->deprecated ? ", deprecated" : "");
	if (info->desc && *info->desc)
		printf("      %s\n", info->desc);
}

/* What fits on the rest of a line, with a mark where it was cut. */
static void print_short(const struct list *l, const char *name,
			const char *desc)
{
	int used = strlen(name) > NAME_COLUMN ? strlen(name) : NAME_COLUMN;
	int room = l->columns ? (int)l->columns - used - 5 : 0;
	int len = strlen(desc);

	printf("  %-*s", NAME_COLUMN, name);
	if (!*desc)
		;
	else if (!l->columns || len <= room)
		printf("  %s", desc);
	else if (room > 10)
		printf("  %.*s...", room - 3, desc);
	putchar('\n');
}

/* 0: it is no event of class SOFT. */
static uint32_t soft_code(struct hwpmc *h, const char *name)
{
	struct hwpmc_event ev;

	if (hwpmc_event_parse(h, name, &ev) < 0 ||
	    ev.code[0].class_id != HWPMC_CLASS_SOFT)
		return 0;
	return ev.code[0].ev;
}

/* The name of an event of the kernel that stat prints and takes: perf's, else its own
 * without the class. */
static const char *soft_name(const struct list *l, const char *name)
{
	static const char *const perfs[] = {
		"page-faults", "context-switches", "cpu-migrations",
	};
	static char plain[256];
	uint32_t code;
	size_t i;

	/* Those of tracepoints need the class; there are thousands, and what is no event
	 * is looked for in all tables. */
	if (strncmp(name, "SOFT-", 5) != 0 ||
	    strpbrk(name + 5, "abcdefghijklmnopqrstuvwxyz"))
		return name;
	code = soft_code(l->h, name);
	if (!code)
		return name;
	for (i = 0; i < sizeof(perfs) / sizeof(*perfs); i++)
		if (soft_code(l->h, perfs[i]) == code)
			return perfs[i];
	for (i = 0; name[i + 5] && i < sizeof(plain) - 1; i++)
		plain[i] = tolower((unsigned char)name[i + 5]);
	plain[i] = '\0';
	return soft_code(l->h, plain) == code ? plain : name;
}

/* libpfm4's table of what all processors have has no events of this one alone. */
static bool names_processor(const struct hwpmc_event_info *info)
{
	return info->pmu && strcmp(info->pmu, "ix86arch") != 0;
}

/* Before an event is looked for. Those of the kernel may be shown by another name. */
static bool may_be_wanted(const struct hwpmc_event_info *info, void *arg)
{
	const struct list *l = arg;

	return info->class_id == HWPMC_CLASS_SOFT || event_wanted(l, info->name) ||
	       (!l->named && names_processor(info));
}

static const char *copy_of(const char *text)
{
	return text ? must_strdup(text) : NULL;
}

static int keep_event(const struct hwpmc_event_info *info, void *arg)
{
	struct hwpmc_event_info *kept;
	const char *name = info->name;
	struct list *l = arg;

	l->named |= names_processor(info);
	if (info->class_id == HWPMC_CLASS_SOFT)
		name = soft_name(l, name);
	if (!event_wanted(l, name) && (name == info->name || !event_wanted(l, info->name)))
		return 0;
	/* Twice as much as there is. */
	if (!(l->nevent & (l->nevent - 1)))
		l->event = must_realloc(l->event, 2 * l->nevent + 1, sizeof(*l->event));
	kept = &l->event[l->nevent++];
	*kept = *info;
	kept->name = copy_of(name);
	kept->desc = copy_of(info->desc);
	kept->pmu = copy_of(info->pmu);
	kept->kind = copy_of(info->kind);
	return 0;
}

static void free_events(struct list *l)
{
	for (unsigned int i = 0; i < l->nevent; i++) {
		free((char *)l->event[i].name);
		free((char *)l->event[i].desc);
		free((char *)l->event[i].pmu);
		free((char *)l->event[i].kind);
	}
	free(l->event);
}

static void show_event(struct list *l, const struct hwpmc_event_info *info)
{
	const char *desc = info->desc ? info->desc : "";
	char text[600];

	if (l->json) {
		print_json(info);
		l->shown++;
		return;
	}
	if (l->shown == l->before)
		printf("%s%s:\n", l->shown ? "\n" : "",
		       class_name(info->class_id));
	l->shown++;
	if (!l->verbose && info->kind && strcmp(info->kind, "cpu") != 0) {
		snprintf(text, sizeof(text), "%s%s%s", info->kind, *desc ? ": " : "", desc);
		desc = text;
	}
	if (l->verbose)
		print_long(info);
	else
		print_short(l, info->name, desc);
}

/* An event that two classes count is shown with the first. */
static void show_class(struct list *l, uint32_t class_id)
{
	l->before = l->shown;
	for (unsigned int i = 0; i < l->nevent; i++)
		if (l->event[i].class_id == class_id)
			show_event(l, &l->event[i]);
}

static unsigned int terminal_columns(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return 0;
	return size.ws_col;
}

/* The end of a list of all. */
static void print_missing(struct hwpmc *h)
{
	char missing[600];

	machine_missing(h, missing, sizeof(missing));
	if (missing[0])
		printf("\nnot available: %s\n", missing);
}

/* Class by class: what comes first in a class is what works everywhere. */
static int list_all(struct hwpmc *h, struct list *l)
{
	const struct hwpmc_op_getcpuinfo *info = hwpmc_cpuinfo(h);
	int found;

	if (!machine_has_counters(h) && l->offline && !l->json)
		msg("CPUID shows no hardware counters that hwpmc supports; events of the kernel can be counted");
	else if (!machine_has_counters(h) && !l->json)
		msg("this machine has no usable hardware counters: %s", machine_without_counters(h));
	found = hwpmc_event_each_wanted(h, HWPMC_CLASS_EVERY, may_be_wanted, keep_event, l);
	for (unsigned int i = 0; i < info->nclass && i < HWPMC_CLASS_MAX; i++)
		show_class(l, info->classes[i].class);
	if (found < 0) {
		msg("%s", hwpmc_error(h));
		return EXIT_FAILED;
	}
	if (machine_has_counters(h) && !l->named && !l->json)
		msg("no table has the events of this processor (%.63s): use architectural "
		    "events or raw codes, or add a table: see hwpmc_events(5)",
		    info->cpuid);
	if (l->shown && !*l->pattern && !l->json && !l->offline)
		print_missing(h);
	if (l->shown)
		return 0;
	if (*l->pattern)
		msg("no event of this machine has '%s' in its name; see: "
		    "hwpmc list", *l->pattern);
	else
		msg("cannot list events: this machine has none");
	return EXIT_FAILED;
}

/* What cannot count can be listed all the same. */
static int open_list(struct hwpmc **h, bool *offline)
{
	if (hwpmc_open(h) == 0)
		return 0;
	msg("%s", hwpmc_error(NULL));
	if (hwpmc_open_names(h) < 0) {
		msg("%s", hwpmc_error(NULL));
		return -1;
	}
	*offline = true;
	msg("listing the events of this processor (%.63s) by its tables, without tracepoints",
	    hwpmc_cpuinfo(*h)->cpuid);
	return 0;
}

int cmd_list(int argc, char *argv[])
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "verbose", no_argument, NULL, 'v' },
		{ "json", no_argument, NULL, 'j' },
		{ "metrics", no_argument, NULL, 'm' },
		{ NULL, 0, NULL, 0 },
	};
	struct list l = { .columns = terminal_columns() };
	bool metrics = false;
	struct hwpmc *h;
	int c, status;

	while ((c = getopt_long(argc, argv, ":v", options, NULL)) != -1) {
		if (c == 'h') {
			fputs(cmd_list_help, stdout);
			return 0;
		}
		if (c == '?' || c == ':')
			return msg_bad_option(c, optopt, argv, optind);
		l.verbose |= c == 'v';
		l.json |= c == 'j';
		metrics |= c == 'm';
	}
	l.pattern = argv + optind;
	/* libpfm4 would open a file for each tracepoint of the kernel, of which none is listed. */
	setenv("LIBPFM_DISABLED_PMUS", "perf", 0);
	if (open_list(&h, &l.offline) < 0)
		return EXIT_FAILED;
	l.h = h;
	status = metrics ? list_metrics(h, &(struct list_request){ l.verbose, l.json, l.pattern }) :
		 list_all(h, &l);
	free_events(&l);
	hwpmc_close(h);
	return status;
}
