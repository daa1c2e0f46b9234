/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ifunc.c - calls functions that the C library chooses at start (IFUNC). Linked
 * statically, the calls go through a PLT without a table of symbols.
 */
#include <string.h>

static char a[64] = "abc", b[64];

int main(void)
{
	unsigned long n = 0;

	for (long i = 0; i < 1500000; i++) {
		__asm__ volatile("" ::: "memory");
		n += strlen(a);
		memcpy(b, a, n & 31);
	}
	return n == 1;
}
