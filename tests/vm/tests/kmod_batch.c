// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_batch - one call for many PMCs. On the emulated PMU a cycle is an instruction, so
 * two counters of a CPU that are read at one moment, in the same way each time, have
 * grown by exactly the same.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>

#include "kmod_dev.h"

#define READ	HWPMC_BATCH_READ
#define START	HWPMC_BATCH_START
#define STOP	HWPMC_BATCH_STOP
#define MOST	64

static int fd;
static struct hwpmc_batch_entry entry[MOST];
static uint32_t failed;

static void setup(void)
{
	fd = dev_open();
	ck_assert_int_ge(fd, 0);
	memset(entry, 0, sizeof(entry));
}

static void prove(void)
{
	close(fd);
	dev_check_registers_clear();
	dev_still_counts();
}

static int call(struct hwpmc_op_batch *op)
{
	int ret = ioctl(fd, HWPMC_IOC_BATCH, op) ? errno : 0;

	dev_hdr = op->hdr;
	failed = op->failed;
	return ret;
}

static int batch(uint32_t command, unsigned int n)
{
	struct hwpmc_op_batch op = {
		.command = command, .n = n, .entry_size = sizeof(entry[0]),
		.entries = (uintptr_t)entry,
	};

	return call(&op);
}

/* All entries must succeed. */
static void batch_ok(uint32_t command, unsigned int n)
{
	dev_ok(batch(command, n));
	for (unsigned int i = 0; i < n; i++)
		ck_assert_msg(!entry[i].error, "entry %u: %s, reason %u", i,
			      strerror(entry[i].error), entry[i].hdr.reason);
	ck_assert_uint_eq(failed, 0);
}

static void check_entry(unsigned int i, int err, uint32_t why)
{
	ck_assert_int_eq(entry[i].error, err);
	ck_assert_uint_eq(entry[i].hdr.reason, why);
}

/* Instructions and cycles of each CPU: entries 2 * cpu and 2 * cpu + 1. */
static unsigned int allocate_on_all(void)
{
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		entry[2 * cpu].pmcid = dev_alloc(fd, SC, 0, cpu, INSN, U | K);
		entry[2 * cpu + 1].pmcid = dev_alloc(fd, SC, 0, cpu, CYCLES, U | K);
	}
	return 2 * dev_cpus();
}

#define ROUNDS	30

START_TEST(instructions_and_cycles_of_each_cpu_grow_by_the_same)
{
	unsigned int n = allocate_on_all();
	uint64_t before[MOST], all = 0;

	ck_assert_uint_eq(n, 16);
	batch_ok(START, n);
	batch_ok(READ, n);
	for (int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < n; i++)
			before[i] = entry[i].value;
		dev_pin(0, round % dev_cpus());
		dev_spin(20000);
		dev_msleep(2);
		batch_ok(READ, n);
		for (unsigned int i = 0; i < n; i += 2) {
			uint64_t insn = entry[i].value - before[i];

			ck_assert_uint_eq(insn, entry[i + 1].value - before[i + 1]);
			all += insn;
		}
	}
	/* What this program itself has executed is somewhere among it. */
	ck_assert_uint_gt(all, ROUNDS * 3ull * 20000);
	batch_ok(STOP, n);
	batch_ok(READ, n);
	for (unsigned int i = 0; i < n; i++)
		before[i] = entry[i].value;
	dev_spin(20000);
	batch_ok(READ, n);
	for (unsigned int i = 0; i < n; i++)
		ck_assert_uint_eq(entry[i].value, before[i]);
	dev_unpin(0);
}
END_TEST

static long own_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

