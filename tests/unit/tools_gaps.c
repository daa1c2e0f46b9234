/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_gaps.c - samples that rounds of "hwpmc top" lack while sampling is paused or a counter
 * does not count: each round has its own part. On the host, under ASan and UBSan.
 */
#include "harness.h"
#include "made_log.h"
#include "top/gaps.h"

#define CYCLES	0x101
#define MISSES	0x202

static struct made_log log_;
static struct hwpmc_parser *parser;
static struct hwpmc_profile *profile;
static struct gaps gaps;
static uint64_t dropped[HWPMC_DROP_SLOTS];

/* Gives what the log has so far to the profile. */
static void feed(void)
{
	struct hwpmc_record r;

	ck_assert_int_eq(hwpmc_parser_feed(parser, log_.bytes, log_.len), 0);
	log_.len = 0;
	while (hwpmc_parser_next(parser, &r) == HWPMC_PARSE_RECORD)
		hwpmc_profile_feed(profile, &r);
}

/* A round ends; all that comes is of the next one. */
static void next_round(void)
{
	feed();
	hwpmc_profile_forget(profile);
	ck_assert_int_eq(hwpmc_profile_resolve(profile), 0);
	gaps_take(&gaps, profile, dropped, true, false);
}

static bool stands;		/* the display */

/* More of the same round, as where samples are accumulated. */
static void same_round(void)
{
	feed();
	ck_assert_int_eq(hwpmc_profile_resolve(profile), 0);
	gaps_take(&gaps, profile, dropped, false, stands);
}

static void setup(void)
{
	const struct hwpmc_profile_options o = { .symbols.no_symbols = true };

	parser = hwpmc_parser_new();
	profile = hwpmc_profile_new(&o);
	gaps = (struct gaps){ .nloss = 0 };
	memset(dropped, 0, sizeof(dropped));
	made_begin(&log_);
	made_event(&log_, CYCLES, "cycles");
	made_event(&log_, MISSES, "misses");
	next_round();
}

static void teardown(void)
{
	gaps_free(&gaps);
	hwpmc_profile_free(profile);
	hwpmc_parser_free(parser);
	free(log_.bytes);
}

/* A tick is half a nanosecond. */
static void throttle(unsigned int cpu, uint8_t flags, uint64_t ms)
{
	struct hwpmc_log_throttle *r = made_add(&log_, HWPMC_LOG_THROTTLE, sizeof(*r), 0);

	r->hdr.id = CYCLES;
	r->hdr.flags = flags;
	r->hdr.time = ms * 2000000;
	r->cpu = cpu;
	r->percent = 57;
}

/* Samples that were dropped in pauses, and for a full ring. */
static void drop(uint64_t paused, uint64_t full)
{
	dropped[HWPMC_DROP_PAUSED] += paused;
	dropped[HWPMC_DROP_FULL] += full;
}

static void lose(unsigned int cpu, uint32_t reason, uint8_t flags, uint64_t ms)
{
	struct hwpmc_log_loss *r = made_add(&log_, HWPMC_LOG_LOSS, sizeof(*r), 0);

	r->hdr.id = CYCLES;
	r->hdr.flags = flags;
	r->hdr.time = ms * 2000000;
	r->cpu = cpu;
	r->reason = reason;
	r->since = (ms - 1) * 2000000;
}

/* Sentence i of the round begins so; NULL: there are not so many. */
static void check_text(uint32_t event, uint32_t i, const char *begins)
{
	char text[600] = "";
	bool is = gaps_text(&gaps, event, i, text, sizeof(text));

	ck_assert_msg(is == !!begins, "%s", text);
	if (begins)
		ck_assert_msg(!strncmp(text, begins, strlen(begins)), "%s", text);
}

