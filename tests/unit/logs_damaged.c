/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * logs_damaged.c - logs that are cut, flipped and mutated, through all that reads
 * logs: the parser, FreeBSD's reader, profiles (hwpmc report) and the lookup of each
 * sample (hwpmc dump). Under ASan and UBSan; what does not end, the time limit ends.
 */
#include <stdlib.h>
#include <string.h>

#include "../fuzz/log_exercise.h"
#include "harness.h"
#include "loggen.h"

static struct loggen log_;

static void setup(void)
{
	loggen_every_type(&log_);
}

static void teardown(void)
{
	loggen_free(&log_);
}

static const struct hwpmc_log_hdr *header(size_t at)
{
	return (const struct hwpmc_log_hdr *)(log_.bytes + at);
}

START_TEST(every_reader_agrees_on_a_log_with_every_record)
{
	for (size_t piece = 1; piece <= 64; piece++) {
		struct log_outcome o = log_exercise(log_.bytes, log_.len, piece);

		ck_assert_str_eq(o.error, "");
		ck_assert_uint_eq(o.records, log_.n);
		ck_assert_uint_eq(o.samples, 2);
	}
}
END_TEST

static void cut_at_any_byte(void)
{
	size_t whole = 0;

	for (size_t len = 0; len <= log_.len; len++) {
		struct log_outcome o = log_exercise(log_.bytes, len, 1 + len % 64);

		if (len && len == whole + header(whole)->len)
			whole = len;
		if (len && len == whole) {
			ck_assert_str_eq(o.error, "");
			continue;
		}
		ck_assert_uint_eq(o.error_offset, whole);
		ck_assert(strstr(o.error, "ends within") || !len);
	}
}

START_TEST(every_reader_bears_a_log_that_is_cut_at_any_byte)
{
	cut_at_any_byte();
}
END_TEST

static void flip_bits_of_headers(void)
{
	unsigned int refused = 0, n = 0;

	for (size_t at = 0; at < log_.len; at += header(at)->len)
		for (unsigned int bit = 0; bit < 128; bit++, n++) {
			struct log_outcome o;

			log_.bytes[at + bit / 8] ^= 1 << bit % 8;
			o = log_exercise(log_.bytes, log_.len, 1 + n % 64);
			log_.bytes[at + bit / 8] ^= 1 << bit % 8;
			ck_assert(!o.error[0] || o.error_offset >= at);
			refused += o.error[0] != '\0';
		}
	/* Of the bits of its length few make a length that another record has. */
	ck_assert_uint_gt(refused, log_.n * 13);
}

START_TEST(every_reader_bears_each_flipped_bit_of_each_header)
{
	flip_bits_of_headers();
}
END_TEST

/* Each number of 4 and of 8 bytes that a record begins with behind its header. */
static void put_extremes_in_fields(void)
{
	static const uint64_t extremes[] = {
		0, 1, ~0ull, 1ull << 31, 1ull << 63, (1ull << 31) - 1, 0xffffffff,
		HWPMC_PC_USER,
	};
	uint8_t saved[8];
	size_t next;

	for (size_t at = 0; at < log_.len; at = next) {
		next = at + header(at)->len;
		for (size_t field = at + 4; field < next; field += 4) {
			size_t size = next - field < 8 ? next - field : 8;

			memcpy(saved, log_.bytes + field, size);
			for (unsigned int i = 0; i < 8; i++) {
				memcpy(log_.bytes + field, &extremes[i],
				       i & 1 ? 4 : size);
				log_exercise(log_.bytes, log_.len, 64);
				memcpy(log_.bytes + field, saved, size);
			}
		}
	}
}

START_TEST(every_reader_bears_extreme_numbers_in_each_field)
{
	put_extremes_in_fields();
}
END_TEST

static uint32_t random_state;

static uint32_t any(uint32_t n)
{
	random_state = random_state * 1664525 + 1013904223;
	return (random_state >> 8) % n;
}

/* Bytes changed, records doubled, moved and left out, the end cut. */
static void mutate(struct loggen *bad)
{
	for (uint32_t n = 1 + any(8); n; n--)
		bad->bytes[any(bad->len)] = any(3) ? any(256) : any(2) * 255;
	if (!any(4)) {
		size_t at = any(bad->len) & ~7ul, len = any(200) & ~7ul;

		if (at + len < bad->len) {
			memmove(bad->bytes + at, bad->bytes + at + len,
				bad->len - at - len);
			bad->len -= len;
		}
	}
	if (!any(4))
		bad->len = any(bad->len + 1);
}

static void exercise_mutations(uint32_t seed, unsigned int n)
{
	struct loggen bad = { .bytes = malloc(log_.len) };

	random_state = seed;
	for (unsigned int i = 0; i < n; i++) {
		memcpy(bad.bytes, log_.bytes, log_.len);
		bad.len = log_.len;
		mutate(&bad);
		log_exercise(bad.bytes, bad.len, 1 + any(64));
	}
	free(bad.bytes);
}

START_TEST(every_reader_bears_ten_thousand_mutations)
{
	exercise_mutations(20261121, 10000);
}
END_TEST

START_TEST(every_reader_bears_damage_of_a_log_with_periods)
{
	struct log_outcome o;

	loggen_free(&log_);
	loggen_frequency(&log_);
	for (size_t piece = 1; piece <= 64; piece++) {
		o = log_exercise(log_.bytes, log_.len, piece);
		ck_assert_str_eq(o.error, "");
		ck_assert_uint_eq(o.records, log_.n);
		ck_assert_uint_eq(o.samples, 6);
	}
	cut_at_any_byte();
	flip_bits_of_headers();
	put_extremes_in_fields();
	exercise_mutations(20261125, 3000);
}
END_TEST

START_TEST(every_reader_bears_damage_of_a_log_with_precise_records)
{
	struct log_outcome o;

	loggen_free(&log_);
	loggen_exact(&log_);
	for (size_t piece = 1; piece <= 64; piece++) {
		o = log_exercise(log_.bytes, log_.len, piece);
		ck_assert_str_eq(o.error, "");
		ck_assert_uint_eq(o.records, log_.n);
		ck_assert_uint_eq(o.samples, 6);
	}
	cut_at_any_byte();
	flip_bits_of_headers();
	put_extremes_in_fields();
	exercise_mutations(20261128, 3000);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add_timed(every_reader_agrees_on_a_log_with_every_record, 30);
	harness_add_timed(every_reader_bears_a_log_that_is_cut_at_any_byte, 60);
	harness_add_timed(every_reader_bears_each_flipped_bit_of_each_header,
			  60);
	harness_add_timed(every_reader_bears_extreme_numbers_in_each_field, 120);
	harness_add_timed(every_reader_bears_ten_thousand_mutations, 120);
	harness_add_timed(every_reader_bears_damage_of_a_log_with_periods, 240);
	harness_add_timed(every_reader_bears_damage_of_a_log_with_precise_records, 240);
	return harness_run();
}
