// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_power - classes RAPL and PERF on registers that the emulated PMU plays (power=20: a
 * unit is 2^-20 joules, so a register is read at least each 1.024 s).
 */
#define _GNU_SOURCE
#include <sys/stat.h>

#include "../../vpmu/vpmu_guest.h"
#include "kmod_dev.h"

#define SC	HWPMC_MODE_SC
#define WRAP	(1ULL << 32)

static int fd;

static void setup(void)
{
	dev_pin(0, 0);
	fd = dev_open();
	ck_assert_int_ge(fd, 0);
	vpmu_knob(VPMU_KNOB_ENERGY, 1000);
}

static void prove(void)
{
	close(fd);
	dev_still_counts();
}

/* 0, or errno with *op filled in. */
static int allocate_as(int dev, struct hwpmc_op_pmcallocate *op, uint32_t class_id, uint32_t ev,
		       int mode, uint32_t cpu)
{
	*op = (struct hwpmc_op_pmcallocate){
		.mode = mode, .class = class_id, .ev = ev, .cpu = cpu,
	};
	return dev_allocate(dev, op);
}

static uint32_t allocate(uint32_t class_id, uint32_t ev, uint32_t cpu)
{
	struct hwpmc_op_pmcallocate op;

	ck_assert_int_eq(allocate_as(fd, &op, class_id, ev, SC, cpu), 0);
	return op.pmcid;
}

/* Of a difference, where both ends have been cut to whole microjoules. */
static void is_energy_of(uint64_t value, uint64_t units, int unit)
{
	uint64_t want = (uint64_t)(((unsigned __int128)units * 1000000) >> unit);

	ck_assert_msg(value >= want && value <= want + 1, "%llu, not %llu microjoules",
		      (unsigned long long)value, (unsigned long long)want);
}

static void is_energy(uint64_t value, uint64_t units)
{
	is_energy_of(value, units, 20);
}

static uint32_t started(uint32_t ev)
{
	uint32_t id = allocate(HWPMC_CLASS_RAPL, ev, 0);

	ck_assert_int_eq(dev_start(fd, id), 0);
	return id;
}

START_TEST(energy_of_each_part_is_counted_in_microjoules)
{
	uint32_t pkg = started(HWPMC_EV_RAPL_PKG), cores = started(HWPMC_EV_RAPL_CORES);
	uint32_t dram = dev_is_amd() ? 0 : started(HWPMC_EV_RAPL_DRAM);

	vpmu_knob(VPMU_KNOB_ENERGY, 1000 + 12345678);
	is_energy(dev_read(fd, pkg), 12345678);
	is_energy(dev_read(fd, cores), 2 * 12345678);
	/* The machine is a Xeon, whose memory has a unit of its own. */
	if (!dev_is_amd())
		is_energy_of(dev_read(fd, dram), 3 * 12345678, 16);
	ck_assert_int_eq(dev_stop(fd, pkg), 0);
	vpmu_knob(VPMU_KNOB_ENERGY, 1000 + 22345678);
	is_energy(dev_read(fd, pkg), 12345678);
	is_energy(dev_read(fd, cores), 2 * 22345678);
}
END_TEST

START_TEST(energy_is_exact_where_its_register_wraps)
{
	uint64_t at = WRAP - 5, sum = 0;
	uint32_t id;

	vpmu_knob(VPMU_KNOB_ENERGY, at);
	id = started(HWPMC_EV_RAPL_PKG);
	for (int i = 0; i < 20; i++) {
		at += WRAP - 1 - i;
		sum += WRAP - 1 - i;
		vpmu_knob(VPMU_KNOB_ENERGY, at);
		is_energy(dev_read(fd, id), sum);
	}
}
END_TEST

/* Only the module reads it meanwhile. */
START_TEST(energy_is_harvested_before_its_register_can_wrap_twice)
{
	uint32_t id = started(HWPMC_EV_RAPL_PKG);
	uint64_t sum = 0;

	for (int i = 0; i < 4; i++) {
		sum += WRAP / 4 * 3;
		vpmu_knob(VPMU_KNOB_ENERGY, 1000 + sum);
		dev_msleep(2500);
	}
	is_energy(dev_read(fd, id), sum);
}
END_TEST

START_TEST(many_owners_count_the_same_energy)
{
	int other = dev_open();
	struct hwpmc_op_pmcallocate op;
	uint32_t id = started(HWPMC_EV_RAPL_PKG);

	ck_assert_int_eq(allocate_as(other, &op, HWPMC_CLASS_RAPL, HWPMC_EV_RAPL_PKG, SC, 0), 0);
	ck_assert_int_eq(dev_start(other, op.pmcid), 0);
	vpmu_knob(VPMU_KNOB_ENERGY, 1000 + 777777);
	is_energy(dev_read(fd, id), 777777);
	is_energy(dev_read(other, op.pmcid), 777777);
	close(other);
	vpmu_knob(VPMU_KNOB_ENERGY, 1000 + 888888);
	is_energy(dev_read(fd, id), 888888);
}
END_TEST