START_TEST(instructions_and_cycles_of_the_calling_thread_grow_by_the_same)
{
	int same = 0;

	dev_pin(0, 3);
	entry[0].pmcid = dev_alloc(fd, TC, 0, ANY, INSN, U | K);
	entry[1].pmcid = dev_alloc(fd, TC, 0, ANY, CYCLES, U | K);
	batch_ok(START, 2);
	while (same < ROUNDS) {
		long switches = own_switches();
		uint64_t insn, cycles;

		batch_ok(READ, 2);
		insn = entry[0].value;
		cycles = entry[1].value;
		dev_spin(1000);
		batch_ok(READ, 2);
		/* Rows are loaded otherwise than they are read. */
		if (own_switches() != switches)
			continue;
		same++;
		ck_assert_uint_ge(entry[0].value - insn, 3000);
		ck_assert_uint_eq(entry[0].value - insn, entry[1].value - cycles);
	}
	batch_ok(STOP, 2);
	dev_unpin(0);
}
END_TEST

static long switches_of(pid_t pid)
{
	char path[40], line[128];
	long sum = 0, n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%*[nvoluntary]_ctxt_switches: %ld", &n) == 1)
			sum += n;
	fclose(f);
	return sum;
}

static void spin_for_ever(void *unused)
{
	for (;;)
		dev_spin(1000000);
}

START_TEST(instructions_and_cycles_of_a_process_elsewhere_grow_by_the_same)
{
	struct child child = dev_child(spin_for_ever, NULL);
	int same = 0;

	dev_pin(0, 0);
	dev_pin(child.pid, 5);
	entry[0].pmcid = dev_alloc(fd, TC, 0, ANY, INSN, U | K);
	entry[1].pmcid = dev_alloc(fd, TC, 0, ANY, CYCLES, U | K);
	dev_ok(dev_attach(fd, entry[0].pmcid, child.pid));
	dev_ok(dev_attach(fd, entry[1].pmcid, child.pid));
	batch_ok(START, 2);
	dev_go(&child);
	while (same < ROUNDS) {
		long switches = switches_of(child.pid);
		uint64_t first, insn, cycles;

		batch_ok(READ, 2);
		first = entry[0].value;
		batch_ok(READ, 2);
		insn = entry[0].value;
		cycles = entry[1].value;
		batch_ok(READ, 2);
		/*
		 * A switch is counted when the process goes. When it comes, rows are loaded
		 * one after the other: only then, before the second read, it has run.
		 */
		if (switches_of(child.pid) != switches || insn == first)
			continue;
		same += entry[0].value > insn;
		ck_assert_uint_eq(entry[0].value - insn, entry[1].value - cycles);
	}
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	batch_ok(READ, 2);
	dev_unpin(0);
}
END_TEST

/* Function calls on other CPUs so far, of /proc/interrupts. */
static uint64_t calls_of_others(void)
{
	FILE *f = fopen("/proc/interrupts", "r");
	char line[1024];
	uint64_t sum = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "CAL:");

		if (!at)
			continue;
		for (char *word = strtok(at + 4, " "); word; word = strtok(NULL, " "))
			sum += strtoul(word, NULL, 10);
	}
	fclose(f);
	return sum;
}

START_TEST(a_batch_asks_each_cpu_once)
{
	unsigned int n = allocate_on_all();
	uint64_t calls;

	batch_ok(START, n);
	calls = calls_of_others();
	for (int i = 0; i < 100; i++)
		batch_ok(READ, n);
	calls = calls_of_others() - calls;
	/* All but this CPU, for each batch; and what else the kernel has to ask. */
	ck_assert_uint_ge(calls, 100u * (dev_cpus() - 1));
	ck_assert_uint_lt(calls, 150u * (dev_cpus() - 1));
}
END_TEST

