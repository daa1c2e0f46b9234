/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat_weights.c - samples that stand for numbers of events: what a profile counts of them,
 * whatever the numbers are, and again after it was cleared.
 */
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
	log_begin(&log_);
}

static void teardown(void)
{
	hwpmc_profile_free(p);
	log_free(&log_);
}

static const struct hwpmc_profile_totals *totals(void)
{
	return hwpmc_profile_totals(p);
}

static void adapting_event(uint32_t id, const char *name, uint64_t frequency)
{
	struct hwpmc_log_allocate *r;

	log_event(&log_, id, name, frequency);
	r = (void *)(log_.bytes + log_.len - sizeof(*r));
	r->flags |= HWPMC_F_FREQUENCY;
}

/* A sample of PMC 8 that stands for so many events. */
static void sample_of(uint64_t period, uint64_t pc)
{
	struct hwpmc_log_period *r = log_add(&log_, HWPMC_LOG_PERIOD, sizeof(*r));
	struct hwpmc_log_sample *s;

	r->hdr.id = 8;
	r->period = period;
	log_user(&log_, pc);
	s = (void *)(log_.bytes + log_.len - sizeof(*s) - sizeof(s->pc[0]));
	s->hdr.id = 8;
}

/* One whose PERIOD record is missing: the log is damaged, or of another writer. */
static void sample_of_nothing(uint64_t pc)
{
	struct hwpmc_log_sample *s;

	log_user(&log_, pc);
	s = (void *)(log_.bytes + log_.len - sizeof(*s) - sizeof(s->pc[0]));
	s->hdr.id = 8;
}

static const struct hwpmc_profile_event *event_named(const char *name)
{
	const struct hwpmc_profile_event *ev;
	uint32_t n;

	ev = hwpmc_profile_events(p, &n);
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(ev[i].name, name))
			return &ev[i];
	ck_abort_msg("no event %s", name);
	return NULL;
}

static void read_adapting(void)
{
	hwpmc_profile_free(p);
	p = log_profile(&log_, &options);
}

START_TEST(samples_count_as_many_events_as_they_stand_for)
{
	const struct hwpmc_sample_point *point;
	const struct hwpmc_profile_event *ev;
	uint32_t n;

	adapting_event(8, "adapts", 99);
	log_context(&log_, PID, PID);
	sample_of(1000, TEXT);
	sample_of(8000, TEXT + 0x100);
	log_user(&log_, TEXT + 0x200);
	log_user(&log_, TEXT + 0x200);
	sample_of(500, TEXT);
	options.timeline = true;
	read_adapting();
	ev = event_named("adapts");
	ck_assert_uint_eq(ev->frequency, 99);
	ck_assert_uint_eq(ev->period, 1);
	ck_assert_uint_eq(ev->samples, 9500);
	ck_assert_uint_eq(ev->taken, 3);
	ck_assert_uint_eq(stack_at(p, TEXT)->count, 1500);
	ck_assert_uint_eq(stack_at(p, TEXT + 0x100)->count, 8000);
	/* Samples of a fixed period are what they were. */
	ck_assert_uint_eq(stack_at(p, TEXT + 0x200)->count, 2);
	ck_assert_uint_eq(event_named("instructions")->frequency, 0);
	ck_assert_uint_eq(event_named("instructions")->samples, 2);
	ck_assert_uint_eq(totals()->samples, 5);
	/* Sums over events are numbers of samples: their events are of different kinds. */
	check_conservation(&log_, p);
	ck_assert_uint_eq(totals()->kept, 5);
	ck_assert_uint_eq(totals()->unknown, 5);
	ck_assert_uint_eq(stack_at(p, TEXT)->taken, 2);
	ck_assert_uint_eq(stack_at(p, TEXT + 0x100)->taken, 1);
	ck_assert_uint_eq(stack_at(p, TEXT + 0x200)->taken, 2);
	point = hwpmc_profile_timeline(p, &n);
	ck_assert_uint_eq(n, 5);
	ck_assert_uint_eq(point[0].weight, 1000);
	ck_assert_uint_eq(point[1].weight, 8000);
	ck_assert_uint_eq(point[2].weight, 1);
	ck_assert_uint_eq(point[4].weight, 500);
	hwpmc_profile_clear(p);
	ck_assert_uint_eq(totals()->kept, 0);
}
END_TEST

START_TEST(a_sample_that_says_no_period_counts_as_one_event)
{
	adapting_event(8, "adapts", 99);
	log_context(&log_, PID, PID);
	sample_of(1000, TEXT);
	sample_of_nothing(TEXT + 0x100);
	sample_of_nothing(TEXT + 0x100);
	read_adapting();
	ck_assert_uint_eq(stack_at(p, TEXT)->count, 1000);
	ck_assert_uint_eq(stack_at(p, TEXT + 0x100)->count, 2);
	ck_assert_uint_eq(event_named("adapts")->samples, 1002);
	ck_assert_uint_eq(event_named("adapts")->taken, 3);
}
END_TEST

