/* SPDX-License-Identifier: BSD-2-Clause */
/* export_table.c - the formats that hwpmc report has. */
#include <string.h>

#include "export.h"

static const struct export_format formats[] = {
	{ .name = "flamegraph", .write = export_flamegraph },
	{ .name = "pprof", .write = export_pprof, .threads = true,
	  .binary = true },
	{ .name = "callgrind", .write = export_callgrind },
	{ .name = "gmon", .check = export_gmon_check, .write = export_gmon,
	  .binary = true },
	{ .name = "firefox", .write = export_firefox, .threads = true,
	  .timeline = true },
	{ .name = "speedscope", .write = export_speedscope, .threads = true,
	  .timeline = true },
};

#define NFORMAT	(sizeof(formats) / sizeof(*formats))

const struct export_format *export_find(const char *name)
{
	for (unsigned int i = 0; i < NFORMAT; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

const char *export_names(void)
{
	static char names[128];

	names[0] = '\0';
	for (unsigned int i = 0; i < NFORMAT; i++) {
		strcat(names, i ? ", " : "");
		strcat(names, formats[i].name);
	}
	return names;
}

void export_options(const struct export_format *format,
		    struct hwpmc_profile_options *o)
{
	o->leaf_only = false;
	o->by_thread |= format->threads;
	o->timeline |= format->timeline;
}

int export_check(const struct export_format *format,
		 struct hwpmc_profile *profile, const char *image)
{
	struct export x = export_of(profile, image);

	return format->check ? format->check(&x) : 0;
}

void export_write(const struct export_format *format,
		  struct hwpmc_profile *profile, const char *image, FILE *f)
{
	struct export x = export_of(profile, image);

	format->write(&x, f);
}
