/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * power.c - names of events of the classes RAPL (energy) and PERF (frequency): FreeBSD's
 * with the class, and perf's. Pure.
 */
#include <string.h>

#include "event.h"

static const struct event_power table[] = {
	{ "rapl_pkg", "energy_pkg", HWPMC_CLASS_RAPL, HWPMC_EV_RAPL_PKG,
	  "energy of a package, microjoules (system scope)" },
	{ "rapl_cores", "energy_cores", HWPMC_CLASS_RAPL, HWPMC_EV_RAPL_CORES,
	  "energy of a package's cores (AMD: of one core), microjoules" },
	{ "rapl_gpu", "energy_gpu", HWPMC_CLASS_RAPL, HWPMC_EV_RAPL_GPU,
	  "energy of a package's graphics, microjoules" },
	{ "rapl_dram", "energy_ram", HWPMC_CLASS_RAPL, HWPMC_EV_RAPL_DRAM,
	  "energy of a package's memory, microjoules" },
	{ "rapl_platform", "energy_psys", HWPMC_CLASS_RAPL, HWPMC_EV_RAPL_PLATFORM,
	  "energy of the platform, microjoules" },
	{ "perf_mperf", "mperf", HWPMC_CLASS_PERF, HWPMC_EV_PERF_MPERF,
	  "cycles not halted, at the time-stamp counter's frequency (system scope)" },
	{ "perf_aperf", "aperf", HWPMC_CLASS_PERF, HWPMC_EV_PERF_APERF,
	  "cycles not halted, at the actual frequency (system scope)" },
};

const struct event_power *event_power_at(unsigned int n)
{
	return n < sizeof(table) / sizeof(table[0]) ? &table[n] : NULL;
}

const struct event_power *event_power(const char *name)
{
	for (unsigned int i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(name, table[i].name) || !strcmp(name, table[i].alias))
			return &table[i];
	return NULL;
}
