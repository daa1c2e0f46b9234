/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_null - the rule of lib_null for libhwpmcstat: each function with each of its pointers
 * null is EINVAL, 0, or does nothing.
 */
#include <errno.h>
#include <string.h>

#include <libhwpmcstat.h>

#include "harness.h"
#include "lib_refused.h"

static const struct hwpmc_profile_options all;
static char err[200];

START_TEST(null_inputs_are_einval_in_each_call_of_the_input)
{
	struct hwpmc_input *in = hwpmc_input_memory("x", 1);
	struct hwpmc_record r;
	size_t bytes = 1;

	NONE(hwpmc_input_open(NULL, err, sizeof(err)));
	ck_assert_ptr_nonnull(strstr(err, "null"));
	/* Without a sentence. */
	ck_assert_ptr_null(hwpmc_input_open("/nonexistent", NULL, 1));
	ck_assert_int_eq(errno, ENOENT);
	ck_assert_ptr_null(hwpmc_input_fd(-1, NULL, 1));
	NONE(hwpmc_input_memory(NULL, 1));
	REFUSED(hwpmc_input_next(NULL, &r));
	REFUSED(hwpmc_input_next(in, NULL));
	NONE(hwpmc_input_samples(NULL, &bytes));
	ck_assert_uint_eq(bytes, 0);
	NONE(hwpmc_input_samples(in, NULL));
	REFUSED(hwpmc_input_keep(NULL));
	REFUSED(hwpmc_input_rewind(NULL));
	hwpmc_input_skip_samples(NULL, true);
	hwpmc_input_limit(NULL, 1);
	hwpmc_input_close(NULL);
	ck_assert_ptr_nonnull(hwpmc_input_error(NULL));
	ck_assert(!hwpmc_input_cut(NULL));
	ck_assert_uint_eq(hwpmc_input_bytes(NULL), 0);
	hwpmc_input_close(in);
}
END_TEST

START_TEST(null_profiles_are_einval_in_each_call_of_the_profile)
{
	struct hwpmc_profile *p = hwpmc_profile_new(&all);
	struct hwpmc_input *in = hwpmc_input_memory("x", 1);
	struct hwpmc_image image = { 0 };
	struct hwpmc_frame frame = { 0 };
	struct hwpmc_record r = { 0 };
	const char *file;
	uint64_t exact, inexact;
	unsigned int line;
	uint32_t n = 1;

	NONE(hwpmc_profile_new(NULL));
	NONE(hwpmc_profile_read(NULL, &all, NULL, NULL, err, sizeof(err)));
	NONE(hwpmc_profile_read(in, NULL, NULL, NULL, err, sizeof(err)));
	ck_assert_ptr_null(hwpmc_profile_read(in, &all, NULL, NULL, NULL, 1));
	REFUSED(hwpmc_profile_feed(NULL, &r));
	REFUSED(hwpmc_profile_feed(p, NULL));
	REFUSED(hwpmc_profile_resolve(NULL));
	REFUSED(hwpmc_profile_prepare(NULL));
	hwpmc_profile_clear(NULL);
	hwpmc_profile_forget(NULL);
	hwpmc_profile_free(NULL);
	NONE(hwpmc_profile_totals(NULL));
	NONE(hwpmc_profile_events(NULL, &n));
	ck_assert_uint_eq(n, 0);
	NONE(hwpmc_profile_events(p, NULL));
	REFUSED(hwpmc_profile_exact(NULL, 0, &exact, &inexact));
	REFUSED(hwpmc_profile_exact(p, 0, NULL, &inexact));
	REFUSED(hwpmc_profile_exact(p, 0, &exact, NULL));
	NONE(hwpmc_profile_losses(NULL, &n));
	NONE(hwpmc_profile_losses(p, NULL));
	NONE(hwpmc_profile_stacks(NULL, &n));
	NONE(hwpmc_profile_stacks(p, NULL));
	NONE(hwpmc_profile_timeline(NULL, &n));
	NONE(hwpmc_profile_timeline(p, NULL));
	NONE(hwpmc_profile_images(NULL, &n));
	NONE(hwpmc_profile_images(p, NULL));
	NONE(hwpmc_profile_symbol(NULL, &image, 0));
	NONE(hwpmc_profile_symbol(p, NULL, 0));
	NONE(hwpmc_profile_note(NULL, "x"));
	NONE(hwpmc_profile_note(p, NULL));
	REFUSED(hwpmc_frame_line(NULL, &frame, &file, &line));
	REFUSED(hwpmc_frame_line(p, NULL, &file, &line));
	REFUSED(hwpmc_frame_line(p, &frame, NULL, &line));
	REFUSED(hwpmc_frame_line(p, &frame, &file, NULL));
	REFUSED(hwpmc_image_line(NULL, &image, 0, &file, &line));
	REFUSED(hwpmc_image_line(p, NULL, 0, &file, &line));
	REFUSED(hwpmc_image_line(p, &image, 0, NULL, &line));
	REFUSED(hwpmc_image_line(p, &image, 0, &file, NULL));
	hwpmc_input_close(in);
	hwpmc_profile_free(p);
}
END_TEST

