// SPDX-License-Identifier: BSD-2-Clause
/* spin - a 32-bit program with frame pointers: three calls down, for some millions of turns. */
#include "raw32.h"

void _start(void);

static void __attribute__((noinline, optimize("no-omit-frame-pointer"))) turn(void)
{
	__u32 n = 4000000;

	asm volatile("1: decl %0; jnz 1b" : "+r"(n) : : "cc");
}

static void __attribute__((noinline, optimize("no-omit-frame-pointer"))) down(int n)
{
	if (n)
		down(n - 1);
	else
		turn();
	asm volatile("" : : : "memory");
}

void __attribute__((optimize("no-omit-frame-pointer"))) _start(void)
{
	down(3);
	quit(0);
}
