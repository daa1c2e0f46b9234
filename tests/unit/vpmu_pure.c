// SPDX-License-Identifier: BSD-2-Clause
/*
 * vpmu_pure - the emulated PMU's pure parts: what instructions are, what
 * selectors select, counters of limited width, the table of address spaces.
 */
#include <stdbool.h>
#include <string.h>

#include "classify.h"
#include "event.h"
#include "harness.h"
#include "space.h"

#define MASK48	((1ULL << 48) - 1)

/* The bytes of one instruction, as a string. */
#define INSN(s)	classify((const uint8_t *)(s), sizeof(s) - 1)

START_TEST(emulated_instructions_are_sites_of_their_kind)
{
	ck_assert_int_eq(INSN("\x0f\xa2").kind, K_CPUID);
	ck_assert_int_eq(INSN("\x0f\x32").kind, K_RDMSR);
	ck_assert_int_eq(INSN("\x0f\x30").kind, K_WRMSR);
	ck_assert_int_eq(INSN("\x0f\x33").kind, K_RDPMC);
	ck_assert_uint_eq(INSN("\x0f\x33").flags, F_SITE);
	ck_assert_uint_eq(INSN("\x3e\x0f\x30").flags, F_SITE);
	ck_assert_int_eq(INSN("\x0f\x31").kind, K_RDTSC);
}
END_TEST

START_TEST(load_of_cr3_names_its_source_register)
{
	ck_assert_int_eq(INSN("\x0f\x22\xd8").kind, K_CR3);	/* rax */
	ck_assert_int_eq(INSN("\x0f\x22\xd8").reg, 0);
	ck_assert_int_eq(INSN("\x0f\x22\xdf").reg, 7);		/* rdi */
	ck_assert_int_eq(INSN("\x41\x0f\x22\xdc").reg, 12);	/* r12 */
	ck_assert_uint_eq(INSN("\x0f\x22\xe0").flags, 0);	/* cr4 */
	ck_assert_uint_eq(INSN("\x0f\x22\xc0").flags, 0);	/* cr0 */
	ck_assert_uint_eq(INSN("\x0f\x20\xd8").flags, 0);	/* from cr3 */
}
END_TEST

START_TEST(branches_of_every_form_are_branches)
{
	static const char *const branch[] = {
		"\x74\x05", "\xeb\xfe", "\xe9\x01\x01\x01\x01",
		"\xe8\x01\x01\x01\x01", "\xc3", "\xf3\xc3", "\xc2\x08\x01",
		"\x0f\x84\x01\x01\x01\x01", "\xff\xd0", "\xff\x25\x01\x01\x01\x01",
		"\xe2\xfe", "\x0f\x05", "\x48\x0f\x07", "\xcf", "\xcc", "\xcd\x80",
		"\x41\xff\xd3", "\xf2\xe9\x01\x01\x01\x01",
	};

	for (size_t i = 0; i < sizeof(branch) / sizeof(*branch); i++)
		ck_assert_msg(classify((const uint8_t *)branch[i],
				       strlen(branch[i])).flags & F_BRANCH,
			      "branch %zu", i);
	ck_assert_uint_eq(INSN("\xff\xf0").flags & F_BRANCH, 0); /* push */
	ck_assert_uint_eq(INSN("\xff\xc0").flags & F_BRANCH, 0); /* inc */
	ck_assert_uint_eq(INSN("\x90").flags & F_BRANCH, 0);
}
END_TEST

START_TEST(returns_are_told_from_other_branches)
{
	ck_assert_uint_eq(INSN("\xc3").flags, F_BRANCH | F_RETURN);
	ck_assert_uint_eq(INSN("\xf3\xc3").flags, F_BRANCH | F_RETURN);
	ck_assert_uint_eq(INSN("\xc2\x08\x00").flags, F_BRANCH | F_RETURN);
	ck_assert_uint_eq(INSN("\xcb").flags, F_BRANCH | F_RETURN);
	ck_assert_uint_eq(INSN("\xe8\x00\x00\x00\x00").flags, F_BRANCH);
	ck_assert_uint_eq(INSN("\xff\xd0").flags, F_BRANCH);
}
END_TEST

START_TEST(only_what_changes_privilege_is_a_switch)
{
	ck_assert(INSN("\x0f\x05").flags & F_SWITCH);
	ck_assert(INSN("\x48\x0f\x07").flags & F_SWITCH);
	ck_assert(INSN("\x48\xcf").flags & F_SWITCH);
	ck_assert(!(INSN("\xc3").flags & F_SWITCH));
	ck_assert(INSN("\x48\xcf").flags & F_IRET);
	ck_assert(!(INSN("\x48\x0f\x07").flags & F_IRET));
}
END_TEST

