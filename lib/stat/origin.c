/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * origin.c - the processes that a log is about, while they live: the root that their paths
 * are below, the number that they have for themselves, and what they were forked from. All
 * of it is read from /proc when an image is loaded, and only of a log of this machine.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stat.h"

#define STAT_MAX	4096
#define SLACK		1000000000ll	/* ns */

void image_seen(struct image *img, int32_t pid, uint64_t start, uint64_t end)
{
	if (pid <= 0 || img->loaded)
		return;
	for (uint32_t i = 0; i < MAPPERS_MAX; i++)
		if (img->mapper[i].pid == pid)
			return;
	img->mapper[img->nmapper++ % MAPPERS_MAX] = (struct mapper){ pid, start, end };
}

const char *origin_root(int32_t pid, char text[ORIGIN_ROOT])
{
	snprintf(text, ORIGIN_ROOT, "/proc/%d/root", pid);
	return text;
}

bool origin_is_here(const struct images *set)
{
	return !set->options.root && kallsyms_of_this_kernel(set) && !is_elsewhere(set);
}

/* Reads /proc/PID/FILE, and puts a zero behind it. Returns the bytes; 0: there is none. */
static size_t read_of(int32_t pid, const char *file, void *to, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, to, size - 1);
	close(fd);
	if (n <= 0)
		return 0;
	((char *)to)[n] = '\0';
	return n;
}

/* Reads the field of /proc/PID/status; a process can have thousands of groups before it. Free
 * *line; returns the text behind the name, or NULL. */
static const char *status_field(int32_t pid, const char *field, char **line)
{
	size_t size = 0, len = strlen(field);
	char path[64];
	FILE *f;

	*line = NULL;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	while (getline(line, &size, f) > 0)
		if (!strncmp(*line, field, len)) {
			fclose(f);
			return *line + len;
		}
	fclose(f);
	return NULL;
}

int32_t origin_own_pid(int32_t pid)
{
	char *line, *end;
	const char *at = status_field(pid, "NSpid:", &line);
	long own = 0;

	if (!line)
		return 0;
	/* A number for each namespace; the innermost is the last. */
	for (; at; at = end) {
		long nr = strtol(at, &end, 10);

		if (end == at)
			break;
		own = nr;
	}
	free(line);
	return own > 0 && own <= INT32_MAX ? own : pid;
}

static int64_t now_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* When it began, ns since boot: field 22 of its line, behind the name in parentheses. -1: it is
 * gone. */
static int64_t start_of(int32_t pid)
{
	char line[STAT_MAX], *at;
	unsigned long long ticks;
	size_t n;

	n = read_of(pid, "stat", line, sizeof(line));
	at = n ? strrchr(line, ')') : NULL;
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%llu", &ticks) != 1)
		return -1;
	return ticks * (1000000000ll / sysconf(_SC_CLK_TCK));
}

int64_t origin_began(int32_t pid)
{
	int64_t start = start_of(pid);

	return start < 0 ? INT64_MIN : now_of(CLOCK_REALTIME) - now_of(CLOCK_BOOTTIME) + start;
}

/*
 * The log's clock stops while the machine sleeps, and the clock of processes does not. Each
 * sleep since the boot may have been before the process began. A log of an earlier boot is older than
 * this one.
 */
bool origin_lives(const struct images *set, int32_t pid)
{
	int64_t boot = now_of(CLOCK_BOOTTIME), start = start_of(pid);
	int64_t slept = boot - now_of(CLOCK_MONOTONIC);

	if (!origin_is_here(set) || start < 0)
		return false;
	if (!set->ended)
		return true;
	return set->began >= now_of(CLOCK_REALTIME) - boot &&
	       start - slept - SLACK <= set->ended;
}

/* Addresses of code and stack by the last exec, which a fork copies: fields 26 to 28 of
 * /proc/PID/stat. Its memory is not read: the process could make that wait for ever. */
struct layout {
	unsigned long long code, end, stack;
};

static bool read_layout(int32_t pid, struct layout *l)
{
	char line[STAT_MAX], *at;
	size_t n;

	n = read_of(pid, "stat", line, sizeof(line));
	at = n ? strrchr(line, ')') : NULL;
	for (int field = 2; at && field < 26; field++)
		at = strchr(at + 1, ' ');
	/* 1 and 0 if the reader may not know. */
	return at && sscanf(at, "%llu %llu %llu", &l->code, &l->end, &l->stack) == 3 && l->stack;
}

int32_t origin_parent(int32_t pid)
{
	struct layout own, others;
	const char *at;
	int32_t parent;
	char *line;

	at = status_field(pid, "PPid:", &line);
	parent = at ? atoi(at) : 0;
	free(line);
	if (parent <= 0 || !read_layout(pid, &own) || !read_layout(parent, &others) ||
	    memcmp(&own, &others, sizeof(own)))
		return 0;
	return parent;
}
