// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_own.c - PMCs of one thread (HWPMC_F_THREAD) beside siblings that are busy: exact counts
 * of each thread of a pool, PMCs of the process on other rows, the thread's exit, its exec and
 * that of another thread, detach, refusals. A worker executes the same instructions in each
 * round but for a loop of a known length, so two rounds differ by that length alone.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "kmod_dev.h"
#include "vpmu_guest.h"

#define THREAD	HWPMC_F_THREAD
#define POOL	10			/* more than a CPU has counters */
#define BUSY	3

struct worker {
	pthread_t thread;
	int go[2], done[2];
	pid_t tid;
	bool makes_a_thread;
};

static pthread_t busy[BUSY];
static volatile bool over;

static void *be_busy(void *unused)
{
	while (!over)
		dev_spin(1000);
	return NULL;
}

static void siblings_begin(void)
{
	over = false;
	for (int i = 0; i < BUSY; i++)
		ck_assert(!pthread_create(&busy[i], NULL, be_busy, NULL));
}

static void siblings_end(void)
{
	over = true;
	for (int i = 0; i < BUSY; i++)
		pthread_join(busy[i], NULL);
}

static void *spin_much(void *unused)
{
	dev_spin(1000000);
	return NULL;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	pthread_t thread;
	uint64_t n;

	w->tid = gettid();
	ck_assert(write(w->done[1], "", 1) == 1);
	while (read(w->go[0], &n, sizeof(n)) == sizeof(n)) {
		dev_spin(n);
		if (w->makes_a_thread) {
			pthread_create(&thread, NULL, spin_much, NULL);
			pthread_join(thread, NULL);
		}
		if (write(w->done[1], "", 1) != 1)
			break;
	}
	return NULL;
}

static void await_worker(struct worker *w)
{
	char c;

	ck_assert(read(w->done[0], &c, 1) == 1);
	dev_await_call(w->tid, SYS_read);
}

static void worker_begin(struct worker *w)
{
	memset(w, 0, sizeof(*w));
	ck_assert(!pipe(w->go) && !pipe(w->done));
	ck_assert(!pthread_create(&w->thread, NULL, work, w));
	await_worker(w);
}

static void worker_end(struct worker *w)
{
	close(w->go[1]);
	pthread_join(w->thread, NULL);
	close(w->go[0]);
	close(w->done[0]);
	close(w->done[1]);
}

static void work_round(struct worker *w, uint64_t n)
{
	ck_assert(write(w->go[1], &n, sizeof(n)) == sizeof(n));
	await_worker(w);
}

/* Instructions of a round with n iterations, as the PMC counts it. */
static uint64_t round_of(struct worker *w, int fd, uint32_t id, uint64_t n)
{
	uint64_t before = dev_read(fd, id);

	work_round(w, n);
	return dev_read(fd, id) - before;
}

static uint32_t count_thread(int fd, pid_t tid)
{
	uint32_t id = dev_alloc(fd, TC, THREAD, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, tid));
	dev_ok(dev_start(fd, id));
	return id;
}

static int open_insn(int fd, uint32_t flags, pid_t pid, uint32_t *id)
{
	struct hwpmc_op_pmcopen op = { .pid = pid };
	int err;

	dev_request(&op.allocate.op, TC, flags, ANY, INSN, U);
	err = dev_op(fd, HWPMC_IOC_PMCOPEN, &op);
	*id = op.allocate.op.pmcid;
	return err;
}

/* A round of any length is exact. */
static void check_exact(struct worker *w, int fd, uint32_t id)
{
	uint64_t first = round_of(w, fd, id, 1);

	for (uint64_t n = 1000; n <= 100000; n *= 10)
		ck_assert_uint_eq(round_of(w, fd, id, n) - first, 3 * (n - 1));
}

START_TEST(thread_alone_is_counted_exactly_beside_busy_siblings)
{
	int fd = dev_open();
	struct worker w;
	uint32_t id;

	siblings_begin();
	worker_begin(&w);
	id = count_thread(fd, w.tid);
	for (int i = 0; i < 5; i++)
		check_exact(&w, fd, id);
	dev_ok(dev_stop(fd, id));
	ck_assert_uint_eq(round_of(&w, fd, id, 1000), 0);
	dev_ok(dev_start(fd, id));
	check_exact(&w, fd, id);
	siblings_end();
	worker_end(&w);
	close(fd);
	dev_still_counts();
}
END_TEST

