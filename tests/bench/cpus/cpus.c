// SPDX-License-Identifier: BSD-2-Clause
/*
 * cpus.c - runs in a VM with one CPU or several: interrupts that operations send to CPUs,
 * by the kernel's trace of function calls, and kernel instructions that they take, by
 * the emulated PMU's totals of this process. One line each: name<TAB>of one operation.
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
#include <sys/wait.h>
#include <unistd.h>

#include <hwpmc.h>

#include "ops.h"
#include "vpmu_guest.h"

#define N	200

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static int cpus(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN);
}

static uint32_t own, other;
static pid_t target;

static void start_stop(void)
{
	id_op(HWPMC_IOC_PMCSTART, own);
	id_op(HWPMC_IOC_PMCSTOP, own);
}

static void attach_detach(void)
{
	target_op(HWPMC_IOC_PMCATTACH, other, target);
	target_op(HWPMC_IOC_PMCDETACH, other, target);
}

static void allocate_release(void)
{
	id_op(HWPMC_IOC_PMCRELEASE, allocate(HWPMC_CLASS_IAP, 0xc0, HWPMC_F_EV_PMU));
}

static void read_own(void)
{
	read_it(own);
}

#define TRACING		"/sys/kernel/tracing/"
#define BROADCAST	TRACING "events/irq_vectors/call_function_entry/"
#define SINGLE		TRACING "events/kprobes/single/"

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		die(path);
}

/*
 * The kernel counts two things from here to stop_counting(). Calls to several CPUs, where they are received:
 * one for each CPU that was interrupted. Calls to one CPU, where they are sent: those of this
 * process, and not of what interrupts it. The kernel wakes its own threads on other
 * CPUs by such calls, from its timer and from softirqs, and these are no cost of an operation.
 */
static char of_this_process[128];

static void count_calls(void)
{
	put(BROADCAST "trigger", "hist:keys=common_pid");
	put(SINGLE "trigger", of_this_process + 1);
}

/* It costs instructions, those of this process among them. */
static void stop_counting(void)
{
	put(SINGLE "trigger", of_this_process);
	put(BROADCAST "trigger", "!hist:keys=common_pid");
}

static void prepare_counting(void)
{
	put(TRACING "kprobe_events", "p:single send_call_function_single_ipi");
	snprintf(of_this_process, sizeof(of_this_process),
		 "!hist:keys=common_pid if common_pid == %d && !(common_flags & 0x18)", getpid());
}

static long hits(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];
	long hits = -1;

	while (f && hits < 0 && fgets(line, sizeof(line), f))
		sscanf(line, " Hits: %ld", &hits);
	if (hits < 0)
		die(path);
	fclose(f);
	return hits;
}

static long function_calls(void)
{
	return hits(BROADCAST "hist") + hits(SINGLE "hist");
}

#define REPEATS	9

/* Kernel instructions: the least of the repeats, as what else runs adds. */
static uint64_t instructions(void (*fn)(void), int n)
{
	uint64_t least = ~0ULL;

	for (int repeat = 0; repeat < REPEATS; repeat++) {
		uint64_t insn;

		usleep(600000);
		insn = vpmu_own(VPMU_KERNEL_INSN);
		for (int i = 0; i < n; i++)
			fn();
		insn = vpmu_own(VPMU_KERNEL_INSN) - insn;
		if (insn < least)
			least = insn;
	}
	return least;
}

static int rising(const void *a, const void *b)
{
	long x = *(const long *)a, y = *(const long *)b;

	return (x > y) - (x < y);
}

/*
 * The lower quartile of the repeats: what else runs adds calls, and in a few repeats a CPU that
 * polls takes one without an interrupt.
 */
static long calls(void (*fn)(void), int n)
{
	long calls[REPEATS];

	count_calls();
	for (int repeat = 0; repeat < REPEATS; repeat++) {
		usleep(600000);
		calls[repeat] = function_calls();
		for (int i = 0; i < n; i++)
			fn();
		calls[repeat] = function_calls() - calls[repeat];
	}
	stop_counting();
	qsort(calls, REPEATS, sizeof(*calls), rising);
	return calls[REPEATS / 4];
}

/* What is done once in a while (work items that end hooks) is no cost of an operation. */
static void measure(const char *name, void (*fn)(void))
{
	uint64_t insn;
	long sent;

	fn();
	insn = instructions(fn, N);
	insn = instructions(fn, 3 * N) - insn;
	sent = calls(fn, N);
	sent = calls(fn, 3 * N) - sent;
	/* 0.00, not -0.00. */
	printf("%s_ipis\t%.2f\n", name, (double)sent / (2 * N) + 1e-9);
	printf("%s\t%.2f\n", name, (double)insn / (2 * N));
	fflush(stdout);
}

static void *sleep_on_last(void *unused)
{
	pin(cpus() - 1);
	return sleeper(unused);
}

static void spin(void)
{
	pin(cpus() - 1);
	for (;;)
		;
}

int main(void)
{
	pthread_t thread;

	target = cpus() > 1 ? fork() : 0;
	if (cpus() > 1 && !target)
		spin();
	fd = open("/dev/hwpmc", O_RDWR);
	if (fd < 0)
		die("/dev/hwpmc");
	if (pthread_create(&thread, NULL, sleep_on_last, NULL))
		die("pthread_create");
	pin(0);
	prepare_counting();
	usleep(100000);
	printf("cpus\t%d\n", cpus());
	/* Another class keeps the hooks, which the kernel puts into its text by calls to all
	 * CPUs, some hundreds each time. */
	allocate(HWPMC_CLASS_SOFT, HWPMC_EV_SOFT_PAGE_FAULT_ALL, 0);
	measure("allocate_release", allocate_release);
	own = allocate(HWPMC_CLASS_IAP, 0xc0, HWPMC_F_EV_PMU);
	measure("allocate_release_next", allocate_release);
	measure("start_stop", start_stop);
	id_op(HWPMC_IOC_PMCSTART, own);
	measure("read", read_own);
	if (target) {
		other = allocate(HWPMC_CLASS_IAP, 0xc0, HWPMC_F_EV_PMU);
		target_op(HWPMC_IOC_PMCATTACH, other, target);
		other = allocate(HWPMC_CLASS_IAP, 0xc0, HWPMC_F_EV_PMU);
		measure("attach_detach", attach_detach);
		kill(target, SIGKILL);
		waitpid(target, NULL, 0);
	}
	return 0;
}
