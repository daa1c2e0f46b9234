// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_registers.c - what the module leaves in registers that more than one counter
 * shares: bits of overflows that it has dealt with, and AMD's global control.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "harness.h"
#include "../lib/kmod_session.h"

#define AMD_GLOBAL_CTL	0xc0000301

/* Perfmon 1 and AMD before PerfMonV2 have neither status nor control. */
static bool has_global(void)
{
	return vpmu_reg(VPMU_REG_VERSION, 0) >= 2;
}

static void check_status(void)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		ck_assert_uint_eq(vpmu_reg(VPMU_REG_GLOBAL_STATUS, cpu), 0);
}

/* The hardware is still claimed, so that no reset has cleared the status. */
static void sample_and_check(const char *event)
{
	struct session s;
	struct child c;
	uint32_t id;

	begin(&s, NONE, 0);
	id = allocate(&s, event, HWPMC_MODE_TS, HWPMC_F_EXEC_START, HWPMC_CPU_ANY,
		      10000);
	c = dev_loop(300000);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	check_status();
	finish(&s);
	check_conserved(&s);
	end(&s);
}

START_TEST(the_bit_of_an_overflow_is_clear_when_it_was_dealt_with)
{
	if (!has_global())
		SKIP("this PMU has no overflow status");
	/* Intel: a fixed and a programmable counter. */
	sample_and_check("instructions:u");
	sample_and_check("branches:u");
	dev_still_counts();
}
END_TEST

/* Row 0 and another one at the same time: bits of several counters. */
START_TEST(the_bits_of_several_counters_are_clear_when_they_were_dealt_with)
{
	static const char *const events[] = {
		"branches:u", "instructions:u", "branches:u", "branches:u",
	};
	struct session s;
	struct child c = dev_loop(300000);
	uint32_t id[4];

	if (!has_global())
		SKIP("this PMU has no overflow status");
	begin(&s, NONE, 0);
	for (int i = 0; i < 4; i++) {
		id[i] = allocate(&s, events[i], HWPMC_MODE_TS, HWPMC_F_EXEC_START,
				 HWPMC_CPU_ANY, 10000 + 1000 * i);
		ok(&s, hwpmc_attach(s.h, id[i], c.pid));
		ok(&s, hwpmc_start(s.h, id[i]));
	}
	dev_go(&c);
	dev_wait(&c);
	check_status();
	finish(&s);
	check_conserved(&s);
	end(&s);
	dev_still_counts();
}
END_TEST

/* All CPUs' register, as root can; what it held before on CPU 0. */
static uint64_t set_global(uint64_t value)
{
	uint64_t before = dev_rdmsr(0, AMD_GLOBAL_CTL);

	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		dev_wrmsr(cpu, AMD_GLOBAL_CTL, value);
	return before;
}

START_TEST(amds_global_control_is_given_back_as_it_was_found)
{
	uint64_t all = (1ULL << dev_counters()) - 1, before;
	int fd = dev_open();

	if (!has_global())
		SKIP("this PMU has no global control");
	ck_assert(!system("modprobe -d \"$VM_KERNEL\" msr"));
	before = set_global(0x15);
	dev_alloc(fd, TC, 0, ANY, INSN, U);
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		ck_assert_uint_eq(vpmu_reg(VPMU_REG_GLOBAL_CTRL, cpu), all);
	close(fd);
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		ck_assert_uint_eq(vpmu_reg(VPMU_REG_GLOBAL_CTRL, cpu), 0x15);
	set_global(before);
	dev_still_counts();
}
END_TEST

/* What a debugger, firmware or a driver of PEBS may have left, on all CPUs. */
static const struct {
	uint32_t msr;
	uint64_t value;
} left[] = {
	{ 0x1d9, 0x1000 },		/* all counters freeze at an interrupt */
	{ 0x3f1, 0x7000000ff },		/* an overflow makes a record instead */
	{ 0x600, 0xfffffe0000042000 },	/* here */
};

static void write_left(bool on)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		for (int i = 0; i < 3; i++)
			dev_wrmsr(cpu, left[i].msr, on ? left[i].value : 0);
}

static void check_left(bool on)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		for (int i = 0; i < 3; i++)
			ck_assert_uint_eq(dev_rdmsr(cpu, left[i].msr), on ? left[i].value : 0);
}

