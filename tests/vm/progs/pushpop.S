/* SPDX-License-Identifier: BSD-2-Clause */
/* pushpop - 100000 stores, 100000 loads, 400004 instructions, 100001 branches. */
	.globl	_start
_start:	movl	$100000, %ecx
loop:	pushq	%rax
	popq	%rbx
	decl	%ecx
	jnz	loop
	movl	$60, %eax
	xorl	%edi, %edi
	syscall
	.section .note.GNU-stack, "", @progbits
