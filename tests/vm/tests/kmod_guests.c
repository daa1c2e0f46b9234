// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_guests.c - AMD's counters count the host alone where SVM is on, and guests if they are
 * told to. With either bit a counter of the emulated PMU stands still while SVM is off, as the
 * processor's; all that runs is the host.
 */
#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "harness.h"
#include "../lib/kmod_session.h"

#define GUEST	(1ull << 40)
#define HOST	(1ull << 41)
#define CODE	0xc0	/* instructions */
#define JOINED	0x0f03	/* more than 15 a cycle: takes a pair of counters */
#define MERGE	0xf004000ffull	/* what the odd one of the pair has */

static void set_svm(bool on)
{
	ck_assert_int_eq(system(on ? "insmod build/vm/kmods/$(uname -r)/svmmod.ko" :
				     "rmmod svmmod"), 0);
}

static void set_svm_silently(bool on)
{
	ck_assert_int_eq(system(on ? "insmod build/vm/kmods/$(uname -r)/svmmod.ko silent=1" :
				     "rmmod svmmod"), 0);
}

static int try_whose(int fd, int mode, uint32_t cpu, uint64_t whose, uint32_t *id)
{
	struct hwpmc_op_pmcallocate op;
	int err;

	dev_request(&op, mode, mode == TC ? HWPMC_F_EXEC_START : 0, cpu, INSN, U);
	op.config = CODE | whose;
	err = dev_allocate(fd, &op);
	*id = op.pmcid;
	return err;
}

static uint32_t alloc_whose(int fd, int mode, uint32_t cpu, uint64_t whose)
{
	uint32_t id;

	dev_ok(try_whose(fd, mode, cpu, whose, &id));
	return id;
}

/* The two bits in the register of a system-scope PMC, and whether it is enabled. */
static uint64_t whose_of(uint32_t id)
{
	uint64_t sel = vpmu_reg(VPMU_REG_SELECT + HWPMC_ID_ROW(id) - dev_first_row(),
				HWPMC_ID_CPU(id));

	ck_assert(sel & 1 << 22);
	return sel & (GUEST | HOST);
}

START_TEST(the_bit_for_the_host_is_set_only_while_svm_is_on)
{
	int fd = dev_open();
	uint32_t one = alloc_whose(fd, SC, 0, 0), two = alloc_whose(fd, SC, 1, HOST);
	uint32_t late;

	dev_ok(dev_start(fd, one));
	dev_ok(dev_start(fd, two));
	ck_assert_uint_eq(whose_of(one), 0);
	ck_assert_uint_eq(whose_of(two), 0);
	set_svm(true);
	ck_assert_uint_eq(whose_of(one), HOST);
	ck_assert_uint_eq(whose_of(two), HOST);
	late = alloc_whose(fd, SC, 1, 0);
	dev_ok(dev_start(fd, late));
	ck_assert_uint_eq(whose_of(late), HOST);
	dev_ok(dev_stop(fd, one));
	set_svm(false);
	ck_assert_uint_eq(whose_of(two), 0);
	ck_assert_uint_eq(whose_of(late), 0);
	/* What was stopped stays so. */
	ck_assert_uint_eq(vpmu_reg(VPMU_REG_SELECT + HWPMC_ID_ROW(one) - dev_first_row(), 0) &
			  1 << 22, 0);
	close(fd);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

static void await_whose(int fd, uint32_t id, uint64_t whose)
{
	uint64_t value = 0;

	for (int i = 0; i < 60 && whose_of(id) != whose; i++)
		dev_msleep(100);
	ck_assert_uint_eq(whose_of(id), whose);
	ck_assert_int_eq(dev_rw(fd, id, HWPMC_F_OLDVALUE, &value), EIO);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_REGISTER_CHANGED);
	ck_assert_uint_eq((uint32_t)dev_hdr.detail, 0xc0000080);
	dev_ok(dev_stop(fd, id));
	value = 0;
	dev_ok(dev_rw(fd, id, HWPMC_F_NEWVALUE, &value));
	dev_ok(dev_start(fd, id));
}

/* Other hypervisors do not tell perf: a look, once a second, finds it, and the count is short. */
START_TEST(svm_that_is_switched_silently_is_found_by_a_look)
{
	int fd = dev_open();
	uint32_t id = alloc_whose(fd, SC, 1, 0);

	dev_ok(dev_start(fd, id));
	ck_assert_uint_eq(whose_of(id), 0);
	set_svm_silently(true);
	await_whose(fd, id, HOST);
	set_svm_silently(false);
	await_whose(fd, id, 0);
	dev_read(fd, id);
	close(fd);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

/* KVM calls no function that the module has a probe of then. */
/* Any event of perf has all of them. */
static int open_perf_event(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static bool log_says_that_guests_are_counted(void)
{
	return !system("dmesg | grep -q 'hwpmc: counters count guests of this machine too: the "
		       "hypervisor does not keep the bit that excludes them'");
}

static void keep_bits(uint64_t but)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_pin(0, cpu);
		vpmu_knob(VPMU_KNOB_RESERVED, but);
	}
	dev_unpin(0);
}