START_TEST(repeated_string_instructions_are_told_from_others)
{
	ck_assert_uint_eq(INSN("\xf3\xa4").flags, F_REP);
	ck_assert_uint_eq(INSN("\xf3\x48\xab").flags, F_REP);
	ck_assert_uint_eq(INSN("\xf2\xae").flags, F_REP);
	ck_assert_uint_eq(INSN("\xa4").flags, 0);
	ck_assert_uint_eq(INSN("\xf3\x0f\x1e\xfa").flags & F_REP, 0);
}
END_TEST

START_TEST(memory_operands_are_never_pure)
{
	ck_assert_uint_eq(INSN("\x89\xd8").flags, F_PURE);	/* register */
	ck_assert_uint_eq(INSN("\x89\x18").flags, 0);		/* memory */
	ck_assert_uint_eq(INSN("\x48\x01\xd8").flags, F_PURE);
	ck_assert_uint_eq(INSN("\x48\x03\x18").flags, 0);
	ck_assert_uint_eq(INSN("\x50").flags, 0);		/* push */
	ck_assert_uint_eq(INSN("\xf7\xf1").flags, 0);		/* div */
	ck_assert_uint_eq(INSN("\x0f\x0b").flags, 0);		/* ud2 */
	ck_assert_uint_eq(INSN("\x8d\x00").flags, F_PURE);	/* lea */
	ck_assert_uint_eq(INSN("\x0f\xb6\xc0").flags, F_PURE);
	ck_assert_uint_eq(INSN("\x0f\xb6\x00").flags, 0);
}
END_TEST

/* Under ASan: nothing is read beyond the bytes given. */
START_TEST(short_and_odd_encodings_are_read_within_bounds)
{
	uint8_t bytes[15] = { 0 };

	ck_assert_uint_eq(classify(bytes, 0).flags, 0);
	for (unsigned int first = 0; first < 256; first++)
		for (size_t len = 1; len <= sizeof(bytes); len++) {
			uint8_t exact[len];

			memset(exact, first, len);
			classify(exact, len);
		}
	memset(bytes, 0x66, sizeof(bytes));
	ck_assert_uint_eq(classify(bytes, sizeof(bytes)).flags, 0);
}
END_TEST

static void check_event(struct event ev, enum event_kind kind, uint32_t div)
{
	ck_assert_int_eq(ev.kind, kind);
	ck_assert_uint_eq(ev.div, div);
}

START_TEST(intel_selectors_select_their_events)
{
	check_event(event_decode_intel(0x5300c0), EV_INSN, 1);
	check_event(event_decode_intel(0x53003c), EV_INSN, 1);
	check_event(event_decode_intel(0x5300c4), EV_BRANCH, 1);
	check_event(event_decode_intel(0x5300c5), EV_BRANCH, 64);
	check_event(event_decode_intel(0x534f2e), EV_INSN, 128);
	check_event(event_decode_intel(0x53412e), EV_INSN, 1024);
	check_event(event_decode_intel(0x5381d0), EV_LOAD, 1);
	check_event(event_decode_intel(0x5382d0), EV_STORE, 1);
	check_event(event_decode_intel(0x5301c0), EV_INSN, 1);
	check_event(event_decode_intel(0x5302c0), EV_NONE, 1);
	check_event(event_decode_intel(0), EV_NONE, 1);
}
END_TEST

START_TEST(amd_selectors_have_twelve_event_bits)
{
	check_event(event_decode_amd(0x5300c0), EV_INSN, 1);
	check_event(event_decode_amd(0x530076), EV_INSN, 1);
	check_event(event_decode_amd(0x1ULL << 32 | 0x530020), EV_INSN, 1);
	check_event(event_decode_amd(0x530020), EV_NONE, 1);
	check_event(event_decode_amd(0x1ULL << 32 | 0x5300c0), EV_NONE, 1);
	check_event(event_decode_amd(0x5300c2), EV_BRANCH, 1);
	check_event(event_decode_amd(0x530129), EV_LOAD, 1);
	check_event(event_decode_amd(0x530229), EV_STORE, 1);
	check_event(event_decode_amd(0x530329), EV_NONE, 1);
}
END_TEST

static const struct totals some = {
	.insn = { [KERNEL] = 1000, [USER] = 70 },
	.branch = { [KERNEL] = 100, [USER] = 7 },
	.load = { [KERNEL] = 30, [USER] = 3 },
	.store = { [KERNEL] = 20, [USER] = 2 },
};

