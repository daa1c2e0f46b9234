/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost.c - walks over a stack that is made here, for a program that single-steps it:
 * between two breakpoints each, a walk with nothing remembered, a walk of the same stack,
 * one after a word of it has changed, and one with rules remembered and no frames. Compiled
 * as the module is, without sanitizers. Fails where what is remembered changes a chain.
 */
#include <string.h>
#include <sys/ptrace.h>

#include "sampling/unwind_table.h"
#include "sampling/unwind_memo.h"

static inline bool unwind_read_nmi(u64 at, u64 *value)
{
	memcpy(value, (const void *)at, sizeof(*value));
	return true;
}

static inline u64 unwind_reg_nmi(const void *regs, unsigned int nr)
{
	return 0;
}

static inline const struct hwpmc_unwind_table *
unwind_table_nmi(const void *tables, const struct hwpmc_unwind_map *map)
{
	return tables;
}

#include "sampling/unwind_walk.h"

#define FRAMES	46
#define CODE	0x400000ull

static u64 stack[2 * FRAMES];
static struct hwpmc_unwind_memo memo[UNWIND_MEMO_SIZE];
static struct hwpmc_unwind_past past;
static struct hwpmc_unwind_map map = { .start = CODE, .end = CODE + 0x100000, .shift = CODE };
/* Many rows, so that a look-up is one. */
static struct hwpmc_unwind_row row[4096];
static u32 page[258];
static struct hwpmc_unwind_table table;
static u64 pc[FRAMES + 2], tag = 1, bp;
static struct hwpmc_unwind_states states = { .last = 1 };

static bool measured = true, remembers = true;

/* Once in the program, as in the module: so the compiler makes the same of it. */
static __attribute__((noinline)) unsigned int walk(unsigned int *end)
{
	struct hwpmc_unwind_walk w = {
		.ip = CODE + 8, .sp = (uintptr_t)stack, .bp = bp, .first = true, .map = &map,
		.nmap = 1, .tables = &table, .tag = tag,
		.memo = remembers ? memo : NULL, .past = remembers ? &past : NULL,
	};
	unsigned int n;

	if (measured)
		__asm__ __volatile__("int3" : : : "memory");
	n = unwind_walk_nmi(&w, pc, FRAMES + 1, end);
	if (measured)
		__asm__ __volatile__("int3" : : : "memory");
	return n;
}

/* Twice, so that the second finds what the first has remembered; and with nothing. */
static bool is_same(void)
{
	u64 with[FRAMES + 2];
	unsigned int end, other, n;

	for (unsigned int i = 0; i < 2; i++) {
		n = walk(&end);
		memcpy(with, pc, n * sizeof(*pc));
		remembers = false;
		if (walk(&other) != n || end != other || memcmp(with, pc, n * sizeof(*pc)))
			return false;
		remembers = true;
	}
	return true;
}

static void set_rules(u32 rule)
{
	/* The sampled frame, in row 0, leads to the same caller. */
	for (unsigned int i = 1; i < 4096; i++)
		row[i].rule = rule;
}

/* Rules of the same frames change, which the tag says. */
static bool rules_change(void)
{
	if (!is_same())
		return false;
	set_rules(HWPMC_UNWIND_SP | 4 << 5);
	tag = unwind_tag_nmi(&states, 2, 3);
	return is_same();
}

/* A saved rbp changes, and no return address that was read. */
static bool saved_bp_changes(void)
{
	row[0].rule = HWPMC_UNWIND_BP | 2 << 5 | HWPMC_UNWIND_BP_SAVED | 2u << 22;
	set_rules(row[0].rule);
	/* Of counters that have gone on for long: 32 bits of them have come round. */
	tag = unwind_tag_nmi(&states, 2 + (1ull << 32), 3);
	bp = (uintptr_t)stack;
	for (unsigned int i = 0; i + 1 < FRAMES; i++)
		stack[2 * i] = (uintptr_t)&stack[2 * i + 2];
	if (!is_same())
		return false;
	stack[2 * 10] = (uintptr_t)&stack[2 * 15];
	return is_same();
}

int main(void)
{
	unsigned int n, end;

	for (unsigned int i = 0; i < 4096; i++)
		row[i] = (struct hwpmc_unwind_row){ i * 256, HWPMC_UNWIND_SP | 2 << 5 };
	if (hwpmc_unwind_pages(row, 4096) > 258)
		return 1;
	hwpmc_unwind_index(&table, row, 4096, page);
	/* The last return address is 0. */
	for (unsigned int i = 0; i + 1 < FRAMES; i++)
		stack[2 * i + 1] = CODE + 0x1000 + 0x1234 * i;
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		return 1;
	if (walk(&end) != FRAMES || walk(&end) != FRAMES)
		return 1;
	/* The registers are the same; the stack is not. */
	stack[2 * 20 + 1] = CODE + 0xf0000;
	n = walk(&end);
	if (n != FRAMES || pc[21] != CODE + 0xf0000)
		return 1;
	n = walk(&end);
	if (n != FRAMES || pc[21] != CODE + 0xf0000)
		return 1;
	measured = false;
	return !rules_change() || !saved_bp_changes();
}
