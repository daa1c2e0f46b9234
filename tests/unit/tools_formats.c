/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_formats.c - the pure parts of the tools: numbers and strings as text,
 * JSON and CSV; lists of CPUs and of events; derived figures. On the host,
 * under ASan and UBSan.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"
#include "common/evlist.h"
#include "common/fmt.h"
#include "stat/stat.h"
#include "harness.h"

static const char *grouped(uint64_t n, const char *sep)
{
	static char buf[FMT_NUMBER];

	return fmt_group(buf, n, sep);
}

START_TEST(digits_are_grouped_in_threes)
{
	ck_assert_str_eq(grouped(0, ","), "0");
	ck_assert_str_eq(grouped(999, ","), "999");
	ck_assert_str_eq(grouped(1000, ","), "1,000");
	ck_assert_str_eq(grouped(123456, ","), "123,456");
	ck_assert_str_eq(grouped(1234567, ","), "1,234,567");
	ck_assert_str_eq(grouped(UINT64_MAX, ","),
			 "18,446,744,073,709,551,615");
	ck_assert_str_eq(grouped(UINT64_MAX, "\xe2\x80\xaf"),
			 "18\xe2\x80\xaf" "446\xe2\x80\xaf" "744\xe2\x80\xaf"
			 "073\xe2\x80\xaf" "709\xe2\x80\xaf" "551\xe2\x80\xaf"
			 "615");
	ck_assert_str_eq(grouped(1234567, ""), "1234567");
	ck_assert_str_eq(grouped(1234567, NULL), "1234567");
}
END_TEST

START_TEST(large_rates_get_a_unit_prefix)
{
	char buf[FMT_NUMBER];

	ck_assert_str_eq(fmt_scaled(buf, 0), "0.000 ");
	ck_assert_str_eq(fmt_scaled(buf, 999.5), "999.500 ");
	ck_assert_str_eq(fmt_scaled(buf, 1000), "1.000 K");
	ck_assert_str_eq(fmt_scaled(buf, 2.5e9), "2.500 G");
	ck_assert_str_eq(fmt_scaled(buf, 1.5e16), "15000.000 T");
}
END_TEST

/* What a printer of fmt.h writes for a string. */
static const char *written(void (*print)(FILE *f, const char *s), const char *s)
{
	static char buf[256];
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	memset(buf, 0, sizeof(buf));
	print(f, s);
	fclose(f);
	return buf;
}

static void put_plain(FILE *f, const char *s)
{
	fmt_put_plain(f, s, 0);
}

static void put_escaped(FILE *f, const char *s)
{
	fmt_put_escaped(f, s, "\"\\");
}

START_TEST(json_strings_escape_what_json_forbids)
{
	ck_assert_str_eq(written(fmt_json_string, "a b"), "\"a b\"");
	ck_assert_str_eq(written(fmt_json_string, "a\"b\\c"),
			 "\"a\\\"b\\\\c\"");
	ck_assert_str_eq(written(fmt_json_string, "a\n\t\x01\x7f"),
			 "\"a\\n\\t\\u0001\\u007f\"");
	ck_assert_str_eq(written(fmt_json_string, "\302\2332J\302\240"),
			 "\"\\u009b2J\302\240\"");
	ck_assert_str_eq(written(fmt_json_string, "gr\xc3\xbc\xc3\x9f"),
			 "\"gr\xc3\xbc\xc3\x9f\"");
}
END_TEST

