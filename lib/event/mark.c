/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mark.c - marks in the program that has them (hwpmc_mark.h). A thread has a stack of open
 * marks; each is a region that the macros read into. Values go into memory of the listener, so
 * that they outlive the program, however it ends. Entered by the thread of the marks alone.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE			/* secure_getenv(), gettid() */
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../pmc/internal.h"
#include "mark_file.h"

#define LESSONS		64
#define SLOTS		256		/* a power of two, more than HWPMC_MARKS_MAX */
#define UNKNOWN		UINT64_MAX

struct mark {
	char name[HWPMC_MARK_NAME];
	struct mark_record *record;	/* NULL: none was left */
};

struct level {
	struct hwpmc_region head;
	struct mark *mark;
	uintptr_t frame;		/* frame of its function; 0: unknown */
};

struct mark_thread {
	unsigned int depth;		/* open marks */
	unsigned int over;		/* open marks beyond the levels */
	bool learning, learned;		/* the costs */
	unsigned int n;			/* events */
	const struct hwpmc_user_row *row[HWPMC_MARKS_EVENTS];
	uint64_t cost[HWPMC_MARKS_EVENTS];
	struct thread_page *page;	/* pinned */
	unsigned int nmark;
	struct mark *slot[SLOTS];	/* by hash of the name */
	struct mark mark[HWPMC_MARKS_MAX];
	struct level level[HWPMC_MARK_DEPTH];
};

/* State of this process. Under .lock, except .file. */
static struct {
	pthread_mutex_t lock;
	struct mark_file *file;		/* constant after the constructor */
	uint64_t record_size;
	unsigned int nevent;
	bool tried;			/* to open the device */
	bool has_key;
	pthread_key_t key;
	struct hwpmc *h;
	dev_t device;			/* device number of .h */
	struct hwpmc_group *group;
} process = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Read by threads without open marks: holds nothing. */
static struct hwpmc_region none = { .last = none.slot };

#define THREAD	static __thread __attribute__((tls_model("initial-exec")))

EXPORT int hwpmc_mark_on;
EXPORT __thread __attribute__((tls_model("initial-exec")))
struct hwpmc_region *hwpmc_mark_top = &none;

THREAD struct mark_thread *mine;
/* In a call of this file, or has ended: a signal handler, or a destructor, has no marks. */
THREAD bool busy;

/* ---- the process ----------------------------------------------------------- */

/* The first reason stays. */
static void report(const char *why)
{
	int none_yet = 0;

	if (!atomic_compare_exchange_strong(&process.file->has_why, &none_yet, 1))
		return;
	snprintf(process.file->why, sizeof(process.file->why), "%s", why);
	atomic_store(&process.file->has_why, 2);
}

static void end_thread(void *arg)
{
	struct mark_thread *t = arg;

	busy = true;
	hwpmc_mark_top = &none;
	mine = NULL;
	mapped_unpin(t->page);
	free(t);
}

/* The program may have closed all descriptors, and the number can be that of another file. */
static void close_inherited(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISCHR(st.st_mode) && st.st_rdev == process.device)
		close(fd);
}

/* In the only thread of a child: PMCs, pages and open marks are its parent's. */
static void begin_child(void)
{
	if (process.h)
		close_inherited(process.h->fd);
	process.h = NULL;
	process.group = NULL;
	process.tried = false;
	hwpmc_mark_on = process.file != NULL;
	hwpmc_mark_top = &none;
	mine = NULL;
	busy = false;
	pthread_mutex_init(&process.lock, NULL);
}

/* In another PID namespace the name is that of any file: only regular ones are opened. */
static int open_file(const char *path)
{
	int found = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char again[32];
	struct stat st;

	if (found < 0)
		return -1;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
	if (!fstat(found, &st) && S_ISREG(st.st_mode))
		fd = open(again, O_RDWR | O_CLOEXEC);
	close(found);
	return fd;
}

static struct mark_file *map_file(const char *path)
{
	struct mark_file *file = MAP_FAILED;
	int fd = open_file(path);
	struct stat st;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size >= 2 * MARK_FILE_PAGE)
		file = mmap(NULL, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
			    fd, 0);
	close(fd);
	if (file == MAP_FAILED)
		return NULL;
	process.nevent = file->nevent;
	process.record_size = mark_record_size(process.nevent);
	if (file->magic == MARK_FILE_MAGIC && process.nevent - 1 < HWPMC_MARKS_EVENTS &&
	    file->record_size == process.record_size && file->size == (uint64_t)st.st_size &&
	    file->size >= 2 * MARK_FILE_PAGE + MARK_FILE_RECORDS * process.record_size)
		return file;
	munmap(file, st.st_size);
	return NULL;
}

