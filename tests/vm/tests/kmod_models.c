// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_models.c - what must hold on each model of processor, of all its rows at once: they
 * count exactly, through a wrap, for programs that take turns, sample without a loss, and leave
 * registers as they were. The emulated PMU has the model's counters, and its limits
 * (strict.c).
 */
#include <cpuid.h>

#include "harness.h"
#include "../lib/kmod_session.h"

#define ROWS	24
#define LOOP	100000

/* PMCs of instructions in user mode, one a row. */
struct rows {
	int fd;
	unsigned int n;
	uint32_t id[ROWS];
};

static struct hwpmc_op_getcpuinfo machine;

static unsigned int rows_of(uint32_t class_id)
{
	for (unsigned int i = 0; i < machine.nclass; i++)
		if (machine.classes[i].class == class_id)
			return machine.classes[i].num;
	return 0;
}

/* Those that count as many as instructions on every model: the fourth, slots, does not. */
static unsigned int fixed_rows(void)
{
	unsigned int n = rows_of(HWPMC_CLASS_IAF);

	return n < 3 ? n : 3;
}

/* The group says so (TFA=1): /proc/cpuinfo does not. */
static bool microcode_has_one(void)
{
	return getenv("TFA");
}

/* So many at a time, where the group says so (AT_ONCE=n). */
static unsigned int host_gives(void)
{
	return getenv("AT_ONCE") ? (unsigned int)atoi(getenv("AT_ONCE")) : 0;
}

static bool allocate_row(struct rows *r, uint32_t flags, unsigned int fixed)
{
	struct hwpmc_op_pmcallocate op;

	dev_request(&op, TC, flags, ANY, INSN, U);
	if (fixed) {
		op.class = HWPMC_CLASS_IAF;
		op.config = (uint64_t)fixed << 8;
	}
	if (dev_allocate(r->fd, &op))
		return false;
	ck_assert_uint_lt(r->n, ROWS);
	r->id[r->n++] = op.pmcid;
	return true;
}

/* All that can count instructions. */
static void allocate_rows(struct rows *r, uint32_t flags)
{
	unsigned int wanted = dev_counters() - microcode_has_one();

	memset(r, 0, sizeof(*r));
	r->fd = dev_open();
	for (unsigned int i = 1; i <= fixed_rows(); i++)
		ck_assert(allocate_row(r, flags, i));
	while (allocate_row(r, flags, 0))
		;
	if (host_gives()) {
		ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_AT_ONCE);
		ck_assert_uint_eq(r->n, host_gives());
		return;
	}
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_BUSY);
	ck_assert_uint_eq(r->n, fixed_rows() + wanted);
}

static void start_rows(struct rows *r, pid_t pid)
{
	for (unsigned int i = 0; i < r->n; i++) {
		dev_ok(dev_attach(r->fd, r->id[i], pid));
		dev_ok(dev_start(r->fd, r->id[i]));
	}
}

static void check_rows(struct rows *r, uint64_t insn)
{
	for (unsigned int i = 0; i < r->n; i++)
		ck_assert_msg(dev_read(r->fd, r->id[i]) == insn, "row %u counts %llu, not %llu",
			      HWPMC_ID_ROW(r->id[i]),
			      (unsigned long long)dev_read(r->fd, r->id[i]),
			      (unsigned long long)insn);
	close(r->fd);
}

static void count_a_loop(struct rows *r)
{
	struct child c = dev_loop(LOOP);

	start_rows(r, c.pid);
	dev_go(&c);
	dev_wait(&c);
	check_rows(r, loop_insn(LOOP));
}

START_TEST(all_rows_of_the_model_count_exactly_at_once)
{
	struct rows r;

	allocate_rows(&r, HWPMC_F_EXEC_START);
	count_a_loop(&r);
	dev_check_registers_clear();
}
END_TEST

static void write_msr(int msr, uint32_t reg, uint64_t value)
{
	ck_assert_int_eq(pwrite(msr, &value, 8, reg), 8);
}

/* Intel's counters are written as all models can: 32 bits, which are extended by the sign. */
static void set_counters(int cpu, uint64_t value)
{
	int amd = vpmu_reg(VPMU_REG_VERSION, 0) ? 2 : 1;
	char path[32];
	int msr;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	msr = open(path, O_WRONLY);
	ck_assert_int_ge(msr, 0);
	for (unsigned int i = 0; i < dev_counters(); i++)
		write_msr(msr, !dev_is_amd() ? 0xc1 + i :
			  amd == 2 ? 0xc0010201 + 2 * i : 0xc0010004 + i,
			  dev_is_amd() ? value : value & 0xffffffff);
	for (unsigned int i = 0; i < fixed_rows(); i++)
		write_msr(msr, 0x309 + i, value & ((1ULL << vpmu_reg(VPMU_REG_WIDTH, 0)) - 1));
	close(msr);
}

