/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inlined.c - functions inlined into each other, with marks: local symbols at
 * instructions, so that a test knows the address and, by searching this text, the
 * line.
 */
#define ALWAYS	static inline __attribute__((always_inline))
#define MARK(name) __asm__ volatile("mark_" #name ": nop" ::: "memory")

static volatile int sink;

ALWAYS void innermost(int x)
{
	sink += x;
	MARK(innermost);
	sink *= x;
}

ALWAYS void middle(int x)
{
	sink -= x;
	innermost(x + 1);		/* call of innermost */
	MARK(middle);
	sink ^= x;
}

__attribute__((noinline)) void outer(int x)
{
	for (int i = 0; i < x; i++)
		middle(i);		/* call of middle */
	MARK(outer);
	sink++;
}

__attribute__((noinline)) int caller(int x)
{
	outer(x);			/* call of outer */
	MARK(after_call);
	return sink;
}

int main(int argc, char *argv[])
{
	return caller(argc);
}
