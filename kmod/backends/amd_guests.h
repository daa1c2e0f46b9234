/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * amd_guests.h - counters of an AMD host count itself or its guests: bits 40 and 41 of a select.
 *
 * With either bit a counter stands still where the CPU's SVM is off, even if it is to count
 * the host. KVM turns SVM on with its first guest, or as it is loaded, and off after the last
 * one. So the bit for the host is in a register only while SVM is on, and is put into those
 * that count, or taken out of them, as KVM tells perf of the change. (doc/decisions/guests.md)
 */
#ifndef HWPMC_AMD_GUESTS_H
#define HWPMC_AMD_GUESTS_H

#include <linux/percpu.h>

#include "x86_reserve.h"

/* Bits that selects have on this CPU without: AMD_CTL_HOST, or 0. */
DECLARE_PER_CPU(u64, hwpmc_amd_withheld);
/* Rows that count and whose select has AMD_CTL_HOST, in the register or withheld. Changed
 * here and in NMI. */
DECLARE_PER_CPU(u64, hwpmc_amd_host_rows);

/* Others had the counters when it was tried whether a hypervisor keeps the bits: to be tried
 * again before the first select is made. hwpmc_lock. */
extern bool hwpmc_amd_guests_untried;

/* At load, or later while it is untried; and at unload. Can these counters tell guests from the
 * host? */
bool hwpmc_amd_guests_init(const struct hwpmc_x86_bank *bank);
void hwpmc_amd_guests_exit(void);
/* This CPU's counters are the module's from here on, or no more. */
void hwpmc_amd_guests_reset_irqoff(bool on);
/* Some hypervisors switch SVM without a word to perf. 0, or EFER: it was found otherwise than
 * the selects have it, which is corrected. */
u32 hwpmc_amd_guests_follow_irqoff(void);

#endif /* HWPMC_AMD_GUESTS_H */
