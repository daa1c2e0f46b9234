/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * holder.c - the owner of counters that the module could not reserve. The kernel's
 * reservation records no owner, so /proc and /sys are searched for the known ones: the
 * NMI watchdog, processes with open perf events (only root sees those of other users). A
 * guest with KVM's mediated PMU reserves nothing: the module tells of it. Any thread; reads
 * files.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

static int read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, buf, size - 1);
	close(fd);
	if (n <= 0)
		return -1;
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

int holder_process_name(long pid, char *name, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	return read_text(path, name, size);
}

static bool is_on(const char *path)
{
	char text[16];

	return !read_text(path, text, sizeof(text)) &&
	       (text[0] == '1' || text[0] == 'Y');
}

static bool fd_dir_has_perf(int proc, const char *pid)
{
	char path[64], target[64];
	struct dirent *e;
	bool found = false;
	ssize_t n;
	DIR *dir;
	int fd;

	snprintf(path, sizeof(path), "%.16s/fd", pid);
	fd = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	while (!found && (e = readdir(dir))) {
		n = readlinkat(dirfd(dir), e->d_name, target,
			       sizeof(target) - 1);
		target[n < 0 ? 0 : n] = '\0';
		found = !strcmp(target, "anon_inode:[perf_event]");
	}
	closedir(dir);
	return found;
}

/* The first process that has a perf event open; 0: none that we may see. */
static long perf_user(char *name, size_t size)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	long pid = 0;

	if (!dir)
		return 0;
	while (!pid && (e = readdir(dir)))
		if (isdigit((unsigned char)e->d_name[0]) &&
		    fd_dir_has_perf(dirfd(dir), e->d_name))
			pid = atol(e->d_name);
	closedir(dir);
	if (!pid || holder_process_name(pid, name, size))
		snprintf(name, size, "?");
	return pid;
}

int holder_find(char *who, size_t who_size, char *remedy, size_t remedy_size)
{
	char name[32];
	long pid;

	if (is_on("/proc/sys/kernel/nmi_watchdog")) {
		snprintf(who, who_size, "perf or the NMI watchdog");
		snprintf(remedy, remedy_size,
			 "while you measure, as root: sysctl kernel.nmi_watchdog=0 "
			 "(then =1)");
		return 0;
	}
	pid = perf_user(name, sizeof(name));
	if (pid) {
		snprintf(who, who_size, "perf (process %ld, %s)", pid, name);
		snprintf(remedy, remedy_size, "wait for it or end it");
		return 0;
	}
	snprintf(who, who_size, "perf or another user");
	snprintf(remedy, remedy_size,
		 "end the programs that use perf, here and in other sessions");
	errno = ENOENT;
	return -1;
}
