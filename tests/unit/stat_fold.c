/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_fold.c - stacks whose small branches are one frame "[other]": what has the share
 * stays, what has less is counted where it branches off. Under ASan and UBSan.
 */
#include "stat_log.h"

#define PID	42
#define CHILD	43

static struct hwpmc_profile_options options;
static struct hwpmc_profile *p;
static struct log log_;
static uint64_t at_main, at_alpha, at_beta;

static uint64_t function(const char *name)
{
	return nm_addr(program("functions-fixed"), name);
}

static void setup(void)
{
	struct text text = text_of(program("functions-fixed"));

	at_main = function("main") + 1;
	at_alpha = function("alpha");
	at_beta = function("beta");
	options = log_options();
	options.min_share = 10;
	options.by_thread = true;
	log_begin(&log_);
	for (int32_t pid = PID; pid <= CHILD; pid++) {
		log_exec(&log_, pid, program("functions-fixed"), "program");
		log_map(&log_, pid, text.addr, text.size, text.offset,
			program("functions-fixed"));
	}
	log_context(&log_, PID, PID);
}

static void teardown(void)
{
	hwpmc_profile_free(p);
	log_free(&log_);
}

static void hit(unsigned int times, uint64_t pc)
{
	uint64_t stack[] = { pc, at_main };

	while (times--)
		log_stack(&log_, HWPMC_SAMPLE_USER, 2, stack);
}

static void read_it(void)
{
	p = log_profile(&log_, &options);
	ck_assert_uint_eq(hwpmc_profile_totals(p)->samples, log_.samples);
}

/* Samples of the stack with this innermost function and so many frames; 0: none. */
static const struct hwpmc_stack *stack_of(const char *name, uint32_t nframe)
{
	const struct hwpmc_stack *stack;
	uint32_t n;

	stack = hwpmc_profile_stacks(p, &n);
	for (uint32_t i = 0; i < n; i++)
		if (stack[i].nframe == nframe &&
		    !strcmp(stack[i].frame[0]->symbol->name, name))
			return &stack[i];
	return NULL;
}

static uint64_t samples_of(const char *name, uint32_t nframe)
{
	const struct hwpmc_stack *s = stack_of(name, nframe);

	return s ? s->count : 0;
}

START_TEST(a_branch_with_the_share_stays_and_one_with_less_is_other)
{
	hit(81, at_alpha);
	hit(10, at_beta);
	hit(9, at_main);
	read_it();
	ck_assert_uint_eq(samples_of("alpha", 2), 81);
	ck_assert_uint_eq(samples_of("beta", 2), 10);
	ck_assert_uint_eq(samples_of("[other]", 2), 9);
	ck_assert_uint_eq(hwpmc_profile_totals(p)->folded, 9);
	ck_assert_uint_eq(hwpmc_profile_totals(p)->kept, 100);
}
END_TEST

/* A tenth of 101 is more than 10. */
START_TEST(a_share_that_is_no_whole_number_is_rounded_up)
{
	hit(91, at_alpha);
	hit(10, at_beta);
	read_it();
	ck_assert_uint_eq(samples_of("alpha", 2), 91);
	ck_assert_uint_eq(samples_of("beta", 2), 0);
	ck_assert_uint_eq(samples_of("[other]", 2), 10);
}
END_TEST

/* Processes of one name are one branch: of what is too small, some is of each. */
START_TEST(what_is_folded_of_several_processes_is_of_none)
{
	hit(40, at_alpha);
	hit(4, at_beta);
	log_context(&log_, CHILD, CHILD);
	hit(40, at_alpha);
	hit(4, at_beta);
	hit(4, at_main);
	read_it();
	ck_assert_uint_eq(samples_of("[other]", 2), 12);
	ck_assert_int_eq(stack_of("[other]", 2)->thread->pid, -1);
	ck_assert_int_eq(stack_of("[other]", 2)->thread->tid, -1);
	ck_assert_str_eq(stack_of("[other]", 2)->thread->process, "program");
}
END_TEST

START_TEST(without_a_share_all_stacks_are_as_they_were)
{
	options.min_share = 0;
	hit(81, at_alpha);
	hit(1, at_beta);
	read_it();
	ck_assert_uint_eq(samples_of("beta", 2), 1);
	ck_assert_uint_eq(hwpmc_profile_totals(p)->folded, 0);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(a_branch_with_the_share_stays_and_one_with_less_is_other);
	harness_add(a_share_that_is_no_whole_number_is_rounded_up);
	harness_add(what_is_folded_of_several_processes_is_of_none);
	harness_add(without_a_share_all_stacks_are_as_they_were);
	return harness_run();
}
