# SPDX-License-Identifier: BSD-2-Clause
# shared.s - a program whose function hot has in it what a file named common, beside the
# program, names. WHOLE: that file.
	.text
	.globl _start
_start:	nop
	.globl hot
	.type hot, @function
hot:	nop
	nop
	ret
	.size hot, . - hot
end:
	.section .debug_info, "", @progbits
	.long info_end - info
info:	.value 5
	.byte 1, 8			# DW_UT_compile, bytes of an address
	.long 0
	.uleb128 1
	.ifdef WHOLE
	.uleb128 4
	.string "from_common"
	.byte 0
	.else
	.quad _start
	.quad end - _start
	.uleb128 2
	.quad hot
	.quad end - hot
	.uleb128 3
	.long 13			# in the other file: behind the header and its unit
	.quad hot
	.quad end - hot
	.byte 0, 0
	.endif
info_end:
	.section .debug_abbrev, "", @progbits
	.ifdef WHOLE
	.uleb128 1, 0x11		# DW_TAG_compile_unit
	.byte 1, 0, 0
	.uleb128 4, 0x2e		# DW_TAG_subprogram
	.byte 0
	.uleb128 0x03, 0x08		# DW_AT_name, DW_FORM_string
	.byte 0, 0, 0
	.else
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
	.uleb128 0x31, 0x1f20		# DW_AT_abstract_origin, DW_FORM_GNU_ref_alt
	.uleb128 0x11, 0x01, 0x12, 0x07
	.byte 0, 0, 0
	.section .gnu_debugaltlink, "", @progbits
	.string "common"
	.byte 1, 2, 3, 4, 5, 6, 7, 8
	.endif
	.section .note.GNU-stack, "", @progbits
