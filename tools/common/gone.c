/* SPDX-License-Identifier: BSD-2-Clause */
/* gone.c - see gone.h. No state. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "gone.h"
#include "msg.h"

/* All threads of a zombie have ended, and a process whose first thread has ended is none yet. */
static bool is_zombie(pid_t pid)
{
	char path[64], line[512], *state;
	unsigned int threads = 0;
	bool zombie = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	state = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	/* Behind the state: 16 numbers, then that of the threads. */
	if (state && sscanf(state, ") Z %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
			    "%*s %u", &threads) == 1)
		zombie = threads <= 1;
	fclose(f);
	return zombie;
}

static bool has_ended(pid_t pid)
{
	return (kill(pid, 0) < 0 && errno == ESRCH) || is_zombie(pid);
}

static bool another_lives(const pid_t *pid, unsigned int n, unsigned int which)
{
	for (unsigned int i = 0; i < n; i++)
		if (i != which && !has_ended(pid[i]))
			return true;
	return false;
}

bool gone_remove_one(pid_t *pid, unsigned int *n, unsigned int which, const char *verb,
		     const char *what)
{
	if (*n < 2 || !has_ended(pid[which]) || !another_lives(pid, *n, which))
		return false;
	msg("cannot %s %s %d: it has ended; going on with the others", verb, what, pid[which]);
	memmove(pid + which, pid + which + 1, (--*n - which) * sizeof(*pid));
	return true;
}

void gone_remove(pid_t *pid, unsigned int *n, const char *verb, const char *what)
{
	for (unsigned int i = 0; i < *n; )
		i += !gone_remove_one(pid, n, i, verb, what);
}
