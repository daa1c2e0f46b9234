/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.h - the parts of a profile: profile.c fills it from a log, stacks.c names its
 * stacks, answer.c shows it.
 */
#ifndef HWPMC_LIB_PROFILE_H
#define HWPMC_LIB_PROFILE_H

#include "kinds.h"
#include "exact.h"
#include "losses.h"
#include "pauses.h"
#include "stat.h"

/*
 * A distinct stack before its addresses have names. Each sample is compared with one:
 * what belongs together is compared at once, without another line of the cache.
 */
struct entry {
	uint64_t count;
	uint64_t time;			/* of its first sample */
	struct space *space;
	union {
		struct {
			int32_t as;	/* the process, or an index of .whom */
			uint32_t event : 18, cpu : 14;	/* NO_CPU: of any, or unknown */
		};
		uint64_t who;
	};
	union {
		struct {
			uint32_t era;	/* of its space */
			uint32_t npc : 16, kind : 8, flags : 8;
		};
		uint64_t shape;
	};
	uint64_t leaf;			/* its first address; 0: there is none */
	uint64_t pc;			/* where its addresses are in .pcs */
	int32_t pid;
	bool out;			/* choose.c leaves it out */
};

struct event {
	struct hwpmc_profile_event pub;
	uint64_t out;			/* samples that choose.c leaves out */
	uint64_t out_taken;		/* the same as samples, where .out is events */
	uint64_t more;			/* events of samples beyond one of each */
	char *name;
};

#define NO_EVENT	((1u << 18) - 1)	/* there was no room for it */
#define NO_CPU		((1u << 14) - 1)

struct pmc_event {
	uint32_t id, event;
};

struct note {
	char *text;			/* "key=value" */
	uint32_t id;
};

/*
 * The thread and the event of the samples that are read: what holds for many in a row.
 * A line of the cache: with thousands of threads each sample reads another.
 */
struct run {
	int32_t pid, tid, cpu;
	uint32_t id;			/* of the PMC */
	uint64_t from, until;		/* it is this program, mapped so; 0: no run */
	struct space *space;		/* NULL: its samples are not asked for */
	uint64_t hash;			/* of all this */
	union {				/* as in struct entry */
		struct {
			int32_t as;
			uint32_t event : 18, with_cpu : 14;	/* options.by_cpu */
		};
		uint64_t who;
	};
	uint32_t era;
	uint32_t samples;		/* not yet in the totals */
} __attribute__((aligned(64)));

/*
 * Samples of several threads, events and CPUs take turns: each has one of the two runs
 * that its hash says. There are more when many take a run from each other.
 */
#define RUNS_MIN	64
#define RUNS_MAX	(1u << 17)

/* A thread, or with options.by_comm alone a process, while it had a name. */
struct whom {
	int32_t tid;
	const char *comm;
};

/* Chains of a space that end within a page: stops.c. */
struct chain_stop {
	struct space *space;
	uint64_t pc, time, count;	/* pc, time: of the first */
	uint32_t era, end;
};

struct hwpmc_profile {
	struct hwpmc_profile_options o;
	bool broken;			/* there was no memory */
	struct model model;
	struct hwpmc_profile_totals totals;
	struct pauses pauses;
	struct losses losses;
	struct exact exact;
	struct event *event;
	struct hwpmc_profile_event *event_view;
	uint32_t nevent;
	struct table events;		/* by name, mode and period */
	struct pmc_event *pmc;
	struct table pmcs;		/* by number */
	struct note *note;
	struct table notes;		/* by key and number */
	struct log_clock clock;
	uint64_t first, last;		/* ticks of samples */
	uint64_t end;			/* the last tick of other records */
	struct kinds kinds;

	uint64_t kind;			/* of the run's CPU, as in an entry's shape; 0: not
					 * asked for */
	struct run *runs, *run;		/* the one of this sample */
	uint32_t nrun;			/* a power of two */
	uint32_t taken;			/* runs that another took, since nrun is that */
	uint32_t depth;			/* addresses of a stack that are kept */
	struct entry *entry;
	uint32_t nentry;
	struct table entries;
	uint64_t *more;			/* by entry: events of its samples beyond one of each; of
					 * the first .nmore alone */
	uint32_t nmore;
	uint64_t *pcs;
	uint64_t npcs;
	struct chain_stop *stop;
	struct table stops;
	struct whom *whom;
	struct table whoms;		/* index of .whom */

