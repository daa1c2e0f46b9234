/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_signal.c - SIGIO: when the last target of a PMC is gone, and when a PMC
 * without targets is read; for those who handle it or wait for it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "harness.h"
#include "kmod_dev.h"

static volatile sig_atomic_t sigios;

static void on_sigio(int sig)
{
	sigios++;
}

/* And none comes after that, for a while. */
static void wait_for(int n)
{
	while (sigios < n)
		dev_msleep(1);
	dev_msleep(20);
	ck_assert_int_eq(sigios, n);
}

static void nothing(void *arg)
{
}

START_TEST(the_owner_gets_sigio_when_the_last_target_of_a_pmc_exits)
{
	struct child a = dev_child(nothing, NULL), b = dev_child(nothing, NULL);
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	signal(SIGIO, on_sigio);
	dev_ok(dev_attach(fd, id, a.pid));
	dev_ok(dev_attach(fd, id, b.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&a);
	dev_wait(&a);
	wait_for(0);
	dev_go(&b);
	dev_wait(&b);
	wait_for(1);
	/* What was counted can still be read; it does not start again. */
	ck_assert_uint_gt(dev_read(fd, id), 0);
	dev_ok(dev_stop(fd, id));
	ck_assert_int_eq(dev_start(fd, id), ESRCH);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_NO_TARGETS);
	close(fd);
	dev_still_counts();
}
END_TEST

START_TEST(one_exit_is_one_sigio_however_many_pmcs_lose_their_target)
{
	struct child c = dev_child(nothing, NULL);
	int fd = dev_open();
	uint32_t id[2];

	signal(SIGIO, on_sigio);
	for (int i = 0; i < 2; i++) {
		id[i] = dev_alloc(fd, TC, 0, ANY, i ? BRANCH : INSN, U);
		dev_ok(dev_attach(fd, id[i], c.pid));
	}
	dev_go(&c);
	dev_wait(&c);
	wait_for(1);
	close(fd);
}
END_TEST

START_TEST(detaching_by_its_owner_raises_no_signal)
{
	struct child c = dev_child(nothing, NULL);
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	signal(SIGIO, on_sigio);
	dev_ok(dev_attach(fd, id, c.pid));
	dev_ok(dev_detach(fd, id, c.pid));
	wait_for(0);
	dev_go(&c);
	dev_wait(&c);
	wait_for(0);
	close(fd);
}
END_TEST

START_TEST(reading_a_pmc_without_targets_raises_sigio)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint64_t value = 4711;

	signal(SIGIO, on_sigio);
	dev_ok(dev_setcount(fd, id, value));
	wait_for(0);
	ck_assert_uint_eq(dev_read(fd, id), value);
	wait_for(1);
	dev_ok(dev_rw(fd, id, HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE, &value));
	wait_for(2);
	dev_ok(dev_start(fd, id));
	dev_read(fd, id);
	wait_for(2);
	close(fd);
}
END_TEST

START_TEST(who_waits_for_sigio_in_a_set_of_signals_gets_it)
{
	struct child c = dev_child(nothing, NULL);
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	dev_ok(dev_attach(fd, id, c.pid));
	dev_go(&c);
	ck_assert_int_eq(sigwaitinfo(&set, NULL), SIGIO);
	dev_wait(&c);
	close(fd);
}
END_TEST

START_TEST(who_does_not_handle_sigio_is_not_ended_by_it)
{
	struct child c = dev_child(nothing, NULL);
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, c.pid));
	dev_go(&c);
	dev_wait(&c);
	dev_msleep(20);
	dev_read(fd, id);
	dev_msleep(20);
	close(fd);
	dev_still_counts();
}
END_TEST

/* As C libraries do, all around: the signal would wait, and end the process then. */
static void block_all_for_a_moment(void *arg)
{
	uint64_t all = ~0ull, before, value = 0;
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	signal(SIGIO, SIG_DFL);
	if (syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, 8) ||
	    dev_rw(fd, id, HWPMC_F_OLDVALUE, &value) ||
	    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8))
		_exit(1);
}

START_TEST(who_blocks_all_signals_for_a_moment_is_not_ended_by_sigio)
{
	struct child c = dev_child(block_all_for_a_moment, NULL);

	dev_go(&c);
	dev_wait(&c);
}
END_TEST

/* A helper thread of a profiler, which leaves all signals to the others. */
static atomic_bool has_begun;

