/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_model.c - which process and which image an address belongs to at a time:
 * exec, fork, exit, numbers that are used again, mappings that come, go and lie over
 * each other, and records that are not in the order of time.
 */
#include <stdio.h>

#include "stat_log.h"

#define PID	42
#define TEXT	0x400000ull
#define LIB	0x7f0000000000ull

static struct log log_;
static struct hwpmc_profile *p;

static void setup(void)
{
	log_begin(&log_);
	log_context(&log_, PID, PID);
}

static void teardown(void)
{
	hwpmc_profile_free(p);
	log_free(&log_);
}

static void read_it(void)
{
	struct hwpmc_profile_options o = log_options();

	o.symbols.no_symbols = true;
	p = log_profile(&log_, &o);
	check_conservation(&log_, p);
}

static void at(uint64_t time)
{
	log_.time = time;
}

static const char *image_at(uint64_t pc)
{
	return stack_at(p, pc)->frame[0]->image->name;
}

static const struct hwpmc_thread_info *thread_at(uint64_t pc)
{
	return stack_at(p, pc)->thread;
}

/* Samples tell themselves apart by their address. */

START_TEST(an_exec_gives_the_process_another_program)
{
	at(2000);
	log_exec(&log_, PID, "/bin/first", "first");
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/first");
	log_user(&log_, TEXT + 1);
	at(3000);
	log_exec(&log_, PID, "/bin/second", "second");
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/second");
	log_user(&log_, TEXT + 2);
	read_it();
	ck_assert_str_eq(image_at(TEXT + 1), "first");
	ck_assert_str_eq(thread_at(TEXT + 1)->process, "first");
	ck_assert_str_eq(image_at(TEXT + 2), "second");
	ck_assert_str_eq(thread_at(TEXT + 2)->process, "second");
	ck_assert_str_eq(thread_at(TEXT + 2)->path, "/bin/second");
}
END_TEST

START_TEST(what_was_mapped_before_an_exec_is_gone_after_it)
{
	log_exec(&log_, PID, "/bin/first", "first");
	log_map(&log_, PID, LIB, 0x1000, 0, "/lib/libfirst.so");
	log_exec(&log_, PID, "/bin/second", "second");
	log_user(&log_, LIB + 1);
	read_it();
	ck_assert_str_eq(image_at(LIB + 1), "[unknown]");
}
END_TEST

START_TEST(a_child_has_what_its_parent_had_mapped)
{
	log_exec(&log_, PID, "/bin/parent", "parent");
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/parent");
	log_fork(&log_, PID, 43);
	/* What the parent maps from now on is its own. */
	log_map(&log_, PID, LIB, 0x1000, 0, "/lib/liblate.so");
	log_context(&log_, 43, 43);
	log_user(&log_, TEXT + 1);
	log_user(&log_, LIB + 1);
	read_it();
	ck_assert_str_eq(image_at(TEXT + 1), "parent");
	ck_assert_str_eq(thread_at(TEXT + 1)->process, "parent");
	ck_assert_int_eq(thread_at(TEXT + 1)->pid, 43);
	ck_assert_str_eq(image_at(LIB + 1), "[unknown]");
}
END_TEST

START_TEST(a_process_number_that_is_used_again_is_another_process)
{
	log_exec(&log_, PID, "/bin/old", "old");
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/old");
	at(2000);
	log_user(&log_, TEXT + 1);
	log_exit(&log_, PID);
	log_exec(&log_, 1, "/bin/shell", "shell");
	log_map(&log_, 1, TEXT, 0x1000, 0, "/bin/shell");
	at(3000);
	log_fork(&log_, 1, PID);
	log_user(&log_, TEXT + 2);
	log_exec(&log_, PID, "/bin/new", "new");
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/new");
	log_user(&log_, TEXT + 3);
	read_it();
	ck_assert_str_eq(image_at(TEXT + 1), "old");
	ck_assert_str_eq(image_at(TEXT + 2), "shell");
	ck_assert_str_eq(image_at(TEXT + 3), "new");
	ck_assert_str_eq(thread_at(TEXT + 1)->process, "old");
	ck_assert_str_eq(thread_at(TEXT + 3)->process, "new");
}
END_TEST

