/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_ibs.c - $IBS_SECONDS of sampling beside perf's instruction-based sampling on AMD's
 * processors, which reserves no counter and whose NMIs find overflows before those of the
 * counters come: the kernel is left no NMI to wonder about, and no overflow is lost.
 */
#define _GNU_SOURCE
#include <time.h>

#include "harness.h"
#include "../lib/kmod_pmi.h"

static int seconds(void)
{
	const char *text = getenv("IBS_SECONDS");

	return text ? atoi(text) : 4;
}

/* Of all CPUs; it has begun when this returns. */
static pid_t perf_samples(void)
{
	uint64_t before = access_count(VPMU_N_IBS);
	pid_t pid = fork();

	if (!pid) {
		execlp("perf", "perf", "record", "-q", "-a", "-o", "/dev/null", "-c", "10000",
		       "-e", "ibs_op/cnt_ctl=1/", "--", "sleep", "100000", (char *)NULL);
		_exit(127);
	}
	for (int i = 0; access_count(VPMU_N_IBS) - before < 100; i++) {
		ck_assert_int_lt(i, 10000);
		ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
		dev_spin(10000);
		dev_msleep(1);
	}
	return pid;
}

/* Nowhere twice within thousands of instructions: the kernel forgives a second NMI where the
 * one before had hit. */
static void wander(void *arg)
{
	for (int i = 0; i < 1000; i++)
		asm volatile(".rept 1500; jmp 1f; 1: addq $1, %%rdx; .endr"
			     : : : "rdx", "cc");
}

/* Two counters, on both CPUs. */
static void sample_two(void)
{
	static const char *const event[] = { "instructions:u", "branches:u" };
	struct child c[2];
	uint32_t id[2];

	for (int i = 0; i < 2; i++)
		id[i] = allocate(event[i], HWPMC_MODE_TS, 0, ANY, 9001 + 2003 * i);
	for (int i = 0; i < 2; i++) {
		c[i] = dev_child(wander, NULL);
		dev_pin(c[i].pid, i);
		for (int j = 0; j < 2; j++)
			ok(hwpmc_attach(h, id[j], c[i].pid));
	}
	for (int i = 0; i < 2; i++)
		ok(hwpmc_start(h, id[i]));
	for (int i = 0; i < 2; i++)
		dev_go(&c[i]);
	for (int i = 0; i < 2; i++)
		dev_wait(&c[i]);
	for (int i = 0; i < 2; i++) {
		ok(hwpmc_stop(h, id[i]));
		ok(hwpmc_release(h, id[i]));
	}
}

/* The copies that look() has made: hundreds of rounds would fill the memory. */
static void forget_records(void)
{
	while (nrec)
		free((void *)rec[--nrec].hdr);
}

START_TEST(no_nmi_is_unknown_beside_the_sampling_of_ops)
{
	uint64_t ibs = access_count(VPMU_N_IBS), total = 0;
	time_t end = time(NULL) + seconds();
	pid_t perf;

	/* It would sample less and less by the time that its handler takes here. */
	dev_put("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
	perf = perf_samples();
	do {
		/* Longer than perf's handler runs: else the kernel takes it for the same NMI. */
		knob(VPMU_KNOB_LATE, 6000);
		knob(VPMU_KNOB_QUEUE, 1);
		sample_two();
		check_conserved();
		total += samples;
		forget_records();
		hwpmc_close(h);
		kmod_setup();
		begin();
		overflows = access_count(VPMU_N_OVERFLOW_INT);
	} while (time(NULL) < end);
	ck_assert(!kill(perf, SIGTERM));
	ck_assert_int_eq(waitpid(perf, NULL, 0), perf);
	dev_put("/proc/sys/kernel/perf_cpu_time_max_percent", "25");
	ibs = access_count(VPMU_N_IBS) - ibs;
	printf("# %u unknown NMIs in %d s, %lu samples, %lu of perf's\n",
	       dev_unknown_nmis() - (unsigned int)unknown, seconds(), total, ibs);
	ck_assert_uint_gt(total, 500);
	ck_assert_uint_gt(ibs, 500);
	check_no_unknown_nmi();
	all_is_well();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(pmi_setup, NULL);
	harness_add_timed(no_nmi_is_unknown_beside_the_sampling_of_ops, seconds() + 60);
	return harness_run();
}
