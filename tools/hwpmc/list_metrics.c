/* SPDX-License-Identifier: BSD-2-Clause */
/* list_metrics.c - "hwpmc list --metrics": what stat -M takes on this machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "list.h"
#include "stat/define.h"

#define NAME_COLUMN	26
#define GROUP_COLUMN	14

static bool is_wanted(const struct define *def, char **pattern)
{
	if (!*pattern)
		return true;
	for (; *pattern; pattern++)
		if (list_has_part(def->name, *pattern) ||
		    list_has_part(def->groups, *pattern))
			return true;
	return false;
}

static void print_json(const struct define *def, const struct formula *f)
{
	fputs("{\"metric\":", stdout);
	fmt_json_string(stdout, def->name);
	fputs(",\"groups\":", stdout);
	fmt_json_string(stdout, def->groups);
	fputs(",\"unit\":", stdout);
	fmt_json_string(stdout, def->unit);
	fputs(",\"description\":", stdout);
	fmt_json_string(stdout, def->desc);
	fputs(",\"formula\":", stdout);
	fmt_json_string(stdout, def->formula);
	fputs(",\"events\":[", stdout);
	for (unsigned int i = 0; i < f->nevent; i++) {
		fputs(i ? "," : "", stdout);
		fmt_json_string(stdout, f->event[i]);
	}
	puts("]}");
}

static void print_text(const struct define *def, bool verbose)
{
	printf("  %-*s  ", NAME_COLUMN, def->name);
	fmt_put_plain(stdout, def->groups, GROUP_COLUMN);
	fputs("  ", stdout);
	fmt_put_plain(stdout, def->desc, 0);
	fputs(" (", stdout);
	fmt_put_plain(stdout, def->unit, 0);
	puts(")");
	if (!verbose)
		return;
	fputs("      ", stdout);
	fmt_put_plain(stdout, def->formula, 0);
	printf("\n      of %s, line %u%s\n", def->file, def->line,
	       def->alone ? ", while SMT is off" : "");
}

/* A metric is what the first section of its name counts that is usable. */
static bool was_shown(const struct defines *d, unsigned int i, const bool *usable)
{
	for (unsigned int j = 0; j < i; j++)
		if (usable[j] && strcmp(d->def[j].name, d->def[i].name) == 0)
			return true;
	return false;
}

static unsigned int show_all(const struct defines *d, struct hwpmc *h,
			     const struct list_request *r, bool *usable)
{
	unsigned int shown = 0;

	for (unsigned int i = 0; i < d->n; i++) {
		struct formula f;
		const char *why;

		usable[i] = define_usable(&d->def[i], h, &f, &why);
		if (!usable[i])
			continue;
		if (!was_shown(d, i, usable) && is_wanted(&d->def[i], r->pattern)) {
			if (!shown++ && !r->json)
				printf("  %-*s  %-*s  %s\n", NAME_COLUMN, "metric",
				       GROUP_COLUMN, "groups", "description (unit)");
			if (r->json)
				print_json(&d->def[i], &f);
			else
				print_text(&d->def[i], r->verbose);
		}
		formula_free(&f);
	}
	return shown;
}

int list_metrics(struct hwpmc *h, const struct list_request *r)
{
	struct defines d;
	unsigned int shown = 0;
	bool *usable;
	int rc = defines_load(&d);

	if (!rc) {
		usable = must_calloc(d.n + 1, sizeof(*usable));
		shown = show_all(&d, h, r, usable);
		free(usable);
		if (!shown)
			msg("no metric of this machine has this name or group; see: hwpmc list --metrics");
	}
	defines_free(&d);
	return shown ? 0 : EXIT_FAILED;
}