static void *be_busy_and_known(void *tid)
{
	*(volatile pid_t *)tid = gettid();
	return be_busy(NULL);
}

/* A thread that is busy on the last CPU, beside this one on the first. */
static pid_t runner_begin(void)
{
	volatile pid_t tid = 0;

	over = false;
	dev_pin(0, 0);
	ck_assert(!pthread_create(&busy[0], NULL, be_busy_and_known, (void *)&tid));
	while (!tid)
		dev_msleep(1);
	dev_pin(tid, dev_cpus() - 1);
	return tid;
}

static void runner_end(void)
{
	over = true;
	pthread_join(busy[0], NULL);
	dev_unpin(0);
}

START_TEST(start_and_stop_of_a_running_thread_are_at_once)
{
	pid_t tid = runner_begin();
	int fd = dev_open();
	uint64_t count;
	uint32_t id;

	id = dev_alloc(fd, TC, THREAD, ANY, INSN, U);
	dev_ok(dev_attach(fd, id, tid));
	for (int i = 0; i < 5; i++) {
		count = dev_read(fd, id);
		dev_ok(dev_start(fd, id));
		while (dev_read(fd, id) < count + 10000)
			;
		dev_ok(dev_stop(fd, id));
		count = dev_read(fd, id);
		dev_msleep(5);
		/* A slice that goes on ends with a switch. */
		dev_pin(0, dev_cpus() - 1);
		dev_msleep(1);
		dev_pin(0, 0);
		ck_assert_uint_eq(dev_read(fd, id), count);
	}
	runner_end();
	close(fd);
	dev_still_counts();
}
END_TEST

/* Events between the end of a slice and the next one would be missing where the kernel is
 * counted. */
START_TEST(rows_of_a_thread_stay_in_flight_while_others_start)
{
	unsigned int cpu = dev_cpus() - 1;
	pid_t tid = runner_begin();
	int fd = dev_open();
	uint64_t reads;
	uint32_t other;

	count_thread(fd, tid);
	other = dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_ok(dev_attach(fd, other, getpid()));
	reads = vpmu_access(VPMU_N_RDPMC, cpu);
	for (int i = 0; i < 100; i++) {
		dev_ok(dev_start(fd, other));
		dev_ok(dev_stop(fd, other));
	}
	reads = vpmu_access(VPMU_N_RDPMC, cpu) - reads;
	printf("# %llu reads of counters\n", (unsigned long long)reads);
	/* Two of the other's row each time; as many of the thread's row would be its slices. */
	ck_assert_uint_ge(reads, 200);
	ck_assert_uint_lt(reads, 500);
	runner_end();
	close(fd);
	dev_still_counts();
}
END_TEST

/* A thread with RDPMC has the counters of others cleared at its switches. */
START_TEST(thread_of_a_process_with_rdpmc_is_counted_exactly)
{
	struct hwpmc_op_getmsr msr = {};
	int fd = dev_open(), other = dev_open();
	struct worker w;
	uint32_t id;

	siblings_begin();
	worker_begin(&w);
	dev_ok(open_insn(other, 0, 0, &msr.pmcid));
	dev_ok(dev_op(other, HWPMC_IOC_PMCGETMSR, &msr));
	dev_ok(dev_start(other, msr.pmcid));
	dev_ok(open_insn(fd, THREAD, w.tid, &id));
	dev_ok(dev_start(fd, id));
	for (int i = 0; i < 5; i++)
		check_exact(&w, fd, id);
	siblings_end();
	worker_end(&w);
	close(other);
	close(fd);
	dev_still_counts();
}
END_TEST

