// SPDX-License-Identifier: BSD-2-Clause
/*
 * waits.c THREADS... - runs in a VM with one CPU: how long an owner waits for another that
 * measures a process of so many threads. It has real-time priority and allocates, starts,
 * reads, stops and releases all the time; as no other process runs while it can, its
 * longest call is its own work and what it waits for. One line each: threads:
 * operation<TAB>kernel instructions of the longest call meanwhile.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hwpmc.h>

#include "ops.h"
#include "vpmu_guest.h"

static volatile struct {
	uint64_t longest;
	unsigned long calls;
} *user;

/* ---- the owner that waits ----------------------------------------------------- */

#define TIMED(call) do {						\
	uint64_t began_ = vpmu_vcpu(VPMU_KERNEL_INSN);			\
	call;								\
	began_ = vpmu_vcpu(VPMU_KERNEL_INSN) - began_;			\
	if (began_ > user->longest)					\
		user->longest = began_;					\
	user->calls++;							\
} while (0)

static void use(void)
{
	struct sched_param param = { .sched_priority = 50 };
	uint32_t id;

	fd = open("/dev/hwpmc", O_RDWR);
	if (fd < 0 || sched_setscheduler(0, SCHED_FIFO, &param))
		die("a user");
	/* The class is claimed, and the hooks are there. */
	allocate(HWPMC_CLASS_IAP, 0x3c, HWPMC_F_EV_PMU);
	for (;;) {
		TIMED(id = allocate(HWPMC_CLASS_IAP, 0xc4, HWPMC_F_EV_PMU));
		TIMED(id_op(HWPMC_IOC_PMCSTART, id));
		TIMED(read_it(id));
		TIMED(id_op(HWPMC_IOC_PMCSTOP, id));
		TIMED(id_op(HWPMC_IOC_PMCRELEASE, id));
		usleep(50);
	}
}

/* ---- the owner that measures -------------------------------------------------- */

/* With what the operation leaves to work items. */
static void done(int n, const char *operation)
{
	unsigned long calls = user->calls;

	sleep(3);
	printf("%d: %s\t%llu\n", n, operation, (unsigned long long)user->longest);
	fflush(stdout);
	if (user->calls == calls)
		die("the user stands still");
	user->longest = 0;
}

static void life(int n)
{
	pid_t target = start_target(make_threads, n);
	uint32_t id;

	fd = open("/dev/hwpmc", O_RDWR);
	if (fd < 0)
		die("/dev/hwpmc");
	id = allocate(HWPMC_CLASS_IAP, 0xc0, HWPMC_F_EV_PMU);
	sleep(2);
	user->longest = 0;
	done(n, "nothing");
	target_op(HWPMC_IOC_PMCATTACH, id, target);
	done(n, "attach");
	id_op(HWPMC_IOC_PMCSTART, id);
	done(n, "start");
	read_it(id);
	id_op(HWPMC_IOC_PMCSTOP, id);
	done(n, "read and stop");
	target_op(HWPMC_IOC_PMCDETACH, id, target);
	done(n, "detach");
	target_op(HWPMC_IOC_PMCATTACH, id, target);
	done(n, "attach again");
	close(fd);
	fd = -1;
	done(n, "close");
	kill(target, SIGKILL);
	waitpid(target, NULL, 0);
}

int main(int argc, char **argv)
{
	FILE *most = fopen("/proc/sys/kernel/threads-max", "w");
	pid_t pid;

	if (!most || fputs("65536", most) < 0 || fclose(most))
		die("/proc/sys/kernel/threads-max");
	user = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (user == MAP_FAILED)
		die("mmap");
	pid = fork();
	if (!pid)
		use();
	for (int i = 1; i < argc; i++)
		life(atoi(argv[i]));
	kill(pid, SIGKILL);
	return 0;
}
