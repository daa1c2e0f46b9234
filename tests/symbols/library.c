/* SPDX-License-Identifier: BSD-2-Clause */
/* library.c - a shared library with one function for others. */
static volatile int sink;

__attribute__((noinline)) static int helper(int x)
{
	sink += x;
	return sink;
}

int in_library(int x)
{
	return helper(x) * 2;
}
