// SPDX-License-Identifier: BSD-2-Clause
/*
 * ops.c - the operations that are measured. Each sets up, opens the window, does
 * its thing run->n times and closes the window; what it leaves behind goes with
 * its process. One CPU is assumed: a write to a pipe and a read from another
 * are a switch there and back.
 */
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmc.h>

#include "bench.h"

#define WARM_UP	50

static const pid_t self[1];

static void count_self(struct run *run, bool inherit)
{
	run->tool->count(&run->counters, run->npmc, self, 1, inherit);
}

/* ---- switches ------------------------------------------------------------ */

static int there[2], back[2];

static void pipes(void)
{
	if (pipe(there) || pipe(back))
		die("pipe");
}

/* The other side of the switches: sends each byte back, ends with the pipe. */
static pid_t fork_echo(void)
{
	pid_t pid = fork();
	char x;

	if (pid < 0)
		die("fork");
	if (pid)
		return pid;
	close(there[1]);
	while (read(there[0], &x, 1) == 1)
		if (write(back[1], &x, 1) != 1)
			break;
	_exit(0);
}

static void round_trips(long n)
{
	char x = 0;

	while (n--)
		if (write(there[1], &x, 1) != 1 || read(back[0], &x, 1) != 1)
			die("round trip");
}

static void measure_round_trips(struct run *run)
{
	round_trips(WARM_UP);
	window_begin(run);
	round_trips(run->n);
	window_end(run);
}

/* The caller is measured, the other side is not. */
void op_switch(struct run *run)
{
	pipes();
	fork_echo();
	round_trips(WARM_UP);
	count_self(run, false);
	measure_round_trips(run);
}

/* Both are, by the same PMCs. */
void op_switch_inherited(struct run *run)
{
	pipes();
	count_self(run, true);
	fork_echo();
	measure_round_trips(run);
}

/* Neither is; a third process is, which sleeps from its attach on. */
static void switch_with_bystander(struct run *run, useconds_t settle)
{
	pid_t bystander, pid;

	pipes();
	bystander = fork_echo();
	round_trips(WARM_UP);
	run->tool->count(&run->counters, run->npmc, &bystander, 1, false);
	usleep(settle);
	pipes();
	pid = fork_echo();
	measure_round_trips(run);
	kill(bystander, SIGKILL);
	kill(pid, SIGKILL);
}

void op_switch_bystander(struct run *run)
{
	switch_with_bystander(run, SETTLED);
}

/* hwpmc still watches all switches for the thread to come by. */
void op_switch_bystander_fresh(struct run *run)
{
	switch_with_bystander(run, 0);
}

/* ---- calls --------------------------------------------------------------- */

void op_read(struct run *run)
{
	count_self(run, false);
	for (int i = 0; i < WARM_UP; i++)
		run->tool->read(&run->counters);
	window_begin(run);
	for (long i = 0; i < run->n; i++)
		run->tool->read(&run->counters);
	window_end(run);
}

void op_getppid(struct run *run)
{
	window_begin(run);
	for (long i = 0; i < run->n; i++)
		syscall(SYS_getppid);
	window_end(run);
}

/* An ioctl that the device does not know, answered ENOTTY. */
void op_empty_call(struct run *run)
{
	count_self(run, false);
	window_begin(run);
	for (long i = 0; i < run->n; i++)
		if (ioctl(run->counters.fd[0], _IO(0x01, 1), 0) != -1)
			die("an unknown ioctl succeeded");
	window_end(run);
}

void op_version_call(struct run *run)
{
	struct hwpmc_op_getmoduleversion op = { .version = HWPMC_API_VERSION };

	count_self(run, false);
	window_begin(run);
	for (long i = 0; i < run->n; i++)
		if (ioctl(run->counters.fd[0], HWPMC_IOC_GETMODULEVERSION, &op))
			die("GETMODULEVERSION");
	window_end(run);
}

void op_start_stop(struct run *run)
{
	count_self(run, false);
	window_begin(run);
	for (long i = 0; i < run->n; i++) {
		run->tool->stop(&run->counters);
		run->tool->start(&run->counters);
	}
	window_end(run);
}

static uint64_t rdpmc(uint32_t index)
{
	uint32_t low, high;

	asm volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return low | (uint64_t)high << 32;
}

