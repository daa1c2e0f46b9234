/* SPDX-License-Identifier: BSD-2-Clause */
/* deep.c - a function at a known depth, without frame pointers: deep DEPTH TURNS. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline)) static unsigned long leaf(unsigned long turns)
{
	unsigned long n = 0;

	while (turns--)
		__asm__ __volatile__("" : "+r" (n));
	return n;
}

__attribute__((noinline)) static unsigned long down(unsigned long depth, unsigned long turns)
{
	unsigned long n = depth ? down(depth - 1, turns) : leaf(turns);

	/* The compiler does not know what is returned, and so makes no loop of the calls. */
	__asm__ __volatile__("" : "+r" (n));
	return n + 1;
}

int main(int argc, char *argv[])
{
	if (argc < 3)
		return 2;
	printf("%lu\n", down(strtoul(argv[1], NULL, 0), strtoul(argv[2], NULL, 0)));
	return 0;
}