/* A PMC of CPU 1, while SVM is on. */
static uint64_t whose_of_a_new_one(void)
{
	int fd = dev_open();
	uint32_t id = alloc_whose(fd, SC, 1, 0);
	uint64_t whose;

	dev_ok(dev_start(fd, id));
	whose = whose_of(id);
	close(fd);
	return whose;
}

/* A hypervisor may not keep the bit; this one does. */
START_TEST(guests_are_told_apart_though_perf_had_the_counters_at_load)
{
	int event = open_perf_event(), fd;
	uint32_t id;

	dev_fresh();
	fd = dev_open();
	ck_assert_int_eq(try_whose(fd, SC, 1, 0, &id), EBUSY);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_PMU_RESERVED);
	set_svm(true);
	close(event);
	ck_assert_uint_eq(whose_of_a_new_one(), HOST);
	dev_ok(try_whose(fd, SC, 1, GUEST, &id));
	close(fd);
	set_svm(false);
	ck_assert(!log_says_that_guests_are_counted());
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

START_TEST(where_guests_are_counted_too_the_log_says_so)
{
	int event, fd;
	uint32_t id;

	keep_bits(GUEST | HOST);
	event = open_perf_event();
	dev_fresh();
	ck_assert(!log_says_that_guests_are_counted());
	close(event);
	set_svm(true);
	ck_assert_uint_eq(whose_of_a_new_one(), 0);
	set_svm(false);
	ck_assert(log_says_that_guests_are_counted());
	fd = dev_open();
	ck_assert_int_eq(try_whose(fd, SC, 1, GUEST, &id), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_EVENT_BITS);
	close(fd);
	keep_bits(0);
	dev_fresh();
	dev_still_counts();
}
END_TEST

START_TEST(svm_may_be_on_before_the_counters_are_claimed)
{
	uint32_t id;
	int fd;

	set_svm(true);
	fd = dev_open();
	id = alloc_whose(fd, SC, 1, 0);
	dev_ok(dev_start(fd, id));
	ck_assert_uint_eq(whose_of(id), HOST);
	close(fd);
	set_svm(false);
	fd = dev_open();
	id = alloc_whose(fd, SC, 1, 0);
	dev_ok(dev_start(fd, id));
	ck_assert_uint_eq(whose_of(id), 0);
	close(fd);
	dev_check_registers_clear();
}
END_TEST

/* No instruction is lost while a counter is given the bit, or is rid of it. */
START_TEST(counts_are_exact_while_svm_goes_on_and_off)
{
	struct child c = dev_loop(20000000);
	int fd = dev_open();
	uint32_t id[3] = {
		alloc_whose(fd, TC, ANY, 0), alloc_whose(fd, TC, ANY, HOST),
		alloc_whose(fd, TC, ANY, GUEST | HOST),
	};

	for (int i = 0; i < 3; i++) {
		dev_ok(dev_attach(fd, id[i], c.pid));
		dev_ok(dev_start(fd, id[i]));
	}
	dev_go(&c);
	for (int i = 0; i < 4; i++)
		set_svm(!(i & 1));
	dev_wait(&c);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(dev_read(fd, id[i]), loop_insn(20000000));
	close(fd);
	dev_check_registers_clear();
}
END_TEST

/* Its select is none of an event of its own, whatever was counted there before. */
START_TEST(a_counter_that_is_joined_with_another_gets_no_bit)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open(), keeper = dev_open();
	unsigned int row;

	/* The counters are not given back in between. */
	alloc_whose(keeper, SC, 0, 0);
	for (unsigned int i = 0; i < dev_counters(); i++)
		dev_ok(dev_start(fd, alloc_whose(fd, SC, 1, 0)));
	close(fd);
	fd = dev_open();
	dev_request(&op, SC, 0, 1, INSN, U);
	op.config = JOINED;
	dev_ok(dev_allocate(fd, &op));
	dev_ok(dev_start(fd, op.pmcid));
	row = HWPMC_ID_ROW(op.pmcid) - dev_first_row();
	set_svm(true);
	ck_assert_uint_eq(whose_of(op.pmcid), HOST);
	ck_assert_uint_eq(vpmu_reg(VPMU_REG_SELECT + row + 1, 1), MERGE);
	set_svm(false);
	ck_assert_uint_eq(vpmu_reg(VPMU_REG_SELECT + row + 1, 1), MERGE);
	close(fd);
	close(keeper);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

