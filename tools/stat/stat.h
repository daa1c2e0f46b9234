/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat.h - what the files of "hwpmc stat" share. cmd_stat.c parses options and
 * runs, ctl.c takes orders from another program, set.c counts, kinds.c splits by kind
 * of core, parts.c adds up sockets and cores, threads.c counts threads, cgroup.c finds the
 * processes of cgroups, marks.c the marks of programs, metric.c derives the figures next to a count, metrics.c what -M asks for (define.c reads its definitions, formula.c
 * computes), text.c, data.c and separated.c print.
 */
#ifndef TOOLS_STAT_H
#define TOOLS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <libhwpmc.h>

#include "common/cpus.h"
#include "common/evlist.h"

enum stat_format { STAT_TEXT, STAT_JSON, STAT_CSV, STAT_SEPARATED };

/* What a row is of. */
enum stat_by { BY_ALL, BY_CPU, BY_SOCKET, BY_CORE, BY_THREAD };

/* What another program asks for (--control). */
enum stat_order {
	ORDER_NONE, ORDER_ENABLE, ORDER_DISABLE, ORDER_PING, ORDER_STOP,
	ORDER_GONE,			/* nothing will come any more */
};

struct stat_ctl {
	int fd, ack_fd;			/* -1: none */
	char line[32];			/* as far as it has come */
	unsigned int len;
};

struct stat_options {
	struct evlist events;
	const char *metric;		/* names with commas between (-M); NULL: none */
	bool defaults;			/* events are ours, not the user's */
	bool system;			/* -a or -C */
	struct cpus cpus;		/* system scope: which */
	enum stat_by by;		/* rows beside the total */
	bool per_type;			/* each event of the hardware by kind of core */
	unsigned int npid;
	pid_t *pid;
	unsigned int ntid;		/* threads (-t), of the processes .pid; 0: all */
	pid_t *tid;
	unsigned int ncgroup;		/* cgroups (-G), whose processes are .pid; 0: none */
	char **cgroup;			/* their directories */
	uint32_t ring_size;		/* by threads: bytes of a CPU; 0: the module's */
	bool descendants;
	uint64_t interval_ns;		/* 0: none */
	unsigned int runs;
	enum stat_format format;
	const char *separator;		/* STAT_SEPARATED */
	uint64_t delay_ns;		/* count after that; UINT64_MAX: when told */
	uint64_t timeout_ns;		/* end after that; 0: none */
	uint64_t rotate_ns;		/* events take turns of that; 0: all at once */
	struct stat_ctl ctl;
	const char *output;		/* NULL: standard error */
	bool big_num;			/* group digits */
	bool markers;			/* count the marks of the command too */
	char **command;			/* NULL: none */
};

/* The events that derived figures are made of. */
enum stat_kind {
	KIND_OTHER, KIND_CYCLES, KIND_INSTRUCTIONS, KIND_BRANCHES,
	KIND_BRANCH_MISSES, KIND_CACHE_REFS, KIND_CACHE_MISSES,
	KIND_ENERGY,			/* microjoules of a package */
	KIND_CORE_ENERGY,		/* of a package, AMD: of a core */
	KIND_TSC, KIND_MPERF, KIND_APERF,
};

/*
 * One PMC: an event in process scope, or an event on one CPU. A cell counts
 * since its PMC was started; `shown` is what earlier intervals have shown.
 * A part is the sum of the cells of a socket or a core, or the count of a thread; it has
 * no PMC.
 */
struct stat_cell {
	char label[32];			/* "3", "S0", "S0-D0-C3", "make-4711" */
	unsigned int ncpu;
	unsigned int part;		/* of a cell: index of its part */
	pid_t pid, tid;			/* of a thread; -1: what is no thread's */
	char name[16];
	uint32_t id;			/* HWPMC_ID_INVALID: none */
	uint32_t cpu;			/* HWPMC_CPU_ANY in process scope */
	uint64_t value;
	uint64_t before;		/* with turns: counted in those that have ended */
	uint64_t shown;
	uint64_t *run;			/* count of each run that has ended */
};

struct stat_event {
	char *spec;
	enum stat_kind kind;
	const char *suffix;		/* of the spec: ":u", ",usr", "" */
	char *why;			/* not counted: the reason, else NULL */
	char *lost;			/* a counter did not count all: what was refused, and the
					 * remedy, else NULL; .why is the reason */
	unsigned int nsum;		/* the sum of so many events before it, without PMCs of
					 * its own; 0: it is counted */
	bool user_mode;			/* instead of what was asked for; .spec says so */
	bool incomplete;		/* some thread could not be followed */
	bool has_target;		/* some process was attached to what it has now */
	/* Of one kind of core: what ran elsewhere, where it counts nothing; all runs. */
	uint32_t kinds;			/* HWPMC_KIND_*, 0: it counts on all */
	uint64_t uncounted_ns, uncounted_slices;
	unsigned int ncell;
	struct stat_cell *cell;
	unsigned int npart;
	struct stat_cell *part;
	uint64_t *run;			/* total of each run that has ended */
	unsigned int turn;
	uint64_t ran_ns;		/* with turns: how long it was counted */
};

