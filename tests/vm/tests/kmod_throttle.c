// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_throttle.c - sampling that costs too much: it is stopped, the log says when and
 * at which share, it goes on, and the log says that too. One child on one CPU, so that
 * the records of that CPU's ring are in order.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

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
	/* The counter counts on: each period that has no sample is declared. */
	ck_assert_uint_gt(s.t.dropped[HWPMC_DROP_PAUSED], 0);
	ck_assert_uint_eq(all_drops(&s), s.t.dropped[HWPMC_DROP_PAUSED]);
	ck_assert_uint_eq(s.t.samples + all_drops(&s), loop_insn(30000000) / 1000);
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

#define PAGES	256
#define TOUCHES	60

static void touch_pages(void *unused)
{
	for (int i = 0; i < TOUCHES; i++) {
		char *p = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		madvise(p, PAGES * 4096, MADV_NOHUGEPAGE);
		for (int page = 0; page < PAGES; page++)
			p[page * 4096] = 1;
		munmap(p, PAGES * 4096);
	}
}

/* Their interrupts are no NMIs, so another part of the module looks at their cost. */
START_TEST(sampling_of_kernel_events_that_costs_too_much_is_stopped_and_goes_on)
{
	struct child c = dev_child(touch_pages, NULL);
	struct session s;
	uint32_t id;

	set_tunable("selfcost", LIMIT);
	dev_pin(c.pid, 1);
	/* There is room for all: no record of a pause is lost. */
	begin(&s, NONE, 8 << 20);
	s.look = look;
	id = allocate(&s, "page_fault.write:u", HWPMC_MODE_TS, HWPMC_F_CALLCHAIN, HWPMC_CPU_ANY,
		      1);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	set_tunable("selfcost", 0);
	ck_assert_uint_eq(s.t.dropped[HWPMC_DROP_FULL], 0);
	ck_assert_uint_ge(stops, 2);
	ck_assert_uint_eq(goes_on, stops);
	ck_assert_uint_eq(samples_while_stopped, 0);
	ck_assert_uint_gt(samples_after, 0);
	ck_assert_uint_ge(least, LIMIT);
	ck_assert_uint_le(most, 100);
	/* The periods that end in a pause are declared. */
	ck_assert_uint_lt(s.t.samples, PAGES * TOUCHES);
	ck_assert_uint_ge(s.t.samples + all_drops(&s), PAGES * TOUCHES);
	ck_assert_uint_eq(all_drops(&s), s.t.dropped[HWPMC_DROP_PAUSED]);
	end(&s);
	dev_still_counts();
}
END_TEST

static void wait_with_interrupts_off(void *file)
{
	_exit(write(*(int *)file, "100000", 6) != 6);
}

/*
 * Each NMI is pending when the last one returns: the code between them gets no further, and
 * no interrupt comes that could show it. The period is longer than all else that the child
 * executes in the kernel.
 */
START_TEST(nmis_that_leave_no_time_are_stopped_though_interrupts_are_off)
{
	struct session s;
	struct child c;
	uint32_t id;
	int file;

	set_tunable("selfcost", 50);
	begin(&s, NONE, 0);
	id = allocate(&s, "instructions:k", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 100000);
	ck_assert_int_eq(system("insmod build/vm/kmods/$(uname -r)/nmimod.ko slow=100000"), 0);
	file = open("/sys/module/nmimod/parameters/off", O_WRONLY);
	ck_assert_int_ge(file, 0);
	c = dev_child(wait_with_interrupts_off, &file);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	set_tunable("selfcost", 0);
	close(file);
	ck_assert_int_eq(system("rmmod nmimod"), 0);
	finish(&s);
	/* The slow handler's own events end periods as well, without an overflow. */
	ck_assert_uint_gt(s.overflows, 0);
	ck_assert_uint_eq(s.t.samples + all_drops(&s) - s.t.dropped[HWPMC_DROP_LATE] -
			  s.t.dropped[HWPMC_DROP_PAUSED], s.overflows);
	ck_assert_uint_gt(s.t.throttled, 0);
	end(&s);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(sampling_that_was_stopped_goes_on_and_says_both_with_its_share, 30);
	harness_add_timed(sampling_of_kernel_events_that_costs_too_much_is_stopped_and_goes_on, 30);
	harness_add_timed(nmis_that_leave_no_time_are_stopped_though_interrupts_are_off, 60);
	return harness_run();
}