/* A counter counts for several of them, for an owner each. */
START_TEST(threads_of_a_pool_are_each_counted_exactly)
{
	uint64_t first[POOL], before[POOL];
	struct worker w[POOL];
	uint32_t id[POOL];
	int fd[POOL];

	ck_assert_uint_lt(dev_counters(), POOL);
	siblings_begin();
	for (int i = 0; i < POOL; i++) {
		fd[i] = dev_open();
		worker_begin(&w[i]);
		id[i] = count_thread(fd[i], w[i].tid);
		first[i] = round_of(&w[i], fd[i], id[i], 1);
	}
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < POOL; i++) {
			uint64_t n = 1000 * (i + 1);

			before[i] = dev_read(fd[i], id[i]);
			ck_assert(write(w[i].go[1], &n, sizeof(n)) == sizeof(n));
		}
		for (int i = 0; i < POOL; i++) {
			await_worker(&w[i]);
			ck_assert_uint_eq(dev_read(fd[i], id[i]) - before[i] - first[i],
					  3 * (1000 * (i + 1) - 1));
		}
	}
	siblings_end();
	for (int i = 0; i < POOL; i++) {
		worker_end(&w[i]);
		close(fd[i]);
	}
	dev_still_counts();
}
END_TEST

static void check_taken(int fd, uint32_t id, pid_t pid)
{
	ck_assert_int_eq(dev_attach(fd, id, pid), EBUSY);
	ck_assert_int_eq(dev_hdr.reason, HWPMC_WHY_TARGET_ROW);
}

/* Allocates until one has the row, which is returned. *other: one on another row. */
static uint32_t alloc_on_row_of(int fd, uint32_t flags, uint32_t id, uint32_t *other)
{
	uint32_t mine = dev_alloc(fd, TC, flags, ANY, INSN, U);

	*other = HWPMC_ID_INVALID;
	while (HWPMC_ID_ROW(mine) != HWPMC_ID_ROW(id)) {
		*other = mine;
		mine = dev_alloc(fd, TC, flags, ANY, INSN, U);
	}
	if (*other == HWPMC_ID_INVALID)
		*other = dev_alloc(fd, TC, flags, ANY, INSN, U);
	return mine;
}

static uint32_t alloc_thread_on_row_of(int fd, uint32_t id)
{
	uint32_t other;

	return alloc_on_row_of(fd, THREAD, id, &other);
}

START_TEST(thread_and_its_process_have_different_rows)
{
	int fd = dev_open(), other = dev_open(), third = dev_open();
	uint32_t id, whole, second;
	struct worker w;

	siblings_begin();
	worker_begin(&w);
	id = count_thread(fd, w.tid);
	whole = alloc_on_row_of(other, 0, id, &second);
	check_taken(other, whole, 0);
	dev_ok(dev_attach(other, second, 0));
	dev_ok(dev_start(other, second));
	check_exact(&w, fd, id);
	ck_assert_uint_gt(dev_read(other, second), dev_read(fd, id));
	dev_ok(dev_stop(fd, id));
	dev_ok(dev_detach(fd, id, w.tid));
	dev_ok(dev_attach(other, whole, 0));
	check_taken(fd, id, w.tid);
	/* Nor have two of a thread one row. */
	dev_ok(dev_detach(other, whole, 0));
	dev_ok(dev_attach(fd, id, w.tid));
	check_taken(third, alloc_thread_on_row_of(third, id), w.tid);
	siblings_end();
	close(third);
	worker_end(&w);
	close(other);
	close(fd);
	dev_still_counts();
}
END_TEST

START_TEST(opens_of_thread_and_process_find_free_rows)
{
	int fd[3] = { dev_open(), dev_open(), dev_open() };
	uint32_t id[3];
	struct worker w;

	worker_begin(&w);
	dev_ok(open_insn(fd[0], THREAD, w.tid, &id[0]));
	dev_ok(open_insn(fd[1], 0, 0, &id[1]));
	dev_ok(open_insn(fd[2], THREAD, w.tid, &id[2]));
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < i; j++)
			ck_assert_uint_ne(HWPMC_ID_ROW(id[i]), HWPMC_ID_ROW(id[j]));
		dev_ok(dev_start(fd[i], id[i]));
	}
	check_exact(&w, fd[0], id[0]);
	check_exact(&w, fd[2], id[2]);
	for (int i = 0; i < 3; i++)
		close(fd[i]);
	worker_end(&w);
	dev_still_counts();
}
END_TEST

