// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_intel_events.c - every event of Intel's published files, on every model: the
 * counters that the module gives it are those that can count it. The tables are in
 * tests/events, made by make-counters from the published files alone.
 */
#include <stdio.h>
#include <stdlib.h>

#include "backends/cputype.h"
#include "backends/intel_encode.h"
#include "backends/intel_kinds.h"
#include "backends/intel_regs.h"
#include "harness.h"

#define FILES	64
#define MODELS	16
#define LINE	65536

static struct file {
	char name[32], kinds[32];
	u32 model[MODELS];
	unsigned int nmodel;
	u64 counters;		/* of the CPU: those of any event */
} files[FILES];
static unsigned int nfile;

static unsigned int nmodel, nevent, nwide, nnarrow, nunknown;

/* Events that get fewer counters than the file names, and why. */
static struct {
	u16 event, bits;
	const char *why;
	unsigned int used;	/* events that it explained */
} narrow[] = {
	{ 0x010e, 0xffff, "four counters with some modifiers, eight with others", 0 },
	{ 0x01b1, 0xffff, "the same", 0 },
	{ 0x01c2, 0xffff, "the same", 0 },
	{ 0x00a3, 0x00ff, "the same: its unit masks are flags that combine", 0 },
};

static FILE *table(const char *name)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), EVENTS_SRC "/%s", name);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "%s", path);
	return f;
}

static struct file *file_of(const char *name)
{
	for (unsigned int i = 0; i < nfile; i++)
		if (!strcmp(files[i].name, name))
			return &files[i];
	ck_abort_msg("%s is in no line of intel-models.tsv", name);
}

static void read_models(void)
{
	FILE *f = table("intel-models.tsv");
	char line[512];

	nfile = 0;
	while (fgets(line, sizeof(line), f)) {
		struct file *file = &files[nfile];
		char *models, *model;

		if (line[0] == '#')
			continue;
		ck_assert_uint_lt(nfile++, FILES);
		*file = (struct file){ 0 };
		ck_assert_int_eq(sscanf(line, "%31s %31s", file->name, file->kinds), 2);
		models = strrchr(line, '\t');
		for (model = strtok(models, "\t \n"); model; model = strtok(NULL, " \n")) {
			ck_assert_uint_lt(file->nmodel, MODELS);
			file->model[file->nmodel++] = strtoul(model, NULL, 16);
		}
	}
	fclose(f);
	ck_assert_uint_gt(nfile, 40);
}

/* fn() for each event of each file. */
static void each_event(void (*fn)(struct file *, u64 counters, u64 select))
{
	static char line[LINE];
	FILE *f = table("intel-counters.tsv");

	while (fgets(line, sizeof(line), f)) {
		struct file *file;
		char *event;
		u64 counters;

		if (line[0] == '#')
			continue;
		ck_assert_msg(strchr(line, '\n') != NULL, "a line is too long");
		file = file_of(strtok(line, "\t"));
		counters = strtoull(strtok(NULL, "\t"), NULL, 16);
		while ((event = strtok(NULL, " \n")))
			fn(file, counters, strtoull(event, NULL, 16));
	}
	fclose(f);
}

static void note_counters(struct file *file, u64 counters, u64 select)
{
	file->counters |= counters;
}

static bool is_explained(u64 select)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(narrow); i++)
		if ((select & narrow[i].bits) == narrow[i].event) {
			narrow[i].used++;
			return true;
		}
	return false;
}

/* Whose rules hold: of the kind of core that the file is of, or of the model. */
static u32 core_of(const struct file *file, u32 model)
{
	u32 kind = strstr(file->kinds, "LowPower") ? HWPMC_KIND_LOWPOWER :
		   strstr(file->kinds, "Atom") ? HWPMC_KIND_ATOM : HWPMC_KIND_CORE;

	return hwpmc_intel_kinds_of(model) ? hwpmc_intel_core_of(model, kind) :
					     hwpmc_core_intel(model);
}

static void compare_on_model(struct file *file, u32 model, u64 counters, u64 select)
{
	u32 cputype = core_of(file, model);
	u64 rows = hwpmc_intel_event_rows(cputype, select) & file->counters;

	if (cputype == HWPMC_CPU_GENERIC) {
		nunknown++;
		return;
	}
	nevent++;
	if (rows & ~counters) {
		nwide++;
		fprintf(stderr, "%s, model %#x: event %#jx gets counters %#jx, %#jx can count it\n",
			file->name, model, (uintmax_t)select, (uintmax_t)rows,
			(uintmax_t)counters);
	}
	if (!(counters & ~rows))
		return;
	nnarrow++;
	ck_assert_msg(is_explained(select), "%s, model %#x: event %#jx gets %#jx of %#jx",
		      file->name, model, (uintmax_t)select, (uintmax_t)rows,
		      (uintmax_t)counters);
}

static void compare(struct file *file, u64 counters, u64 select)
{
	for (unsigned int i = 0; i < file->nmodel; i++)
		compare_on_model(file, file->model[i], counters, select);
}

START_TEST(no_event_gets_a_counter_that_cannot_count_it_on_any_model)
{
	read_models();
	each_event(note_counters);
	each_event(compare);
	for (unsigned int i = 0; i < nfile; i++)
		nmodel += files[i].nmodel;
	printf("# %u models, %u events of those with a class: %u too wide, %u too narrow; %u events of others\n",
	       nmodel, nevent, nwide, nnarrow, nunknown);
	ck_assert_uint_eq(nwide, 0);
	ck_assert_uint_gt(nevent, 10000);
	for (unsigned int i = 0; i < ARRAY_SIZE(narrow); i++)
		ck_assert_msg(narrow[i].used, "%s: no event needs it", narrow[i].why);
}
END_TEST

static void check_unknown(struct file *file, u64 counters, u64 select)
{
	u64 rows = hwpmc_intel_event_rows(HWPMC_CPU_GENERIC, select);

	ck_assert_uint_eq(rows, hwpmc_intel_architectural(select) < 0 ? 0 : ~0ull);
	if (rows)
		nevent++;
}

/* Knights Landing, what is to come. */
START_TEST(a_model_without_a_table_counts_architectural_events_alone)
{
	ck_assert_uint_eq(hwpmc_core_intel(0x57), HWPMC_CPU_GENERIC);
	ck_assert_uint_eq(hwpmc_core_intel(0xd3), HWPMC_CPU_GENERIC);
	read_models();
	each_event(check_unknown);
	ck_assert_uint_gt(nevent, 100);
}
END_TEST

int main(void)
{
	harness_add(no_event_gets_a_counter_that_cannot_count_it_on_any_model);
	harness_add(a_model_without_a_table_counts_architectural_events_alone);
	return harness_run();
}
