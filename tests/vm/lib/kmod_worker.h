/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_worker.h - a child that does something each time that it is told, and what is
 * counted and sampled of it; for tests of events of the kernel.
 */
#ifndef KMOD_WORKER_H
#define KMOD_WORKER_H

#include <libhwpmc.h>
#include <libhwpmclog.h>

#include "harness.h"
#include "../tests/kmod_dev.h"

/* The device that is open, and its calls; what is refused fails the test. */
extern struct hwpmc *h;
void ok(int rc);
void open_device(void);
void close_device(void);
uint32_t count(const char *event);
uint64_t value(uint32_t id);

struct worker {
	pid_t pid;
	int go[2], done[2];
};

/* fn is told how often it was called before. */
struct worker work_begin(void (*fn)(unsigned int round));
void until_it_sleeps(const struct worker *w);
void work(struct worker *w);
void work_end(struct worker *w);
/* Counts the event of the worker, once it is started. */
uint32_t count_of(const struct worker *w, const char *event);
/* A line "name   : value" or "name:\tvalue" of a file of the process. */
uint64_t proc_value(pid_t pid, const char *file, const char *name);

/* What was read of the log. */
struct tally {
	struct hwpmc_parser *parser;
	uint64_t samples, user, drops;
	uint64_t increments;		/* of switches, all of them */
	uint64_t lo, hi, inside;	/* addresses between */
	char name[HWPMC_NAME_MAX];
};

/* All that is in the rings, which end. */
void take_all(struct hwpmc_rings *rings, struct tally *t);
/* Sample the event while go(w) does what it does, and count it beside that. */
void sample(struct worker *w, const char *event, uint32_t flags, uint64_t period,
	    void (*go)(struct worker *), struct tally *t, uint64_t *counted);

#endif
