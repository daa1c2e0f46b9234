/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * map_probes.h - kprobes on new mappings and on the end of mappings, while PMCs need them.
 */
#ifndef HWPMC_MAP_PROBES_H
#define HWPMC_MAP_PROBES_H

/* MAP_IN records of new mappings. */
int hwpmc_mappings_hook(void);
void hwpmc_mappings_unhook(void);
/* Mappings for walks by unwind tables. Calls pair. hwpmc_lock; may sleep. */
int hwpmc_mappings_follow(void);
void hwpmc_mappings_unfollow(void);

#endif /* HWPMC_MAP_PROBES_H */
