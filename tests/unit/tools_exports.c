/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_exports.c - rules of the formats that hwpmc report writes, where names of functions,
 * threads and events could break them. On the host, under ASan and UBSan.
 * tests/export/ruled has the whole list of rules.
 */
#include "common/msg.h"
#include "made_report.h"

#define CODE	0x700000u	/* generated code, a page a function */

/* Samples of functions with these names, the last of which calls the first. */
static void make_named(const char *const *name, unsigned int n)
{
	FILE *map = fopen("perf-812.map", "w");
	uint64_t call[] = { CODE + 16, CODE + 4096 * (n - 1) + 16 };
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	made_exec(&log, 812, "/bin/made");
	made_map(&log, 812, CODE, CODE + 4096 * n, 0, "//anon");
	((struct hwpmc_log_hdr *)(log.bytes + log.len -
		sizeof(struct hwpmc_log_map) - 8))->flags |= HWPMC_MAP_ANON;
	made_context(&log, 812, 812);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t pc = CODE + 4096 * i + 16;

		fprintf(map, "%x 1000 %s\n", CODE + 4096 * i, name[i]);
		made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &pc, 1, 10 + i);
	}
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, call, 2, 5);
	fclose(map);
	write_log(&log, "named");
}

START_TEST(folded_names_hold_no_separator_and_no_count)
{
	static const char *const name[] = {
		"a;b", "end 12", "real\t1.5", "12", "1.2.3 4.5.6", "v 1.2.3", "caller 7",
	};

	make_named(name, sizeof(name) / sizeof(*name));
	ck_assert_int_eq(command("report -i named --perf-map . --format folded"), 0);
	has("made;a:b 10\n");
	has("made;end_12 11\n");
	has("made;real_1.5 12\n");
	has("made;12 13\n");
	has("made;1.2.3 4.5.6 14\n");
	has("made;v 1.2.3 15\n");
	/* Behind a caller nothing is read as a count. */
	has("made;caller 7;a:b 5\n");
	has("made;caller_7 16\n");
}
END_TEST

START_TEST(folded_and_callgrind_names_are_utf8)
{
	static const char *const name[] = { "a\377b", "gr\303\274n\033", "cut\303" };

	make_named(name, 3);
	ck_assert_int_eq(command("report -i named --perf-map . --format folded"), 0);
	has("made;a\357\277\275b 10\n");
	has("made;gr\303\274n? 11\n");
	has("made;cut\357\277\275 12\n");
	ck_assert_int_eq(command("report -i named --perf-map . --format callgrind"), 0);
	has(" a\357\277\275b\n");
	has(" gr\303\274n?\n");
	has(" cut\357\277\275\n");
}
END_TEST

START_TEST(names_that_are_empty_are_written_as_unnamed)
{
	struct hwpmc_log_task *r;
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_process(&log, 812, SHARES);
	r = made_add(&log, HWPMC_LOG_COMM_NAME, sizeof(*r), 0);
	r->pid = 812;
	r->tid = 900;
	made_context(&log, 812, 900);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 30);
	write_log(&log, "empty");
	ck_assert_int_eq(command("report -i empty --format folded"), 0);
	ck_assert_str_eq(text, "made;[unnamed];ten 30\n");
}
END_TEST

/* The format's manual: a name is a letter, then letters and digits; KCachegrind takes "_". */
START_TEST(callgrind_events_are_words_of_their_own)
{
	static const char *const name[] = {
		"cycles:u", "cycles/u", "cycles:u,2", "cycles u", "0x1a8", "gr\303\274n",
	};
	struct made_log log;

	made_begin(&log);
	for (unsigned int i = 0; i < 6; i++)
		made_event(&log, CYCLES + i, name[i]);
	add_process(&log, 812, SHARES);
	for (unsigned int i = 0; i < 6; i++)
		made_samples(&log, CYCLES + i, HWPMC_SAMPLE_USER, &at_ten, 1, 1);
	write_log(&log, "events");
	ck_assert_int_eq(command("report -i events --format callgrind"), 0);
	has("\nevents: cycles_u cycles_u_2 cycles_u_2_2 cycles_u_3 event_0x1a8 gr__n\n");
	has("\nevent: event_0x1a8 : samples of 0x1a8\n");
	has("\nsummary: 1 1 1 1 1 1\n");
	has("\ntotals: 1 1 1 1 1 1\n");
}
END_TEST

