# SPDX-License-Identifier: BSD-2-Clause
# bounds.s - a library whose call-frame information differs from its symbols. outer has a
# second entry in its middle, at inner, which goes beyond it; open_ended has no size; hidden is no dynamic
# symbol; gap has no entry.
	.text
	.globl	outer
	.type	outer, @function
outer:
	.cfi_startproc
	nop
	nop
	.cfi_endproc
inner:
	.cfi_startproc
	nop
	.size	outer, . - outer
beyond:
	nop
	ret
	.cfi_endproc

	.p2align 4
	.globl	open_ended
	.type	open_ended, @function
open_ended:
	.cfi_startproc
	nop
	ret
	.cfi_endproc

	.p2align 4
hidden:
	.cfi_startproc
	nop
	ret
	.cfi_endproc

	.p2align 4
	.skip	16, 0x90
gap:
	nop
	ret
	.section .note.GNU-stack, "", @progbits
