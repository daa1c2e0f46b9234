/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libdies.c - preloaded by a tool: after its second stop of a batch, the process of the
 * $DIES-th attach dies just before it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <hwpmc.h>

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
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!next)
		next = dlsym(RTLD_NEXT, "ioctl");
	if (request == HWPMC_IOC_BATCH)
		stops += ((struct hwpmc_op_batch *)arg)->command == HWPMC_BATCH_STOP;
	if (request == HWPMC_IOC_PMCATTACH && stops == 2 && ++attaches == atoi(getenv("DIES")))
		kill_and_await(((struct hwpmc_op_pmcattach *)arg)->pid);
	return next(fd, request, arg);
}