START_TEST(counts_are_of_the_modes_asked_for)
{
	struct event insn = { EV_INSN, 1 }, load = { EV_LOAD, 1 };
	struct event none = { EV_NONE, 1 };

	ck_assert_uint_eq(event_count(&insn, 1 << USER, &some), 70);
	ck_assert_uint_eq(event_count(&insn, 1 << KERNEL, &some), 1000);
	ck_assert_uint_eq(event_count(&insn, 3, &some), 1070);
	ck_assert_uint_eq(event_count(&insn, 0, &some), 0);
	ck_assert_uint_eq(event_count(&load, 3, &some), 33);
	ck_assert_uint_eq(event_count(&none, 3, &some), 0);
}
END_TEST

START_TEST(derived_events_are_fractions_rounded_down)
{
	struct event miss = { EV_BRANCH, 64 };

	ck_assert_uint_eq(event_count(&miss, 3, &some), 1);
	ck_assert_uint_eq(event_count(&miss, 1 << USER, &some), 0);
}
END_TEST

START_TEST(counter_wraps_at_its_width_and_says_so)
{
	uint64_t val = MASK48 - 1;

	ck_assert(!event_add(&val, 1, MASK48));
	ck_assert_uint_eq(val, MASK48);
	ck_assert(event_add(&val, 1, MASK48));
	ck_assert_uint_eq(val, 0);
	ck_assert(!event_add(&val, 0, MASK48));
	val = MASK48;
	ck_assert(event_add(&val, 10, MASK48));
	ck_assert_uint_eq(val, 9);
	val = 0xffffffff;
	ck_assert(event_add(&val, 1, 0xffffffff));
}
END_TEST

START_TEST(deadline_of_an_overflow_is_never_late)
{
	struct event insn = { EV_INSN, 1 }, miss = { EV_BRANCH, 64 };

	ck_assert_uint_eq(event_until_overflow(&insn, MASK48, MASK48), 1);
	ck_assert_uint_eq(event_until_overflow(&insn, MASK48 - 999, MASK48),
			  1000);
	/* 3 misses to go: after 2 * 64 branches and one, if its phase is so */
	ck_assert_uint_eq(event_until_overflow(&miss, MASK48 - 2, MASK48), 129);
}
END_TEST

START_TEST(totals_add_and_subtract_every_part)
{
	struct totals t = { 0 };

	totals_add(&t, &some);
	totals_add(&t, &some);
	ck_assert_uint_eq(t.insn[KERNEL], 2000);
	ck_assert_uint_eq(t.store[USER], 4);
	totals_sub(&t, &some);
	ck_assert_int_eq(memcmp(&t, &some, sizeof(t)), 0);
}
END_TEST

START_TEST(space_key_drops_pcid_flags_and_the_isolation_bit)
{
	ck_assert_uint_eq(space_key(0x12345000, false), 0x12345000);
	ck_assert_uint_eq(space_key(1ULL << 63 | 0x12345801, false), 0x12345000);
	ck_assert_uint_eq(space_key(0x12345000, true), 0x12344000);
	ck_assert_uint_eq(space_key(0x12344001, true), 0x12344000);
}
END_TEST

START_TEST(space_table_finds_what_it_was_given)
{
	struct space_table t = { 0 };
	struct space *first;

	ck_assert_ptr_null(space_find(&t, 0x1000));
	first = space_get(&t, 0x1000);
	first->done[0].insn[USER] = 42;
	for (uint64_t i = 2; i < 5000; i++)
		space_get(&t, i << 12)->done[0].insn[USER] = i;
	ck_assert_ptr_eq(space_get(&t, 0x1000), first);
	ck_assert_uint_eq(first->done[0].insn[USER], 42);
	for (uint64_t i = 2; i < 5000; i++)
		ck_assert_uint_eq(space_find(&t, i << 12)->done[0].insn[USER], i);
	ck_assert_ptr_null(space_find(&t, 5000ULL << 12));
	ck_assert_uint_eq(t.used, 4999);
	space_free(&t);
}
END_TEST

int main(void)
{
	harness_add(emulated_instructions_are_sites_of_their_kind);
	harness_add(load_of_cr3_names_its_source_register);
	harness_add(branches_of_every_form_are_branches);
	harness_add(returns_are_told_from_other_branches);
	harness_add(only_what_changes_privilege_is_a_switch);
	harness_add(repeated_string_instructions_are_told_from_others);
	harness_add(memory_operands_are_never_pure);
	harness_add(short_and_odd_encodings_are_read_within_bounds);
	harness_add(intel_selectors_select_their_events);
	harness_add(amd_selectors_have_twelve_event_bits);
	harness_add(counts_are_of_the_modes_asked_for);
	harness_add(derived_events_are_fractions_rounded_down);
	harness_add(counter_wraps_at_its_width_and_says_so);
	harness_add(deadline_of_an_overflow_is_never_late);
	harness_add(totals_add_and_subtract_every_part);
	harness_add(space_key_drops_pcid_flags_and_the_isolation_bit);
	harness_add(space_table_finds_what_it_was_given);
	return harness_run();
}
