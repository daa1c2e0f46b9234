/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * skid.c - how far behind its event a sample is taken. A turn of the loop has one branch, at
 * its end, and NOPs of one byte: so the address less that of the loop's first NOP is the
 * number of instructions since the branch. And how many samples of a program's own events
 * lie in the kernel, where it makes system calls all the time.
 */
#include <errno.h>
#include <libhwpmclog.h>
#include <string.h>

#include "long.h"
#include "selftest/judge.h"

#define SLED	1000
#define PERIOD	10007

extern const char long_sled[] __attribute__((visibility("hidden")));
void long_run_sled(uint64_t n) __attribute__((visibility("hidden")));

/* n turns; n > 0. */
__asm__(".pushsection .text\n"
	".type long_run_sled, @function\n"
	"long_run_sled:\n"
	"long_sled:\n"
	".rept 1000\n\tnop\n.endr\n"
	"\tdecq %rdi\n"
	"\tjnz long_sled\n"
	"\tret\n"
	".size long_run_sled, . - long_run_sled\n"
	".popsection\n");

struct skid {
	uint64_t at[SLED], outside;
};

static int take(unsigned int cpu, const void *data, size_t len, void *arg)
{
	struct skid *s = arg;
	const char *at = data;

	for (size_t done = 0; done < len; ) {
		const struct hwpmc_log_sample *r = (const void *)(at + done);

		if (r->hdr.type == HWPMC_LOG_CALLCHAIN) {
			uint64_t from = r->pc[0] - (uint64_t)(uintptr_t)long_sled;

			if (from < SLED)
				s->at[from]++;
			else
				s->outside++;
		}
		done += r->hdr.len;
	}
	return 0;
}

static void judge(struct selftest *t, const struct skid *s)
{
	unsigned int median, p90;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < SLED; i++)
		sum += s->at[i];
	median = judge_percentile(s->at, SLED, 50);
	p90 = judge_percentile(s->at, SLED, 90);
	long_number(t, sum, "samples");
	long_number(t, s->outside, "outside");
	long_number(t, median, "median");
	long_number(t, p90, "percentile90");
	if (!sum)
		st_failed(t, "skid", "no sample of %llu lies in the loop",
			  (unsigned long long)s->outside);
	else if (t->hypervisor)
		st_measured(t, "skid", "the median sample is %u instructions after its branch, 90 %% within %u, under a hypervisor",
			    median, p90);
	else if (judge_skid(median))
		st_held(t, "skid", "the median sample is %u instructions after its branch, 90 %% within %u",
			median, p90);
	else
		st_failed(t, "skid", "the median sample is %u instructions after its branch: less than 200 are usual",
			  median);
}

static void sample_sled(struct selftest *t, struct hwpmc_rings *rings)
{
	static struct skid s;
	struct st_pmcs p = { .n = 0 };
	uint64_t half = t->run->step_begin + (t->run->step_end - t->run->step_begin) / 2;

	memset(&s, 0, sizeof(s));
	if (!st_add(t, &p, "branches:u", PERIOD)) {
		st_not_tried(t, "skid", "skid: %s", hwpmc_error(t->h));
		return;
	}
	if (st_batch(t, &p, "skid", HWPMC_BATCH_START)) {
		do {
			long_run_sled(10 * PERIOD);
			hwpmc_rings_read(rings, take, &s, NULL);
		} while (long_more(t) && st_ns() < half);
		st_batch(t, &p, "skid", HWPMC_BATCH_STOP);
		hwpmc_flush_log(t->h);
		hwpmc_rings_read(rings, take, &s, NULL);
		judge(t, &s);
	}
	st_release(t, &p);
}

static void sample_calls(struct selftest *t, struct hwpmc_rings *rings)
{
	struct st_pmcs p = { .n = 0 };
	struct st_samples s = { .p = &p };

	if (!st_add(t, &p, "instructions:u", PERIOD)) {
		st_failed(t, "skid-kernel", "%s", hwpmc_error(t->h));
		return;
	}
	if (st_batch(t, &p, "skid-kernel", HWPMC_BATCH_START)) {
		do {
			st_calls(20000);
			hwpmc_rings_read(rings, st_take_samples, &s, NULL);
		} while (long_more(t));
		st_batch(t, &p, "skid-kernel", HWPMC_BATCH_STOP);
		hwpmc_flush_log(t->h);
		hwpmc_rings_read(rings, st_take_samples, &s, NULL);
		long_number(t, s.of[0], "calls.samples");
		long_number(t, s.kernel, "calls.in_kernel");
		st_measured(t, "skid-kernel",
			    "%llu of %llu samples of instructions:u are in the kernel; every fourth instruction of the loop is a system call",
			    (unsigned long long)s.kernel, (unsigned long long)s.of[0]);
	}
	st_release(t, &p);
}

void long_skid(struct selftest *t)
{
	struct hwpmc_rings *rings;
	int cpu;

	if (st_cpus(&cpu, 1) == 1)
		st_pin(cpu);
	if (hwpmc_rings_open(t->h, 0, 0, &rings) < 0) {
		st_failed(t, "skid", "%s", hwpmc_error(t->h));
		return;
	}
	sample_sled(t, rings);
	if (!long_stopped())
		sample_calls(t, rings);
	hwpmc_rings_close(rings);
	hwpmc_configure_log(t->h, -1);
}
