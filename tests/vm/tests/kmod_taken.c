/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_taken.c - others change the counters' registers while they count: another program by
 * the kernel's own device for registers, or a hypervisor that moves or restores the machine.
 * A count is then exact, or an error that says why.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "kmod_dev.h"

/* The register that lets all counters run, or 0; the one that lets the first run; the first
 * counter. */
static uint32_t global_msr, select_msr, counter_msr;
static uint32_t id;
static int fd;

static void load_msr_device(void)
{
	struct utsname uts;
	char cmd[200];

	if (!access("/dev/cpu/0/msr", W_OK))
		return;
	uname(&uts);
	snprintf(cmd, sizeof(cmd), "modprobe -d ${VM_KERNEL} msr");
	ck_assert_int_eq(system(cmd), 0);
	ck_assert_int_eq(access("/dev/cpu/0/msr", W_OK), 0);
}

static void setup(void)
{
	bool core = vpmu_reg(VPMU_REG_VERSION, 0) >= 1;

	load_msr_device();
	select_msr = !dev_is_amd() ? 0x186 : core ? 0xc0010200 : 0xc0010000;
	counter_msr = !dev_is_amd() ? 0x4c1 : core ? 0xc0010201 : 0xc0010004;
	global_msr = !dev_is_amd() ? 0x38f : 0xc0000301;
	fd = dev_open();
}

static void prove(void)
{
	close(fd);
	dev_check_registers_clear();
	dev_still_counts();
}

#define UNCERTAIN(call, why, what) do {					\
	int got_ = (call);						\
	ck_assert_msg(got_ == EIO && dev_hdr.reason == (why) &&		\
		      (uint32_t)dev_hdr.detail == (what),		\
		      "%s: errno %d, reason %u (%#x)", #call, got_,	\
		      dev_hdr.reason, dev_hdr.detail);			\
} while (0)

/* 0, and the value, or an errno. */
static int try_read(uint64_t *value)
{
	return dev_rw(fd, id, HWPMC_F_OLDVALUE, value);
}

static uint64_t value_of_read;
#define READ() (value_of_read = 0, try_read(&value_of_read))

/* Executes until it is killed; counts turns for the test. */
static volatile unsigned int *turns;

static void work(void *arg)
{
	for (;;) {
		dev_spin(20000);
		++*turns;
		if (arg)
			dev_msleep(1);
	}
}

/* A process on CPU 1 that is counted; sleeps: it is switched out and in again. */
static struct child counted(bool sleeps, uint32_t flags)
{
	struct child c;

