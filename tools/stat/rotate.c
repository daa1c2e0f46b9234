/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rotate.c - events that take turns with the counters (--rotate): those of a turn are
 * counted together, the others meanwhile not. Each keeps the time of its turns; nothing is
 * extrapolated from it. Between two turns nothing is counted.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/msg.h"
#include "common/watch.h"
#include "stat.h"

/* ---- which events share a turn ------------------------------------------- */

/* Is event j part of a sum that event j - 1 is part of, too, or the sum itself? */
static bool is_summed_with_previous(const struct stat_set *set, unsigned int j)
{
	unsigned int sum = j;

	while (sum < set->nevent && !set->event[sum].nsum)
		sum++;
	return sum < set->nevent && sum - set->event[sum].nsum < j;
}

/* How many events from i on have to be counted together: a group, which a sum over kinds
 * of core does not end, and what one adds up. */
static unsigned int group_size(const struct stat_set *set, unsigned int i)
{
	const unsigned int *group = set->o->events.group;
	unsigned int n = 1;

	while (i + n < set->nevent &&
	       ((group[i] && group[i + n] == group[i]) ||
		is_summed_with_previous(set, i + n)))
		n++;
	return n;
}

/* All n, or none: then the first that failed is *bad. */
static bool fits(struct stat_set *set, unsigned int i, unsigned int n, unsigned int *bad)
{
	for (*bad = i; *bad < i + n; ++*bad)
		if (!set->event[*bad].nsum &&
		    stat_event_allocate(set, &set->event[*bad], false) < 0)
			break;
	if (*bad == i + n)
		return true;
	/* That one too: it may have PMCs of some CPUs. */
	for (unsigned int j = i; j <= *bad; j++)
		stat_event_release(set, &set->event[j]);
	return false;
}

/* Counters tell what fits: each group goes to the turn before it, or begins another. */
int rotate_plan(struct stat_set *set)
{
	unsigned int turn = 0, first = 0, bad;

	for (unsigned int i = 0, n; i < set->nevent; i += n) {
		n = group_size(set, i);
		if (!fits(set, i, n, &bad)) {
			for (unsigned int j = first; j < i; j++)
				stat_event_release(set, &set->event[j]);
			if (i > first)
				turn++;
			first = i;
			if (!fits(set, i, n, &bad)) {
				stat_say_refusal(set, bad);
				return -1;
			}
		}
		for (unsigned int j = i; j < i + n; j++)
			set->event[j].turn = turn;
	}
	stat_set_release(set);
	set->nturn = turn + 1;
	/* A process that loses its parent becomes a child of this one, and is found again. */
	if (!set->o->system && !set->o->npid && prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
		msg("cannot find descendants whose parent has exited: %s; they may be counted in their first turn only",
		    strerror(errno));
	return 0;
}

/* ---- the next turn ------------------------------------------------------- */

#define PASSES	1000			/* most lists of children */
#define STUCK	100			/* of them, with no child but such as exit */

struct pids {
	pid_t *pid;
	unsigned int n;
	bool gone;			/* a child is exiting, and still has children */
};

/* No other process waits for a descendant whose parent has exited. The command's status is
 * left for the end. */
static bool has_ended(const struct stat_set *set, pid_t pid)
{
	return pid != set->command && waitpid(pid, NULL, WNOHANG) == pid;
}

static int compare_pids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return x < y ? -1 : x > y;
}

/* Whole: a child that is waited for meanwhile would hide another in the file. */
static int list_children(struct pids *p)
{
	char path[64];
	pid_t pid;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "re");
	if (!f) {
		msg("cannot read '%s': %s", path, strerror(errno));
		return -1;
	}
	p->n = 0;
	p->gone = false;
	while (fscanf(f, "%d", &pid) == 1) {
		p->pid = must_realloc(p->pid, p->n + (size_t)1, sizeof(*p->pid));
		p->pid[p->n++] = pid;
	}
	fclose(f);
	qsort(p->pid, p->n, sizeof(*p->pid), compare_pids);
	return 0;
}