	struct waiting waiting;		/* structure, and samples that were fed */
	uint64_t applied;		/* time of the latest of those that were */

	/* The answer. */
	struct hwpmc_stack *stack;
	uint32_t nstack;
	struct frames frames;
	struct {
		struct hwpmc_symbol symbol;
		struct hwpmc_frame frame;
		struct hwpmc_thread_info thread;
	} other;			/* what options.min_share leaves out */
	struct hwpmc_thread_info **thread;
	struct table threads;
	struct hwpmc_thread_info nobody;	/* where there was no memory for another */
	struct hwpmc_image **image_view;
	uint32_t nimage_view;
	struct hwpmc_sample_point *point;	/* time: as in the log */
	uint32_t npoint;
	struct hwpmc_sample_point *point_view;
	uint32_t npoint_view;
};

/* Samples are counted for threads or names, by .whom. */
static inline bool profile_names_threads(const struct hwpmc_profile *p)
{
	return (p->o.by_thread || p->o.by_comm) && p->whoms.n;
}

/* Samples of an entry; its .count is events if its event has a frequency. */
static inline uint64_t profile_taken(const struct hwpmc_profile *p, const struct entry *e)
{
	size_t at = e - p->entry;

	return at < p->nmore ? e->count - p->more[at] : e->count;
}

static inline bool profile_same_pmc(const void *items, uint32_t i, const void *key)
{
	return ((const struct hwpmc_profile *)items)->pmc[i].id == *(const uint32_t *)key;
}

/* Its index in .pmc, or TABLE_NONE. */
static inline uint32_t profile_find_pmc(const struct hwpmc_profile *p, uint32_t id)
{
	return table_find(&p->pmcs, table_hash(id), profile_same_pmc, p, &id);
}

/* notes.c; NULL: the log has none of that key. */
const char *notes_get(const struct hwpmc_profile *p, const char *key, uint32_t id);
void notes_add(struct hwpmc_profile *p, uint32_t id, const char *text);
void notes_free(struct hwpmc_profile *p);
/* stacks.c: the thread and the frames of an entry, and a stack of them. */
struct hwpmc_thread_info *
stacks_find_thread(struct hwpmc_profile *p, const struct hwpmc_thread_info *info);
struct hwpmc_thread_info *stacks_thread(struct hwpmc_profile *p, const struct entry *e);
void stacks_name_frames(struct hwpmc_profile *p, const struct entry *e, struct hwpmc_stack *s);
/* in_place: the frames take the place of the addresses, where both are as many. */
void stacks_add(struct hwpmc_profile *p, const struct entry *e, bool in_place);
void stacks_push_frame(struct hwpmc_stack *s, struct hwpmc_frame *frame);
void stacks_forget(struct hwpmc_profile *p);
void stacks_forget_threads(struct hwpmc_profile *p);
/* answer.c */
void profile_name_all(struct hwpmc_profile *p);
void profile_view_images(struct hwpmc_profile *p);
/* whom.c: the number that samples of this thread with this name have as their .as. */
int32_t profile_whom(struct hwpmc_profile *p, int32_t tid, const char *comm);
/* choose.c: leave out what did not hit options.image and .symbol. */
void profile_choose(struct hwpmc_profile *p);
/* chains.c */
void profile_count_ends(struct hwpmc_profile *p);
/* stops.c: of a sample whose chain ends so; the sums of images, when all are read. */
void stops_add(struct hwpmc_profile *p, const struct hwpmc_record *r, int end);
void stops_count(struct hwpmc_profile *p);
void stops_clear(struct hwpmc_profile *p);
/* fold.c: the stacks of all entries, small branches as one. */
void fold_name_all(struct hwpmc_profile *p);

#endif /* HWPMC_LIB_PROFILE_H */