START_TEST(json_strings_replace_bytes_that_are_not_utf8)
{
	static const char *const bad[] = {
		"\xff", "\x80", "\xc3", "\xc0", "\xf5",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_str_eq(written(fmt_json_string, bad[i]),
				 "\"\\ufffd\"");
	/* Overlong, a surrogate, above U+10FFFF: each byte by itself. */
	ck_assert_str_eq(written(fmt_json_string, "\xe0\x80\x80"),
			 "\"\\ufffd\\ufffd\\ufffd\"");
	ck_assert_str_eq(written(fmt_json_string, "\xed\xa0\x80"),
			 "\"\\ufffd\\ufffd\\ufffd\"");
	ck_assert_str_eq(written(fmt_json_string, "\xf4\x90\x80\x80"),
			 "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}
END_TEST

START_TEST(names_that_command_a_terminal_are_printed_plain)
{
	char text[] = "a\033[2J\177b\302\2332Jc\303\251";
	char cut[] = "\302";

	/* ESC, DEL, and CSI in one character; e with an accent is a letter. */
	ck_assert_str_eq(fmt_plain(text), "a?[2J?b??2Jc\303\251");
	ck_assert_str_eq(fmt_plain(cut), "\302");
	ck_assert_str_eq(written(put_plain, "a\033\302\237b\t"), "a???b\t");
	/* CSI as one byte, and half a character; a line's end is one too. */
	ck_assert_str_eq(written(put_plain, "\2332J\342\200\nx\240"),
			 "?2J\342??x\240");
	ck_assert_str_eq(written(put_escaped, "\033[m\302\233\"\342\200\234"),
			 "\\x1b[m\\xc2\\x9b\\\"\342\200\234");
	ck_assert_str_eq(written(fmt_utf8, "a\033\302\233\303\251"),
			 "a\xef\xbf\xbd\xef\xbf\xbd\303\251");
}
END_TEST

START_TEST(csv_fields_are_utf8)
{
	ck_assert_str_eq(written(fmt_csv_field, "a\377,\303\274"),
			 "\"a\357\277\275,\303\274\"");
	ck_assert_str_eq(written(fmt_csv_field, "\t\233\302\233\240"), "????\357\277\275");
	ck_assert_str_eq(written(fmt_put_utf8, "\t\233\302\233\240\n"),
			 "\t???\357\277\275?");
}
END_TEST

START_TEST(csv_fields_are_quoted_where_they_must_be)
{
	ck_assert_str_eq(written(fmt_csv_field, "plain text"), "plain text");
	ck_assert_str_eq(written(fmt_csv_field, ""), "");
	ck_assert_str_eq(written(fmt_csv_field, "a,b"), "\"a,b\"");
	ck_assert_str_eq(written(fmt_csv_field, "say \"x\""),
			 "\"say \"\"x\"\"\"");
	ck_assert_str_eq(written(fmt_csv_field, "a\nb"), "a?b");
	ck_assert_str_eq(written(fmt_csv_field, "=1+1"), "'=1+1");
	ck_assert_str_eq(written(fmt_csv_field, "@f,-g"), "\"'@f,-g\"");
	ck_assert_str_eq(written(fmt_csv_field, "a=b"), "a=b");
}
END_TEST

START_TEST(numbers_are_taken_whole_or_not_at_all)
{
	static const char *const bad[] = {
		"", "-1", "+1", " 1", "1 ", "0x10", "1e3", "6", "x",
		"18446744073709551616",
	};
	uint64_t v = 77;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_int_eq(fmt_parse_u64(bad[i], 1, 5, &v), -1);
	ck_assert_int_eq(fmt_parse_u64("0", 1, 5, &v), -1);
	ck_assert_uint_eq(v, 77);
	ck_assert_int_eq(fmt_parse_u64("5", 1, 5, &v), 0);
	ck_assert_uint_eq(v, 5);
	ck_assert_int_eq(fmt_parse_u64("18446744073709551615", 0, UINT64_MAX,
				       &v), 0);
	ck_assert_uint_eq(v, UINT64_MAX);
}
END_TEST

START_TEST(cpu_lists_are_sorted_and_without_repetition)
{
	static struct cpus list;

	ck_assert_int_eq(cpus_parse("3,0-1,1,4095", &list), 0);
	ck_assert_uint_eq(list.n, 4);
	ck_assert_uint_eq(list.cpu[0], 0);
	ck_assert_uint_eq(list.cpu[1], 1);
	ck_assert_uint_eq(list.cpu[2], 3);
	ck_assert_uint_eq(list.cpu[3], 4095);
}
END_TEST

START_TEST(malformed_cpu_lists_are_refused)
{
	static const char *const bad[] = {
		"", ",", "1,", ",1", "1-", "-1", "2-1", "1--2", "a", "1 ",
		"4096", "0-4096", "99999999999999999999",
	};
	static struct cpus list;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_msg(cpus_parse(bad[i], &list) == -1, "'%s'", bad[i]);
}
END_TEST

/* The parts of a list, with a bar between them; "-" where it is refused. */
static const char *parts(const char *text)
{
	static char buf[256];
	struct evlist list = { 0 };
	int err = evlist_add(&list, text);

	buf[0] = '\0';
	for (unsigned int i = 0; i < list.n; i++) {
		strcat(buf, i ? "|" : "");
		strcat(buf, list.spec[i]);
	}
	evlist_free(&list);
	return err ? "-" : buf;
}

START_TEST(commas_divide_events_but_not_their_qualifiers)
{
	ck_assert_str_eq(parts("cycles"), "cycles");
	ck_assert_str_eq(parts("cycles,instructions:u"),
			 "cycles|instructions:u");
	ck_assert_str_eq(parts("cycles,usr,instructions,OS,cmask=2"),
			 "cycles,usr|instructions,OS,cmask=2");
	ck_assert_str_eq(parts("cpu/event=0xc0,umask=1,inv/u,cycles"),
			 "cpu/event=0xc0,umask=1,inv/u|cycles");
	ck_assert_str_eq(parts("cycles,cpu/event=0xc0/"),
			 "cycles|cpu/event=0xc0/");
	ck_assert_str_eq(parts("r1c0,0x1c0,usr"), "r1c0|0x1c0,usr");
}
END_TEST

START_TEST(commas_keep_qualifiers_of_ibs_with_their_event)
{
	ck_assert_str_eq(parts("cycles,ibs-op,ldlat=256,l3miss,instructions"),
			 "cycles|ibs-op,ldlat=256,l3miss|instructions");
	ck_assert_str_eq(parts("ibs-op,opcount,data,target,ibs-fetch,randomize,data"),
			 "ibs-op,opcount,data,target|ibs-fetch,randomize,data");
	/* The name of an event is a qualifier only with its value. */
	ck_assert_str_eq(parts("ibs-op,cycles"), "ibs-op|cycles");
	ck_assert_str_eq(parts("ibs-op,cycles=1,usr"), "ibs-op,cycles=1,usr");
	ck_assert_str_eq(parts("ibs_op/cnt_ctl=1,ldlat=256/u,data,cycles:p,target"),
			 "ibs_op/cnt_ctl=1,ldlat=256/u,data|cycles:p,target");
	ck_assert_str_eq(parts("{ibs-op,L3MISS,cycles}:u"), "ibs-op:u,L3MISS|cycles:u");
	ck_assert_str_eq(parts("l3miss,ibs-op"), "-");
}
END_TEST

static void is_as_printf(double percent)
{
	char ours[FMT_NUMBER], theirs[FMT_NUMBER];

	*fmt_percent(ours, percent) = '\0';
	snprintf(theirs, sizeof(theirs), "%7.2f", percent);
	ck_assert_str_eq(ours, theirs);
}

/* Each share of few samples, the middles between two texts among them, and huge numbers. */
START_TEST(shares_and_counts_are_written_as_printf_writes_them)
{
	static const uint64_t counts[] = { 0, 9, 10, 1234567890, 12345678901, UINT64_MAX };
	char ours[FMT_NUMBER], theirs[FMT_NUMBER];

	for (unsigned int whole = 1; whole < 900; whole++)
		for (unsigned int part = 0; part <= whole; part++)
			is_as_printf(100.0 * part / whole);
	for (unsigned int i = 0; i < 40000; i++)
		is_as_printf(i * 0.005);
	for (double huge = 1; huge < 1e30; huge *= 7.3)
		is_as_printf(huge);
	for (unsigned int i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		*fmt_right(ours, counts[i], 10) = '\0';
		snprintf(theirs, sizeof(theirs), "%10" PRIu64, counts[i]);
		ck_assert_str_eq(ours, theirs);
	}
}
END_TEST

/* The events of a list, each with its period and its frequency behind it. */
static const char *rates(const char *text)
{
	static char buf[256];
	struct evlist list = { 0 };
	int err = evlist_add(&list, text), len = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < list.n; i++)
		len += snprintf(buf + len, sizeof(buf) - len, "%s%s %" PRIu64 " %" PRIu64,
				i ? "|" : "", list.spec[i], list.rate[i].period,
				list.rate[i].frequency);
	if (err)
		snprintf(buf, sizeof(buf), "%s", list.why);
	else
		ck_assert(evlist_has_rate(&list) == !!strpbrk(buf, "123456789"));
	evlist_free(&list);
	return buf;
}

START_TEST(events_have_periods_and_rates_of_their_own)
{
	ck_assert_str_eq(rates("cycles"), "cycles 0 0");
	ck_assert_str_eq(rates("cycles/period=1000/"), "cycles 1000 0");
	ck_assert_str_eq(rates("cycles/period=1000/u"), "cycles:u 1000 0");
	ck_assert_str_eq(rates("cycles/period=0x1000/"), "cycles 4096 0");
	ck_assert_str_eq(rates("cycles/freq=0XfF/u"), "cycles:u 0 255");
	ck_assert_str_eq(rates("a,period=0x7fffffffffffffff"), "a 9223372036854775807 0");
	ck_assert_str_eq(rates("cycles/period=7/:uk,b"), "cycles:uk 7 0|b 0 0");
	ck_assert_str_eq(rates("cycles/FREQ=99/u,usr"), "cycles:u,usr 0 99");
	ck_assert_str_eq(rates("cycles/freq=9/,usr"), "cycles,usr 0 9");
	ck_assert_str_eq(rates("a,b/freq=1000000/"), "a 0 0|b 0 1000000");
	ck_assert_str_eq(rates("cycles,usr,period=5,os"), "cycles,usr,os 5 0");
	ck_assert_str_eq(rates("cpu/event=2,period=9,umask=1/u"), "cpu/event=2,umask=1/u 9 0");
	ck_assert_str_eq(rates("cpu/event=2,period=9/"), "cpu/event=2/ 9 0");
	ck_assert_str_eq(rates("cpu/period=9,event=2/"), "cpu/event=2/ 9 0");
	ck_assert_str_eq(rates("ibs_op/period=64/u"), "ibs_op//u 64 0");
	ck_assert_str_eq(rates("cpu_core/cycles,freq=2/k"), "cpu_core/cycles/k 0 2");
	ck_assert_str_eq(rates("cycles/umask=1,period=2/"), "cycles/umask=1/ 2 0");
}
END_TEST

START_TEST(periods_and_rates_that_are_no_numbers_are_refused)
{
	static const char *const bad[] = {
		"a/period=0/", "a/period=/", "a/period=x/", "a/freq=0/", "a/freq=1000001/",
		"a,period=-1", "a/period=9223372036854775808/", "a/period=1,period=2/",
		"a/period=0x/", "a/period=0x0/", "a/period=0x8000000000000000/",
		"a/period=0x10000000000000001/", "a/period=0x-1/", "a/period=0x1g/",
		"a/period=0x0x1/", "a/freq=0xf4241/",
		"a/freq=10000000000000000000000000/",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_str_eq(rates(bad[i]), "period= takes one number from 1, and freq= one "
				 "from 1 to 1000000");
	ck_assert_str_eq(rates("a/period=1,freq=2/"),
			 "an event has a period or a frequency; remove one of the two");
	ck_assert_str_eq(rates("a/period=1/,freq=2"),
			 "an event has a period or a frequency; remove one of the two");
	ck_assert_str_eq(rates("freq=2"), "a qualifier has no event before it");
}
END_TEST

START_TEST(event_lists_with_empty_parts_are_refused)
{
	ck_assert_str_eq(parts(""), "-");
	ck_assert_str_eq(parts(","), "-");
	ck_assert_str_eq(parts("cycles,"), "-");
	ck_assert_str_eq(parts(",cycles"), "-");
	ck_assert_str_eq(parts("cycles,,instructions"), "-");
	ck_assert_str_eq(parts("usr,cycles"), "-");
	ck_assert_str_eq(parts("cmask=2"), "-");
}
END_TEST

/* The events of a list, each with its group's number before it. */
static const char *groups(const char *text)
{
	static char buf[256];
	struct evlist list = { 0 };
	int err = evlist_add(&list, text), len = 0;

	buf[0] = '\0';
	for (unsigned int i = 0; i < list.n; i++)
		len += snprintf(buf + len, sizeof(buf) - len, "%s%u=%s", i ? "|" : "",
				list.group[i], list.spec[i]);
	if (err)
		snprintf(buf, sizeof(buf), "%s", list.why);
	evlist_free(&list);
	return buf;
}

START_TEST(braces_make_groups_of_events)
{
	struct evlist list = { 0 };

	ck_assert_str_eq(groups("{a,b}"), "1=a|1=b");
	ck_assert_str_eq(groups("a,{b,c},d"), "0=a|1=b|1=c|0=d");
	ck_assert_str_eq(groups("{a},{b,c}"), "1=a|2=b|2=c");
	ck_assert_str_eq(groups("{a,usr,cmask=2,b}"), "1=a,usr,cmask=2|1=b");
	ck_assert_str_eq(groups("{cpu/event=1,umask=2/u,b}"),
			 "1=cpu/event=1,umask=2/u|1=b");
	ck_assert_str_eq(groups("{a,b}:u,c"), "1=a:u|1=b:u|0=c");
	ck_assert_str_eq(groups("x,{a,cmask=2,cpu/event=1,inv/}:k"),
			 "0=x|1=a:k,cmask=2|1=cpu/event=1,inv/:k");
	/* Of two -e. */
	ck_assert_int_eq(evlist_add(&list, "{a,b}"), 0);
	ck_assert_int_eq(evlist_add(&list, "{c}:u"), 0);
	ck_assert_str_eq(list.spec[0], "a");
	ck_assert_str_eq(list.spec[2], "c:u");
	ck_assert_uint_eq(list.group[1], 1);
	ck_assert_uint_eq(list.group[2], 2);
	evlist_free(&list);
}
END_TEST

static void check_user_mode(const char *spec, const char *want)
{
	char *got = evlist_user_mode(spec);

	ck_assert_str_eq(got, want);
	free(got);
}

START_TEST(user_mode_stands_where_the_form_of_the_event_has_its_mode)
{
	check_user_mode("cycles", "cycles:u");
	check_user_mode("a,cmask=2,inv", "a:u,cmask=2,inv");
	check_user_mode("EVENT:UMASK", "EVENT:UMASK:u");
	check_user_mode("cpu/event=1,umask=2/", "cpu/event=1,umask=2/u");
	check_user_mode("cpu/event=1/,inv", "cpu/event=1/u,inv");
	check_user_mode("r1c0", "r1c0:u");
	check_user_mode("", ":u");
}
END_TEST

START_TEST(groups_that_are_malformed_are_refused_with_the_reason)
{
	static const char open[] = "a '{' has no '}' after it; close the group";
	static const char empty[] =
		"a group is empty; name its events between the braces";
	static const char nested[] =
		"groups cannot be nested; remove the inner braces";
	static const char close[] =
		"a '}' has no '{' before it; remove it, or open the group";
	static const char behind[] =
		"only a comma or a modifier (:u, :k) can follow a '}'";
	static const char missing[] = "an event is missing before or after a comma";
	static const char alone[] = "a qualifier has no event before it";

	ck_assert_str_eq(groups("{a,b"), open);
	ck_assert_str_eq(groups("x,{a"), open);
	ck_assert_str_eq(groups("{}"), empty);
	ck_assert_str_eq(groups("a,{},b"), empty);
	ck_assert_str_eq(groups("{a,{b}}"), nested);
	ck_assert_str_eq(groups("{{a}}"), nested);
	ck_assert_str_eq(groups("{{}}"), nested);
	ck_assert_str_eq(groups("a}"), close);
	ck_assert_str_eq(groups("}"), close);
	ck_assert_str_eq(groups("{a}}"), behind);
	ck_assert_str_eq(groups("{a}b"), behind);
	ck_assert_str_eq(groups("{a}{b}"), behind);
	ck_assert_str_eq(groups("{a}:u}"), behind);
	ck_assert_str_eq(groups("a{b}"), "a '{' follows an event; put a comma before it");
	ck_assert_str_eq(groups("{"), missing);
	ck_assert_str_eq(groups("{,a}"), missing);
	ck_assert_str_eq(groups("{a,}"), missing);
	ck_assert_str_eq(groups("{a},"), missing);
	ck_assert_str_eq(groups("{usr}"), alone);
	ck_assert_str_eq(groups("a,{usr}"), alone);
	ck_assert_str_eq(groups("{a},usr"), alone);
}
END_TEST

START_TEST(kinds_of_events_are_known_by_all_their_names)
{
	const char *suffix;

	ck_assert_int_eq(stat_kind_of("cycles", &suffix), KIND_CYCLES);
	ck_assert_str_eq(suffix, "");
	ck_assert_int_eq(stat_kind_of("Unhalted_Cycles,usr", &suffix),
			 KIND_CYCLES);
	ck_assert_str_eq(suffix, ",usr");
	ck_assert_int_eq(stat_kind_of("instructions:u", &suffix),
			 KIND_INSTRUCTIONS);
	ck_assert_str_eq(suffix, ":u");
	ck_assert_int_eq(stat_kind_of("LLC_MISSES", &suffix),
			 KIND_CACHE_MISSES);
	ck_assert_int_eq(stat_kind_of("branch.mispredicts", &suffix),
			 KIND_BRANCH_MISSES);
	ck_assert_int_eq(stat_kind_of("cycles2", &suffix), KIND_OTHER);
	ck_assert_int_eq(stat_kind_of("cycle", &suffix), KIND_OTHER);
	ck_assert_int_eq(stat_kind_of("", &suffix), KIND_OTHER);
}
END_TEST

START_TEST(deviation_is_that_of_a_sample)
{
	uint64_t v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	uint64_t big[] = { UINT64_MAX - 1, UINT64_MAX - 1 };

	ck_assert_double_eq_tol(stat_mean(v, 8), 5, 1e-12);
	/* squares of distances: 32; 32 / 7 */
	ck_assert_double_eq_tol(stat_deviation(v, 8), 2.13808993529939, 1e-12);
	ck_assert_double_eq(stat_deviation(v, 1), 0);
	ck_assert_double_eq(stat_deviation(big, 2), 0);
	ck_assert_double_eq(stat_mean(v, 0), 0);
}
END_TEST

START_TEST(derived_figures_are_ratios_or_rates)
{
	struct stat_metric m;

	m = stat_metric(KIND_INSTRUCTIONS, 300, 200, 1e9);
	ck_assert_double_eq_tol(m.value, 1.5, 1e-12);
	ck_assert_str_eq(m.unit, "instructions per cycle");
	m = stat_metric(KIND_BRANCH_MISSES, 1, 50, 1e9);
	ck_assert_double_eq_tol(m.value, 2, 1e-12);
	ck_assert_str_eq(m.unit, "% of branches");
	m = stat_metric(KIND_CACHE_MISSES, 1, 4, 1e9);
	ck_assert_double_eq_tol(m.value, 25, 1e-12);
	m = stat_metric(KIND_CYCLES, 3e9, 0, 2e9);
	ck_assert_double_eq_tol(m.value, 1.5, 1e-12);
	ck_assert_str_eq(m.unit, "GHz");
	m = stat_metric(KIND_INSTRUCTIONS, 300, 0, 2e9);
	ck_assert_double_eq_tol(m.value, 150, 1e-12);
	ck_assert_str_eq(m.unit, "/s");
	m = stat_metric(KIND_OTHER, 300, 0, 0);
	ck_assert_ptr_null(m.unit);
}
END_TEST

int main(void)
{
	harness_add(digits_are_grouped_in_threes);
	harness_add(large_rates_get_a_unit_prefix);
	harness_add(json_strings_escape_what_json_forbids);
	harness_add(json_strings_replace_bytes_that_are_not_utf8);
	harness_add(names_that_command_a_terminal_are_printed_plain);
	harness_add(csv_fields_are_utf8);
	harness_add(csv_fields_are_quoted_where_they_must_be);
	harness_add(numbers_are_taken_whole_or_not_at_all);
	harness_add(cpu_lists_are_sorted_and_without_repetition);
	harness_add(malformed_cpu_lists_are_refused);
	harness_add(commas_divide_events_but_not_their_qualifiers);
	harness_add(commas_keep_qualifiers_of_ibs_with_their_event);
	harness_add(events_have_periods_and_rates_of_their_own);
	harness_add(periods_and_rates_that_are_no_numbers_are_refused);
	harness_add(event_lists_with_empty_parts_are_refused);
	harness_add(shares_and_counts_are_written_as_printf_writes_them);
	harness_add(braces_make_groups_of_events);
	harness_add(user_mode_stands_where_the_form_of_the_event_has_its_mode);
	harness_add(groups_that_are_malformed_are_refused_with_the_reason);
	harness_add(kinds_of_events_are_known_by_all_their_names);
	harness_add(deviation_is_that_of_a_sample);
	harness_add(derived_figures_are_ratios_or_rates);
	return harness_run();
}