static bool is_in(const struct pids *p, pid_t pid)
{
	return p->n && bsearch(&pid, p->pid, p->n, sizeof(*p->pid), compare_pids);
}

/*
 * The children that are not among the attached ones. Returns 2 if one was attached, or has
 * ended, so that its children have become children of this process; 1 if all of them are still
 * exiting; 0 if there was none. The attached ones stay in p.
 */
static int attach_new(struct stat_set *set, struct pids *p, const struct pids *attached)
{
	unsigned int kept = 0;
	int any = 0;

	for (unsigned int i = 0; i < p->n; i++) {
		pid_t pid = p->pid[i];
		int rc = 0;

		if (!is_in(attached, pid)) {
			any = any ? any : 1;
			if (has_ended(set, pid)) {
				any = 2;
				continue;
			}
			rc = stat_set_attach_again(set, pid);
			if (rc < 0)
				return -1;
			any = rc ? any : 2;
		}
		/* The measurement ends with the command. */
		if (!rc || pid == set->command)
			p->pid[kept++] = pid;
		else
			p->gone = true;
	}
	p->n = kept;
	return any;
}

/*
 * The command, its descendants, and those whose parent has exited. Parents exit between the
 * list and the attach, too, so all children of a last list must have been attached before it.
 */
static int attach_children(struct stat_set *set)
{
	struct pids list[2] = { { .n = 0 }, { .n = 0 } };
	unsigned int pass = 0, stuck = 0;
	int rc;

	do {
		struct pids *now = &list[pass % 2];

		rc = list_children(now);
		if (!rc)
			rc = attach_new(set, now, &list[(pass + 1) % 2]);
		/* Its exit can take long. */
		if (now->gone)
			usleep(1000);
		stuck = rc == 1 ? stuck + 1 : 0;
	} while (rc > 0 && ++pass < PASSES && stuck < STUCK);
	/* An exit can take for ever; its children are found at a later turn. */
	if (stuck == STUCK)
		rc = 0;
	if (rc > 0)
		msg("cannot count all descendants: their parents exit faster than the tool finds "
		    "them; count without --rotate");
	free(list[0].pid);
	free(list[1].pid);
	return rc ? -1 : 0;
}

static int attach_all(struct stat_set *set)
{
	const struct stat_options *o = set->o;
	int rc = 0;

	if (o->system)
		return 0;
	if (!o->npid)
		return attach_children(set);
	for (unsigned int i = 0; i < o->npid && rc >= 0; i++)
		rc = stat_set_attach_again(set, o->pid[i]);
	return rc < 0 ? -1 : 0;
}

void rotate_begin(struct stat_set *set, uint64_t now)
{
	set->turn_began = now;
}

void rotate_end(struct stat_set *set, uint64_t now)
{
	for (unsigned int i = 0; set->turn_began && i < set->nevent; i++)
		if (set->event[i].turn == set->turn)
			set->event[i].ran_ns += now - set->turn_began;
}

int rotate_next(struct stat_set *set)
{
	int rc;

	if (set->nturn == 1)
		return 0;
	rotate_end(set, watch_now());
	if (stat_set_stop(set) < 0 || stat_set_read(set) < 0 ||
	    stat_set_uncounted(set) < 0)
		return -1;
	stat_set_release(set);
	set->turn = (set->turn + 1) % set->nturn;
	if (stat_set_allocate(set, false) < 0 || attach_all(set) < 0)
		return -1;
	rc = stat_set_start_late(set);
	/* The end of what is counted will be told in a moment. */
	rotate_begin(set, rc ? 0 : watch_now());
	return rc;
}

void rotate_finish(struct stat_set *set)
{
	for (unsigned int i = 0; set->nturn && i < set->nevent; i++)
		if (!set->event[i].ran_ns && !set->event[i].why)
			set->event[i].why = must_strdup("the measurement ended before its turn");
}
