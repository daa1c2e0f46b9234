/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gen.h - from a seed to a sequence. The generator remembers what its sequence has
 * probably made of the slots, so that most steps are meaningful; it never looks at
 * the results, so that a seed is a sequence whatever happens.
 */
#ifndef GEN_H
#define GEN_H

#include "op.h"

enum model { MODEL_INTEL, MODEL_AMD, MODEL_NONE };

struct plan {
	uint64_t seed;
	unsigned int ops;		/* of all threads together */
	unsigned int procs, threads;	/* threads of each process */
	enum model model;
	bool alone;			/* one thread: its state is compared */
	bool machine;			/* hotplug, tunables, perf, module */
	bool revoke;
	bool keep;			/* a bystander keeps the module's hooks */
};

/* What kind of run a seed is, unless told otherwise (0 procs, 0 threads). */
void plan_make(struct plan *plan);
/* The sequence of one thread, ops / (procs * threads) steps, to be freed. */
struct op *plan_sequence(const struct plan *plan, unsigned int proc,
			 unsigned int thread, unsigned int *n);
uint64_t plan_hash(const struct plan *plan);

extern const char *const op_names[OP__COUNT];
extern const char *const call_names[];

#endif
