/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * process.c - the tables of all that a process has mapped, to the module, in one call;
 * and the numbers by which the kernel lists a mapped file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../pmc/libhwpmc.h"
#include "../stat/libhwpmcstat.h"
#include "unwind.h"

#define EXPORT __attribute__((visibility("default")))

/* A file as the kernel names it in its records. */
struct mapped {
	unsigned long start, end, inode;
	unsigned int major, minor;
};

/* Returns false if it is no line of a file that is mapped so: 'x' or 'r'. */
static bool parse_line(const char *line, char how, struct mapped *m)
{
	char mode[8];

	return sscanf(line, "%lx-%lx %7s %*x %x:%x %lu", &m->start, &m->end, mode, &m->major,
		      &m->minor, &m->inode) == 6 && strchr(mode, how) && m->inode;
}

/* The line of this process that begins at that address. */
static bool find_own_line(const void *start, struct mapped *m)
{
	FILE *f = fopen("/proc/self/maps", "re");
	char *line = NULL;
	bool found = false;
	size_t size = 0;

	while (f && !found && getline(&line, &size, f) > 0)
		found = parse_line(line, 'r', m) && m->start == (uintptr_t)start;
	free(line);
	if (f)
		fclose(f);
	return found;
}

void unwind_name_as_mapped(int fd, struct hwpmc_unwind *u)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *start = mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	struct mapped m;

	if (start == MAP_FAILED)
		return;
	if (find_own_line(start, &m)) {
		u->inode = m.inode;
		u->major = m.major;
		u->minor = m.minor;
	}
	munmap(start, page);
}

EXPORT int hwpmc_open_mapped(pid_t pid, uint64_t start, uint64_t end)
{
	char path[64];
	struct stat st;
	int found, fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%llx-%llx", pid,
		 (unsigned long long)start, (unsigned long long)end);
	/* Neither read nor written: a device does not notice it. */
	found = open(path, O_PATH | O_CLOEXEC);
	if (found < 0)
		return -1;
	if (fstat(found, &st) == 0 && S_ISREG(st.st_mode)) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	} else {
		errno = EACCES;
	}
	close(found);
	return fd;
}

/* 1: added, 0: it has no table, -1: the module refused it. */
static int add_mapped(struct hwpmc *h, pid_t pid, const struct mapped *m)
{
	int fd = hwpmc_open_mapped(pid, m->start, m->end), ret = 0;
	struct hwpmc_unwind u;

	if (fd < 0)
		return 0;
	if (hwpmc_unwind_read(fd, &u) == 0 || u.none) {
		u.inode = m->inode;
		u.major = m->major;
		u.minor = m->minor;
		ret = hwpmc_unwind_add(h, &u) ? -1 : !u.none;
		hwpmc_unwind_free(&u);
	}
	close(fd);
	return ret;
}

static int add_vdso(struct hwpmc *h)
{
	struct hwpmc_unwind u;
	int ret;

	hwpmc_unwind_read_vdso(&u);
	ret = hwpmc_unwind_add(h, &u) ? -1 : !u.none;
	hwpmc_unwind_free(&u);
	return ret;
}

EXPORT int hwpmc_unwind_add_process(struct hwpmc *h, pid_t pid)
{
	char path[64], *line = NULL;
	struct mapped m;
	size_t size = 0;
	int ret, n;
	FILE *f;

	if (unwind_null(!h))
		return -1;
	n = add_vdso(h);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = n < 0 ? NULL : fopen(path, "re");
	if (!f)
		return -1;
	while (n >= 0 && getline(&line, &size, f) > 0) {
		if (!parse_line(line, 'x', &m))
			continue;
		ret = add_mapped(h, pid, &m);
		n = ret < 0 ? -1 : n + ret;
	}
	free(line);
	fclose(f);
	return n;
}
