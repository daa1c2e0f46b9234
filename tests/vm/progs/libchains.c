/* SPDX-License-Identifier: BSD-2-Clause */
/* libchains.c - calls of a library that a program opens (chains.c). */
void lib_down(unsigned int depth, void (*leaf)(void));

__attribute__((noinline, noclone)) void lib_down(unsigned int depth, void (*leaf)(void))
{
	if (depth)
		lib_down(depth - 1, leaf);
	else
		leaf();
	__asm__ __volatile__("" : : : "memory");
}