START_TEST(null_lookups_are_einval_in_each_call_of_the_lookup)
{
	struct hwpmc_lookup *l = hwpmc_lookup_new(&all.symbols);
	struct hwpmc_input *in = hwpmc_input_memory("x", 1);
	struct hwpmc_record r = { 0 };
	uint64_t from, until;
	uint32_t n = 1;

	NONE(hwpmc_lookup_new(NULL));
	hwpmc_lookup_free(NULL);
	REFUSED(hwpmc_lookup_learn(NULL, in, err, sizeof(err)));
	REFUSED(hwpmc_lookup_learn(l, NULL, err, sizeof(err)));
	ck_assert_int_eq(hwpmc_lookup_learn(l, in, NULL, 1), -1);
	hwpmc_lookup_feed(NULL, &r);
	hwpmc_lookup_feed(l, NULL);
	ck_assert_int_eq(hwpmc_lookup_error(NULL), EINVAL);
	ck_assert_int_eq(hwpmc_lookup_error(l), 0);
	ck_assert_uint_eq(hwpmc_lookup_time(NULL, 1), 0);
	ck_assert_uint_eq(hwpmc_lookup_kind(NULL, 0), 0);
	NONE(hwpmc_lookup_event(NULL, 0));
	NONE(hwpmc_lookup_task(NULL, &r));
	NONE(hwpmc_lookup_task(l, NULL));
	NONE(hwpmc_lookup_span(NULL, &r, &from, &until));
	NONE(hwpmc_lookup_span(l, NULL, &from, &until));
	NONE(hwpmc_lookup_span(l, &r, NULL, &until));
	NONE(hwpmc_lookup_span(l, &r, &from, NULL));
	NONE(hwpmc_lookup_stack(NULL, &r, 1, &n));
	ck_assert_uint_eq(n, 0);
	NONE(hwpmc_lookup_stack(l, NULL, 1, &n));
	NONE(hwpmc_lookup_stack(l, &r, 1, NULL));
	hwpmc_input_close(in);
	hwpmc_lookup_free(l);
}
END_TEST

START_TEST(null_files_and_tables_are_einval_in_each_call)
{
	const struct hwpmc_guard guard = { .limit = 1 };
	const struct hwpmc_symbol symbol = { .name = "f", .raw = "f" };
	const char *why = NULL;
	char name[8];

	REFUSED(hwpmc_running_kernel(NULL));
	NONE(hwpmc_shorten_name(NULL, name, sizeof(name)));
	NONE(hwpmc_shorten_name("f", NULL, 8));
	NONE(hwpmc_symbol_is(NULL, "f"));
	NONE(hwpmc_symbol_is(&symbol, NULL));
	REFUSED(hwpmc_open_guarded(NULL, "/etc/passwd", &why));
	ck_assert_ptr_nonnull(why);
	REFUSED(hwpmc_open_guarded(&guard, NULL, NULL));
	REFUSED(hwpmc_unwind_read(0, NULL));
	REFUSED(hwpmc_unwind_read_cached(0, -1, NULL));
	REFUSED(hwpmc_unwind_read_vdso(NULL));
	REFUSED(hwpmc_unwind_cache_open(NULL, &why));
	REFUSED(hwpmc_unwind_cache_open("/tmp", NULL));
	REFUSED(hwpmc_unwind_add_process(NULL, 0));
	hwpmc_unwind_free(NULL);
}
END_TEST

int main(void)
{
	harness_add(null_inputs_are_einval_in_each_call_of_the_input);
	harness_add(null_profiles_are_einval_in_each_call_of_the_profile);
	harness_add(null_lookups_are_einval_in_each_call_of_the_lookup);
	harness_add(null_files_and_tables_are_einval_in_each_call);
	return harness_run();
}
