/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_moves.c - threads that are moved to another CPU: running or not, each move is
 * counted once, and at once. Needs no PMU.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../lib/kmod_worker.h"

static uint64_t moves(pid_t pid)
{
	return proc_value(pid, "sched", "se.nr_migrations");
}

static volatile bool *pushed;

static void run_and_sleep(unsigned int round)
{
	do {
		dev_msleep(1);
		dev_spin(300000);
	} while (!*pushed);
}

static struct worker pushed_worker(void)
{
	pushed = mmap(NULL, sizeof(*pushed), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(pushed != MAP_FAILED);
	return work_begin(run_and_sleep);
}

#define MOVES	50

/* Moved while it runs and while it sleeps, by others and by the kernel. */
static void push_about(struct worker *w)
{
	uint64_t end = moves(w->pid) + MOVES;
	char c = 0;

	*pushed = false;
	ck_assert_int_eq(write(w->go[1], &c, 1), 1);
	for (int i = 0; moves(w->pid) < end; i++) {
		dev_pin(w->pid, i & 1);
		dev_msleep(1);
	}
	*pushed = true;
	ck_assert_int_eq(read(w->done[0], &c, 1), 1);
	until_it_sleeps(w);
}

START_TEST(migrations_are_those_that_the_kernel_counts)
{
	struct worker w = pushed_worker();
	uint32_t first, second;
	uint64_t before, between;

	open_device();
	until_it_sleeps(&w);
	first = count_of(&w, "cpu_migration");
	second = count_of(&w, "migrations");
	ok(hwpmc_start(h, first));
	before = moves(w.pid);
	push_about(&w);
	ck_assert_uint_eq(value(first), moves(w.pid) - before);
	ck_assert_uint_ge(value(first), MOVES);
	ok(hwpmc_start(h, second));
	between = moves(w.pid);
	push_about(&w);
	ck_assert_uint_eq(value(first), moves(w.pid) - before);
	ck_assert_uint_eq(value(second), moves(w.pid) - between);
	work_end(&w);
	close_device();
}
END_TEST

/* Nobody but those who are more urgent runs there as long as we do. */
static void have_cpu(int cpu)
{
	struct sched_param param = { .sched_priority = 10 };

	dev_pin(0, cpu);
	ck_assert(!sched_setscheduler(0, SCHED_FIFO, &param));
}

static void give_cpu_back(void)
{
	struct sched_param param = { 0 };

	ck_assert(!sched_setscheduler(0, SCHED_OTHER, &param));
	dev_unpin(0);
}

/*
 * A child that has the CPU until it is killed, or its parent is. The parent is on the other
 * CPU already: behind the child it would wait until the scheduler moves it.
 */
static pid_t occupy(int cpu)
{
	int ready[2];
	pid_t pid;
	char c;

	dev_pin(0, !cpu);
	ck_assert(!pipe(ready));
	pid = fork();
	if (!pid) {
		/* Also where the test fails: nobody else could end it. */
		if (prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(1);
		have_cpu(cpu);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			;
	}
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static void leave(pid_t occupier)
{
	kill(occupier, SIGKILL);
	ck_assert_int_eq(waitpid(occupier, NULL, 0), occupier);
}

/* From one CPU to the other, where it may run but does not: both are ours. */
static void move_while_it_waits(const struct worker *w, unsigned int times)
{
	for (unsigned int i = 0; i < times; i++)
		dev_pin(w->pid, ~i & 1);
}

static void spin_short(unsigned int round)
{
	dev_spin(1000000);
}

/* It has work, on CPU 0, and cannot begin. */
static pid_t hold_back(struct worker *w)
{
	pid_t occupier;
	char c = 0;

	dev_put("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	dev_pin(w->pid, 0);
	work(w);
	/* If this thread sleeps for the driver's lock, the worker begins. */
	dev_calm();
	occupier = occupy(1);
	have_cpu(0);
	ck_assert_int_eq(write(w->go[1], &c, 1), 1);
	return occupier;
}

static void let_go(struct worker *w, pid_t occupier)
{
	char c;

	give_cpu_back();
	leave(occupier);
	ck_assert_int_eq(read(w->done[0], &c, 1), 1);
	work_end(w);
	dev_put("/proc/sys/kernel/sched_rt_runtime_us", "950000");
}

START_TEST(moves_of_a_thread_that_does_not_run_are_counted_at_once)
{
	struct worker w = work_begin(spin_short);
	uint32_t stopped, detached, kept, waits;
	pid_t occupier;
	uint64_t before;

	open_device();
	ok(hwpmc_allocate(h, "cpu_migration", HWPMC_MODE_TC, HWPMC_F_EXEC_START,
			  HWPMC_CPU_ANY, 0, &waits));
	ok(hwpmc_attach(h, waits, w.pid));
	stopped = count_of(&w, "cpu_migration");
	detached = count_of(&w, "cpu_migration");
	kept = count_of(&w, "cpu_migration");
	occupier = hold_back(&w);
	ok(hwpmc_start(h, stopped));
	ok(hwpmc_start(h, detached));
	ok(hwpmc_start(h, kept));
	ok(hwpmc_start(h, waits));
	before = moves(w.pid);
	move_while_it_waits(&w, 2);
	ck_assert_uint_eq(moves(w.pid) - before, 2);
	ck_assert_uint_eq(value(kept), 2);
	ck_assert_uint_eq(value(waits), 0);
	move_while_it_waits(&w, 4);
	ok(hwpmc_stop(h, stopped));
	ok(hwpmc_detach(h, detached, w.pid));
	ck_assert_uint_eq(value(stopped), 6);
	ck_assert_uint_eq(value(detached), 6);
	ck_assert_uint_eq(value(kept), 6);
	move_while_it_waits(&w, 2);
	ck_assert_uint_eq(value(stopped), 6);
	ok(hwpmc_start(h, stopped));
	move_while_it_waits(&w, 2);
	/* To start what counts is nothing. */
	ok(hwpmc_start(h, kept));
	ck_assert_uint_eq(value(stopped), 8);
	ck_assert_uint_eq(value(detached), 6);
	let_go(&w, occupier);
	/* And none of them twice. */
	ck_assert_uint_eq(value(stopped), 8);
	ck_assert_uint_eq(value(kept), 10);
	close_device();
}
END_TEST

#define HERD	100		/* threads: more than one step of a walk over them */

struct herd {
	pid_t pid, tid[HERD];
	uint32_t *go;			/* a futex: all are woken at once */
};

static void *wait_then_pause(void *go)
{
	syscall(SYS_futex, go, FUTEX_WAIT, 0, NULL, NULL, 0);
	for (;;)
		pause();
	return NULL;
}

static void be_herd(struct herd *herd)
{
	pthread_t thread;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		_exit(1);
	for (int i = 0; i < HERD; i++)
		if (pthread_create(&thread, NULL, wait_then_pause, herd->go))
			_exit(1);
	for (;;)
		pause();
}

/* All threads but the first; false: not all are there yet. */
static bool find_threads(struct herd *herd)
{
	char path[64];
	struct dirent *e;
	DIR *dir;
	int n = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", herd->pid);
	dir = opendir(path);
	ck_assert(dir);
	while ((e = readdir(dir))) {
		pid_t tid = atoi(e->d_name);

		if (tid && tid != herd->pid && n < HERD)
			herd->tid[n++] = tid;
	}
	closedir(dir);
	return n == HERD;
}

static void begin_herd(struct herd *herd)
{
	herd->go = mmap(NULL, sizeof(*herd->go), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(herd->go != MAP_FAILED);
	dev_pin(0, 0);
	herd->pid = fork();
	if (!herd->pid)
		be_herd(herd);
	dev_unpin(0);
	while (!find_threads(herd))
		dev_msleep(1);
	for (int i = 0; i < HERD; i++)
		dev_await_call(herd->tid[i], SYS_futex);
}

static void move_herd(const struct herd *herd, int cpu)
{
	for (int i = 0; i < HERD; i++)
		dev_pin(herd->tid[i], cpu);
}

static uint32_t count_herd(const struct herd *herd)
{
	uint32_t id = count("cpu_migration");

	ok(hwpmc_attach(h, id, herd->pid));
	ok(hwpmc_start(h, id));
	return id;
}

START_TEST(moves_of_a_hundred_threads_that_do_not_run_are_counted_at_once)
{
	uint32_t stopped, detached, kept, late;
	struct herd herd;
	pid_t occupier;

	begin_herd(&herd);
	open_device();
	stopped = count_herd(&herd);
	detached = count_herd(&herd);
	kept = count_herd(&herd);
	dev_calm();
	dev_put("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	occupier = occupy(1);
	have_cpu(0);
	ck_assert_int_eq(syscall(SYS_futex, herd.go, FUTEX_WAKE, HERD, NULL, NULL, 0),
			 HERD);
	move_herd(&herd, 1);
	ck_assert_uint_eq(value(kept), HERD);
	move_herd(&herd, 0);
	ok(hwpmc_stop(h, stopped));
	ok(hwpmc_detach(h, detached, herd.pid));
	ck_assert_uint_eq(value(stopped), 2 * HERD);
	ck_assert_uint_eq(value(detached), 2 * HERD);
	move_herd(&herd, 1);
	late = count_herd(&herd);
	move_herd(&herd, 0);
	ok(hwpmc_start(h, stopped));
	move_herd(&herd, 1);
	ck_assert_uint_eq(value(stopped), 3 * HERD);
	ck_assert_uint_eq(value(detached), 2 * HERD);
	ck_assert_uint_eq(value(kept), 5 * HERD);
	ck_assert_uint_eq(value(late), 2 * HERD);
	give_cpu_back();
	leave(occupier);
	leave(herd.pid);
	dev_put("/proc/sys/kernel/sched_rt_runtime_us", "950000");
	close_device();
}
END_TEST

START_TEST(moves_before_an_exec_are_not_of_what_waits_for_it)
{
	uint32_t after, all;
	struct child c;

	open_device();
	all = count("cpu_migration");
	ok(hwpmc_allocate(h, "cpu_migration", HWPMC_MODE_TC, HWPMC_F_EXEC_START,
			  HWPMC_CPU_ANY, 0, &after));
	dev_pin(0, 0);
	c = dev_loop(1000);
	ok(hwpmc_attach(h, all, c.pid));
	ok(hwpmc_attach(h, after, c.pid));
	ok(hwpmc_start(h, all));
	ok(hwpmc_start(h, after));
	dev_pin(c.pid, 1);
	dev_go(&c);
	dev_wait(&c);
	ck_assert_uint_eq(value(all), 1);
	ck_assert_uint_eq(value(after), 0);
	dev_unpin(0);
	close_device();
}
END_TEST

START_TEST(increments_of_moves_add_up_wherever_they_were_counted)
{
	struct worker w = work_begin(spin_short);
	struct hwpmc_rings *rings;
	struct tally t = { 0 };
	pid_t occupier;
	uint32_t id;

	open_device();
	ok(hwpmc_rings_open(h, 1 << 20, 0, &rings));
	ok(hwpmc_allocate(h, "cpu_migration", HWPMC_MODE_TC,
			  HWPMC_F_LOG_PROCCSW, HWPMC_CPU_ANY, 0, &id));
	ok(hwpmc_attach(h, id, w.pid));
	occupier = hold_back(&w);
	ok(hwpmc_start(h, id));
	move_while_it_waits(&w, 4);
	ck_assert_uint_eq(value(id), 4);
	move_while_it_waits(&w, 2);
	let_go(&w, occupier);	/* two more are told when it runs */
	ck_assert_uint_eq(value(id), 6);
	ok(hwpmc_stop(h, id));
	take_all(rings, &t);
	ck_assert_uint_eq(t.increments, 6);
	close_device();
}
END_TEST

/* A thread that was moved at rest is sampled when it runs. */
static void push_about_then_run(struct worker *w)
{
	push_about(w);
	dev_pin(w->pid, 0);
	work(w);
}

START_TEST(each_migration_is_a_sample_at_period_1)
{
	struct worker w = pushed_worker();
	struct tally t = { 0 };
	uint64_t n;

	sample(&w, "cpu_migration", 0, 1, push_about_then_run, &t, &n);
	ck_assert_uint_ge(n, MOVES);
	ck_assert_uint_eq(t.samples + t.drops, n);
	work_end(&w);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(dev_fresh, NULL);
	harness_add_timed(migrations_are_those_that_the_kernel_counts, 30);
	harness_add_timed(moves_of_a_thread_that_does_not_run_are_counted_at_once, 30);
	harness_add_timed(moves_of_a_hundred_threads_that_do_not_run_are_counted_at_once, 30);
	harness_add_timed(moves_before_an_exec_are_not_of_what_waits_for_it, 30);
	harness_add_timed(increments_of_moves_add_up_wherever_they_were_counted, 30);
	harness_add_timed(each_migration_is_a_sample_at_period_1, 30);
	return harness_run();
}
