/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_stacks.c - the frames of stacks: which lie in the place of their addresses, and which are
 * remembered for the next stack. Under ASan and UBSan.
 */
#include "stat_log.h"

static struct log log_;
static struct hwpmc_profile *p;
static struct hwpmc_profile_options options;

static void setup(void)
{
	options = log_options();
	options.symbols.no_symbols = true;
	log_begin(&log_);
}

static void teardown(void)
{
	hwpmc_profile_free(p);
	log_free(&log_);
}

/* Plain chains, one across the kernel, and one with a mark of frame pointers. */
static void feed_chains(struct hwpmc_parser *parser)
{
	uint64_t user[] = { 0x1000, 0x2000, 0x3000 };
	uint64_t kernel[] = { 0xffffffff81000000, 0xffffffff81000010 };
	uint64_t split[] = { 0xffffffff81000000, HWPMC_PC_USER, 0x1000, 0x2000 };
	uint64_t mark[] = { 0x1000, HWPMC_PC_FP, 0x2000 };
	struct hwpmc_record r;

	log_context(&log_, 42, 42);
	log_stack(&log_, HWPMC_SAMPLE_USER, 3, user);
	log_stack(&log_, HWPMC_SAMPLE_USER, 1, user);
	log_stack(&log_, 0, 2, kernel);
	log_stack(&log_, HWPMC_SAMPLE_SPLIT, 4, split);
	log_stack(&log_, HWPMC_SAMPLE_USER | HWPMC_SAMPLE_TABLES, 3, mark);
	hwpmc_parser_feed(parser, log_.bytes, log_.len);
	while (hwpmc_parser_next(parser, &r) == HWPMC_PARSE_RECORD)
		hwpmc_profile_feed(p, &r);
	log_.len = 0;
}

START_TEST(chains_are_the_same_after_each_resolve)
{
	static const uint64_t pc[5][3] = {
		{ 0x1000, 0x2000, 0x3000 }, { 0x1000 },
		{ 0xffffffff81000000, 0xffffffff81000010 },
		{ 0xffffffff81000000, 0x1000, 0x2000 }, { 0x1000, 0x2000 },
	};
	static const uint32_t nframe[] = { 3, 1, 2, 3, 2 };
	struct hwpmc_parser *parser = hwpmc_parser_new();
	const struct hwpmc_stack *s;
	uint32_t n;

	p = hwpmc_profile_new(&options);
	for (uint32_t round = 1; round < 5; round++) {
		feed_chains(parser);
		ck_assert_int_eq(hwpmc_profile_resolve(p), 0);
		s = hwpmc_profile_stacks(p, &n);
		ck_assert_uint_eq(n, 5);
		for (uint32_t i = 0; i < n; i++) {
			ck_assert_uint_eq(s[i].count, round);
			ck_assert_uint_eq(s[i].nframe, nframe[i]);
			for (uint32_t j = 0; j < nframe[i]; j++)
				ck_assert_uint_eq(s[i].frame[j]->pc, pc[i][j]);
		}
	}
	hwpmc_parser_free(parser);
}
END_TEST

/* The same address of two processes, of two programs of one, and as a place and a caller. */
START_TEST(an_address_that_comes_again_is_that_of_its_process_and_program)
{
	static const char *const images[] = { "one", "two", "three", "one" };
	uint64_t twice[] = { 0x10400, 0x10400 };
	const struct hwpmc_stack *s;
	uint32_t n;

	log_exec(&log_, 50, "/bin/one", "one");
	log_map(&log_, 50, 0x10000, 0x10000, 0, "/bin/one");
	log_exec(&log_, 51, "/bin/two", "two");
	log_map(&log_, 51, 0x10000, 0x10000, 0, "/bin/two");
	log_context(&log_, 50, 50);
	log_user(&log_, 0x10400);
	log_context(&log_, 51, 51);
	log_user(&log_, 0x10400);
	log_map(&log_, 51, 0x10000, 0x10000, 0, "/lib/three");
	log_user(&log_, 0x10400);
	log_context(&log_, 50, 50);
	log_stack(&log_, HWPMC_SAMPLE_USER, 2, twice);
	p = log_profile(&log_, &options);
	s = hwpmc_profile_stacks(p, &n);
	ck_assert_uint_eq(n, 4);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_str_eq(s[i].frame[0]->image->name, images[i]);
	ck_assert_int_eq(s[3].frame[0]->caller, 0);
	ck_assert_int_eq(s[3].frame[1]->caller, 1);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(chains_are_the_same_after_each_resolve);
	harness_add(an_address_that_comes_again_is_that_of_its_process_and_program);
	return harness_run();
}
