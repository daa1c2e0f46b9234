/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * named.c - named NAME [KIND [again]]: a function of a known name (WORK of the compiler's) works for
 * TURNS turns of two instructions under the process name NAME, then the process waits for a
 * signal, or does the same again and again. What works, by KIND:
 *
 *	map	generated code, which /tmp/perf-PID.map names "of_NAME"
 *	fork	the same in a child, forked after its parent has written the map
 *	again	the same in a child that executes this program again and generates other code
 *	dump	the same, which /tmp/jit-PID.dump names
 *	clone	a library's code in a process that shares the memory (CLONE_VM), mapped by
 *		the other one
 *	leader	a thread whose process's first thread has ended
 *	moved	generated code that mremap() has moved; the map has the new place
 *	stale	the same where a part of this program's file was before; no map
 *	over	this function, copied, and mremap()ed over the part of the file
 *	fixed	the same by mmap() with MAP_FIXED, a copy and mprotect(), as Node.js does it
 *	late	as "over" of a part of the file that is mapped once more, as a library is
 *	forked	as "over", then in a child
 *	other	generated code, mremap()ed over the part of the file with this function
 *	all	as "over" of all code of this program
 *	noop	generated code, for which mremap() is called 100 times without a change
 *	grown	generated code behind other one, which mremap() has made room for
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
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
__attribute__((noinline, section("work"), aligned(4096))) void never_runs(void)
{
	__asm__ __volatile__("nop; nop");
}
#endif

/* In a page of its own, which kinds below replace. */
__attribute__((noinline, section("work"), aligned(4096))) void WORK(void)
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
	for (int i = 0; i < 6 || arg; i++) {
		WORK();
		usleep(500000);
	}
	pause();
	return arg;
}

static void end_leader(const char *again)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work_of_thread, (void *)again))
		exit(1);
	pthread_exit(NULL);
}

/* ---- code that is moved, and put over the file's ----------------------------- */

static char *anonymous(size_t pages, int prot)
{
	char *at = mmap(NULL, pages * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	return at;
}

static char *move_to(char *from, size_t pages, char *to)
{
	if (mremap(from, pages * PAGE, pages * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
	    MAP_FAILED)
		exit(1);
	return to;
}

/* Pages of this program's file at another place: [0] and [1], which has WORK. */
static char *map_again(const char *program)
{
	extern char __executable_start;
	int fd = open(program, O_RDONLY);
	char *at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			(char *)WORK - &__executable_start - PAGE);

	if (at == MAP_FAILED)
		exit(1);
	close(fd);
	return at;
}

static char *copy_of(const char *from, size_t pages)
{
	char *at = anonymous(pages, PROT_READ | PROT_WRITE);

	memcpy(at, from, pages * PAGE);
	if (mprotect(at, pages * PAGE, PROT_READ | PROT_EXEC))
		exit(1);
	return at;
}

static char *replace_all(void)
{
	extern void _init(void);
	extern char etext;
	char *first = (char *)((uintptr_t)_init & -PAGE);
	size_t pages = (&etext - first + PAGE - 1) / PAGE;

	move_to(copy_of(first, pages), pages, first);
	return (char *)WORK;
}

static char *put_fixed_over(char *at)
{
	char *copy = copy_of((char *)WORK, 1);

	if (mmap(at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		exit(1);
	memcpy(at, copy, PAGE);
	if (mprotect(at, PAGE, PROT_READ | PROT_EXEC) || munmap(copy, PAGE))
		exit(1);
	return at;
}

static char *put_stale(const char *program)
{
	char *code_at = generate(), *at = map_again(program);

	munmap(at, 2 * PAGE);
	return move_to(code_at, 1, at + PAGE);
}

/* An unknown place beside nothing that is mapped. */
static char *put_moved(const char *name)
{
	char *to = anonymous(1, PROT_NONE);

	to = move_to(generate(), 1, to);
	put_map(name, to);
	return to;
}

static char *put_noop(void)
{
	char *at = generate();

	for (int i = 0; i < 100; i++)
		if (mremap(at, PAGE, PAGE, MREMAP_MAYMOVE) != at)
			exit(1);
	return at;
}

static char *put_grown(const char *name)
{
	char *room = anonymous(3, PROT_NONE);

	move_to(generate(), 1, room);
	munmap(room + PAGE, PAGE);
	if (mremap(room, PAGE, 2 * PAGE, 0) == MAP_FAILED)
		exit(1);
	memcpy(room + PAGE, code, sizeof(code));
	put_map(name, room + PAGE);
	return room + PAGE;
}

/* Where the code is now, or NULL: the kind is another one. */
static char *put_code(const char *name, const char *kind, const char *program)
{
	if (!strcmp(kind, "moved"))
		return put_moved(name);
	if (!strcmp(kind, "noop"))
		return put_noop();
	if (!strcmp(kind, "stale"))
		return put_stale(program);
	if (!strcmp(kind, "over") || !strcmp(kind, "forked"))
		return move_to(copy_of((char *)WORK, 1), 1, (char *)WORK);
	if (!strcmp(kind, "all"))
		return replace_all();
	if (!strcmp(kind, "grown"))
		return put_grown(name);
	if (!strcmp(kind, "fixed"))
		return put_fixed_over((char *)WORK);
	if (!strcmp(kind, "late"))
		return move_to(copy_of((char *)WORK, 1), 1, map_again(program) + PAGE);
	if (!strcmp(kind, "other"))
		return move_to(generate(), 1, (char *)WORK);
	return NULL;
}

static void run_code(const char *at, const char *kind, bool again)
{
	if (strcmp(kind, "forked") || !fork())
		run(at);
	while (again) {
		usleep(100000);
		run(at);
	}
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
	char *at;

	if (argc < 2)
		return 2;
	prctl(PR_SET_NAME, argv[1]);
	at = put_code(argv[1], kind, argv[0]);
	if (at)
		run_code(at, kind, argc > 3);
	else if (!strcmp(kind, ""))
		WORK();
	else if (!strcmp(kind, "clone"))
		clone_and_map(argv[0]);
	else if (!strcmp(kind, "leader"))
		end_leader(argv[3]);
	else
		generated(argv[1], kind, argv);
	for (;;)
		pause();
}
