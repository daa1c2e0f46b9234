/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.h - what a profile consists of: profile.c fills it from a log, answer.c
 * names what was found and shows it.
 */
#ifndef HWPMC_LIB_PROFILE_H
#define HWPMC_LIB_PROFILE_H

#include "stat.h"

/* A distinct stack before its addresses have names. */
struct entry {
	uint64_t hash;
	uint64_t count;
	uint64_t time;			/* of its first sample */
	struct space *space;
	int32_t pid, tid;
	uint32_t event;
	uint32_t npc;
	uint32_t pc;			/* where its addresses are in .pcs */
	uint32_t era;			/* of its space */
	uint8_t flags;
};

struct event {
	struct hwpmc_profile_event pub;
	char *name;
};

#define NO_EVENT	UINT32_MAX	/* there was no memory for it */

struct pmc_event {
	uint32_t id, event;
};

/* A record that waits for its turn (feed): structure, or a sample. */
struct waiting {
	uint64_t time;
	struct hwpmc_record record;
	struct hwpmc_log_hdr *copy;
};

struct note {
	char *text;			/* "key=value" */
	uint32_t id;
};

/* Whose samples are being read, of which event: what holds for many in a row. */
struct run {
	int32_t pid, tid, cpu;
	uint32_t id;			/* of the PMC */
	uint64_t from, until;		/* it is this program, mapped so */
	struct space *space;
	uint64_t hash;			/* of all this */
	uint32_t era;
	uint32_t event;
	int32_t as_tid;			/* thread they are counted for */
	uint64_t samples;		/* not yet in the totals */
	bool known, wanted;
};

/* Samples of several events and CPUs take turns. */
#define RUNS		64

#define THREAD_SLOTS	4096

struct thread {
	struct hwpmc_thread_info pub;
	struct thread *next;		/* of the same hash */
};

struct hwpmc_profile {
	struct hwpmc_profile_options o;
	bool broken;			/* there was no memory */
	struct model model;
	struct hwpmc_profile_totals totals;
	struct event *event;
	struct hwpmc_profile_event *event_view;
	uint32_t nevent;
	struct pmc_event *pmc;
	uint32_t npmc;
	struct note *note;
	uint32_t nnote;
	struct log_clock clock;
	uint64_t first, last;		/* ticks of samples */

	struct run runs[RUNS];
	struct run *run;		/* the one of this sample */
	uint32_t depth;			/* addresses of a stack that are kept */
	struct entry *entry;
	uint32_t nentry;
	uint32_t *slot;			/* entry + 1; 0: free */
	uint32_t nslot;
	uint64_t *pcs;
	uint64_t npcs;

	struct waiting *waiting;
	uint32_t nwaiting;
	uint64_t applied;		/* time of the latest of those that were */

	/* The answer. */
	struct hwpmc_stack *stack;
	uint32_t nstack;
	struct frames frames;
	struct thread *thread[THREAD_SLOTS];	/* by hash */
	struct thread nobody;		/* where there was no memory for another */
	struct hwpmc_image **image_view;
	uint32_t nimage_view;
	struct hwpmc_sample_point *point;	/* time: as in the log */
	uint32_t npoint;
	struct hwpmc_sample_point *point_view;
};

/* answer.c */
const char *profile_note(const struct hwpmc_profile *p, const char *key,
			 uint32_t id);
void profile_forget_stacks(struct hwpmc_profile *p);
void profile_name_all(struct hwpmc_profile *p);
void profile_view_images(struct hwpmc_profile *p);

#endif /* HWPMC_LIB_PROFILE_H */