START_TEST(an_entry_that_fails_leaves_the_others_alone)
{
	uint32_t running, fresh;

	running = dev_alloc(fd, TC, 0, ANY, INSN, U);
	fresh = dev_alloc(fd, TC, 0, ANY, BRANCH, U);
	dev_ok(dev_start(fd, running));
	entry[0].pmcid = fresh;
	entry[1].pmcid = HWPMC_ID_INVALID;
	entry[2].pmcid = running;
	entry[3].pmcid = running;
	dev_ok(batch(STOP, 4));
	ck_assert_uint_eq(failed, 2);
	check_entry(0, EINVAL, HWPMC_WHY_NOT_STARTED);
	check_entry(1, EINVAL, HWPMC_WHY_ID);
	check_entry(2, 0, 0);
	check_entry(3, 0, 0);
	/* It was stopped: its count can be set. */
	dev_ok(dev_rw(fd, running, HWPMC_F_NEWVALUE, &(uint64_t){ 4711 }));
	dev_ok(batch(READ, 4));
	ck_assert_uint_eq(failed, 1);
	check_entry(0, 0, 0);
	check_entry(1, EINVAL, HWPMC_WHY_ID);
	ck_assert_uint_eq(entry[0].value, 0);
	ck_assert_uint_eq(entry[2].value, 4711);
	ck_assert_uint_eq(entry[3].value, 4711);
	/* Starting twice succeeds, as single starts do. */
	dev_ok(batch(START, 4));
	ck_assert_uint_eq(failed, 1);
	check_entry(1, EINVAL, HWPMC_WHY_ID);
	dev_spin(1000);
	batch(READ, 4);
	ck_assert_uint_ge(entry[2].value, 4711 + 3000);
	ck_assert_uint_ge(entry[0].value, 1000);
}
END_TEST

START_TEST(a_pmc_that_samples_has_no_value_in_a_batch)
{
	struct hwpmc_op_pmcallocate op;

	dev_request(&op, HWPMC_MODE_TS, 0, ANY, INSN, U);
	op.count = 1 << 30;
	dev_ok(dev_allocate(fd, &op));
	entry[0].pmcid = dev_alloc(fd, TC, 0, ANY, BRANCH, U);
	entry[1].pmcid = op.pmcid;
	dev_ok(batch(START, 2));
	ck_assert_uint_eq(failed, 1);
	check_entry(0, 0, 0);
	check_entry(1, EBADFD, HWPMC_WHY_NO_LOG);
	dev_ok(batch(READ, 2));
	check_entry(0, 0, 0);
	check_entry(1, EINVAL, HWPMC_WHY_RW_MODE);
}
END_TEST

START_TEST(a_cpu_that_is_offline_fails_its_own_entries)
{
	unsigned int n = allocate_on_all();

	batch_ok(START, n);
	dev_put("/sys/devices/system/cpu/cpu7/online", "0");
	dev_ok(batch(READ, n));
	ck_assert_uint_eq(failed, 2);
	for (unsigned int i = 0; i < n; i++)
		if (HWPMC_ID_CPU(entry[i].pmcid) == 7)
			check_entry(i, ENXIO, HWPMC_WHY_CPU_OFFLINE);
		else
			check_entry(i, 0, 0);
	ck_assert_int_eq(entry[15].hdr.detail, 7);
	dev_ok(batch(STOP, n));
	ck_assert_uint_eq(failed, 2);
	check_entry(14, ENXIO, HWPMC_WHY_CPU_OFFLINE);
	dev_put("/sys/devices/system/cpu/cpu7/online", "1");
	batch_ok(STOP, n);
	batch_ok(READ, n);
}
END_TEST

