/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_waiting.c - what the unprivileged can make slow keeps nobody else waiting: memory
 * and files that do not answer, long chains of descendants.
 */
#define _GNU_SOURCE
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "harness.h"
#include "hwpmc_log.h"
#include "kmod_dev.h"

#define PAGE	4096

/* Says that a page is asked for, and serves none. */
static int asked[2];
/* Where a child says that it has a log. */
static int told;

static void *tell_fault(void *uffd)
{
	struct uffd_msg msg;

	if (read((intptr_t)uffd, &msg, sizeof(msg)) != sizeof(msg) ||
	    write(asked[1], "", 1) != 1)
		_exit(1);
	return NULL;
}

/*
 * Memory whose pages never come, as of a file system that its user serves. Made by
 * the process that uses it: a child does not inherit it.
 */
static void *slow_memory(void)
{
	pthread_t teller;
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	void *at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_int_ge(uffd, 0);
	ck_assert(!ioctl(uffd, UFFDIO_API, &api));
	reg.range.start = (uintptr_t)at;
	reg.range.len = 4 * PAGE;
	ck_assert(!ioctl(uffd, UFFDIO_REGISTER, &reg));
	ck_assert(!pthread_create(&teller, NULL, tell_fault,
				  (void *)(intptr_t)uffd));
	return at;
}

static void await_fault(void)
{
	char c;

	ck_assert_int_eq(read(asked[0], &c, 1), 1);
}

/* Everything that takes the lock. The limit only ends the hang that this looks for. */
static void others_go_on(void)
{
	alarm(100);
	dev_still_counts();
	alarm(0);
}

START_TEST(memory_that_does_not_answer_keeps_nobody_else_waiting)
{
	pid_t pid;

	ck_assert(!pipe(asked));
	pid = fork();
	if (!pid) {
		struct hwpmc_op_getpmcinfo info = { .npmc = HWPMC_ROW_MAX };

		info.pmcs = (uintptr_t)slow_memory();
		dev_op(dev_open(), HWPMC_IOC_GETPMCINFO, &info);
		_exit(1);
	}
	await_fault();
	others_go_on();
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	dev_end(pid);
}
END_TEST

/* It is kept when nobody drives it any more. */
static void fill_the_histogram(void)
{
	struct hwpmc_op_kgmon on = { .command = HWPMC_KGMON_ON };
	int fd = dev_open();
	struct hwpmc_op_pmcallocate sampling;

	dev_ok(dev_op(fd, HWPMC_IOC_KGMON, &on));
	dev_request(&sampling, HWPMC_MODE_SS, HWPMC_F_KGMON, 0, INSN, U | K);
	sampling.count = 10000;
	dev_ok(dev_allocate(fd, &sampling));
	dev_pin(getpid(), 0);
	dev_ok(dev_start(fd, sampling.pmcid));
	for (int i = 0; i < 1000; i++)
		getppid();
	dev_ok(dev_stop(fd, sampling.pmcid));
	dev_unpin(getpid());
	close(fd);
}

START_TEST(a_reader_of_the_histogram_keeps_nobody_else_waiting)
{
	struct hwpmc_op_kgmon kgmon = { .command = HWPMC_KGMON_READ, .nentry = 9999 };
	pid_t pid;
	int fd;

	fill_the_histogram();
	ck_assert(!pipe(asked));
	pid = fork();
	if (!pid) {
		kgmon.entries = (uintptr_t)slow_memory();
		dev_op(dev_open(), HWPMC_IOC_KGMON, &kgmon);
		_exit(1);
	}
	await_fault();
	others_go_on();
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	dev_end(pid);
	fd = dev_open();
	kgmon.command = HWPMC_KGMON_OFF;
	dev_ok(dev_op(fd, HWPMC_IOC_KGMON, &kgmon));
	kgmon.command = HWPMC_KGMON_RESET;
	dev_ok(dev_op(fd, HWPMC_IOC_KGMON, &kgmon));
	close(fd);
}
END_TEST

static void write_slowly(int fd)
{
	/* It holds the pipe's lock while it waits for its page. */
	ck_assert_int_eq(write(fd, slow_memory(), PAGE), -1);
	_exit(1);
}

/* Its function in wchan is another one on a real-time kernel. */
static bool drain_thread_waits_for_a_lock(void)
{
	char cmd[160];

	snprintf(cmd, sizeof(cmd), "f=$(grep -lsx hwpmc/%d /proc/[0-9]*/comm) && "
		 "grep -qs '^State:[[:space:]]*D' ${f%%comm}status", getpid());
	return !system(cmd);
}

