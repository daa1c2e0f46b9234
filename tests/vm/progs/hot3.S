/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hot3 - three functions that execute 60, 30 and 10 percent of 10,000 rounds of
 * 3,000 instructions, all of them of known length.
 */
	.macro	hot name, rounds
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	push	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	mov	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	mov	$\rounds, %ecx
1:	add	$1, %rdx
	dec	%ecx
	jnz	1b
	pop	%rbp
	.cfi_def_cfa %rsp, 8
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	hot	hot_sixty, 600
	hot	hot_thirty, 300
	hot	hot_ten, 100

	.globl	_start
	.type	_start, @function
_start:
	.cfi_startproc
	.cfi_undefined %rip
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
	.cfi_endproc
	.size	_start, . - _start

/* Never called: gprof leaves out the last function, unless a symbol of .text follows it. */
	.globl	hot3_end
	.type	hot3_end, @function
hot3_end:
	.cfi_startproc
	ret
	.cfi_endproc
	.size	hot3_end, . - hot3_end
	.section .note.GNU-stack, "", @progbits