__attribute__((constructor)) static void listen_to_marks(void)
{
	const char *path = secure_getenv(HWPMC_MARKS_ENV);

	if (!path || strncmp(path, "/proc/", 6))
		return;
	process.file = map_file(path);
	if (process.file && !pthread_atfork(NULL, NULL, begin_child))
		hwpmc_mark_on = 1;
}

static int open_events(void)
{
	const char *event[HWPMC_MARKS_EVENTS];
	struct stat st;

	for (unsigned int i = 0; i < process.nevent; i++)
		event[i] = process.file->event[i];
	if (hwpmc_open(&process.h))
		return -1;
	process.device = fstat(process.h->fd, &st) ? 0 : st.st_rdev;
	if (hwpmc_group_open(process.h, event, process.nevent, 0, 0, &process.group))
		return -1;
	return hwpmc_group_start(process.group);
}

/* False: no mark of this process can be counted. */
static bool process_begin(void)
{
	if (process.tried)
		return process.group != NULL;
	process.tried = true;
	if (!process.has_key)
		process.has_key = !pthread_key_create(&process.key, end_thread);
	if (process.has_key && !open_events()) {
		atomic_fetch_add(&process.file->programs, 1);
		return true;
	}
	report(process.has_key ? hwpmc_error(process.h) : "cannot create a key for data of threads");
	hwpmc_group_close(process.group);
	hwpmc_close(process.h);
	process.group = NULL;
	process.h = NULL;
	hwpmc_mark_on = 0;
	return false;
}

/* ---- the thread ------------------------------------------------------------ */

static int open_rows(struct mark_thread *t)
{
	const uint32_t *id = hwpmc_group_ids(process.group, &t->n);
	struct hwpmc_counter c;

	for (unsigned int i = 0; i < t->n; i++) {
		if (hwpmc_counter_open(process.h, id[i], &c))
			return -1;
		t->row[i] = c.row;
		t->cost[i] = UNKNOWN;
	}
	t->page = mapped_pin(process.h);
	return 0;
}

static __attribute__((noinline)) void lesson(void)
{
	HWPMC_MARK_BEGIN("");
	HWPMC_MARK_END("");
}

static struct mark_thread *thread_new(void)
{
	struct mark_thread *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	if (open_rows(t) || pthread_setspecific(process.key, t)) {
		report(hwpmc_error(process.h));
		mapped_unpin(t->page);
		free(t);
		return NULL;
	}
	return t;
}

static void learn(struct mark_thread *t)
{
	t->learning = true;
	busy = false;
	for (int i = 0; i < LESSONS; i++)
		lesson();
	busy = true;
	t->learning = false;
	t->learned = true;
	for (unsigned int i = 0; i < t->n; i++)
		t->learned &= t->cost[i] != UNKNOWN;
}

static void thread_begin(void)
{
	int err = errno;

	pthread_mutex_lock(&process.lock);
	if (process_begin())
		mine = thread_new();
	pthread_mutex_unlock(&process.lock);
	errno = err;
}

/* ---- marks ----------------------------------------------------------------- */

static unsigned int hash_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (unsigned int i = 0; i < HWPMC_MARK_NAME - 1 && name[i]; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return (hash ^ hash >> 16) % SLOTS;
}

static struct mark_record *record_new(const char *name)
{
	struct mark_file *file = process.file;
	uint64_t i = atomic_fetch_add(&file->nrecord, 1);
	struct mark_record *r;

	if (i >= MARK_FILE_RECORDS)
		return NULL;
	r = mark_record_at(file, process.record_size, i);
	r->pid = getpid();
	r->tid = syscall(SYS_gettid);
	memcpy(r->name, name, sizeof(r->name));
	atomic_store(&r->ready, 1);
	return r;
}

/* NULL: the thread has too many. */
static struct mark *find_mark(struct mark_thread *t, const char *name)
{
	unsigned int i = hash_of(name);
	struct mark *m;

	for (; (m = t->slot[i]); i = (i + 1) % SLOTS)
		if (!strncmp(m->name, name, HWPMC_MARK_NAME - 1))
			return m;
	if (t->nmark == HWPMC_MARKS_MAX)
		return NULL;
	m = t->slot[i] = &t->mark[t->nmark++];
	strncpy(m->name, name, HWPMC_MARK_NAME - 1);
	m->record = record_new(m->name);
	return m;
}

static void set_top(struct mark_thread *t)
{
	hwpmc_mark_top = t->depth ? &t->level[t->depth - 1].head : &none;
}

/* A handler on an alternate stack has a frame above those of the functions that it interrupts. */
static bool is_on_signal_stack(void)
{
	stack_t ss;

	return !sigaltstack(NULL, &ss) && ss.ss_flags & SS_ONSTACK;
}

