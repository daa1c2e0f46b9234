/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * three.c - a program with functions whose addresses a log of the tests names. It is
 * compiled and read by gprof and others, and never runs.
 */
volatile int sink;

#define WORK	do { for (int i = 0; i < 9; i++) sink += i; } while (0)

__attribute__((noinline)) void hot_sixty(void) { WORK; }
__attribute__((noinline)) void hot_thirty(void) { WORK; }
__attribute__((noinline)) void hot_ten(void) { WORK; }

static inline __attribute__((always_inline)) void innermost(void) { sink ^= 5; }
static inline __attribute__((always_inline)) void inner(void) { innermost(); }
__attribute__((noinline)) void outer(void) { inner(); }

__attribute__((noinline)) void caller(void)
{
	hot_sixty();
	hot_thirty();
}

int main(void)
{
	caller();
	hot_ten();
	outer();
	return sink;
}
