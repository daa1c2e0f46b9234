/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edges.S - the first and the last instructions of vtruth. What executes before
 * and after the reads of the totals is counted here by hand; vtruth.c has the
 * same numbers, and the comparison with perf proves them.
 */
#define OWN		0x4f560011
#define SINCE		0x4f560017
#define USER_INSN	0
#define USER_BRANCH	2
#define OTHERS		(1 << 8)

	.bss
	.globl	vtruth_first
	.balign	8
vtruth_first:				/* own totals at the first reads: */
	.zero	16			/* instructions, branches */

	.text
	.macro	read leaf, sub
	movl	$\leaf, %eax
	movl	$\sub, %ecx
	cpuid
	shlq	$32, %rdx
	orq	%rdx, %rax
	.endm

/* The entry: the fourth instruction of the process reads, and no branch yet. */
	.globl	vtruth_start
vtruth_start:
	movq	%rdx, %r8
	read	OWN, USER_INSN		/* its CPUID: the 4th */
	movq	%rax, vtruth_first(%rip)
	read	OWN, USER_BRANCH
	movq	%rax, vtruth_first+8(%rip)
	movq	%r8, %rdx
	jmp	_start

/*
 * vtruth_end(u64 result[4], u64 insn_offset, u64 branch_offset): the end of the
 * process. result: user instructions and branches of all, of the others.
 * After the CPUID that reads the own instructions: 15 more, and 1 branch.
 */
	.globl	vtruth_end
vtruth_end:
	movq	%rdx, %r9
	read	SINCE, (OTHERS | USER_INSN)
	movq	%rax, 16(%rdi)
	addq	%rax, %rsi
	read	SINCE, (OTHERS | USER_BRANCH)
	movq	%rax, 24(%rdi)
	addq	%rax, %r9
	read	OWN, USER_INSN
	addq	%rsi, %rax		/* after the CPUID: shl, or, add, mov 4 */
	movq	%rax, 0(%rdi)
	read	OWN, USER_BRANCH	/* 5: 9 */
	addq	%r9, %rax
	movq	%rax, 8(%rdi)
	movl	$1, 32(%rdi)		/* complete: 12 */
	movl	$231, %eax
	xorl	%edi, %edi
	syscall				/* 15 */
	.section .note.GNU-stack, "", @progbits
