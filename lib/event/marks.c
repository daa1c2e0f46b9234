/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marks.c - listening to the marks of programs (hwpmc_mark.h): makes the memory that they write
 * to, and reads it. A program may write anything at any time: each part is copied before it
 * is looked at. One thread at a time.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE			/* memfd_create() */
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../pmc/internal.h"
#include "mark_file.h"

struct hwpmc_marks {
	int fd;
	struct mark_file *file;
	uint64_t size, record_size;
	unsigned int n;			/* events */
	char event[HWPMC_MARKS_EVENTS][MARK_FILE_EVENT];
	char env[64];
};

/* Private copy of a mark, or the sum of the marks with its name. */
struct sum {
	int32_t pid, tid;
	char name[HWPMC_MARK_NAME];
	uint64_t begun, dropped, misused;
	struct spread values[];
};

EXPORT void hwpmc_marks_close(struct hwpmc_marks *m)
{
	int err = errno;

	if (!m)
		return;
	if (m->file)
		munmap(m->file, m->size);
	if (m->fd >= 0)
		close(m->fd);
	free(m);
	errno = err;
}

/* SIGXFSZ ends a process that makes a file beyond the limit. */
static bool is_beyond_limit(const struct hwpmc_marks *m)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY &&
	       limit.rlim_cur < m->size;
}

/* Sealed: if it shrank, the listener would die. */
static int make_file(struct hwpmc_marks *m)
{
	void *at;

	m->fd = memfd_create("hwpmc-marks", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->fd < 0 || ftruncate(m->fd, m->size) < 0 ||
	    fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return -1;
	at = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, m->fd, 0);
	if (at == MAP_FAILED)
		return -1;
	m->file = at;
	m->file->nevent = m->n;
	m->file->record_size = m->record_size;
	m->file->size = m->size;
	memcpy(m->file->event, m->event, sizeof(m->event));
	m->file->magic = MARK_FILE_MAGIC;
	snprintf(m->env, sizeof(m->env), "/proc/%d/fd/%d", getpid(), m->fd);
	return 0;
}

static int make_memory(struct hwpmc_marks *m)
{
	if (is_beyond_limit(m))
		return error_own(NULL, EFBIG, what("cannot make the memory of marks: it is a file "
						   "of %llu bytes, beyond the limit of files; raise "
						   "the limit (ulimit -f)",
						   (unsigned long long)m->size).text);
	if (!make_file(m))
		return 0;
	return error_own(NULL, errno, what("cannot make the memory of marks: %s",
					   strerror(errno)).text);
}

static int check_events(const char *const *events, unsigned int n)
{
	if (n < 1 || n > HWPMC_MARKS_EVENTS)
		return error_own(NULL, EINVAL, what("cannot count %u events of marks: 1 to %d are "
						    "possible", n, HWPMC_MARKS_EVENTS).text);
	for (unsigned int i = 0; i < n; i++) {
		if (null_given(NULL, !events[i], "hwpmc_marks_open"))
			return -1;
		if (strlen(events[i]) >= MARK_FILE_EVENT)
			return error_own(NULL, EINVAL, "cannot count an event of marks: it is too "
					 "long");
	}
	return 0;
}

EXPORT int hwpmc_marks_open(const char *const *events, unsigned int n, struct hwpmc_marks **marks)
{
	struct hwpmc_marks *m;

	if (null_given(NULL, !events || !marks, "hwpmc_marks_open"))
		return -1;
	*marks = NULL;
	if (check_events(events, n))
		return -1;
	m = calloc(1, sizeof(*m));
	if (!m)
		return error_own(NULL, ENOMEM, "no memory for marks");
	m->fd = -1;
	m->n = n;
	m->record_size = mark_record_size(n);
	m->size = 2 * MARK_FILE_PAGE + MARK_FILE_RECORDS * m->record_size;
	for (unsigned int i = 0; i < n; i++)
		snprintf(m->event[i], sizeof(m->event[i]), "%s", events[i]);
	if (make_memory(m)) {
		hwpmc_marks_close(m);
		return -1;
	}
	*marks = m;
	return 0;
}

EXPORT const char *hwpmc_marks_env(const struct hwpmc_marks *m)
{
	return null_given(NULL, !m, "hwpmc_marks_env") ? NULL : m->env;
}

/* ---- reading --------------------------------------------------------------- */

static const struct mark_record *record_of(const struct hwpmc_marks *m, uint64_t i)
{
	const struct mark_record *r = mark_record_at(m->file, m->record_size, i);

	return atomic_load(&r->ready) ? r : NULL;
}