static uint64_t retired(void)
{
	return vpmu_query(VPMU_VCPU + VPMU_USER_INSN, 0, 0) +
	       vpmu_query(VPMU_VCPU + VPMU_KERNEL_INSN, 0, 0);
}

/* The register is between two totals of the emulated PMU, at both ends. */
START_TEST(mperf_and_aperf_are_those_of_the_cpu)
{
	uint32_t mperf = allocate(HWPMC_CLASS_PERF, HWPMC_EV_PERF_MPERF, 0);
	uint32_t aperf = allocate(HWPMC_CLASS_PERF, HWPMC_EV_PERF_APERF, 0);
	uint64_t t0, t1, t2, t3, m, a;

	t0 = retired();
	ck_assert_int_eq(dev_start(fd, mperf), 0);
	ck_assert_int_eq(dev_start(fd, aperf), 0);
	t1 = retired();
	vpmu_knob(VPMU_KNOB_CLOCK, 1ULL << 40);
	t2 = retired();
	m = dev_read(fd, mperf);
	a = dev_read(fd, aperf);
	t3 = retired();
	vpmu_knob(VPMU_KNOB_CLOCK, 0);
	ck_assert_uint_ge(m, (1ULL << 40) + t2 - t1);
	ck_assert_uint_le(m, (1ULL << 40) + t3 - t0);
	ck_assert_uint_ge(a, 2 * ((1ULL << 40) + t2 - t1));
	ck_assert_uint_le(a, 2 * ((1ULL << 40) + t3 - t0));
}
END_TEST

static void read_is_refused(uint32_t id, uint32_t msr)
{
	struct hwpmc_op_pmcrw op = { .pmcid = id, .flags = HWPMC_F_OLDVALUE };

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_PMCRW, &op), -1);
	ck_assert_int_eq(errno, EIO);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_PMU_REFUSED);
	ck_assert_uint_eq((uint32_t)op.hdr.detail, msr);
}

static void read_is_uncertain(uint32_t id)
{
	struct hwpmc_op_pmcrw op = { .pmcid = id, .flags = HWPMC_F_OLDVALUE };

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_PMCRW, &op), -1);
	ck_assert_int_eq(errno, EIO);
	ck_assert_uint_eq(op.hdr.reason, HWPMC_WHY_COUNTER_BACK);
	ck_assert_uint_eq((uint32_t)op.hdr.detail, HWPMC_ID_ROW(id));
}

/* As after a sleep of some processors: 2^64 less what it was before is no count. */
START_TEST(a_clock_that_goes_back_is_an_error_and_no_huge_count)
{
	static const uint32_t ev[] = { HWPMC_EV_PERF_MPERF, HWPMC_EV_PERF_APERF };
	uint64_t n, high = 1ULL << 40;
	uint32_t id;

	for (int i = 0; i < 2; i++) {
		vpmu_knob(VPMU_KNOB_CLOCK, high);
		id = allocate(HWPMC_CLASS_PERF, ev[i], 0);
		ck_assert_int_eq(dev_start(fd, id), 0);
		dev_read(fd, id);
		vpmu_knob(VPMU_KNOB_CLOCK, 0);
		read_is_uncertain(id);
		ck_assert_int_eq(dev_stop(fd, id), 0);
		read_is_uncertain(id);
		ck_assert_int_eq(dev_release(fd, id), 0);
		id = allocate(HWPMC_CLASS_PERF, ev[i], 0);
		ck_assert_int_eq(dev_start(fd, id), 0);
		vpmu_knob(VPMU_KNOB_CLOCK, high);
		n = dev_read(fd, id);
		ck_assert_msg(n > high && n < 4 * high, "%llu", (unsigned long long)n);
		ck_assert_int_eq(dev_release(fd, id), 0);
	}
	vpmu_knob(VPMU_KNOB_CLOCK, 0);
}
END_TEST

/* As where a virtual machine goes on on another host. */
START_TEST(counts_of_a_register_that_faults_from_now_on_are_refused)
{
	uint32_t pkg = started(HWPMC_EV_RAPL_PKG), msr = dev_is_amd() ? 0xc001029b : 0x611;
	uint32_t aperf = allocate(HWPMC_CLASS_PERF, HWPMC_EV_PERF_APERF, 0);

	ck_assert_int_eq(dev_start(fd, aperf), 0);
	dev_read(fd, aperf);
	/* The kernel's tick reads it too. */
	dev_expect("unchecked MSR access error: RDMSR from 0xe8\n^[^a-z]*(Call Trace:|RIP: 00)");
	vpmu_knob(VPMU_KNOB_REFUSE, 0xe8 | VPMU_REFUSE_READS);
	read_is_refused(aperf, 0xe8);
	dev_read(fd, pkg);
	ck_assert_int_eq(dev_stop(fd, aperf), 0);
	read_is_refused(aperf, 0xe8);
	vpmu_knob(VPMU_KNOB_REFUSE, msr | VPMU_REFUSE_READS);
	read_is_refused(pkg, msr);
	vpmu_knob(VPMU_KNOB_REFUSE, 0);
	/* Until the last PMC of the class is gone. */
	read_is_refused(pkg, msr);
	ck_assert_int_eq(dev_release(fd, aperf), 0);
	aperf = allocate(HWPMC_CLASS_PERF, HWPMC_EV_PERF_APERF, 0);
	ck_assert_int_eq(dev_start(fd, aperf), 0);
	dev_read(fd, aperf);
}
END_TEST