	turns = mmap(NULL, sizeof(*turns), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(turns != MAP_FAILED);
	c = dev_child(work, sleeps ? &c : NULL);
	dev_pin(c.pid, 1);
	id = dev_alloc(fd, TC, flags, ANY, INSN, U);
	dev_ok(dev_attach(fd, id, c.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&c);
	return c;
}

static void await_turns(unsigned int n)
{
	unsigned int begin = *turns;

	while (*turns - begin < n)
		dev_msleep(1);
}

static void end_of(struct child *c)
{
	kill(c->pid, SIGKILL);
	waitpid(c->pid, NULL, 0);
}

/* ---- another program ------------------------------------------------------- */

static void written_under_way(uint32_t msr, bool sleeps)
{
	struct child c = counted(sleeps, 0);
	uint64_t was;

	await_turns(5);
	ck_assert_int_eq(READ(), 0);
	was = dev_rdmsr(1, msr);
	dev_wrmsr(1, msr, 0);
	await_turns(5);
	/* The process ends, and its count is read for the last time. */
	end_of(&c);
	UNCERTAIN(READ(), HWPMC_WHY_REGISTER_CHANGED, msr);
	/* An error stays one. */
	dev_wrmsr(1, msr, was);
	UNCERTAIN(READ(), HWPMC_WHY_REGISTER_CHANGED, msr);
	dev_ok(dev_release(fd, id));
}

START_TEST(global_control_that_others_write_makes_a_count_uncertain)
{
	written_under_way(global_msr, false);
	written_under_way(global_msr, true);
}
END_TEST

START_TEST(a_select_that_others_write_makes_a_count_uncertain)
{
	written_under_way(select_msr, false);
	written_under_way(select_msr, true);
}
END_TEST

START_TEST(a_stop_finds_registers_that_others_have_written)
{
	struct child c = counted(false, 0);
	uint64_t value = 0;

	await_turns(5);
	dev_wrmsr(1, select_msr, 0);
	dev_ok(dev_stop(fd, id));
	UNCERTAIN(READ(), HWPMC_WHY_REGISTER_CHANGED, select_msr);
	/* A value that the owner sets begins a new count. */
	dev_ok(dev_rw(fd, id, HWPMC_F_NEWVALUE, &value));
	dev_ok(READ());
	ck_assert_uint_eq(value_of_read, 0);
	end_of(&c);
	dev_ok(dev_release(fd, id));
}
END_TEST

static void stop_with_written_registers(struct child *c)
{
	*c = counted(false, 0);
	await_turns(5);
	dev_wrmsr(1, select_msr, 0);
	dev_ok(dev_stop(fd, id));
	UNCERTAIN(READ(), HWPMC_WHY_REGISTER_CHANGED, select_msr);
}

START_TEST(setcount_and_exchange_end_the_doubt_of_a_count)
{
	struct child c;
	uint64_t value = 7;

	stop_with_written_registers(&c);
	UNCERTAIN(dev_rw(fd, id, HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE, &value),
		  HWPMC_WHY_REGISTER_CHANGED, select_msr);
	dev_ok(READ());
	ck_assert_uint_eq(value_of_read, 7);
	end_of(&c);
	dev_ok(dev_release(fd, id));

	stop_with_written_registers(&c);
	dev_ok(dev_setcount(fd, id, 9));
	dev_ok(READ());
	ck_assert_uint_eq(value_of_read, 9);
	end_of(&c);
	dev_ok(dev_release(fd, id));
}
END_TEST

/* What others do with the row later concerns no count whose processes have ended. */
START_TEST(final_count_stays_certain_whatever_comes_after)
{
	struct child c = counted(false, 0);
	uint32_t first = id;
	int own = fd;
	uint64_t n;

	await_turns(5);
	end_of(&c);
	dev_ok(READ());
	n = value_of_read;
	fd = dev_open();
	do
		c = counted(false, 0);
	while (HWPMC_ID_ROW(id) != HWPMC_ID_ROW(first) && (end_of(&c), true));
	await_turns(5);
	dev_wrmsr(1, select_msr, 0);
	dev_ok(dev_stop(fd, id));
	UNCERTAIN(READ(), HWPMC_WHY_REGISTER_CHANGED, select_msr);
	end_of(&c);
	close(fd);
	fd = own;
	id = first;
	dev_ok(READ());
	ck_assert_uint_eq(value_of_read, n);
	/* It goes on with a register that is still changed. */
	dev_ok(dev_stop(fd, id));
	dev_ok(READ());
	c = dev_child(work, NULL);
	dev_pin(c.pid, 1);
	dev_ok(dev_attach(fd, id, c.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&c);
	await_turns(5);
	end_of(&c);
	UNCERTAIN(READ(), HWPMC_WHY_REGISTER_CHANGED, select_msr);
	dev_ok(dev_release(fd, id));
}
END_TEST

/* Another owner has found it, on the same row. */
START_TEST(flush_reports_registers_that_others_have_written)
{
	struct hwpmc_op_configurelog conf = { .logfd = -1, .flags = HWPMC_LOG_F_MAPPED };
	struct hwpmc_op_simple flush = { { 0 } };
	int sampler = dev_open();
	struct hwpmc_op_pmcallocate op;
	struct child c;

	ck_assert_int_eq(ioctl(sampler, HWPMC_IOC_CONFIGURELOG, &conf), 0);
	c = counted(false, 0);
	do {
		dev_request(&op, HWPMC_MODE_TS, 0, ANY, INSN, U);
		op.count = 100003;
		dev_ok(dev_allocate(sampler, &op));
	} while (HWPMC_ID_ROW(op.pmcid) != HWPMC_ID_ROW(id));
	dev_ok(dev_attach(sampler, op.pmcid, 0));
	dev_ok(dev_start(sampler, op.pmcid));
	ck_assert_int_eq(ioctl(sampler, HWPMC_IOC_FLUSHLOG, &flush), 0);
	await_turns(5);
	dev_wrmsr(1, select_msr, 0);
	dev_ok(dev_stop(fd, id));
	ck_assert_int_eq(ioctl(sampler, HWPMC_IOC_FLUSHLOG, &flush), -1);
	ck_assert_int_eq(errno, EIO);
	ck_assert_uint_eq(flush.hdr.reason, HWPMC_WHY_REGISTER_CHANGED);
	end_of(&c);
	dev_ok(dev_release(fd, id));
	close(sampler);
}
END_TEST

START_TEST(a_stop_by_the_measured_thread_finds_written_registers)
{
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_pin(getpid(), 1);
	dev_ok(dev_attach(fd, id, 0));
	dev_ok(dev_start(fd, id));
	dev_spin(1000);
	dev_wrmsr(1, select_msr, 0);
	dev_ok(dev_stop(fd, id));
	UNCERTAIN(READ(), HWPMC_WHY_REGISTER_CHANGED, select_msr);
	dev_unpin(getpid());
}
END_TEST

START_TEST(a_system_scope_count_of_written_registers_is_uncertain)
{
	uint32_t other;

	id = dev_alloc(fd, SC, 0, 1, INSN, U | K);
	/* The same counter of another CPU. */
	do
		other = dev_alloc(fd, SC, 0, 0, INSN, U | K);
	while (HWPMC_ID_ROW(other) != HWPMC_ID_ROW(id));
	dev_ok(dev_start(fd, id));
	dev_ok(dev_start(fd, other));
	dev_msleep(10);
	dev_ok(READ());
	dev_wrmsr(1, global_msr, 0);
	dev_ok(dev_stop(fd, id));
	UNCERTAIN(READ(), HWPMC_WHY_REGISTER_CHANGED, global_msr);
	/* The other CPU's have not been touched. */
	dev_ok(dev_stop(fd, other));
	dev_read(fd, other);
}
END_TEST

START_TEST(a_counter_that_others_write_is_never_a_huge_count)
{
	struct child c = counted(false, 0);

	await_turns(5);
	dev_ok(READ());
	/* Between two slices it changes nothing that is counted; one in the middle is found. */
	for (int i = 0; i < 1000 && !READ(); i++) {
		ck_assert_uint_lt(value_of_read, 1ULL << 40);
		dev_wrmsr(1, counter_msr, 0);
	}
	UNCERTAIN(READ(), HWPMC_WHY_COUNTER_BACK, HWPMC_ID_ROW(id));
	end_of(&c);
}
END_TEST

/* ---- a machine that is moved or restored ------------------------------------- */

static void moved_under_way(bool sleeps, uint32_t flags)
{
	struct child c = counted(sleeps, flags);
	uint64_t before;

	await_turns(5);
	dev_ok(READ());
	before = value_of_read;
	vpmu_migrated();
	/* Nothing of it is seen yet, or the count is not given. */
	if (!READ())
		ck_assert_uint_lt(value_of_read - before, 1ULL << 32);
	await_turns(5);
	end_of(&c);
	ck_assert_int_eq(READ(), EIO);
	ck_assert(dev_hdr.reason == HWPMC_WHY_COUNTER_BACK ||
		  dev_hdr.reason == HWPMC_WHY_REGISTER_CHANGED);
	dev_ok(dev_release(fd, id));
}

START_TEST(a_machine_that_is_moved_has_no_count_of_2_to_the_48)
{
	moved_under_way(false, 0);
	moved_under_way(true, 0);
}
END_TEST

START_TEST(a_thread_that_counts_itself_finds_that_the_machine_was_moved)
{
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_attach(fd, id, 0));
	dev_ok(dev_start(fd, id));
	dev_spin(100000);
	dev_ok(READ());
	vpmu_migrated();
	UNCERTAIN(READ(), HWPMC_WHY_COUNTER_BACK, HWPMC_ID_ROW(id));
	UNCERTAIN(READ(), HWPMC_WHY_COUNTER_BACK, HWPMC_ID_ROW(id));
}
END_TEST

START_TEST(a_cpus_count_finds_that_the_machine_was_moved)
{
	id = dev_alloc(fd, SC, 0, 1, INSN, U | K);
	dev_ok(dev_start(fd, id));
	dev_msleep(10);
	dev_ok(READ());
	vpmu_migrated();
	UNCERTAIN(READ(), HWPMC_WHY_COUNTER_BACK, HWPMC_ID_ROW(id));
	dev_ok(dev_stop(fd, id));
	ck_assert_int_eq(READ(), EIO);
}
END_TEST

static long switches_of_thread(void)
{
	struct rusage use;

	getrusage(RUSAGE_THREAD, &use);
	return use.ru_nvcsw + use.ru_nivcsw;
}

/* A sleep whose time is over before the thread has left its CPU is no switch. */
static void await_a_switch(void)
{
	long before = switches_of_thread();

	while (switches_of_thread() == before)
		dev_msleep(1);
}

/*
 * The machine is moved while the thread counts itself: what a read says. A switch may set the
 * counter to 0, and one that is 0 does not go back: then it is moved once more.
 */
static int moved_with_page(const volatile struct hwpmc_user_row *page)
{
	const volatile struct hwpmc_user_row *row;
	struct hwpmc_op_getmsr op = { 0 };
	long before;
	int err;

	do {
		id = op.pmcid = dev_alloc(fd, TC, 0, ANY, INSN, U);
		dev_ok(dev_attach(fd, id, 0));
		dev_ok(dev_start(fd, id));
		ck_assert(!ioctl(fd, HWPMC_IOC_PMCGETMSR, &op));
		before = switches_of_thread();
		row = page + HWPMC_ID_ROW(id);
		dev_spin(100000);
		dev_ok(READ());
		ck_assert(row->own == row->seq);
		vpmu_migrated();
		err = READ();
	} while (!err && switches_of_thread() != before && !dev_release(fd, id));
	return err;
}

START_TEST(a_page_of_a_thread_is_not_valid_once_its_counter_went_back)
{
	const volatile struct hwpmc_user_row *row;
	uint32_t first;
	void *page;

	/* Only a thread that is measured has a page. */
	first = dev_alloc(fd, TC, 0, ANY, BRANCH, U);
	dev_ok(dev_attach(fd, first, 0));
	page = mmap(NULL, HWPMC_USER_SIZE, PROT_READ, MAP_SHARED, fd, HWPMC_USER_OFFSET);
	ck_assert_ptr_ne(page, MAP_FAILED);
	ck_assert_int_eq(moved_with_page(page), EIO);
	await_a_switch();
	row = (struct hwpmc_user_row *)page + HWPMC_ID_ROW(id);
	ck_assert(row->own != row->seq && row->sum != row->seq);
	munmap(page, HWPMC_USER_SIZE);
	dev_ok(dev_release(fd, first));
	dev_ok(dev_release(fd, id));
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, prove);
	if (!dev_is_amd() || vpmu_reg(VPMU_REG_VERSION, 0) >= 2) {
		harness_add(global_control_that_others_write_makes_a_count_uncertain);
		harness_add(a_system_scope_count_of_written_registers_is_uncertain);
	}
	harness_add(a_select_that_others_write_makes_a_count_uncertain);
	harness_add(a_stop_finds_registers_that_others_have_written);
	harness_add(setcount_and_exchange_end_the_doubt_of_a_count);
	harness_add(flush_reports_registers_that_others_have_written);
	harness_add(final_count_stays_certain_whatever_comes_after);
	harness_add(a_stop_by_the_measured_thread_finds_written_registers);
	harness_add(a_counter_that_others_write_is_never_a_huge_count);
	harness_add(a_machine_that_is_moved_has_no_count_of_2_to_the_48);
	harness_add(a_thread_that_counts_itself_finds_that_the_machine_was_moved);
	harness_add(a_cpus_count_finds_that_the_machine_was_moved);
	harness_add(a_page_of_a_thread_is_not_valid_once_its_counter_went_back);
	return harness_run();
}
