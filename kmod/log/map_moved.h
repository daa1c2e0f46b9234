/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * map_moved.h - MAP_IN records of code that mremap() has moved or made larger: the kernel
 * calls perf_event_mmap() (map_probes.h) for all other new mappings, but not for these.
 */
#ifndef HWPMC_MAP_MOVED_H
#define HWPMC_MAP_MOVED_H

/* While hwpmc_mappings_hook() is in force. */
int hwpmc_moved_hook(void);
void hwpmc_moved_unhook(void);

#endif /* HWPMC_MAP_MOVED_H */
