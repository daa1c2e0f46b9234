/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gaps.h - samples that a round of "hwpmc top" lacks beside drops: while sampling was paused,
 * and while a counter did not count. The profile has them since its log began.
 */
#ifndef TOOLS_TOP_GAPS_H
#define TOOLS_TOP_GAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hwpmc_profile;
struct hwpmc_profile_loss;

struct gaps {
	/* Time of the log at the round's begin, and now. */
	uint64_t paused_before, paused;		/* ns of all CPUs */
	struct hwpmc_profile_loss *before, *loss;
	uint32_t nbefore, nloss;
	/* Samples dropped in pauses, and for any cause, since the log began: as above. */
	uint64_t lost_before, lost, dropped_before, dropped;
	uint64_t samples;			/* of the round */
};

/* Takes the present state of the profile, and samples that were dropped since the log began, by
 * cause: HWPMC_DROP_SLOTS entries. begins: all before was of earlier rounds. stands: the user has
 * stopped the display, so samples since the last call are not in the profile. */
void gaps_take(struct gaps *g, const struct hwpmc_profile *p, const uint64_t *dropped,
	       bool begins, bool stands);
/* Writes sentence i about samples of the event. Returns false if there are not so many. */
bool gaps_text(const struct gaps *g, uint32_t event, uint32_t i, char *buf, size_t size);
void gaps_free(struct gaps *g);

#endif
