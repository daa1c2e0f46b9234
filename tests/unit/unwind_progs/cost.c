/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * cost.c - walks over a stack that is made here, for a program that single-steps it:
 * between two breakpoints each, a walk with nothing remembered, a walk of the same stack,
 * and one after a word of it has changed. Compiled as the module is, without sanitizers.
 * Prints what the last one found and should have found.
 */
#include <stdio.h>
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
static struct hwpmc_unwind_map map = { .start = CODE, .end = CODE + 0x100000, .shift = CODE };
/* Many rows, so that a look-up is one. */
static struct hwpmc_unwind_row row[4096];
static u32 page[258];
static struct hwpmc_unwind_table table;
static u64 pc[FRAMES + 2];

static __attribute__((noinline)) unsigned int walk(void)
{
	struct hwpmc_unwind_walk w = {
		.ip = CODE + 8, .sp = (uintptr_t)stack, .first = true, .map = &map, .nmap = 1,
		.tables = &table, .memo = memo, .tag = 1,
	};
	unsigned int end, n;

	__asm__ __volatile__("int3" : : : "memory");
	n = unwind_walk_nmi(&w, pc, FRAMES + 1, &end);
	__asm__ __volatile__("int3" : : : "memory");
	return n;
}

int main(void)
{
	unsigned int n;

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
	if (walk() != FRAMES || walk() != FRAMES)
		return 1;
	/* The registers are the same; the stack is not. */
	stack[2 * 20 + 1] = CODE + 0xf0000;
	n = walk();
	printf("%u %llx %llx\n", n, (unsigned long long)pc[21], CODE + 0xf0000);
	return n != FRAMES || pc[21] != CODE + 0xf0000;
}
