// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_exact - process-scope counting in user mode, to the instruction. The truth
 * is the program's own length, or the emulated PMU's totals of all other address
 * spaces since a mark: while a test waits for its children nothing else runs in
 * user mode in this guest.
 *
 * EXACT=counters: only what depends on the model of the counters. EXACT=tasks: only
 * the rest.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include "kmod_dev.h"

/* Instructions and branches of the same targets. */
struct pair {
	int fd;
	uint32_t insn, branch;
};

static struct pair pair_alloc(uint32_t flags)
{
	struct pair p = { .fd = dev_open() };

	ck_assert_int_ge(p.fd, 0);
	p.insn = dev_alloc(p.fd, TC, flags, ANY, INSN, U);
	p.branch = dev_alloc(p.fd, TC, flags, ANY, BRANCH, U);
	return p;
}

static void pair_attach(struct pair *p, pid_t pid)
{
	dev_ok(dev_attach(p->fd, p->insn, pid));
	dev_ok(dev_attach(p->fd, p->branch, pid));
}

static void pair_start(struct pair *p)
{
	dev_ok(dev_start(p->fd, p->insn));
	dev_ok(dev_start(p->fd, p->branch));
}

static void pair_expect(struct pair *p, uint64_t insn, uint64_t branches)
{
	ck_assert_uint_eq(dev_read(p->fd, p->insn), insn);
	ck_assert_uint_eq(dev_read(p->fd, p->branch), branches);
	close(p->fd);
}

/* Measure `loop n` from its exec on, and let fn(pid) disturb it meanwhile. */
static void measure_loop(unsigned long n, void (*disturb)(pid_t))
{
	struct pair p = pair_alloc(HWPMC_F_EXEC_START);
	struct child child = dev_loop(n);

	pair_attach(&p, child.pid);
	pair_start(&p);
	dev_go(&child);
	if (disturb)
		disturb(child.pid);
	dev_wait(&child);
	pair_expect(&p, loop_insn(n), loop_branches(n));
}

START_TEST(a_program_of_known_length_is_counted_exactly)
{
	for (int i = 0; i < 20; i++)
		measure_loop(1000, NULL);
	measure_loop(3000000, NULL);
}
END_TEST

static void pin_to_last(pid_t pid)
{
	dev_pin(pid, dev_cpus() - 1);
}

START_TEST(a_pinned_program_is_counted_exactly)
{
	measure_loop(3000000, pin_to_last);
}
END_TEST

static bool alive(pid_t pid)
{
	siginfo_t info = { 0 };

	waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT);
	return !info.si_pid;
}

static int moves;

static void migrate(pid_t pid)
{
	for (; alive(pid); moves++) {
		dev_pin(pid, moves % dev_cpus());
		dev_msleep(1);
	}
}

/* Until there are enough of them: on a slow machine the mover gets its turn less often. */
START_TEST(a_program_that_migrates_every_millisecond_is_counted_exactly)
{
	while (moves <= 20)
		measure_loop(60000000, migrate);
}
END_TEST

static void busy(void *unused)
{
	for (;;)
		dev_spin(1000000);
}

START_TEST(a_program_among_four_busy_neighbours_is_counted_exactly)
{
	struct child neighbour[4];

	for (int i = 0; i < 4; i++) {
		neighbour[i] = dev_child(busy, NULL);
		dev_go(&neighbour[i]);
	}
	measure_loop(20000000, NULL);
	for (int i = 0; i < 4; i++) {
		kill(neighbour[i].pid, SIGKILL);
		waitpid(neighbour[i].pid, NULL, 0);
	}
}
END_TEST

/* Count everything that a child does from dev_go() to its end. */
static void measure_child(void (*fn)(void *), uint32_t flags)
{
	struct pair p = pair_alloc(flags);
	struct child child = dev_child(fn, NULL);
	uint64_t insn, branches;

	pair_attach(&p, child.pid);
	pair_start(&p);
	vpmu_mark();
	dev_go(&child);
	dev_wait(&child);
	insn = vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_INSN);
	branches = vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_BRANCH);
	ck_assert_uint_gt(insn, 0);
	pair_expect(&p, insn, branches);
}

static void *spin_thread(void *arg)
{
	dev_spin(20000 + (uintptr_t)arg * 100);
	sched_yield();
	dev_spin(20000);
	return NULL;
}

