/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_mixed.c - the module's walk through code without tables, on a stack made here. Such
 * code is made by compilers at run time and by Go. The walk goes by frame pointers in it, and
 * by tables again in its callers.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "harness.h"
#include "sampling/unwind_table.h"

/* Words of the stack from here on. */
#define STACK	0x7000
static u64 stack[64];

static inline bool unwind_read_nmi(u64 at, u64 *value)
{
	if (at < STACK || at >= STACK + sizeof(stack) || at & 7)
		return false;
	*value = stack[(at - STACK) / 8];
	return true;
}

static inline u64 unwind_reg_nmi(const void *regs, unsigned int nr)
{
	return 0;
}

static const struct hwpmc_unwind_table no_rows;

static inline const struct hwpmc_unwind_table *
unwind_table_nmi(const void *tables, const struct hwpmc_unwind_map *map)
{
	if (map->file.kind != UNWIND_FILE_INODE)
		return &no_rows;
	return map->file.inode ? NULL : tables;
}

#include "sampling/unwind_walk.h"

/* Code with a table, in which each frame is 16 bytes long, but for the first function; and
 * code without, which saves the frame pointer. */
#define FILE_CODE	0x10000
#define FIRST		0x10f00
#define NO_RULE		0x11000
#define MADE		0x20000
#define NO_CODE		0x30000
/* A file whose table is not known. */
#define LATE		0x40000

static const struct hwpmc_unwind_map maps[] = {
	{ .start = FILE_CODE, .end = FILE_CODE + 0x2000, .file.kind = UNWIND_FILE_INODE },
	{ .start = MADE, .end = MADE + 0x1000 },
	{ .start = LATE, .end = LATE + 0x1000, .file = { 1, .kind = UNWIND_FILE_INODE } },
};

static struct hwpmc_unwind_row rows[3];
static u32 pages[8];
static struct hwpmc_unwind_table table;
static struct hwpmc_unwind_walk w;
static u64 pc[40];
static unsigned int end;

static void setup(void)
{
	rows[0] = (struct hwpmc_unwind_row){ FILE_CODE, HWPMC_UNWIND_SP | 2 << 5 };
	rows[1] = (struct hwpmc_unwind_row){ FIRST, HWPMC_UNWIND_END };
	rows[2] = (struct hwpmc_unwind_row){ NO_RULE, HWPMC_UNWIND_NONE };
	ck_assert_uint_eq(hwpmc_unwind_check(rows, 3), 3);
	ck_assert_uint_le(hwpmc_unwind_pages(rows, 3), 8);
	hwpmc_unwind_index(&table, rows, 3, pages);
	memset(stack, 0, sizeof(stack));
	memset(pc, 0, sizeof(pc));
	w = (struct hwpmc_unwind_walk){
		.map = maps, .nmap = 3, .tables = &table, .sp = STACK, .first = true,
	};
}

/* A word of the stack. */
static void put(unsigned int at, u64 value)
{
	stack[at / 8] = value;
}

/* A frame of code without tables: its caller's frame pointer, and where it returns to. */
static void frame(unsigned int at, u64 next, u64 ret)
{
	put(at, next);
	put(at + 8, ret);
}

static unsigned int walk(unsigned int max)
{
	unsigned int n = unwind_walk_nmi(&w, pc, max, &end);

	return unwind_go_on_nmi(&w, pc, n, max, &end);
}

START_TEST(chain_of_generated_code_goes_on_by_tables_of_its_caller)
{
	w.ip = MADE + 0x10;
	w.bp = STACK + 0x20;
	frame(0x20, STACK + 0x40, MADE + 0x20);
	/* Its caller keeps another value in the register. */
	frame(0x40, 4711, FILE_CODE + 0x30);
	/* The frame of that is at 0x50, and is 16 bytes long. */
	put(0x58, FIRST + 8);
	ck_assert_uint_eq(walk(20), 5);
	ck_assert_uint_eq(end, HWPMC_CHAIN_COMPLETE);
	ck_assert_uint_eq(pc[0], MADE + 0x10);
	ck_assert_uint_eq(pc[1], HWPMC_PC_FP);
	ck_assert_uint_eq(pc[2], MADE + 0x20);
	ck_assert_uint_eq(pc[3], FILE_CODE + 0x30);
	ck_assert_uint_eq(pc[4], FIRST + 8);
}
END_TEST

START_TEST(chain_goes_twice_through_generated_code)
{
	w.ip = FILE_CODE;
	w.bp = STACK + 0x20;
	put(0x08, MADE + 0x10);
	frame(0x20, STACK + 0x60, FILE_CODE + 0x30);
	put(0x38, MADE + 0x18);
	frame(0x60, 0, FIRST + 4);
	ck_assert_uint_eq(walk(20), 7);
	ck_assert_uint_eq(end, HWPMC_CHAIN_COMPLETE);
	ck_assert_uint_eq(pc[1], MADE + 0x10);
	ck_assert_uint_eq(pc[2], HWPMC_PC_FP);
	ck_assert_uint_eq(pc[3], FILE_CODE + 0x30);
	ck_assert_uint_eq(pc[4], MADE + 0x18);
	ck_assert_uint_eq(pc[5], HWPMC_PC_FP);
	ck_assert_uint_eq(pc[6], FIRST + 4);
}
END_TEST

