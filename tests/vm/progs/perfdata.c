/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perfdata - a program for recordings by perf: threads with names of their own and inherited
 * ones, children, one of which executes another program, and calls of the kernel. It is built
 * with frame pointers. perfdata LOOPS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT	__attribute__((noipa))

static volatile unsigned long sink;
static long loops;

KEPT static void spin_inner(long n)
{
	for (long i = 0; i < n; i++)
		sink += i;
}

KEPT static void spin_outer(long n)
{
	spin_inner(n);
	sink++;
}

KEPT static void call_kernel(long n)
{
	for (long i = 0; i < n; i++)
		access("/nonexistent", F_OK);
	sink++;
}

KEPT static void *inherit(void *arg)
{
	spin_outer(loops);
	return arg;
}

KEPT static void *begin(void *arg)
{
	pthread_t heir;

	prctl(PR_SET_NAME, "named-thread");
	pthread_create(&heir, NULL, inherit, NULL);
	spin_outer(loops);
	pthread_join(heir, NULL);
	sink++;
	return arg;
}

KEPT static void child(int executes)
{
	spin_outer(loops);
	if (executes)
		execl("/bin/cat", "cat", "/proc/kallsyms", NULL);
	_exit(0);
}

KEPT int main(int argc, char *argv[])
{
	pthread_t thread;

	loops = argc > 1 ? atol(argv[1]) : 1000000;
	pthread_create(&thread, NULL, begin, NULL);
	for (int i = 0; i < 2; i++)
		if (!fork())
			child(i);
	prctl(PR_SET_NAME, "renamed-main");
	call_kernel(loops / 1000);
	spin_outer(loops);
	pthread_join(thread, NULL);
	while (wait(NULL) > 0)
		;
	return 0;
}
