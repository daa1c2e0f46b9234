// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_crowd.c - an attach to a process of many threads lets go of the module's lock while
 * it goes through them. Here it is held just then (tests/vm/lib/kmod_hold.h), and others
 * do what they can: to the module, to the process, and to the owner.
 */
#define _GNU_SOURCE
#include <grp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "kmod_dev.h"
#include "../lib/kmod_hold.h"

/* More than attach.c goes through with the lock held. */
#define CROWD	100
#define LOOPS	2000
#define SETUID	"/tmp/loop.crowd"

/* The end of the walk over the threads. */
#define AMID	"hwpmc_targets_grow"

/* Of the processes of a test. */
static struct {
	pid_t target;
	volatile pid_t second;		/* the attacher's other thread */
	volatile uint64_t key;		/* of the target's memory, for the emulated PMU */
	volatile int threads;		/* of the target, that are at the gate */
	volatile int idle;		/* all of them have worked */
	volatile int err, reason;	/* of the attach */
	volatile int ready;		/* what is attached counts */
	volatile int also;		/* of what the owner does beside it, or a child */
	volatile uint64_t count;
} *shared;

static int gate[2];

static void setup(void)
{
	dev_fresh();
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(shared, MAP_FAILED);
	shared->err = -1;
	ck_assert_int_eq(pipe(gate), 0);
	dev_pin(0, 0);
}

/* ---- the crowd ------------------------------------------------------------- */

static void *wait_and_spin(void *unused)
{
	char c;

	__atomic_fetch_add(&shared->threads, 1, __ATOMIC_SEQ_CST);
	if (read(gate[0], &c, 1) != 1)
		_exit(1);
	dev_spin(LOOPS);
	return NULL;
}

static void stay(void)
{
	for (;;)
		pause();
}

/* then: instead of what the first thread does, which stays when all have worked. */
static void crowd(void *then)
{
	pthread_t t[CROWD];

	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&t[i], NULL, wait_and_spin, NULL))
			_exit(1);
	shared->key = vpmu_key();
	if (then)
		((void (*)(void))then)();
	for (int i = 0; i < CROWD; i++)
		pthread_join(t[i], NULL);
	shared->idle = 1;
	stay();
}

/* How many threads of the process sleep. */
static int sleepers(pid_t pid)
{
	char command[160];
	int n = -1;
	FILE *f;

	snprintf(command, sizeof(command), "cat /proc/%d/task/*/stat | "
		 "sed 's/.*) //' | grep -c '^S'", pid);
	f = popen(command, "r");
	ck_assert(f && fscanf(f, "%d", &n) == 1);
	pclose(f);
	return n;
}

static int claimed;
static uint32_t claimed_id;

/*
 * known: a PMC is attached already, so that no thread waits for its hook. What hooks those
 * that sleep needs each CPU, also the one that the attacher is held on.
 */
static struct child crowd_at_the_gate(bool known, void (*then)(void))
{
	struct child target = dev_child(crowd, then);

	shared->target = target.pid;
	claimed = dev_open();
	claimed_id = dev_alloc(claimed, TC, 0, ANY, CYCLES, U);
	if (known)
		dev_ok(dev_attach(claimed, claimed_id, target.pid));
	dev_pin(target.pid, 2);
	dev_go(&target);
	while (shared->threads != CROWD || sleepers(target.pid) != CROWD + 1)
		dev_msleep(1);
	return target;
}

static void let_go(void)
{
	char all[CROWD] = { 0 };

	ck_assert_int_eq(write(gate[1], all, CROWD), CROWD);
}

/* The attacher, held amid its attach. */
static struct child attach_amid(void (*attach_fn)(void *))
{
	struct child attacher = dev_child(attach_fn, NULL);

	dev_pin(attacher.pid, 1);
	hold_at(AMID);
	hold_arm(attacher.pid);
	dev_go(&attacher);
	hold_wait();
	return attacher;
}

