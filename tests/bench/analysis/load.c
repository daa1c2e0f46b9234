/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.c - the program whose samples the analysis bench reads: 256 functions of its
 * own, called through each other, and the C library's and libm's, in four processes
 * one after the other. It does the same each time. Usage: load ROUNDS.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static unsigned int state;
static double sum;

static unsigned int next(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

#define WORK(n)								\
	__attribute__((noinline)) static unsigned int work_##n(unsigned int x) \
	{								\
		for (unsigned int i = 0; i < 40 + 0x##n % 64; i++)	\
			x = x * (0x##n * 2 + 1) + (x >> 7) + i;		\
		return x;						\
	}
#define ROW(n)								\
	WORK(n##0) WORK(n##1) WORK(n##2) WORK(n##3)			\
	WORK(n##4) WORK(n##5) WORK(n##6) WORK(n##7)			\
	WORK(n##8) WORK(n##9) WORK(n##a) WORK(n##b)			\
	WORK(n##c) WORK(n##d) WORK(n##e) WORK(n##f)
#define NAMES(n)							\
	work_##n##0, work_##n##1, work_##n##2, work_##n##3,		\
	work_##n##4, work_##n##5, work_##n##6, work_##n##7,		\
	work_##n##8, work_##n##9, work_##n##a, work_##n##b,		\
	work_##n##c, work_##n##d, work_##n##e, work_##n##f,

ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7)
ROW(8) ROW(9) ROW(a) ROW(b) ROW(c) ROW(d) ROW(e) ROW(f)

static unsigned int (*const works[])(unsigned int) = {
	NAMES(0) NAMES(1) NAMES(2) NAMES(3) NAMES(4) NAMES(5) NAMES(6) NAMES(7)
	NAMES(8) NAMES(9) NAMES(a) NAMES(b) NAMES(c) NAMES(d) NAMES(e) NAMES(f)
};

static int by_value(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return x < y ? -1 : x > y;
}

__attribute__((noinline)) static void sort_some(void)
{
	unsigned int v[32];

	for (int i = 0; i < 32; i++)
		v[i] = next();
	qsort(v, 32, sizeof(*v), by_value);
	sum += v[0];
}

__attribute__((noinline)) static void print_some(void)
{
	char text[64];

	snprintf(text, sizeof(text), "%u %g", next(), sum);
	sum += strtod(text, NULL) + sin(sum) + strlen(text);
}

__attribute__((noinline)) static unsigned int down(unsigned int x, int depth)
{
	x = works[next() % 256](x);
	if (depth)
		x += down(x, depth - 1);
	return x + 1;
}

static void run(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		sum += down(i, next() % 12);
		if (i % 8 == 0)
			sort_some();
		if (i % 16 == 0)
			print_some();
	}
}

int main(int argc, char *argv[])
{
	long rounds = argc > 1 ? atol(argv[1]) : 1000;

	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid) {
			state = i;
			run(rounds);
			_exit(sum == 0.5);
		}
		waitpid(pid, NULL, 0);
	}
	return 0;
}
