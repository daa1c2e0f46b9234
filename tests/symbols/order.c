/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * order.c - a program that is built again with its functions in another order and of
 * another length (SECOND). For the tests of what a file without build-id lends.
 */
static volatile long sink;

__attribute__((noinline)) void hot(void);
__attribute__((noinline)) void cold(void);
__attribute__((noinline)) void padding(void);

#ifdef SECOND
void cold(void)
{
	sink++;
}

void padding(void)
{
	for (int i = 0; i < 9; i++)
		sink += i;
}
#endif

void hot(void)
{
	for (long i = 0; i < 4000000; i++)
		sink += i;
}

#ifndef SECOND
void cold(void)
{
	sink++;
}
#endif

int main(void)
{
	hot();
	cold();
	return 0;
}