static void *wait_for_the_end(void *end)
{
	char byte;

	atomic_store(&has_begun, true);
	if (read(*(int *)end, &byte, 1) < 0)
		abort();
	return NULL;
}

static void block_in_a_thread(void *set)
{
	int fd = dev_open(), end[2];
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	pthread_t thread;
	sigset_t before;

	signal(SIGIO, SIG_DFL);
	ck_assert_int_eq(pipe(end), 0);
	pthread_sigmask(SIG_SETMASK, set, &before);
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_for_the_end, &end[0]), 0);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	while (!atomic_load(&has_begun))
		dev_msleep(1);
	dev_read(fd, id);
	close(end[1]);
	pthread_join(thread, NULL);
	close(fd);
}

START_TEST(a_helper_thread_that_blocks_all_signals_does_not_make_sigio_end_the_owner)
{
	struct child c;
	sigset_t set;

	sigfillset(&set);
	c = dev_child(block_in_a_thread, &set);
	dev_go(&c);
	dev_wait(&c);
	/* Or what it needs. */
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	c = dev_child(block_in_a_thread, &set);
	dev_go(&c);
	dev_wait(&c);
}
END_TEST

/* As profilers do around the start of a thread: a read raises SIGIO while all signals are
 * blocked, for so long; then `waited` are, or all for good.
 */
static void fill_the_mask(const sigset_t *waited, unsigned int ms)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	sigset_t all;

	signal(SIGIO, SIG_DFL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	dev_read(fd, id);
	dev_msleep(ms);
	if (waited)
		pthread_sigmask(SIG_SETMASK, waited, NULL);
}

static void fill_for_a_moment(void *arg)
{
	sigset_t none;

	sigemptyset(&none);
	fill_the_mask(&none, 50);
	dev_msleep(50);
}

START_TEST(who_fills_the_mask_of_signals_for_a_moment_is_not_ended_by_sigio)
{
	struct child c = dev_child(fill_for_a_moment, NULL);

	dev_go(&c);
	dev_wait(&c);
}
END_TEST

/* Is SIGIO what comes, within 20 s? */
static void await_sigio(void)
{
	const struct timespec limit = { .tv_sec = 20 };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	if (sigtimedwait(&set, NULL, &limit) != SIGIO)
		_exit(1);
}

static void fill_over_a_set(void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	fill_the_mask(&set, 30);
	await_sigio();
}

START_TEST(who_waits_for_sigio_and_fills_the_mask_for_a_moment_gets_it_afterwards)
{
	struct child c = dev_child(fill_over_a_set, NULL);

	dev_go(&c);
	dev_wait(&c);
}
END_TEST

/* No thread is in sigtimedwait(), as in a program that uses signalfd(2): the signal is
 * pending after a second, although a new one is due with each read.
 */
static void fill_for_good(void *arg)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	sigset_t all, pending;

	signal(SIGIO, SIG_DFL);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; i < 2000; i++) {
		dev_read(fd, id);
		sigpending(&pending);
		if (sigismember(&pending, SIGIO))
			return;
		dev_msleep(10);
	}
	_exit(1);
}

START_TEST(who_has_all_signals_blocked_for_good_gets_sigio)
{
	struct child c = dev_child(fill_for_good, NULL);

	dev_go(&c);
	dev_wait(&c);
}
END_TEST

/* The owner's threads: one waits for SIGIO, this one blocks all and reads. */
static void *wait_in_a_thread(void *arg)
{
	await_sigio();
	return NULL;
}

static void wait_in_another_thread(void *arg)
{
	pthread_t thread;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, NULL);
	ck_assert_int_eq(pthread_create(&thread, NULL, wait_in_a_thread, NULL), 0);
	fill_the_mask(NULL, 0);
	pthread_join(thread, NULL);
}

START_TEST(a_thread_that_waits_for_sigio_gets_it_though_all_threads_block_all)
{
	struct child c = dev_child(wait_in_another_thread, NULL);

	dev_go(&c);
	dev_wait(&c);
	dev_still_counts();
}
END_TEST

/* ---- a set-id program ---------------------------------------------------------- */

#define SELF	"/tmp/signal.setuid"
#define WAITS	"waits"

/* What is executed: it becomes the user of its file for good, reports that, and whether
 * SIGIO comes. */
