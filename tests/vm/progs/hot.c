/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hot.c - runs three functions of known shares (hot.h), or code whose share it
 * measures itself by the emulated PMU, wherever code can be: what the profiles
 * of tests/vm/tests/e2e_*.sh are compared with.
 *
 * usage: hot [option N]... [command...]: each option in turn, then the command
 * is executed in the same process.
 *   -n N  N rounds of the three functions in this program
 *   -l N  of those in the library that it is linked with (hot-lib)
 *   -d N  in a library that it opens: libhot-late.so beside this program
 *   -j N  of three that it generates, named by /tmp/perf-PID.map
 *   -m N  of those of the kernel module hotmod
 *   -f N  of -n in a forked child, which it waits for
 *   -t N  of -n in each of four threads
 *   -c N  the vdso's clock_gettime() N times; prints the instructions that it took
 *   -p N  getppid(2) N times
 *   -x    move to other names: the process "hot-renamed"
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hot.h"
#include "vpmu_guest.h"

HOT_THREE(hot)

#define THREADS		4
#define MODULE		"/sys/kernel/debug/hotmod"

struct three {
	void (*sixty)(void);
	void (*thirty)(void);
	void (*ten)(void);
};

static const struct three own = { hot_sixty, hot_thirty, hot_ten };

_Noreturn static void die(const char *what)
{
	perror(what);
	exit(1);
}

__attribute__((noipa)) static void work(const struct three *f, long rounds)
{
	for (long i = 0; i < rounds; i++) {
		f->sixty();
		f->thirty();
		f->ten();
	}
}

static void run_own(long rounds)
{
	work(&own, rounds);
}

#ifdef HOT_LIB
void lib_sixty(void);
void lib_thirty(void);
void lib_ten(void);

static void run_linked(long rounds)
{
	static const struct three linked = { lib_sixty, lib_thirty, lib_ten };

	work(&linked, rounds);
}
#else
static void run_linked(long rounds)
{
	fputs("hot: not linked with the library: use hot-lib\n", stderr);
	exit(2);
}
#endif

static void run_opened(long rounds)
{
	char path[PATH_MAX + 32];
	struct three late;
	void *lib;

	if (!realpath("/proc/self/exe", path))
		die("/proc/self/exe");
	strcpy(strrchr(path, '/'), "/libhot-late.so");
	lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		die(dlerror());
	*(void **)&late.sixty = dlsym(lib, "lib_sixty");
	*(void **)&late.thirty = dlsym(lib, "lib_thirty");
	*(void **)&late.ten = dlsym(lib, "lib_ten");
	work(&late, rounds);
}

/* ---- generated code ------------------------------------------------------ */

/* push %rbp; mov %rsp,%rbp; mov $n,%ecx; 1: add $1,%rdx; dec %ecx; jnz 1b; ... */
static const uint8_t template[] = {
	0x55, 0x48, 0x89, 0xe5, 0xb9, 0, 0, 0, 0, 0x48, 0x83, 0xc2, 0x01,
	0xff, 0xc9, 0x75, 0xf8, 0x5d, 0xc3,
};

static void *generate(uint8_t *at, uint32_t rounds, const char *name, FILE *map)
{
	memcpy(at, template, sizeof(template));
	memcpy(at + 5, &rounds, sizeof(rounds));
	fprintf(map, "%" PRIxPTR " %zx %s\n", (uintptr_t)at, sizeof(template),
		name);
	return at;
}

static void run_generated(long rounds)
{
	struct three made;
	char path[64];
	uint8_t *code;
	FILE *map;

	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	map = fopen(path, "w");
	if (code == MAP_FAILED || !map)
		die("generate");
	*(void **)&made.sixty = generate(code, HOT_SIXTY, "jit_sixty", map);
	*(void **)&made.thirty = generate(code + 64, HOT_THIRTY, "jit_thirty", map);
	*(void **)&made.ten = generate(code + 128, HOT_TEN, "jit_ten", map);
	if (fclose(map) || mprotect(code, 4096, PROT_READ | PROT_EXEC))
		die("generate");
	work(&made, rounds);
}

/* ---- elsewhere ----------------------------------------------------------- */

static void run_module(long rounds)
{
	FILE *f = fopen(MODULE, "w");

	if (!f || fprintf(f, "%ld\n", rounds) < 0 || fclose(f))
		die(MODULE);
}

static void run_child(long rounds)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		work(&own, rounds);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		die("fork");
}

static void *thread(void *arg)
{
	work(&own, (intptr_t)arg);
	return NULL;
}

static void run_threads(long rounds)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, thread, (void *)rounds))
			die("pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}

typedef int clock_fn(clockid_t clock, struct timespec *t);

/* Returns at once: two instructions of its own. */
clock_fn no_clock;
asm(".text; .type no_clock, @function; no_clock: xor %eax, %eax; ret;"
    ".size no_clock, . - no_clock");

__attribute__((noipa)) static uint64_t ask_clock(clock_fn *fn, long n)
{
	uint64_t before = vpmu_own(VPMU_USER_INSN);
	struct timespec t;

	for (long i = 0; i < n; i++)
		fn(CLOCK_MONOTONIC, &t);
	return vpmu_own(VPMU_USER_INSN) - before;
}

static void run_clock(long n)
{
	void *vdso = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
	clock_fn *fn;

	if (!vdso)
		die(dlerror());
	*(void **)&fn = dlsym(vdso, "__vdso_clock_gettime");
	if (!fn)
		die(dlerror());
	printf("%" PRIu64 "\n", ask_clock(fn, n) - ask_clock(no_clock, n) + 2 * n);
	fflush(stdout);
}

__attribute__((noipa)) static void ask_parent(long n)
{
	for (long i = 0; i < n; i++) {
		long call = SYS_getppid;

		asm volatile("syscall" : "+a"(call)
			     : "r"(__builtin_frame_address(0))
			     : "rcx", "r11", "memory");
	}
}

static void rename_it(long unused)
{
	if (prctl(PR_SET_NAME, "hot-renamed"))
		die("prctl");
}

static int run(int option, long n)
{
	static const struct { int option; void (*fn)(long n); } options[] = {
		{ 'n', run_own }, { 'l', run_linked }, { 'd', run_opened },
		{ 'j', run_generated }, { 'm', run_module }, { 'f', run_child },
		{ 't', run_threads }, { 'c', run_clock }, { 'p', ask_parent },
		{ 'x', rename_it },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].option == option) {
			options[i].fn(n);
			return 0;
		}
	return -1;
}

int main(int argc, char *argv[])
{
	int c;

	while ((c = getopt(argc, argv, "+n:l:d:j:m:f:t:c:p:x")) != -1)
		if (run(c, optarg ? atol(optarg) : 0)) {
			fputs("hot: options are at the top of its source\n", stderr);
			return 2;
		}
	if (optind < argc) {
		execvp(argv[optind], argv + optind);
		die(argv[optind]);
	}
	return 0;
}