START_TEST(guests_are_counted_alone_or_with_the_host_as_was_asked)
{
	int fd = dev_open();
	uint32_t guests = alloc_whose(fd, SC, 1, GUEST);
	uint32_t both = alloc_whose(fd, SC, 1, GUEST | HOST);

	set_svm(true);
	dev_ok(dev_start(fd, guests));
	dev_ok(dev_start(fd, both));
	ck_assert_uint_eq(whose_of(guests), GUEST);
	ck_assert_uint_eq(whose_of(both), 0);
	dev_pin(0, 1);
	dev_spin(100000);
	dev_unpin(0);
	ck_assert_uint_eq(dev_read(fd, guests), 0);
	ck_assert_uint_ge(dev_read(fd, both), 300000);
	set_svm(false);
	ck_assert_uint_eq(whose_of(guests), GUEST);
	ck_assert_uint_eq(whose_of(both), 0);
	close(fd);
	dev_check_registers_clear();
}
END_TEST

START_TEST(guests_are_not_sampled)
{
	int fd = dev_open();
	uint32_t id;

	ck_assert_int_eq(try_whose(fd, HWPMC_MODE_SS, 1, GUEST, &id), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_EVENT_BITS);
	ck_assert_int_eq(dev_hdr.detail, 40);
	ck_assert_int_eq(try_whose(fd, HWPMC_MODE_TS, ANY, GUEST | HOST, &id), EINVAL);
	ck_assert_int_eq(dev_hdr.detail, 40);
	dev_ok(try_whose(fd, HWPMC_MODE_SS, 1, HOST, &id));
	close(fd);
}
END_TEST

START_TEST(samples_are_complete_where_svm_is_on)
{
	struct session s;

	set_svm(true);
	begin(&s, NONE, 0);
	sample_loop(&s, 300000, 1);
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_ge(s.t.samples, 900);
	end(&s);
	set_svm(false);
	dev_check_registers_clear();
}
END_TEST

/* In a guest: VMRUN is a branch in the mode that it enters. The minimum of many is none. */
START_TEST(each_entry_of_a_guest_is_a_branch_and_no_instruction)
{
	struct child c = dev_loop(3000000);
	uint64_t interrupts, more;
	int fd = dev_open();
	uint32_t insn = dev_alloc(fd, TC, HWPMC_F_EXEC_START, ANY, INSN, U);
	uint32_t branch = dev_alloc(fd, TC, HWPMC_F_EXEC_START, ANY, BRANCH, U);

	dev_pin(c.pid, 1);
	dev_pin(0, 1);
	ck_assert_uint_eq(vpmu_knob(VPMU_KNOB_ENTRY, 1), 0);
	dev_pin(0, 0);
	dev_ok(dev_attach(fd, insn, c.pid));
	dev_ok(dev_attach(fd, branch, c.pid));
	dev_ok(dev_start(fd, insn));
	dev_ok(dev_start(fd, branch));
	interrupts = vpmu_access(VPMU_N_INTERRUPT, 1);
	dev_go(&c);
	dev_wait(&c);
	interrupts = vpmu_access(VPMU_N_INTERRUPT, 1) - interrupts;
	dev_pin(0, 1);
	vpmu_knob(VPMU_KNOB_ENTRY, 0);
	dev_unpin(0);
	ck_assert_uint_eq(dev_read(fd, insn), loop_insn(3000000));
	more = dev_read(fd, branch) - loop_branches(3000000);
	ck_assert_msg(more && more <= interrupts, "%lu more branches, %lu interrupts",
		      (unsigned long)more, (unsigned long)interrupts);
	close(fd);
	dev_check_registers_clear();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(each_entry_of_a_guest_is_a_branch_and_no_instruction);
	harness_add(the_bit_for_the_host_is_set_only_while_svm_is_on);
	harness_add(guests_are_told_apart_though_perf_had_the_counters_at_load);
	harness_add(where_guests_are_counted_too_the_log_says_so);
	harness_add(svm_that_is_switched_silently_is_found_by_a_look);
	harness_add(svm_may_be_on_before_the_counters_are_claimed);
	harness_add(counts_are_exact_while_svm_goes_on_and_off);
	harness_add(a_counter_that_is_joined_with_another_gets_no_bit);
	harness_add(guests_are_counted_alone_or_with_the_host_as_was_asked);
	harness_add(guests_are_not_sampled);
	harness_add(samples_are_complete_where_svm_is_on);
	return harness_run();
}
