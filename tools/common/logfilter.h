/* SPDX-License-Identifier: BSD-2-Clause */
/* logfilter.h - which records of a log pass the options of logopts.h that choose samples. */
#ifndef TOOLS_LOGFILTER_H
#define TOOLS_LOGFILTER_H

#include <stdbool.h>
#include <stdint.h>

#include <libhwpmcstat.h>

struct logfilter {
	const struct hwpmc_profile_options *o;
	struct hwpmc_lookup *lookup;	/* has seen the log */
	uint64_t began;			/* CLOCK_MONOTONIC of INITIALIZE */
	bool event_seen;		/* the event that is asked for is in the log */
};

/* Is anything chosen? */
bool logfilter_chooses(const struct hwpmc_profile_options *o);
/* Each record, before it is asked whether it passes. */
void logfilter_see(struct logfilter *f, const struct hwpmc_record *r);
/* A filter keeps out what it cannot be asked of. */
bool logfilter_passes(const struct logfilter *f, const struct hwpmc_record *r);

#endif
