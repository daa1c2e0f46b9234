/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cpus.h - lists of CPUs: "0,2-5", and those that are online.
 */
#ifndef TOOLS_CPUS_H
#define TOOLS_CPUS_H

#include <stdbool.h>

#define CPUS_MAX	4096	/* as many as a PMC's id can name */

/* In rising order, each once. */
struct cpus {
	unsigned int n;
	unsigned int cpu[CPUS_MAX];
};

/* Numbers and ranges with commas between. 0, or -1: not such a list. Pure. */
int cpus_parse(const char *text, struct cpus *list);

/* What the kernel says. 0, or -1 with errno. */
int cpus_online(struct cpus *list);

/* Where a CPU is: physical_package_id, die_id and core_id of its topology in /sys; 0 what
 * the kernel does not say. */
struct cpu_place {
	unsigned int socket, die, core;
};

struct cpu_place cpu_place(unsigned int cpu);

/* Do some cores run two threads now? */
bool cpus_smt_active(void);

#endif
