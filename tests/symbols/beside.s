# SPDX-License-Identifier: BSD-2-Clause
# beside.s - a function with 200,000 that were inlined beside each other, all at its end.
	.text
	.globl _start
_start:	nop
	.globl hot
	.type hot, @function
hot:	.fill 100, 1, 0x90
	ret
	.size hot, . - hot
end:
	.section .debug_info, "", @progbits
	.long info_end - info
info:	.value 5
	.byte 1, 8			# DW_UT_compile, bytes of an address
	.long 0
	.uleb128 1
	.quad _start
	.quad end - _start
	.uleb128 2
	.quad hot
	.quad end - hot
	.rept 200000
	.uleb128 3
	.quad end - 1
	.quad 1
	.endr
	.byte 0, 0
info_end:
	.section .debug_abbrev, "", @progbits
	.uleb128 1, 0x11		# DW_TAG_compile_unit
	.byte 1
	.uleb128 0x11, 0x01, 0x12, 0x07	# DW_AT_low_pc, DW_AT_high_pc
	.byte 0, 0
	.uleb128 2, 0x2e		# DW_TAG_subprogram
	.byte 1
	.uleb128 0x11, 0x01, 0x12, 0x07
	.byte 0, 0
	.uleb128 3, 0x1d		# DW_TAG_inlined_subroutine
	.byte 0
	.uleb128 0x11, 0x01, 0x12, 0x07
	.byte 0, 0, 0
	.section .note.GNU-stack, "", @progbits
