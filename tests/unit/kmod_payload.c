/* SPDX-License-Identifier: BSD-2-Clause */
/* kmod_payload.c - which parts of a payload an owner gets, and the PRECISE record of them. */
#include <string.h>

#include "harness.h"
#include "sampling/payload.h"

#define USER_PC		0x401000ull
#define KERNEL_PC	0xffffffff81000000ull
#define BIT_OF(n)	(1ull << (n))

static struct hwpmc_payload p;
static uint64_t room[64];
static struct hwpmc_log_precise *const record = (void *)room;

static void setup(void)
{
	memset(&p, 0, sizeof(p));
	memset(room, 0xa5, sizeof(room));
	p.kind = HWPMC_PRECISE_TEST;
}

static void put(uint32_t flags, bool privileged)
{
	hwpmc_payload_put(record, &p, 7, hwpmc_payload_bytes(&p, flags, privileged), privileged,
			  4711);
}

START_TEST(payload_is_filtered_by_the_mode_of_its_exact_address)
{
	static const struct {
		uint32_t caps;
		bool user, kernel;	/* kept */
	} modes[] = {
		{ 0, true, true },
		{ HWPMC_CAP_USER | HWPMC_CAP_SYSTEM, true, true },
		{ HWPMC_CAP_USER | HWPMC_CAP_PRECISE, true, false },
		{ HWPMC_CAP_SYSTEM | HWPMC_CAP_EDGE, false, true },
	};

	for (unsigned int i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		/* The mode of the interrupt is the other one. */
		p.exact = true;
		p.pc = USER_PC;
		ck_assert(hwpmc_payload_is_filtered(&p, modes[i].caps, false) == !modes[i].user);
		p.pc = 0x8000000000000000ull;
		ck_assert(hwpmc_payload_is_filtered(&p, modes[i].caps, true) == !modes[i].kernel);
		/* Without an exact address it decides. */
		p.exact = false;
		ck_assert(hwpmc_payload_is_filtered(&p, modes[i].caps, true) == !modes[i].user);
		p.pc = USER_PC;
		ck_assert(hwpmc_payload_is_filtered(&p, modes[i].caps, false) == !modes[i].kernel);
		p.useless = true;
		ck_assert(hwpmc_payload_is_filtered(&p, modes[i].caps, modes[i].user));
		p.useless = false;
	}
}
END_TEST

START_TEST(payload_of_others_has_no_physical_and_no_kernel_address)
{
	p.present = 0xff;
	p.virtual = BIT_OF(1) | BIT_OF(2) | BIT_OF(8);
	p.physical = BIT_OF(3) | BIT_OF(4);
	for (unsigned int i = 0; i < HWPMC_PAYLOAD_WORDS; i++)
		p.word[i] = ~0ull;	/* of no address: not an address of the kernel */
	p.word[1] = USER_PC;
	p.word[2] = KERNEL_PC;
	p.word[3] = 0;
	hwpmc_payload_restrict(&p);
	ck_assert_uint_eq(p.present, 0xff & ~(BIT_OF(2) | BIT_OF(3) | BIT_OF(4)));
}
END_TEST

START_TEST(payload_without_words_needs_a_record_only_for_a_mark)
{
	const size_t bytes = sizeof(*record);

	p.pc = USER_PC;
	p.exact = true;
	ck_assert_uint_eq(hwpmc_payload_bytes(&p, HWPMC_F_EXACT, false), 0);
	ck_assert_uint_eq(hwpmc_payload_bytes(&p, 0, false), bytes);
	p.exact = false;
	ck_assert_uint_eq(hwpmc_payload_bytes(&p, HWPMC_F_EXACT, false), bytes);
	ck_assert_uint_eq(hwpmc_payload_bytes(&p, HWPMC_F_MEMORY, false), 0);
	/* A hidden address is never exact: there is nothing to say. */
	p.pc = KERNEL_PC;
	p.exact = true;
	ck_assert_uint_eq(hwpmc_payload_bytes(&p, 0, false), 0);
	ck_assert_uint_eq(hwpmc_payload_bytes(&p, HWPMC_F_EXACT, false), 0);
	ck_assert_uint_eq(hwpmc_payload_bytes(&p, 0, true), bytes);
	p.present = BIT_OF(31) | BIT_OF(0);
	ck_assert_uint_eq(hwpmc_payload_bytes(&p, HWPMC_F_EXACT, true), bytes + 16);
}
END_TEST

START_TEST(payload_record_has_its_words_in_order)
{
	p.pc = USER_PC;
	p.exact = true;
	p.present = BIT_OF(31) | BIT_OF(5) | BIT_OF(0);
	p.word[0] = 10;
	p.word[5] = 50;
	p.word[31] = 310;
	put(0, false);
	ck_assert_uint_eq(record->hdr.len, sizeof(*record) + 3 * 8);
	ck_assert_uint_eq(record->hdr.type, HWPMC_LOG_PRECISE);
	ck_assert_uint_eq(record->hdr.flags, HWPMC_PRECISE_TEST);
	ck_assert_uint_eq(record->hdr.id, 7);
	ck_assert_uint_eq(record->hdr.time, 4711);
	ck_assert_uint_eq(record->present, HWPMC_PRECISE_EXACT | p.present);
	ck_assert_uint_eq(room[3], 10);
	ck_assert_uint_eq(room[4], 50);
	ck_assert_uint_eq(room[5], 310);
	ck_assert_uint_eq(room[6], 0xa5a5a5a5a5a5a5a5ull);
}
END_TEST

START_TEST(payload_with_a_hidden_address_is_not_marked_as_exact)
{
	p.pc = KERNEL_PC;
	p.exact = true;
	p.present = BIT_OF(0);
	put(HWPMC_F_EXACT, false);
	ck_assert_uint_eq(record->present, BIT_OF(0));
	put(HWPMC_F_EXACT, true);
	ck_assert_uint_eq(record->present, HWPMC_PRECISE_EXACT | BIT_OF(0));
}
END_TEST

int main(void)
{
	harness_fixture(setup, NULL);
	harness_add(payload_is_filtered_by_the_mode_of_its_exact_address);
	harness_add(payload_of_others_has_no_physical_and_no_kernel_address);
	harness_add(payload_without_words_needs_a_record_only_for_a_mark);
	harness_add(payload_record_has_its_words_in_order);
	harness_add(payload_with_a_hidden_address_is_not_marked_as_exact);
	return harness_run();
}