START_TEST(gaps_have_the_part_of_pauses_in_each_round)
{
	check_text(0, 0, NULL);
	throttle(0, 0, 1000);
	throttle(1, 0, 1100);
	throttle(1, 1, 1200);
	drop(19, 1);
	made_context(&log_, 1, 1);
	made_samples(&log_, CYCLES, HWPMC_SAMPLE_USER, (uint64_t []){ 0x1000 }, 1, 380);
	next_round();
	check_text(0, 0, "sampling was paused for 0.300 s: 19 of 400 samples (4.8 %) are missing; sample less often (-F, -c)");
	check_text(0, 1, NULL);
	throttle(1, 0, 1500);
	drop(1, 19);
	next_round();
	check_text(0, 0, "warning: sampling was paused for 0.300 s: 1 of 20 samples (5.0 %) are missing");
	drop(0, 20);
	throttle(0, 1, 1600);
	throttle(1, 1, 1700);
	same_round();
	check_text(0, 0, "sampling was paused for 0.600 s");
	next_round();
	check_text(0, 0, NULL);
}
END_TEST

/* No sample of that time is in the profile either. */
START_TEST(gaps_of_a_stopped_display_are_not_those_of_the_round)
{
	throttle(0, 0, 1000);
	throttle(0, 1, 1100);
	drop(10, 0);
	made_context(&log_, 1, 1);
	made_samples(&log_, CYCLES, HWPMC_SAMPLE_USER, (uint64_t []){ 0x1000 }, 1, 190);
	next_round();
	check_text(0, 0, "warning: sampling was paused for 0.100 s: 10 of 200 samples (5.0 %) are");
	drop(1000, 50);
	throttle(0, 0, 1500);
	throttle(0, 1, 1800);
	stands = true;
	same_round();
	check_text(0, 0, "warning: sampling was paused for 0.100 s: 10 of 200 samples (5.0 %) are");
	stands = false;
	same_round();
	check_text(0, 0, "warning: sampling was paused for 0.100 s: 10 of 200 samples (5.0 %) are");
}
END_TEST

START_TEST(gaps_have_losses_until_the_round_of_their_end)
{
	lose(0, HWPMC_WHY_COUNTER_TAKEN, 0, 1000);
	lose(1, HWPMC_WHY_COUNTER_TAKEN, 0, 1000);
	next_round();
	check_text(0, 0, "samples may be missing on 2 CPUs: the host took");
	check_text(0, 1, NULL);
	check_text(1, 0, NULL);
	next_round();
	check_text(0, 0, "samples may be missing on 2 CPUs: the host took");
	lose(0, HWPMC_WHY_COUNTER_TAKEN, HWPMC_LOSS_OVER, 2000);
	lose(1, HWPMC_WHY_COUNTER_TAKEN, HWPMC_LOSS_OVER, 2000);
	next_round();
	check_text(0, 0, "samples may be missing on 2 CPUs, counting again: the host took");
	next_round();
	check_text(0, 0, NULL);
}
END_TEST

/* Both records of a loss come in one round, and once more in a later one. */
START_TEST(gaps_have_losses_that_begin_and_end_in_a_round)
{
	for (uint64_t ms = 1000; ms < 3000; ms += 1000) {
		lose(0, HWPMC_WHY_COUNTER_TAKEN, 0, ms);
		lose(0, HWPMC_WHY_COUNTER_TAKEN, HWPMC_LOSS_OVER, ms + 10);
		lose(1, HWPMC_WHY_REGISTER_CHANGED, 0, ms + 20);
		lose(1, HWPMC_WHY_REGISTER_CHANGED, HWPMC_LOSS_OVER, ms + 30);
		throttle(0, 0, ms);
		throttle(0, 1, ms + 100);
		next_round();
		check_text(0, 0, "sampling was paused for 0.100 s");
		check_text(0, 1, "samples may be missing on 1 CPU, counting again: ");
		check_text(0, 2, "samples may be missing on 1 CPU, counting again: ");
		check_text(0, 3, NULL);
		next_round();
		check_text(0, 0, NULL);
	}
}
END_TEST

int main(void)
{
	harness_fixture(setup, teardown);
	harness_add(gaps_have_the_part_of_pauses_in_each_round);
	harness_add(gaps_of_a_stopped_display_are_not_those_of_the_round);
	harness_add(gaps_have_losses_until_the_round_of_their_end);
	harness_add(gaps_have_losses_that_begin_and_end_in_a_round);
	return harness_run();
}