/* Marks of functions that are no longer there, as stacks grow downward. */
static void leave_gone(struct mark_thread *t, const struct mark *m, uintptr_t frame)
{
	for (unsigned int i = 0; frame && i < t->depth; i++) {
		const struct level *l = &t->level[i];

		if (!l->frame || l->frame > frame || (l->frame == frame && l->mark != m))
			continue;
		if (is_on_signal_stack())
			return;
		t->depth = i;
		t->over = 0;		/* they are above it */
	}
}

static struct hwpmc_region *push(struct mark_thread *t, struct mark *m, uintptr_t frame)
{
	struct level *l = &t->level[t->depth++];

	l->mark = m;
	l->frame = frame;
	for (unsigned int i = 0; i < t->n; i++)
		l->head.slot[i].row = t->row[i];
	l->head.last = l->head.slot + t->n;
	l->head.failed = 0;
#ifdef HWPMC_REGION_READ
	__asm__("mov %%fs:0, %0" : "=r"(l->head.thread));
#endif
	hwpmc_mark_top = &l->head;
	return &l->head;
}

static struct hwpmc_region *begin(struct mark_thread *t, const char *name, uintptr_t frame)
{
	struct mark *m;

	if (t->learning)
		return push(t, NULL, 0);
	m = find_mark(t, name);
	leave_gone(t, m, frame);
	if (!m || !m->record)
		atomic_fetch_add(&process.file->lost, 1);
	else
		m->record->begun++;
	if (t->over || t->depth == HWPMC_MARK_DEPTH || !m) {
		t->over++;
		return &none;
	}
	return push(t, m, frame);
}

static struct hwpmc_region *ready(const char *name, uintptr_t frame)
{
	struct hwpmc_region *r = &none;

	if (busy || !name)
		return r;
	busy = true;
	if (!mine)
		thread_begin();
	/* A thread that cannot count stays busy: it does not try again. */
	if (!mine)
		return r;
	/* A lesson may have been switched, or the PMCs were not yet readable. */
	if (!mine->learned && !mine->learning && mine->depth < HWPMC_MARK_DEPTH)
		learn(mine);
	r = begin(mine, name, frame);
	busy = false;
	return r;
}

EXPORT struct hwpmc_region *hwpmc_mark_ready(const char *name)
{
	return ready(name, (uintptr_t)__builtin_frame_address(0));
}

static void take_lesson(struct mark_thread *t, const struct hwpmc_region *head)
{
	for (unsigned int i = 0; i < t->n && !head->failed; i++) {
		uint64_t value = head->slot[i].value[1] - head->slot[i].value[0];

		if (value < t->cost[i])
			t->cost[i] = value;
	}
}

/* The end was read into the region of the last open mark, which is another one if that was left. */
static void take_values(struct mark_thread *t, const struct level *l,
			const struct hwpmc_region *last)
{
	struct mark_record *r = l->mark->record;

	if (!r)
		return;
	if (l->head.failed || last->failed || !t->learned) {
		r->dropped++;
		return;
	}
	for (unsigned int i = 0; i < t->n; i++) {
		uint64_t value = last->slot[i].value[1] - l->head.slot[i].value[0];

		spread_add(&r->values[i], value > t->cost[i] ? value - t->cost[i] : 0);
	}
}

static void end(struct mark_thread *t, const char *name)
{
	unsigned int i = t->depth;
	struct mark *m;

	if (t->learning) {
		take_lesson(t, &t->level[--t->depth].head);
		return;
	}
	m = find_mark(t, name);
	if (t->over) {
		t->over--;
		if (m && m->record)
			m->record->dropped++;
		return;
	}
	while (i && t->level[i - 1].mark != m)
		i--;
	if (i) {
		take_values(t, &t->level[i - 1], &t->level[t->depth - 1].head);
		t->depth = i - 1;
	} else if (m && m->record) {
		m->record->misused++;
	}
}

EXPORT void hwpmc_mark_done(const char *name)
{
	if (busy || !name)
		return;
	busy = true;
	if (!mine)
		thread_begin();
	if (!mine)
		return;
	end(mine, name);
	set_top(mine);
	busy = false;
}

/* A caller of these can be a wrapper: its frame says nothing. */
EXPORT void hwpmc_mark_begin(const char *name)
{
#ifdef HWPMC_REGION_READ
	struct hwpmc_region *r;

	if (!hwpmc_mark_on)
		return;
	r = ready(name, 0);
	HWPMC_REGION_READ(r, 0, "6b", "lfence");
#endif
}

EXPORT void hwpmc_mark_end(const char *name)
{
#ifdef HWPMC_REGION_READ
	HWPMC_MARK_END(name);
#endif
}
