/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * module.c - what a kernel module's file looks like: relocatable, with text that
 * stays, text of the time of loading between it, and text of its end. Never runs.
 */
#define SECTION(name) __attribute__((noinline, section(name)))

static volatile int sink;

__attribute__((noinline)) void mod_first(int x)
{
	sink += x;
}

SECTION(".init.text") int mod_init(int x)
{
	mod_first(x);
	return sink * 3;
}

__attribute__((noinline)) int mod_second(int x)
{
	__asm__ volatile("mark_second: nop");	/* in mod_second */
	return sink * x;
}

SECTION(".exit.text") void mod_exit(void)
{
	sink = 0;
	__asm__ volatile("mark_exit: nop");	/* in mod_exit */
}
