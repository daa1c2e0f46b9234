/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chains.c - one function, known_leaf(), below callers that are known by construction, in a
 * program without frame pointers: chains MODE TURNS.
 *   recursion	main, 30 times known_down, known_leaf
 *   qsort	main, the C library's qsort, known_compare, known_leaf
 *   signal	main, known_raiser, a signal frame, known_handler, known_leaf
 *   altstack	the same on an alternate stack
 *   realigned	main, known_aligned (its stack is aligned anew), known_leaf
 *   thread	clone, start_thread, known_thread, known_leaf
 *   opened	main, lib_down of libchains.so, which it opens, known_leaf
 *   again	signals, calls of a library and realigned frames in turn: their prologues,
 *		epilogues and linkage tables
 *   clock	main, known_clock, which asks the vdso for the time
 *   kernel	main, 30 times known_down, known_calls, which makes system calls
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE	__attribute__((noinline, noclone, noipa))
/* No call is the last that a function does, else it is a jump. */
#define STAY()		__asm__ __volatile__("" : : : "memory")

static unsigned long turns;

NOINLINE static void known_leaf(void)
{
	for (unsigned long n = turns; n--;)
		STAY();
}

NOINLINE static void known_calls(void)
{
	for (unsigned long n = turns; n--;)
		syscall(SYS_getppid);
	STAY();
}

NOINLINE static void known_clock(void)
{
	struct timespec now;

	for (unsigned long n = turns; n--;)
		clock_gettime(CLOCK_MONOTONIC, &now);
	STAY();
}

NOINLINE static void known_down(unsigned int depth, void (*leaf)(void))
{
	if (depth)
		known_down(depth - 1, leaf);
	else
		leaf();
	STAY();
}

NOINLINE static int known_compare(const void *a, const void *b)
{
	known_leaf();
	STAY();
	return *(const int *)a - *(const int *)b;
}

static void by_qsort(void)
{
	int two[] = { 2, 1 };

	qsort(two, 2, sizeof(two[0]), known_compare);
	STAY();
}

static void known_handler(int sig)
{
	known_leaf();
	STAY();
}

NOINLINE static void known_raiser(void)
{
	raise(SIGUSR1);
	STAY();
}

static void by_signal(int flags)
{
	struct sigaction act = { .sa_handler = known_handler, .sa_flags = flags };
	static char memory[1 << 16];
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) };

	if ((flags && sigaltstack(&stack, NULL)) || sigaction(SIGUSR1, &act, NULL))
		exit(1);
	known_raiser();
	STAY();
}

NOINLINE static void known_aligned(unsigned int n)
{
	/* More than the ABI's alignment, and a size that is not known before. */
	char of[n], wide[64] __attribute__((aligned(64)));

	memset(of, 1, n);
	__asm__ __volatile__("" : : "r" (wide), "r" (of) : "memory");
	known_leaf();
	STAY();
}

static void *known_thread(void *arg)
{
	known_leaf();
	STAY();
	return arg;
}

static void by_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, known_thread, NULL) || pthread_join(t, NULL))
		exit(1);
}

/* The library is read when it is mapped: give that time to be done. */
static void by_opened(void)
{
	char path[PATH_MAX + 32];
	void (*down)(unsigned int depth, void (*leaf)(void));
	void *lib;

	if (!realpath("/proc/self/exe", path))
		exit(1);
	strcpy(strrchr(path, '/'), "/libchains.so");
	lib = dlopen(path, RTLD_NOW);
	if (!lib)
		exit(1);
	*(void **)&down = dlsym(lib, "lib_down");
	sleep(2);
	down(10, known_leaf);
	STAY();
}

static void again(void)
{
	unsigned long n = turns;

	for (turns = 3; n--;) {
		by_signal(n & 1 ? SA_ONSTACK : 0);
		by_qsort();
		known_aligned(n % 50 + 1);
		known_calls();
	}
}

int main(int argc, char *argv[])
{
	const char *mode = argc > 2 ? argv[1] : "";

	turns = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	if (!strcmp(mode, "recursion"))
		known_down(29, known_leaf);
	else if (!strcmp(mode, "kernel"))
		known_down(29, known_calls);
	else if (!strcmp(mode, "qsort"))
		by_qsort();
	else if (!strcmp(mode, "signal"))
		by_signal(0);
	else if (!strcmp(mode, "altstack"))
		by_signal(SA_ONSTACK);
	else if (!strcmp(mode, "realigned"))
		known_aligned(argc * 10);
	else if (!strcmp(mode, "thread"))
		by_thread();
	else if (!strcmp(mode, "opened"))
		by_opened();
	else if (!strcmp(mode, "clock"))
		known_clock();
	else if (!strcmp(mode, "again"))
		again();
	else
		return 2;
	return 0;
}
