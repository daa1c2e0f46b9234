/* SPDX-License-Identifier: BSD-2-Clause */
/* logdir.c - a directory of logs and the account of what became of them; see logdir.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "common/output.h"
#include "logdir.h"

const char *const logdir_key_names[LOGDIR_KEYS] = {
	"begun", "failed", "pushed", "refused", "empty", "dropped", "dropped_bytes",
};

/* ---- the directory ------------------------------------------------------- */

static int open_lock(struct logdir *s, const char *name)
{
	return openat(s->dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static int open_directory(const char *path, bool create)
{
	int at, dir;

	if (!create)
		return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	at = output_mkdir(path);
	if (at < 0)
		return -1;
	dir = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	close(at);
	return dir;
}

int logdir_open(struct logdir *s, const char *path, bool create, char *err, size_t size)
{
	*s = (struct logdir){ .lock = -1 };
	s->dir = open_directory(path, create);
	if (s->dir >= 0)
		s->lock = open_lock(s, "lock");
	if (s->lock >= 0) {
		s->path = must_strdup(path);
		return 0;
	}
	snprintf(err, size, "cannot use the directory '%s' for logs: %s", path,
		 strerror(errno));
	if (s->dir >= 0)
		close(s->dir);
	return -1;
}

void logdir_close(struct logdir *s)
{
	free(s->path);
	close(s->lock);
	close(s->dir);
}

static void logdir_lock(struct logdir *s)
{
	while (flock(s->lock, LOCK_EX) < 0 && errno == EINTR)
		;
}

static void logdir_unlock(struct logdir *s)
{
	flock(s->lock, LOCK_UN);
}

const char *logdir_name(char name[LOGDIR_NAME], uint64_t number)
{
	snprintf(name, LOGDIR_NAME, "%010" PRIu64 ".log", number);
	return name;
}

/* Of "0000000042.log"; 0: another file. */
static uint64_t number_of(const char *name, const char *suffix)
{
	size_t len = strlen(name), tail = strlen(suffix);
	char digits[LOGDIR_NAME];
	uint64_t number;

	if (len <= tail || len - tail >= sizeof(digits) ||
	    strcmp(name + len - tail, suffix))
		return 0;
	memcpy(digits, name, len - tail);
	digits[len - tail] = 0;
	return fmt_parse_u64(digits, 1, INT64_MAX, &number) < 0 ? 0 : number;
}

struct logs {
	uint64_t *number;	/* in rising order */
	size_t n;
	uint64_t bytes;
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A descriptor of its own: the position in a directory belongs to the open file. */
static DIR *read_directory(struct logdir *s)
{
	int fd = openat(s->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !dir)
		close(fd);
	return dir;
}

static int list_logs(struct logdir *s, const char *suffix, struct logs *logs)
{
	DIR *dir = read_directory(s);
	struct dirent *entry;
	struct stat st;

	*logs = (struct logs){ .n = 0 };
	if (!dir)
		return -1;
	while ((entry = readdir(dir))) {
		uint64_t number = number_of(entry->d_name, suffix);

		if (!number || fstatat(s->dir, entry->d_name, &st,
				       AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		if (!(logs->n & (logs->n - 1)))
			logs->number = must_realloc(logs->number,
						    logs->n ? 2 * logs->n : 1,
						    sizeof(*logs->number));
		logs->number[logs->n++] = number;
		logs->bytes += st.st_blocks * 512ull;
	}
	closedir(dir);
	if (logs->n)
		qsort(logs->number, logs->n, sizeof(*logs->number), compare);
	return 0;
}

/* ---- the account --------------------------------------------------------- */

static void parse_account(struct logdir_account *a, FILE *f)
{
	char line[80], name[40];
	uint64_t value;

	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%39s %" SCNu64, name, &value) != 2)
			continue;
		for (int i = 0; i < LOGDIR_KEYS; i++)
			if (strcmp(name, logdir_key_names[i]) == 0)
				a->n[i] = value;
	}
}

/* Without the file all is 0; a number that is in use was begun. */
static void load_account(struct logdir *s, struct logdir_account *a,
			 const struct logs *logs)
{
	int fd = openat(s->dir, "account", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;

	memset(a, 0, sizeof(*a));
	if (f) {
		parse_account(a, f);
		fclose(f);
	} else if (fd >= 0) {
		close(fd);
	}
	if (logs->n && logs->number[logs->n - 1] > a->n[LOGDIR_BEGUN])
		a->n[LOGDIR_BEGUN] = logs->number[logs->n - 1];
}

/* Readers find the old account or the new one. */
static int save_account(struct logdir *s, const struct logdir_account *a)
{
	FILE *f = output_fopen_at(s->dir, "account.new");
	bool bad;

	if (!f)
		return -1;
	for (int i = 0; i < LOGDIR_KEYS; i++)
		fprintf(f, "%s %" PRIu64 "\n", logdir_key_names[i], a->n[i]);
	bad = ferror(f);
	if (fclose(f) || bad)
		return -1;
	return renameat(s->dir, "account.new", s->dir, "account");
}

/*
 * Log @number is removed by now, so the list has it no more. Logs that somebody put there by
 * hand are in no account before: each of them was begun, too.
 */
static void add(struct logdir *s, uint64_t number, enum logdir_key what, uint64_t n)
{
	struct logdir_account a;
	struct logs logs;

	if (list_logs(s, ".log", &logs) < 0)
		return;
	load_account(s, &a, &logs);
	free(logs.number);
	if (number > a.n[LOGDIR_BEGUN])
		a.n[LOGDIR_BEGUN] = number;
	a.n[what] += n;
	if (save_account(s, &a) < 0)
		msg("cannot write '%s/account': %s; one log too few is counted as %s",
		    s->path, strerror(errno), logdir_key_names[what]);
}

int logdir_read(struct logdir *s, struct logdir_account *a, uint64_t *waiting,
	       uint64_t *bytes)
{
	struct logs logs;
	int err;

	logdir_lock(s);
	err = list_logs(s, ".log", &logs);
	if (!err)
		load_account(s, a, &logs);
	logdir_unlock(s);
	if (err)
		return -1;
	free(logs.number);
	*waiting = logs.n;
	*bytes = logs.bytes;
	return 0;
}

/* ---- recording ----------------------------------------------------------- */

static void remove_parts(struct logdir *s)
{
	char name[LOGDIR_NAME + 8];
	struct logs parts;

	if (list_logs(s, ".log.part", &parts) < 0)
		return;
	for (size_t i = 0; i < parts.n; i++) {
		logdir_name(name, parts.number[i]);
		strcat(name, ".part");
		unlinkat(s->dir, name, 0);
	}
	free(parts.number);
}

/* What was begun and has come to nothing that is known. False: there is none. */
static bool count_failed(struct logdir *s)
{
	struct logdir_account a;
	uint64_t known = 0;
	struct logs logs;

	if (list_logs(s, ".log", &logs) < 0)
		return true;
	load_account(s, &a, &logs);
	for (int i = LOGDIR_FAILED; i <= LOGDIR_DROPPED; i++)
		known += a.n[i];
	known += logs.n;
	free(logs.number);
	if (a.n[LOGDIR_BEGUN] <= known)
		return false;
	a.n[LOGDIR_FAILED] += a.n[LOGDIR_BEGUN] - known;
	save_account(s, &a);
	return true;
}

bool logdir_begin(struct logdir *s)
{
	int fd = open_lock(s, "recorder");

	/* Held until the process ends; a child that records has it too. */
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return false;
	logdir_lock(s);
	remove_parts(s);
	count_failed(s);
	logdir_unlock(s);
	return true;
}

uint64_t logdir_next(struct logdir *s)
{
	struct logdir_account a;
	uint64_t number = 0;
	struct logs logs;

	logdir_lock(s);
	if (list_logs(s, ".log", &logs) == 0) {
		load_account(s, &a, &logs);
		free(logs.number);
		number = ++a.n[LOGDIR_BEGUN];
		if (save_account(s, &a) < 0)
			number = 0;
	}
	logdir_unlock(s);
	return number;
}

bool logdir_ended(struct logdir *s, uint64_t number)
{
	char name[LOGDIR_NAME];
	bool there;

	logdir_lock(s);
	there = faccessat(s->dir, logdir_name(name, number), F_OK, 0) == 0;
	/* It left none, or hwpmc push has had it already, and counted what became of it. */
	if (!there) {
		remove_parts(s);
		there = !count_failed(s);
	}
	logdir_unlock(s);
	return there;
}

/* The bytes that its removal frees; 0: it stays. */
static uint64_t drop(struct logdir *s, uint64_t number)
{
	char name[LOGDIR_NAME];
	uint64_t bytes = 0;
	struct stat st;
	int fd;

	fd = openat(s->dir, logdir_name(name, number), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	/* Without the lock it is being pushed: its receiver may have it already. */
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
	    unlinkat(s->dir, name, 0) == 0)
		bytes = st.st_blocks * 512ull + 1;
	close(fd);
	return bytes;
}

unsigned int logdir_trim(struct logdir *s, uint64_t limit)
{
	unsigned int dropped = 0;
	struct logs logs;

	logdir_lock(s);
	if (list_logs(s, ".log", &logs) == 0) {
		for (size_t i = 0; i < logs.n && logs.bytes > limit; i++) {
			uint64_t bytes = drop(s, logs.number[i]);

			if (!bytes)
				continue;
			logs.bytes -= bytes - 1;
			dropped++;
			add(s, logs.number[i], LOGDIR_DROPPED, 1);
			add(s, logs.number[i], LOGDIR_DROPPED_BYTES, bytes - 1);
		}
		free(logs.number);
	}
	logdir_unlock(s);
	return dropped;
}

/* ---- pushing ------------------------------------------------------------- */

/* Locked and still there: another one may have pushed or dropped it meanwhile. */
static int take(struct logdir *s, uint64_t number)
{
	char name[LOGDIR_NAME];
	struct stat st;
	int fd;

	fd = openat(s->dir, logdir_name(name, number), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -1;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 && st.st_nlink)
		return fd;
	close(fd);
	return -1;
}

int logdir_take(struct logdir *s, uint64_t after, uint64_t *number)
{
	struct logs logs;
	int fd = -1;

	if (list_logs(s, ".log", &logs) < 0)
		return -1;
	for (size_t i = 0; i < logs.n && fd < 0; i++) {
		if (logs.number[i] <= after)
			continue;
		fd = take(s, logs.number[i]);
		*number = logs.number[i];
	}
	free(logs.number);
	return fd;
}

void logdir_done(struct logdir *s, uint64_t number, enum logdir_key what)
{
	char name[LOGDIR_NAME];

	logdir_lock(s);
	if (unlinkat(s->dir, logdir_name(name, number), 0) == 0)
		add(s, number, what, 1);
	else
		msg("cannot remove '%s/%s': %s; it will be pushed again", s->path, name,
		    strerror(errno));
	logdir_unlock(s);
}
