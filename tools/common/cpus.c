/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpus.c - lists of CPUs. The parser is pure; one function reads /sys.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpus.h"

#define ONLINE	"/sys/devices/system/cpu/online"
#define SMT	"/sys/devices/system/cpu/smt/active"

static int cpu_number(const char **s, unsigned long *value)
{
	char *end;

	if (**s < '0' || **s > '9')
		return -1;
	*value = strtoul(*s, &end, 10);
	*s = end;
	return *value < CPUS_MAX ? 0 : -1;
}

static int mark_range(const char **s, bool *wanted)
{
	unsigned long first, last;

	if (cpu_number(s, &first) < 0)
		return -1;
	last = first;
	if (**s == '-') {
		(*s)++;
		if (cpu_number(s, &last) < 0 || last < first)
			return -1;
	}
	memset(wanted + first, true, last - first + 1);
	return 0;
}

int cpus_parse(const char *text, struct cpus *list)
{
	bool wanted[CPUS_MAX] = { false };

	for (;; text++) {
		if (mark_range(&text, wanted) < 0)
			return -1;
		if (!*text)
			break;
		if (*text != ',')
			return -1;
	}
	list->n = 0;
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++)
		if (wanted[cpu])
			list->cpu[list->n++] = cpu;
	return 0;
}

int cpus_online(struct cpus *list)
{
	char line[4096];
	FILE *f = fopen(ONLINE, "re");
	int ok;

	if (!f)
		return -1;
	ok = fgets(line, sizeof(line), f) != NULL;
	fclose(f);
	line[ok ? strcspn(line, "\n") : 0] = '\0';
	if (cpus_parse(line, list) < 0) {
		errno = EINVAL;
		return -1;
	}
	return 0;
}

static unsigned int topology_number(unsigned int cpu, const char *what)
{
	unsigned int n = 0;
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/%s", cpu,
		 what);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%u", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

struct cpu_place cpu_place(unsigned int cpu)
{
	return (struct cpu_place){
		.socket = topology_number(cpu, "physical_package_id"),
		.die = topology_number(cpu, "die_id"),
		.core = topology_number(cpu, "core_id"),
	};
}

bool cpus_smt_active(void)
{
	FILE *f = fopen(SMT, "re");
	int active = 0;

	if (!f)
		return false;
	if (fscanf(f, "%d", &active) != 1)
		active = 0;
	fclose(f);
	return active == 1;
}
