/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loop N - N iterations of three instructions and the end. With d the number
 * of N's digits, the whole process has in user mode, by construction,
 *	3 N + 7 d + 8 instructions,  N + 2 d + 2 branches
 * (the final SYSCALL is an instruction and a branch).
 */
	.globl	_start
_start:	movq	16(%rsp), %rsi		/* argv[1] */
	xorl	%ecx, %ecx
digit:	movzbl	(%rsi), %eax
	testl	%eax, %eax
	jz	loop
	imulq	$10, %rcx
	leaq	-48(%rcx,%rax), %rcx
	incq	%rsi
	jmp	digit
loop:	addq	$1, %rdx
	decq	%rcx
	jnz	loop
	movl	$60, %eax
	xorl	%edi, %edi
	syscall
	.section .note.GNU-stack, "", @progbits
