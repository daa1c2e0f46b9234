/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_unmapped.c - samples of user mode that no mapping of the log explains: each has a
 * reason, of the profile and of single samples. perf shows "[unknown]" for all of them.
 */
#include <stdio.h>

#include "stat_log.h"

#define PID	42
#define STRANGER 43
#define TEXT	0x400000ull
#define SIZE	0x10000ull
#define VSYSCALL 0xffffffffff600000ull

static struct log log_;
static struct hwpmc_profile *p;
static struct hwpmc_profile_options options;

static void setup(void)
{
	options = log_options();
	options.symbols.no_symbols = true;
	log_begin(&log_);
	log_exec(&log_, PID, "/bin/prog", "prog");
	log_map(&log_, PID, TEXT, SIZE, 0, "/bin/prog");
	log_context(&log_, PID, PID);
}

static void teardown(void)
{
	hwpmc_profile_free(p);
	log_free(&log_);
}

static void drop(uint64_t others)
{
	struct hwpmc_log_drop *r = log_add(&log_, HWPMC_LOG_DROPNOTIFY, sizeof(*r));

	r->ncause = HWPMC_DROP_FIXED;
	r->others[HWPMC_DROP_FULL] = others;
}

/* The reason that a profile has for the image of all of them. */
static const char *problem_of(const struct hwpmc_profile *profile)
{
	struct hwpmc_image *const *image;
	uint32_t n;

	image = hwpmc_profile_images(profile, &n);
	for (uint32_t i = 0; i < n; i++)
		if (image[i]->kind == HWPMC_IMAGE_UNKNOWN)
			return image[i]->problem ?: "";
	ck_abort_msg("no image for addresses without a mapping");
}

static const char *problem(void)
{
	hwpmc_profile_free(p);
	p = log_profile(&log_, &options);
	check_conservation(&log_, p);
	return problem_of(p);
}

static enum hwpmc_unmapped reason_at(uint64_t pc)
{
	return stack_at(p, pc)->frame[0]->unmapped;
}

#define BEGIN "no mapping of the log has their addresses: "

START_TEST(unmapped_samples_are_explained_by_kind)
{
	log_user(&log_, TEXT + 1);
	ck_assert_str_eq(problem(), "");
	ck_assert_int_eq(reason_at(TEXT + 1), HWPMC_MAPPED);
	log_user(&log_, 0x10);
	log_user(&log_, 0x10);
	ck_assert_str_eq(problem(), BEGIN "2 at addresses where no executable mapping was");
	ck_assert_int_eq(reason_at(0x10), HWPMC_UNMAPPED_NOTHING);
	log_user(&log_, VSYSCALL + 0xfff);
	log_user(&log_, VSYSCALL + 0x1000);
	ck_assert_str_eq(problem(), BEGIN "2 at addresses where no executable mapping was, "
			 "1 in user mode at addresses of the kernel, "
			 "1 in the vsyscall page, which has no file");
	ck_assert_int_eq(reason_at(VSYSCALL + 0xfff), HWPMC_UNMAPPED_VSYSCALL);
	ck_assert_int_eq(reason_at(VSYSCALL + 0x1000), HWPMC_UNMAPPED_KERNEL);
}
END_TEST

START_TEST(unmapped_samples_of_removed_mappings_are_told_apart)
{
	log_map(&log_, PID, TEXT + SIZE, SIZE, 0, "/bin/lib.so");
	log_unmap(&log_, PID, TEXT + SIZE, SIZE);
	log_user(&log_, TEXT + SIZE + 1);
	log_user(&log_, TEXT + 2 * SIZE);
	ck_assert_str_eq(problem(), BEGIN "1 where a mapping had been removed, "
			 "1 at addresses where no executable mapping was");
	ck_assert_int_eq(reason_at(TEXT + SIZE + 1), HWPMC_UNMAPPED_REMOVED);
}
END_TEST

START_TEST(unmapped_samples_of_processes_without_mappings_say_so)
{
	log_user(&log_, 0x10);
	log_context(&log_, STRANGER, STRANGER);
	log_user(&log_, 0x10);
	ck_assert_str_eq(problem(), BEGIN "1 of processes of which the log has no mapping, "
			 "1 at addresses where no executable mapping was");
}
END_TEST

START_TEST(unmapped_samples_may_be_of_dropped_mappings)
{
	drop(3);
	drop(4);
	ck_assert_str_eq(problem(), "");
	log_user(&log_, 0x10);
	ck_assert_str_eq(problem(), BEGIN "1 at addresses where no executable mapping was; "
			 "7 records that were dropped may have been mappings");
}
END_TEST

START_TEST(unmapped_samples_are_of_chosen_processes)
{
	log_user(&log_, 0x10);
	log_context(&log_, STRANGER, STRANGER);
	log_user(&log_, 0x10);
	options.pids = (int32_t[]){ PID };
	options.npid = 1;
	ck_assert_str_eq(problem(), BEGIN "1 at addresses where no executable mapping was");
}
END_TEST

START_TEST(unmapped_samples_are_counted_once_by_a_live_view)
{
	struct hwpmc_input *in;
	struct hwpmc_record r;

	log_user(&log_, 0x10);
	hwpmc_profile_free(p);
	p = hwpmc_profile_new(&options);
	in = hwpmc_input_memory(log_.bytes, log_.len);
	while (hwpmc_input_next(in, &r) > 0)
		ck_assert_int_eq(hwpmc_profile_feed(p, &r), 0);
	hwpmc_input_close(in);
	for (int round = 0; round < 2; round++) {
		ck_assert_int_eq(hwpmc_profile_resolve(p), 0);
		ck_assert_str_eq(problem_of(p),
				 BEGIN "1 at addresses where no executable mapping was");
	}
}
END_TEST

START_TEST(unmapped_places_of_single_samples_have_reasons)
{
	struct hwpmc_symbol_options o = { .no_symbols = true };
	const struct hwpmc_place *const *place;
	struct hwpmc_lookup *l;
	struct hwpmc_input *in;
	struct hwpmc_record r;
	char err[200];
	uint32_t n;

	log_user(&log_, 0x10);
	log_context(&log_, STRANGER, STRANGER);
	log_user(&log_, 0x10);
	l = hwpmc_lookup_new(&o);
	in = hwpmc_input_memory(log_.bytes, log_.len);
	ck_assert_int_eq(hwpmc_lookup_learn(l, in, err, sizeof(err)), 1);
	for (int i = 0; hwpmc_input_next(in, &r) > 0;) {
		if (r.hdr->type != HWPMC_LOG_CALLCHAIN)
			continue;
		place = hwpmc_lookup_stack(l, &r, 1, &n);
		ck_assert_uint_eq(n, 1);
		ck_assert_int_eq(place[0]->frame.unmapped, i++ ? HWPMC_UNMAPPED_NO_MAPPINGS :
				 HWPMC_UNMAPPED_NOTHING);
	}
	hwpmc_input_close(in);
	hwpmc_lookup_free(l);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(unmapped_samples_are_explained_by_kind);
	harness_add(unmapped_samples_of_removed_mappings_are_told_apart);
	harness_add(unmapped_samples_of_processes_without_mappings_say_so);
	harness_add(unmapped_samples_may_be_of_dropped_mappings);
	harness_add(unmapped_samples_are_of_chosen_processes);
	harness_add(unmapped_samples_are_counted_once_by_a_live_view);
	harness_add(unmapped_places_of_single_samples_have_reasons);
	return harness_run();
}
