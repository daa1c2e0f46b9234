/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.h - what kind of machine this is, as far as defaults depend on it. */
#ifndef TOOLS_MACHINE_H
#define TOOLS_MACHINE_H

#include <stdbool.h>

#include <libhwpmc.h>

/* Are there counters of the processor's cores, for events that one chooses? Where not, the
 * kernel's own events are what a tool counts and samples. TSC, energy, APERF and MPERF are
 * no such counters. */
bool machine_has_counters(struct hwpmc *h);
bool machine_lists_counters(const struct hwpmc_op_getcpuinfo *info);
/* Why it has none, a clause without a full stop. */
const char *machine_without_counters(struct hwpmc *h);
/* "RAPL, PERF (the hypervisor gives ...)": the classes that are missing, and why. "" where
 * none is. */
void machine_missing(struct hwpmc *h, char *buf, size_t size);
/* A message, in one line, of what the module found not to count or interrupt here when it
 * last took the counters; nothing where all does. */
void machine_say_findings(struct hwpmc *h);
/*
 * Does the note mean that no event can be counted: no counter of the class counts? Fixed
 * counters alone are no loss, since the others count their events.
 */
bool machine_note_is_of_all(const struct hwpmc_op_getcpuinfo *info,
			    const struct hwpmc_classnote *note);
/* Is the note about a class that is missing? */
bool machine_note_is_missing(struct hwpmc *h, const struct hwpmc_classnote *note);

#endif