/* It is held for 15 s at most. */
static void check_amid(void)
{
	ck_assert_int_eq(shared->err, -1);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Nothing of the module is left that would keep a register or a thread. */
static void check_nothing_left(struct child *target)
{
	end(target->pid);
	close(claimed);
	dev_check_registers_clear();
	dev_still_counts();
}

/* ---- others go on ---------------------------------------------------------- */

static int own_fd;
static uint32_t own_id;

static void attach_crowd(void *unused)
{
	struct hwpmc_op_pmcattach op = { .pid = shared->target };

	op.pmcid = own_id;
	/* Not dev_attach(): another thread has the same dev_hdr. */
	shared->err = ioctl(own_fd, HWPMC_IOC_PMCATTACH, &op) ? errno : 0;
	shared->reason = op.hdr.reason;
}

static void *start_beside(void *unused)
{
	/* Not the CPU that the first is held on. */
	dev_pin(0, 2);
	shared->second = syscall(SYS_gettid);
	while (!shared->ready)
		dev_msleep(1);
	shared->also = dev_start(own_fd, own_id);
	return NULL;
}

/* Another thread starts what this one attaches. */
static void attach_and_start(void *unused)
{
	pthread_t thread;

	own_fd = dev_open();
	own_id = dev_alloc(own_fd, TC, 0, ANY, INSN, U);
	if (pthread_create(&thread, NULL, start_beside, NULL))
		_exit(1);
	while (!shared->second)
		dev_msleep(1);
	attach_crowd(NULL);
	pthread_join(thread, NULL);
	shared->ready = 2;
	while (!shared->idle || sleepers(shared->target) != 1)
		dev_msleep(1);
	shared->count = dev_read(own_fd, own_id);
}

static uint64_t use_once(void)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint64_t count;

	dev_ok(dev_start(fd, id));
	dev_spin(1000);
	count = dev_read(fd, id);
	dev_ok(dev_stop(fd, id));
	dev_ok(dev_release(fd, id));
	close(fd);
	return count;
}

START_TEST(an_attach_to_many_threads_holds_nobody_up_but_its_owner)
{
	struct child target = crowd_at_the_gate(true, NULL), attacher;
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, BRANCH, U);
	uint64_t insn, branches;

	attacher = attach_amid(attach_and_start);
	ck_assert_uint_ge(use_once(), 3000);
	/* To the same process, and again. */
	dev_ok(dev_attach(fd, id, target.pid));
	ck_assert_int_eq(dev_attach(fd, id, target.pid), EEXIST);
	check_amid();
	dev_ok(dev_detach(fd, id, target.pid));
	dev_ok(dev_attach(fd, id, target.pid));
	check_amid();
	/* The owner's own operation waits, also when one that came after it is through. */
	shared->ready = 1;
	dev_await_call(shared->second, SYS_ioctl);
	check_amid();
	use_once();
	ck_assert_int_eq(dev_waiting_in(shared->second), SYS_ioctl);
	hold_end();
	while (shared->ready != 2)
		dev_msleep(1);
	ck_assert_int_eq(shared->err, 0);
	ck_assert_int_eq(shared->also, 0);
	dev_ok(dev_start(fd, id));
	insn = vpmu_space(shared->key, VPMU_USER_INSN);
	branches = vpmu_space(shared->key, VPMU_USER_BRANCH);
	let_go();
	dev_wait(&attacher);
	insn = vpmu_space(shared->key, VPMU_USER_INSN) - insn;
	branches = vpmu_space(shared->key, VPMU_USER_BRANCH) - branches;
	ck_assert_uint_gt(insn, (uint64_t)CROWD * 3 * LOOPS);
	ck_assert_uint_eq(shared->count, insn);
	ck_assert_uint_eq(dev_read(fd, id), branches);
	close(fd);
	check_nothing_left(&target);
}
END_TEST

static void attach_start_and_read(void *unused)
{
	own_fd = dev_open();
	own_id = dev_alloc(own_fd, TC, 0, ANY, INSN, U);
	attach_crowd(NULL);
	dev_ok(dev_start(own_fd, own_id));
	shared->ready = 2;
	while (!shared->idle || sleepers(shared->target) != 1)
		dev_msleep(1);
	shared->count = dev_read(own_fd, own_id);
}

START_TEST(each_of_many_threads_is_counted)
{
	struct child target = crowd_at_the_gate(false, NULL);
	struct child attacher = dev_child(attach_start_and_read, NULL);
	uint64_t insn = vpmu_space(shared->key, VPMU_USER_INSN);

	dev_go(&attacher);
	while (shared->ready != 2)
		dev_msleep(1);
	let_go();
	dev_wait(&attacher);
	insn = vpmu_space(shared->key, VPMU_USER_INSN) - insn;
	ck_assert_int_eq(shared->err, 0);
	ck_assert_uint_gt(insn, (uint64_t)CROWD * 3 * LOOPS);
	ck_assert_uint_eq(shared->count, insn);
	check_nothing_left(&target);
}
END_TEST

