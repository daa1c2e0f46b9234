// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_narrow_page.c - counters of 32 bits that a program reads itself, through a slice that is
 * longer than they are. Nothing but the harvest touches the counter meanwhile: the program
 * is of real time and alone on its CPU.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <libhwpmc.h>

#include "harness.h"
#include "kmod_dev.h"

#define FIXED	(1u << 30)		/* in an index of RDPMC */
#define NEAR	0xe0000000u		/* half a billion before the end */
#define STEP	30000u
#define SLACK	20000			/* instructions of a read and of the checks beside */

static struct hwpmc *h;

static void ok(int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(h));
}

/* The watchdog of the kernel runs on each CPU every four seconds. */
static void be_alone(bool on)
{
	struct sched_param p = { .sched_priority = on };

	dev_put("/proc/sys/kernel/soft_watchdog", on ? "0" : "1");
	dev_put("/proc/sys/kernel/sched_rt_runtime_us", on ? "-1" : "950000");
	ck_assert(!sched_setscheduler(0, on ? SCHED_FIFO : SCHED_OTHER, &p));
}

/* As if it had counted so much already: how much more that is. */
static uint64_t move_counter(int msrs, uint32_t index)
{
	off_t at = index & FIXED ? 0x309 + (index & ~FIXED) : 0xc1 + index;
	uint64_t old, new = NEAR;

	ck_assert_int_eq(pread(msrs, &old, 8, at), 8);
	ck_assert_int_eq(pwrite(msrs, &new, 8, at), 8);
	return new - old;
}

static uint64_t read_own(struct hwpmc_counter *c)
{
	uint64_t value;

	ok(hwpmc_counter_read(c, &value));
	return value;
}

/* A switch sets the counter to 0 as well. */
static long switches(void)
{
	struct rusage r;

	ck_assert(!getrusage(RUSAGE_THREAD, &r));
	return r.ru_nvcsw + r.ru_nivcsw;
}

/*
 * A read after a wrap is wrong until the next harvest, and right again after it: so it is read
 * all the time. False: there was a switch before the counter could wrap.
 */
static bool pass_the_wrap(struct hwpmc_counter *c, int msrs, uint32_t index)
{
	long before = switches();
	uint64_t begin = read_own(c), expect = begin + move_counter(msrs, index);

	while (expect < begin + 0x110000000) {
		uint64_t now;

		dev_spin(STEP);
		expect += 3 * STEP;
		now = read_own(c);
		if (now < expect || now > expect + SLACK) {
			be_alone(false);
			ck_abort_msg("%#lx instead of %#lx", now, expect);
		}
		expect = now;
	}
	return switches() == before;
}

START_TEST(a_counter_that_a_program_reads_is_set_to_0_before_it_wraps)
{
	struct hwpmc_counter c;
	uint32_t id, index;
	int msrs, tries = 0;
	bool passed;

	ck_assert_uint_eq(vpmu_reg(VPMU_REG_WIDTH, 0), 32);
	ck_assert(!system("modprobe -d \"$VM_KERNEL\" msr"));
	msrs = open("/dev/cpu/1/msr", O_RDWR);
	ck_assert_int_ge(msrs, 0);
	ck_assert_msg(!hwpmc_open(&h), "%s", hwpmc_error(NULL));
	dev_pin(0, 1);
	ok(hwpmc_allocate(h, "instructions:u", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id));
	ok(hwpmc_attach(h, id, 0));
	ok(hwpmc_start(h, id));
	ok(hwpmc_get_msr(h, id, &index));
	ok(hwpmc_counter_open(h, id, &c));
	be_alone(true);
	do {
		passed = pass_the_wrap(&c, msrs, index);
	} while (!passed && ++tries < 10);
	be_alone(false);
	ck_assert_msg(passed, "there is a switch each time");
	hwpmc_close(h);
	close(msrs);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(a_counter_that_a_program_reads_is_set_to_0_before_it_wraps, 120);
	return harness_run();
}
