// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_perfmon6 - perfmon 6, whose registers the kernel's table of reservations does not
 * have where perf uses their new addresses: perf and the module never have the counters at
 * the same time, whichever comes first, whenever the module is loaded; the new bits of a
 * select reach its register; registers beside a select are 0 while the module counts, and as
 * before afterwards.
 */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "kmod_dev.h"

/* Of GP 2 and fixed 1, which efficient cores can reload. */
#define GP_RELOAD	(0x1902 + 4 * 2)
#define FIXED_RELOAD	(0x1982 + 4 * 1)
#define SELECT(n)	(0x1901 + 4 * (n))

static int fd;

static void open_device(void)
{
	fd = dev_open();
	ck_assert_int_ge(fd, 0);
}

/* An event of perf's: a descriptor, or -1 and errno. */
static int perf_open(uint32_t type, uint64_t config, int cpu)
{
	struct perf_event_attr attr = {
		.type = type, .size = sizeof(attr), .config = config, .exclude_kernel = 1,
	};

	return syscall(SYS_perf_event_open, &attr, cpu < 0 ? 0 : -1, cpu, -1,
		       PERF_FLAG_FD_CLOEXEC);
}

static int perf_instructions(void)
{
	return perf_open(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1);
}

static int try_insn(uint32_t *id)
{
	struct hwpmc_op_pmcallocate op;
	int err;

	dev_request(&op, TC, 0, ANY, INSN, U);
	err = dev_allocate(fd, &op);
	*id = op.pmcid;
	return err;
}

static uint32_t insn(void)
{
	uint32_t id;

	dev_ok(try_insn(&id));
	return id;
}

/* perf leaves its registers as they are when it stops; the module leaves them 0. */
static void close_device(void)
{
	dev_ok(dev_release(fd, insn()));
	close(fd);
	dev_check_registers_clear();
}

static void check_held_by_perf(void)
{
	uint32_t id;

	ck_assert_int_eq(try_insn(&id), EBUSY);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_PMU_RESERVED);
}

START_TEST(perf_is_refused_while_the_module_has_the_counters)
{
	static const struct { uint32_t type; uint64_t config; int cpu; } form[] = {
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, -1 },
		{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 0 },
		{ PERF_TYPE_RAW, 0xc0, -1 },
		{ PERF_TYPE_RAW, 0xc4, 0 },
	};
	uint32_t id = insn();
	int event;

	for (unsigned int i = 0; i < sizeof(form) / sizeof(*form); i++) {
		ck_assert_int_eq(perf_open(form[i].type, form[i].config, form[i].cpu), -1);
		ck_assert_int_eq(errno, EBUSY);
	}
	dev_ok(dev_release(fd, id));
	event = perf_instructions();
	ck_assert_int_ge(event, 0);
	close(event);
}
END_TEST

START_TEST(the_module_is_refused_while_perf_has_an_event)
{
	int first = perf_instructions(), second = perf_instructions();
	uint32_t id;

	ck_assert_int_ge(first, 0);
	ck_assert_int_ge(second, 0);
	check_held_by_perf();
	close(first);
	check_held_by_perf();
	close(second);
	id = insn();
	dev_ok(dev_release(fd, id));
}
END_TEST

static void unload(void)
{
	close(fd);
	ck_assert_int_eq(system("rmmod hwpmc"), 0);
}

static void load(void)
{
	dev_setup();
	open_device();
}

START_TEST(an_event_that_is_older_than_the_module_keeps_it_out)
{
	uint32_t id;
	int event;

	unload();
	event = perf_instructions();
	ck_assert_int_ge(event, 0);
	load();
	check_held_by_perf();
	unload();
	load();
	check_held_by_perf();
	close(event);
	id = insn();
	ck_assert_int_eq(perf_instructions(), -1);
	dev_ok(dev_release(fd, id));
	/* Nothing of the module is left in the kernel's table. */
	unload();
	event = perf_instructions();
	ck_assert_int_ge(event, 0);
	close(event);
	load();
	dev_still_counts();
}
END_TEST