START_TEST(records_of_other_cpus_are_put_into_the_order_of_time)
{
	/* CPU 1 comes first in the file, and its time is later. */
	log_cpu(&log_, 1);
	log_context(&log_, PID, PID);
	at(5000);
	log_user(&log_, TEXT + 2);
	log_fork(&log_, PID, 43);
	at(6000);
	log_context(&log_, 43, 43);
	log_user(&log_, TEXT + 3);
	log_cpu(&log_, 0);
	log_context(&log_, PID, PID);
	at(2000);
	log_exec(&log_, PID, "/bin/first", "first");
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/first");
	log_user(&log_, TEXT + 1);
	at(4000);
	log_exec(&log_, PID, "/bin/second", "second");
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/second");
	read_it();
	ck_assert_str_eq(image_at(TEXT + 1), "first");
	ck_assert_str_eq(image_at(TEXT + 2), "second");
	ck_assert_str_eq(image_at(TEXT + 3), "second");
}
END_TEST

START_TEST(samples_before_the_record_of_their_mapping_belong_to_it)
{
	at(2000);
	log_user(&log_, TEXT + 1);
	at(3000);
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/program")->hdr.flags |=
		HWPMC_LOG_SNAPSHOT;
	read_it();
	ck_assert_str_eq(image_at(TEXT + 1), "program");
}
END_TEST

START_TEST(a_sample_between_an_exec_and_its_mappings_belongs_to_them)
{
	log_exec(&log_, PID, "/bin/program", "program");
	log_user(&log_, TEXT + 1);
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/program");
	read_it();
	ck_assert_str_eq(image_at(TEXT + 1), "program");
}
END_TEST

START_TEST(a_library_opened_later_covers_only_what_it_was_mapped_to)
{
	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/program");
	log_user(&log_, TEXT + 1);
	log_user(&log_, LIB + 0xfff);
	log_map(&log_, PID, LIB + 0x1000, 0x1000, 0x3000, "/lib/libx.so");
	log_user(&log_, LIB + 0x1001);
	log_user(&log_, LIB + 0x2000);
	read_it();
	ck_assert_str_eq(image_at(LIB + 0xfff), "[unknown]");
	ck_assert_str_eq(image_at(LIB + 0x1001), "libx.so");
	ck_assert_uint_eq(stack_at(p, LIB + 0x1001)->frame[0]->addr, 0x3001);
	ck_assert_str_eq(image_at(LIB + 0x2000), "[unknown]");
}
END_TEST

START_TEST(a_mapping_over_another_replaces_it)
{
	at(2000);
	log_map(&log_, PID, LIB, 0x4000, 0, "/lib/libold.so");
	log_user(&log_, LIB + 0x1001);
	at(3000);
	log_map(&log_, PID, LIB + 0x1000, 0x1000, 0, "/lib/libnew.so");
	log_user(&log_, LIB + 0x0002);
	log_user(&log_, LIB + 0x1002);
	log_user(&log_, LIB + 0x2002);
	read_it();
	ck_assert_str_eq(image_at(LIB + 0x1001), "libold.so");
	ck_assert_str_eq(image_at(LIB + 0x0002), "libold.so");
	ck_assert_str_eq(image_at(LIB + 0x1002), "libnew.so");
	ck_assert_str_eq(image_at(LIB + 0x2002), "libold.so");
}
END_TEST

