/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * judge.h - the rules by which the selftest decides that a number is right. Pure: the unit
 * tests try each bound.
 */
#ifndef TOOLS_SELFTEST_JUDGE_H
#define TOOLS_SELFTEST_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

/* Issue slots of a loop are 1 to 12 times its cycles, as no processor is wider. */
bool judge_slots(uint64_t cycles, uint64_t slots);

/* Reference cycles of a busy loop are its ticks of the TSC, within 1 %. */
bool judge_ref_clock(double ratio);

/* n counts of the same code agree within 2 % of the largest one, which is not 0. */
bool judge_agree(const uint64_t *count, unsigned int n);

/*
 * Samples and declared drops of a PMC whose handler's events are lost to the period, of
 * `count` events in all: at most one more than there were periods, and at least half as many.
 */
bool judge_half(uint64_t count, uint64_t period, uint64_t samples);

#endif
