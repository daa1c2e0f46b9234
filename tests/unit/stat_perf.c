/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_perf.c - samples and events of files of perf record as those of a log: each field, chains,
 * weights, names, the header.
 */
#include "stat_perf_log.h"

/* ---- samples ------------------------------------------------------------- */

static void check_usual(uint32_t n, uint64_t fields)
{
	const uint64_t user[] = { TEXT + 0x10, TEXT + 0x20, TEXT + 0x30 };
	const struct hwpmc_record *r = record(HWPMC_LOG_CALLCHAIN, n);

	check_pcs(r, HWPMC_SAMPLE_USER, fields & PERF_S_CALLCHAIN ? 3 : 1, user);
	ck_assert_int_eq(r->pid, fields & PERF_S_TID ? PID : -1);
	ck_assert_int_eq(r->tid, fields & PERF_S_TID ? TID : -1);
	ck_assert_int_eq(r->cpu, fields & PERF_S_CPU ? 1 : -1);
	ck_assert_uint_eq(r->period, fields & PERF_S_PERIOD ? 250 : 0);
	if (fields & PERF_S_TIME)
		ck_assert_uint_ge(r->hdr->time, PERFGEN_FIRST);
	ck_assert_uint_eq(r->hdr->id, 1);
}

static void check_fields(bool pipe, uint64_t fields)
{
	struct perfgen_sample s = usual_sample();

	begin(pipe, fields | PERF_S_IP);
	g.event[0].read_format = PERF_R_GROUP | PERF_R_ENABLED | PERF_R_ID | PERF_R_LOST;
	g.event[0].branches = PERF_B_HW_INDEX | PERF_B_COUNTERS;
	g.event[0].regs_user = 0xff0fff;
	g.event[0].regs_intr = 0x3;
	s.nbranch = 2;
	perfgen_sample(&g, &s);
	perfgen_sample(&g, &s);
	perfgen_finish(&g);
	check_usual(0, fields);
	check_usual(1, fields);
}

START_TEST(perf_sample_fields_are_found_in_any_combination)
{
	uint32_t seed = 1;

	for (int bit = 0; bit < 25; bit++) {
		check_fields(false, USUAL | 1u << bit);
		check_fields(true, 1u << bit);
	}
	check_fields(false, PERF_S_ALL);
	for (int i = 0; i < 200; i++) {
		seed = seed * 1664525 + 1013904223;
		check_fields(i & 1, seed >> 3 & PERF_S_ALL);
	}
}
END_TEST

START_TEST(perf_values_read_with_samples_are_skipped)
{
	struct perfgen_sample s = usual_sample();

	for (uint64_t format = 0; format < 32; format++) {
		begin(false, USUAL | PERF_S_READ);
		g.event[0].read_format = format;
		perfgen_sample(&g, &s);
		perfgen_finish(&g);
		check_usual(0, USUAL);
	}
}
END_TEST

static void check_events(uint64_t fields)
{
	struct perfgen_sample s = usual_sample();
	struct perfgen_event e = usual_event();

	begin(false, USUAL | fields);
	e.sample_type = USUAL | fields | PERF_S_ADDR * !!(fields & PERF_S_IDENTIFIER);
	e.id = 12;
	e.name = "other";
	perfgen_event(&g, &e);
	s.event = 1;
	perfgen_sample(&g, &s);
	s.event = 0;
	perfgen_sample(&g, &s);
	perfgen_names(&g);
	perfgen_finish(&g);
	ck_assert_uint_eq(record(HWPMC_LOG_CALLCHAIN, 0)->hdr->id, 2);
	ck_assert_uint_eq(record(HWPMC_LOG_CALLCHAIN, 1)->hdr->id, 1);
	ck_assert_str_eq(record(HWPMC_LOG_PMCALLOCATE, 1)->allocate->name, "other");
}