static void sixty_four_threads(void *unused)
{
	pthread_t t[64];

	for (uintptr_t i = 0; i < 64; i++)
		pthread_create(&t[i], NULL, spin_thread, (void *)i);
	for (int i = 0; i < 64; i++)
		pthread_join(t[i], NULL);
}

START_TEST(sixty_four_threads_are_counted_exactly)
{
	measure_child(sixty_four_threads, 0);
}
END_TEST

static void fork_tree(void *unused)
{
	for (int i = 0; i < 100; i++) {
		pid_t pid = fork();

		if (!pid) {
			/* children of children, the last left to init */
			if (!fork() || !fork())
				dev_spin(500);
			while (wait(NULL) > 0)
				;
			_exit(0);
		}
		if (i % 4 == 3)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
}

START_TEST(three_hundred_forked_descendants_are_counted_exactly)
{
	measure_child(fork_tree, HWPMC_F_DESCENDANTS);
}
END_TEST

START_TEST(children_are_not_counted_without_descendants)
{
	struct pair p = pair_alloc(0);
	struct child child = dev_child(fork_tree, NULL);
	uint64_t all, insn;

	pair_attach(&p, child.pid);
	pair_start(&p);
	vpmu_mark();
	dev_go(&child);
	dev_wait(&child);
	all = vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_INSN);
	insn = dev_read(p.fd, p.insn);
	ck_assert_uint_gt(insn, 0);
	ck_assert_uint_le(insn, all - 100 * 2 * 1500);
	close(p.fd);
}
END_TEST

static void exec_loop(void *unused)
{
	dev_spin(12345);
	execl("build/vm/progs/loop", "loop", "50000", (char *)NULL);
	_exit(127);
}

START_TEST(counting_goes_on_through_exec)
{
	measure_child(exec_loop, 0);
}
END_TEST

static void threads_then_exec(void *unused)
{
	pthread_t t;

	for (uintptr_t i = 0; i < 8; i++)
		pthread_create(&t, NULL, spin_thread, (void *)i);
	exec_loop(NULL);
}

static void *exec_thread(void *unused)
{
	exec_loop(NULL);
	return NULL;
}

static void exec_from_a_thread(void *unused)
{
	pthread_t t;

	pthread_create(&t, NULL, exec_thread, NULL);
	pthread_join(t, NULL);
}

START_TEST(counting_goes_on_through_exec_by_a_process_with_threads)
{
	measure_child(threads_then_exec, 0);
	measure_child(exec_from_a_thread, 0);
}
END_TEST

START_TEST(exec_start_counts_the_program_and_nothing_before_it)
{
	struct pair p = pair_alloc(HWPMC_F_EXEC_START | HWPMC_F_DESCENDANTS);
	struct child child = dev_child(exec_loop, NULL);

	pair_attach(&p, child.pid);
	pair_start(&p);
	dev_go(&child);
	dev_wait(&child);
	pair_expect(&p, loop_insn(50000), loop_branches(50000));
}
END_TEST

/* ---- start values, narrow counters --------------------------------------- */

#define EDGE	((1ULL << 48) - 1000)

START_TEST(a_start_value_below_the_width_is_carried_over_it)
{
	struct pair p = pair_alloc(HWPMC_F_EXEC_START);
	struct child child = dev_loop(100000);
	uint64_t start = EDGE;

	dev_ok(dev_rw(p.fd, p.insn, HWPMC_F_NEWVALUE, &start));
	dev_ok(dev_setcount(p.fd, p.branch, EDGE));
	pair_attach(&p, child.pid);
	pair_start(&p);
	dev_go(&child);
	dev_wait(&child);
	pair_expect(&p, EDGE + loop_insn(100000), EDGE + loop_branches(100000));
}
END_TEST

