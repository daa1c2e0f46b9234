/* SPDX-License-Identifier: BSD-2-Clause */
/* energy.c - class RAPL against the kernel's powercap, while one CPU is busy. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "long.h"
#include "selftest/judge.h"

#define ZONES		16
#define LEAST_NS	1000000000ull

/* A zone of powercap, and the PMC that counts the same. */
struct zone {
	char path[300], name[64];
	uint32_t id;
	uint64_t first[2], last[2];	/* powercap's and ours, microjoules */
};

static uint64_t energy_of(const struct zone *z)
{
	char path[340], line[40];

	snprintf(path, sizeof(path), "%s/energy_uj", z->path);
	return long_line(path, line, sizeof(line)) ? strtoull(line, NULL, 10) : 0;
}

/* The event of a zone by its name: "package-0", "core", "uncore", "dram", "psys". */
static const char *event_of(const char *name)
{
	static const struct { const char *zone, *event; } table[] = {
		{ "package-0", "rapl_pkg" }, { "core", "rapl_cores" },
		{ "uncore", "rapl_gpu" }, { "dram", "rapl_dram" },
		{ "psys", "rapl_platform" },
	};

	for (unsigned int i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (strcmp(name, table[i].zone) == 0)
			return table[i].event;
	return NULL;
}

static bool open_zone(struct selftest *t, const char *dir, struct zone *z, int cpu)
{
	const char *event;
	char path[340];

	snprintf(z->path, sizeof(z->path), "/sys/class/powercap/%s", dir);
	snprintf(path, sizeof(path), "%s/name", z->path);
	if (!long_line(path, z->name, sizeof(z->name)))
		return false;
	event = event_of(z->name);
	if (!event || !energy_of(z))
		return false;
	if (hwpmc_allocate(t->h, event, HWPMC_MODE_SC, 0, cpu, 0, &z->id) < 0)
		return false;
	if (hwpmc_start(t->h, z->id) == 0)
		return true;
	hwpmc_release(t->h, z->id);
	return false;
}

static unsigned int open_zones(struct selftest *t, struct zone *z, int cpu)
{
	DIR *d = opendir("/sys/class/powercap");
	unsigned int n = 0;
	struct dirent *e;

	while (d && n < ZONES && (e = readdir(d)))
		if (strncmp(e->d_name, "intel-rapl:0", 12) == 0 ||
		    strcmp(e->d_name, "intel-rapl:1") == 0)
			n += open_zone(t, e->d_name, &z[n], cpu);
	if (d)
		closedir(d);
	return n;
}

static void look(struct selftest *t, struct zone *z, uint64_t *value)
{
	value[0] = energy_of(z);
	if (hwpmc_read(t->h, z->id, &value[1]) < 0)
		value[1] = 0;
}

static void judge(struct selftest *t, const struct zone *z, double seconds)
{
	uint64_t theirs = z->last[0] - z->first[0], ours = z->last[1] - z->first[1];

	long_number(t, ours, "%s.uj", z->name);
	long_number(t, theirs, "%s.powercap_uj", z->name);
	if (!theirs && !ours)
		st_measured(t, "energy", "%s: no energy in %.0f s, by powercap as well", z->name,
			    seconds);
	else if (judge_energy(ours, theirs))
		st_held(t, "energy", "%s: %.3f J in %.0f s, powercap has %.3f J", z->name,
			ours / 1e6, seconds, theirs / 1e6);
	else
		st_failed(t, "energy", "%s: %.3f J in %.0f s, powercap has %.3f J", z->name,
			  ours / 1e6, seconds, theirs / 1e6);
}

void long_energy(struct selftest *t)
{
	struct zone z[ZONES];
	uint64_t begin = st_ns();
	unsigned int n;
	int cpu = 0;

	st_cpus(&cpu, 1);
	n = open_zones(t, z, cpu);
	if (!n) {
		st_not_tried(t, "energy", "energy: powercap has no zone that class RAPL counts here");
		return;
	}
	for (unsigned int i = 0; i < n; i++)
		look(t, &z[i], z[i].first);
	do {
		st_loop(1000000);
	} while (long_more(t) || (!long_stopped() && st_ns() - begin < LEAST_NS));
	for (unsigned int i = 0; i < n; i++) {
		look(t, &z[i], z[i].last);
		hwpmc_release(t->h, z[i].id);
		judge(t, &z[i], (st_ns() - begin) / 1e9);
	}
}
