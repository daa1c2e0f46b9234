/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_chains.c - call chains by unwind tables of other programs: while what they have
 * mapped comes and goes, and of 32-bit ones, of which tables say nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "harness.h"
#include "kmod_dev.h"

#define SPIN	"build/vm/progs32/spin"

static struct hwpmc_rings *rings;
static unsigned int samples, flagged, deep;

static int count_chain(unsigned int cpu, const void *data, size_t len, void *arg)
{
	const char *at = data, *end = at + len;

	for (; at < end; at += ((const struct hwpmc_log_hdr *)at)->len) {
		const struct hwpmc_log_sample *s = (const void *)at;
		unsigned int n = (s->hdr.len - sizeof(*s)) / 8;

		if (s->hdr.type != HWPMC_LOG_CALLCHAIN || !(s->hdr.flags & HWPMC_SAMPLE_USER))
			continue;
		samples++;
		flagged += s->hdr.flags & HWPMC_SAMPLE_32BIT &&
			   !(s->hdr.flags & (HWPMC_SAMPLE_TABLES | HWPMC_SAMPLE_ENDS));
		/* turn(), four times down(), _start(). */
		deep += n == 6;
	}
	return 0;
}

static void spin(void *unused)
{
	execl(SPIN, SPIN, (char *)NULL);
	_exit(127);
}

START_TEST(chains_of_32_bit_programs_are_by_frame_pointers_and_flagged)
{
	struct child child = dev_child(spin, NULL);
	struct hwpmc_event event;
	struct hwpmc *h;
	uint32_t id;

	ck_assert_int_eq(hwpmc_open(&h), 0);
	ck_assert_int_eq(hwpmc_rings_open(h, 0, 0, &rings), 0);
	ck_assert_int_eq(hwpmc_event_parse(h, "instructions:u", &event), 0);
	ck_assert_msg(!hwpmc_allocate_event(h, &event, HWPMC_MODE_TS, HWPMC_F_CALLCHAIN |
					    HWPMC_F_TABLES | HWPMC_F_EXEC_START, HWPMC_CPU_ANY,
					    100000, &id), "%s", hwpmc_error(h));
	ck_assert_int_eq(hwpmc_attach(h, id, child.pid), 0);
	ck_assert_int_eq(hwpmc_start(h, id), 0);
	dev_go(&child);
	dev_wait(&child);
	ck_assert_int_eq(hwpmc_flush_log(h), 0);
	hwpmc_rings_read(rings, count_chain, NULL, NULL);
	ck_assert_uint_ge(samples, 50);
	ck_assert_uint_eq(flagged, samples);
	ck_assert_msg(deep * 10 >= samples * 9, "%u of %u", deep, samples);
	hwpmc_close(h);
}
END_TEST

/* ---- storms ---------------------------------------------------------------- */

/* So long, and longer where little is sampled in that time. */
#define STORM_MS	1500
#define ENOUGH		200

static uint64_t by_tables;

static int count_tables(unsigned int cpu, const void *data, size_t len, void *arg)
{
	const char *at = data, *end = at + len;

	for (; at < end; at += ((const struct hwpmc_log_hdr *)at)->len) {
		const struct hwpmc_log_sample *s = (const void *)at;
		unsigned int n = (s->hdr.len - sizeof(*s)) / 8;

		if (s->hdr.type != HWPMC_LOG_CALLCHAIN ||
		    !(s->hdr.flags & HWPMC_SAMPLE_TABLES))
			continue;
		by_tables++;
		/* A mark where there is to be one, and a reason that exists. */
		if (s->hdr.flags & HWPMC_SAMPLE_ENDS)
			ck_assert_uint_lt(HWPMC_PC_REASON(s->pc[n - 1]), HWPMC_CHAIN__COUNT);
		else
			ck_assert_uint_gt(HWPMC_PC_REASON(s->pc[n - 1]), 15);
	}
	return 0;
}

/* Opens and closes libraries, and starts programs, until it is killed. */
static void come_and_go(void *unused)
{
	for (;;) {
		void *m = dlopen("libm.so.6", RTLD_NOW), *r;
		pid_t pid = fork();

		if (!pid) {
			execl("/bin/true", "true", (char *)NULL);
			_exit(127);
		}
		r = dlopen("libresolv.so.2", RTLD_NOW);
		if (!m || !r || dlclose(m) || dlclose(r))
			_exit(1);
		waitpid(pid, NULL, 0);
	}
}

static uint64_t sum_of_chains(struct hwpmc *h)
{
	uint64_t chain[HWPMC_CHAIN__COUNT], sum = 0;

	ck_assert_int_eq(hwpmc_chain_stats(h, chain, HWPMC_CHAIN__COUNT), 0);
	for (unsigned int i = 0; i < HWPMC_CHAIN__COUNT; i++)
		sum += chain[i];
	return sum;
}

static void sample_both(struct hwpmc *h, struct child *child, uint32_t id)
{
	ck_assert_int_eq(hwpmc_start(h, id), 0);
	for (unsigned int i = 0; i < 2; i++)
		dev_go(&child[i]);
	for (unsigned int ms = 0; ms < STORM_MS || by_tables <= ENOUGH; ms += 10) {
		hwpmc_rings_read(rings, count_tables, NULL, NULL);
		usleep(10000);
	}
	ck_assert_int_eq(hwpmc_stop(h, id), 0);
	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_int_eq(kill(child[i].pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(child[i].pid, NULL, 0), child[i].pid);
	}
	ck_assert_int_eq(hwpmc_flush_log(h), 0);
	hwpmc_rings_read(rings, count_tables, NULL, NULL);
}

/* On each of two CPUs. The sum of the complete and of all reasons is all chains. */
START_TEST(libraries_and_programs_come_and_go_while_two_cpus_sample)
{
	struct child child[2];
	struct hwpmc_event event;
	struct hwpmc *h;
	uint64_t before;
	uint32_t id;

	ck_assert_int_eq(hwpmc_open(&h), 0);
	ck_assert_int_eq(hwpmc_rings_open(h, 4 << 20, 0, &rings), 0);
	ck_assert_int_eq(hwpmc_event_parse(h, "instructions:u", &event), 0);
	ck_assert_msg(!hwpmc_allocate_event(h, &event, HWPMC_MODE_TS, HWPMC_F_CALLCHAIN |
					    HWPMC_F_TABLES | HWPMC_F_DESCENDANTS,
					    HWPMC_CPU_ANY, 20000, &id), "%s", hwpmc_error(h));
	for (unsigned int i = 0; i < 2; i++) {
		child[i] = dev_child(come_and_go, NULL);
		dev_pin(child[i].pid, i);
		ck_assert_int_eq(hwpmc_attach(h, id, child[i].pid), 0);
		ck_assert_int_ge(hwpmc_unwind_add_process(h, child[i].pid), 4);
	}
	before = sum_of_chains(h);
	sample_both(h, child, id);
	ck_assert_uint_gt(by_tables, ENOUGH);
	ck_assert_uint_eq(sum_of_chains(h) - before, by_tables);
	hwpmc_close(h);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(libraries_and_programs_come_and_go_while_two_cpus_sample, 60);
	harness_add(chains_of_32_bit_programs_are_by_frame_pointers_and_flagged);
	return harness_run();
}