/* Each CPU has a part of the count; a new value is instead of all of them. */
START_TEST(a_value_that_is_written_replaces_what_all_cpus_have_counted)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint64_t value = EDGE;

	dev_ok(dev_attach(fd, id, 0));
	dev_ok(dev_start(fd, id));
	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		dev_pin(0, cpu);
		dev_spin(100000);
	}
	dev_unpin(0);
	dev_ok(dev_stop(fd, id));
	ck_assert_uint_gt(dev_read(fd, id), 100000ull * dev_cpus());
	dev_ok(dev_rw(fd, id, HWPMC_F_NEWVALUE, &value));
	ck_assert_uint_eq(dev_read(fd, id), EDGE);
	dev_ok(dev_setcount(fd, id, 5));
	ck_assert_uint_eq(dev_read(fd, id), 5);
	dev_ok(dev_start(fd, id));
	dev_spin(100000);
	dev_ok(dev_stop(fd, id));
	ck_assert_uint_gt(dev_read(fd, id), 100000);
	ck_assert_uint_lt(dev_read(fd, id), EDGE);
	close(fd);
}
END_TEST

START_TEST(an_initial_count_of_allocate_is_honoured)
{
	struct hwpmc_op_pmcallocate op;
	struct child child = dev_loop(1000);
	int fd = dev_open();

	dev_request(&op, TC, HWPMC_F_EXEC_START, ANY, INSN, U);
	op.count = ~0ULL - 999;
	dev_ok(dev_allocate(fd, &op));
	dev_ok(dev_attach(fd, op.pmcid, child.pid));
	dev_ok(dev_start(fd, op.pmcid));
	dev_go(&child);
	dev_wait(&child);
	ck_assert_uint_eq(dev_read(fd, op.pmcid), loop_insn(1000) - 1000);
}
END_TEST

/* All counters of all CPUs, by the hardware's own names, as root can. */
static void write_counters(uint64_t value)
{
	char path[32];

	for (int cpu = 0; cpu < dev_cpus(); cpu++) {
		int msr;

		snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
		msr = open(path, O_RDWR);
		ck_assert_int_ge(msr, 0);
		for (unsigned int i = 0; i < dev_counters(); i++) {
			uint64_t v = value;
			off_t reg = dev_is_amd() ? 0xc0010004 + i : 0xc1 + i;

			if (dev_is_amd() && vpmu_reg(VPMU_REG_VERSION, 0))
				reg = 0xc0010201 + 2 * i;
			/* One kind of core has fewer than another. */
			if (pread(msr, &(uint64_t){ 0 }, 8, reg) == 8)
				ck_assert_int_eq(pwrite(msr, &v, 8, reg), 8);
			else
				ck_assert_uint_ge(i, 4);
		}
		close(msr);
	}
}

START_TEST(a_counter_that_wraps_in_a_slice_loses_nothing)
{
	struct pair p = pair_alloc(HWPMC_F_EXEC_START);
	struct child child = dev_loop(1000000);

	ck_assert(!system("modprobe -d \"$VM_KERNEL\" msr"));
	pair_attach(&p, child.pid);
	pair_start(&p);
	/* Sign-extended by hardware that takes 32 bits: just below the wrap. */
	write_counters((uint32_t)-500);
	write_counters(dev_is_amd() ? EDGE + 500 : (uint32_t)-500);
	dev_go(&child);
	dev_wait(&child);
	pair_expect(&p, loop_insn(1000000), loop_branches(1000000));
}
END_TEST

/* ---- attach and detach in flight ------------------------------------------ */

/* On one CPU the target does not run while we do: its total stands still. */
static uint64_t space_of(volatile uint64_t *key)
{
	return vpmu_space(*key, VPMU_USER_INSN);
}

static void publish_and_spin(void *arg)
{
	*(volatile uint64_t *)arg = vpmu_key();
	busy(NULL);
}