static int wait_in_program(int report)
{
	struct timespec limit = { .tv_sec = 3 };
	sigset_t set;
	char c;

	if (setresuid(geteuid(), geteuid(), geteuid()) || write(report, "r", 1) != 1)
		return 1;
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	c = sigtimedwait(&set, NULL, &limit) == SIGIO ? 's' : '-';
	return write(report, &c, 1) != 1;
}

/* The log of who executes it has more in it than its pipe holds. */
static void execute(int report, int go)
{
	struct hwpmc_op_configurelog conf = { .ring_size = 1 << 17 };
	char text[16], c;
	sigset_t set;
	int fd, p[2];

	dev_become(NOBODY);
	fd = open(HWPMC_DEVICE, O_RDWR);
	if (fd < 0 || pipe(p))
		_exit(2);
	fcntl(p[1], F_SETPIPE_SZ, 4096);
	conf.logfd = p[1];
	if (ioctl(fd, HWPMC_IOC_CONFIGURELOG, &conf))
		_exit(3);
	close(p[1]);
	for (int i = 0; i < 5000; i++) {
		struct hwpmc_op_writelog op = { .userdata = i };

		if (ioctl(fd, HWPMC_IOC_WRITELOG, &op))
			_exit(4);
	}
	/* What the test holds of the pipe ends its writer when it closes it. */
	if (write(report, &p[0], sizeof(p[0])) != sizeof(p[0]) || read(go, &c, 1) != 1)
		_exit(5);
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fcntl(p[0], F_SETFD, FD_CLOEXEC);
	snprintf(text, sizeof(text), "%d", report);
	execl(SELF, SELF, WAITS, text, NULL);
	_exit(6);
}

/* The reader's end is ours alone, and goes when the program runs. */
static char signal_after_exec(mode_t mode)
{
	int report[2], go[2], pipe_end, copy, status;
	char c = 0;
	pid_t pid;

	ck_assert(!chmod(SELF, mode) && !pipe(report) && !pipe2(go, O_CLOEXEC));
	pid = fork();
	if (!pid)
		execute(report[1], go[0]);
	close(report[1]);
	ck_assert_int_eq(read(report[0], &pipe_end, sizeof(pipe_end)), sizeof(pipe_end));
	copy = syscall(SYS_pidfd_getfd, syscall(SYS_pidfd_open, pid, 0), pipe_end, 0);
	ck_assert_int_ge(copy, 0);
	ck_assert_int_eq(write(go[1], "g", 1), 1);
	ck_assert_int_eq(read(report[0], &c, 1), 1);
	ck_assert_int_eq(c, 'r');
	close(copy);
	ck_assert_int_eq(read(report[0], &c, 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(report[0]);
	close(go[0]);
	close(go[1]);
	return c;
}

/* Its log ends, and fails, after the exec. */
START_TEST(set_uid_program_gets_no_sigio_of_the_log_of_its_caller)
{
	ck_assert_int_eq(system("cp build/vm/tests/kmod_signal " SELF), 0);
	ck_assert_int_eq(signal_after_exec(0755), 's');
	ck_assert_int_eq(signal_after_exec(04755), '-');
	unlink(SELF);
	dev_still_counts();
}
END_TEST

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], WAITS))
		return wait_in_program(atoi(argv[2]));
	dev_setup();
	harness_add(the_owner_gets_sigio_when_the_last_target_of_a_pmc_exits);
	harness_add(one_exit_is_one_sigio_however_many_pmcs_lose_their_target);
	harness_add(detaching_by_its_owner_raises_no_signal);
	harness_add(reading_a_pmc_without_targets_raises_sigio);
	harness_add(who_waits_for_sigio_in_a_set_of_signals_gets_it);
	harness_add(who_does_not_handle_sigio_is_not_ended_by_it);
	harness_add(who_blocks_all_signals_for_a_moment_is_not_ended_by_sigio);
	harness_add(a_helper_thread_that_blocks_all_signals_does_not_make_sigio_end_the_owner);
	harness_add(who_fills_the_mask_of_signals_for_a_moment_is_not_ended_by_sigio);
	harness_add(who_waits_for_sigio_and_fills_the_mask_for_a_moment_gets_it_afterwards);
	harness_add(who_has_all_signals_blocked_for_good_gets_sigio);
	harness_add(a_thread_that_waits_for_sigio_gets_it_though_all_threads_block_all);
	harness_add(set_uid_program_gets_no_sigio_of_the_log_of_its_caller);
	return harness_run();
}