START_TEST(what_was_unmapped_is_unknown_from_then_on)
{
	at(2000);
	log_map(&log_, PID, LIB, 0x3000, 0, "/lib/libx.so");
	log_user(&log_, LIB + 0x1001);
	at(3000);
	log_unmap(&log_, PID, LIB + 0x1000, 0x1000);
	log_user(&log_, LIB + 0x0002);
	log_user(&log_, LIB + 0x1002);
	log_user(&log_, LIB + 0x2002);
	at(4000);
	log_map(&log_, PID, LIB + 0x1000, 0x1000, 0, "/lib/liby.so");
	log_user(&log_, LIB + 0x1003);
	read_it();
	ck_assert_str_eq(image_at(LIB + 0x1001), "libx.so");
	ck_assert_str_eq(image_at(LIB + 0x0002), "libx.so");
	ck_assert_str_eq(image_at(LIB + 0x1002), "[unknown]");
	ck_assert_str_eq(image_at(LIB + 0x2002), "libx.so");
	ck_assert_str_eq(image_at(LIB + 0x1003), "liby.so");
	ck_assert_uint_eq(hwpmc_profile_totals(p)->unknown, 5);
}
END_TEST

START_TEST(one_address_means_what_lies_there_at_each_time)
{
	at(2000);
	log_map(&log_, PID, LIB, 0x4000, 0, "/lib/libold.so");
	log_user(&log_, LIB + 0x1001);
	log_user(&log_, LIB + 0x1001);
	at(3000);
	log_unmap(&log_, PID, LIB, 0x4000);
	log_user(&log_, LIB + 0x1001);
	at(4000);
	log_map(&log_, PID, LIB, 0x4000, 0, "/lib/libnew.so");
	for (int i = 0; i < 3; i++)
		log_user(&log_, LIB + 0x1001);
	read_it();
	ck_assert_uint_eq(image_of(p, "libold.so")->samples, 2);
	ck_assert_uint_eq(image_of(p, "[unknown]")->samples, 1);
	ck_assert_uint_eq(image_of(p, "libnew.so")->samples, 3);
}
END_TEST

START_TEST(a_mapping_counts_from_its_very_time_on)
{
	at(2000);
	log_map(&log_, PID, LIB, 0x4000, 0, "/lib/libold.so");
	at(2999);
	log_user(&log_, LIB + 0x1001);
	log_map(&log_, PID, LIB, 0x4000, 0, "/lib/libnew.so");
	at(3000);
	log_user(&log_, LIB + 0x1001);
	read_it();
	ck_assert_uint_eq(image_of(p, "libold.so")->samples, 1);
	ck_assert_uint_eq(image_of(p, "libnew.so")->samples, 1);
}
END_TEST

/* As a loader tells of a program twice, and a library opened beside it. */
START_TEST(what_is_mapped_again_or_beside_it_does_not_split_stacks)
{
	uint32_t n;

	at(2000);
	log_map(&log_, PID, LIB, 0x4000, 0, "/lib/libold.so");
	log_user(&log_, LIB + 0x1001);
	at(3000);
	log_map(&log_, PID, LIB, 0x4000, 0, "/lib/libold.so");
	log_map(&log_, PID, LIB + 0x4000, 0x4000, 0, "/lib/libnew.so");
	log_user(&log_, LIB + 0x1001);
	read_it();
	ck_assert_uint_eq(hwpmc_profile_stacks(p, &n)->count, 2);
	ck_assert_uint_eq(n, 1);
}
END_TEST

START_TEST(what_lay_below_an_unmapped_mapping_does_not_come_back)
{
	log_map(&log_, PID, LIB, 0x3000, 0, "/lib/libbelow.so");
	log_map(&log_, PID, LIB + 0x1000, 0x1000, 0, "/lib/libabove.so");
	log_unmap(&log_, PID, LIB + 0x1000, 0x1000);
	log_user(&log_, LIB + 0x1002);
	read_it();
	ck_assert_str_eq(image_at(LIB + 0x1002), "[unknown]");
}
END_TEST

