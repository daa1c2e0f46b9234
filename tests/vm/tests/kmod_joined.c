// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_joined - events of AMD's that take two counters, or the counter of a whole node: what
 * is counted, and who else gets the counters.
 */
#include "harness.h"
#include "../lib/kmod_session.h"

/* Floating-point operations retired; the emulated PMU counts instructions. */
#define FLOPS		0xff03
/* Of the northbridge, before family 15h. */
#define DRAM_ACCESSES	0x07e0

static int allocate_event(int fd, int mode, uint32_t cpu, uint64_t config, uint32_t *id)
{
	struct hwpmc_op_pmcallocate op;
	int err;

	dev_request(&op, mode, mode == TC ? HWPMC_F_EXEC_START : 0, cpu, INSN, U);
	op.config = config;
	err = dev_allocate(fd, &op);
	*id = op.pmcid;
	return err;
}

static unsigned int row_of(uint32_t id)
{
	return HWPMC_ID_ROW(id) - dev_first_row();
}

static void check_no_select(void)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		for (unsigned int i = 0; i < dev_counters(); i++)
			ck_assert_uint_eq(vpmu_reg(VPMU_REG_SELECT + i, cpu), 0);
}

/* It takes the counter and the next one, which is joined to it while it counts. */
START_TEST(two_counters_that_are_joined_count_exactly)
{
	struct child c = dev_loop(100000);
	int fd = dev_open(), other = dev_open();
	uint32_t id;

	/* Nothing is reset with the last PMC of the class then. */
	dev_ok(allocate_event(other, TC, ANY, 0xc0, &id));
	dev_ok(allocate_event(fd, TC, ANY, FLOPS, &id));
	ck_assert_uint_eq(row_of(id) & 1, 0);
	dev_ok(dev_attach(fd, id, c.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&c);
	dev_wait(&c);
	ck_assert_uint_eq(dev_read(fd, id), loop_insn(100000));
	dev_ok(dev_release(fd, id));
	check_no_select();
	close(fd);
	close(other);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

START_TEST(in_system_scope_as_well)
{
	uint64_t before, after;
	int fd = dev_open();
	uint32_t id;

	dev_pin(0, 1);
	dev_ok(allocate_event(fd, SC, 1, FLOPS, &id));
	dev_ok(dev_start(fd, id));
	before = dev_read(fd, id);
	dev_spin(100000);
	after = dev_read(fd, id);
	dev_unpin(0);
	ck_assert_uint_ge(after - before, 300000);
	ck_assert_uint_lt(after - before, 400000);
	close(fd);
	dev_check_registers_clear();
}
END_TEST

START_TEST(a_pair_leaves_its_second_counter_to_nobody)
{
	unsigned int pairs = dev_counters() / 2, n;
	uint32_t id[8], one, two;
	int fd = dev_open(), other = dev_open();

	for (n = 0; n < pairs; n++)
		dev_ok(allocate_event(fd, TC, ANY, FLOPS, &id[n]));
	ck_assert_int_eq(allocate_event(fd, TC, ANY, FLOPS, &one), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_BUSY);
	ck_assert_int_eq(allocate_event(fd, TC, ANY, 0xc0, &one), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_BUSY);
	/* Others share the even ones, in process scope. */
	for (n = 0; n < pairs; n++) {
		dev_ok(allocate_event(other, TC, ANY, 0xc0, &one));
		ck_assert_uint_eq(row_of(one) & 1, 0);
	}
	ck_assert_int_eq(allocate_event(other, TC, ANY, 0xc0, &one), EINVAL);
	close(other);
	dev_ok(dev_release(fd, id[0]));
	dev_ok(allocate_event(fd, TC, ANY, 0xc0, &one));
	dev_ok(allocate_event(fd, TC, ANY, 0xc0, &two));
	ck_assert_int_eq(allocate_event(fd, TC, ANY, FLOPS, &id[0]), EINVAL);
	/* One of the two is enough to keep a pair away, whichever it is. */
	dev_ok(dev_release(fd, row_of(one) & 1 ? two : one));
	ck_assert_int_eq(allocate_event(fd, TC, ANY, FLOPS, &id[0]), EINVAL);
	dev_ok(dev_release(fd, row_of(one) & 1 ? one : two));
	dev_ok(allocate_event(fd, TC, ANY, FLOPS, &id[0]));
	close(fd);
	dev_check_registers_clear();
}
END_TEST

/* All counters of fd for a child that waits. */
static unsigned int attach_all(int fd, pid_t pid, uint64_t config, uint32_t id[16])
{
	unsigned int n = 0;

	while (!allocate_event(fd, TC, ANY, config, &id[n])) {
		dev_ok(dev_attach(fd, id[n], pid));
		dev_ok(dev_start(fd, id[n++]));
	}
	return n;
}

static void check_all(int fd, const uint32_t *id, unsigned int n, uint64_t insn)
{
	for (unsigned int i = 0; i < n; i++)
		ck_assert_msg(dev_read(fd, id[i]) == insn, "counter %u of %u: %lu, not %lu", i, n,
			      (unsigned long)dev_read(fd, id[i]), (unsigned long)insn);
}

/*
 * Two processes take turns on a CPU, one with pairs, and that one last: the counters are still
 * joined there when the pairs are released. Then their second counters are one's, and the
 * first ones another's.
 */
START_TEST(pairs_and_single_counters_take_turns_and_stay_exact)
{
	int fd = dev_open(), other = dev_open();
	struct child c[4] = {
		dev_loop(2000000), dev_loop(1000000), dev_loop(2000000), dev_loop(2000000),
	};
	uint32_t pair[16], single[16], late[16];
	unsigned int n, m, k;

	for (int i = 0; i < 4; i++)
		dev_pin(c[i].pid, 0);
	n = attach_all(fd, c[0].pid, FLOPS, pair);
	m = attach_all(other, c[1].pid, 0xc0, single);
	/* Here, for a stop would part the counters. */
	for (unsigned int i = 0; i < m; i++) {
		dev_ok(dev_stop(other, single[i]));
		dev_ok(dev_attach(other, single[i], c[3].pid));
		dev_ok(dev_start(other, single[i]));
	}
	ck_assert_uint_eq(n, dev_counters() / 2);
	ck_assert_uint_eq(m, n);
	dev_go(&c[0]);
	dev_go(&c[1]);
	dev_wait(&c[1]);
	dev_wait(&c[0]);
	check_all(fd, pair, n, loop_insn(2000000));
	check_all(other, single, m, loop_insn(1000000));
	/* The children that wait have the descriptor too: closing it would end nothing. */
	for (unsigned int i = 0; i < n; i++)
		dev_ok(dev_release(fd, pair[i]));
	k = attach_all(other, c[2].pid, 0xc0, late);
	ck_assert_uint_eq(k, dev_counters() - m);
	dev_go(&c[2]);
	dev_go(&c[3]);
	dev_wait(&c[2]);
	dev_wait(&c[3]);
	check_all(other, late, k, loop_insn(2000000));
	check_all(other, single, m, loop_insn(1000000) + loop_insn(2000000));
	close(fd);
	close(other);
	dev_check_registers_clear();
}
END_TEST

/* Leave this process's counters of CPU 0 armed, far from their overflow. */
static void leave_armed(struct session *s)
{
	uint32_t id = allocate(s, "rff03:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 1000000003);

	ok(s, hwpmc_attach(s->h, id, 0));
	dev_pin(0, 0);
	ok(s, hwpmc_start(s->h, id));
	dev_spin(1000);
	ok(s, hwpmc_stop(s->h, id));
	ok(s, hwpmc_release(s->h, id));
}

/*
 * The program adds all that RDPMC gives: 64 bits, the upper ones of the second counter. One
 * that is in the upper half of its range as the page is made is set to 0 then.
 */
START_TEST(a_program_reads_its_own_pair_exactly)
{
	struct hwpmc_counter c;
	struct session s;
	uint64_t mine, all;
	uint32_t id;

	begin(&s, NONE, 0);
	/* A claim that ends leaves nothing in the counters. */
	allocate(&s, "rc0:u", TC, 0, HWPMC_CPU_ANY, 0);
	leave_armed(&s);
	id = allocate(&s, "rff03:u", TC, 0, HWPMC_CPU_ANY, 0);
	ok(&s, hwpmc_attach(s.h, id, 0));
	ok(&s, hwpmc_start(s.h, id));
	ck_assert_uint_ge(vpmu_reg(VPMU_REG_COUNTER + row_of(id), 0), 1ull << 47);
	ok(&s, hwpmc_counter_open(s.h, id, &c));
	for (int i = 0; i < 100; i++) {
		dev_pin(0, i & 1);
		ok(&s, hwpmc_counter_read(&c, &mine));
		ok(&s, hwpmc_read(s.h, id, &all));
		ck_assert_uint_ge(all, mine);
		ck_assert_uint_lt(all - mine, 2000);
	}
	dev_unpin(0);
	end(&s);
	dev_check_registers_clear();
}
END_TEST

/* A lost sample is declared as dropped; nothing loses any here. */
static void end_with_all_samples(struct session *s)
{
	finish(s);
	check_conserved(s);
	ck_assert_uint_ge(s->t.samples, 85);
	ck_assert_uint_eq(all_drops(s), 0);
	end(s);
	dev_check_registers_clear();
}

START_TEST(samples_of_a_pair_are_its_periods)
{
	struct child c = dev_loop(300000);
	struct session s;
	uint32_t id;

	begin(&s, FAST, 0);
	id = allocate(&s, "rff03:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START, HWPMC_CPU_ANY, 10000);
	ok(&s, hwpmc_attach(s.h, id, c.pid));
	ok(&s, hwpmc_start(s.h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(&s, hwpmc_stop(s.h, id));
	end_with_all_samples(&s);
}
END_TEST

START_TEST(samples_of_a_pair_in_system_scope_are_its_periods)
{
	struct session s;
	uint32_t id;

	begin(&s, FAST, 0);
	id = allocate(&s, "rff03:u", HWPMC_MODE_SS, 0, 1, 10000);
	dev_pin(0, 1);
	ok(&s, hwpmc_start(s.h, id));
	dev_spin(300000);
	ok(&s, hwpmc_stop(s.h, id));
	dev_unpin(0);
	end_with_all_samples(&s);
}
END_TEST

/* What its overflows carry into is not another owner's count, nor a program's to read. */
START_TEST(the_second_counter_of_a_pair_is_left_at_0)
{
	struct session s, other;
	uint32_t id, row, one;

	begin(&other, NONE, 0);
	one = allocate(&other, "rc0:u", TC, 0, HWPMC_CPU_ANY, 0);
	begin(&s, FAST, 0);
	id = allocate(&s, "rff03:u", HWPMC_MODE_TS, 0, HWPMC_CPU_ANY, 1000003);
	row = row_of(id);
	ok(&s, hwpmc_attach(s.h, id, 0));
	dev_pin(0, 0);
	ok(&s, hwpmc_start(s.h, id));
	dev_spin(1000);
	ck_assert_uint_eq(vpmu_reg(VPMU_REG_COUNTER + row + 1, 0), 0xffff);
	ok(&s, hwpmc_stop(s.h, id));
	ck_assert_uint_eq(vpmu_reg(VPMU_REG_COUNTER + row + 1, 0), 0);
	dev_unpin(0);
	finish(&s);
	end(&s);
	ok(&other, hwpmc_release(other.h, one));
	end(&other);
	dev_check_registers_clear();
}
END_TEST

START_TEST(an_event_of_the_node_is_not_counted_by_process)
{
	int fd = dev_open();
	uint32_t id;

	ck_assert_int_eq(allocate_event(fd, TC, ANY, DRAM_ACCESSES, &id), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_EVENT_NODE);
	ck_assert_int_eq(allocate_event(fd, HWPMC_MODE_TS, ANY, DRAM_ACCESSES, &id), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_EVENT_NODE);
	close(fd);
	dev_still_counts();
}
END_TEST

/* The four counters are there once, though each of the two cores could program them. */
START_TEST(a_counter_of_the_node_has_one_owner_among_its_cores)
{
	int fd = dev_open(), other = dev_open();
	uint32_t id[4], more;

	for (int i = 0; i < 4; i++)
		dev_ok(allocate_event(i & 1 ? fd : other, SC, i & 1, DRAM_ACCESSES, &id[i]));
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		ck_assert_int_eq(allocate_event(fd, SC, cpu, DRAM_ACCESSES, &more), EINVAL);
		ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_BUSY);
		/* Events of the cores are. */
		dev_ok(allocate_event(fd, SC, cpu, 0xc0, &more));
	}
	close(other);
	dev_ok(allocate_event(fd, SC, 0, DRAM_ACCESSES, &more));
	close(fd);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

/* Before family 15h. */
static bool has_node_events(void)
{
	return !system("awk '/^cpu family/ { exit $4 >= 21 }' /proc/cpuinfo");
}

int main(void)
{
	dev_setup();
	if (has_node_events()) {
		harness_add(an_event_of_the_node_is_not_counted_by_process);
		harness_add(a_counter_of_the_node_has_one_owner_among_its_cores);
	} else {
		harness_add(two_counters_that_are_joined_count_exactly);
		harness_add(in_system_scope_as_well);
		harness_add(a_pair_leaves_its_second_counter_to_nobody);
		harness_add(pairs_and_single_counters_take_turns_and_stay_exact);
		harness_add(a_program_reads_its_own_pair_exactly);
		harness_add(samples_of_a_pair_are_its_periods);
		harness_add(samples_of_a_pair_in_system_scope_are_its_periods);
		harness_add(the_second_counter_of_a_pair_is_left_at_0);
	}
	return harness_run();
}