static void refused(int dev, uint32_t class_id, uint32_t ev, int mode, uint32_t cpu, int err,
		    uint32_t why)
{
	struct hwpmc_op_pmcallocate op;

	ck_assert_int_eq(allocate_as(dev, &op, class_id, ev, mode, cpu), err);
	ck_assert_uint_eq(op.hdr.reason, why);
}

START_TEST(energy_and_frequency_are_counted_of_cpus_alone)
{
	refused(fd, HWPMC_CLASS_RAPL, HWPMC_EV_RAPL_PKG, HWPMC_MODE_TC, HWPMC_CPU_ANY, EINVAL,
		HWPMC_WHY_CLASS);
	refused(fd, HWPMC_CLASS_PERF, HWPMC_EV_PERF_APERF, HWPMC_MODE_TC, HWPMC_CPU_ANY, EINVAL,
		HWPMC_WHY_CLASS);
	refused(fd, HWPMC_CLASS_RAPL, HWPMC_EV_RAPL_PKG, HWPMC_MODE_SS, 0, EOPNOTSUPP,
		HWPMC_WHY_CAPS);
	refused(fd, HWPMC_CLASS_RAPL, HWPMC_EV_RAPL_GPU, SC, 0, EINVAL, HWPMC_WHY_EVENT_ROWS);
	refused(fd, HWPMC_CLASS_RAPL, HWPMC_EV_RAPL_PLATFORM + 1, SC, 0, EINVAL,
		HWPMC_WHY_EVENT);
	refused(fd, HWPMC_CLASS_PERF, HWPMC_EV_PERF_APERF + 1, SC, 0, EINVAL, HWPMC_WHY_EVENT);
}
END_TEST

static void try_as_nobody(void *arg)
{
	int *dev = arg;

	refused(*dev, HWPMC_CLASS_RAPL, HWPMC_EV_RAPL_PKG, SC, 0, EPERM, HWPMC_WHY_PRIV_SYSTEM);
	refused(*dev, HWPMC_CLASS_PERF, HWPMC_EV_PERF_MPERF, SC, 0, EPERM,
		HWPMC_WHY_PRIV_SYSTEM);
	refused(*dev, HWPMC_CLASS_TSC, HWPMC_EV_TSC, SC, 0, 0, 0);
}

static void open_and_try(void *arg)
{
	int dev = dev_open();

	ck_assert_int_ge(dev, 0);
	try_as_nobody(&dev);
	close(dev);
}

/* Energy and frequency tell what other programs compute, whatever else is permitted. */
START_TEST(energy_and_frequency_need_privilege_whatever_the_tunable_says)
{
	static const char tunable[] = "/proc/sys/kern/hwpmc/unprivileged_syspmcs";

	ck_assert_int_eq(chmod("/dev/hwpmc", 0666), 0);
	dev_put(tunable, "1");
	dev_as(65534, open_and_try, NULL);
	dev_put(tunable, "0");
	ck_assert_int_eq(chmod("/dev/hwpmc", 0600), 0);
}
END_TEST

START_TEST(nothing_is_written_to_registers_of_energy_and_frequency)
{
	uint64_t before = vpmu_query(VPMU_ACCESS, VPMU_N_WRMSR_CLASS + VPMU_CLASS_OTHER, 0);
	uint32_t id = started(HWPMC_EV_RAPL_PKG);

	dev_read(fd, id);
	ck_assert_int_eq(dev_release(fd, id), 0);
	ck_assert_uint_eq(vpmu_query(VPMU_ACCESS, VPMU_N_WRMSR_CLASS + VPMU_CLASS_OTHER, 0),
			  before);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, prove);
	harness_add(energy_of_each_part_is_counted_in_microjoules);
	harness_add(energy_is_exact_where_its_register_wraps);
	harness_add(energy_is_harvested_before_its_register_can_wrap_twice);
	harness_add(many_owners_count_the_same_energy);
	harness_add(mperf_and_aperf_are_those_of_the_cpu);
	harness_add(a_clock_that_goes_back_is_an_error_and_no_huge_count);
	harness_add(counts_of_a_register_that_faults_from_now_on_are_refused);
	harness_add(energy_and_frequency_are_counted_of_cpus_alone);
	harness_add(energy_and_frequency_need_privilege_whatever_the_tunable_says);
	harness_add(nothing_is_written_to_registers_of_energy_and_frequency);
	return harness_run();
}
