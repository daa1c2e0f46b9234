/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_table.c - the hash table of libhwpmcstat: that it finds what was put while it
 * grows, and that keys cannot be chosen so that their hashes are equal. Under ASan and
 * UBSan.
 */
#include <string.h>

#include "harness.h"
#include "table.h"

#define TOP	(1ull << 63)

static bool same_number(const void *items, uint32_t i, const void *key)
{
	return ((const uint64_t *)items)[i] == *(const uint64_t *)key;
}

START_TEST(a_table_finds_each_item_and_no_other)
{
	static uint64_t item[5000];
	struct table t = { NULL, 0, 0 };

	table_init();
	for (uint32_t i = 0; i < 5000; i++) {
		item[i] = i * 7;
		ck_assert(table_room(&t));
		table_put(&t, table_hash(item[i]));
	}
	for (uint64_t x = 0; x < 35000; x++)
		ck_assert_uint_eq(table_find(&t, table_hash(x), same_number, item, &x),
				  x % 7 ? TABLE_NONE : x / 7);
	table_clear(&t);
	ck_assert_uint_eq(table_find(&t, table_hash(0), same_number, item, item),
			  TABLE_NONE);
	table_free(&t);
}
END_TEST

/* In a product of 64 bits: the next word takes the difference back. */
static const uint64_t flips[] = { TOP, TOP | TOP >> 29, TOP | TOP >> 32 };

START_TEST(no_second_word_takes_back_what_the_top_bit_of_the_first_changed)
{
	uint64_t a[2] = { 0x1111, 0x2222 }, b[2];

	table_init();
	for (unsigned int i = 0; i < 3; i++) {
		b[0] = a[0] ^ TOP;
		b[1] = a[1] ^ flips[i];
		ck_assert_uint_ne(table_hash_bytes(a, sizeof(a)),
				  table_hash_bytes(b, sizeof(b)));
		ck_assert_uint_ne(table_mix(table_hash(a[0]), a[1]),
				  table_mix(table_hash(b[0]), b[1]));
	}
}
END_TEST

/* A quarter of the slots at least: of random numbers it is 0.63 of them. */
START_TEST(keys_that_follow_each_other_have_slots_of_their_own)
{
	static bool taken[4096];

	table_init();
	for (unsigned int shift = 0; shift < 52; shift++) {
		uint32_t n = 0;

		memset(taken, 0, sizeof(taken));
		for (uint64_t x = 0; x < 4096; x++) {
			uint32_t at = table_fold(table_hash(x << shift)) % 4096;

			n += !taken[at];
			taken[at] = true;
		}
		ck_assert_uint_gt(n, 1024);
	}
}
END_TEST

START_TEST(bytes_behind_the_last_whole_word_count)
{
	table_init();
	ck_assert_uint_ne(table_hash_text("12345678a"), table_hash_text("12345678b"));
	ck_assert_uint_ne(table_hash_text("12345678"), table_hash_text("1234567"));
	ck_assert_uint_ne(table_hash_bytes("a\0", 1), table_hash_bytes("a\0", 2));
}
END_TEST

int main(void)
{
	harness_add(a_table_finds_each_item_and_no_other);
	harness_add(no_second_word_takes_back_what_the_top_bit_of_the_first_changed);
	harness_add(keys_that_follow_each_other_have_slots_of_their_own);
	harness_add(bytes_behind_the_last_whole_word_count);
	return harness_run();
}
