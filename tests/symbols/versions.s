# SPDX-License-Identifier: BSD-2-Clause
# versions.s - a library with versions of symbols, one of C++; and names of which only a part
# looks like one.
	.macro	function name
	.globl	\name
	.type	\name, @function
\name:	nop
	ret
	.size	\name, . - \name
	.endm
	.text
	function new_start
	function old_start
	function cxx_start
	.symver	new_start, start_it@@LIB_2.34, remove
	.symver	old_start, start_it@LIB_2.2.5, remove
	.symver	cxx_start, _ZN6shapes4areaEii@@LIB_2.34, remove
	.type	"odd@name of it", @function
"odd@name of it":
	nop
	ret
	.size	"odd@name of it", 2
	.section .note.GNU-stack, "", @progbits
