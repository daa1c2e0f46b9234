/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_rates.c - readers of a log whose periods adapt, as they do without -c: samples are
 * counted as samples, and shares are those of events. On the host, under ASan and UBSan.
 */
#include "common/msg.h"
#include "made_report.h"

#define SHORT	300000
#define LONG	3000000

static void add(struct made_log *log, uint64_t pc, uint64_t period, unsigned int times)
{
	while (times--) {
		made_period(log, CYCLES, period);
		made_samples(log, CYCLES, HWPMC_SAMPLE_USER, &pc, 1, 1);
	}
}

/* 20 samples of 3,000,000 events in sixty(), and 5 of 300,000 in ten(). */
static void make_adapting(struct made_log *log)
{
	made_begin(log);
	made_adapting(log, CYCLES, "cycles");
	add_process(log, 812, SHARES);
	add(log, at_sixty + 4, LONG, 20);
	add(log, at_ten, SHORT, 5);
}

START_TEST(rates_count_samples_of_images_without_symbols)
{
	struct made_log log;

	make_adapting(&log);
	add(&log, 0x1234, SHORT, 3);
	add_process(&log, 813, "/no/such/program");
	add(&log, at_ten, LONG, 7);
	write_log(&log, "adapting");
	command("report -i adapting --stdio");
	has("# no symbols of /no/such/program (7 samples): ");
	has("# no symbols of [unknown] (3 samples): no mapping of the log has their addresses: "
	    "3 at addresses where no executable mapping was\n");
}
END_TEST

START_TEST(rates_count_samples_that_are_folded)
{
	struct made_log log;

	make_adapting(&log);
	add(&log, at_thirty, SHORT, 1);
	write_log(&log, "adapting");
	said("report -i adapting --format folded --min-share 5");
	has("6 of 26 samples are in [other]");
}
END_TEST

START_TEST(rates_count_samples_on_kinds_of_core)
{
	struct made_log log;

	make_adapting(&log);
	made_cpu(&log, 1);
	made_kind(&log, 1, HWPMC_KIND_CORE);
	add_process(&log, 812, SHARES);
	add(&log, at_ten, SHORT, 4);
	write_log(&log, "adapting");
	command("report -i adapting --stdio");
	has("# samples: 4 on cpu_core");
}
END_TEST

START_TEST(rates_count_samples_that_options_leave_out)
{
	struct made_log log;

	make_adapting(&log);
	add(&log, at_thirty, LONG, 2);
	write_log(&log, "adapting");
	command("report -i adapting --stdio --symbol sixty");
	has("20 samples");
	command("report -i adapting --json --tree --symbol ten");
	has("\"taken\":5");
}
END_TEST

/* Two bytes a bucket; the rate is that of a sample. */
START_TEST(rates_keep_functions_of_short_periods_in_gmon)
{
	uint8_t file[65536];
	struct made_log log;
	uint64_t buckets = 0, ticks = 0;
	uint32_t rate;
	size_t n;
	FILE *f;

	make_adapting(&log);
	add(&log, at_thirty, 1000, 1);
	write_log(&log, "adapting");
	ck_assert_int_eq(said("report -i adapting --format gmon --image " SHARES), 0);
	has("26 of 26 samples are in shares;");
	f = fopen("out", "r");
	n = fread(file, 1, sizeof(file), f);
	fclose(f);
	memcpy(&rate, file + 41, sizeof(rate));
	ck_assert_uint_eq(rate, 100);
	for (size_t i = 61; i + 1 < n; i += 2) {
		buckets += file[i] || file[i + 1];
		ticks += file[i] | file[i + 1] << 8;
	}
	ck_assert_uint_eq(buckets, 3);
	/* 26 samples of the mean period, and one tick for the shortest. */
	ck_assert_uint_eq(ticks, 2601);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(rates_count_samples_of_images_without_symbols);
	harness_add(rates_count_samples_that_are_folded);
	harness_add(rates_count_samples_on_kinds_of_core);
	harness_add(rates_count_samples_that_options_leave_out);
	harness_add(rates_keep_functions_of_short_periods_in_gmon);
	return harness_run();
}