struct metrics;
struct stat_threads;

struct stat_set {
	struct hwpmc *h;
	struct metrics *metrics;	/* of -M; its n may be 0 */
	const struct stat_options *o;
	unsigned int nevent;
	unsigned int nhard;		/* default events of the hardware: the first */
	struct stat_event *event;
	struct hwpmc_batch_entry *entry;	/* room for each cell */
	bool user_mode;			/* some event counts user mode instead */
	bool told_findings;
	unsigned int turn, nturn;	/* nturn 0: without turns */
	uint64_t turn_began;		/* watch_now(); 0: it has not */
	pid_t command;			/* a child of this process; 0: none is counted */
	struct stat_threads *threads;	/* NULL: threads are not told apart */
	uint64_t lost_records;		/* of them */
	unsigned int joined, left;	/* the cgroups, since counting began; of the last run */
	struct hwpmc_marks *marks;	/* NULL: without --markers */
};

/* Times of one run, or their means. Nanoseconds. */
struct stat_times {
	uint64_t elapsed;
	uint64_t user, sys;		/* of the command and its children */
	bool has_task;			/* user and sys are known */
};

/* What a printer prints: an interval, or all runs together. */
struct stat_report {
	const struct stat_options *o;
	const struct stat_set *set;
	bool interval;			/* values since the last one */
	uint64_t time;			/* interval: its end, since the start */
	uint64_t length;		/* interval: nanoseconds */
	unsigned int nrun;		/* total: runs that took place */
	struct stat_times mean;		/* total */
	double elapsed_dev;		/* total: standard deviation */
	bool has_status;
	int status;			/* the command's, as in a shell */
	int signal;			/* that ended the measurement, or 0 */
};

/* loss.c: counters that did not count all, as where the host of a virtual machine takes one.
 * Such an event has no count; the others have theirs. */
bool stat_is_loss(int error, uint32_t reason);
/* All entries of `command`, of the events that are counted now, were tried: events that a
 * counter has lost are counted no more. */
void stat_losses_take(struct stat_set *set, enum hwpmc_batch_command command);
bool stat_has_losses(const struct stat_set *set);
/* A line for each such event. */
void stat_losses_print(FILE *f, const struct stat_set *set);

/* set.c. On failure -1 and a message was printed. */
int stat_set_open(struct stat_set *set, struct stat_options *o);
void stat_set_close(struct stat_set *set);
int stat_set_allocate(struct stat_set *set, bool exec_start);
int stat_set_attach(struct stat_set *set, pid_t pid);
/* A member of a cgroup, which may be gone or be attached already. 1: it was attached. */
int stat_set_attach_member(struct stat_set *set, pid_t pid);
/* Is it there, and not attached? Found out by an attach, so when nothing will count. */
bool stat_set_lacks(struct stat_set *set, pid_t pid);
/* Was it attached? */
bool stat_set_detach(struct stat_set *set, pid_t pid);
/* Has it PMCs now? */
bool stat_event_is_active(const struct stat_set *set, const struct stat_event *ev);
/* A sum whose parts are not all counted is none; one of user mode is named so. */
void stat_event_check_sum(struct stat_event *ev);
/* No PMC without a process: PMCSTART would attach this one. */
int stat_set_start(struct stat_set *set);
/* The same while processes run: 1, without a message, if they are gone. */
int stat_set_start_late(struct stat_set *set);
int stat_set_stop(struct stat_set *set);
int stat_set_read(struct stat_set *set);
void stat_set_release(struct stat_set *set);
/* The PMCs of one event; without a message. */
int stat_event_allocate(struct stat_set *set, struct stat_event *ev, bool exec_start);
void stat_event_release(struct stat_set *set, struct stat_event *ev);
/* Why event i cannot be counted: the message. */
void stat_say_refusal(const struct stat_set *set, unsigned int i);
/* Returns 1 if the process is gone; it may be counted already. */
int stat_set_attach_again(struct stat_set *set, pid_t pid);

/* rotate.c: with o->rotate_ns. 0, or -1 after a message. */
int rotate_plan(struct stat_set *set);		/* which events share a turn */
/* 1, without a message: what is counted is gone. */
int rotate_next(struct stat_set *set);
/* The times of a turn. */
void rotate_begin(struct stat_set *set, uint64_t now);
void rotate_end(struct stat_set *set, uint64_t now);
/* What never had a turn was not counted. */
void rotate_finish(struct stat_set *set);

/* In process scope, before the PMCs are released: what was not counted. */
int stat_set_uncounted(struct stat_set *set);

/* Keep the totals as those of run `run`. */
void stat_set_keep(struct stat_set *set, unsigned int run);

/* Mark what the cells hold now as shown. */
void stat_set_shown(struct stat_set *set);

/* parts.c: the parts of an event by its cells, their sums, and the rows that -o shows. */
void stat_parts_open(struct stat_event *ev, const struct stat_options *o);
void stat_parts_close(struct stat_event *ev);
void stat_parts_read(struct stat_event *ev);
void stat_parts_keep(struct stat_event *ev, unsigned int run);
const struct stat_cell *stat_rows(const struct stat_options *o,
				  const struct stat_event *ev, unsigned int *n);