/* The time grows with the number of events, not with its cube. */
START_TEST(callgrind_has_thousands_of_events_of_one_word)
{
	enum { EVENTS = 4096 };
	struct made_log log;
	char name[20];

	made_begin(&log);
	for (unsigned int i = 0; i < EVENTS; i++) {
		strcpy(name, "e____________");
		for (unsigned int bit = 0; bit < 12; bit++)
			name[1 + bit] = i >> bit & 1 ? ':' : '/';
		made_event(&log, CYCLES + i, name);
	}
	add_process(&log, 812, SHARES);
	for (unsigned int i = 0; i < EVENTS; i++)
		made_samples(&log, CYCLES + i, HWPMC_SAMPLE_USER, &at_ten, 1, 1);
	write_log(&log, "many");
	ck_assert_int_eq(command("report -i many --format callgrind"), 0);
	has("\nevents: e____________ e_____________2 e_____________3 ");
	has(" e_____________4096\n");
}
END_TEST

START_TEST(json_lines_have_numbers_and_the_unit_of_samples)
{
	struct hwpmc_log_allocate *event;
	struct hwpmc_log_period *period;
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	event = made_add(&log, HWPMC_LOG_PMCALLOCATE, sizeof(*event), 0);
	event->hdr.id = BRANCHES;
	event->class = HWPMC_CLASS_IAP;
	event->mode = HWPMC_MODE_TS;
	event->count = 99;
	event->flags = HWPMC_F_CALLCHAIN | HWPMC_F_FREQUENCY;
	made_note(&log, BRANCHES, "event=branches");
	add_process(&log, 812, SHARES);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 30);
	period = made_add(&log, HWPMC_LOG_PERIOD, sizeof(*period), 0);
	period->hdr.id = BRANCHES;
	period->period = 1ull << 40;
	made_samples(&log, BRANCHES, HWPMC_SAMPLE_USER, &at_ten, 1, 1);
	write_log(&log, "units");
	ck_assert_int_eq(command("report -i units --json -s symbol"), 0);
	has("{\"event\":\"cycles\",\"samples\":30,\"percent\":100.0000,\"symbol\":\"ten\","
	    "\"unit\":\"samples\"}\n");
	has("{\"event\":\"branches\",\"samples\":1099511627776,\"percent\":100.0000,"
	    "\"symbol\":\"ten\",\"unit\":\"events\"}\n");
	ck_assert_int_eq(command("report -i units --json -s symbol,period"), 0);
	has("\"period\":30000,");
	ck_assert_int_eq(command("annotate -i units --json -e branches"), 0);
	has(",\"unit\":\"events\"}\n");
}
END_TEST

/* The layout that gprof reads: 15 bytes of a dimension, and a letter. */
START_TEST(gmon_has_the_fields_of_its_header_file)
{
	unsigned char head[20 + 1 + 40 + 2];
	FILE *f;

	ck_assert_int_eq(said("report -i log -e cycles --format gmon --image " SHARES), 0);
	has("samples are in shares;");
	f = fopen("out", "r");
	ck_assert_uint_eq(fread(head, 1, sizeof(head), f), sizeof(head));
	fclose(f);
	ck_assert(!memcmp(head, "gmon\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 20));
	ck_assert_uint_eq(head[20], 0);
	ck_assert(!memcmp(head + 45, "samples\0\0\0\0\0\0\0\0s", 16));
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(folded_names_hold_no_separator_and_no_count);
	harness_add(folded_and_callgrind_names_are_utf8);
	harness_add(names_that_are_empty_are_written_as_unnamed);
	harness_add(callgrind_events_are_words_of_their_own);
	harness_add(callgrind_has_thousands_of_events_of_one_word);
	harness_add(json_lines_have_numbers_and_the_unit_of_samples);
	harness_add(gmon_has_the_fields_of_its_header_file);
	return harness_run();
}
