/* SPDX-License-Identifier: BSD-2-Clause */
/* functions.c - a program with a few functions, one of them in a library. */
int in_library(int x);

static volatile int sink;

__attribute__((noinline)) static int beta(int x)
{
	sink += x;
	return sink;
}

__attribute__((noinline)) int alpha(int x)
{
	sink *= beta(x);
	return sink;
}

int main(int argc, char *argv[])
{
	return alpha(argc) + in_library(argc);
}