static void *shared_page(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

static struct child spinner(volatile uint64_t *key)
{
	struct child child = dev_child(publish_and_spin, (void *)key);

	dev_go(&child);
	while (!*key)
		dev_msleep(1);
	dev_msleep(5);
	return child;
}

static void end_spinner(struct child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

START_TEST(attach_and_detach_of_a_process_in_mid_loop_are_exact)
{
	volatile uint64_t *key = shared_page();
	struct child child;

	dev_pin(0, 0);
	child = spinner(key);
	/* Windows that somebody else's turn disturbed prove nothing. */
	for (int i = 0; i < 30 || key[1] < 10; i++) {
		int fd = dev_open();
		uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
		uint64_t begin, end;

		dev_ok(dev_attach(fd, id, child.pid));
		/* Between these two the target cannot run: one CPU, no sleep. */
		begin = space_of(key);
		dev_ok(dev_start(fd, id));
		if (space_of(key) != begin) {
			close(fd);
			continue;	/* we were preempted in between */
		}
		/* Until it has run: a busy host may not have let it. */
		do {
			dev_msleep(3);
			end = space_of(key);
		} while (end == begin);
		dev_ok(dev_detach(fd, id, child.pid));
		if (space_of(key) == end) {
			ck_assert_uint_eq(dev_read(fd, id), end - begin);
			*(volatile uint64_t *)(key + 1) += 1;
		}
		dev_msleep(1);
		close(fd);
	}
	ck_assert_uint_ge(key[1], 10);
	end_spinner(&child);
	dev_still_counts();
}
END_TEST

/* On two CPUs the target runs all the time: the truth before and after. */
START_TEST(attach_and_detach_of_a_running_process_lie_between_two_truths)
{
	volatile uint64_t *key = shared_page();
	struct child child;

	child = spinner(key);
	dev_pin(child.pid, 1);
	dev_pin(0, 0);
	dev_msleep(5);
	for (int i = 0; i < 100; i++) {
		int fd = dev_open();
		uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
		uint64_t out0, in0, in1, out1, count;

		dev_ok(dev_attach(fd, id, child.pid));
		out0 = space_of(key);
		dev_ok(dev_start(fd, id));
		in0 = space_of(key);
		dev_spin(100000);
		in1 = space_of(key);
		dev_ok((i & 1) ? dev_stop(fd, id) :
		       dev_detach(fd, id, child.pid));
		out1 = space_of(key);
		count = dev_read(fd, id);
		/* The other vCPU's total may lag by the block it is in. */
		ck_assert_uint_ge(count + 2000, in1 - in0);
		ck_assert_uint_le(count, out1 - out0 + 2000);
		dev_spin(10000);
		ck_assert_uint_eq(dev_read(fd, id), count);
		close(fd);
	}
	end_spinner(&child);
	dev_still_counts();
}
END_TEST

/*
 * It has no notifier at its first switch-out: somebody else must see to it that
 * what follows on the CPU is not counted.
 */
START_TEST(a_process_attached_while_it_runs_is_not_charged_for_its_neighbour)
{
	volatile uint64_t *key = shared_page();
	struct child child = spinner(key);

	dev_pin(child.pid, 1);
	dev_pin(0, 0);
	dev_msleep(5);
	for (int i = 0; i < 10; i++) {
		struct child neighbour = dev_child(busy, NULL);
		int fd = dev_open();
		uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
		uint64_t out0, out1;

		dev_pin(neighbour.pid, 1);
		dev_ok(dev_attach(fd, id, child.pid));
		out0 = space_of(key);
		dev_ok(dev_start(fd, id));
		dev_go(&neighbour);
		dev_msleep(20);
		dev_ok(dev_stop(fd, id));
		out1 = space_of(key);
		ck_assert_uint_le(dev_read(fd, id), out1 - out0 + 2000);
		close(fd);
		end_spinner(&neighbour);
	}
	end_spinner(&child);
}
END_TEST

/* ---- reading what runs ---------------------------------------------------- */

#define STRIDE	1000ULL

static void publish_progress(void *arg)
{
	volatile uint64_t *done = arg;

	for (;;) {
		dev_spin(STRIDE);
		*done += 3 * STRIDE;
	}
}

START_TEST(a_read_is_never_stale_and_never_goes_back)
{
	volatile uint64_t *done = shared_page();
	struct child child;
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint64_t last = 0;

	child = dev_child(publish_progress, (void *)done);
	dev_ok(dev_attach(fd, id, child.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&child);
	for (int i = 0; i < 3000; i++) {
		uint64_t before = *done, now = dev_read(fd, id);

		ck_assert_uint_ge(now, before);
		ck_assert_uint_ge(now, last);
		last = now;
		if (i % 100 == 0)
			dev_pin(child.pid, i / 100 % dev_cpus());
	}
	ck_assert_uint_gt(last, 100 * STRIDE);
	end_spinner(&child);
}
END_TEST

START_TEST(reads_of_ones_own_running_counter_differ_by_a_constant)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint64_t v[102], step;
	struct hwpmc_op_pmcrw rw = { .pmcid = id, .flags = HWPMC_F_OLDVALUE };

	dev_ok(dev_start(fd, id));
	for (int i = 0; i < 102; i++) {
		ioctl(fd, HWPMC_IOC_PMCRW, &rw);
		v[i] = rw.value;
	}
	/* From the second on: the first call resolves ioctl(). */
	step = v[2] - v[1];
	for (int i = 2; i < 102; i++)
		ck_assert_uint_eq(v[i] - v[i - 1], step);
	close(fd);
}
END_TEST

/* ---- sharing -------------------------------------------------------------- */

static void spin_some(void *arg)
{
	dev_spin(10000 + 1000 * (uintptr_t)arg);
}

START_TEST(one_pmc_on_ten_processes_has_one_exact_total)
{
	struct pair p = pair_alloc(0);
	struct child child[10];
	uint64_t insn, branches;

	for (uintptr_t i = 0; i < 10; i++) {
		child[i] = dev_child(spin_some, (void *)i);
		pair_attach(&p, child[i].pid);
	}
	pair_start(&p);
	vpmu_mark();
	for (int i = 0; i < 10; i++)
		dev_go(&child[i]);
	for (int i = 0; i < 10; i++)
		dev_wait(&child[i]);
	insn = vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_INSN);
	branches = vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_BRANCH);
	pair_expect(&p, insn, branches);
}
END_TEST

