/* SPDX-License-Identifier: BSD-2-Clause */
/* missing.h - what a log lacks: why, how much, and what to do. */
#ifndef TOOLS_MISSING_H
#define TOOLS_MISSING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <hwpmc_log.h>

/* A log without CLOSELOG, the record that ends it. */
#define MISSING_END	"the log has no end: its writer was interrupted, or the file was cut; " \
			"later samples are missing"

/* What to do against drops of a cause (enum hwpmc_drop_cause). */
const char *missing_advice(uint32_t cause);

/* Samples of a mode that was not asked for are none that the user misses. */
static inline bool missing_is_loss(uint32_t cause)
{
	return cause != HWPMC_DROP_FILTERED;
}

/* Stands before the number of drops of a cause. */
static inline const char *missing_bound(uint32_t cause)
{
	return cause == HWPMC_DROP_UNCOUNTED ? "at least " : "";
}

/* Pauses of sampling, because it took too much of the CPU's time. */
struct missing_pauses {
	uint64_t times;
	uint64_t ns;		/* of all CPUs */
	uint32_t percent;	/* most of a CPU that it used; 0: unknown */
	uint64_t lost;		/* samples dropped in pauses (HWPMC_DROP_PAUSED) */
	uint64_t all;		/* samples, those dropped for any cause included */
};

/* One sentence without its end of line, or nothing if there was no pause. From
 * MISSING_WARN percent of the samples on it is a warning. */
#define MISSING_WARN	5
bool missing_put_pauses(FILE *f, const char *lead, const struct missing_pauses *m);
/* The share of samples that pauses took, as text: "N of M samples (x %) are missing". */
void missing_paused_text(uint64_t lost, uint64_t all, char *buf, size_t size);
/* Does the share need a warning? */
bool missing_warns(uint64_t lost, uint64_t all);
/* The sum of drops by cause. */
uint64_t missing_sum(const uint64_t *dropped, uint32_t n);

/* Counters of an event that did not count all: a line each, behind `lead`. */
struct hwpmc_profile;
void missing_put_losses(FILE *f, const char *lead, const struct hwpmc_profile *p,
			uint32_t event);

/* Chains walked by unwind tables, by enum hwpmc_chain_end. Were there any? */
bool missing_chains(const uint64_t *chain);
/* The share that is complete, and why others end early; without the end of line. where,
 * if not NULL, writes in which images; nothing where that is unknown. */
void missing_put_chains(FILE *f, const uint64_t *chain,
			void (*where)(FILE *f, uint32_t end, void *arg), void *arg);

/* Chains by frame pointers, and those of them that end in code without. */
void missing_put_short(FILE *f, uint64_t fp_chains, uint64_t fp_short);

#endif