START_TEST(thread_that_a_counted_thread_makes_is_not_counted)
{
	int fd = dev_open();
	struct worker w;
	uint32_t id;

	worker_begin(&w);
	id = count_thread(fd, w.tid);
	w.makes_a_thread = true;
	ck_assert_uint_lt(round_of(&w, fd, id, 1000), 3000000);
	w.makes_a_thread = false;
	check_exact(&w, fd, id);
	worker_end(&w);
	close(fd);
	dev_still_counts();
}
END_TEST

START_TEST(thread_that_has_exited_leaves_its_count)
{
	int fd = dev_open();
	struct worker w;
	uint64_t count;
	uint32_t id;

	siblings_begin();
	worker_begin(&w);
	id = count_thread(fd, w.tid);
	work_round(&w, 10000);
	count = dev_read(fd, id);
	worker_end(&w);
	ck_assert_uint_gt(dev_read(fd, id), count);
	ck_assert_uint_lt(dev_read(fd, id), count + 5000);
	count = dev_read(fd, id);
	dev_msleep(10);
	ck_assert_uint_eq(dev_read(fd, id), count);
	dev_ok(dev_stop(fd, id));
	ck_assert_int_eq(dev_start(fd, id), ESRCH);
	ck_assert_int_eq(dev_hdr.reason, HWPMC_WHY_NO_TARGETS);
	ck_assert_int_eq(dev_attach(fd, id, w.tid), ESRCH);
	worker_begin(&w);
	dev_ok(dev_attach(fd, id, w.tid));
	dev_ok(dev_start(fd, id));
	check_exact(&w, fd, id);
	siblings_end();
	worker_end(&w);
	close(fd);
	dev_still_counts();
}
END_TEST

/* The target of the process is left empty, with all its threads, by an exit. */
START_TEST(exit_of_the_last_counted_thread_leaves_nothing)
{
	int fd = dev_open(), other = dev_open();
	uint32_t id, whole;
	struct worker w;

	siblings_begin();
	worker_begin(&w);
	dev_ok(open_insn(fd, THREAD, w.tid, &id));
	dev_ok(open_insn(other, 0, 0, &whole));
	dev_ok(dev_release(other, whole));
	worker_end(&w);
	dev_ok(dev_release(fd, id));
	close(fd);
	close(other);
	dev_fresh();
	dev_msleep(10);
	siblings_end();
	dev_still_counts();
}
END_TEST

START_TEST(detached_thread_is_not_counted_and_can_be_again)
{
	int fd = dev_open();
	struct worker w;
	uint64_t count;
	uint32_t id;

	siblings_begin();
	worker_begin(&w);
	id = count_thread(fd, w.tid);
	check_exact(&w, fd, id);
	dev_ok(dev_detach(fd, id, w.tid));
	count = dev_read(fd, id);
	work_round(&w, 1000);
	ck_assert_uint_eq(dev_read(fd, id), count);
	ck_assert_int_eq(dev_detach(fd, id, w.tid), EINVAL);
	ck_assert_int_eq(dev_hdr.reason, HWPMC_WHY_NOT_ATTACHED);
	dev_ok(dev_stop(fd, id));
	dev_ok(dev_attach(fd, id, w.tid));
	ck_assert_int_eq(dev_attach(fd, id, w.tid), EEXIST);
	dev_ok(dev_start(fd, id));
	check_exact(&w, fd, id);
	siblings_end();
	worker_end(&w);
	close(fd);
	dev_still_counts();
}
END_TEST

START_TEST(start_without_an_attach_counts_the_calling_thread)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, THREAD, ANY, INSN, U);
	static const uint64_t n[4] = { 1, 1, 1000, 100000 };
	uint64_t value[4];

	siblings_begin();
	dev_ok(dev_start(fd, id));
	for (int i = 0; i < 4; i++) {
		dev_spin(n[i]);
		value[i] = dev_read(fd, id);
	}
	ck_assert_uint_eq(value[2] - value[1] - (value[1] - value[0]), 3 * 999);
	ck_assert_uint_eq(value[3] - value[2] - (value[1] - value[0]), 3 * 99999);
	siblings_end();
	close(fd);
	dev_still_counts();
}
END_TEST

/* ---- exec ------------------------------------------------------------------ */