START_TEST(two_owners_count_the_same_process_and_different_ones_at_once)
{
	struct pair a, b;
	struct child both = dev_loop(300000), one = dev_loop(200000);

	a = pair_alloc(HWPMC_F_EXEC_START);
	b = pair_alloc(HWPMC_F_EXEC_START);
	pair_attach(&a, both.pid);
	pair_attach(&b, both.pid);
	pair_attach(&b, one.pid);
	pair_start(&a);
	pair_start(&b);
	dev_go(&both);
	dev_go(&one);
	dev_wait(&both);
	dev_wait(&one);
	pair_expect(&a, loop_insn(300000), loop_branches(300000));
	pair_expect(&b, loop_insn(300000) + loop_insn(200000),
		    loop_branches(300000) + loop_branches(200000));
}
END_TEST

START_TEST(rows_run_out_with_einval_and_come_back)
{
	struct hwpmc_op_pmcallocate op;
	int fd = dev_open();

	for (unsigned int i = 0; i < dev_insn_counters(); i++)
		dev_alloc(fd, TC, 0, ANY, INSN, U);
	dev_request(&op, TC, 0, ANY, INSN, U);
	ck_assert_int_eq(dev_allocate(fd, &op), EINVAL);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_ROWS_BUSY);
	close(fd);
	dev_still_counts();
}
END_TEST

START_TEST(a_second_pmc_in_a_row_of_a_process_is_ebusy)
{
	int fd = dev_open(), fd2 = dev_open();
	uint32_t id, id2 = HWPMC_ID_INVALID;
	pid_t pid;

	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	/* Fill the other rows, until the second owner must share ours. */
	for (unsigned int i = 0; i < dev_insn_counters(); i++)
		id2 = dev_alloc(fd2, TC, 0, ANY, INSN, U);
	for (unsigned int i = 0; HWPMC_ID_ROW(id2) != HWPMC_ID_ROW(id); i++)
		id2 = HWPMC_ID_MAKE(ANY, TC, HWPMC_ID_CLASS(id),
				    dev_first_row() + i);
	pid = fork();
	if (pid == 0)
		for (;;)
			pause();
	ck_assert_int_gt(pid, 0);
	dev_ok(dev_attach(fd, id, pid));
	ck_assert_int_eq(dev_attach(fd2, id2, pid), EBUSY);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_TARGET_ROW);
	/* The process that has it, which the caller does not know; not the one it has named. */
	ck_assert_int_eq(dev_hdr.detail, getpid());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(fd);
	close(fd2);
	dev_still_counts();
}
END_TEST

static unsigned int noted(const struct hwpmc_op_getcpuinfo *info, uint32_t class_id,
			  uint32_t *why)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < info->nnotes; i++) {
		if (info->notes[i].class != class_id)
			continue;
		*why = info->notes[i].reason;
		n++;
	}
	return n;
}

static unsigned int offered(const struct hwpmc_op_getcpuinfo *info, uint32_t class_id)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < info->nclass; i++)
		n += info->classes[i].class == class_id;
	return n;
}