/* ---- the process, the owner and its rights go ------------------------------ */

static void attach_alone(void *unused)
{
	/* Of a revocation. */
	signal(SIGBUS, SIG_IGN);
	own_fd = dev_open();
	own_id = dev_alloc(own_fd, TC, 0, ANY, INSN, U);
	attach_crowd(NULL);
}

START_TEST(many_threads_that_exit_amid_their_attach_are_a_process_that_exits)
{
	struct child target = crowd_at_the_gate(false, NULL), attacher;

	attacher = attach_amid(attach_alone);
	end(target.pid);
	check_amid();
	hold_end();
	dev_wait(&attacher);
	ck_assert_int_eq(shared->err, ESRCH);
	ck_assert_int_eq(shared->reason, HWPMC_WHY_EXITING);
	check_nothing_left(&target);
}
END_TEST

/* Two go on, and the second has come to its end: the first finds no thread. */
START_TEST(an_exit_amid_two_attaches_ends_both)
{
	struct timespec limit = { .tv_sec = 10 };
	struct child target, attacher;
	int fd = dev_open(), got;
	sigset_t set;
	uint32_t id;

	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	sigprocmask(SIG_BLOCK, &set, NULL);
	target = crowd_at_the_gate(true, NULL);
	id = dev_alloc(fd, TC, 0, ANY, BRANCH, U);
	attacher = attach_amid(attach_alone);
	dev_ok(dev_attach(fd, id, target.pid));
	end(target.pid);
	/* What is attached has lost its process, and its owner is told. */
	got = sigtimedwait(&set, NULL, &limit);
	check_amid();
	hold_end();
	dev_wait(&attacher);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	ck_assert_int_eq(got, SIGIO);
	ck_assert_int_eq(shared->err, ESRCH);
	ck_assert_int_eq(dev_detach(fd, id, target.pid), ESRCH);
	close(fd);
	check_nothing_left(&target);
}
END_TEST

START_TEST(who_is_killed_amid_an_attach_to_many_threads_leaves_nothing)
{
	struct child target = crowd_at_the_gate(false, NULL), attacher;

	attacher = attach_amid(attach_alone);
	kill(attacher.pid, SIGKILL);
	hold_end();
	waitpid(attacher.pid, NULL, 0);
	let_go();
	while (!shared->idle)
		dev_msleep(1);
	check_nothing_left(&target);
}
END_TEST

static void revoke_all(void *unused)
{
	struct hwpmc_op_simple op = { 0 };
	int fd = dev_open();

	shared->second = getpid();
	shared->also = ioctl(fd, HWPMC_IOC_REVOKE, &op) ? errno : 0;
	close(fd);
}

START_TEST(a_revocation_amid_an_attach_waits_for_it_and_takes_it_back)
{
	struct child target = crowd_at_the_gate(false, NULL), attacher, revoker;

	/* Of this process as well. */
	signal(SIGBUS, SIG_IGN);
	attacher = attach_amid(attach_alone);
	shared->also = -1;
	revoker = dev_child(revoke_all, NULL);
	dev_go(&revoker);
	while (!shared->second)
		dev_msleep(1);
	dev_await_call(shared->second, SYS_ioctl);
	ck_assert_uint_ge(use_once(), 3000);
	check_amid();
	ck_assert_int_eq(shared->also, -1);
	hold_end();
	dev_wait(&revoker);
	dev_wait(&attacher);
	ck_assert_int_eq(shared->also, 0);
	ck_assert_int_eq(shared->err, ENODEV);
	ck_assert_int_eq(shared->reason, HWPMC_WHY_REVOKED);
	check_nothing_left(&target);
}
END_TEST

/* The heir of a PMC attaches it, and keeps the descriptor; its parent executes a program, or
 * exits: what that drops is dropped when the attach has ended. */
static void exec_loop(int unused)
{
	execl("build/vm/progs/loop", "loop", "1", (char *)NULL);
	_exit(127);
}

static void exit_at_once(int unused)
{
	_exit(0);
}

