/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind.c - the module's walk by unwind tables: any rows, mappings, stack and registers.
 * What unwind_walk.h promises of it: bounded reads, addresses of code alone, an end with a
 * reason; the index by page finds what a search of all rows finds; and what is remembered
 * between walks changes no chain.
 */
#include "fuzz.h"

#include "sampling/unwind_table.h"

#define WORDS	64
#define ROWS	96
#define MAPS	6
#define DEPTH	32
#define STACK	0x7ff000000000ull
#define CODE	0x400000ull

struct input {
	const uint8_t *at, *end;
};

static uint64_t take(struct input *in, unsigned int bytes)
{
	uint64_t v = 0;

	for (unsigned int i = 0; i < bytes; i++)
		if (in->at < in->end)
			v |= (uint64_t)*in->at++ << 8 * i;
	return v;
}

/* Addresses of code and of the stack, and others. */
static uint64_t take_word(struct input *in)
{
	switch (take(in, 1) & 3) {
	case 0:
		return CODE + take(in, 2);
	case 1:
		return STACK + take(in, 1) * 4;
	case 2:
		return take(in, 1);
	default:
		return take(in, 8);
	}
}

static u64 stack[WORDS];
static unsigned int reads;

static inline bool unwind_read_nmi(u64 at, u64 *value)
{
	reads++;
	if (at < STACK || at > STACK + sizeof(stack) - 8)
		return false;
	memcpy(value, (char *)stack + (at - STACK), 8);
	return true;
}

static inline u64 unwind_reg_nmi(const void *regs, unsigned int nr)
{
	need(nr < 16, "a register that there is not");
	return ((const u64 *)regs)[nr];
}

struct tables {
	struct hwpmc_unwind_table table[2];
	bool has[2];
};

static inline const struct hwpmc_unwind_table *
unwind_table_nmi(const void *tables, const struct hwpmc_unwind_map *map)
{
	const struct tables *t = tables;

	return map->file.inode < 2 && t->has[map->file.inode] ?
		&t->table[map->file.inode] : NULL;
}

#include "sampling/unwind_walk.h"

/* Rows as a program adds them; those behind the first that is refused are left out. */
static void take_table(struct input *in, struct tables *t, unsigned int nr)
{
	u32 n = 1 + take(in, 1) % ROWS, at = take(in, 2), valid;
	struct hwpmc_unwind_row *row = calloc(n, sizeof(*row));
	u32 *page;

	for (u32 i = 0; i < n; i++) {
		row[i] = (struct hwpmc_unwind_row){ at, take(in, 4) };
		at += take(in, 1) << (take(in, 1) & 1 ? 6 : 0);
	}
	valid = hwpmc_unwind_check(row, n);
	need(valid <= n, "more rows than there are");
	t->has[nr] = valid;
	if (!valid) {
		free(row);
		return;
	}
	/* Exactly as large as needed: what is read behind them is seen. */
	row = realloc(row, valid * sizeof(*row));
	page = malloc(hwpmc_unwind_pages(row, valid) * sizeof(*page));
	hwpmc_unwind_index(&t->table[nr], row, valid, page);
}

static void free_table(struct tables *t, unsigned int nr)
{
	if (!t->has[nr])
		return;
	free((void *)t->table[nr].row);
	free((void *)t->table[nr].page);
}

static void check_search(const struct hwpmc_unwind_table *t, u64 at)
{
	u32 rule = HWPMC_UNWIND_NONE;

	for (u32 i = 0; i < t->nrow && at >> 32 == 0; i++)
		if (t->row[i].at <= at)
			rule = t->row[i].rule;
	need(unwind_find_rule_nmi(t, at) == rule, "another rule than the row's");
}

static unsigned int take_maps(struct input *in, struct hwpmc_unwind_map *map)
{
	unsigned int n = take(in, 1) % (MAPS + 1);
	u64 at = CODE;

	for (unsigned int i = 0; i < n; i++) {
		map[i] = (struct hwpmc_unwind_map){ .start = at + take(in, 2) };
		/* Empty ones are those that were removed. */
		map[i].end = at = map[i].start + take(in, 2);
		map[i].shift = map[i].start - (take(in, 1) << 8);
		map[i].file.inode = take(in, 1) & 3;
	}
	return n;
}

static bool is_code(const struct hwpmc_unwind_walk *w, u64 at)
{
	for (unsigned int i = 0; i < w->nmap; i++)
		if (at >= w->map[i].start && at < w->map[i].end)
			return true;
	return false;
}

static unsigned int walk(struct hwpmc_unwind_walk w, u64 *pc, unsigned int max,
			 unsigned int *end)
{
	unsigned int n;

	reads = 0;
	*end = UNWIND_GOES_ON;
	n = unwind_walk_nmi(&w, pc, max, end);
	need(n >= 1 && n <= max, "more frames than there is room for");
	need(*end < HWPMC_CHAIN__COUNT, "a chain without an end");
	need(reads <= 4 * n + 2, "more than four reads of a frame");
	/* An interrupted address is in code, a return address is behind code. */
	for (unsigned int i = 1; i < n; i++)
		need(is_code(&w, pc[i]) || is_code(&w, pc[i] - 1), "an address outside code");
	return n;
}

static void walk_both(const struct hwpmc_unwind_walk *w, const struct hwpmc_unwind_walk *with,
		      unsigned int max)
{
	u64 pc[DEPTH], again[DEPTH];
	unsigned int n, m, end, other;

	n = walk(*w, pc, max, &end);
	m = walk(*with, again, max, &other);
	need(m == n && end == other && !memcmp(pc, again, n * sizeof(*pc)),
	     "another chain by what is remembered");
}

/* The same stack, stacks of which a word is another, and frames of a function more. */
static void walk_all(const struct hwpmc_unwind_walk *w, unsigned int max, struct input *in)
{
	static struct hwpmc_unwind_memo memo[UNWIND_MEMO_SIZE];
	static struct hwpmc_unwind_past past;
	struct hwpmc_unwind_walk now = *w, with = *w;

	memset(memo, 0, sizeof(memo));
	past.tag = 0;
	with.memo = memo;
	with.past = &past;
	with.tag = 1;
	walk_both(w, &with, max);
	walk_both(w, &with, max);
	for (unsigned int i = 0; i < 8 && in->at < in->end; i++) {
		stack[take(in, 1) % WORDS] = take_word(in);
		if (take(in, 1) & 1)
			with.ip = now.ip = take_word(in);
		if (take(in, 1) & 1)
			with.sp = now.sp = take_word(in);
		walk_both(&now, &with, max);
		walk_both(&now, &with, max);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	struct hwpmc_unwind_map map[MAPS];
	struct hwpmc_unwind_walk w;
	struct tables t = {};
	u64 regs[16];

	for (unsigned int i = 0; i < 16; i++)
		regs[i] = take_word(&in);
	w = (struct hwpmc_unwind_walk){
		.ip = take_word(&in), .sp = take_word(&in), .bp = take_word(&in),
		.first = true, .regs = regs, .map = map, .tables = &t,
	};
	w.nmap = take_maps(&in, map);
	take_table(&in, &t, 0);
	take_table(&in, &t, 1);
	for (unsigned int i = 0; i < WORDS; i++)
		stack[i] = take_word(&in);
	walk_all(&w, 1 + take(&in, 1) % DEPTH, &in);
	for (unsigned int i = 0; i < 2; i++) {
		for (unsigned int j = 0; t.has[i] && j < 32; j++)
			check_search(&t.table[i], j & 1 ? take_word(&in) : take(&in, 2));
		free_table(&t, i);
	}
	return 0;
}