/* The end of a log waits for the thread that writes its file, and so for the pipe. */
static void end_its_log(int fd)
{
	int dev = dev_open();

	dev_ok(dev_configure(dev, fd, 0, 0));
	while (!drain_thread_waits_for_a_lock())
		dev_msleep(10);
	ck_assert_int_eq(write(told, "", 1), 1);
	dev_ok(dev_configure(dev, -1, 0, 0));
	_exit(0);
}

static void await_end_of_log(pid_t owner, int ready)
{
	char c;

	ck_assert_int_eq(read(ready, &c, 1), 1);
	dev_await_call(owner, SYS_ioctl);
}

struct stuck {
	pid_t writer;	/* until it is killed, the log does not end */
	pid_t owner;
};

static struct stuck log_that_cannot_end(void)
{
	int p[2], ready[2];
	struct stuck s;

	ck_assert(!pipe(p) && !pipe(ready) && !pipe(asked));
	told = ready[1];
	s.writer = fork();
	if (!s.writer)
		write_slowly(p[1]);
	await_fault();
	s.owner = fork();
	if (!s.owner)
		end_its_log(p[1]);
	await_end_of_log(s.owner, ready[0]);
	return s;
}

static void let_log_end(struct stuck s)
{
	dev_end(s.writer);
	dev_reap(s.owner);
}

START_TEST(a_log_whose_file_does_not_answer_keeps_nobody_else_waiting)
{
	struct stuck s = log_that_cannot_end();

	others_go_on();
	/* It waits, as the writer still has the pipe. */
	ck_assert_int_eq(waitpid(s.owner, NULL, WNOHANG), 0);
	let_log_end(s);
}
END_TEST

/* No signal ends its write. */
START_TEST(revoke_waits_a_second_for_a_log_that_cannot_end)
{
	struct stuck s = log_that_cannot_end();
	int fd = dev_open();
	uint64_t began = dev_now();

	alarm(100);
	dev_ok(dev_simple(fd, HWPMC_IOC_REVOKE));
	alarm(0);
	ck_assert_uint_lt(dev_now() - began, 8000000000ull);
	let_log_end(s);
	close(fd);
}
END_TEST

/* A chain: each the child of the one before; the last says that it is there. */
static void chain(unsigned int links, int ready)
{
	pid_t pid = 0;

	for (; links && !pid; links--) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pid = fork();
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (!pid)
		ck_assert_int_eq(write(ready, "r", 1), 1);
	pause();
	_exit(0);
}

/* Instructions of the kernel that it takes to attach and detach so many. */
static uint64_t cost_of_chain(unsigned int links)
{
	uint64_t cost;
	uint32_t id;
	int p[2], fd;
	pid_t pid;
	char c;

	ck_assert(!pipe(p));
	pid = fork();
	if (!pid)
		chain(links, p[1]);
	ck_assert_int_eq(read(p[0], &c, 1), 1);
	fd = dev_open();
	id = dev_alloc(fd, TC, HWPMC_F_DESCENDANTS, ANY, INSN, U);
	cost = vpmu_own(VPMU_KERNEL_INSN);
	dev_ok(dev_attach(fd, id, pid));
	dev_ok(dev_detach(fd, id, pid));
	cost = vpmu_own(VPMU_KERNEL_INSN) - cost;
	ck_assert_int_eq(dev_detach(fd, id, pid), ESRCH);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_NOT_TARGET);
	dev_end(pid);
	close(fd);
	fprintf(stderr, "chain of %u: %llu instructions\n", links,
		(unsigned long long)cost);
	return cost;
}

START_TEST(a_long_chain_of_descendants_is_attached_and_detached_in_its_own_time)
{
	/* The end of a chain itself takes minutes on a kernel with KASAN and lockdep: each
	 * process shares the memory of all before it. */
	const char *slow = getenv("VM_SLOW");
	unsigned int links = slow && atoi(slow) > 1 ? 25 : 100;
	uint64_t some = cost_of_chain(links);

	/* In proportion: a walk of all for each would be sixteen times as much. */
	ck_assert_uint_lt(cost_of_chain(4 * links), 8 * some);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(memory_that_does_not_answer_keeps_nobody_else_waiting, 20);
	harness_add_timed(a_reader_of_the_histogram_keeps_nobody_else_waiting, 20);
	harness_add_timed(a_log_whose_file_does_not_answer_keeps_nobody_else_waiting, 20);
	harness_add_timed(revoke_waits_a_second_for_a_log_that_cannot_end, 20);
	harness_add_timed(a_long_chain_of_descendants_is_attached_and_detached_in_its_own_time, 60);
	return harness_run();
}
