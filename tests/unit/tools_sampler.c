/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tools_sampler.c - options that say how often to sample, the samples of each PMC, and the hints
 * for events that have few of them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "harness.h"
#include "record/few.h"
#include "record/sampler.h"

START_TEST(the_last_period_and_the_last_rate_are_used)
{
	struct sampler s;

	sampler_init(&s);
	ck_assert_int_eq(sampler_parse(&s, 'F', "99"), 0);
	ck_assert_int_eq(sampler_parse(&s, 'F', "999"), 0);
	ck_assert_uint_eq(s.frequency, 999);
	s.frequency = 0;
	ck_assert_int_eq(sampler_parse(&s, 'c', "5000"), 0);
	ck_assert_int_eq(sampler_parse(&s, 'c', "7"), 0);
	ck_assert_uint_eq(s.period, 7);
	ck_assert_int_eq(sampler_parse(&s, 'F', "99"), 0);
	ck_assert_int_eq(sampler_check(&s), EXIT_USAGE);
	sampler_free(&s);
}
END_TEST

START_TEST(samples_are_counted_for_each_pmc)
{
	enum { MOST = 700 };
	static uint32_t id[MOST];
	struct few f = { 0 };

	ck_assert_ptr_null(few_find(&f, NULL, 0, 7));
	for (uint32_t i = 0; i < MOST; i++) {
		id[i] = i * 0x10003;
		few_find(&f, id, i + 1, id[i / 2])->samples++;
	}
	for (uint32_t i = 0; i < MOST; i++)
		ck_assert_uint_eq(few_find(&f, id, MOST, id[i])->samples, i < MOST / 2 ? 2 : 0);
	ck_assert_ptr_null(few_find(&f, id, MOST, 5));
	few_free(&f);
}
END_TEST

static const char *hint(struct few_event e, bool named, bool attached)
{
	static char text[FEW_TEXT];

	return few_text(text, &e, named, attached) ? text : "";
}

#define FEW	" too few for shares of functions; "

START_TEST(hints_for_few_samples_name_the_form_that_has_effect)
{
	struct few_event e = { "cycles:u", .asked = { .frequency = 99 }, .hard = true };

	e.samples = 26;
	ck_assert_str_eq(hint(e, false, false), "26 samples are" FEW "sample more often: -F 990");
	e.own = true;
	ck_assert_str_eq(hint(e, false, false), "26 samples are" FEW "sample more often: freq=990"
			 " for the event, instead of freq=99");
	e.asked = (struct evrate){ .period = 100000 };
	e.samples = 1;
	ck_assert_str_eq(hint(e, true, false), "1 sample of cycles:u is" FEW
			 "use a shorter period= for the event, or a rate: freq=4000");
	e.own = false;
	ck_assert_str_eq(hint(e, true, false), "1 sample of cycles:u is" FEW
			 "use a shorter period (-c), or a rate: -F 4000");
	e.asked = (struct evrate){ .frequency = 4000 };
	ck_assert_str_eq(hint(e, false, true), "1 sample is" FEW "sample the processes while they"
			 " run more, or sample more often: -F 40000");
}
END_TEST

START_TEST(hints_are_left_out_where_nothing_gives_more_samples)
{
	struct few_event e = {
		"cycles", .asked = { .frequency = HWPMC_FREQUENCY_MAX }, .hard = true, .samples = 26,
	};

	ck_assert_str_eq(hint(e, true, true), "");
	e.asked.frequency--;
	ck_assert_str_eq(hint(e, false, false), "26 samples are" FEW "sample more often: -F 1000000");
	e.samples = FEW_SAMPLES;
	ck_assert_str_eq(hint(e, true, true), "");
	e.asked = (struct evrate){ .period = 1 };
	e.samples = 1;
	ck_assert_str_eq(hint(e, true, true), "");
	e.asked.period = 2;
	ck_assert_str_ne(hint(e, true, true), "");
	e.raised = true;
	ck_assert_str_eq(hint(e, true, true), "");
	e.raised = e.hard = false;
	ck_assert_str_eq(hint(e, true, true), "");
}
END_TEST

START_TEST(events_without_samples_have_a_hint)
{
	struct few_event e = { "cycles", .asked = { .frequency = 4000 }, .hard = true };

	ck_assert_str_eq(hint(e, false, false),
			 "cycles has no samples: it did not occur while it was sampled");
	ck_assert_str_eq(hint(e, true, true), "cycles has no samples: the processes did not run,"
			 " or it did not occur while it was sampled");
	e.asked = (struct evrate){ .period = 100000 };
	ck_assert_str_eq(hint(e, true, false), "cycles has no samples: it did not occur as often as"
			 " its period; use a shorter period (-c), or a rate: -F 4000");
	e.hard = false;
	ck_assert_str_eq(hint(e, true, false),
			 "cycles has no samples: it did not occur while it was sampled");
}
END_TEST

int main(void)
{
	harness_add(the_last_period_and_the_last_rate_are_used);
	harness_add(samples_are_counted_for_each_pmc);
	harness_add(hints_for_few_samples_name_the_form_that_has_effect);
	harness_add(hints_are_left_out_where_nothing_gives_more_samples);
	harness_add(events_without_samples_have_a_hint);
	return harness_run();
}