START_TEST(perf_samples_are_of_the_event_of_their_identifier)
{
	check_events(PERF_S_IDENTIFIER);
	check_events(PERF_S_ID);
	check_events(PERF_S_ID | PERF_S_IDENTIFIER | PERF_S_STREAM_ID);
}
END_TEST

START_TEST(perf_sample_of_an_unknown_event_is_noted)
{
	struct perfgen_event e = usual_event();

	begin(false, USUAL | PERF_S_IDENTIFIER);
	e.sample_type = USUAL | PERF_S_IDENTIFIER;
	e.id = 12;
	perfgen_event(&g, &e);
	some_samples(1);
	g.event[0].id = 99;
	some_samples(1);
	g.event[0].id = 11;
	perfgen_finish(&g);
	ck_assert_uint_eq(count(HWPMC_LOG_CALLCHAIN), 1);
	ck_assert(has_note("perf-left-out=samples of events that the file does not describe"));
}
END_TEST

START_TEST(perf_chains_have_marks_between_modes)
{
	static const uint64_t both[] = {
		PERF_CONTEXT_KERNEL, KERNEL + 1, KERNEL + 2, PERF_CONTEXT_USER, TEXT + 3,
		TEXT + 4,
	}, user_only[] = { PERF_CONTEXT_USER, TEXT + 3 };
	static const uint64_t kernel[] = {
		KERNEL + 1, KERNEL + 2, HWPMC_PC_USER, TEXT + 3, TEXT + 4,
	}, bare[] = { KERNEL + 9, HWPMC_PC_USER, TEXT + 3 }, precise[] = { TEXT + 7, TEXT + 4 };
	struct perfgen_sample s = usual_sample();

	begin(false, USUAL);
	s.misc = PERF_MODE_KERNEL;
	s.ip = KERNEL + 1;
	s.chain = both;
	s.nchain = 6;
	perfgen_sample(&g, &s);
	s.ip = KERNEL + 9;
	s.chain = user_only;
	s.nchain = 2;
	perfgen_sample(&g, &s);
	s.misc = PERF_MODE_USER;
	s.ip = TEXT + 7;
	s.chain = both;
	s.nchain = 6;
	perfgen_sample(&g, &s);
	perfgen_finish(&g);
	check_pcs(record(HWPMC_LOG_CALLCHAIN, 0), HWPMC_SAMPLE_SPLIT, 5, kernel);
	check_pcs(record(HWPMC_LOG_CALLCHAIN, 1), HWPMC_SAMPLE_SPLIT, 3, bare);
	check_pcs(record(HWPMC_LOG_CALLCHAIN, 2), HWPMC_SAMPLE_USER, 2, precise);
}
END_TEST

START_TEST(perf_words_like_marks_do_not_end_user_chains)
{
	static const uint64_t chain[] = {
		PERF_CONTEXT_USER, TEXT + 3, PERF_CONTEXT_KERNEL, TEXT + 4, ~0ull, TEXT + 5,
	}, pcs[] = { TEXT + 3, TEXT + 4, TEXT + 5 };
	struct perfgen_sample s = usual_sample();

	begin(false, USUAL);
	s.ip = TEXT + 3;
	s.chain = chain;
	s.nchain = 6;
	perfgen_sample(&g, &s);
	perfgen_finish(&g);
	check_pcs(record(HWPMC_LOG_CALLCHAIN, 0), HWPMC_SAMPLE_USER, 3, pcs);
}
END_TEST

START_TEST(perf_chain_longer_than_a_record_is_cut)
{
	static uint64_t chain[4000];
	struct perfgen_sample s = usual_sample();

	begin(false, USUAL);
	chain[0] = PERF_CONTEXT_USER;
	for (uint32_t i = 1; i < 4000; i++)
		chain[i] = TEXT + i;
	s.chain = chain;
	s.nchain = 4000;
	perfgen_sample(&g, &s);
	perfgen_finish(&g);
	ck_assert_uint_eq(record(HWPMC_LOG_CALLCHAIN, 0)->hdr->flags,
			  HWPMC_SAMPLE_USER | HWPMC_SAMPLE_CUT);
	ck_assert_uint_eq(record(HWPMC_LOG_CALLCHAIN, 0)->hdr->len, HWPMC_LOG_MAX);
}
END_TEST

