/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * look.h - looks once a second whether the counters still count, under a hypervisor: it may have
 * taken one, or moved the machine. A count that lacks events is made an error (core/doubt.h),
 * and the registers are written again.
 */
#ifndef HWPMC_LOOK_H
#define HWPMC_LOOK_H

/* A class was claimed. hwpmc_lock. */
void hwpmc_look_begin(void);
void hwpmc_look_exit(void);

#endif /* HWPMC_LOOK_H */