START_TEST(a_batch_of_another_process_is_refused_entry_by_entry)
{
	int status;
	pid_t pid;

	entry[0].pmcid = dev_alloc(fd, TC, 0, ANY, INSN, U);
	entry[1].pmcid = dev_alloc(fd, SC, 0, 1, INSN, U);
	batch_ok(START, 2);
	pid = fork();
	if (!pid) {
		if (batch(STOP, 2) || failed != 2)
			_exit(1);
		for (int i = 0; i < 2; i++)
			if (entry[i].error != ESRCH ||
			    entry[i].hdr.reason != HWPMC_WHY_NOT_OWNER)
				_exit(2);
		_exit(batch(READ, 2) || failed != 2 ? 3 : 0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	/* Both run: they cannot be set. */
	ck_assert_int_eq(dev_rw(fd, entry[1].pmcid, HWPMC_F_NEWVALUE,
				&(uint64_t){ 1 }), EBUSY);
}
END_TEST

static void refused(struct hwpmc_op_batch op, int err, uint32_t why, int detail)
{
	ck_assert_int_eq(call(&op), err);
	ck_assert_uint_eq(dev_hdr.reason, why);
	ck_assert_int_eq(dev_hdr.detail, detail);
}

START_TEST(a_batch_that_is_malformed_is_refused_whole)
{
	static struct { struct hwpmc_batch_entry e; uint64_t more; } longer[2];
	struct hwpmc_op_batch good, op;
	void *ro = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	entry[0].pmcid = dev_alloc(fd, TC, 0, ANY, INSN, U);
	good = (struct hwpmc_op_batch){
		.command = START, .n = 1, .entry_size = sizeof(entry[0]),
		.entries = (uintptr_t)entry,
	};
	op = good, op.command = STOP + 1;
	refused(op, EINVAL, HWPMC_WHY_BATCH, STOP + 1);
	op = good, op.n = 0;
	refused(op, EINVAL, HWPMC_WHY_BATCH_COUNT, HWPMC_BATCH_MAX);
	op = good, op.n = HWPMC_BATCH_MAX + 1;
	refused(op, EINVAL, HWPMC_WHY_BATCH_COUNT, HWPMC_BATCH_MAX);
	op = good, op.entry_size--;
	refused(op, EINVAL, HWPMC_WHY_SIZE, HWPMC_SIZE_V1_BATCH_ENTRY);
	op = good, op.entry_size = 8192;
	refused(op, E2BIG, HWPMC_WHY_SIZE, sizeof(entry[0]));
	op = good, op.entries = 0;
	refused(op, EFAULT, HWPMC_WHY_BAD_ADDRESS, 0);
	op = good, op.entries = (uintptr_t)ro;
	refused(op, EFAULT, HWPMC_WHY_BAD_ADDRESS, 0);
	longer[0].e = longer[1].e = entry[0];
	longer[1].more = 1;
	op = good, op.entry_size = sizeof(longer[0]), op.n = 2;
	op.entries = (uintptr_t)longer;
	refused(op, E2BIG, HWPMC_WHY_SIZE, sizeof(entry[0]));
	/* None of them has started it. */
	ck_assert_int_eq(dev_stop(fd, entry[0].pmcid), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_NOT_STARTED);
	longer[1].more = 0;
	ck_assert_int_eq(call(&op), 0);
	ck_assert_uint_eq(failed, 0);
	dev_ok(dev_stop(fd, entry[0].pmcid));
	munmap(ro, 4096);
}
END_TEST

START_TEST(the_largest_batch_names_one_pmc_again_and_again)
{
	static struct hwpmc_batch_entry many[HWPMC_BATCH_MAX];
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	struct hwpmc_op_batch op = {
		.command = READ, .n = HWPMC_BATCH_MAX,
		.entry_size = sizeof(many[0]), .entries = (uintptr_t)many,
	};

	dev_ok(dev_start(fd, id));
	for (int i = 0; i < HWPMC_BATCH_MAX; i++)
		many[i].pmcid = id;
	dev_ok(call(&op));
	ck_assert_uint_eq(failed, 0);
	ck_assert_uint_gt(many[0].value, 0);
	for (int i = 1; i < HWPMC_BATCH_MAX; i++)
		ck_assert_uint_eq(many[i].value, many[0].value);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, prove);
	harness_add(instructions_and_cycles_of_each_cpu_grow_by_the_same);
	harness_add(instructions_and_cycles_of_the_calling_thread_grow_by_the_same);
	harness_add(instructions_and_cycles_of_a_process_elsewhere_grow_by_the_same);
	harness_add(a_batch_asks_each_cpu_once);
	harness_add(an_entry_that_fails_leaves_the_others_alone);
	harness_add(a_pmc_that_samples_has_no_value_in_a_batch);
	harness_add(a_cpu_that_is_offline_fails_its_own_entries);
	harness_add(a_batch_of_another_process_is_refused_entry_by_entry);
	harness_add(a_batch_that_is_malformed_is_refused_whole);
	harness_add(the_largest_batch_names_one_pmc_again_and_again);
	return harness_run();
}
