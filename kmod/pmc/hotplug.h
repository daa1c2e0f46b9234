/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* hotplug.h - makes the CPUs' state, and follows CPUs that go online and offline. */
#ifndef HWPMC_HOTPLUG_H
#define HWPMC_HOTPLUG_H

struct hwpmc_cpu;

/* Allocate hwpmc_cpus and register the callbacks. Process context, at load and unload. */
int hwpmc_hotplug_init(void);
void hwpmc_hotplug_exit(void);

/* Programs all rows of this CPU again, after all have been stopped: slices go on from the
 * values that the counters have then. Interrupts off. */
void hwpmc_hotplug_renew_irqoff(struct hwpmc_cpu *c);

#endif /* HWPMC_HOTPLUG_H */
