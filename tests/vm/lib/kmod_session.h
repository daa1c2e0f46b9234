/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_session.h - what the tests of complete sampling share: a session whose log is
 * read through the mapped rings, as fast as its reader is, and what was in it.
 */
#ifndef KMOD_SESSION_H
#define KMOD_SESSION_H

#include <pthread.h>
#include <stdatomic.h>

#include <libhwpmclog.h>

#include "../tests/kmod_dev.h"

#define SMALL_RING	16384

enum reader { FAST, SLOW, NONE };

/* What a log held. */
struct tally {
	uint64_t records, samples, dropped[HWPMC_DROP__COUNT], others;
	uint64_t csw, exits, csw_records, exit_records;
	uint64_t throttled, no_percent, resumed, hidden, user, frames, closed;
	uint64_t pid_samples[2];	/* of the children */
};

struct session {
	struct hwpmc *h;
	struct hwpmc_rings *rings;
	struct hwpmc_parser *parser[64];	/* by CPU */
	struct tally t;
	enum reader reader;
	pthread_t thread;
	atomic_bool stop;
	uint64_t overflows;
	unsigned int sampled;		/* PMCs that sample, allocated so far */
	pid_t pids[2];
	void (*look)(const struct hwpmc_record *r);
};

/* Also outside tests, where nothing may be asserted. */
bool try_tunable(const char *name, int value);
void set_tunable(const char *name, int value);

/*
 * Overflows of the machine so far that ask for an interrupt. Not all: a PMC that counts
 * may start at what another one has left in its counter, and wrap.
 */
uint64_t overflows(void);

/* Open the device and a log of rings of so many bytes, 0: the usual ones. */
void begin(struct session *s, enum reader reader, uint32_t ring);
/* And look at each record of it: at the first ones, too. */
void begin_looking(struct session *s, enum reader reader, uint32_t ring,
		   void (*look)(const struct hwpmc_record *r));
uint32_t allocate(struct session *s, const char *event, int mode,
		  uint32_t flags, uint32_t cpu, uint64_t period);
/* Fails the test where the library refused. */
void ok(struct session *s, int rc);
/* A loop of n rounds in user mode on that CPU, with a sample each 1,000 instructions;
 * it has ended and its PMC is stopped. */
void sample_loop(struct session *s, uint64_t n, int cpu);
/* Take what there is; of a session whose reader is NONE. */
void drain(struct session *s);
/* All PMCs are stopped: take what there is, have drops declared, take those. */
void finish(struct session *s);
void end(struct session *s);

uint64_t all_drops(const struct session *s);
/* Overflows that the emulated PMU counted are samples and declared drops. */
void check_conserved(struct session *s);

#endif
