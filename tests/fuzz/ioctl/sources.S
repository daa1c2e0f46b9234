/* SPDX-License-Identifier: BSD-2-Clause */
/* sources.S - what a reproducer begins with: the texts of op.h and act.c. */
	.section .rodata
	.macro text name file
	.global \name, \name\()_end
\name:	.incbin "\file"
\name\()_end: .byte 0
	.endm
	text source_op, "op.h"
	text source_act, "act.c"
	.section .note.GNU-stack, "", @progbits
