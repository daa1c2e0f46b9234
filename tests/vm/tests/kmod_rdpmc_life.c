// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_rdpmc_life.c - programs that read their counters themselves: what is left of that after
 * an exec, and what the switches that it needs leave alone.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>

#include "harness.h"
#include "kmod_dev.h"

/* The rows of this thread's page, with the right to RDPMC; NULL: there is none. */
static const volatile struct hwpmc_user_row *map_rows(int fd, uint32_t id)
{
	struct hwpmc_op_getmsr op = { .pmcid = id };
	void *at;

	if (ioctl(fd, HWPMC_IOC_PMCGETMSR, &op))
		return NULL;
	at = mmap(NULL, HWPMC_USER_SIZE, PROT_READ, MAP_SHARED, fd, HWPMC_USER_OFFSET);
	return at == MAP_FAILED ? NULL : at;
}

/* A switch between the two loads ends it; it does not happen each time. */
static bool is_readable(const volatile struct hwpmc_user_row *row)
{
	for (int i = 0; i < 1000; i++)
		if (row->sum == row->seq)
			return true;
	return false;
}

/* A PMC of this process that it may read itself. Also where no test runs. */
static bool can_read_own(void)
{
	const volatile struct hwpmc_user_row *rows;
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open();

	dev_request(&op, TC, 0, ANY, INSN, U);
	if (dev_allocate(fd, &op) || dev_attach(fd, op.pmcid, 0) ||
	    dev_start(fd, op.pmcid))
		return false;
	rows = map_rows(fd, op.pmcid);
	return rows && is_readable(rows + HWPMC_ID_ROW(op.pmcid));
}

static void read_and_execute_ourselves(void *unused)
{
	ck_assert(can_read_own());
	execl("/proc/self/exe", "self", "read", NULL);
	_exit(4);
}

/* A PMC of another owner counts it through the exec: the module keeps what it has of the thread. */
START_TEST(a_program_that_a_reader_executes_may_read_its_own_counters)
{
	struct child c = dev_child(read_and_execute_ourselves, NULL);
	int fd = dev_open(), status;
	uint32_t id = dev_alloc(fd, TC, 0, ANY, BRANCH, U);

	dev_ok(dev_attach(fd, id, c.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&c);
	ck_assert_int_eq(waitpid(c.pid, &status, 0), c.pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	close(fd);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

#define PAGES	50

/* This many page faults, and then others run. */
static void fault(void)
{
	char *at = mmap(NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(at, MAP_FAILED);
	madvise(at, PAGES * 4096, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		at[i * 4096] = 1;
	munmap(at, PAGES * 4096);
	dev_msleep(1);
}

/* The kernel clears the counters when a program that may read them runs first, so those of the
 * whole CPU begin again after that. What is no counter goes on. */
START_TEST(system_counts_of_software_lose_nothing_when_a_reader_comes)
{
	int sys = dev_open(), fd = dev_open();
	struct hwpmc_op_pmcallocate op = {
		.class = HWPMC_CLASS_SOFT, .mode = SC, .cpu = 0,
		.ev = HWPMC_EV_SOFT_PAGE_FAULT_ALL,
	};
	uint32_t counter = dev_alloc(sys, SC, 0, 0, INSN, U);
	uint32_t id = dev_alloc(fd, TC, 0, ANY, BRANCH, U);
	const volatile struct hwpmc_user_row *rows;
	struct rusage before, after;

	dev_pin(0, 0);
	dev_ok(dev_allocate(sys, &op));
	dev_ok(dev_start(sys, counter));
	dev_ok(dev_attach(fd, id, 0));
	dev_ok(dev_start(fd, id));
	getrusage(RUSAGE_SELF, &before);
	dev_ok(dev_start(sys, op.pmcid));
	for (int i = 0; i < 20; i++)
		fault();
	rows = map_rows(fd, id);
	for (int i = 0; i < 20; i++)
		fault();
	ck_assert(is_readable(rows + HWPMC_ID_ROW(id)));
	getrusage(RUSAGE_SELF, &after);
	ck_assert_int_ge(after.ru_minflt - before.ru_minflt, 40 * PAGES);
	/* A few are of this test, before the start. */
	ck_assert_uint_ge(dev_read(sys, op.pmcid) + 10, after.ru_minflt - before.ru_minflt);
	close(sys);
	/* It keeps the descriptor. */
	munmap((void *)rows, HWPMC_USER_SIZE);
	close(fd);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

int main(int argc, char **argv)
{
	dev_setup();
	if (argc == 2 && !strcmp(argv[1], "read"))
		return can_read_own() ? 0 : 3;
	harness_add(a_program_that_a_reader_executes_may_read_its_own_counters);
	harness_add(system_counts_of_software_lose_nothing_when_a_reader_comes);
	return harness_run();
}
