/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* hotplug.h - the CPUs' state, and what CPUs that come and go do to it. */
#ifndef HWPMC_HOTPLUG_H
#define HWPMC_HOTPLUG_H

/* Makes hwpmc_cpus. Process context, at load and unload. */
int hwpmc_hotplug_init(void);
void hwpmc_hotplug_exit(void);

#endif /* HWPMC_HOTPLUG_H */
