/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libturns.c - preloaded by hwpmc stat --rotate: each turn lasts until a descendant has made a
 * whole lap in it (a byte of the file "laps" each), however busy this machine is. After $TURNS
 * turns the file "over" is made, which ends the laps. With $ORPHAN=n, the process whose number
 * is in the file "middle" ends before the n-th attach of the second turn, when the tool has
 * listed its children, and its child, whose number is in "orphan", becomes a child of the tool.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hwpmc.h>

static int number(const char *env)
{
	const char *value = getenv(env);

	return value ? atoi(value) : 0;
}

static long laps(void)
{
	struct stat st;

	return stat("laps", &st) ? 0 : st.st_size;
}

/* The first lap that ends now may have begun in the turn before. */
static void await_a_whole_lap(void)
{
	long before = laps();

	while (laps() < before + 2)
		usleep(1000);
}

static int pid_in(const char *path)
{
	FILE *f = fopen(path, "r");
	int pid = 0;

	if (!f || fscanf(f, "%d", &pid) != 1)
		abort();
	fclose(f);
	return pid;
}

static void read_status(int pid, char *state, int *parent)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c %d", state, parent) != 2)
		abort();
	fclose(f);
}

static void make_an_orphan(void)
{
	int middle = pid_in("middle"), parent;
	char state;

	kill(middle, SIGKILL);
	do
		read_status(middle, &state, &parent);
	while (state != 'Z');
	read_status(pid_in("orphan"), &state, &parent);
	if (parent != getpid())
		abort();
	close(open("orphaned", O_CREAT | O_WRONLY, 0600));
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, void *);
	static int attaches, stops;
	va_list ap;
	void *arg;
	int rc;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!next)
		next = dlsym(RTLD_NEXT, "ioctl");
	if (request == HWPMC_IOC_PMCATTACH && stops == 1 && ++attaches == number("ORPHAN"))
		make_an_orphan();
	if (request != HWPMC_IOC_BATCH ||
	    ((struct hwpmc_op_batch *)arg)->command != HWPMC_BATCH_STOP || stops == number("TURNS"))
		return next(fd, request, arg);
	await_a_whole_lap();
	rc = next(fd, request, arg);
	if (++stops == number("TURNS"))
		close(open("over", O_CREAT | O_WRONLY, 0600));
	return rc;
}
