/* SPDX-License-Identifier: BSD-2-Clause */
/* tools_symname.c - how names of functions are shortened and cut for a terminal. */
#include <string.h>

#include <libhwpmcstat.h>

#include "common/symname.h"
#include "harness.h"

static char buf[SYMNAME];

static void check_short(const char *name, const char *want)
{
	ck_assert_str_eq(hwpmc_shorten_name(name, buf, sizeof(buf)), want);
}

START_TEST(symname_long_template_arguments_are_left_out)
{
	check_short("std::vector<std::pair<int, char> >::push_back", "std::vector<...>::push_back");
	check_short("a<std::string, 1>::b<std::string, 2>::c", "a<...>::b<...>::c");
	check_short("f[abi:cxx11]<unsigned long long>", "f[abi:cxx11]<...>");
	check_short("Vec::<alloc::string::String>::push", "Vec::<...>::push");
	check_short("a<(1>2), more_arguments>::b", "a<...>::b");
	check_short("a<f(int)->unsigned long>::b", "a<...>::b");
	check_short("h<t<&n::operator<<>, other>::i", "h<...>::i");
	check_short("\xce\xbb<std::string, int>", "\xce\xbb<...>");
}
END_TEST

START_TEST(symname_short_arguments_and_plain_names_stay)
{
	static const char *const same[] = {
		"main", "", "shapes::box<int>::area", "shapes::box<12345678>::area",
		"a::operator<", "a::operator<<", "a::operator<=>", "operator->", "operator>>=",
		"a<unfinished_arguments", "a > b", "<", ">", "<>",
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(*same); i++)
		check_short(same[i], same[i]);
	check_short("shapes::box<123456789>::area", "shapes::box<...>::area");
}
END_TEST

START_TEST(symname_operators_and_types_of_rust_are_no_arguments)
{
	check_short("n::operator<< <std::string, int>", "n::operator<< <...>");
	check_short("n::operator()<std::string, int>", "n::operator()<...>");
	check_short("my_operator<std::string, int>", "my_operator<...>");
	check_short("<alloc::vec::Vec<alloc::string::String> as core::Drop>::drop",
		    "<alloc::vec::Vec<...> as core::Drop>::drop");
	check_short("core::ptr::<impl *const u8>::add", "core::ptr::<impl *const u8>::add");
	check_short("main::<lambda(int, int)>::operator()",
		    "main::<lambda(int, int)>::operator()");
}
END_TEST

START_TEST(symname_without_room_in_the_buffer_is_whole)
{
	static const char name[] = "std::vector<std::pair<int, char> >::push_back";
	char small[27], enough[28];

	ck_assert_ptr_eq(hwpmc_shorten_name(name, small, sizeof(small)), name);
	ck_assert_str_eq(hwpmc_shorten_name(name, enough, sizeof(enough)),
			 "std::vector<...>::push_back");
	ck_assert_ptr_eq(hwpmc_shorten_name(name, small, 0), name);
}
END_TEST

START_TEST(symname_is_cut_in_the_middle)
{
	ck_assert_str_eq(symname_cut(buf, "0123456789abcdef", 16), "0123456789abcdef");
	ck_assert_str_eq(symname_cut(buf, "0123456789abcdef", 15), "012345...abcdef");
	ck_assert_str_eq(symname_cut(buf, "0123456789abcdef", 8), "01...def");
	ck_assert_str_eq(symname_cut(buf, "0123456789abcdef", 0), "0123456789abcdef");
	/* Characters are counted, not bytes, and none is cut. */
	ck_assert_str_eq(symname_cut(buf, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 8),
			 "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9");
	ck_assert_str_eq(symname_cut(buf, "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
				     "abcdef", 8), "\xc3\xa9\xc3\xa9...def");
	ck_assert_str_eq(symname_show(buf, "a<std::string, 1>::b<std::string, 2>::cdefghij", 20),
			 "a<...>::...:cdefghij");
}
END_TEST

START_TEST(symname_is_found_in_each_form)
{
	const struct hwpmc_symbol s = {
		.name = "a<std::string, 1>::b", .raw = "_ZN1aI3bcdE1bEv",
	};

	ck_assert_int_eq(hwpmc_symbol_is(&s, s.name), 1);
	ck_assert_int_eq(hwpmc_symbol_is(&s, s.raw), 1);
	ck_assert_int_eq(hwpmc_symbol_is(&s, "a<...>::b"), 1);
	ck_assert_int_eq(hwpmc_symbol_is(&s, "a<...>::c"), 0);
	ck_assert_int_eq(hwpmc_symbol_is(&s, "a"), 0);
}
END_TEST

START_TEST(symname_room_is_what_others_leave)
{
	ck_assert_uint_eq(symname_room(80, 30), 50);
	ck_assert_uint_eq(symname_room(80, 70), SYMNAME_LEAST);
	ck_assert_uint_eq(symname_room(80, 900), SYMNAME_LEAST);
	ck_assert_uint_eq(symname_room(0, 30), 0);
}
END_TEST

START_TEST(symname_column_is_cut_and_filled_by_characters)
{
	ck_assert_str_eq(symname_column(buf, sizeof(buf), "\xc3\xa9\xe2\x82\xac", 4, true),
			 "\xc3\xa9\xe2\x82\xac  ");
	ck_assert_str_eq(symname_column(buf, sizeof(buf), "a\xc3\xa9\xe2\x82\xac", 2, true),
			 "a\xc3\xa9");
	ck_assert_str_eq(symname_column(buf, sizeof(buf), "abc", 2, false), "abc");
	ck_assert_str_eq(symname_column(buf, sizeof(buf), "", 2, true), "  ");
}
END_TEST

int main(void)
{
	harness_add(symname_long_template_arguments_are_left_out);
	harness_add(symname_short_arguments_and_plain_names_stay);
	harness_add(symname_operators_and_types_of_rust_are_no_arguments);
	harness_add(symname_without_room_in_the_buffer_is_whole);
	harness_add(symname_is_cut_in_the_middle);
	harness_add(symname_is_found_in_each_form);
	harness_add(symname_room_is_what_others_leave);
	harness_add(symname_column_is_cut_and_filled_by_characters);
	return harness_run();
}
