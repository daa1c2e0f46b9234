/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_names.c - the name of a thread at the time of its samples, as perf's COMM events give
 * it: threads that name themselves, numbers that are used again, names from before the log.
 * perf is right in each of these but for a child of a renamed process, see there.
 */
#include <stdio.h>

#include "stat_log.h"

#define PID	42
#define TEXT	0x400000ull

static struct log log_;
static struct hwpmc_profile *p;
static struct hwpmc_profile_options options;

static void setup(void)
{
	options = log_options();
	options.symbols.no_symbols = true;
	options.by_comm = true;
	log_begin(&log_);
	log_exec(&log_, PID, "/bin/prog", "prog");
	log_map(&log_, PID, TEXT, 0x10000, 0, "/bin/prog");
}

static void teardown(void)
{
	hwpmc_profile_free(p);
	log_free(&log_);
}

static struct hwpmc_log_task *task(uint8_t type, int32_t pid, int32_t tid, const char *comm)
{
	struct hwpmc_log_task *r = log_add(&log_, type, sizeof(*r));

	r->pid = pid;
	r->tid = tid;
	strncpy(r->comm, comm, sizeof(r->comm) - 1);
	return r;
}

static void create(int32_t tid)
{
	task(HWPMC_LOG_THR_CREATE, PID, tid, "prog");
}

static void rename_to(int32_t tid, const char *comm)
{
	task(HWPMC_LOG_COMM_NAME, PID, tid, comm);
}

static void sample(int32_t tid, uint64_t pc)
{
	log_context(&log_, PID, tid);
	log_user(&log_, TEXT + pc);
}

static void read_it(void)
{
	hwpmc_profile_free(p);
	p = log_profile(&log_, &options);
	check_conservation(&log_, p);
}

/* Samples that have this name of their thread. */
static uint64_t samples_of(const char *comm)
{
	const struct hwpmc_stack *stack;
	uint64_t sum = 0;
	uint32_t n;

	stack = hwpmc_profile_stacks(p, &n);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(stack[i].thread->comm, comm) == 0)
			sum += stack[i].count;
	return sum;
}

static uint64_t kept(void)
{
	read_it();
	return hwpmc_profile_totals(p)->kept;
}

static void three_threads(void)
{
	create(43);
	create(44);
	rename_to(43, "my-net");
	rename_to(44, "my-disk");
	for (int i = 0; i < 3; i++)
		sample(43, 1);
	for (int i = 0; i < 5; i++)
		sample(44, 1);
	sample(PID, 1);
	sample(45, 1);
}

START_TEST(names_of_threads_tell_their_samples_apart)
{
	three_threads();
	read_it();
	ck_assert_uint_eq(samples_of("my-net"), 3);
	ck_assert_uint_eq(samples_of("my-disk"), 5);
	/* The second is a thread that the log has no record of. */
	ck_assert_uint_eq(samples_of("prog"), 2);
	ck_assert_str_eq(stack_at(p, TEXT + 1)->thread->process, "prog");
	options.by_comm = false;
	options.by_thread = true;
	read_it();
	ck_assert_uint_eq(samples_of("my-net"), 3);
	ck_assert_uint_eq(samples_of("my-disk"), 5);
	/* Processes alone: as one. */
	options.by_thread = false;
	read_it();
	ck_assert_uint_eq(samples_of("prog"), 10);
}
END_TEST

START_TEST(names_choose_samples_of_threads_and_of_processes)
{
	three_threads();
	options.by_comm = false;
	options.comm = "my-net";
	ck_assert_uint_eq(kept(), 3);
	options.comm = "prog";
	ck_assert_uint_eq(kept(), 2);
	options.comm = "my-";
	ck_assert_uint_eq(kept(), 0);
	options.comm = NULL;
	options.process = "prog";
	ck_assert_uint_eq(kept(), 10);
	options.process = "my-net";
	ck_assert_uint_eq(kept(), 0);
}
END_TEST

/* A pool that names each thread after its job; and the main thread. */
START_TEST(names_that_change_are_those_of_the_time_of_samples)
{
	create(43);
	sample(43, 1);
	rename_to(43, "job-1");
	sample(43, 1);
	sample(43, 1);
	rename_to(43, "job-2");
	for (int i = 0; i < 4; i++)
		sample(43, 1);
	rename_to(43, "job-1");
	sample(43, 1);
	sample(PID, 2);
	rename_to(PID, "main");
	for (int i = 0; i < 6; i++)
		sample(PID, 2);
	read_it();
	ck_assert_uint_eq(samples_of("job-1"), 3);
	ck_assert_uint_eq(samples_of("job-2"), 4);
	ck_assert_uint_eq(samples_of("prog"), 2);
	ck_assert_uint_eq(samples_of("main"), 6);
	options.by_thread = true;
	options.comm = "job-1";
	ck_assert_uint_eq(kept(), 3);
}
END_TEST

