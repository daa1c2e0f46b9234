/* SPDX-License-Identifier: BSD-2-Clause */
/* work.h - what the programs of this folder measure: 2 n instructions and a few of the call. */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static inline void work(uint64_t n)
{
	__asm__ __volatile__("1: decq %0\n\tjnz 1b" : "+r"(n) : : "cc");
}

static inline unsigned long rounds(int argc, char *argv[])
{
	return argc > 1 ? strtoul(argv[1], NULL, 10) : 100;
}

static inline unsigned long pairs(int argc, char *argv[])
{
	return argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
}