/* As goroutines have it: the first function's frame pointer is 0. */
START_TEST(chain_that_reaches_a_frame_pointer_of_0_is_complete)
{
	w.ip = MADE + 0x10;
	w.bp = STACK + 0x20;
	frame(0x20, STACK + 0x40, MADE + 0x20);
	frame(0x40, 0, MADE + 0x30);
	ck_assert_uint_eq(walk(20), 4);
	ck_assert_uint_eq(end, HWPMC_CHAIN_COMPLETE);
	ck_assert_uint_eq(pc[3], MADE + 0x30);
	/* Code without frame pointers may have 0 in the register. */
	setup();
	w.ip = MADE + 0x10;
	ck_assert_uint_eq(walk(20), 1);
	ck_assert_uint_eq(end, HWPMC_CHAIN_NO_TABLE);
}
END_TEST

/* A file whose table is not known is one that has none, unless all are to be known. */
START_TEST(chain_ends_in_a_file_whose_table_is_not_ready)
{
	for (int known = 0; known < 2; known++) {
		setup();
		w.all_known = known;
		w.ip = LATE + 0x10;
		w.bp = STACK + 0x20;
		frame(0x20, 0, MADE + 0x20);
		ck_assert_uint_eq(walk(20), known ? 1 : 3);
		ck_assert_uint_eq(end, known ? HWPMC_CHAIN_NOT_READY : HWPMC_CHAIN_COMPLETE);
		/* Reached by frame pointers: its address is stored. */
		setup();
		w.all_known = known;
		w.ip = MADE + 0x10;
		w.bp = STACK + 0x20;
		frame(0x20, STACK + 0x40, LATE + 0x20);
		frame(0x40, 0, MADE + 0x20);
		ck_assert_uint_eq(walk(20), known ? 3 : 4);
		ck_assert_uint_eq(end, known ? HWPMC_CHAIN_NOT_READY : HWPMC_CHAIN_COMPLETE);
		ck_assert_uint_eq(pc[2], LATE + 0x20);
	}
}
END_TEST

/* Generated code has none, and a file that is said to have none, too. */
START_TEST(chain_goes_on_in_code_that_is_known_to_have_no_table)
{
	w.all_known = true;
	w.ip = MADE + 0x10;
	w.bp = STACK + 0x20;
	frame(0x20, 0, MADE + 0x20);
	ck_assert_uint_eq(walk(20), 3);
	ck_assert_uint_eq(end, HWPMC_CHAIN_COMPLETE);
	setup();
	w.all_known = true;
	table = (struct hwpmc_unwind_table){ .nrow = 0 };
	w.ip = FILE_CODE;
	w.bp = STACK + 0x20;
	frame(0x20, 0, FILE_CODE + 0x20);
	ck_assert_uint_eq(walk(20), 3);
	ck_assert_uint_eq(end, HWPMC_CHAIN_COMPLETE);
}
END_TEST

START_TEST(frame_pointers_that_lead_to_no_code_end_the_chain)
{
	w.ip = NO_RULE + 0x10;
	w.bp = STACK + 0x20;
	frame(0x20, STACK + 0x40, MADE + 0x20);
	frame(0x40, STACK + 0x60, NO_CODE);
	ck_assert_uint_eq(walk(20), 3);
	ck_assert_uint_eq(end, HWPMC_CHAIN_NO_RULE);
	ck_assert_uint_eq(pc[2], MADE + 0x20);
	/* Nor do those that go back. */
	setup();
	w.ip = MADE + 0x10;
	w.bp = STACK + 0x20;
	frame(0x20, STACK + 0x20, MADE + 0x20);
	ck_assert_uint_eq(walk(20), 3);
	ck_assert_uint_eq(end, HWPMC_CHAIN_NO_TABLE);
}
END_TEST

START_TEST(chain_of_both_kinds_stays_within_its_limit)
{
	/* Each frame of generated code is called by a program, or by other such code. */
	for (unsigned int i = 2; i < 48; i++) {
		unsigned int max = i / 2;
		u64 ret = i & 1 ? MADE + 0x30 : FILE_CODE + 0x30;

		setup();
		w.ip = FILE_CODE;
		put(0x08, MADE + 0x10);
		w.bp = STACK + 0x10;
		for (unsigned int at = 0x10; at < sizeof(stack) - 0x20; at += 0x20) {
			frame(at, STACK + at + 0x20, ret);
			put(at + 0x18, MADE + 0x18);
		}
		memset(pc, 0xa5, sizeof(pc));
		ck_assert_uint_le(walk(max), max);
		ck_assert_uint_eq(pc[max], 0xa5a5a5a5a5a5a5a5);
	}
}
END_TEST

/* One entry is left, which no mark takes. */
START_TEST(chain_of_frame_pointers_at_its_limit_is_cut)
{
	w.ip = MADE + 0x10;
	w.bp = STACK + 0x20;
	for (unsigned int at = 0x20; at < sizeof(stack) - 0x20; at += 0x20)
		frame(at, STACK + at + 0x20, MADE + 0x20);
	ck_assert_uint_eq(walk(8), 7);
	ck_assert_uint_eq(end, HWPMC_CHAIN_DEPTH);
	ck_assert_uint_eq(pc[6], MADE + 0x20);
}
END_TEST

int main(void)
{
	harness_fixture(setup, NULL);
	harness_add(chain_of_generated_code_goes_on_by_tables_of_its_caller);
	harness_add(chain_goes_twice_through_generated_code);
	harness_add(chain_that_reaches_a_frame_pointer_of_0_is_complete);
	harness_add(chain_ends_in_a_file_whose_table_is_not_ready);
	harness_add(chain_goes_on_in_code_that_is_known_to_have_no_table);
	harness_add(frame_pointers_that_lead_to_no_code_end_the_chain);
	harness_add(chain_of_both_kinds_stays_within_its_limit);
	harness_add(chain_of_frame_pointers_at_its_limit_is_cut);
	return harness_run();
}