/* perf's count without a system call, as perf_event_open(2) tells to do it. */
static uint64_t read_page(volatile struct perf_event_mmap_page *page)
{
	uint32_t seq, index;
	uint64_t count;

	do {
		seq = page->lock;
		asm volatile("" : : : "memory");
		index = page->index;
		count = page->offset;
		if (page->cap_user_rdpmc && index) {
			int shift = 64 - page->pmc_width;

			count += (int64_t)(rdpmc(index - 1) << shift) >> shift;
		}
		asm volatile("" : : : "memory");
	} while (page->lock != seq);
	return count;
}

static void read_rows(struct run *run)
{
	struct hwpmc_op_getmsr op = { .pmcid = run->counters.id[0] };
	struct hwpmc_user_row *row;
	uint64_t value;

	if (ioctl(run->counters.fd[0], HWPMC_IOC_PMCGETMSR, &op))
		die("PMCGETMSR");
	row = mmap(NULL, HWPMC_USER_SIZE, PROT_READ, MAP_SHARED,
		   run->counters.fd[0], HWPMC_USER_OFFSET);
	if (row == MAP_FAILED)
		die("mmap");
	row += HWPMC_ID_ROW(op.pmcid);
	if (!hwpmc_user_row_read(row, &value))
		die("the mapped row has no count");
	window_begin(run);
	for (long i = 0; i < run->n; i++)
		hwpmc_user_row_read(row, &value);
	window_end(run);
}

void op_read_mapped(struct run *run)
{
	void *page;

	count_self(run, false);
	if (run->tool == &tool_hwpmc) {
		read_rows(run);
		return;
	}
	page = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		    MAP_SHARED, run->counters.fd[0], 0);
	if (page == MAP_FAILED)
		die("mmap");
	if (!read_page(page))
		die("the mapped page has no count");
	window_begin(run);
	for (long i = 0; i < run->n; i++)
		read_page(page);
	window_end(run);
}

/* ---- processes and threads ----------------------------------------------- */

/* fork, exit and wait for it. */
void op_fork(struct run *run)
{
	count_self(run, true);
	for (long i = -WARM_UP; i < run->n; i++) {
		pid_t pid;

		if (i == 0)
			window_begin(run);
		pid = fork();
		if (pid < 0)
			die("fork");
		if (!pid)
			_exit(0);
		if (waitpid(pid, NULL, 0) != pid)
			die("waitpid");
	}
	window_end(run);
}

static void *sleeper(void *tid)
{
	*(pid_t *)tid = syscall(SYS_gettid);
	for (;;)
		pause();
	return NULL;
}

/* A process with n threads, asleep; their ids go to tids, which is shared. */
static void threaded_process(pid_t *tids, long n)
{
	pthread_attr_t attr;
	pthread_t thread;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid) {
		while (!*(volatile pid_t *)&tids[n - 1])
			usleep(1000);
		usleep(20000);
		return;
	}
	tids[0] = getpid();
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	for (long i = 1; i < n; i++)
		if (pthread_create(&thread, &attr, sleeper, &tids[i]))
			die("pthread_create");
	for (;;)
		pause();
}

static pid_t *sleeping_threads(long n)
{
	pid_t *tids = mmap(NULL, n * sizeof(*tids), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (tids == MAP_FAILED)
		die("mmap");
	threaded_process(tids, n);
	return tids;
}

/*
 * Open, allocate, attach and start: all that counting a process takes, with what
 * is left for later and done by kernel threads.
 */
void op_attach(struct run *run)
{
	pid_t *tids = sleeping_threads(run->n);

	window_begin(run);
	run->tool->count(&run->counters, run->npmc, tids, run->n, false);
	usleep(SETTLED);
	window_end(run);
	kill(tids[0], SIGKILL);
}

/* The calls alone. */
void op_attach_calls(struct run *run)
{
	pid_t *tids = sleeping_threads(run->n);

	window_begin(run);
	run->tool->count(&run->counters, run->npmc, tids, run->n, false);
	window_end(run);
	kill(tids[0], SIGKILL);
}

/* Close everything, while the threads live, with what follows of it. */
void op_detach(struct run *run)
{
	pid_t *tids = sleeping_threads(run->n);

	run->tool->count(&run->counters, run->npmc, tids, run->n, false);
	usleep(SETTLED);
	window_begin(run);
	run->tool->close(&run->counters);
	usleep(SETTLED);
	window_end(run);
	kill(tids[0], SIGKILL);
}
