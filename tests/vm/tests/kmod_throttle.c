// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_throttle.c - sampling that costs too much: it is stopped, the log says when and
 * at which share, it goes on, and the log says that too. One child on one CPU, so that
 * the records of that CPU's ring are in order.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "../lib/kmod_session.h"

#define LIMIT	5

/* What the ring of the child's CPU said, in its order. */
static unsigned int stops, goes_on, samples_while_stopped, samples_after;
static bool stopped;
static uint32_t least, most;

static void look(const struct hwpmc_record *r)
{
	if (r->hdr->type == HWPMC_LOG_CALLCHAIN) {
		samples_while_stopped += stopped;
		samples_after += goes_on && !stopped;
	}
	if (r->hdr->type != HWPMC_LOG_THROTTLE)
		return;
	ck_assert_uint_eq(r->throttle->cpu, 1);
	if (r->hdr->flags) {
		ck_assert(stopped);
		ck_assert_uint_eq(r->throttle->percent, 0);
		goes_on++;
		stopped = false;
		return;
	}
	ck_assert(!stopped);
	if (!stops || r->throttle->percent < least)
		least = r->throttle->percent;
	if (r->throttle->percent > most)
		most = r->throttle->percent;
	stops++;
	stopped = true;
}

static void spin(void *unused)
{
	for (;;)
		;
}

START_TEST(sampling_that_was_stopped_goes_on_and_says_both_with_its_share)
{
	struct child rival = dev_child(spin, NULL);
	struct session s;

	set_tunable("selfcost", LIMIT);
	/* The child is switched out in its pauses, again and again. */
	dev_pin(rival.pid, 1);
	dev_go(&rival);
	begin(&s, NONE, 0);
	s.look = look;
	sample_loop(&s, 30000000, 1);
	finish(&s);
	kill(rival.pid, SIGKILL);
	waitpid(rival.pid, NULL, 0);
	set_tunable("selfcost", 0);
	check_conserved(&s);
	ck_assert_uint_eq(all_drops(&s), 0);
	ck_assert_uint_ge(stops, 2);
	/* Also where the child ended in a pause. */
	ck_assert_uint_eq(goes_on, stops);
	ck_assert_uint_eq(samples_while_stopped, 0);
	ck_assert_uint_gt(samples_after, 0);
	ck_assert_uint_ge(least, LIMIT);
	ck_assert_uint_le(most, 100);
	ck_assert_uint_eq(s.t.throttled, stops);
	ck_assert_uint_eq(s.t.resumed, goes_on);
	end(&s);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(sampling_that_was_stopped_goes_on_and_says_both_with_its_share, 30);
	return harness_run();
}
