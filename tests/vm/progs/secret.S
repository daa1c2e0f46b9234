/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * secret - ends at once. What it holds looks like a frame whose caller is SECRET of
 * kmod_addresses.c, at the begin of its data: in memory before the program runs, since
 * the kernel clears what follows it in its page.
 */
	.globl _start
_start:	movl $60, %eax
	xorl %edi, %edi
	syscall
	.data
	.quad 0, 0x5ec2e75ec2e7
	.bss
	.skip 64
	.section .note.GNU-stack, "", @progbits
