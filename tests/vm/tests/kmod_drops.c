// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_drops.c - the cause of each drop: a full ring, a closed log, memory of another
 * process that is being changed. (Late overflows: kmod_pmi.c.)
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "harness.h"
#include "../lib/kmod_hold.h"
#include "../lib/kmod_session.h"

static uint64_t others[HWPMC_DROP__COUNT];

static void look(const struct hwpmc_record *r)
{
	uint64_t samples[HWPMC_DROP__COUNT], more[HWPMC_DROP__COUNT];

	if (r->hdr->type != HWPMC_LOG_DROPNOTIFY)
		return;
	hwpmc_record_drops(r->drop, samples, more, HWPMC_DROP__COUNT);
	for (int i = 0; i < HWPMC_DROP__COUNT; i++)
		others[i] += more[i];
}

/* Nothing but this cause, in the records and in the control pages. */
static void check_causes(struct session *s, int cause, uint64_t samples,
			 uint64_t other_records)
{
	uint64_t told[HWPMC_DROP__COUNT], told_others[HWPMC_DROP__COUNT];

	hwpmc_rings_drops(s->rings, told, told_others);
	for (int i = 0; i < HWPMC_DROP__COUNT; i++) {
		ck_assert_uint_eq(s->t.dropped[i], i == cause ? samples : 0);
		ck_assert_uint_eq(told[i], i == cause ? samples : 0);
		ck_assert_uint_eq(others[i], i == cause ? other_records : 0);
		ck_assert_uint_eq(told_others[i], i == cause ? other_records : 0);
	}
}

START_TEST(samples_without_room_are_dropped_as_full)
{
	struct session s;

	begin(&s, NONE, SMALL_RING);
	s.look = look;
	sample_loop(&s, 1000000, 0);
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_gt(all_drops(&s), 100);
	/* The end of the child may have found no room either. */
	check_causes(&s, HWPMC_DROP_FULL, all_drops(&s), others[HWPMC_DROP_FULL]);
	end(&s);
	dev_still_counts();
}
END_TEST

/* The class SOFT writes its samples on another way than NMIs do. */
START_TEST(samples_of_soft_events_without_room_are_dropped_as_full)
{
	struct session s;
	uint32_t id;

	begin(&s, NONE, SMALL_RING);
	s.look = look;
	dev_pin(0, 0);
	id = allocate(&s, "page-faults", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 1);
	ok(&s, hwpmc_attach(s.h, id, 0));
	ok(&s, hwpmc_start(s.h, id));
	for (int i = 0; i < 10; i++) {
		const size_t size = 200 * 4096;
		char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		ck_assert_ptr_ne(at, MAP_FAILED);
		for (size_t n = 0; n < size; n += 4096)
			at[n] = 1;
		munmap(at, size);
	}
	ok(&s, hwpmc_stop(s.h, id));
	finish(&s);
	ck_assert_uint_ge(s.t.samples + all_drops(&s), 2000);
	ck_assert_uint_gt(all_drops(&s), 100);
	check_causes(&s, HWPMC_DROP_FULL, all_drops(&s), others[HWPMC_DROP_FULL]);
	end(&s);
	dev_still_counts();
}
END_TEST

static void exit_at_once(void *unused)
{
}

START_TEST(a_value_after_the_end_of_the_log_is_dropped_as_closed)
{
	uint64_t samples[HWPMC_DROP__COUNT], told[HWPMC_DROP__COUNT];
	struct child c = dev_child(exit_at_once, NULL);
	struct session s;
	uint32_t id;

	begin(&s, NONE, 0);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TC, HWPMC_F_LOG_PROCEXIT,
		      HWPMC_CPU_ANY, 0);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	ok(&s, hwpmc_close_log(s.h));
	dev_go(&c);
	dev_wait(&c);
	hwpmc_rings_drops(s.rings, samples, told);
	for (int i = 0; i < HWPMC_DROP__COUNT; i++) {
		ck_assert_uint_eq(samples[i], 0);
		ck_assert_uint_eq(told[i], i == HWPMC_DROP_CLOSED);
	}
	end(&s);
	dev_still_counts();
}
END_TEST

static void map_memory(void *unused)
{
	mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

/* It holds the lock of its memory, and does not let it go in time. */
START_TEST(mappings_that_nobody_can_look_at_are_dropped_as_busy)
{
	struct child c = dev_child(map_memory, NULL);
	struct session s;
	uint32_t id;

	begin(&s, NONE, 0);
	s.look = look;
	dev_pin(0, 0);
	dev_pin(c.pid, 1);
	id = allocate(&s, "instructions:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 1000000);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	hold_at("do_mmap");
	hold_arm(c.pid);
	dev_go(&c);
	hold_wait();
	ok(&s, hwpmc_start(s.h, id));
	hold_end();
	dev_wait(&c);
	finish(&s);
	check_causes(&s, HWPMC_DROP_BUSY, 0, 1);
	end(&s);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(samples_without_room_are_dropped_as_full, 30);
	harness_add_timed(samples_of_soft_events_without_room_are_dropped_as_full, 30);
	harness_add(a_value_after_the_end_of_the_log_is_dropped_as_closed);
	if (dev_cpus() > 1)
		harness_add_timed(mappings_that_nobody_can_look_at_are_dropped_as_busy, 30);
	return harness_run();
}