START_TEST(perf_stored_calls_become_callers)
{
	static const uint64_t calls[] = { TEXT + 0x50, TEXT, TEXT + 0x60, TEXT + 0x40 };
	static const uint64_t chain[] = { PERF_CONTEXT_USER, TEXT + 0x10 };
	static const uint64_t pcs[] = { TEXT + 0x10, TEXT + 0x51, TEXT + 0x61 };
	struct perfgen_sample s = usual_sample();

	begin(false, USUAL | PERF_S_BRANCH_STACK);
	g.event[0].branches = PERF_B_CALL_STACK;
	s.chain = chain;
	s.nchain = 2;
	s.branch = calls;
	s.nbranch = 2;
	perfgen_sample(&g, &s);
	perfgen_finish(&g);
	check_pcs(record(HWPMC_LOG_CALLCHAIN, 0), HWPMC_SAMPLE_USER, 3, pcs);
	ck_assert(!has_note("perf-left-out=branch stacks"));
}
END_TEST

START_TEST(perf_samples_without_times_keep_their_order)
{
	begin(false, USUAL & ~PERF_S_TIME);
	some_samples(3);
	perfgen_finish(&g);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(record(HWPMC_LOG_CALLCHAIN, i)->hdr->time, i + 1);
}
END_TEST

/* A mapping between two samples is behind the first, also in the pass that skips samples. */
START_TEST(perf_mappings_without_times_keep_their_order)
{
	struct hwpmc_record r;

	begin(false, USUAL & ~PERF_S_TIME);
	some_samples(3);
	perfgen_mmap(&g, PID, PERF_MODE_USER, TEXT, 0x1000, "/bin/prog");
	perfgen_finish(&g);
	ck_assert_uint_eq(record(HWPMC_LOG_MAP_IN, 0)->hdr->time, 3);
	open_it();
	hwpmc_input_skip_samples(in, true);
	while (hwpmc_input_next(in, &r) > 0 && r.hdr->type != HWPMC_LOG_MAP_IN)
		;
	ck_assert_uint_eq(r.hdr->time, 3);
}
END_TEST

START_TEST(perf_inexact_samples_of_precise_events_are_marked)
{
	struct perfgen_sample s = usual_sample();
	uint64_t exact, inexact;

	begin(false, USUAL);
	g.event[0].flags |= PERF_A_PRECISE;
	perfgen_sample(&g, &s);
	s.misc |= PERF_MISC_EXACT_IP;
	perfgen_sample(&g, &s);
	perfgen_sample(&g, &s);
	perfgen_finish(&g);
	profile(NULL);
	ck_assert_int_eq(hwpmc_profile_exact(p, 0, &exact, &inexact), 0);
	ck_assert_uint_eq(inexact, 1);
	ck_assert_uint_eq(count(HWPMC_LOG_PRECISE), 1);
}
END_TEST

/* ---- weights ------------------------------------------------------------- */

static const struct hwpmc_profile_event *only_event(void)
{
	const struct hwpmc_profile_event *ev;
	uint32_t n;

	profile(NULL);
	ev = hwpmc_profile_events(p, &n);
	ck_assert_uint_eq(n, 1);
	return ev;
}

START_TEST(perf_samples_weigh_their_periods)
{
	struct perfgen_sample s = usual_sample();

	begin(false, USUAL);
	perfgen_sample(&g, &s);
	s.period = 1000;
	perfgen_sample(&g, &s);
	perfgen_finish(&g);
	ck_assert_uint_eq(only_event()->samples, 1250);
	ck_assert_uint_eq(only_event()->taken, 2);
	ck_assert_uint_eq(only_event()->frequency, 4000);
}
END_TEST

START_TEST(perf_samples_of_a_fixed_period_count_one_each)
{
	begin(false, USUAL & ~PERF_S_PERIOD);
	g.event[0].flags = PERF_A_ID_ALL;
	some_samples(3);
	perfgen_finish(&g);
	ck_assert_uint_eq(only_event()->samples, 3);
	ck_assert_uint_eq(only_event()->period, 4000);
	ck_assert_uint_eq(only_event()->frequency, 0);
}
END_TEST

START_TEST(perf_samples_of_several_periods_have_no_frequency)
{
	begin(false, USUAL);
	g.event[0].flags = PERF_A_ID_ALL;
	some_samples(3);
	perfgen_finish(&g);
	ck_assert_uint_eq(only_event()->samples, 750);
	ck_assert_uint_eq(only_event()->frequency, HWPMC_LOG_OWN_PERIODS);
}
END_TEST

/* ---- events -------------------------------------------------------------- */

static const char *name_of(uint32_t type, uint64_t config)
{
	begin(true, USUAL);
	g.event[0].type = type;
	g.event[0].config = config;
	some_samples(1);
	perfgen_finish(&g);
	return record(HWPMC_LOG_PMCALLOCATE, 0)->allocate->name;
}

START_TEST(perf_events_without_names_have_those_of_their_numbers)
{
	ck_assert_str_eq(name_of(PERF_T_HARDWARE, 0), "cycles");
	ck_assert_str_eq(name_of(PERF_T_HARDWARE, 1 | 8ull << 32), "instructions");
	ck_assert_str_eq(name_of(PERF_T_SOFTWARE, 0), "cpu-clock");
	ck_assert_str_eq(name_of(PERF_T_SOFTWARE, 2), "page-faults");
	ck_assert_str_eq(name_of(PERF_T_RAW, 0x1c2), "r1c2");
	ck_assert_str_eq(name_of(PERF_T_TRACEPOINT, 310), "tracepoint-0x136");
	ck_assert_str_eq(name_of(9, 1), "pmu9-0x1");
}
END_TEST

START_TEST(perf_event_update_gives_a_name)
{
	struct perfgen_bytes b = { 0 };
	const struct hwpmc_profile_event *ev;

	begin(true, USUAL | PERF_S_IDENTIFIER);
	perfgen_u64(&b, PERF_UPDATE_NAME);
	perfgen_u64(&b, 11);
	perfgen_put(&b, "my-event\0\0\0\0\0\0\0", 16);
	some_samples(1);
	perfgen_raw(&g, PERF_EVENT_UPDATE, 0, b.bytes, b.len);
	perfgen_finish(&g);
	ev = only_event();
	ck_assert_str_eq(ev->name, "my-event");
	free(b.bytes);
}
END_TEST

START_TEST(perf_dummy_event_without_samples_is_not_shown)
{
	struct perfgen_event e = usual_event();

	begin(false, USUAL | PERF_S_IDENTIFIER);
	e.sample_type = USUAL | PERF_S_IDENTIFIER;
	e.config = PERF_SOFTWARE_DUMMY;
	e.id = 12;
	perfgen_event(&g, &e);
	some_samples(1);
	perfgen_finish(&g);
	only_event();
}
END_TEST

/* ---- header -------------------------------------------------------------- */

static void check_features(bool pipe)
{
	struct perfgen_bytes b = { 0 };
	const struct hwpmc_log_initialize *r;

	begin(pipe, USUAL);
	perfgen_string(&g, PERF_FEATURE_HOSTNAME, "machine");
	perfgen_string(&g, PERF_FEATURE_OSRELEASE, "6.1.0");
	perfgen_string(&g, PERF_FEATURE_ARCH, "x86_64");
	perfgen_string(&g, PERF_FEATURE_CPUID, "AuthenticAMD,26,2,1");
	perfgen_u32(&b, 8);
	perfgen_u32(&b, 6);
	perfgen_feature(&g, PERF_FEATURE_NRCPUS, b.bytes, b.len);
	b.len = 0;
	perfgen_u32(&b, 2);
	perfgen_u32(&b, 8);
	perfgen_put(&b, "perf\0\0\0\0", 8);
	perfgen_u32(&b, 8);
	perfgen_put(&b, "record\0\0", 8);
	perfgen_feature(&g, PERF_FEATURE_CMDLINE, b.bytes, b.len);
	b.len = 0;
	perfgen_u32(&b, 1);
	perfgen_u32(&b, 1);
	perfgen_u64(&b, 1700000000000000000ull);
	perfgen_u64(&b, PERFGEN_FIRST - 500);
	perfgen_feature(&g, PERF_FEATURE_CLOCK_DATA, b.bytes, b.len);
	some_samples(1);
	perfgen_finish(&g);
	ck_assert(has_note("hostname=machine"));
	ck_assert(has_note("release=6.1.0"));
	ck_assert(has_note("command=perf record"));
	r = record(HWPMC_LOG_INITIALIZE, 0)->initialize;
	/* As the module writes it: the family is decimal, the model has two digits. */
	ck_assert_str_eq(r->cpuid, "AuthenticAMD-26-02-1");
	ck_assert_uint_eq(r->ncpu, 6);
	ck_assert_uint_eq(r->tick, PERFGEN_FIRST);
	ck_assert_uint_eq(r->realtime, 1700000000000000500ull);
	free(b.bytes);
}

START_TEST(perf_features_of_the_header_are_in_the_log)
{
	check_features(false);
	check_features(true);
}
END_TEST

START_TEST(perf_files_of_other_machines_are_refused)
{
	struct perf_file_header *h;
	uint64_t old = PERF_MAGIC_OLD;

	begin(false, USUAL);
	some_samples(1);
	perfgen_string(&g, PERF_FEATURE_ARCH, "aarch64");
	perfgen_finish(&g);
	check_refused("aarch64");
	h = (void *)g.out.bytes;
	h->features[0] = 1 << PERF_FEATURE_STAT;
	check_refused("perf stat record");
	h->features[0] = 1 << PERF_FEATURE_DIR_FORMAT;
	check_refused("--threads");
	memcpy(g.out.bytes, &old, 8);
	check_refused("before 2.6.36");
	old = __builtin_bswap64(PERF_MAGIC);
	memcpy(g.out.bytes, &old, 8);
	check_refused("byte order");
}
END_TEST

START_TEST(perf_fields_of_a_newer_perf_are_refused)
{
	begin(false, USUAL | 1u << 25);
	some_samples(1);
	perfgen_finish(&g);
	check_refused("newer perf");
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(perf_sample_fields_are_found_in_any_combination);
	harness_add(perf_values_read_with_samples_are_skipped);
	harness_add(perf_samples_are_of_the_event_of_their_identifier);
	harness_add(perf_sample_of_an_unknown_event_is_noted);
	harness_add(perf_chains_have_marks_between_modes);
	harness_add(perf_words_like_marks_do_not_end_user_chains);
	harness_add(perf_chain_longer_than_a_record_is_cut);
	harness_add(perf_stored_calls_become_callers);
	harness_add(perf_samples_without_times_keep_their_order);
	harness_add(perf_mappings_without_times_keep_their_order);
	harness_add(perf_inexact_samples_of_precise_events_are_marked);
	harness_add(perf_samples_weigh_their_periods);
	harness_add(perf_samples_of_a_fixed_period_count_one_each);
	harness_add(perf_samples_of_several_periods_have_no_frequency);
	harness_add(perf_events_without_names_have_those_of_their_numbers);
	harness_add(perf_event_update_gives_a_name);
	harness_add(perf_dummy_event_without_samples_is_not_shown);
	harness_add(perf_features_of_the_header_are_in_the_log);
	harness_add(perf_files_of_other_machines_are_refused);
	harness_add(perf_fields_of_a_newer_perf_are_refused);
	return harness_run();
}
