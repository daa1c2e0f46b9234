/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel.c - what a vmlinux looks like to a reader of symbols: it never runs. */
__asm__(".section .text.unlikely\n.globl _stext\n_stext:\n\t.skip 64, 0x90\n");
__asm__(".section .text.z\n.globl _etext\n_etext:\n\tnop\n.text\n");

static volatile int sink;

static inline __attribute__((always_inline)) void in_line(int x)
{
	__asm__ volatile("mark_in_line: nop");
	sink += x;			/* the inlined line */
}

__attribute__((noinline)) void do_work(int x)
{
	in_line(x);
	sink *= 2;
}

__attribute__((noinline)) int schedule(int x)
{
	do_work(x);
	return sink;
}
