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

/* The verdict of a step, an enum st_verdict, by how many of its checks have each. */
int judge_step(unsigned int held, unsigned int failed, unsigned int not_tried,
	       unsigned int measured);

/* ---- of the long form -------------------------------------------------------- */

/* The least that a row counts of a loop and that perf counts: within 20, or within 0.5 %
 * where the event is not exact. */
bool judge_same(uint64_t row, uint64_t perf, bool exact);

/* Counts of one event on several rows at once agree within 5 % of the largest, or within 64. */
bool judge_rows(const uint64_t *count, unsigned int n);

/* Ten or more different events all count 0 of a mixture of code. */
bool judge_filtered(unsigned int tried, unsigned int counted);

/* Events more than the loops have, in so many milliseconds: interrupts add some, or take some
 * away where they hit what is subtracted. */
bool judge_switches(int64_t more, uint64_t ms);

/* 99 % of the regions are exact, and there is one. */
bool judge_edges(uint64_t right, uint64_t wrong);

/* Of two rows together: each may have one period that has begun. */
bool judge_conserved(uint64_t periods, uint64_t samples);

/* The least value that p percent of a histogram do not exceed; 0: it is empty. */
unsigned int judge_percentile(const uint64_t *at, unsigned int n, unsigned int p);
bool judge_skid(unsigned int median);

/* Within 1 % and a thousandth of a joule, as registers change once a millisecond. */
bool judge_energy(uint64_t ours, uint64_t theirs);

/* Within 0.5 %. */
bool judge_clocks(double perf, double cycles);

#endif
