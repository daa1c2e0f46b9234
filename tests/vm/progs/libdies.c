/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libdies.c - preloaded by a tool: after its second stop of a batch, the process of the
 * $DIES-th attach dies just before it. Before each stop that process has executed its program
 * for a while: how long a turn takes does not say so on a busy host.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <hwpmc.h>

#define WORK_NS	5000000

/* It still is the tool's until its exec. */
static bool has_executed(pid_t pid)
{
	char link[64], of[512] = "";

	snprintf(link, sizeof(link), "/proc/%d/exe", pid);
	return readlink(link, of, sizeof(of) - 1) < 0 || strstr(of, "/loop");
}

static long long run_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return -1;
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Of a process that has ended nothing more is waited for. */
static void await_work(pid_t pid)
{
	long long begin, now;

	while (!has_executed(pid))
		usleep(1000);
	begin = run_ns(pid);
	for (now = begin; now >= 0 && now - begin < WORK_NS; now = run_ns(pid))
		usleep(1000);
}

static void kill_and_await(pid_t pid)
{
	siginfo_t info;

	kill(pid, SIGKILL);
	waitid(P_PID, pid, &info, WEXITED | WNOWAIT);
}

int ioctl(int fd, unsigned long request, ...)
{
	static int (*next)(int, unsigned long, void *);
	static int attaches, stops;
	static pid_t pid;
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!next)
		next = dlsym(RTLD_NEXT, "ioctl");
	if (request == HWPMC_IOC_BATCH &&
	    ((struct hwpmc_op_batch *)arg)->command == HWPMC_BATCH_STOP) {
		stops++;
		if (pid)
			await_work(pid);
	}
	if (request == HWPMC_IOC_PMCATTACH) {
		pid = ((struct hwpmc_op_pmcattach *)arg)->pid;
		if (stops == 2 && ++attaches == atoi(getenv("DIES")))
			kill_and_await(pid);
	}
	return next(fd, request, arg);
}
