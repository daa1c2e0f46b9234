/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_pmi.h - what the tests of interrupts share: knobs of all vCPUs, and what became of
 * each overflow.
 */
#ifndef KMOD_PMI_H
#define KMOD_PMI_H

#include "kmod_rec.h"

/* Of the emulated PMU since pmi_setup(), and NMIs until then that the kernel did not know. */
extern uint64_t overflows, unknown;
/* As of the last tally(). */
extern uint64_t samples, dropped[HWPMC_DROP__COUNT];

/* The fixture: no knob is set, and a log begins. */
void pmi_setup(void);
/* Each vCPU has its own. */
void knob(int which, uint64_t value);
uint64_t access_count(int what);
/* The module that claims the NMIs without a cause is loaded, or not. */
void owner_of_foreign_nmis(bool loaded);
/* Nothing samples any more: what there is of samples and of drops. */
uint64_t tally(void);
/* No interrupt came later than a period after its overflow. */
void check_conserved(void);
/* However late they came, if at all: each period that passed is accounted for. */
void check_periods(uint64_t periods);
void check_no_unknown_nmi(void);
/* How a test ends: registers clear, and a count is exact. */
void all_is_well(void);
/* The kernel's word for each NMI that nobody wants; then they are wanted. */
void expect_unknown_nmis(void);
/* On CPU 0, where nothing samples, and nobody claims them: so many more are unknown. */
unsigned int inject_unclaimed(unsigned int nmis);
/*
 * The same where this thread samples: each comes so many instructions after an interrupt of the
 * counters, and long before their next overflow. Between an overflow and its interrupt a foreign
 * NMI is the one that finds the overflow, and at the interrupt both are one.
 */
unsigned int inject_apart(unsigned int nmis, uint64_t after);

#endif
