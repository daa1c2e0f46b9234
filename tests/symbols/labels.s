/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hand-written assembly: symbols without type and size, in three sections. In the last
 * one nothing has a name; a mark of the linker's and data lie before it.
 */
	.section .text.sized, "ax"
	.globl sized
	.type sized, @function
sized:	nop
inner:	nop
	ret
	.size sized, . - sized
	nop
	nop
	.section .text.first, "ax"
	.globl _start
_start:	call work
	jmp _start
	.skip 64, 0x90
work:	nop
	nop
.Lwithin: nop
work.loop: nop				/* as NASM keeps places */
	nop
	ret
	.section .unnamed, "ax"
	.skip 64, 0x90
	.data
	.globl table
table:	.quad 1
