/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marks.c - marks around known numbers of instructions: usage: marks WHAT...
 *   exact     a hundred times ten instructions, and a hundred times none
 *   nested    ten instructions in a mark within another one, twenty times
 *   recursive a mark that begins itself again three times, within itself
 *   left      marks left by longjmp(), by a return, by the end of an outer one
 *   misused   three ends without a begin
 *   threads   four threads, thread i with i + 1 values of ten instructions
 *   fork      five values here, seven in a child; a mark is open all the time
 *   exec      one value, and executes itself with "exact" in a mark
 *   exit      exits in a mark; kill: dies of a signal in one
 *   many      5000 values of ten instructions
 *   deep      more open marks than there may be, and ten instructions after them
 *   functions a hundred values of ten instructions by functions
 *   altstack  a value around a signal handler on another stack, which has a value too
 *   reused    a file, at the number of the library's descriptor, is written by a child; exits 1
 *             if the child could not
 *   signals   three values; a signal handler has a mark, as has a destructor of a thread's data
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <hwpmc_mark.h>

#define NOPS_10	__asm__ __volatile__("nop;nop;nop;nop;nop;nop;nop;nop;nop;nop")

static void ten(const char *name)
{
	HWPMC_MARK_BEGIN(name);
	NOPS_10;
	HWPMC_MARK_END(name);
}

static void exact(void)
{
	for (int i = 0; i < 100; i++) {
		HWPMC_MARK_BEGIN("ten");
		NOPS_10;
		HWPMC_MARK_END("ten");
		HWPMC_MARK_BEGIN("empty");
		HWPMC_MARK_END("empty");
	}
}

static void nested(void)
{
	for (int i = 0; i < 20; i++) {
		HWPMC_MARK_BEGIN("outer");
		HWPMC_MARK_BEGIN("inner");
		NOPS_10;
		HWPMC_MARK_END("inner");
		HWPMC_MARK_END("outer");
	}
}

static __attribute__((noinline)) void recurse(int n)
{
	HWPMC_MARK_BEGIN("recursive");
	NOPS_10;
	if (n)
		recurse(n - 1);
	HWPMC_MARK_END("recursive");
}

static jmp_buf back;

static __attribute__((noinline)) void jumps(void)
{
	HWPMC_MARK_BEGIN("jumped");
	NOPS_10;
	longjmp(back, 1);
}

static __attribute__((noinline)) int returns(void)
{
	HWPMC_MARK_BEGIN("returned");
	NOPS_10;
	return 1;
}

static void left(void)
{
	for (volatile int i = 0; i < 200; i++) {
		HWPMC_MARK_BEGIN("around");
		if (!setjmp(back))
			jumps();
		returns();
		HWPMC_MARK_END("around");
		ten("after");
	}
	/* More than may be open. */
	for (int i = 0; i < 2 * HWPMC_MARK_DEPTH; i++)
		returns();
	for (int i = 0; i < 10; i++)
		ten("later");
	for (int i = 0; i < 3; i++) {
		HWPMC_MARK_BEGIN("again");
		if (i < 2)
			continue;
		NOPS_10;
		HWPMC_MARK_END("again");
	}
}

static void *in_thread(void *arg)
{
	for (long i = 0; i <= (long)arg; i++)
		ten("ten");
	/* Ends in a mark. */
	HWPMC_MARK_BEGIN("open");
	return NULL;
}

