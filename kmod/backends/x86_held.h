/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * x86_held.h - do others have the counters reserved? Without a reservation of our own, which
 * would keep them from it for a moment: perf would refuse an event.
 */
#ifndef HWPMC_X86_HELD_H
#define HWPMC_X86_HELD_H

#include "../compat/types.h"

/* At load and unload; after init, one reservation has to be tried. */
void hwpmc_x86_held_init(void);
void hwpmc_x86_held_exit(void);

/* Around what the module itself reserves or lets perf reserve, and whether others had
 * something. hwpmc_lock, or at load. */
void hwpmc_x86_held_try(void);
/* The same without an answer. */
void hwpmc_x86_held_asked(void);
void hwpmc_x86_held_tried(bool others);

/* Have others reserved a counter? Any context. */
bool hwpmc_x86_is_held(void);

/* Changes with each reservation by others, 0: these are not seen on this kernel. */
u64 hwpmc_x86_held_times(void);

#endif /* HWPMC_X86_HELD_H */
