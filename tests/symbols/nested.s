/* SPDX-License-Identifier: BSD-2-Clause */
/* nested.s - a program whose debugging information has a million blocks in each other. */
	.text
	.globl hot
	.type hot,@function
hot:	nop
	nop
	ret
.Lend:	.size hot,.-hot
	.globl _start
_start: jmp hot
	.section .debug_abbrev,"",@progbits
	.uleb128 1
	.uleb128 0x11
	.byte 1
	.uleb128 0x11
	.uleb128 0x1
	.uleb128 0x12
	.uleb128 0x7
	.byte 0,0
	.uleb128 2
	.uleb128 0xb
	.byte 1
	.byte 0,0
	.byte 0
	.section .debug_info,"",@progbits
	.long .Le-.Ls
.Ls:	.value 4
	.long 0
	.byte 8
	.uleb128 1
	.quad hot
	.quad .Lend-hot
	.rept 1000000
	.byte 2
	.endr
	.rept 1000001
	.byte 0
	.endr
.Le:
