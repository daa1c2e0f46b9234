/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_null - one rule for null pointers: a call that needs what a pointer points to fails
 * with EINVAL, one that returns a pointer returns NULL with EINVAL, one without a result does
 * nothing. Each function of libhwpmc with each of its pointers null, on a handle that is
 * no device.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hwpmc_mark.h>
#include <libhwpmclog.h>

#include "../../lib/pmc/internal.h"
#include "harness.h"
#include "lib_refused.h"

static struct hwpmc *h;

static void setup(void)
{
	int fds[2];

	h = calloc(1, sizeof(*h));
	ck_assert_int_eq(pipe(fds), 0);
	close(fds[1]);
	h->fd = fds[0];
	h->pid = getpid();
	h->info.ncpu = 1;
	h->info.npmc = 1;
}

static void teardown(void)
{
	hwpmc_close(h);
}

static int each(const struct hwpmc_event_info *info, void *arg)
{
	return 0;
}

static int take(unsigned int cpu, const void *data, size_t len, void *arg)
{
	return 0;
}

static int each_mark(const struct hwpmc_mark_stats *stats, void *arg)
{
	return 0;
}

START_TEST(null_handles_are_einval_in_each_call)
{
	struct hwpmc_op_getdriverstats stats;
	struct hwpmc_op_pmcallocate req = { 0 };
	struct hwpmc_op_kgmon kgmon = { 0 };
	struct hwpmc_classnote notes[HWPMC_NOTES_MAX];
	struct hwpmc_unwind unwind = { 0 };
	struct hwpmc_event event = { .ncode = 1 };
	struct hwpmc_batch_entry entry = { 0 };
	struct hwpmc_pmcinfo *rows;
	struct hwpmc_counter c;
	const char *specs[] = { "x" };
	struct hwpmc_group *group;
	struct hwpmc_rings *rings;
	struct hwpmc_record r;
	uint64_t value, more;
	unsigned int n;
	uint32_t id, other;

	REFUSED(hwpmc_open(NULL));
	REFUSED(hwpmc_fd(NULL));
	REFUSED(hwpmc_allocate(NULL, "x", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id));
	REFUSED(hwpmc_allocate_event(NULL, &event, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id));
	REFUSED(hwpmc_allocate_raw(NULL, &req));
	REFUSED(hwpmc_open_counter(NULL, "x", HWPMC_MODE_TC, 0, 0, 0, &id));
	REFUSED(hwpmc_open_event(NULL, &event, HWPMC_MODE_TC, 0, 0, 0, &id));
	REFUSED(hwpmc_release(NULL, 0));
	REFUSED(hwpmc_attach(NULL, 0, 0));
	REFUSED(hwpmc_detach(NULL, 0, 0));
	REFUSED(hwpmc_start(NULL, 0));
	REFUSED(hwpmc_stop(NULL, 0));
	REFUSED(hwpmc_read(NULL, 0, &value));
	REFUSED(hwpmc_write(NULL, 0, 0));
	REFUSED(hwpmc_rw(NULL, 0, 0, &value));
	REFUSED(hwpmc_open_names(NULL));
	REFUSED(hwpmc_set(NULL, 0, 0));
	REFUSED(hwpmc_batch(NULL, HWPMC_BATCH_READ, &entry, 1));
	REFUSED(hwpmc_counter_open(NULL, 0, &c));
	REFUSED(hwpmc_capabilities(NULL, 0, &id));
	REFUSED(hwpmc_width(NULL, 0, &id));
	REFUSED(hwpmc_get_msr(NULL, 0, &id));
	NONE(hwpmc_region_new(NULL, "x", &id, 1));
	REFUSED(hwpmc_configure_log(NULL, -1));
	REFUSED(hwpmc_flush_log(NULL));
	REFUSED(hwpmc_close_log(NULL));
	REFUSED(hwpmc_write_log(NULL, 0));
	NONE(hwpmc_cpuinfo(NULL));
	REFUSED(hwpmc_pmu_state(NULL, &id));
	REFUSED(hwpmc_notes(NULL, notes));
	REFUSED(hwpmc_pmcinfo(NULL, 0, &rows, &n));
	REFUSED(hwpmc_driver_stats(NULL, &stats));
	REFUSED(hwpmc_module_version(NULL, &id));
	REFUSED(hwpmc_admin(NULL, 0, 0, HWPMC_STATE_FREE));
	REFUSED(hwpmc_revoke(NULL));
	REFUSED(hwpmc_kgmon(NULL, &kgmon));
	REFUSED(hwpmc_event_parse(NULL, "x", &event));
	REFUSED(hwpmc_event_each(NULL, HWPMC_CLASS_EVERY, each, NULL));
	REFUSED(hwpmc_event_each_wanted(NULL, HWPMC_CLASS_EVERY, NULL, each, NULL));
	REFUSED(hwpmc_unwind_add(NULL, &unwind));
	REFUSED(hwpmc_chain_stats(NULL, &value, 1));
	REFUSED(hwpmc_kinds(NULL, 0, &id, &other));
	REFUSED(hwpmc_uncounted(NULL, 0, &id, &value, &more));
	REFUSED(hwpmc_rings_open(NULL, 0, 0, &rings));
	REFUSED(hwpmc_rings_read(NULL, take, NULL, NULL));
	REFUSED(hwpmc_rings_wait(NULL, 0));
	REFUSED(hwpmc_rings_next(NULL, 0, &r));
	REFUSED(hwpmc_group_open(NULL, specs, 1, 0, 0, &group));
	NONE(hwpmc_group_ids(NULL, &n));
	REFUSED(hwpmc_group_attach(NULL, 0));
	REFUSED(hwpmc_group_detach(NULL, 0));
	REFUSED(hwpmc_group_start(NULL));
	REFUSED(hwpmc_group_stop(NULL));
	REFUSED(hwpmc_group_read(NULL, &value));
	REFUSED(hwpmc_group_map(NULL));
	hwpmc_group_close(NULL);
}
END_TEST

START_TEST(null_results_and_arguments_are_einval)
{
	struct hwpmc_event event = { .ncode = 1 };
	const char *specs[] = { NULL, "x" };
	struct hwpmc_counter c = { 0 };
	struct hwpmc_group *group;
	struct hwpmc_pmcinfo *rows;
	uint64_t value, more;
	unsigned int n;
	uint32_t id = 0, other;

	REFUSED(hwpmc_allocate(h, NULL, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id));
	REFUSED(hwpmc_allocate(h, "x", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, NULL));
	REFUSED(hwpmc_allocate_event(h, NULL, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id));
	REFUSED(hwpmc_allocate_event(h, &event, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, NULL));
	REFUSED(hwpmc_allocate_raw(h, NULL));
	REFUSED(hwpmc_open_counter(h, NULL, HWPMC_MODE_TC, 0, 0, 0, &id));
	REFUSED(hwpmc_open_event(h, NULL, HWPMC_MODE_TC, 0, 0, 0, &id));
	REFUSED(hwpmc_open_event(h, &event, HWPMC_MODE_TC, 0, 0, 0, NULL));
	REFUSED(hwpmc_read(h, 0, NULL));
	REFUSED(hwpmc_rw(h, 0, 0, NULL));
	REFUSED(hwpmc_batch(h, HWPMC_BATCH_READ, NULL, 1));
	REFUSED(hwpmc_batch_error(h, HWPMC_BATCH_READ, NULL));
	REFUSED(hwpmc_counter_open(h, 0, NULL));
	REFUSED(hwpmc_counter_read_again(NULL, &value));
	REFUSED(hwpmc_counter_read_again(&c, &value));
	REFUSED(hwpmc_capabilities(h, 0, NULL));
	REFUSED(hwpmc_width(h, 0, NULL));
	REFUSED(hwpmc_get_msr(h, 0, NULL));
	NONE(hwpmc_region_new(h, "x", NULL, 1));
	REFUSED(hwpmc_pmu_state(h, NULL));
	REFUSED(hwpmc_notes(h, NULL));
	REFUSED(hwpmc_pmu_holder(NULL, 0, NULL, 0));
	REFUSED(hwpmc_pmcinfo(h, 0, NULL, &n));
	REFUSED(hwpmc_pmcinfo(h, 0, &rows, NULL));
	REFUSED(hwpmc_driver_stats(h, NULL));
	REFUSED(hwpmc_module_version(h, NULL));
	REFUSED(hwpmc_kgmon(h, NULL));
	REFUSED(hwpmc_event_parse(h, NULL, &event));
	REFUSED(hwpmc_event_parse(h, "x", NULL));
	REFUSED(hwpmc_event_each(h, HWPMC_CLASS_EVERY, NULL, NULL));
	REFUSED(hwpmc_event_each_wanted(h, HWPMC_CLASS_EVERY, NULL, NULL, NULL));
	REFUSED(hwpmc_unwind_add(h, NULL));
	REFUSED(hwpmc_chain_stats(h, NULL, 1));
	REFUSED(hwpmc_kinds(h, 0, NULL, &other));
	REFUSED(hwpmc_kinds(h, 0, &id, NULL));
	REFUSED(hwpmc_uncounted(h, 0, NULL, &value, &more));
	REFUSED(hwpmc_uncounted(h, 0, &id, NULL, &more));
	REFUSED(hwpmc_uncounted(h, 0, &id, &value, NULL));
	REFUSED(hwpmc_group_open(h, NULL, 1, 0, 0, &group));
	REFUSED(hwpmc_group_open(h, specs, 2, 0, 0, &group));
	ck_assert_ptr_null(group);
	REFUSED(hwpmc_group_open(h, specs + 1, 1, 0, 0, NULL));
	REFUSED(hwpmc_rings_open(h, 0, 0, NULL));
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "hwpmc_rings_open: a required pointer"));
}
END_TEST

