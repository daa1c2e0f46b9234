/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * watch.h - what must hold whatever was done: looked at from outside, by the kernel's
 * messages, the module's own tables and the emulated PMU's registers. All of it
 * answers NULL, or what is wrong.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>

/* What refusals must leave alone: rows on all CPUs, and who has the hardware. */
struct snapshot {
	unsigned char bytes[2 * 64 * 112 + 512];
};

void snapshot_take(int fd, struct snapshot *s);
/* NULL: nothing. */
const char *snapshot_changed(int fd, const struct snapshot *s);

/* Kernel messages from now on; then those that no run may have. */
void watch_messages(void);
const char *watch_complaint(void);
/* CPUs on, tunables as they were, rows enabled, the histogram empty. */
void watch_restore(void);
/* No PMC, no row, no register is left; `perf` was at them, too. */
const char *watch_leftovers(bool perf);
/* A program of known length is counted to the instruction. */
const char *watch_counts(void);
/* rmmod and insmod succeed. */
const char *watch_reload(const char *module);

#endif
