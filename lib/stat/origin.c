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

#define STATUS_MAX	4096
#define CLOCKS_APART	1000000000ll	/* ns: the wall clock may have been set */

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

bool origin_lives(const struct images *set, int32_t pid)
{
	return origin_is_here(set) &&
	       (!set->until || origin_began(pid) <= set->until + CLOCKS_APART);
}

/* Of /proc/PID/FILE, with a zero behind it; 0: there is none. */
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

/* The text behind a field's name in /proc/PID/status. */
static const char *status_field(const char *status, const char *field)
{
	const char *at = strstr(status, field);

	return at ? at + strlen(field) : NULL;
}

int32_t origin_own_pid(int32_t pid)
{
	char status[STATUS_MAX], *end;
	const char *at;
	long own = 0;

	if (!read_of(pid, "status", status, sizeof(status)))
		return 0;
	at = status_field(status, "\nNSpid:");
	/* One for each namespace; the innermost is the last. */
	for (; at; at = end) {
		long nr = strtol(at, &end, 10);

		if (end == at)
			break;
		own = nr;
	}
	return own > 0 && own <= INT32_MAX ? own : pid;
}

/* Field 22 of its line, behind the name in parentheses: ticks since boot. */
int64_t origin_began(int32_t pid)
{
	char line[STATUS_MAX], *at;
	struct timespec boot, real;
	unsigned long long ticks;
	size_t n;

	n = read_of(pid, "stat", line, sizeof(line));
	at = n ? strrchr(line, ')') : NULL;
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%llu", &ticks) != 1)
		return INT64_MIN;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_REALTIME, &real);
	return (real.tv_sec - boot.tv_sec) * 1000000000ll + real.tv_nsec - boot.tv_nsec +
	       ticks * (1000000000ll / sysconf(_SC_CLK_TCK));
}

/* Where an exec put code and stack, which a fork copies: fields 26 to 28 of /proc/PID/stat. Memory
 * of the process is not read: its owner could make that wait for ever. */
struct layout {
	unsigned long long code, end, stack;
};

static bool read_layout(int32_t pid, struct layout *l)
{
	char line[STATUS_MAX], *at;
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
	char status[STATUS_MAX];
	const char *at = NULL;
	int32_t parent;

	if (read_of(pid, "status", status, sizeof(status)))
		at = status_field(status, "\nPPid:");
	parent = at ? atoi(at) : 0;
	if (parent <= 0 || !read_layout(pid, &own) || !read_layout(parent, &others) ||
	    memcmp(&own, &others, sizeof(own)))
		return 0;
	return parent;
}