/* Of those that this vendor's processors can have, and of no other's. */
START_TEST(each_class_is_there_or_missing_for_a_reason)
{
	static const uint32_t intel[] = {
		HWPMC_CLASS_IAF, HWPMC_CLASS_IAP, HWPMC_CLASS_RAPL, HWPMC_CLASS_PERF,
	}, amd[] = { HWPMC_CLASS_K8, HWPMC_CLASS_RAPL, HWPMC_CLASS_PERF, HWPMC_CLASS_IBS },
	   p4[] = { HWPMC_CLASS_P4, HWPMC_CLASS_RAPL, HWPMC_CLASS_PERF };
	const uint32_t *ids = dev_is_p4() ? p4 : dev_is_amd() ? amd : intel;
	unsigned int n = ids == p4 ? 3 : 4, missing = 0;
	struct hwpmc_op_getcpuinfo info = { .ncpu = 0 };
	int fd = dev_open();
	bool none;

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_GETCPUINFO, &info), 0);
	ck_assert_uint_eq(info.hdr.reason, HWPMC_WHY_NONE);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t why = HWPMC_WHY_NONE;
		unsigned int there = offered(&info, ids[i]);

		ck_assert_uint_eq(there + noted(&info, ids[i], &why), 1);
		missing += !there;
		if (there)
			continue;
		/* Perfmon 1 has no fixed counters, and Netburst none of energy; the
		 * emulator has no others' registers. */
		none = ids[i] == HWPMC_CLASS_IAF ||
		       (dev_is_p4() && ids[i] == HWPMC_CLASS_RAPL);
		ck_assert_uint_eq(why, none ? HWPMC_WHY_CLASS_NONE :
					      HWPMC_WHY_CLASS_GUEST);
		if (ids[i] == HWPMC_CLASS_IAF)
			ck_assert_uint_eq(vpmu_reg(VPMU_REG_VERSION, 0), 1);
	}
	ck_assert_uint_eq(info.nnotes, missing);
	close(fd);
}
END_TEST

/* What depends on the model of the counters: registers, widths, their number. */
static void add_counters(void)
{
	harness_add(a_program_of_known_length_is_counted_exactly);
	harness_add(a_pinned_program_is_counted_exactly);
	harness_add(a_start_value_below_the_width_is_carried_over_it);
	harness_add(a_value_that_is_written_replaces_what_all_cpus_have_counted);
	harness_add(an_initial_count_of_allocate_is_honoured);
	harness_add(a_counter_that_wraps_in_a_slice_loses_nothing);
	harness_add(attach_and_detach_of_a_process_in_mid_loop_are_exact);
	harness_add(reads_of_ones_own_running_counter_differ_by_a_constant);
	harness_add(rows_run_out_with_einval_and_come_back);
	harness_add(a_second_pmc_in_a_row_of_a_process_is_ebusy);
	harness_add(each_class_is_there_or_missing_for_a_reason);
	if (dev_cpus() >= 2)
		harness_add(a_read_is_never_stale_and_never_goes_back);
}

/* What does not: processes and threads, how they begin, move and end. */
static void add_tasks(void)
{
	harness_add(a_program_that_migrates_every_millisecond_is_counted_exactly);
	harness_add(a_program_among_four_busy_neighbours_is_counted_exactly);
	harness_add(sixty_four_threads_are_counted_exactly);
	harness_add(three_hundred_forked_descendants_are_counted_exactly);
	harness_add(children_are_not_counted_without_descendants);
	harness_add(counting_goes_on_through_exec);
	harness_add(counting_goes_on_through_exec_by_a_process_with_threads);
	harness_add(exec_start_counts_the_program_and_nothing_before_it);
	harness_add(one_pmc_on_ten_processes_has_one_exact_total);
	/* These need more than the smallest machines have. */
	if (dev_counters() >= 4)
		harness_add(two_owners_count_the_same_process_and_different_ones_at_once);
	if (dev_cpus() >= 2) {
		harness_add(attach_and_detach_of_a_running_process_lie_between_two_truths);
		harness_add(a_process_attached_while_it_runs_is_not_charged_for_its_neighbour);
	}
}

int main(void)
{
	const char *part = getenv("EXACT") ?: "";

	dev_setup();
	if (strcmp(part, "tasks"))
		add_counters();
	if (strcmp(part, "counters"))
		add_tasks();
	return harness_run();
}
