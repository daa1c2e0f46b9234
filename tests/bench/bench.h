/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench.h - what the parts of the bench program share: a tool that counts
 * (hwpmc, perf, or none), a run of one operation, and the window over which the
 * emulated PMU's own totals are taken.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BENCH_PMCS	4	/* most that a case uses */
/* Microseconds after which all that a tool leaves for later is done. */
#define SETTLED		1500000

/* What the emulated PMU says about a window; see vpmu_guest.h. */
enum column {
	KERNEL, USER, WRMSR, RDMSR, RDPMC,
	SPACES,			/* loads of CR3 with another address space */
	DESCRIPTORS,		/* that the operation opened and left open */
	/* Set by the operation itself: */
	BYTES,			/* that were written into a ring */
	SAMPLES,		/* that arrived in a file */
	DECLARED,		/* that are said to be lost */
	NS,			/* of the guest's time */
	COLUMNS,
};

struct counters;

/* One tool. All functions end the process where something fails. */
struct tool {
	const char *name;
	/* Count pids (0: the caller alone), `inherit`: and children to come. */
	void (*count)(struct counters *c, int n, const pid_t *tids, int ntids,
		      bool inherit);
	/* Read the counts of all PMCs, of which the last is returned. */
	uint64_t (*read)(struct counters *c);
	void (*stop)(struct counters *c);
	void (*start)(struct counters *c);
	void (*close)(struct counters *c);
};

extern const struct tool tool_none, tool_hwpmc, tool_perf;

struct counters {
	int n;				/* PMCs */
	int nfd;			/* descriptors */
	int *fd;
	uint32_t id[BENCH_PMCS];	/* hwpmc: ids of PMCs */
};

struct run {
	const struct tool *tool;
	int npmc;
	long n;				/* how often */
	struct counters counters;
	uint64_t at[COLUMNS];		/* at window_begin() */
	uint64_t *out;			/* COLUMNS of them */
};

/* Set a tunable; those that perf refuses as they are stay so. */
void bench_set(const char *path, const char *value);
void window_begin(struct run *run);
void window_end(struct run *run);
_Noreturn void die(const char *what);

/* Operations: each is run in a process of its own. */
typedef void operation(struct run *run);
operation op_switch, op_switch_inherited, op_switch_bystander,
	  op_switch_bystander_fresh, op_read, op_empty_call, op_version_call,
	  op_getppid, op_start_stop, op_fork, op_attach,
	  op_attach_calls, op_detach, op_read_mapped, op_bare_nmi, op_sample,
	  op_sample_chain, op_ibs, op_ibs_full, op_rate;

#endif