/* In a child of two threads, at the gate; shared with it. */
static struct family {
	volatile pid_t tid;
	int gate[2];
	bool leader_executes;
	const char *n;
} *family;

static void wait_and_execute(bool execute)
{
	char c;

	ck_assert(read(family->gate[0], &c, 1) == 1);
	if (execute)
		execl("build/vm/progs/loop", "loop", family->n, (char *)NULL);
	for (;;)
		pause();
}

static void *second_thread(void *unused)
{
	family->tid = gettid();
	wait_and_execute(!family->leader_executes);
	return NULL;
}

static void family_begin(void *unused)
{
	pthread_t thread;

	pthread_create(&thread, NULL, second_thread, NULL);
	wait_and_execute(family->leader_executes);
}

/* Returns the count of the second thread when the process has ended. */
static uint64_t count_family(const char *n, bool leader_executes)
{
	struct child child;
	int fd = dev_open();
	uint64_t count;
	uint32_t id;

	family = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(family, MAP_FAILED);
	family->n = n;
	family->leader_executes = leader_executes;
	ck_assert(!pipe(family->gate));
	child = dev_child(family_begin, NULL);
	dev_go(&child);
	while (!family->tid)
		dev_msleep(1);
	dev_await_call(family->tid, SYS_read);
	dev_await_call(child.pid, SYS_read);
	id = count_thread(fd, family->tid);
	ck_assert(write(family->gate[1], "12", 2) == 2);
	dev_wait(&child);
	count = dev_read(fd, id);
	dev_ok(dev_stop(fd, id));
	ck_assert_int_eq(dev_start(fd, id), ESRCH);
	close(family->gate[0]);
	close(family->gate[1]);
	munmap(family, 4096);
	close(fd);
	return count;
}

START_TEST(thread_that_executes_a_program_is_counted_on)
{
	uint64_t few = count_family("100000", false);

	ck_assert_uint_ge(few, loop_insn(100000));
	ck_assert_uint_eq(count_family("900000", false) - few, 3 * 800000);
	dev_still_counts();
}
END_TEST

START_TEST(exec_of_another_thread_ends_the_counted_one)
{
	ck_assert_uint_lt(count_family("900000", true), 5000);
	dev_still_counts();
}
END_TEST

/* ---- refusals -------------------------------------------------------------- */

static void check_flags_refused(int mode, uint32_t flags, uint32_t cpu, uint32_t bad)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open();

	dev_request(&op, mode, flags, cpu, INSN, U);
	op.count = 100000;
	ck_assert_int_eq(dev_allocate(fd, &op), EINVAL);
	ck_assert_int_eq(dev_hdr.reason, HWPMC_WHY_FLAGS_MODE);
	ck_assert_uint_eq(dev_hdr.detail, bad);
	close(fd);
}

START_TEST(thread_flag_is_refused_where_processes_are_meant)
{
	check_flags_refused(SC, THREAD, 0, THREAD);
	check_flags_refused(HWPMC_MODE_TS, THREAD, ANY, THREAD);
	check_flags_refused(TC, THREAD | HWPMC_F_DESCENDANTS, ANY, THREAD);
	check_flags_refused(TC, THREAD | HWPMC_F_EXEC_START, ANY, THREAD);
	check_flags_refused(TC, THREAD | HWPMC_F_LOG_PROCCSW, ANY, THREAD);
	check_flags_refused(TC, THREAD | HWPMC_F_LOG_PROCEXIT, ANY, THREAD);
	dev_still_counts();
}
END_TEST

START_TEST(thread_has_no_rdpmc_for_a_pmc_of_its_own)
{
	struct hwpmc_op_getmsr msr = {};
	int fd = dev_open();

	dev_ok(open_insn(fd, THREAD, 0, &msr.pmcid));
	ck_assert_int_eq(dev_op(fd, HWPMC_IOC_PMCGETMSR, &msr), EINVAL);
	ck_assert_int_eq(dev_hdr.reason, HWPMC_WHY_MSR_OWNER_ONLY);
	close(fd);
	dev_still_counts();
}
END_TEST

