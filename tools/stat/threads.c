/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads.c - counts of single threads (--per-thread, -t). The PMCs write a record at each
 * switch of what the thread has counted (HWPMC_F_LOG_PROCCSW); those of a thread add up to
 * its count, and all of them to the PMC's total. A flush writes what is in flight. Where
 * the rings were full, records are lost: what they said is the total's, but no thread's.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libhwpmclog.h>

#include "common/fmt.h"
#include "common/gone.h"
#include "common/msg.h"
#include "stat.h"

#define BUCKETS		1024
#define ROWS		256		/* HWPMC_ID_ROW() is less */

/* Once for each number that is used: a thread with the number of one that has ended is
 * taken for the same. */
struct thread {
	struct thread *next;		/* in its bucket */
	pid_t pid, tid;
	char name[HWPMC_LOG_COMM];
	uint64_t named;			/* time of the record that said it; 0: none */
	uint64_t *count;		/* by event */
	uint64_t *shown;		/* of it, by earlier intervals */
};

struct stat_threads {
	struct hwpmc_rings *rings;
	unsigned int nevent;
	int event_of_row[ROWS];		/* -1: none */
	unsigned int n;
	struct thread **all;
	struct thread *bucket[BUCKETS];
	uint64_t *unknown;		/* by event: what lost records said, which never
					 * becomes less */
	uint64_t *unknown_shown;
};

int stat_threads_open(struct stat_set *set)
{
	struct stat_threads *t;

	if (!stat_by_threads(set->o))
		return 0;
	t = must_calloc(1, sizeof(*t));
	t->nevent = set->nevent;
	t->unknown = must_calloc(set->nevent, sizeof(*t->unknown));
	t->unknown_shown = must_calloc(set->nevent, sizeof(*t->unknown_shown));
	set->threads = t;
	if (hwpmc_rings_open(set->h, set->o->ring_size, 0, &t->rings) == 0)
		return 0;
	msg("%s", hwpmc_error(set->h));
	return -1;
}

void stat_threads_close(struct stat_set *set)
{
	struct stat_threads *t = set->threads;

	if (!t)
		return;
	hwpmc_rings_close(t->rings);
	for (unsigned int i = 0; i < t->n; i++) {
		free(t->all[i]->count);
		free(t->all[i]->shown);
		free(t->all[i]);
	}
	free(t->all);
	free(t->unknown);
	free(t->unknown_shown);
	free(t);
	set->threads = NULL;
}

/* ---- threads ------------------------------------------------------------- */

/* Of one that no record has named: it was there before the PMCs were attached. */
static void read_name(struct thread *thread)
{
	char path[64], line[HWPMC_LOG_COMM + 1] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", thread->pid, thread->tid);
	f = fopen(path, "re");
	if (f && fgets(line, sizeof(line), f))
		snprintf(thread->name, sizeof(thread->name), "%.*s",
			 (int)strcspn(line, "\n"), line);
	if (f)
		fclose(f);
}

static struct thread *thread_new(struct stat_threads *t, pid_t pid, pid_t tid)
{
	struct thread *thread = must_calloc(1, sizeof(*thread));

	thread->pid = pid;
	thread->tid = tid;
	thread->count = must_calloc(t->nevent, sizeof(*thread->count));
	thread->shown = must_calloc(t->nevent, sizeof(*thread->shown));
	thread->next = t->bucket[tid % BUCKETS];
	t->bucket[tid % BUCKETS] = thread;
	t->all = must_realloc(t->all, t->n + 1, sizeof(*t->all));
	t->all[t->n++] = thread;
	read_name(thread);
	return thread;
}

static struct thread *thread_get(struct stat_threads *t, pid_t pid, pid_t tid)
{
	struct thread *thread = t->bucket[tid % BUCKETS];

	while (thread && (thread->tid != tid || thread->pid != pid))
		thread = thread->next;
	return thread ? thread : thread_new(t, pid, tid);
}

/* Only records of one CPU come in the order of time. */
static void set_name(struct stat_threads *t, pid_t pid, pid_t tid, uint64_t time,
		     const char *name)
{
	struct thread *thread = thread_get(t, pid, tid);

	if (time < thread->named)
		return;
	thread->named = time;
	snprintf(thread->name, sizeof(thread->name), "%.*s", HWPMC_LOG_COMM - 1, name);
}

