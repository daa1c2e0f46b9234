/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Count each worker of a pool of threads by its thread id, and read the counts in another
 * thread.
 *	cc -O2 -pthread pool.c $(pkg-config --cflags --libs libhwpmc)
 * A line of standard input is a job of that many rounds; the workers get the jobs in turn. An
 * empty line prints the counts of each worker, and so does the end of the input.
 */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <libhwpmc.h>

static const char *const events[] = { "instructions:u", "branches:u" };

struct worker {
	pthread_t thread;
	pid_t tid;
	int jobs[2];				/* a pipe of 64-bit numbers */
	struct hwpmc *h;
	struct hwpmc_group *counters;
};

static pthread_barrier_t begun;

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t n;

	w->tid = gettid();
	pthread_barrier_wait(&begun);
	while (read(w->jobs[0], &n, sizeof(n)) == sizeof(n))
		__asm__ __volatile__("1: decq %0\n\tjnz 1b" : "+r"(n) : : "cc");
	return NULL;
}

/* A handle can have one PMC on each counter. Each worker has a handle of its own, so a pool of
 * any size needs a single counter for each event. */
static void count_worker(struct worker *w)
{
	if (hwpmc_open(&w->h) < 0)
		errx(1, "%s", hwpmc_error(NULL));
	if (hwpmc_group_open(w->h, events, 2, HWPMC_F_THREAD, w->tid, &w->counters) < 0 ||
	    hwpmc_group_start(w->counters) < 0)
		errx(1, "%s", hwpmc_error(w->h));
}

static void print_counts(const struct worker *pool, int n)
{
	uint64_t value[2];

	for (int i = 0; i < n; i++) {
		if (hwpmc_group_read(pool[i].counters, value) < 0)
			errx(1, "%s", hwpmc_error(pool[i].h));
		printf("worker %d: %" PRIu64 " instructions, %" PRIu64 " branches\n", i, value[0],
		       value[1]);
	}
	fflush(stdout);
}

static void distribute_jobs(struct worker *pool, int n)
{
	unsigned int next = 0;
	char line[32];
	uint64_t job;

	while (fgets(line, sizeof(line), stdin)) {
		job = strtoull(line, NULL, 10);
		if (!job)
			print_counts(pool, n);
		else if (write(pool[next++ % n].jobs[1], &job, sizeof(job)) != sizeof(job))
			err(1, "cannot give a job to a worker");
	}
}

int main(int argc, char *argv[])
{
	int n = argc > 1 ? atoi(argv[1]) : 4;
	struct worker *pool = n > 0 ? calloc(n, sizeof(*pool)) : NULL;

	if (!pool)
		errx(1, "usage: pool [workers] <jobs");
	pthread_barrier_init(&begun, NULL, n + 1);
	for (int i = 0; i < n; i++)
		if (pipe(pool[i].jobs) || pthread_create(&pool[i].thread, NULL, work, &pool[i]))
			errx(1, "cannot create worker %d", i);
	pthread_barrier_wait(&begun);
	for (int i = 0; i < n; i++)
		count_worker(&pool[i]);
	distribute_jobs(pool, n);
	for (int i = 0; i < n; i++) {
		close(pool[i].jobs[1]);
		pthread_join(pool[i].thread, NULL);
	}
	/* The counts of a thread can be read after it has exited. */
	print_counts(pool, n);
	for (int i = 0; i < n; i++) {
		hwpmc_group_close(pool[i].counters);
		hwpmc_close(pool[i].h);
	}
	return 0;
}
