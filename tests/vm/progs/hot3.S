/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hot3 - three functions that execute 60, 30 and 10 percent of 10,000 rounds of
 * 3,000 instructions, all of them of known length.
 */
	.macro	hot name, rounds
	.globl	\name
	.type	\name, @function
\name:
	push	%rbp
	mov	%rsp, %rbp
	mov	$\rounds, %ecx
1:	add	$1, %rdx
	dec	%ecx
	jnz	1b
	pop	%rbp
	ret
	.size	\name, . - \name
	.endm

	.text
	hot	hot_sixty, 600
	hot	hot_thirty, 300
	hot	hot_ten, 100

	.globl	_start
	.type	_start, @function
_start:
	xor	%ebp, %ebp
	mov	$10000, %ebx
1:	call	hot_sixty
	call	hot_thirty
	call	hot_ten
	dec	%ebx
	jnz	1b
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.size	_start, . - _start
	.section .note.GNU-stack, "", @progbits