START_TEST(all_rows_of_the_model_count_through_a_wrap)
{
	uint64_t value = (uint64_t)-(int64_t)LOOP, seen;
	struct rows r;

	ck_assert(!system("modprobe -d \"$VM_KERNEL\" msr"));
	allocate_rows(&r, HWPMC_F_EXEC_START);
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		set_counters(cpu, value);
		seen = vpmu_reg(VPMU_REG_COUNTER, cpu);
		ck_assert_uint_eq(seen, value & ((1ULL << vpmu_reg(VPMU_REG_WIDTH, 0)) - 1));
	}
	count_a_loop(&r);
	dev_check_registers_clear();
}
END_TEST

/* Two programs on one CPU, each with all rows of an owner. */
START_TEST(programs_that_take_turns_are_counted_exactly_on_all_rows)
{
	struct child c[2] = { dev_loop(20 * LOOP), dev_loop(30 * LOOP) };
	struct rows r[2];

	for (int i = 0; i < 2; i++) {
		dev_pin(c[i].pid, 0);
		allocate_rows(&r[i], HWPMC_F_EXEC_START);
		start_rows(&r[i], c[i].pid);
	}
	dev_go(&c[0]);
	dev_go(&c[1]);
	dev_wait(&c[0]);
	dev_wait(&c[1]);
	check_rows(&r[0], loop_insn(20 * LOOP));
	check_rows(&r[1], loop_insn(30 * LOOP));
	dev_check_registers_clear();
}
END_TEST

START_TEST(all_rows_of_the_model_sample_and_no_period_is_lost)
{
	unsigned int n = (fixed_rows() ? 1 : 0) + dev_counters() - microcode_has_one();
	struct session s;
	struct child c;
	uint32_t id[ROWS];

	if (host_gives() && n > host_gives())
		n = host_gives();
	begin(&s, NONE, 0);
	for (unsigned int i = 0; i < n; i++)
		id[i] = allocate(&s, "instructions:u", HWPMC_MODE_TS, HWPMC_F_EXEC_START,
				 HWPMC_CPU_ANY, 5003 + 1000 * i);
	c = dev_loop(LOOP);
	for (unsigned int i = 0; i < n; i++) {
		ok(&s, hwpmc_attach(s.h, id[i], c.pid));
		ok(&s, hwpmc_start(s.h, id[i]));
	}
	dev_go(&c);
	dev_wait(&c);
	for (unsigned int i = 0; i < n; i++)
		ok(&s, hwpmc_stop(s.h, id[i]));
	finish(&s);
	check_conserved(&s);
	ck_assert_uint_ge(s.t.samples, loop_insn(LOOP) / 5003);
	end(&s);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

/* Is there a register of the state of overflows? Without one the emulated PMU keeps bits of
 * its own there, which no guest can clear. */
static bool has_global_status(void)
{
	unsigned int a = 0, b, c, d;

	if (dev_is_amd())
		return __get_cpuid(0x80000022, &a, &b, &c, &d) && a & 1;
	return __get_cpuid(10, &a, &b, &c, &d) && (a & 0xff) >= 2;
}

/* What the registers that are not counters hold. */
static void snapshot(uint64_t *to)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		for (unsigned int i = 0; i < dev_counters(); i++)
			*to++ = vpmu_reg(VPMU_REG_SELECT + i, cpu);
		*to++ = vpmu_reg(VPMU_REG_FIXED_CTRL, cpu);
		*to++ = vpmu_reg(VPMU_REG_GLOBAL_CTRL, cpu);
		*to++ = has_global_status() ? vpmu_reg(VPMU_REG_GLOBAL_STATUS, cpu) : 0;
	}
}

START_TEST(registers_of_the_model_are_as_they_were_found)
{
	uint64_t before[4 * ROWS] = { 0 }, after[4 * ROWS] = { 0 };
	struct session s;
	struct rows r;

	snapshot(before);
	allocate_rows(&r, HWPMC_F_EXEC_START);
	count_a_loop(&r);
	begin(&s, NONE, 0);
	sample_loop(&s, 10000, 0);
	finish(&s);
	end(&s);
	dev_check_registers_clear();
	snapshot(after);
	for (unsigned int i = 0; i < 4 * ROWS; i++)
		ck_assert_msg(before[i] == after[i], "register %u of the list: %#llx, now %#llx",
			      i, (unsigned long long)before[i], (unsigned long long)after[i]);
}
END_TEST

int main(void)
{
	int fd;

	dev_setup();
	fd = dev_open();
	/* The emulator's NMIs take long. */
	if (fd < 0 || ioctl(fd, HWPMC_IOC_GETCPUINFO, &machine) || !try_tunable("selfcost", 0))
		return 1;
	close(fd);
	harness_add(all_rows_of_the_model_count_exactly_at_once);
	harness_add(all_rows_of_the_model_count_through_a_wrap);
	harness_add(programs_that_take_turns_are_counted_exactly_on_all_rows);
	harness_add(all_rows_of_the_model_sample_and_no_period_is_lost);
	harness_add(registers_of_the_model_are_as_they_were_found);
	return harness_run();
}
