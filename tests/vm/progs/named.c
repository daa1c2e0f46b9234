/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * named.c - named NAME [KIND]: a function of a known name (WORK of the compiler's) works for
 * TURNS turns of two instructions under the process name NAME, then the process waits for a
 * signal. What works, by KIND:
 *
 *	map	generated code, which /tmp/perf-PID.map names "of_NAME"
 *	fork	the same in a child, forked after its parent has written the map
 *	again	the same in a child that executes this program again and generates other code
 *	dump	the same, which /tmp/jit-PID.dump names
 *	clone	a library's code in a process that shares the memory (CLONE_VM), mapped by
 *		the other one
 *	leader	a thread whose process's first thread has ended
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define TURNS	0x00200000		/* in the code, too */
#define PAGE	4096

void WORK(void);

#ifdef OTHER
void never_runs(void);

/* Address at which the other program has its WORK. */
__attribute__((noinline, aligned(4096))) void never_runs(void)
{
	__asm__ __volatile__("nop; nop");
}
#endif

__attribute__((noinline, aligned(4096))) void WORK(void)
{
	__asm__ __volatile__("mov %0, %%ecx; 1: dec %%ecx; jnz 1b" : : "i"(TURNS) : "ecx", "cc");
}

/* mov $TURNS, %ecx; 1: dec %ecx; jnz 1b; ret */
static const unsigned char code[] = { 0xb9, 0, 0, 0x20, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };

static char *generate(void)
{
	char *at = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	memcpy(at, code, sizeof(code));
	return at;
}

static void put_map(const char *name, const char *at)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	f = fopen(path, "w");
	if (!f)
		exit(1);
	fprintf(f, "%lx %zx of_%s\n", (unsigned long)at, sizeof(code), name);
	fclose(f);
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

/* The format of V8, LLVM, .NET and Java: a head, and a record for each piece of code. */
static void put_dump(const char *name, const char *at)
{
	struct {
		uint32_t magic, version, size, machine, pad, pid;
		uint64_t time, flags;
	} head = { 0x4A695444, 1, sizeof(head), 62, 0, getpid(), now(), 0 };
	struct {
		uint32_t type, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, at, len, index;
	} load = { .time = now(), .pid = getpid(), .tid = getpid(), .len = sizeof(code) };
	char path[64], symbol[64];
	FILE *f;

	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", getpid());
	snprintf(symbol, sizeof(symbol), "of_%s", name);
	f = fopen(path, "w+");
	if (!f || fwrite(&head, sizeof(head), 1, f) != 1 || fflush(f) ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED)
		exit(1);
	load.vma = load.at = (uintptr_t)at;
	load.size = sizeof(load) + strlen(symbol) + 1 + sizeof(code);
	fwrite(&load, sizeof(load), 1, f);
	fwrite(symbol, strlen(symbol) + 1, 1, f);
	fwrite(code, sizeof(code), 1, f);
	fclose(f);
}

static void run(const char *at)
{
	((void (*)(void))(uintptr_t)at)();
}

static void *volatile mapped_late;

static int run_late(__attribute__((unused)) void *arg)
{
	while (!mapped_late)
		usleep(1000);
	run(mapped_late);
	pause();
	return 0;
}

/* The page of WORK of this program's own file, mapped once more. */
static void clone_and_map(const char *program)
{
	char *stack = malloc(65536);
	int fd = open(program, O_RDONLY);
	extern char __executable_start;

	if (!stack || clone(run_late, stack + 65536, CLONE_VM | SIGCHLD, NULL) < 0)
		exit(1);
	usleep(200000);
	mapped_late = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			   (char *)WORK - &__executable_start);
}

static void *work_of_thread(void *arg)
{
	/* At its beginning, and when a recorder may have listed it. */
	for (int i = 0; i < 6; i++) {
		WORK();
		usleep(500000);
	}
	pause();
	return arg;
}

static void end_leader(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work_of_thread, NULL))
		exit(1);
	pthread_exit(NULL);
}

/* In the child 0. Of generated code it comes last. */
static int generated(const char *name, const char *kind, char *argv[])
{
	char *at = generate();

	if (!strcmp(kind, "dump"))
		put_dump(name, at);
	else if (strcmp(kind, "nomap"))
		put_map(name, at);
	if (!strcmp(kind, "fork") || !strcmp(kind, "again")) {
		if (fork())
			return 0;
		if (!strcmp(kind, "again"))
			execl(argv[0], argv[0], name, "nomap", NULL);
	}
	run(at);
	return 0;
}

int main(int argc, char *argv[])
{
	const char *kind = argc > 2 ? argv[2] : "";

	if (argc < 2)
		return 2;
	prctl(PR_SET_NAME, argv[1]);
	if (!strcmp(kind, ""))
		WORK();
	else if (!strcmp(kind, "clone"))
		clone_and_map(argv[0]);
	else if (!strcmp(kind, "leader"))
		end_leader();
	else
		generated(argv[1], kind, argv);
	for (;;)
		pause();
}
