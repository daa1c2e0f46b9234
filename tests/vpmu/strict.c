// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * strict.c - with the option strict=FAMILY-MODEL (decimal): which counter of that model can
 * count which event; another one counts 0, as the processor's does. Intel's by the vendor's
 * event files (data/events), AMD's as below; nothing here is the module's. An event that the
 * files do not have counts nowhere, but for the architectural ones, which count everywhere. One
 * that they have and that event.c does not play counts as many as instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vpmu.h"

/* Made by tests/events/make-counters; vpmu.mk says where they are. */
#define EMBED(name, file)						\
	__asm__(".section .rodata\n" #name ": .incbin \"" file "\"\n"	\
		".byte 0\n.previous\n");				\
	extern const char name[] __attribute__((visibility("hidden")))

EMBED(strict_counters, "intel-counters.tsv");
EMBED(strict_models, "intel-models.tsv");

struct rule {
	uint64_t select;	/* event, unit mask, modifiers */
	uint64_t counters;
};

/* By kind of core, as machine.c numbers them. */
static struct rule *rules[MAX_KINDS];
static size_t nrules[MAX_KINDS];
static int amd_family;
static bool on;

#define CODE		(0xffffULL | 0xffULL << 40)
#define MODIFIERS	(1ULL << 18 | 1ULL << 21 | 1ULL << 23 | 0xffULL << 24 | 1ULL << 36)

/* Those of CPUID leaf 0xA, of versions 1 to 5. */
static bool is_architectural(uint64_t sel)
{
	static const uint16_t codes[] = {
		0x3c, 0xc0, 0x13c, 0x4f2e, 0x412e, 0xc4, 0xc5, 0x1a4,
	};

	for (size_t i = 0; i < G_N_ELEMENTS(codes); i++)
		if ((sel & CODE) == codes[i])
			return true;
	return false;
}

/* The kinds of core in the order of machine.c, as the files name them. */
static const char *const kind_name[MAX_KINDS] = { "Core", "Atom", "LowPower_Atom" };

static bool has_word(char *list, const char *separators, const char *word)
{
	char *save;

	for (char *w = strtok_r(list, separators, &save); w; w = strtok_r(NULL, separators, &save))
		if (!strcmp(w, word))
			return true;
	return false;
}

/* The file of a model's cores of this kind ("-": of its only kind). */
static bool find_file(const char *kind, const char *model, char file[64])
{
	for (const char *line = strict_models; line && *line; ) {
		const char *end = strchr(line, '\n');
		char kinds[64], models[256];

		if (sscanf(line, "%63s\t%63s\t%255[^\n]", file, kinds, models) == 3 &&
		    has_word(kinds, ",", kind) && has_word(models, " ", model))
			return true;
		line = end ? end + 1 : NULL;
	}
	return false;
}

static void take_line(int k, const char *text, const char *end)
{
	char *next;
	uint64_t counters = strtoull(text, &next, 16);

	while (next < end) {
		rules[k] = g_renew(struct rule, rules[k], nrules[k] + 1);
		rules[k][nrules[k]].counters = counters;
		rules[k][nrules[k]++].select = strtoull(next, &next, 16);
		while (next < end && (*next == ' ' || *next == '\t'))
			next++;
	}
}

static void take_file(int k, const char *file)
{
	size_t len = strlen(file);

	for (const char *line = strict_counters; line && *line; ) {
		const char *end = strchr(line, '\n');

		if (!strncmp(line, file, len) && line[len] == '\t' && end)
			take_line(k, line + len + 1, end);
		line = end ? end + 1 : NULL;
	}
}

/* False: no such option. A model without a file has the architectural events alone. */
bool strict_option(const char *val)
{
	char file[64], hex[16];
	int family, model;

	on = strcmp(val, "off");
	if (!on)
		return true;
	if (sscanf(val, "%d-%d", &family, &model) != 2)
		return false;
	amd_family = cfg.family = family;
	cfg.model = model;
	if (family != 6)
		return true;
	snprintf(hex, sizeof(hex), "%x", model);
	for (int k = 0; k < MAX_KINDS; k++) {
		g_free(rules[k]);
		rules[k] = NULL;
		nrules[k] = 0;
		if (find_file(kind_name[k], hex, file) || find_file("-", hex, file))
			take_file(k, file);
	}
	return true;
}

/* Which counters, by the entry with these modifiers, or else by those with others. */
static uint64_t intel_counters(int k, uint64_t sel)
{
	uint64_t others = 0;

	for (size_t i = 0; i < nrules[k]; i++) {
		if (rules[k][i].select == (sel & (CODE | MODIFIERS)))
			return rules[k][i].counters;
		if ((rules[k][i].select & CODE) == (sel & CODE))
			others |= rules[k][i].counters;
	}
	return others;
}

/* AMD's manuals: a table for family 15h; later ones join two counters for 003. */
static bool amd_allows(const struct vcpu *v, int i, uint64_t sel)
{
	unsigned int event = (sel & 0xff) | (sel >> 24 & 0xf00);
	unsigned int unit = event >> 4 & 0xf;

	if (amd_family >= 0x17)
		return event != 0x003 || counter_is_joined(v, i);
	if (amd_family != 0x15)
		return true;
	switch (unit) {
	case 0x0: case 0x1:
		return i >= 3;
	case 0x2: case 0x3: case 0x4: case 0x5: case 0xc:
		return true;
	case 0xa: case 0xb: case 0xe: case 0xf:
		return false;
	}
	return i < 3;
}

/* Asked at each change of any register, so the answer for a select is kept. */
bool strict_allows(struct vcpu *v, int i, uint64_t sel)
{
	struct counter *c = &v->ctr[i];

	if (!on || cfg.p4)
		return true;
	if (cfg.amd)
		return amd_allows(v, i, sel);
	if (c->known && c->asked == sel)
		return c->can;
	c->known = true;
	c->asked = sel;
	c->can = is_architectural(sel) || intel_counters(v->kind, sel) >> i & 1;
	return c->can;
}

/* Is it an event of Intel's files that this counter can count? */
bool strict_lists(struct vcpu *v, int i, uint64_t sel)
{
	return on && !cfg.amd && !cfg.p4 && strict_allows(v, i, sel);
}