static void threads(void)
{
	pthread_t thread[4];

	for (long i = 0; i < 4; i++)
		pthread_create(&thread[i], NULL, in_thread, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

static void forked(void)
{
	pid_t pid;

	for (int i = 0; i < 5; i++)
		ten("ten");
	HWPMC_MARK_BEGIN("open");
	pid = fork();
	if (!pid) {
		for (int i = 0; i < 7; i++)
			ten("child");
		HWPMC_MARK_END("open");
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	HWPMC_MARK_END("open");
}

static void many(void)
{
	for (int i = 0; i < 5000; i++)
		ten("ten");
}

static __attribute__((noinline)) void go_deep(int n)
{
	HWPMC_MARK_BEGIN("deep");
	NOPS_10;
	if (n)
		go_deep(n - 1);
	HWPMC_MARK_END("deep");
}

static void functions(void)
{
	for (int i = 0; i < 100; i++) {
		hwpmc_mark_begin("function");
		NOPS_10;
		hwpmc_mark_end("function");
	}
}

static void handler(int sig)
{
	ten("handler");
}

static __attribute__((noinline)) void interrupt(void)
{
	HWPMC_MARK_BEGIN("interrupted");
	raise(SIGUSR1);
	HWPMC_MARK_END("interrupted");
}

static void altstack(void)
{
	/* Above the frame of the function that is interrupted. */
	char stack[1 << 16];
	const stack_t on = { .ss_sp = stack, .ss_size = sizeof(stack) };
	const stack_t off = { .ss_flags = SS_DISABLE };
	const struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK };

	ten("ten");
	if (sigaltstack(&on, NULL) || sigaction(SIGUSR1, &act, NULL))
		exit(1);
	interrupt();
	sigaltstack(&off, NULL);
}

/* The numbers of all but the standard descriptors become those of one file. */
static void reused(void)
{
	FILE *f = tmpfile();
	int status;
	pid_t pid;

	ten("ten");
	for (int fd = 3; f && fd < 64; fd++)
		if (fd != fileno(f))
			dup2(fileno(f), fd);
	pid = fork();
	if (!pid) {
		for (int fd = 3; fd < 64; fd++)
			if (write(fd, "x", 1) != 1)
				_exit(1);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		exit(1);
}

static void destroy(void *arg)
{
	ten("destructor");
}

static void *with_data(void *key)
{
	ten("ten");
	pthread_setspecific(*(pthread_key_t *)key, key);
	return NULL;
}

static void signals(void)
{
	pthread_key_t key;
	pthread_t thread;

	signal(SIGUSR1, handler);
	for (int i = 0; i < 2; i++) {
		HWPMC_MARK_BEGIN("interrupted");
		raise(SIGUSR1);
		HWPMC_MARK_END("interrupted");
	}
	pthread_key_create(&key, destroy);
	pthread_create(&thread, NULL, with_data, &key);
	pthread_join(thread, NULL);
}

static void run(const char *what, char *self)
{
	if (!strcmp(what, "exact")) {
		exact();
	} else if (!strcmp(what, "nested")) {
		nested();
	} else if (!strcmp(what, "recursive")) {
		recurse(3);
	} else if (!strcmp(what, "left")) {
		left();
	} else if (!strcmp(what, "misused")) {
		for (int i = 0; i < 3; i++)
			HWPMC_MARK_END("misused");
		ten("ten");
	} else if (!strcmp(what, "threads")) {
		threads();
	} else if (!strcmp(what, "fork")) {
		forked();
	} else if (!strcmp(what, "many")) {
		many();
	} else if (!strcmp(what, "deep")) {
		go_deep(HWPMC_MARK_DEPTH + 9);
		ten("ten");
	} else if (!strcmp(what, "functions")) {
		functions();
	} else if (!strcmp(what, "signals")) {
		signals();
	} else if (!strcmp(what, "altstack")) {
		altstack();
	} else if (!strcmp(what, "reused")) {
		reused();
	} else if (!strcmp(what, "exec")) {
		char *args[] = { self, "exact", NULL };

		ten("before");
		HWPMC_MARK_BEGIN("executes");
		execv(self, args);
	} else if (!strcmp(what, "exit") || !strcmp(what, "kill")) {
		ten("ten");
		HWPMC_MARK_BEGIN("open");
		if (*what == 'k')
			raise(SIGKILL);
		exit(0);
	} else {
		exit(2);
	}
}

int main(int argc, char *argv[])
{
	for (int i = 1; i < argc; i++)
		run(argv[i], argv[0]);
	return 0;
}