START_TEST(migrations_of_one_thread_are_refused)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open();

	dev_request(&op, TC, THREAD, ANY, INSN, U);
	op.class = HWPMC_CLASS_SOFT;
	op.flags &= ~HWPMC_F_EV_PMU;
	op.config = 0;
	op.ev = HWPMC_EV_SOFT_CPU_MIGRATION;
	op.caps = 0;
	ck_assert_int_eq(dev_allocate(fd, &op), EINVAL);
	ck_assert_int_eq(dev_hdr.reason, HWPMC_WHY_FLAGS_MODE);
	op.ev = HWPMC_EV_SOFT_PAGE_FAULT_ALL;
	dev_ok(dev_allocate(fd, &op));
	close(fd);
	dev_still_counts();
}
END_TEST

static void attach_to_thread(void *arg)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, THREAD, ANY, INSN, U);

	ck_assert_int_eq(dev_attach(fd, id, *(pid_t *)arg), EPERM);
	dev_ok(dev_attach(fd, id, 0));
	close(fd);
}

START_TEST(thread_of_another_user_is_refused)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, THREAD, ANY, INSN, U);
	struct worker w;

	worker_begin(&w);
	dev_as(65534, attach_to_thread, &w.tid);
	ck_assert_int_eq(dev_attach(fd, id, -1), EINVAL);
	ck_assert_int_eq(dev_hdr.reason, HWPMC_WHY_PID);
	ck_assert_int_eq(dev_attach(fd, id, 4000000), ESRCH);
	ck_assert_int_eq(dev_hdr.reason, HWPMC_WHY_NO_PROCESS);
	dev_ok(dev_attach(fd, id, w.tid));
	worker_end(&w);
	close(fd);
	dev_still_counts();
}
END_TEST

static void *spin_briefly(void *arg)
{
	*(volatile pid_t *)arg = gettid();
	dev_spin(2000);
	return NULL;
}

/* Attaches meet threads that exit, in processes that others count, too. */
START_TEST(threads_that_exit_while_attached_leave_nothing)
{
	int fd = dev_open(), other = dev_open();
	uint32_t whole = 0, id;

	for (int i = 0; i < 60; i++) {
		volatile pid_t tid = 0;
		pthread_t thread;
		int err;

		if (i % 3 == 0)
			dev_ok(open_insn(other, 0, 0, &whole));
		ck_assert(!pthread_create(&thread, NULL, spin_briefly, (void *)&tid));
		while (!tid)
			;
		err = open_insn(fd, THREAD, tid, &id);
		ck_assert(!err || err == ESRCH);
		if (!err && dev_start(fd, id))
			ck_assert_int_eq(dev_hdr.reason, HWPMC_WHY_NO_TARGETS);
		if (i % 3 == 2)
			dev_ok(dev_release(other, whole));
		pthread_join(thread, NULL);
		if (!err)
			dev_ok(dev_release(fd, id));
	}
	close(other);
	close(fd);
	dev_fresh();
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(thread_alone_is_counted_exactly_beside_busy_siblings);
	harness_add(start_and_stop_of_a_running_thread_are_at_once);
	harness_add(rows_of_a_thread_stay_in_flight_while_others_start);
	harness_add(thread_of_a_process_with_rdpmc_is_counted_exactly);
	harness_add(threads_of_a_pool_are_each_counted_exactly);
	harness_add(thread_and_its_process_have_different_rows);
	harness_add(opens_of_thread_and_process_find_free_rows);
	harness_add(thread_that_a_counted_thread_makes_is_not_counted);
	harness_add(thread_that_has_exited_leaves_its_count);
	harness_add(exit_of_the_last_counted_thread_leaves_nothing);
	harness_add(detached_thread_is_not_counted_and_can_be_again);
	harness_add(start_without_an_attach_counts_the_calling_thread);
	harness_add(thread_that_executes_a_program_is_counted_on);
	harness_add(exec_of_another_thread_ends_the_counted_one);
	harness_add(thread_flag_is_refused_where_processes_are_meant);
	harness_add(thread_has_no_rdpmc_for_a_pmc_of_its_own);
	harness_add(migrations_of_one_thread_are_refused);
	harness_add(thread_of_another_user_is_refused);
	harness_add(threads_that_exit_while_attached_leave_nothing);
	return harness_run();
}