void stat_threads_attached(struct stat_set *set, pid_t pid)
{
	char path[64];
	struct dirent *d;
	DIR *dir;

	if (!set->threads)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (d = readdir(dir)))
		if (atoi(d->d_name) > 0)
			thread_get(set->threads, pid, atoi(d->d_name));
	if (dir)
		closedir(dir);
}

static bool is_chosen(const struct stat_options *o, const struct thread *thread)
{
	for (unsigned int i = 0; i < o->ntid; i++)
		if (o->tid[i] == thread->tid)
			return true;
	return !o->ntid;
}

/* ---- records ------------------------------------------------------------- */

static void take_value(struct stat_threads *t, const struct hwpmc_log_value *v)
{
	int event = t->event_of_row[HWPMC_ID_ROW(v->hdr.id)];

	if (event >= 0)
		thread_get(t, v->pid, v->tid)->count[event] += v->value;
}

static void take_record(struct stat_threads *t, const struct hwpmc_log_hdr *hdr)
{
	const struct hwpmc_log_task *task = (const void *)hdr;
	const struct hwpmc_log_exec *exec = (const void *)hdr;

	switch (hdr->type) {
	case HWPMC_LOG_PROCCSW:
		take_value(t, (const void *)hdr);
		break;
	case HWPMC_LOG_THR_CREATE:
	case HWPMC_LOG_PROC_CREATE:
	case HWPMC_LOG_COMM_NAME:
		set_name(t, task->pid, task->tid, hdr->time, task->comm);
		break;
	case HWPMC_LOG_PROCEXEC:
		set_name(t, exec->pid, exec->tid, hdr->time, exec->comm);
		break;
	default:
		break;
	}
}

static int take_records(unsigned int cpu, const void *data, size_t len, void *arg)
{
	const struct hwpmc_log_hdr *hdr;

	(void)cpu;
	for (size_t at = 0; at + sizeof(*hdr) <= len; at += hdr->len) {
		hdr = (const void *)((const char *)data + at);
		if (hdr->len < sizeof(*hdr) || hdr->len > len - at)
			break;
		take_record(arg, hdr);
	}
	return 0;
}

void stat_threads_drain(struct stat_set *set)
{
	hwpmc_rings_read(set->threads->rings, take_records, set->threads, NULL);
}

/* The PMCs' rows, which records name. */
void stat_threads_find_rows(struct stat_set *set)
{
	struct stat_threads *t = set->threads;

	if (!t)
		return;
	for (unsigned int i = 0; i < ROWS; i++)
		t->event_of_row[i] = -1;
	for (unsigned int i = 0; i < set->nevent; i++)
		if (!set->event[i].nsum && set->event[i].cell[0].id != HWPMC_ID_INVALID)
			t->event_of_row[HWPMC_ID_ROW(set->event[i].cell[0].id)] = i;
}

/* ---- what is shown ------------------------------------------------------- */

static uint64_t lost_records(const struct stat_threads *t)
{
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS], sum = 0;

	hwpmc_rings_drop_counts(t->rings, samples, others, HWPMC_DROP_SLOTS);
	for (unsigned int i = 0; i < HWPMC_DROP_SLOTS; i++)
		sum += others[i];
	return sum;
}

/* Of an event that adds up others, those of each thread. */
static void add_kinds(struct stat_threads *t, const struct stat_event *ev, unsigned int event)
{
	for (unsigned int i = 0; ev->nsum && i < t->n; i++) {
		t->all[i]->count[event] = 0;
		for (unsigned int k = 1; k <= ev->nsum; k++)
			t->all[i]->count[event] += t->all[i]->count[event - k];
	}
}

