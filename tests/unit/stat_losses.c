/* SPDX-License-Identifier: BSD-2-Clause */
/* stat_losses.c - LOSS records in a profile: on how many CPUs, and in which time. */
#include <time.h>

#include "stat_log.h"

static struct log log_;

static void loss(uint32_t id, uint32_t cpu, uint32_t reason, uint64_t since, uint64_t over)
{
	struct hwpmc_log_loss *r;

	for (int i = 0; i < (over ? 2 : 1); i++) {
		r = log_add(&log_, HWPMC_LOG_LOSS, sizeof(*r));
		r->hdr.time = i ? over : since + 100;
		r->hdr.id = id;
		r->hdr.flags = i ? HWPMC_LOSS_OVER : 0;
		r->cpu = cpu;
		r->reason = reason;
		r->detail = cpu + 10;
		r->since = since;
	}
}

/* A profile has no losses of PMCs that count, nor of unknown ones. */
START_TEST(profile_has_losses_by_event_and_reason)
{
	uint64_t begin;
	const struct hwpmc_profile_loss *l;
	struct hwpmc_profile *p;
	uint32_t n;

	log_begin(&log_);
	begin = log_.time;
	log_event(&log_, 9, "instructions", 1000);
	log_event(&log_, 8, "cycles", 99);
	log_context(&log_, 42, 42);
	log_user(&log_, 0x401000);
	loss(7, 0, HWPMC_WHY_COUNTER_TAKEN, begin + 5000, begin + 9000);
	/* The same again; and on another CPU, whose end comes first in the log. */
	loss(7, 0, HWPMC_WHY_COUNTER_TAKEN, begin + 20000, begin + 29000);
	loss(7, 1, HWPMC_WHY_COUNTER_TAKEN, begin + 3000, begin + 8000);
	loss(7, 1, HWPMC_WHY_COUNTER_TAKEN, begin + 1000, 0);
	loss(8, 3, HWPMC_WHY_REGISTER_CHANGED, begin + 7000, 0);
	loss(8, 2, HWPMC_WHY_REGISTER_CHANGED, begin + 8000, begin + 9000);
	loss(77, 2, HWPMC_WHY_REGISTER_CHANGED, begin + 8000, begin + 9000);
	p = log_profile(&log_, NULL);
	l = hwpmc_profile_losses(p, &n);
	ck_assert_uint_eq(n, 2);
	ck_assert_str_eq(hwpmc_profile_events(p, &n)[l[0].event].name, "instructions");
	ck_assert_uint_eq(l[0].reason, HWPMC_WHY_COUNTER_TAKEN);
	ck_assert_uint_eq(l[0].ncpu, 2);
	ck_assert_uint_eq(l[0].until - l[0].from, 28000);
	ck_assert(!l[0].open);
	ck_assert_str_eq(hwpmc_profile_events(p, &n)[l[1].event].name, "cycles");
	ck_assert_uint_eq(l[1].ncpu, 2);
	ck_assert_int_eq(l[1].detail, 12);
	ck_assert_uint_eq(l[1].until - l[0].from, 8000);
	ck_assert(l[1].open);
	hwpmc_profile_free(p);
	log_free(&log_);
}
END_TEST

/* The end of the first is that of no other reason. */
START_TEST(profile_has_the_end_of_each_reason_of_a_loss)
{
	const struct hwpmc_profile_loss *l;
	struct hwpmc_profile *p;
	uint64_t begin;
	uint32_t n;

	log_begin(&log_);
	begin = log_.time;
	log_context(&log_, 42, 42);
	log_user(&log_, 0x401000);
	loss(7, 1, HWPMC_WHY_COUNTER_TAKEN, begin + 1000, begin + 3000);
	loss(7, 1, HWPMC_WHY_REGISTER_CHANGED, begin + 1000, 0);
	p = log_profile(&log_, NULL);
	l = hwpmc_profile_losses(p, &n);
	ck_assert_uint_eq(n, 2);
	for (uint32_t i = 0; i < n; i++) {
		ck_assert_uint_eq(l[i].ncpu, 1);
		ck_assert(l[i].open == (l[i].reason == HWPMC_WHY_REGISTER_CHANGED));
	}
	hwpmc_profile_free(p);
	log_free(&log_);
}
END_TEST

#define PMCS	4096

/* As many losses as a profile has, of as many PMCs, in a time that is linear in both. */
START_TEST(profile_of_a_hostile_log_has_its_losses_soon)
{
	const struct hwpmc_profile_loss *l;
	struct hwpmc_profile *p;
	struct timespec t[2];
	uint32_t n;

	log_begin(&log_);
	for (uint32_t i = 0; i < PMCS; i++)
		log_event(&log_, 1000 + i, "cycles", 1000);
	log_context(&log_, 42, 42);
	log_user(&log_, 0x401000);
	for (uint32_t turn = 0; turn < 8; turn++)
		for (uint32_t i = 0; i < PMCS; i++)
			loss(1000 + i, i, HWPMC_WHY_COUNTER_TAKEN, log_.time, log_.time + 1000);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t[0]);
	p = log_profile(&log_, NULL);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t[1]);
	l = hwpmc_profile_losses(p, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_uint_eq(l[0].ncpu, PMCS);
	ck_assert(!l[0].open);
	/* The comparison of each with each takes tens of seconds. */
	ck_assert_int_le(t[1].tv_sec - t[0].tv_sec, 3);
	hwpmc_profile_free(p);
	log_free(&log_);
}
END_TEST

int main(void)
{
	harness_add(profile_has_the_end_of_each_reason_of_a_loss);
	harness_add(profile_of_a_hostile_log_has_its_losses_soon);
	harness_add(profile_has_losses_by_event_and_reason);
	return harness_run();
}
