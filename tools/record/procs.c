/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * procs.c - find processes by the name of their command, in /proc. Kernel
 * threads are left out: a PMC cannot be attached to them.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "procs.h"

#define PF_KTHREAD	0x00200000	/* in field 9 of /proc/PID/stat */

/* The name is in parentheses and may have such itself: up to the last one. */
static bool read_stat(pid_t pid, char name[64], unsigned int *flags)
{
	char path[64], line[512], *open, *close;
	bool ok = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (fgets(line, sizeof(line), f)) {
		open = strchr(line, '(');
		close = strrchr(line, ')');
		if (open && close > open) {
			*close = '\0';
			snprintf(name, 64, "%s", open + 1);
			ok = sscanf(close + 1, " %*c %*d %*d %*d %*d %*d %u",
				    flags) == 1;
		}
	}
	fclose(f);
	return ok;
}

static bool process_matches(const regex_t *re, pid_t pid)
{
	unsigned int flags;
	char name[64];

	return pid != getpid() && read_stat(pid, name, &flags) &&
	       !(flags & PF_KTHREAD) && regexec(re, name, 0, NULL, 0) == 0;
}

int procs_match(const regex_t *re, pid_t **pid)
{
	DIR *dir = opendir("/proc");
	struct dirent *e;
	int n = 0;

	*pid = NULL;
	if (!dir)
		return -1;
	while ((e = readdir(dir))) {
		pid_t p = isdigit((unsigned char)e->d_name[0]) ?
			  atoi(e->d_name) : 0;

		if (!p || !process_matches(re, p))
			continue;
		*pid = must_realloc(*pid, n + 1, sizeof(**pid));
		(*pid)[n++] = p;
	}
	closedir(dir);
	return n;
}