/* The record of another CPU, or of the list that is written when the log begins. */
START_TEST(names_of_records_behind_their_samples_are_used)
{
	sample(43, 1);
	sample(44, 2);
	task(HWPMC_LOG_THR_CREATE, PID, 43, "old-name")->hdr.flags = HWPMC_LOG_SNAPSHOT;
	rename_to(44, "new-name");
	sample(44, 3);
	read_it();
	ck_assert_str_eq(stack_at(p, TEXT + 1)->thread->comm, "old-name");
	/* It had another name before, which is not known. */
	ck_assert_str_eq(stack_at(p, TEXT + 2)->thread->comm, "prog");
	ck_assert_str_eq(stack_at(p, TEXT + 3)->thread->comm, "new-name");
}
END_TEST

START_TEST(names_of_ended_threads_are_not_those_of_new_ones)
{
	create(43);
	rename_to(43, "first");
	sample(43, 1);
	task(HWPMC_LOG_THR_EXIT, PID, 43, "");
	create(43);
	sample(43, 2);
	/* The number goes to a thread of another process. */
	log_exec(&log_, 50, "/bin/other", "other");
	log_map(&log_, 50, TEXT, 0x10000, 0, "/bin/other");
	task(HWPMC_LOG_THR_CREATE, 50, 44, "theirs");
	log_context(&log_, 50, 44);
	log_user(&log_, TEXT + 3);
	sample(44, 4);
	read_it();
	ck_assert_str_eq(stack_at(p, TEXT + 1)->thread->comm, "first");
	ck_assert_str_eq(stack_at(p, TEXT + 2)->thread->comm, "prog");
	ck_assert_str_eq(stack_at(p, TEXT + 3)->thread->comm, "theirs");
	ck_assert_str_eq(stack_at(p, TEXT + 4)->thread->comm, "prog");
}
END_TEST

START_TEST(names_of_an_exec_and_a_fork_replace_those_before)
{
	rename_to(PID, "renamed");
	sample(PID, 1);
	log_fork(&log_, PID, 60);
	log_context(&log_, 60, 60);
	log_user(&log_, TEXT + 2);
	log_exec(&log_, PID, "/bin/next", "next");
	log_map(&log_, PID, TEXT, 0x10000, 0, "/bin/next");
	sample(PID, 3);
	log_exit(&log_, 60);
	/* The number is used again. */
	log_fork(&log_, PID, 60);
	log_context(&log_, 60, 60);
	log_user(&log_, TEXT + 4);
	read_it();
	ck_assert_str_eq(stack_at(p, TEXT + 1)->thread->comm, "renamed");
	ck_assert_str_eq(stack_at(p, TEXT + 2)->thread->comm, "renamed");
	ck_assert_str_eq(stack_at(p, TEXT + 3)->thread->comm, "next");
	ck_assert_str_eq(stack_at(p, TEXT + 4)->thread->comm, "next");
}
END_TEST

START_TEST(names_are_found_one_sample_at_a_time)
{
	struct hwpmc_symbol_options o = { .no_symbols = true };
	char err[600], got[200] = "", *at = got;
	struct hwpmc_lookup *l;
	struct hwpmc_input *in;
	struct hwpmc_record r;

	create(43);
	sample(43, 1);
	rename_to(43, "job-1");
	sample(43, 1);
	sample(PID, 1);
	rename_to(43, "job-2");
	sample(43, 1);
	l = hwpmc_lookup_new(&o);
	in = hwpmc_input_memory(log_.bytes, log_.len);
	ck_assert_int_eq(hwpmc_lookup_learn(l, in, err, sizeof(err)), 1);
	while (hwpmc_input_next(in, &r) > 0)
		if (r.hdr->type == HWPMC_LOG_CALLCHAIN)
			at += sprintf(at, "%s/%s ", hwpmc_lookup_task(l, &r)->info.process,
				      hwpmc_lookup_task(l, &r)->info.comm);
	ck_assert_str_eq(got, "prog/prog prog/job-1 prog/prog prog/job-2 ");
	hwpmc_input_close(in);
	hwpmc_lookup_free(l);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(names_of_threads_tell_their_samples_apart);
	harness_add(names_choose_samples_of_threads_and_of_processes);
	harness_add(names_that_change_are_those_of_the_time_of_samples);
	harness_add(names_of_records_behind_their_samples_are_used);
	harness_add(names_of_ended_threads_are_not_those_of_new_ones);
	harness_add(names_of_an_exec_and_a_fork_replace_those_before);
	harness_add(names_are_found_one_sample_at_a_time);
	return harness_run();
}
