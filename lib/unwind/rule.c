/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rule.c - a frame, as elfutils describes it, as a rule. What compilers and the C library
 * write has a rule; anything else is UNKNOWN, and chains end there.
 */
#include <dwarf.h>

#include "unwind.h"

/* DWARF's numbers of registers of x86-64. */
#define REG_BP		6
#define REG_SP		7
#define REG_IP		16

#define RULE_UNKNOWN	(HWPMC_UNWIND_OTHER | HWPMC_UNWIND_REG_UNKNOWN << 5)

/* Is the number of words in n within [least, most]? *n: bytes to words. */
static bool in_words(int64_t *n, int64_t least, int64_t most)
{
	if (*n & 7)
		return false;
	*n /= 8;
	return *n >= least && *n <= most;
}

/* ---- where the caller's rbp is ------------------------------------------- */

/* Is the location CFA + *offset? */
static bool is_at_cfa(const Dwarf_Op *op, size_t n, int64_t *offset)
{
	if (!n || n > 2 || op[0].atom != DW_OP_call_frame_cfa)
		return false;
	*offset = 0;
	if (n == 2) {
		if (op[1].atom != DW_OP_plus_uconst)
			return false;
		*offset = op[1].number;
	}
	return true;
}

/* BP_SAVED with its displacement, BP_AT_BP, 0 (unchanged); false: none of these. */
static bool bp_rule(Dwarf_Frame *frame, uint32_t *rule)
{
	Dwarf_Op mem[3], *op;
	int64_t offset;
	size_t n;

	if (dwarf_frame_register(frame, REG_BP, mem, &op, &n))
		return false;
	*rule = 0;
	/* Unchanged, or undefined: then the callers have no use for it. */
	if (!n)
		return true;
	if (is_at_cfa(op, n, &offset)) {
		offset = -offset;
		if (!in_words(&offset, 0, HWPMC_UNWIND_SAVED_MAX))
			return false;
		*rule = HWPMC_UNWIND_BP_SAVED | (uint32_t)offset << 22;
		return true;
	}
	/* The location is an expression, which begins with CFA on its stack. */
	if (n == 2 && op[0].atom == DW_OP_call_frame_cfa && op[1].atom == DW_OP_breg6 &&
	    !op[1].number) {
		*rule = HWPMC_UNWIND_BP_AT_BP;
		return true;
	}
	return false;
}

/* ---- where the return address is ----------------------------------------- */

enum return_address { AT_CFA_MINUS_8, UNDEFINED, ELSEWHERE };

static enum return_address return_address(Dwarf_Frame *frame)
{
	Dwarf_Op mem[3], *op;
	int64_t offset;
	size_t n;

	if (dwarf_frame_register(frame, REG_IP, mem, &op, &n))
		return ELSEWHERE;
	if (!n)
		return op == mem ? UNDEFINED : ELSEWHERE;
	return is_at_cfa(op, n, &offset) && offset == -8 ? AT_CFA_MINUS_8 : ELSEWHERE;
}

/* ---- where CFA is -------------------------------------------------------- */

/* CFA = register + offset. */
static uint32_t by_register(unsigned int reg, int64_t offset, uint32_t bp)
{
	if (bp & HWPMC_UNWIND_BP_AT_BP)
		return RULE_UNKNOWN;
	if (reg == REG_SP || reg == REG_BP) {
		if (!in_words(&offset, -65536, 65535))
			return RULE_UNKNOWN;
		return (reg == REG_SP ? HWPMC_UNWIND_SP : HWPMC_UNWIND_BP) | bp |
		       ((uint32_t)offset & 0x1ffff) << 5;
	}
	if (reg >= REG_IP || !in_words(&offset, 0, 4095))
		return RULE_UNKNOWN;
	return HWPMC_UNWIND_OTHER | bp | reg << 5 | (uint32_t)offset << 9;
}

/* CFA = *(register + offset) + more. */
static uint32_t by_memory(unsigned int reg, int64_t offset, int64_t more, uint32_t bp)
{
	if (reg == REG_SP && !(bp & HWPMC_UNWIND_BP_AT_BP) &&
	    in_words(&offset, 0, 2047) && in_words(&more, 0, 63))
		return HWPMC_UNWIND_AT_SP | bp | (uint32_t)offset << 5 |
		       (uint32_t)more << 16;
	if (reg == REG_BP && in_words(&offset, -256, 255) && in_words(&more, 0, 15))
		return HWPMC_UNWIND_OTHER | bp | HWPMC_UNWIND_REG_AT_BP << 5 |
		       ((uint32_t)offset & 0x1ff) << 9 | (uint32_t)more << 18;
	return RULE_UNKNOWN;
}

/*
 * What linkers write for a procedure linkage table:
 *	rsp + 8 + ((rip & 15) >= N) * 8
 */
static bool is_plt(const Dwarf_Op *op, size_t n, unsigned int *from)
{
	static const uint8_t form[] = {
		DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0, DW_OP_ge,
		DW_OP_lit3, DW_OP_shl, DW_OP_plus,
	};
	size_t i;

	if (n != sizeof(form) || op[0].number != 8 || op[1].number ||
	    op[4].atom < DW_OP_lit0 || op[4].atom > DW_OP_lit15)
		return false;
	for (i = 0; i < n; i++)
		if (form[i] && op[i].atom != form[i])
			return false;
	*from = op[4].atom - DW_OP_lit0;
	return true;
}

static uint32_t by_expression(const Dwarf_Op *op, size_t n, uint32_t bp)
{
	unsigned int reg = op[0].atom - DW_OP_breg0, from;

	if (is_plt(op, n, &from))
		return HWPMC_UNWIND_PLT | from << 5;
	if (reg >= REG_IP || n < 2 || n > 3 || op[1].atom != DW_OP_deref ||
	    (n == 3 && op[2].atom != DW_OP_plus_uconst))
		return RULE_UNKNOWN;
	return by_memory(reg, op[0].number, n == 3 ? op[2].number : 0, bp);
}

static uint32_t cfa_rule(Dwarf_Frame *frame, bool signal)
{
	Dwarf_Op *op;
	uint32_t bp;
	size_t n;

	if (dwarf_frame_cfa(frame, &op, &n) || !n)
		return RULE_UNKNOWN;
	/* The C library and the vdso describe the registers that the kernel has saved at
	 * the places where the kernel saves them. */
	if (signal && !(n == 1 && op[0].atom == DW_OP_bregx))
		return HWPMC_UNWIND_SIGNAL;
	if (return_address(frame) != AT_CFA_MINUS_8 || !bp_rule(frame, &bp))
		return RULE_UNKNOWN;
	if (n == 1 && op[0].atom == DW_OP_bregx)
		return by_register(op[0].number, op[0].number2, bp);
	return by_expression(op, n, bp);
}

uint32_t cfi_rule(Dwarf_Frame *frame)
{
	bool signal = false;

	if (dwarf_frame_info(frame, NULL, NULL, &signal) == -1)
		return RULE_UNKNOWN;
	if (return_address(frame) == UNDEFINED)
		return HWPMC_UNWIND_END;
	return cfa_rule(frame, signal);
}