START_TEST(null_regions_and_parsers_are_einval_or_nothing)
{
	struct hwpmc_region_stats stats;
	struct hwpmc_parser *p = hwpmc_parser_new();
	const char *specs[] = { NULL, "x" };
	struct hwpmc_marks *marks;
	struct hwpmc_record r;
	uint64_t counts[4];
	char text[10];
	size_t bytes;

	REFUSED(hwpmc_region_get(NULL, 0, &stats));
	NONE(hwpmc_region_name(NULL));
	hwpmc_region_free(NULL);
	hwpmc_region_reset(NULL);
	(hwpmc_region_begin)(NULL);
	(hwpmc_region_end)(NULL);
	REFUSED(hwpmc_parser_feed(NULL, "x", 1));
	REFUSED(hwpmc_parser_feed(p, NULL, 1));
	errno = 0;
	ck_assert_int_eq(hwpmc_parser_next(NULL, &r), HWPMC_PARSE_ERROR);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(hwpmc_parser_next(p, NULL), HWPMC_PARSE_ERROR);
	NONE(hwpmc_parser_samples(NULL, &bytes));
	NONE(hwpmc_parser_samples(p, NULL));
	ck_assert_int_eq(hwpmc_parser_errno(NULL), EINVAL);
	ck_assert_ptr_nonnull(hwpmc_parser_error(NULL));
	ck_assert_uint_eq(hwpmc_parser_error_offset(NULL), 0);
	hwpmc_parser_end(NULL);
	hwpmc_parser_skip_samples(NULL, true);
	hwpmc_parser_free(NULL);
	hwpmc_parser_free(p);
	hwpmc_rings_close(NULL);
	hwpmc_rings_mark(0, NULL);
	hwpmc_rings_drop_counts(NULL, counts, counts, 4);
	ck_assert_uint_eq(hwpmc_record_drops(NULL, counts, counts, 4), 0);
	ck_assert(!hwpmc_precise_word(NULL, 0, counts));
	ck_assert(!hwpmc_precise_word(&(struct hwpmc_log_precise){ .present = 1 }, 0, NULL));
	ck_assert_int_eq(hwpmc_chain_end(NULL), -1);
	hwpmc_note_text(NULL, text, sizeof(text));
	hwpmc_note_text(&(struct hwpmc_classnote){ 0 }, NULL, 0);
	REFUSED(hwpmc_marks_open(NULL, 1, &marks));
	REFUSED(hwpmc_marks_open(specs, 1, NULL));
	REFUSED(hwpmc_marks_open(specs, 1, &marks));
	REFUSED(hwpmc_marks_open(specs + 1, 0, &marks));
	NONE(hwpmc_marks_env(NULL));
	REFUSED(hwpmc_marks_each(NULL, true, each_mark, NULL));
	ck_assert_int_eq(hwpmc_marks_open(specs + 1, 1, &marks), 0);
	REFUSED(hwpmc_marks_each(marks, true, NULL, NULL));
	REFUSED(hwpmc_marks_state(NULL, text, sizeof(text), counts, counts));
	REFUSED(hwpmc_marks_state(marks, NULL, 1, counts, counts));
	REFUSED(hwpmc_marks_state(marks, text, sizeof(text), NULL, counts));
	REFUSED(hwpmc_marks_state(marks, text, sizeof(text), counts, NULL));
	hwpmc_marks_close(marks);
	hwpmc_marks_close(NULL);
	hwpmc_mark_begin(NULL);
	hwpmc_mark_end(NULL);
	hwpmc_mark_done(NULL);
	hwpmc_close(NULL);
	/* A null handle is that of hwpmc_open(). */
	ck_assert_ptr_nonnull(hwpmc_error(NULL));
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(null_handles_are_einval_in_each_call);
	harness_add(null_results_and_arguments_are_einval);
	harness_add(null_regions_and_parsers_are_einval_or_nothing);
	return harness_run();
}
