// SPDX-License-Identifier: BSD-2-Clause
/*
 * waits.c THREADS... - runs in a VM with one CPU: how long others wait for somebody who
 * measures a process of so many threads. A user of real-time priority allocates, starts,
 * reads, stops and releases all the time; since nobody else runs while it can, its longest
 * call is its own work and what it waits for. One line each: threads: operation<TAB>kernel
 * instructions of the longest call meanwhile.
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

#include "vpmu_guest.h"

static volatile struct {
	uint64_t longest;
	unsigned long calls;
} *user;

static int fd;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint32_t allocate(uint64_t event)
{
	struct hwpmc_op_pmcallocate op = {
		.caps = HWPMC_CAP_USER, .class = HWPMC_CLASS_IAP, .mode = HWPMC_MODE_TC,
		.flags = HWPMC_F_EV_PMU, .config = event, .cpu = HWPMC_CPU_ANY,
	};

	if (ioctl(fd, HWPMC_IOC_PMCALLOCATE, &op))
		die("PMCALLOCATE");
	return op.pmcid;
}

static void id_op(unsigned long request, uint32_t id)
{
	struct hwpmc_op_pmc op = { .pmcid = id };

	if (ioctl(fd, request, &op))
		die("an operation");
}

static void target_op(unsigned long request, uint32_t id, pid_t pid)
{
	struct hwpmc_op_pmcattach op = { .pmcid = id, .pid = pid };

	if (ioctl(fd, request, &op))
		die("attach or detach");
}

static void read_it(uint32_t id)
{
	struct hwpmc_op_pmcrw op = { .pmcid = id, .flags = HWPMC_F_OLDVALUE };

	if (ioctl(fd, HWPMC_IOC_PMCRW, &op))
		die("PMCRW");
}

/* ---- the user that waits ----------------------------------------------------- */

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
	allocate(0x3c);
	for (;;) {
		TIMED(id = allocate(0xc4));
		TIMED(id_op(HWPMC_IOC_PMCSTART, id));
		TIMED(read_it(id));
		TIMED(id_op(HWPMC_IOC_PMCSTOP, id));
		TIMED(id_op(HWPMC_IOC_PMCRELEASE, id));
		usleep(50);
	}
}

/* ---- who measures ------------------------------------------------------------ */

static void *sleeper(void *unused)
{
	for (;;)
		pause();
	return NULL;
}

static void make_threads(int n, int ready)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	for (int i = 1; i < n; i++)
		if (pthread_create(&thread, &attr, sleeper, NULL))
			die("pthread_create");
	if (write(ready, "x", 1) != 1)
		die("a pipe");
	sleeper(NULL);
}

static pid_t start_target(int n)
{
	int ready[2];
	pid_t pid;
	char c;

	if (pipe(ready))
		die("pipe");
	pid = fork();
	if (!pid)
		make_threads(n, ready[1]);
	if (read(ready[0], &c, 1) != 1)
		die("the target");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

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
	pid_t target = start_target(n);
	uint32_t id;

	fd = open("/dev/hwpmc", O_RDWR);
	if (fd < 0)
		die("/dev/hwpmc");
	id = allocate(0xc0);
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