/* Without the clearing no counter interrupts, or all stand still from the first one on. */
START_TEST(a_freeze_and_precise_records_that_others_left_are_cleared_and_given_back)
{
	int fd;

	ck_assert(!system("modprobe -d \"$VM_KERNEL\" msr"));
	write_left(true);
	fd = dev_open();
	dev_alloc(fd, TC, 0, ANY, INSN, U);
	check_left(false);
	sample_and_check("instructions:u");
	sample_and_check("branches:u");
	check_left(false);
	close(fd);
	check_left(true);
	write_left(false);
	dev_still_counts();
}
END_TEST

/* AMD's: the freeze, and the status that says that they are frozen already. */
START_TEST(amds_freeze_that_others_left_is_ended_and_given_back)
{
	int fd;

	ck_assert(!system("modprobe -d \"$VM_KERNEL\" msr"));
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_wrmsr(cpu, left[0].msr, left[0].value | 1);
		dev_wrmsr(cpu, 0xc0000303, 1ull << 59);
	}
	fd = dev_open();
	dev_alloc(fd, TC, 0, ANY, INSN, U);
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		ck_assert_uint_eq(dev_rdmsr(cpu, left[0].msr), 1);
		ck_assert_uint_eq(vpmu_reg(VPMU_REG_GLOBAL_STATUS, cpu), 0);
	}
	sample_and_check("instructions:u");
	sample_and_check("branches:u");
	close(fd);
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		ck_assert_uint_eq(dev_rdmsr(cpu, left[0].msr), left[0].value | 1);
		dev_wrmsr(cpu, left[0].msr, 0);
	}
	dev_still_counts();
}
END_TEST

/* Of these registers on CPU 0, what a claim says. */
static int claim_beside(uint64_t select, uint64_t fixed, uint64_t global)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open(), err;

	dev_wrmsr(0, 0x38f, global);
	dev_wrmsr(0, 0x187, select);
	dev_wrmsr(0, 0x38d, fixed);
	dev_request(&op, TC, 0, ANY, INSN, U);
	err = dev_allocate(fd, &op);
	close(fd);
	dev_wrmsr(0, 0x187, 0);
	dev_wrmsr(0, 0x38d, 0);
	dev_wrmsr(0, 0x38f, 0);
	return err;
}

/* Tools and firmware leave them enabled, and stop all by global control. */
START_TEST(a_counter_runs_where_global_control_lets_it_alone)
{
	ck_assert(!system("modprobe -d \"$VM_KERNEL\" msr"));
	ck_assert_int_eq(claim_beside(0x4300c0, 0x333, 0), 0);
	ck_assert_int_eq(claim_beside(0x4300c0, 0x030, 5ull << 32 | 0xfd), 0);
	ck_assert_int_eq(claim_beside(0x4300c0, 0, 1 << 1), EBUSY);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_PMU_RUNNING);
	ck_assert_int_eq(dev_hdr.detail, 0x187);
	ck_assert_int_eq(claim_beside(0, 0x030, 1ull << 33), EBUSY);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_PMU_RUNNING);
	ck_assert_int_eq(dev_hdr.detail, 0x38d);
	dev_still_counts();
}
END_TEST

/* It was set while the module had the counters, by somebody whose it is now. */
START_TEST(what_others_set_meanwhile_stays_as_they_set_it)
{
	int fd;

	ck_assert(!system("modprobe -d \"$VM_KERNEL\" msr"));
	write_left(true);
	fd = dev_open();
	dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_wrmsr(0, 0x600, 0xfffffe0000099000);
	close(fd);
	ck_assert_uint_eq(dev_rdmsr(0, 0x600), 0xfffffe0000099000);
	ck_assert_uint_eq(dev_rdmsr(0, 0x1d9), 0x1000);
	write_left(false);
	dev_still_counts();
}
END_TEST

/* The filter of each PMC that was allocated, as the log has it. */
static void check_filters(int file, uint64_t filter)
{
	off_t size = lseek(file, 0, SEEK_END), at = 0;
	struct hwpmc_log_allocate r;
	unsigned int n = 0;

	while (at + (off_t)sizeof(r) <= size) {
		ck_assert_int_eq(pread(file, &r, sizeof(r), at), sizeof(r));
		if (r.hdr.type == HWPMC_LOG_PMCALLOCATE) {
			ck_assert_uint_eq(r.config1, filter);
			n++;
		}
		ck_assert_uint_ge(r.hdr.len, sizeof(r.hdr));
		at += r.hdr.len;
	}
	ck_assert_uint_eq(n, 1);
}

