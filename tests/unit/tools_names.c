/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_names.c - names of threads, and doubts about names, in what hwpmc report, annotate
 * and diff print and export. On the host, under ASan and UBSan.
 */
#include "common/msg.h"
#include "made_report.h"

/* A log without build-id, size and time. perf annotate and perf diff print no word. */
START_TEST(annotate_and_diff_show_doubts_in_each_form)
{
	static const char doubtful[] = "symbols of " SHARES " are doubtful: the log has neither";

	command("annotate -i log ten");
	has("# doubtful: the log has neither a build-id of it");
	command("diff log log");
	has("# doubtful symbols of " SHARES);
	ck_assert_int_eq(said("annotate -i log --json ten"), 0);
	has(doubtful);
	said("annotate -i log --csv ten");
	has(doubtful);
	said("diff --json log log");
	has(doubtful);
	said("diff --csv log log");
	has(doubtful);
	/* Text has it among its lines, once. */
	said("diff log log");
	ck_assert_str_eq(text, "");
	said("annotate -i log ten");
	ck_assert_str_eq(text, "");
}
END_TEST

static void name_thread(struct made_log *log, int32_t tid, const char *comm)
{
	struct hwpmc_log_task *r = made_add(log, HWPMC_LOG_COMM_NAME, sizeof(*r), 0);

	r->pid = 812;
	r->tid = tid;
	strcpy(r->comm, comm);
	made_context(log, 812, tid);
}

/* Three threads in one function, of which two have named themselves, one twice. */
static void make_threads(void)
{
	struct made_log log;

	made_begin(&log);
	made_event(&log, CYCLES, "cycles");
	add_process(&log, 812, SHARES);
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 5);
	name_thread(&log, 900, "my-net");
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 30);
	name_thread(&log, 901, "my-disk");
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 20);
	name_thread(&log, 901, "my-log");
	made_samples(&log, CYCLES, HWPMC_SAMPLE_USER, &at_ten, 1, 45);
	write_log(&log, "threads");
}

/* As perf report --sort comm and --comms do. */
START_TEST(report_lists_and_chooses_samples_by_name_of_thread)
{
	make_threads();
	command("report -i threads --csv -s comm");
	ck_assert_str_eq(text, "event,samples,percent,comm\ncycles,45,45.0000,my-log\n"
			 "cycles,30,30.0000,my-net\ncycles,20,20.0000,my-disk\n"
			 "cycles,5,5.0000,made\n");
	command("report -i threads --csv -s process,comm,tid");
	has("cycles,45,45.0000,made,my-log,901\n");
	has("cycles,20,20.0000,made,my-disk,901\n");
	command("report -i threads --csv -s process");
	has("cycles,100,100.0000,made\n");
	command("report -i threads --csv -s process --comm my-net");
	has("cycles,30,100.0000,made\n");
	command("report -i threads --csv -s comm --process made -t 901");
	has("my-log");
	ck_assert_ptr_null(strstr(text, "my-net"));
	command("annotate -i threads --csv --comm my-disk");
	has("cycles,20,100.0000,");
	command("report -i threads --json -s comm");
	has("\"comm\":\"my-net\"");
}
END_TEST

START_TEST(exports_name_threads)
{
	make_threads();
	command("report -i threads --format folded");
	has("made;ten 5\n");
	has("made;my-net;ten 30\n");
	has("made;my-log;ten 45\n");
	command("report -i threads --format flamegraph");
	has("[\"my-net\",\"\"");
	has("[\"my-log\",\"\"");
	command("report -i threads --format speedscope");
	has("my-net (812/900)");
	/* A thread has a single track: by the name that most of its samples have. */
	has("my-log (812/901)");
	ck_assert_ptr_null(strstr(text, "my-disk"));
	command("report -i threads --format firefox");
	has("my-net (812/900)");
	ck_assert_int_eq(command("report -i threads --format pprof"), 0);
	ck_assert_int_eq(system("zcat out | strings >names"), 0);
	read_text("names");
	has("my-net");
	has("my-disk");
	has("my-log");
}
END_TEST

START_TEST(report_reads_the_log_that_is_its_operand)
{
	char *all;

	ck_assert_int_eq(command("report -i log"), 0);
	all = text;
	text = NULL;
	ck_assert_int_eq(rename("log", "other"), 0);
	ck_assert_int_eq(command("report --no-children other"), 0);
	ck_assert_str_eq(text, all);
	free(all);
	ck_assert_int_eq(said("report other other"), EXIT_USAGE);
	has("unexpected argument 'other'");
	ck_assert_int_eq(said("report -i other other"), EXIT_USAGE);
	ck_assert_int_eq(said("report --callers main"), EXIT_USAGE);
	has("for one function: --callers=FUNCTION");
}
END_TEST

/* A log without its last record, CLOSELOG, and one that ends within a record. */
START_TEST(each_reader_says_that_a_log_has_no_end)
{
	static const char *const readers[] = {
		"report -i cut", "annotate -i cut ten", "diff cut log", "diff log cut",
		"report -i cut --format flamegraph",
	};

	for (int bytes = 16; bytes <= 17; bytes++) {
		ck_assert_int_eq(system(bytes == 16 ? "head -c -16 log >cut" :
					"head -c -17 log >cut"), 0);
		for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
			ck_assert_int_eq(command("%s", readers[i]), 0);
			has(strstr(readers[i], "flamegraph") ? "\"cut\":true" :
			    ": the log has no end: " + (strstr(readers[i], "diff") ? 0 : 2));
		}
	}
	ck_assert_int_eq(command("report -i log"), 0);
	ck_assert_ptr_null(strstr(text, "has no end"));
}
END_TEST

START_TEST(report_without_a_log_says_how_to_record_one)
{
	ck_assert_int_eq(said("report"), EXIT_FAILED);
	ck_assert_str_eq(text, "hwpmc: cannot open 'hwpmc.log': No such file or directory; "
			 "record one with: hwpmc record COMMAND, or name one with -i\n");
	ck_assert_int_eq(said("annotate"), EXIT_FAILED);
	has("hwpmc record COMMAND");
	ck_assert_int_eq(said("report nonesuch"), EXIT_FAILED);
	ck_assert_str_eq(text, "hwpmc: cannot open 'nonesuch': No such file or directory\n");
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(annotate_and_diff_show_doubts_in_each_form);
	harness_add(report_lists_and_chooses_samples_by_name_of_thread);
	harness_add(exports_name_threads);
	harness_add(report_reads_the_log_that_is_its_operand);
	harness_add(each_reader_says_that_a_log_has_no_end);
	harness_add(report_without_a_log_says_how_to_record_one);
	return harness_run();
}