START_TEST(events_that_options_keep_out_are_filtered)
{
	adapting_event(8, "adapts", 99);
	log_context(&log_, PID, PID);
	sample_of(1000, TEXT);
	log_context(&log_, PID + 1, PID + 1);
	sample_of(8000, TEXT);
	options.pids = &(int32_t){ PID };
	options.npid = 1;
	read_adapting();
	ck_assert_uint_eq(event_named("adapts")->samples, 1000);
	ck_assert_uint_eq(event_named("adapts")->filtered, 8000);
	ck_assert_uint_eq(event_named("adapts")->taken, 1);
	options.pids = NULL;
	options.symbol = "no such function";
	read_adapting();
	ck_assert_uint_eq(event_named("adapts")->samples, 0);
	ck_assert_uint_eq(event_named("adapts")->filtered, 9000);
	ck_assert_uint_eq(event_named("adapts")->taken, 0);
	ck_assert_uint_eq(totals()->kept, 0);
	options.symbol = NULL;
}
END_TEST

/* ---- live views ---------------------------------------------------------- */

static void feed_it(void)
{
	struct hwpmc_input *in = hwpmc_input_memory(log_.bytes, log_.len);
	struct hwpmc_record r;

	while (hwpmc_input_next(in, &r) > 0)
		ck_assert_int_eq(hwpmc_profile_feed(p, &r), 0);
	hwpmc_input_close(in);
	ck_assert_int_eq(hwpmc_profile_resolve(p), 0);
}

START_TEST(weights_left_out_are_counted_again_after_a_clear)
{
	adapting_event(8, "adapts", 99);
	log_context(&log_, PID, PID);
	sample_of(1000, TEXT);
	sample_of(3000, TEXT + 0x100);
	options.symbol = "no such function";
	p = hwpmc_profile_new(&options);
	for (int round = 0; round < 3; round++) {
		feed_it();
		ck_assert_uint_eq(totals()->samples, 2);
		ck_assert_uint_eq(totals()->kept, 0);
		ck_assert_uint_eq(event_named("adapts")->samples, 0);
		ck_assert_uint_eq(event_named("adapts")->filtered, 4000);
		ck_assert_uint_eq(event_named("adapts")->taken, 0);
		hwpmc_profile_clear(p);
	}
}
END_TEST

/* ---- sums ---------------------------------------------------------------- */

#define LARGE		(1ull << 48)	/* the largest one that counts as it is */
#define SUM_MOST	(1ull << 62)
#define MANY		(4u << 14)	/* four times as many as there is room for */

static void many_large_samples(void)
{
	adapting_event(8, "adapts", 99);
	log_context(&log_, PID, PID);
	for (uint32_t i = 0; i < MANY; i++)
		sample_of(LARGE, TEXT + 0x100 * (i & 1));
}

START_TEST(weights_whose_sum_is_too_large_count_as_one_event)
{
	const struct hwpmc_sample_point *point;
	uint64_t sum = 0;
	uint32_t n;

	many_large_samples();
	options.timeline = true;
	read_adapting();
	ck_assert_uint_ge(event_named("adapts")->samples, SUM_MOST - LARGE);
	ck_assert_uint_le(event_named("adapts")->samples, SUM_MOST + MANY);
	ck_assert_uint_eq(event_named("adapts")->taken, MANY);
	ck_assert_uint_eq(stack_at(p, TEXT)->count + stack_at(p, TEXT + 0x100)->count,
			  event_named("adapts")->samples);
	ck_assert_uint_eq(stack_at(p, TEXT)->taken, MANY / 2);
	/* Samples over time weigh the same. */
	point = hwpmc_profile_timeline(p, &n);
	for (uint32_t i = 0; i < n; i++)
		sum += point[i].weight;
	ck_assert_uint_eq(sum, event_named("adapts")->samples);
}
END_TEST

START_TEST(weights_of_filtered_samples_have_a_largest_sum_too)
{
	many_large_samples();
	options.pids = &(int32_t){ PID + 1 };
	options.npid = 1;
	read_adapting();
	ck_assert_uint_eq(event_named("adapts")->samples, 0);
	ck_assert_uint_ge(event_named("adapts")->filtered, SUM_MOST - LARGE);
	ck_assert_uint_le(event_named("adapts")->filtered, SUM_MOST + MANY);
}
END_TEST

START_TEST(weight_that_no_counter_counts_is_one_event_over_time)
{
	const struct hwpmc_sample_point *point;
	uint32_t n;

	adapting_event(8, "adapts", 99);
	log_context(&log_, PID, PID);
	sample_of(LARGE + 1, TEXT);
	options.timeline = true;
	read_adapting();
	ck_assert_uint_eq(event_named("adapts")->samples, 1);
	point = hwpmc_profile_timeline(p, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(point[0].weight, 1);
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(samples_count_as_many_events_as_they_stand_for);
	harness_add(a_sample_that_says_no_period_counts_as_one_event);
	harness_add(events_that_options_keep_out_are_filtered);
	harness_add(weights_left_out_are_counted_again_after_a_clear);
	harness_add(weights_whose_sum_is_too_large_count_as_one_event);
	harness_add(weights_of_filtered_samples_have_a_largest_sum_too);
	harness_add(weight_that_no_counter_counts_is_one_event_over_time);
	return harness_run();
}
