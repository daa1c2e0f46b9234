/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * origin.c - the processes that a log is about, while they live: the root that their paths
 * are below, the number that they have for themselves, and what they were forked from. All
 * of it is read from /proc when an image is loaded, and only of a log of this machine.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stat.h"

#define STATUS_MAX	4096
#define AUXV_MAX	1024
#define RANDOM_BYTES	16

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

/* Random bytes that each exec puts on the stack, and a fork copies. */
static bool read_random(int32_t pid, unsigned char *to)
{
	Elf64_auxv_t auxv[AUXV_MAX / sizeof(Elf64_auxv_t)];
	size_t n = read_of(pid, "auxv", auxv, sizeof(auxv)) / sizeof(*auxv);
	uint64_t at = 0;
	char path[64];
	bool done;
	int fd;

	for (size_t i = 0; i < n; i++)
		if (auxv[i].a_type == AT_RANDOM)
			at = auxv[i].a_un.a_val;
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = at && at <= INT64_MAX ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return false;
	done = pread(fd, to, RANDOM_BYTES, at) == RANDOM_BYTES;
	close(fd);
	return done;
}

int32_t origin_parent(int32_t pid)
{
	unsigned char own[RANDOM_BYTES], others[RANDOM_BYTES];
	char status[STATUS_MAX];
	const char *at = NULL;
	int32_t parent;

	if (read_of(pid, "status", status, sizeof(status)))
		at = status_field(status, "\nPPid:");
	parent = at ? atoi(at) : 0;
	if (parent <= 0 || !read_random(pid, own) || !read_random(parent, others) ||
	    memcmp(own, others, sizeof(own)))
		return 0;
	return parent;
}
