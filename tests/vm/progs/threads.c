/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads.c - threads of known work: threads N ROUNDS. Thread I of N is named "tI" and
 * executes I times 3,000,000 instructions. Then each pair of neighbours wakes one another
 * ROUNDS times through pipes, so that each has as many switches.
 * It prints their numbers, one a line, and begins when it has read a line. ROUNDS 0: none.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST	16
#define WORK	1000000			/* turns of three instructions */

struct worker {
	pthread_t thread;
	int number;
	long tid;
	int from[2];			/* a pipe that it reads */
	struct worker *neighbour;
};

static pthread_barrier_t known, begin;
static long rounds;

static void spin(unsigned long n)
{
	__asm__ __volatile__("1: addq $1, %%rdx; decq %0; jnz 1b" : "+r"(n) : : "rdx", "cc");
}

static void take_turns(struct worker *w)
{
	char byte = 0;

	for (long i = 0; i < rounds; i++) {
		if (w->number % 2 && write(w->neighbour->from[1], &byte, 1) != 1)
			exit(1);
		if (read(w->from[0], &byte, 1) != 1)
			exit(1);
		if (w->number % 2 == 0 && write(w->neighbour->from[1], &byte, 1) != 1)
			exit(1);
	}
}

static void *work(void *arg)
{
	struct worker *w = arg;
	char name[16];

	snprintf(name, sizeof(name), "t%d", w->number);
	pthread_setname_np(pthread_self(), name);
	w->tid = syscall(SYS_gettid);
	pthread_barrier_wait(&known);
	pthread_barrier_wait(&begin);
	spin(w->number * (unsigned long)WORK);
	take_turns(w);
	return NULL;
}

int main(int argc, char *argv[])
{
	static struct worker all[MOST + 1];
	int n = argc > 1 ? atoi(argv[1]) : 0;

	rounds = argc > 2 ? atol(argv[2]) : 0;
	if (n < 1 || n > MOST || (rounds && n % 2))
		return 2;
	pthread_barrier_init(&known, NULL, n + 1);
	pthread_barrier_init(&begin, NULL, n + 1);
	for (int i = 1; i <= n; i++) {
		all[i].number = i;
		all[i].neighbour = &all[i % 2 ? i + 1 : i - 1];
		if (pipe(all[i].from) < 0)
			return 1;
	}
	for (int i = 1; i <= n; i++)
		if (pthread_create(&all[i].thread, NULL, work, &all[i]))
			return 1;
	pthread_barrier_wait(&known);
	for (int i = 1; i <= n; i++)
		printf("%ld\n", all[i].tid);
	fflush(stdout);
	if (getchar() == EOF)
		return 1;
	pthread_barrier_wait(&begin);
	for (int i = 1; i <= n; i++)
		pthread_join(all[i].thread, NULL);
	return 0;
}