/* What keeps perf out is the function tracer's, and cannot be switched off by its file. */
START_TEST(what_keeps_perf_out_cannot_be_switched_off)
{
	int f = open("/proc/sys/kernel/ftrace_enabled", O_RDWR | O_CLOEXEC);
	uint32_t id = insn();
	char text[4];

	ck_assert_int_ge(f, 0);
	ck_assert_int_eq(write(f, "0", 1), -1);		/* 7.x: never */
	ck_assert_int_ge(pread(f, text, sizeof(text), 0), 1);
	ck_assert_int_eq(text[0], '1');
	close(f);
	ck_assert_int_eq(perf_instructions(), -1);
	ck_assert_int_eq(errno, EBUSY);
	dev_ok(dev_release(fd, id));
}
END_TEST

/* What the kernel's table says of a counter and a select: 0, or the errno of insmod. */
static int reserve(unsigned int counter, unsigned int select)
{
	char command[256];
	int status;

	snprintf(command, sizeof(command),
		 "insmod build/vm/kmods/$(uname -r)/reservemod.ko counter=%#x select=%#x 2>/tmp/said &&"
		 " rmmod reservemod && exit 0; grep -q busy /tmp/said && exit 16;"
		 " grep -q space /tmp/said && exit 28; cat /tmp/said >&2; exit 1", counter, select);
	status = system(command);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Whichever of its addresses somebody reserves a counter by. */
START_TEST(each_address_of_a_counter_is_reserved_while_the_module_has_it)
{
	uint32_t id;

	ck_assert_int_eq(reserve(0x1900, 0x1901), 0);
	ck_assert_int_eq(reserve(0xc1, 0x186), 0);
	id = insn();
	for (unsigned int n = 0; n < 8; n += 7) {
		ck_assert_int_eq(reserve(0x1900 + 4 * n, 0x1901), EBUSY);
		ck_assert_int_eq(reserve(0x4000, 0x1901 + 4 * n), ENOSPC);
		ck_assert_int_eq(reserve(0xc1 + n, 0x186), EBUSY);
		ck_assert_int_eq(reserve(0x4000, 0x186 + n), ENOSPC);
	}
	/* Others are nobody's, as without the module. */
	ck_assert_int_eq(reserve(0x18ff, 0x1980), 0);
	ck_assert_int_eq(reserve(0xc1 + 20, 0x186 + 20), 0);
	dev_ok(dev_release(fd, id));
	ck_assert_int_eq(reserve(0x1900, 0x1901), 0);
	ck_assert_int_eq(reserve(0xc1, 0x186), 0);
}
END_TEST

/* ---- both at once --------------------------------------------------------- */

static atomic_int opened, refused, both, stop;
static atomic_int holds;		/* PMCs that the module has given */

/* An event is open: then no PMC was allocated before its end, nor is one. */
static void *opens_events(void *arg)
{
	while (!atomic_load(&stop)) {
		int event = perf_instructions();
		uint32_t id;

		if (event < 0) {
			ck_assert_int_eq(errno, EBUSY);
			atomic_fetch_add(&refused, 1);
			continue;
		}
		atomic_fetch_add(&opened, 1);
		if (atomic_load(&holds))
			atomic_fetch_add(&both, 1);
		if (!try_insn(&id)) {
			atomic_fetch_add(&both, 1);
			dev_release(fd, id);
		}
		close(event);
		usleep(100);		/* a gap for the other side */
	}
	return NULL;
}

START_TEST(of_many_attempts_at_the_same_time_never_both_succeed)
{
	unsigned int given = 0, busy = 0;
	pthread_t thread[2];

	atomic_store(&stop, 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, opens_events, NULL), 0);
	for (int i = 0; i < 20000 && (given < 100 || !atomic_load(&opened) ||
				      !atomic_load(&refused)); i++) {
		uint32_t id;

		if (try_insn(&id)) {
			busy++;
			continue;
		}
		given++;
		atomic_store(&holds, 1);
		if (i & 1)
			sched_yield();
		atomic_store(&holds, 0);
		dev_ok(dev_release(fd, id));
	}
	atomic_store(&stop, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	printf("# %u PMCs and %d events, %u and %d refused\n", given, atomic_load(&opened),
	       busy, atomic_load(&refused));
	ck_assert_int_eq(atomic_load(&both), 0);
	ck_assert_uint_ge(given, 1);
	ck_assert_int_ge(atomic_load(&opened), 1);
	ck_assert_int_ge(atomic_load(&refused), 1);
}
END_TEST

/* ---- registers ------------------------------------------------------------ */

static int msr_file(int cpu)
{
	char path[40];
	int f;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	f = open(path, O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(f, 0);
	return f;
}

static uint64_t get(int msr, uint32_t address)
{
	uint64_t x;

	ck_assert_msg(pread(msr, &x, 8, address) == 8, "MSR %#x", address);
	return x;
}

static void put(int msr, uint32_t address, uint64_t x)
{
	ck_assert_msg(pwrite(msr, &x, 8, address) == 8, "MSR %#x", address);
}

START_TEST(registers_beside_a_select_are_0_while_the_module_counts_and_as_before_then)
{
	int msr = msr_file(dev_cpus() - 1);	/* an efficient core */
	struct hwpmc_op_pmcallocate op;
	uint32_t id;

	put(msr, GP_RELOAD, 0xc);
	put(msr, FIXED_RELOAD, 1ULL << 32);
	put(msr, GP_RELOAD + 1, 0x1234);
	dev_request(&op, SC, 0, dev_cpus() - 1, INSN, U);
	dev_ok(dev_allocate(fd, &op));
	id = op.pmcid;
	ck_assert_uint_eq(get(msr, GP_RELOAD), 0);
	ck_assert_uint_eq(get(msr, GP_RELOAD + 1), 0);
	op = (struct hwpmc_op_pmcallocate){
		.class = HWPMC_CLASS_IAF, .ev = HWPMC_EV_IAF_FIRST + 1, .caps = U,
		.mode = SC, .cpu = dev_cpus() - 1,
	};
	dev_ok(dev_allocate(fd, &op));
	ck_assert_uint_eq(get(msr, FIXED_RELOAD), 0);
	dev_ok(dev_release(fd, id));
	dev_ok(dev_release(fd, op.pmcid));
	ck_assert_uint_eq(get(msr, GP_RELOAD), 0xc);
	ck_assert_uint_eq(get(msr, GP_RELOAD + 1), 0x1234);
	ck_assert_uint_eq(get(msr, FIXED_RELOAD), 1ULL << 32);
	put(msr, GP_RELOAD, 0);
	put(msr, GP_RELOAD + 1, 0);
	put(msr, FIXED_RELOAD, 0);
	close(msr);
}
END_TEST

/* The select that some row of the CPU has, of event 0x1c. */
static uint64_t select_in_use(int msr)
{
	for (unsigned int n = 0; n < 8; n++)
		if ((get(msr, SELECT(n)) & 0xff) == 0x1c)
			return get(msr, SELECT(n));
	return 0;
}

START_TEST(the_new_bits_of_a_select_reach_the_register)
{
	static const uint64_t bits[] = { 1ULL << 40, 0x5aULL << 40, 1ULL << 36, 0xffULL << 40 };
	int cpu = dev_cpus() - 1, msr = msr_file(cpu);

	for (unsigned int i = 0; i < sizeof(bits) / sizeof(*bits); i++) {
		struct hwpmc_op_pmcallocate op = {
			.class = HWPMC_CLASS_IAP, .flags = HWPMC_F_EV_PMU, .mode = SC,
			.cpu = cpu, .caps = U, .config = 0x200011c | bits[i],
		};

		dev_ok(dev_allocate(fd, &op));
		dev_ok(dev_start(fd, op.pmcid));
		ck_assert_uint_eq(select_in_use(msr) & (0xffULL << 40 | 1ULL << 36), bits[i]);
		dev_ok(dev_release(fd, op.pmcid));
	}
	close(msr);
}
END_TEST

int main(void)
{
	if (system("modprobe -d \"$VM_KERNEL\" msr"))
		fprintf(stderr, "cannot load msr\n");
	dev_setup();
	harness_fixture(open_device, close_device);
	harness_add(perf_is_refused_while_the_module_has_the_counters);
	harness_add(the_module_is_refused_while_perf_has_an_event);
	harness_add(what_keeps_perf_out_cannot_be_switched_off);
	harness_add(each_address_of_a_counter_is_reserved_while_the_module_has_it);
	harness_add_timed(of_many_attempts_at_the_same_time_never_both_succeed, 60);
	harness_add(registers_beside_a_select_are_0_while_the_module_counts_and_as_before_then);
	harness_add(the_new_bits_of_a_select_reach_the_register);
	harness_add(an_event_that_is_older_than_the_module_keeps_it_out);
	return harness_run();
}