/* The busiest first, by this event. */
static int compare(const void *a, const void *b, void *event)
{
	const struct thread *x = *(struct thread *const *)a, *y = *(struct thread *const *)b;
	uint64_t m = x->count[*(unsigned int *)event], n = y->count[*(unsigned int *)event];

	if (m != n)
		return m < n ? 1 : -1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static struct stat_cell *add_part(struct stat_event *ev, uint64_t value, uint64_t shown)
{
	struct stat_cell *part = &ev->part[ev->npart++];

	part->id = HWPMC_ID_INVALID;
	part->cpu = HWPMC_CPU_ANY;
	part->ncpu = 1;
	part->value = value;
	part->shown = shown;
	part->run = must_calloc(1, sizeof(*part->run));
	part->run[0] = value;
	return part;
}

static void show_thread(struct stat_event *ev, const struct thread *thread, unsigned int event)
{
	struct stat_cell *part = add_part(ev, thread->count[event], thread->shown[event]);

	part->pid = thread->pid;
	part->tid = thread->tid;
	strcpy(part->name, thread->name);
	snprintf(part->label, sizeof(part->label), "%s-%d", thread->name, thread->tid);
	fmt_plain(part->label);
}

/* What no record has told. */
static void show_unknown(struct stat_event *ev, uint64_t value, uint64_t shown)
{
	struct stat_cell *part = add_part(ev, value, shown);

	part->pid = part->tid = -1;
	strcpy(part->name, "unknown");
	strcpy(part->label, part->name);
}

static void read_event(struct stat_set *set, struct stat_event *ev, unsigned int event,
		       bool lost)
{
	struct stat_threads *t = set->threads;
	uint64_t sum = 0, *unknown = &t->unknown[event];

	add_kinds(t, ev, event);
	stat_parts_close(ev);
	ev->part = must_calloc(t->n + 1, sizeof(*ev->part));
	ev->npart = 0;
	for (unsigned int i = 0; i < t->n; i++) {
		if (!is_chosen(set->o, t->all[i]))
			continue;
		show_thread(ev, t->all[i], event);
		sum += t->all[i]->count[event];
	}
	if (set->o->ntid) {
		ev->incomplete |= lost;
		ev->cell[0].value = sum;
		return;
	}
	/* The total was read before the flush: records also have what was counted since. */
	if (lost && ev->cell[0].value > sum + *unknown)
		*unknown = ev->cell[0].value - sum;
	ev->cell[0].value = sum + *unknown;
	if (lost)
		show_unknown(ev, *unknown, t->unknown_shown[event]);
}

static void sort_threads(struct stat_set *set)
{
	struct stat_threads *t = set->threads;
	unsigned int event = 0;

	while (event + 1 < set->nevent && set->event[event].why)
		event++;
	qsort_r(t->all, t->n, sizeof(*t->all), compare, &event);
}

int stat_threads_read(struct stat_set *set)
{
	struct stat_threads *t = set->threads;

	if (!t)
		return 0;
	if (hwpmc_flush_log(set->h) < 0 && !stat_is_loss(errno, hwpmc_reason(set->h))) {
		msg("%s", hwpmc_error(set->h));
		return -1;
	}
	stat_threads_drain(set);
	set->lost_records = lost_records(t);
	sort_threads(set);
	for (unsigned int i = 0; i < set->nevent; i++)
		if (!set->event[i].why)
			read_event(set, &set->event[i], i, set->lost_records);
	return 0;
}

void stat_threads_shown(struct stat_set *set)
{
	struct stat_threads *t = set->threads;
	size_t size = set->nevent * sizeof(uint64_t);

	for (unsigned int i = 0; t && i < t->n; i++)
		memcpy(t->all[i]->shown, t->all[i]->count, size);
	if (t)
		memcpy(t->unknown_shown, t->unknown, size);
}

/* ---- -t ------------------------------------------------------------------ */

static pid_t process_of(pid_t tid)
{
	char path[64], line[128];
	pid_t pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	while (f && !pid && fgets(line, sizeof(line), f))
		if (strncmp(line, "Tgid:", 5) == 0)
			pid = atoi(line + 5);
	if (f)
		fclose(f);
	return pid;
}

/* Their processes, each once, are what the PMCs are attached to. */
int stat_threads_choose(struct stat_options *o)
{
	gone_remove(o->tid, &o->ntid, "count", "thread");
	for (unsigned int i = 0, j; i < o->ntid; i++) {
		pid_t pid = process_of(o->tid[i]);

		if (!pid) {
			msg("cannot count thread %d: %s", o->tid[i], strerror(ESRCH));
			return -1;
		}
		for (j = 0; j < o->npid && o->pid[j] != pid; j++)
			;
		if (j < o->npid)
			continue;
		o->pid = must_realloc(o->pid, o->npid + 1, sizeof(*o->pid));
		o->pid[o->npid++] = pid;
	}
	return 0;
}

bool stat_threads_are_gone(const struct stat_options *o)
{
	for (unsigned int i = 0; i < o->ntid; i++)
		if (process_of(o->tid[i]))
			return false;
	return true;
}