START_TEST(the_same_file_in_two_processes_is_one_image)
{
	log_map(&log_, PID, LIB, 0x1000, 0, "/lib/libx.so");
	log_map(&log_, 43, 2 * LIB, 0x1000, 0, "/lib/libx.so");
	log_user(&log_, LIB + 1);
	log_context(&log_, 43, 43);
	log_user(&log_, 2 * LIB + 2);
	read_it();
	ck_assert_ptr_eq(stack_at(p, LIB + 1)->frame[0]->image,
			 stack_at(p, 2 * LIB + 2)->frame[0]->image);
	ck_assert_uint_eq(image_of(p, "libx.so")->samples, 2);
}
END_TEST

START_TEST(generated_code_of_two_processes_is_two_images)
{
	log_map(&log_, PID, LIB, 0x1000, 0, "//anon")->hdr.flags |=
		HWPMC_MAP_ANON;
	log_map(&log_, 43, LIB, 0x1000, 0, "//anon")->hdr.flags |=
		HWPMC_MAP_ANON;
	log_user(&log_, LIB + 1);
	log_context(&log_, 43, 43);
	log_user(&log_, LIB + 2);
	read_it();
	ck_assert_ptr_ne(stack_at(p, LIB + 1)->frame[0]->image,
			 stack_at(p, LIB + 2)->frame[0]->image);
	ck_assert_int_eq(stack_at(p, LIB + 1)->frame[0]->image->kind,
			 HWPMC_IMAGE_JIT);
}
END_TEST

START_TEST(a_chain_through_the_kernel_goes_on_in_the_program)
{
	uint64_t chain[5] = { 0xffffffff81000001, 0xffffffff81000010,
			      HWPMC_PC_USER, TEXT + 0x10, TEXT + 0x20 };
	const struct hwpmc_stack *s;

	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/program");
	log_stack(&log_, HWPMC_SAMPLE_SPLIT, 5, chain);
	read_it();
	s = stack_at(p, chain[0]);
	ck_assert_uint_eq(s->nframe, 4);
	ck_assert(s->frame[0]->kernel && !s->frame[0]->caller);
	ck_assert(s->frame[1]->kernel && s->frame[1]->caller);
	/* Where it entered the kernel is no return address. */
	ck_assert(!s->frame[2]->kernel && !s->frame[2]->caller);
	ck_assert(!s->frame[3]->kernel && s->frame[3]->caller);
	ck_assert_uint_eq(s->frame[2]->addr, 0x10);
	ck_assert_uint_eq(s->frame[3]->addr, 0x1f);
}
END_TEST

START_TEST(a_chain_that_ends_early_has_a_frame_that_says_why)
{
	uint64_t chain[4] = { TEXT + 0x10, HWPMC_PC_FP, TEXT + 0x20,
			      HWPMC_PC_END(HWPMC_CHAIN_NO_TABLE) };
	const struct hwpmc_profile_totals *t;
	const struct hwpmc_stack *s;
	uint32_t n;

	log_map(&log_, PID, TEXT, 0x1000, 0, "/bin/program");
	log_stack(&log_, HWPMC_SAMPLE_USER | HWPMC_SAMPLE_TABLES | HWPMC_SAMPLE_ENDS, 4,
		  chain);
	log_stack(&log_, HWPMC_SAMPLE_USER | HWPMC_SAMPLE_TABLES, 1, chain);
	log_stack(&log_, HWPMC_SAMPLE_USER | HWPMC_SAMPLE_TABLES | HWPMC_SAMPLE_CUT, 1,
		  chain);
	log_stack(&log_, HWPMC_SAMPLE_USER, 1, chain);
	/* A reason that only a newer module has. */
	chain[1] = HWPMC_PC_END(15);
	log_stack(&log_, HWPMC_SAMPLE_USER | HWPMC_SAMPLE_TABLES | HWPMC_SAMPLE_ENDS, 2,
		  chain);
	read_it();
	t = hwpmc_profile_totals(p);
	ck_assert_uint_eq(t->chains[HWPMC_CHAIN_COMPLETE], 1);
	ck_assert_uint_eq(t->chains[HWPMC_CHAIN_NO_TABLE], 1);
	ck_assert_uint_eq(t->chains[HWPMC_CHAIN_DEPTH], 1);
	ck_assert_uint_eq(t->chains[HWPMC_CHAIN_BROKEN], 1);
	s = hwpmc_profile_stacks(p, &n);
	while (n && s->nframe != 3)
		s++, n--;
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_eq(s->frame[1]->addr, 0x1f);
	ck_assert_int_eq(s->frame[2]->image->kind, HWPMC_IMAGE_CHAIN_END);
	ck_assert_str_eq(s->frame[2]->symbol->name, "[no unwind table]");
	ck_assert(!s->frame[2]->symbol->unknown);
}
END_TEST