static void parent_of_heir(void *leave)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_DESCENDANTS, ANY, INSN, U);
	uint64_t count;
	pid_t child;

	signal(SIGUSR1, leave);
	if (dev_attach(fd, id, 0))
		_exit(1);
	child = fork();
	if (!child) {
		own_fd = fd;
		own_id = id;
		shared->second = getpid();
		while (!shared->ready)
			dev_msleep(1);
		attach_crowd(NULL);
		shared->ready = 2;
		/* It has inherited the PMC, so it may read it as long as there is one. */
		while (!(shared->also = dev_rw(fd, id, HWPMC_F_OLDVALUE, &count)))
			dev_msleep(1);
		shared->ready = 3;
		stay();
	}
	stay();
}

static void leave_amid_attach_of_heir(void (*leave)(int))
{
	struct child target = crowd_at_the_gate(false, NULL), owner;

	owner = dev_child(parent_of_heir, leave);
	dev_go(&owner);
	while (!shared->second)
		dev_msleep(1);
	dev_pin(shared->second, 1);
	hold_at(AMID);
	hold_arm(shared->second);
	shared->ready = 1;
	hold_wait();
	kill(owner.pid, SIGUSR1);
	dev_wait(&owner);
	check_amid();
	hold_end();
	while (shared->ready < 2)
		dev_msleep(1);
	ck_assert_int_eq(shared->err, 0);
	/* The heir has the descriptor open all the time. */
	while (shared->ready != 3)
		dev_msleep(1);
	ck_assert_int_eq(shared->also, ESRCH);
	kill(shared->second, SIGKILL);
	check_nothing_left(&target);
}

START_TEST(an_exec_of_the_owner_amid_the_attach_of_its_heir_drops_what_it_holds)
{
	leave_amid_attach_of_heir(exec_loop);
}
END_TEST

START_TEST(an_exit_of_the_owner_amid_the_attach_of_its_heir_drops_what_it_holds)
{
	leave_amid_attach_of_heir(exit_at_once);
}
END_TEST

static void gain_rights(void)
{
	char c;

	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY) || prctl(PR_SET_DUMPABLE, 1) ||
	    read(gate[0], &c, 1) != 1)
		_exit(1);
	execl(SETUID, "loop", "1000000000", (char *)NULL);
	_exit(127);
}

static void attach_as_nobody(void *unused)
{
	own_fd = dev_open();
	if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		_exit(1);
	own_id = dev_alloc(own_fd, TC, 0, ANY, INSN, U);
	attach_crowd(NULL);
}

START_TEST(many_threads_that_gain_rights_amid_their_attach_are_not_attached)
{
	struct child target, attacher;
	char path[32];

	ck_assert_int_eq(system("cp build/vm/progs/loop " SETUID
				" && chmod 4755 " SETUID), 0);
	target = crowd_at_the_gate(true, gain_rights);
	attacher = attach_amid(attach_as_nobody);
	snprintf(path, sizeof(path), "/proc/%d/exe", target.pid);
	/* Of all of them, the one that is to execute the program too. */
	let_go();
	ck_assert_int_eq(write(gate[1], "", 1), 1);
	for (char exe[64] = ""; !strstr(exe, "loop");) {
		ssize_t n = readlink(path, exe, sizeof(exe) - 1);

		exe[n < 0 ? 0 : n] = '\0';
		dev_msleep(1);
	}
	/* The last link of the process, which the attach keeps all the same. */
	dev_ok(dev_detach(claimed, claimed_id, target.pid));
	check_amid();
	hold_end();
	dev_wait(&attacher);
	ck_assert_int_eq(shared->err, EPERM);
	ck_assert_int_eq(shared->reason, HWPMC_WHY_PRIV_ATTACH);
	check_nothing_left(&target);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, NULL);
	harness_add(an_attach_to_many_threads_holds_nobody_up_but_its_owner);
	harness_add(each_of_many_threads_is_counted);
	harness_add(many_threads_that_exit_amid_their_attach_are_a_process_that_exits);
	harness_add(an_exit_amid_two_attaches_ends_both);
	harness_add(who_is_killed_amid_an_attach_to_many_threads_leaves_nothing);
	harness_add(a_revocation_amid_an_attach_waits_for_it_and_takes_it_back);
	harness_add(an_exec_of_the_owner_amid_the_attach_of_its_heir_drops_what_it_holds);
	harness_add(an_exit_of_the_owner_amid_the_attach_of_its_heir_drops_what_it_holds);
	harness_add(many_threads_that_gain_rights_amid_their_attach_are_not_attached);
	return harness_run();
}