/* A filter of the front end's events; one that is set beside a counter. */
START_TEST(the_filter_of_an_event_is_set_while_it_counts_and_cleared_afterwards)
{
	struct hwpmc_op_pmcallocate op;
	struct hwpmc_op_configurelog log = { };
	int fd = dev_open(), other = dev_open();

	log.logfd = open("/tmp", O_TMPFILE | O_RDWR, 0600);
	ck_assert_int_ge(log.logfd, 0);
	ck_assert(!ioctl(fd, HWPMC_IOC_CONFIGURELOG, &log));
	ck_assert(!system("modprobe -d \"$VM_KERNEL\" msr"));
	/* Nothing is reset with the last PMC of the class then. */
	dev_alloc(other, TC, 0, ANY, BRANCH, U);
	dev_request(&op, SC, 0, 1, BRANCH, U);
	op.config = 0x01c6;
	op.config1 = 0x400106;
	dev_ok(dev_allocate(fd, &op));
	ck_assert_uint_eq(dev_rdmsr(1, 0x3f7), 0);
	dev_ok(dev_start(fd, op.pmcid));
	ck_assert_uint_eq(dev_rdmsr(1, 0x3f7), 0x400106);
	ck_assert_uint_eq(dev_rdmsr(0, 0x3f7), 0);
	dev_ok(dev_stop(fd, op.pmcid));
	close(fd);
	close(other);
	check_filters(log.logfd, 0x400106);
	close(log.logfd);
	ck_assert_uint_eq(dev_rdmsr(1, 0x3f7), 0);
	dev_check_registers_clear();
}
END_TEST

static bool has_frontend(void)
{
	return !system("grep -qE '^model[[:space:]]*: (85|94)$' /proc/cpuinfo");
}

/* The group says so (TFA=1): /proc/cpuinfo does not. */
static bool has_force_abort(void)
{
	return getenv("TFA");
}

/* Counter 3, with microcode that can force transactions to abort. */
START_TEST(the_counter_that_microcode_uses_is_given_to_none)
{
	struct child c = dev_loop(100000);
	unsigned int n = 0;
	int fd = dev_open();
	uint32_t id[16];
	struct hwpmc_op_pmcallocate op;

	dev_request(&op, TC, HWPMC_F_EXEC_START, ANY, BRANCH, U);
	while (n < 16 && !dev_allocate(fd, &op)) {
		id[n] = op.pmcid;
		ck_assert_uint_ne(HWPMC_ID_ROW(id[n]) - dev_first_row(), 3);
		dev_ok(dev_attach(fd, id[n], c.pid));
		dev_ok(dev_start(fd, id[n++]));
		dev_request(&op, TC, HWPMC_F_EXEC_START, ANY, BRANCH, U);
	}
	ck_assert_uint_eq(n, dev_counters() - 1);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_BUSY);
	dev_go(&c);
	dev_wait(&c);
	for (unsigned int i = 0; i < n; i++)
		ck_assert_uint_eq(dev_read(fd, id[i]), loop_branches(100000));
	close(fd);
	dev_check_registers_clear();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(the_bit_of_an_overflow_is_clear_when_it_was_dealt_with);
	harness_add(the_bits_of_several_counters_are_clear_when_they_were_dealt_with);
	if (!dev_is_amd()) {
		harness_add(a_freeze_and_precise_records_that_others_left_are_cleared_and_given_back);
		harness_add(what_others_set_meanwhile_stays_as_they_set_it);
		if (vpmu_reg(VPMU_REG_VERSION, 0) >= 2)
			harness_add(a_counter_runs_where_global_control_lets_it_alone);
		if (has_frontend())
			harness_add(the_filter_of_an_event_is_set_while_it_counts_and_cleared_afterwards);
	}
	if (has_force_abort())
		harness_add(the_counter_that_microcode_uses_is_given_to_none);
	if (dev_is_amd()) {
		harness_add(amds_global_control_is_given_back_as_it_was_found);
		harness_add(amds_freeze_that_others_left_is_ended_and_given_back);
	}
	return harness_run();
}
