/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.h - what kind of machine this is, as far as defaults depend on it. */
#ifndef TOOLS_MACHINE_H
#define TOOLS_MACHINE_H

#include <stdbool.h>

#include <libhwpmc.h>

/* Are there counters of hardware beside the TSC? Where not, the kernel's own
 * events are what a tool counts and samples. */
bool machine_has_counters(struct hwpmc *h);
/* Why it has none, a clause without a full stop. */
const char *machine_without_counters(struct hwpmc *h);

#endif