START_TEST(a_chain_without_an_address_is_counted)
{
	uint64_t mark = HWPMC_PC_USER;
	const struct hwpmc_stack *s;
	uint32_t n;

	log_stack(&log_, HWPMC_SAMPLE_SPLIT, 1, &mark);
	read_it();
	s = hwpmc_profile_stacks(p, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(s->nframe, 1);
	ck_assert(s->frame[0]->symbol->unknown);
}
END_TEST

/* As hwpmc top reads: a ring a round, each later than the next one begins. */
START_TEST(an_exec_is_not_undone_by_the_older_fork_that_is_read_later)
{
	struct hwpmc_profile_options o = log_options();
	struct hwpmc_input *in;
	struct hwpmc_record r;

	o.symbols.no_symbols = true;
	log_exec(&log_, PID, "/bin/parent", "parent");
	at(3000);
	log_exec(&log_, 43, "/bin/child", "child");
	log_map(&log_, 43, TEXT, 0x1000, 0, "/bin/child");
	at(2000);
	log_fork(&log_, PID, 43);
	at(4000);
	log_context(&log_, 43, 43);
	log_user(&log_, TEXT + 1);
	in = hwpmc_input_memory(log_.bytes, log_.len);
	p = hwpmc_profile_new(&o);
	while (hwpmc_input_next(in, &r) > 0) {
		ck_assert_int_eq(hwpmc_profile_feed(p, &r), 0);
		ck_assert_int_eq(hwpmc_profile_resolve(p), 0);
	}
	hwpmc_input_close(in);
	ck_assert_str_eq(image_at(TEXT + 1), "child");
	ck_assert_str_eq(thread_at(TEXT + 1)->process, "child");
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(an_exec_gives_the_process_another_program);
	harness_add(what_was_mapped_before_an_exec_is_gone_after_it);
	harness_add(a_child_has_what_its_parent_had_mapped);
	harness_add(a_process_number_that_is_used_again_is_another_process);
	harness_add(records_of_other_cpus_are_put_into_the_order_of_time);
	harness_add(samples_before_the_record_of_their_mapping_belong_to_it);
	harness_add(a_sample_between_an_exec_and_its_mappings_belongs_to_them);
	harness_add(a_library_opened_later_covers_only_what_it_was_mapped_to);
	harness_add(a_mapping_over_another_replaces_it);
	harness_add(what_was_unmapped_is_unknown_from_then_on);
	harness_add(one_address_means_what_lies_there_at_each_time);
	harness_add(a_mapping_counts_from_its_very_time_on);
	harness_add(what_is_mapped_again_or_beside_it_does_not_split_stacks);
	harness_add(what_lay_below_an_unmapped_mapping_does_not_come_back);
	harness_add(the_same_file_in_two_processes_is_one_image);
	harness_add(generated_code_of_two_processes_is_two_images);
	harness_add(a_chain_through_the_kernel_goes_on_in_the_program);
	harness_add(a_chain_that_ends_early_has_a_frame_that_says_why);
	harness_add(a_chain_without_an_address_is_counted);
	harness_add(an_exec_is_not_undone_by_the_older_fork_that_is_read_later);
	return harness_run();
}