static uint64_t records(const struct hwpmc_marks *m)
{
	uint64_t n = atomic_load(&m->file->nrecord);

	return n < MARK_FILE_RECORDS ? n : MARK_FILE_RECORDS;
}

static void copy_name(char name[HWPMC_MARK_NAME], const struct mark_record *r)
{
	memcpy(name, r->name, HWPMC_MARK_NAME);
	name[HWPMC_MARK_NAME - 1] = '\0';
}

/* By the descriptor: a read of a hole through the mapping takes memory for its page. */
static int read_values(const struct hwpmc_marks *m, const struct spread *values,
		       struct spread *copy)
{
	ssize_t n = pread(m->fd, copy, sizeof(*copy),
			  (const char *)values - (const char *)m->file);

	if (n == sizeof(*copy))
		return 0;
	return error_own(NULL, n < 0 ? errno : EIO, "cannot read the values of marks");
}

static int add_record(const struct hwpmc_marks *m, struct sum *sum, const struct mark_record *r,
		      struct spread *copy)
{
	sum->begun += r->begun;
	sum->dropped += r->dropped;
	sum->misused += r->misused;
	for (unsigned int i = 0; i < m->n; i++) {
		if (read_values(m, &r->values[i], copy))
			return -1;
		spread_merge(&sum->values[i], copy);
	}
	return 0;
}

static int give(const struct hwpmc_marks *m, struct sum *sum, hwpmc_marks_fn *fn, void *arg)
{
	int rc = 0;

	for (unsigned int i = 0; i < m->n && !rc; i++) {
		struct spread *s = &sum->values[i];
		struct hwpmc_mark_stats stats = {
			.name = sum->name, .event = m->event[i], .pid = sum->pid, .tid = sum->tid,
			.count = s->count, .sum = s->sum, .min = s->min,
			.median = spread_median(s), .max = s->max,
			.begun = sum->begun, .dropped = sum->dropped, .misused = sum->misused,
			.sketched = !spread_is_exact(s),
		};

		rc = fn(&stats, arg);
	}
	return rc;
}

/* The record i, and with all of them those of the same name that follow; marked as done. */
static int give_from(struct hwpmc_marks *m, uint64_t i, uint64_t n, bool by_thread, bool *done,
		     struct sum *sum, hwpmc_marks_fn *fn, void *arg)
{
	struct spread *copy = &sum->values[m->n];
	char name[HWPMC_MARK_NAME];

	memset(sum, 0, sizeof(*sum) + m->n * sizeof(struct spread));
	for (uint64_t first = i; i < n; i++) {
		const struct mark_record *r = done[i] ? NULL : record_of(m, i);

		if (!r)
			continue;
		copy_name(name, r);
		if (i == first)
			memcpy(sum->name, name, sizeof(name));
		else if (by_thread || strcmp(name, sum->name))
			continue;
		done[i] = true;
		if (by_thread) {
			sum->pid = r->pid;
			sum->tid = r->tid;
		}
		if (add_record(m, sum, r, copy))
			return -1;
	}
	return sum->begun || sum->misused ? give(m, sum, fn, arg) : 0;
}

EXPORT int hwpmc_marks_each(struct hwpmc_marks *m, bool by_thread, hwpmc_marks_fn *fn, void *arg)
{
	struct sum *sum;
	bool *done;
	uint64_t n;
	int rc = 0;

	if (null_given(NULL, !m || !fn, "hwpmc_marks_each"))
		return -1;
	n = records(m);
	sum = malloc(sizeof(*sum) + (m->n + 1) * sizeof(struct spread));
	done = calloc(n + 1, sizeof(*done));
	if (!sum || !done)
		rc = error_own(NULL, ENOMEM, "no memory for the values of marks");
	for (uint64_t i = 0; i < n && !rc; i++)
		if (!done[i] && record_of(m, i))
			rc = give_from(m, i, n, by_thread, done, sum, fn, arg);
	free(sum);
	free(done);
	return rc;
}

EXPORT int hwpmc_marks_state(struct hwpmc_marks *m, char *why, size_t size, uint64_t *programs,
			     uint64_t *lost)
{
	char text[sizeof(m->file->why)] = "";

	if (null_given(NULL, !m || (!why && size) || !programs || !lost, "hwpmc_marks_state"))
		return -1;
	if (atomic_load(&m->file->has_why) == 2)
		memcpy(text, m->file->why, sizeof(text) - 1);
	snprintf(why, size, "%s", text);
	*programs = atomic_load(&m->file->programs);
	*lost = atomic_load(&m->file->lost);
	return 0;
}
