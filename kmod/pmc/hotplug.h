/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* hotplug.h - makes the CPUs' state, and follows CPUs that go online and offline. */
#ifndef HWPMC_HOTPLUG_H
#define HWPMC_HOTPLUG_H

/* Allocate hwpmc_cpus and register the callbacks. Process context, at load and unload. */
int hwpmc_hotplug_init(void);
void hwpmc_hotplug_exit(void);

#endif /* HWPMC_HOTPLUG_H */
