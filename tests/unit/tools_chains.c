/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_chains.c - what a report says of call chains that end early, and of
 * exact addresses. On the host, under
 * ASan and UBSan.
 */
#include "common/msg.h"
#include "made_report.h"

/* main and what began it is whole; what ends elsewhere is not, if it is known. */
START_TEST(chains_that_end_in_code_without_frame_pointers_are_told)
{
	uint64_t whole[] = { at_ten, at_main + 16 }, libc[] = { at_ten, at_main + 16, 0x4321 };
	uint64_t ends[] = { at_ten, at_work + 32 }, unknown[] = { 0x1234, 0x4321 };
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_process(&log, 5, SHARES);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, whole, 2, 10);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, libc, 3, 10);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, unknown, 2, 30);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER | HWPMC_SAMPLE_CUT, ends, 2, 30);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, ends, 2, 5);
	write_log(&log, "fp");
	command("report -i fp --tree --stdio");
	has("\n# 20.0 % of 25 call chains end early, in code without frame pointers; ");
	command("report -i fp --tree --stdio --depth 1");
	ck_assert_ptr_null(strstr(text, "frame pointers"));
	said("report -i fp --format folded");
	has("hwpmc: 20.0 % of 25 call chains end early, in code without frame pointers; ");
}
END_TEST

/* The sum of the complete and of the reasons is all that were walked by tables. */
START_TEST(chains_by_tables_that_end_early_are_told_with_the_image_and_the_reason)
{
	uint64_t whole[] = { at_ten, at_main + 16 };
	uint64_t none[] = { at_ten, at_main + 16, HWPMC_PC_END(HWPMC_CHAIN_NO_TABLE) };
	uint64_t fp[] = { at_ten, HWPMC_PC_FP, 0x7f0000001010,
			  HWPMC_PC_END(HWPMC_CHAIN_NO_TABLE) };
	uint64_t rule[] = { at_ten, HWPMC_PC_END(HWPMC_CHAIN_NO_RULE) };
	uint64_t gone[] = { 0x4321, HWPMC_PC_END(HWPMC_CHAIN_NO_MAPPING) };
	static const char *const formats[] = {
		"folded", "callgrind", "firefox", "speedscope", "flamegraph",
	};
	uint8_t early = HWPMC_SAMPLE_USER | HWPMC_SAMPLE_TABLES | HWPMC_SAMPLE_ENDS;
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_process(&log, 5, SHARES);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER | HWPMC_SAMPLE_TABLES, whole, 2, 30);
	made_samples(&log, CYCLES, early, none, 3, 3);
	made_samples(&log, CYCLES, early, rule, 2, 2);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, whole, 2, 10);
	add_process(&log, 6, "/no/such/lib\033x.so");
	/* What frame pointers lead to has no part in it. */
	made_map(&log, 6, 0x7f0000001000, 0x7f0000002000, 0, "/no/such/other.so");
	made_samples(&log, CYCLES, early, fp, 4, 4);
	made_samples(&log, CYCLES, early, gone, 2, 1);
	write_log(&log, "tables");
	for (int tree = 0; tree < 2; tree++) {
		command(tree ? "report -i tables --tree --stdio" : "report -i tables --stdio");
		has("\n# 75.0 % of 40 call chains complete; 1 end early: no mapping; "
		    "7 end early: no unwind table (10.0 % in lib?x.so, 7.5 % in shares); "
		    "2 end early: no unwind rule (5.0 % in shares)\n");
	}
	has("  [no unwind table]");
	for (unsigned int i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		command("report -i tables --format %s", formats[i]);
		has("[no unwind table]");
		has("[no unwind rule]");
		has("[no mapping]");
	}
}
END_TEST

static void add_mark(struct made_log *log, uint32_t id, uint64_t present)
{
	struct hwpmc_log_precise *r = made_add(log, HWPMC_LOG_PRECISE, sizeof(*r), 0);

	r->hdr.id = id;
	r->present = present;
}

/* Three samples of an event and of another one whose samples are exact. */
static void begin_exact(struct made_log *log)
{
	struct hwpmc_log_allocate *r;

	made_begin(log);
	made_event(log, CYCLES, "cycles");
	r = made_add(log, HWPMC_LOG_PMCALLOCATE, sizeof(*r), 0);
	r->hdr.id = CYCLES + 1;
	r->mode = HWPMC_MODE_TS;
	r->count = 1000;
	r->flags = HWPMC_F_EXACT;
	made_note(log, CYCLES + 1, "event=ops");
	add_process(log, 812, SHARES);
	made_context(log, 812, 812);
	made_samples(log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 3);
	made_samples(log, CYCLES + 1, HWPMC_SAMPLE_USER, &at_ten, 1, 3);
}

START_TEST(report_says_which_addresses_are_exact)
{
	struct made_log log;

	begin_exact(&log);
	write_log(&log, "exact");
	ck_assert_int_eq(command("report -i exact --stdio"), 0);
	has("# addresses are exact\n");
	ck_assert_ptr_null(strstr(strstr(text, "exact\n") + 1, "exact\n"));
	begin_exact(&log);
	for (int i = 0; i < 2; i++) {
		add_mark(&log, CYCLES, HWPMC_PRECISE_EXACT);
		made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 1);
	}
	add_mark(&log, CYCLES, 0);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 1);
	add_mark(&log, CYCLES + 1, 0);
	made_samples(&log, CYCLES + 1, HWPMC_SAMPLE_USER, &at_ten, 1, 1);
	write_log(&log, "exact");
	ck_assert_int_eq(command("report -i exact --stdio"), 0);
	has("# the addresses of 2 samples are exact\n");
	has("# addresses are exact, except those of 1 sample\n");
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(chains_that_end_in_code_without_frame_pointers_are_told);
	harness_add(report_says_which_addresses_are_exact);
	harness_add(chains_by_tables_that_end_early_are_told_with_the_image_and_the_reason);
	return harness_run();
}