/* threads.c: counts of threads, by records that the PMCs write. */
static inline bool stat_by_threads(const struct stat_options *o)
{
	return o->by == BY_THREAD || o->ntid;
}

/* Of o->tid the processes. -1 after a message. */
int stat_threads_choose(struct stat_options *o);
bool stat_threads_are_gone(const struct stat_options *o);
/* 0, or -1 after a message. */
int stat_threads_open(struct stat_set *set);
void stat_threads_close(struct stat_set *set);
/* When the PMCs have been allocated, and attached to a process. */
void stat_threads_find_rows(struct stat_set *set);
void stat_threads_attached(struct stat_set *set, pid_t pid);
/* Take the records that are there, before the rings are full. */
void stat_threads_drain(struct stat_set *set);
/* After the PMCs were read: the parts and totals of the events. 0, or -1 after a message. */
int stat_threads_read(struct stat_set *set);
void stat_threads_shown(struct stat_set *set);

/* cgroup.c: an option's list of cgroups. 0, or an exit status after a message. */
int stat_cgroup_add(struct stat_options *o, char *arg);
void stat_cgroups_free(struct stat_options *o);
/* Below the root. */
const char *stat_cgroup_name(const struct stat_options *o, unsigned int i);
/* Attach to the processes that are in o's cgroups: o->pid. 0, or -1 after a message. */
int stat_cgroups_attach(struct stat_set *set, struct stat_options *o);
/* After the PMCs have stopped, before they are released: how many processes joined and left. */
void stat_cgroups_look_again(struct stat_set *set);

/* kinds.c. The events of o, in place: by kind of core where they have to be. Of each what
 * .nsum of struct stat_event is; free it. */
unsigned int *stat_kinds_split(struct hwpmc *h, struct stat_options *o);
/* Of these CPUs those that the event counts on. */
void stat_kinds_choose(struct hwpmc *h, const char *spec, const struct cpus *all,
		       struct cpus *list);
/* Its cells, of those of the events before it. */
void stat_kinds_add(struct stat_event *sum);

/* marks.c. Check: 0, or an exit status after a message; open: 0, or -1 after one. */
int stat_marks_check(const struct stat_options *o);
int stat_marks_open(struct stat_set *set);
void stat_marks_close(struct stat_set *set);
void stat_marks_text(FILE *f, const struct stat_report *r);
void stat_marks_json(FILE *f, const struct stat_report *r);
void stat_marks_csv(FILE *f, const struct stat_report *r);
void stat_marks_say(const struct stat_set *set);	/* on standard error */

/* ctl.c. 0, or an exit status after a message. */
int stat_ctl_open(struct stat_ctl *c, const char *arg);
/* When fd is readable: the order that is whole now, if any. */
enum stat_order stat_ctl_read(struct stat_ctl *c);
void stat_ctl_ack(const struct stat_ctl *c);

/* metric.c, pure. */

/* The sum over the CPUs since the start. */
uint64_t stat_event_total(const struct stat_event *ev);

enum stat_kind stat_kind_of(const char *spec, const char **suffix);
/* Is the count one of a whole package, so that one CPU of each has it? */
bool stat_kind_is_of_package(enum stat_kind kind);
double stat_mean(const uint64_t *v, unsigned int n);
double stat_deviation(const uint64_t *v, unsigned int n);

/* A derived figure; unit NULL: there is none. */
struct stat_metric {
	double value;
	const char *unit;
};

/*
 * Of `count` events of kind `kind`. base: the count of the event that the figure is
 * relative to (cycles for instructions), 0 where it was not counted. ns: the time in
 * which it was counted. A rate's unit is "/s".
 */
struct stat_metric stat_metric(enum stat_kind kind, double count, double base,
			       double ns);

/* What a report shows of an event, or of one of its cells. */
struct stat_figure {
	double count;			/* mean over the runs */
	uint64_t exact;			/* the same where `whole` */
	bool whole;
	double deviation;
	struct stat_metric metric;
};

struct stat_figure stat_figure(const struct stat_report *r,
			       const struct stat_event *ev,
			       const struct stat_cell *cell);

/* CPU time of the command and the children that it has waited for, if the user did not
 * choose events, and all of it was counted; nanoseconds. */
bool stat_has_task_clock(const struct stat_report *r);
uint64_t stat_task_clock(const struct stat_report *r);
struct stat_metric stat_task_metric(const struct stat_report *r);

/* text.c, data.c and separated.c */
void stat_say_uncounted(const struct stat_set *set);	/* on standard error */
void stat_say_cgroups(const struct stat_set *set);	/* the same: who joined or left */
void stat_print_text(FILE *f, const struct stat_report *r, bool first);
void stat_print_json(FILE *f, const struct stat_report *r, bool first);
void stat_print_separated(FILE *f, const struct stat_report *r, bool first);
void stat_print_csv(FILE *f, const struct stat_report *r, bool first);

#endif
