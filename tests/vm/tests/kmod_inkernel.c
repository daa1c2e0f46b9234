/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_inkernel.c - the interface for other modules, each of its calls, through a
 * module that makes them (tests/vm/kmods/clientmod.c).
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>

#include "harness.h"
#include "kmod_dev.h"

#define CLIENT	"/sys/kernel/debug/hwpmc_client"
#define USER	1

static unsigned long long value;

/* What it returned; `value` is the module's. */
static long long call(const char *line)
{
	long long answer;
	char text[64] = "";
	int fd = open(CLIENT, O_RDWR);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, line, strlen(line)), strlen(line));
	ck_assert_int_gt(pread(fd, text, sizeof(text) - 1, 0), 0);
	close(fd);
	ck_assert_int_eq(sscanf(text, "%lld %llu", &answer, &value), 2);
	return answer;
}

#define CALL(...) ({							\
	char line_[128];						\
	snprintf(line_, sizeof(line_), __VA_ARGS__);			\
	call(line_); })

static unsigned int ctr(void)
{
	return dev_first_row() + 1;
}

static unsigned int event(enum dev_event ev)
{
	struct hwpmc_op_pmcallocate op;

	dev_request(&op, TC, 0, ANY, ev, U);
	return op.config;
}

START_TEST(counters_of_the_kernel_interface_have_numbers_and_types)
{
	ck_assert_int_gt(CALL("num"), 4);
	ck_assert_int_ge(CALL("type 0 -1"), 0);
	ck_assert_int_eq(CALL("type 0 %u", ctr()), dev_is_amd() ?
			 HWPMC_CLASS_K8 : HWPMC_CLASS_IAP);
	ck_assert_int_eq(CALL("type 0 4711"), -EINVAL);
}
END_TEST

START_TEST(a_module_counts_a_process_exactly)
{
	struct child c = dev_loop(100000);

	ck_assert_int_eq(CALL("enabled %d", c.pid), 0);
	ck_assert_int_eq(CALL("isconfigured %d %u", c.pid, ctr()), 0);
	ck_assert_int_eq(CALL("enable %d %u", c.pid, ctr()), -ENOENT);
	ck_assert_int_eq(CALL("configure %d %u %x 1000 %d", c.pid, ctr(),
			      event(BRANCH), USER), 0);
	ck_assert_int_eq(CALL("isconfigured %d %u", c.pid, ctr()), 1);
	ck_assert_int_eq(CALL("isrunning %d %u", c.pid, ctr()), 0);
	ck_assert_int_eq(CALL("enabled %d", c.pid), 1);
	ck_assert_int_eq(CALL("value %d %u", c.pid, ctr()), 0);
	ck_assert_uint_eq(value, 1000);
	ck_assert_int_eq(CALL("enable %d %u", c.pid, ctr()), 0);
	ck_assert_int_eq(CALL("isrunning %d %u", c.pid, ctr()), 1);
	ck_assert_int_eq(CALL("configure %d %u %x 0 %d", c.pid, ctr(),
			      event(BRANCH), USER), -EBUSY);
	dev_go(&c);
	/* It exits: the value goes with it, as nobody is its parent here. */
	dev_wait(&c);
	ck_assert_int_eq(CALL("value %d %u", c.pid, ctr()), -ENOENT);
	dev_still_counts();
}
END_TEST

static int spun[2];

/* A child that has spun says so, and then waits. */
static void say_spun(void)
{
	if (write(spun[1], "", 1) != 1)
		_exit(1);
}

static void await_spun(void)
{
	char byte;

	ck_assert_int_eq(read(spun[0], &byte, 1), 1);
}

static void await_spun_and_held(const struct child *c)
{
	await_spun();
	dev_held(c->pid);
}

/* Of the processes that are counted; nothing else is in user mode meanwhile. */
static uint64_t branches_of_others(void)
{
	return vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_BRANCH);
}

/* What the processes of a test tell each other. */
static struct shared {
	volatile bool spin_on;
	volatile pid_t grandchild;
	volatile uint64_t own;		/* its branches in user mode */
} *shared;

static void share(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(shared != MAP_FAILED);
}

#define TURNS	500000

static void spin_then_wait(void *arg)
{
	int *go = arg;
	char byte;

	close(go[1]);
	do
		dev_spin(TURNS);
	while (shared->spin_on);
	say_spun();
	if (read(go[0], &byte, 1) < 0)
		_exit(1);
}

START_TEST(values_of_a_process_stay_while_it_lives_and_stop_when_disabled)
{
	unsigned long long first;
	struct child c;
	int go[2];

	ck_assert(!pipe(go) && !pipe(spun));
	share();
	c = dev_child(spin_then_wait, go);
	ck_assert_int_eq(CALL("configure %d %u %x 0 %d", c.pid, ctr(),
			      event(BRANCH), USER), 0);
	ck_assert_int_eq(CALL("enable %d %u", c.pid, ctr()), 0);
	vpmu_mark();
	dev_go(&c);
	await_spun_and_held(&c);
	ck_assert_int_eq(CALL("value %d %u", c.pid, ctr()), 0);
	ck_assert_uint_ge(value, TURNS);
	ck_assert_uint_eq(value, branches_of_others());
	first = value;
	ck_assert_int_eq(CALL("disable %d %u", c.pid, ctr()), 0);
	ck_assert_int_eq(CALL("isrunning %d %u", c.pid, ctr()), 0);
	ck_assert_int_eq(CALL("value %d %u", c.pid, ctr()), 0);
	ck_assert_uint_eq(value, first);
	/* Something else on the same counter. */
	ck_assert_int_eq(CALL("configure %d %u %x 7 %d", c.pid, ctr(),
			      event(INSN), USER), 0);
	ck_assert_int_eq(CALL("value %d %u", c.pid, ctr()), 0);
	ck_assert_uint_eq(value, 7);
	ck_assert_int_eq(CALL("unconfigure %d %u", c.pid, ctr()), 0);
	ck_assert_int_eq(CALL("isconfigured %d %u", c.pid, ctr()), 0);
	close(go[1]);
	dev_wait(&c);
	dev_check_registers_clear();
}
END_TEST

#define READS	100

/* A child whose branches are counted on CPU 1, where it runs while .spin_on; the test is
 * on CPU 0. */
static struct child count_spinner(int go[2])
{
	struct child c;

	dev_pin(0, 0);
	ck_assert(!pipe(go) && !pipe(spun));
	share();
	shared->spin_on = true;
	c = dev_child(spin_then_wait, go);
	dev_pin(c.pid, 1);
	ck_assert_int_eq(CALL("configure %d %u %x 0 %d", c.pid, ctr(),
			      event(BRANCH), USER), 0);
	ck_assert_int_eq(CALL("enable %d %u", c.pid, ctr()), 0);
	vpmu_mark();
	dev_go(&c);
	while (branches_of_others() < TURNS)
		;
	return c;
}

START_TEST(a_value_that_is_read_often_misses_nothing_of_a_process_that_runs)
{
	int go[2];
	struct child c = count_spinner(go);

	for (int i = 0; i < READS; i++)
		ck_assert_int_eq(CALL("value %d %u", c.pid, ctr()), 0);
	shared->spin_on = false;
	await_spun_and_held(&c);
	ck_assert_int_eq(CALL("disable %d %u", c.pid, ctr()), 0);
	ck_assert_int_eq(CALL("value %d %u", c.pid, ctr()), 0);
	ck_assert_uint_eq(value, branches_of_others());
	close(go[1]);
	dev_wait(&c);
	dev_check_registers_clear();
}
END_TEST

/* Not only when it is switched out. */
START_TEST(a_process_that_runs_on_another_cpu_stops_at_once_when_disabled)
{
	unsigned long long stopped;
	int go[2];
	struct child c = count_spinner(go);
	uint64_t then;

	ck_assert_int_eq(CALL("disable %d %u", c.pid, ctr()), 0);
	ck_assert_int_eq(CALL("value %d %u", c.pid, ctr()), 0);
	stopped = value;
	ck_assert_uint_ge(stopped, TURNS / 2);
	then = branches_of_others();
	while (branches_of_others() < then + TURNS)
		;
	ck_assert_int_eq(CALL("value %d %u", c.pid, ctr()), 0);
	ck_assert_uint_eq(value, stopped);
	shared->spin_on = false;
	await_spun_and_held(&c);
	close(go[1]);
	dev_wait(&c);
	dev_check_registers_clear();
}
END_TEST

static void spin_and_tell(uint64_t turns)
{
	uint64_t before = vpmu_own(VPMU_USER_BRANCH);

	dev_spin(turns);
	shared->own = vpmu_own(VPMU_USER_BRANCH) - before;
}

/*
 * How many branches a child may have beyond those of spin_and_tell(): the ways from
 * fork() and to its end, with functions that the library binds then.
 */
#define AROUND	3000

static void check_is_own_of_grandchild(uint64_t n)
{
	ck_assert_uint_ge(n, shared->own);
	ck_assert_uint_lt(n, shared->own + AROUND);
}

/* Forks one that spins 300,000 turns, then itself 100,000. */
static void parent_and_child(void *arg)
{
	int *go = arg;
	char byte;
	pid_t pid;

	close(go[1]);
	pid = fork();
	if (!pid) {
		spin_and_tell(300000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	dev_spin(100000);
	say_spun();
	if (read(go[0], &byte, 1) < 0)
		_exit(1);
}

START_TEST(a_child_begins_at_0_inherits_and_leaves_its_value_to_its_parent)
{
	unsigned long long own;
	struct child c;
	int go[2];

	ck_assert(!pipe(go) && !pipe(spun));
	share();
	c = dev_child(parent_and_child, go);
	ck_assert_int_eq(CALL("configure %d %u %x 5000000 %d", c.pid, ctr(),
			      event(BRANCH), USER), 0);
	ck_assert_int_eq(CALL("enable %d %u", c.pid, ctr()), 0);
	vpmu_mark();
	dev_go(&c);
	await_spun_and_held(&c);
	ck_assert_int_eq(CALL("value %d %u", c.pid, ctr()), 0);
	ck_assert_uint_ge(value, 5100000);
	own = value - 5000000;
	/* Without what it began with: that is the process's own. */
	ck_assert_int_eq(CALL("value %d %u 0 0 1", c.pid, ctr()), 0);
	check_is_own_of_grandchild(value);
	ck_assert_uint_eq(own + value, branches_of_others());
	close(go[1]);
	dev_wait(&c);
	dev_check_registers_clear();
}
END_TEST

/* The same, but the child stays. */
static void parent_of_a_sleeper(void *arg)
{
	int *go = arg;
	char byte;
	pid_t pid;

	close(go[1]);
	pid = fork();
	if (!pid) {
		spin_and_tell(300000);
		say_spun();
		if (read(go[0], &byte, 1) < 0)
			_exit(1);
		_exit(0);
	}
	shared->grandchild = pid;
	waitpid(pid, NULL, 0);
}

#define INITIAL	50000000000ull

START_TEST(values_of_a_child_can_be_moved_to_its_parent_while_it_lives)
{
	unsigned long long moved;
	struct child c;
	int go[2];

	ck_assert(!pipe(go) && !pipe(spun));
	share();
	c = dev_child(parent_of_a_sleeper, go);
	ck_assert_int_eq(CALL("configure %d %u %x %llu %d", c.pid, ctr(),
			      event(BRANCH), INITIAL, USER), 0);
	ck_assert_int_eq(CALL("enable %d %u", c.pid, ctr()), 0);
	dev_go(&c);
	await_spun();
	dev_await_call(c.pid, SYS_wait4);
	dev_held(shared->grandchild);
	ck_assert_int_eq(CALL("value %d %u", shared->grandchild, ctr()), 0);
	/* Without what its parent began with. */
	check_is_own_of_grandchild(value);
	moved = value;
	ck_assert_int_eq(CALL("accumulate %d 0 0 0 0 %d", c.pid,
			      shared->grandchild), 0);
	ck_assert_int_eq(CALL("value %d %u 0 0 1", c.pid, ctr()), 0);
	ck_assert_uint_eq(value, moved);
	ck_assert_int_eq(CALL("value %d %u", shared->grandchild, ctr()), 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(CALL("value %d %u", c.pid, ctr()), 0);
	ck_assert_uint_ge(value, INITIAL);
	ck_assert_uint_lt(value, INITIAL + AROUND);
	/* The other way round: what it has of exited children is moved too, once. */
	ck_assert_int_eq(CALL("accumulate %d 0 0 0 0 %d", shared->grandchild,
			      c.pid), 0);
	ck_assert_int_eq(CALL("value %d %u 0 0 1", shared->grandchild, ctr()), 0);
	ck_assert_uint_ge(value, moved);
	ck_assert_int_eq(CALL("value %d %u 0 0 1", c.pid, ctr()), 0);
	ck_assert_uint_eq(value, 0);
	ck_assert_int_eq(CALL("accumulate %d 0 0 0 0 %d", c.pid, c.pid),
			 -EINVAL);
	ck_assert_int_eq(CALL("accumulate %d 0 0 0 0 %d", getpid(), c.pid),
			 -ENOENT);
	close(go[1]);
	dev_wait(&c);
	dev_check_registers_clear();
}
END_TEST

/* ---- a process and its child, each with a configuration of its own ------- */

/* Both wait, and spin TURNS once for each byte in their pipe. */
static struct pair {
	struct child parent;
	pid_t child;
	int in[2][2];		/* pipes: of the parent, of the child */
} pair;

static void wait_for_the_end(void)
{
	char byte;

	while (read(pair.in[1][0], &byte, 1) == 1)
		;
	_exit(0);
}

/* One more child for an 'f'. */
static void spin_for_each_byte(int fd)
{
	char byte = 0;

	do {
		if (byte == 'f') {
			pid_t pid = fork();

			if (!pid)
				wait_for_the_end();
			shared->grandchild = pid;
		}
		say_spun();
	} while (read(fd, &byte, 1) == 1 && (byte == 'f' || (dev_spin(TURNS), true)));
}

static void parent_of_a_pair(void *unused)
{
	pid_t pid;

	close(pair.in[0][1]);
	close(pair.in[1][1]);
	pid = fork();
	if (pid)
		shared->grandchild = pid;
	spin_for_each_byte(pair.in[!pid][0]);
	while (wait(NULL) > 0)
		;
}

/* Until its child exists only the parent is configured, if at all. */
static void pair_begin(void)
{
	ck_assert(!pipe(pair.in[0]) && !pipe(pair.in[1]) && !pipe(spun));
	share();
	pair.parent = dev_child(parent_of_a_pair, NULL);
}

static void pair_fork(void)
{
	dev_go(&pair.parent);
	await_spun();
	await_spun();
	pair.child = shared->grandchild;
	dev_held(pair.parent.pid);
	dev_held(pair.child);
}

static pid_t pair_fork_another(void)
{
	ck_assert_int_eq(write(pair.in[0][1], "f", 1), 1);
	await_spun();
	dev_held(shared->grandchild);
	return shared->grandchild;
}

/* One of them spins; nothing else is in user mode but this program. */
static void pair_spin(pid_t pid)
{
	vpmu_mark();
	ck_assert_int_eq(write(pair.in[pid == pair.child][1], "", 1), 1);
	await_spun();
	dev_held(pid);
}

static void pair_end(void)
{
	close(pair.in[0][1]);
	close(pair.in[1][1]);
	dev_wait(&pair.parent);
	dev_check_registers_clear();
}

static unsigned long long value_of(pid_t pid)
{
	ck_assert_int_eq(CALL("value %d %u", pid, ctr()), 0);
	return value;
}

static void configure(pid_t pid, enum dev_event ev, unsigned long long reset)
{
	ck_assert_int_eq(CALL("configure %d %u %x %llu %d", pid, ctr(),
			      event(ev), reset, USER), 0);
}

static void enable(pid_t pid)
{
	ck_assert_int_eq(CALL("enable %d %u", pid, ctr()), 0);
}

static void disable(pid_t pid)
{
	ck_assert_int_eq(CALL("disable %d %u", pid, ctr()), 0);
}

static void check_running(bool parent, bool child)
{
	ck_assert_int_eq(CALL("isrunning %d %u", pair.parent.pid, ctr()), parent);
	ck_assert_int_eq(CALL("isrunning %d %u", pair.child, ctr()), child);
	ck_assert_int_eq(CALL("isconfigured %d %u", pair.parent.pid, ctr()), 1);
	ck_assert_int_eq(CALL("isconfigured %d %u", pair.child, ctr()), 1);
}

/* It spins, and its value grows by that, or stays. */
static void check_counts(pid_t pid, bool counts)
{
	unsigned long long before = value_of(pid);

	pair_spin(pid);
	ck_assert_uint_eq(value_of(pid) - before,
			  counts ? branches_of_others() : 0);
}

START_TEST(enabling_and_disabling_change_one_process)
{
	pair_begin();
	configure(pair.parent.pid, BRANCH, INITIAL);
	enable(pair.parent.pid);
	pair_fork();
	check_running(true, true);
	/* It began at 0: its way from fork() is all that it has. */
	ck_assert_uint_lt(value_of(pair.child), AROUND);
	check_counts(pair.child, true);
	disable(pair.child);
	check_running(true, false);
	check_counts(pair.parent.pid, true);
	check_counts(pair.child, false);
	disable(pair.parent.pid);
	check_running(false, false);
	enable(pair.child);
	check_running(false, true);
	check_counts(pair.parent.pid, false);
	check_counts(pair.child, true);
	/* What is its state already changes nothing. */
	enable(pair.child);
	disable(pair.parent.pid);
	check_running(false, true);
	check_counts(pair.child, true);
	ck_assert_uint_ge(value_of(pair.parent.pid), INITIAL + TURNS);
	pair_end();
}
END_TEST

START_TEST(a_child_inherits_a_disabled_counter_and_is_enabled_by_itself)
{
	pid_t another;

	pair_begin();
	configure(pair.parent.pid, BRANCH, 0);
	pair_fork();
	check_running(false, false);
	enable(pair.parent.pid);
	check_running(true, false);
	check_counts(pair.parent.pid, true);
	check_counts(pair.child, false);
	ck_assert_uint_eq(value_of(pair.child), 0);
	enable(pair.child);
	check_counts(pair.child, true);
	/* So does one that is made while another counts. */
	disable(pair.parent.pid);
	another = pair_fork_another();
	ck_assert_int_eq(CALL("isrunning %d %u", another, ctr()), 0);
	ck_assert_uint_eq(value_of(another), 0);
	pair_end();
}
END_TEST

START_TEST(configuring_a_child_leaves_its_parent_as_it_is)
{
	unsigned long long before;

	pair_begin();
	configure(pair.parent.pid, BRANCH, 1000);
	enable(pair.parent.pid);
	pair_fork();
	before = value_of(pair.parent.pid);
	ck_assert_int_eq(CALL("configure %d %u %x 0 %d", pair.child, ctr(),
			      event(INSN), USER), -EBUSY);
	disable(pair.child);
	configure(pair.child, INSN, 7);
	check_running(true, false);
	ck_assert_uint_eq(value_of(pair.parent.pid), before);
	ck_assert_uint_eq(value_of(pair.child), 7);
	check_counts(pair.parent.pid, true);
	enable(pair.child);
	pair_spin(pair.child);
	ck_assert_uint_eq(value_of(pair.child),
			  7 + vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_INSN));
	check_counts(pair.parent.pid, true);
	/* Instructions are no branches of the parent's children. */
	ck_assert_int_eq(CALL("accumulate %d 0 0 0 0 %d", pair.parent.pid,
			      pair.child), 0);
	ck_assert_int_eq(CALL("value %d %u 0 0 1", pair.parent.pid, ctr()), 0);
	ck_assert_uint_eq(value, 0);
	disable(pair.child);
	ck_assert_int_eq(CALL("unconfigure %d %u", pair.child, ctr()), 0);
	ck_assert_int_eq(CALL("isconfigured %d %u", pair.child, ctr()), 0);
	ck_assert_int_eq(CALL("isrunning %d %u", pair.parent.pid, ctr()), 1);
	check_counts(pair.parent.pid, true);
	pair_end();
}
END_TEST

START_TEST(configuring_a_process_leaves_the_children_that_it_has_as_they_are)
{
	unsigned long long branches;

	pair_begin();
	pair_fork();
	configure(pair.parent.pid, BRANCH, 0);
	enable(pair.parent.pid);
	ck_assert_int_eq(CALL("isconfigured %d %u", pair.child, ctr()), 0);
	ck_assert_int_eq(CALL("value %d %u", pair.child, ctr()), -ENOENT);
	ck_assert_int_eq(CALL("enable %d %u", pair.child, ctr()), -ENOENT);
	check_counts(pair.parent.pid, true);
	/* Configured alike, but apart: its events are its parent's children's. */
	configure(pair.child, BRANCH, INITIAL);
	enable(pair.child);
	check_counts(pair.child, true);
	branches = value_of(pair.child) - INITIAL;
	ck_assert_int_eq(CALL("accumulate %d 0 0 0 0 %d", pair.parent.pid,
			      pair.child), 0);
	ck_assert_uint_eq(value_of(pair.child), 0);
	ck_assert_int_eq(CALL("value %d %u 0 0 1", pair.parent.pid, ctr()), 0);
	ck_assert_uint_eq(value, branches);
	pair_end();
}
END_TEST

START_TEST(a_child_keeps_its_configuration_when_its_parent_has_exited)
{
	pair_begin();
	configure(pair.parent.pid, BRANCH, INITIAL);
	enable(pair.parent.pid);
	pair_fork();
	kill(pair.parent.pid, SIGKILL);
	ck_assert_int_eq(waitpid(pair.parent.pid, NULL, 0), pair.parent.pid);
	check_counts(pair.child, true);
	disable(pair.child);
	check_counts(pair.child, false);
	/* The last of the configuration: nothing of it is left. */
	ck_assert_int_eq(CALL("unconfigure %d %u", pair.child, ctr()), 0);
	dev_check_registers_clear();
	close(pair.in[1][1]);
}
END_TEST

/* The parent is configured anew, with another event; it has its old one afterwards. */
static void check_refused(int err, const char *request)
{
	ck_assert_int_eq(CALL("configure %d %u %s", pair.parent.pid, ctr(), request),
			 err);
	ck_assert_int_eq(CALL("isconfigured %d %u", pair.parent.pid, ctr()), 1);
}

START_TEST(a_refused_configuration_leaves_the_old_one_as_it_is)
{
	unsigned long long before;

	pair_begin();
	pair_fork();
	configure(pair.parent.pid, BRANCH, INITIAL);
	enable(pair.parent.pid);
	pair_spin(pair.parent.pid);
	check_refused(-EBUSY, "0 0 0");
	disable(pair.parent.pid);
	before = value_of(pair.parent.pid);
	check_refused(-EINVAL, "ffffffff00000000 0 0");
	ck_assert_uint_eq(value_of(pair.parent.pid), before);
	enable(pair.parent.pid);
	check_counts(pair.parent.pid, true);
	pair_end();
}
END_TEST

START_TEST(saving_and_restoring_a_context_loses_nothing)
{
	unsigned long long before;

	ck_assert_int_eq(CALL("configure %d %u %x 0 %d", getpid(), ctr(),
			      event(BRANCH), USER), 0);
	ck_assert_int_eq(CALL("enable %d %u", getpid(), ctr()), 0);
	ck_assert_int_eq(CALL("value %d %u", getpid(), ctr()), 0);
	before = value;
	for (int i = 0; i < 100; i++) {
		dev_spin(10000);
		CALL("context");
	}
	ck_assert_int_eq(CALL("value %d %u", getpid(), ctr()), 0);
	ck_assert_uint_ge(value - before, 1000000);
	ck_assert_int_eq(CALL("disable %d %u", getpid(), ctr()), 0);
	ck_assert_int_eq(CALL("unconfigure %d %u", getpid(), ctr()), 0);
	dev_check_registers_clear();
}
END_TEST

#define BLOCKS	20
#define BLOCK	50000

/* While the process's context is saved, and when it was restored. What a context holds
 * of the kernel would be a block at least. */
START_TEST(counters_of_the_kernel_count_on_while_a_context_is_saved)
{
	unsigned long long before, truth;
	unsigned int kernel = ctr() + 1;

	configure(getpid(), BRANCH, 0);
	enable(getpid());
	ck_assert_int_eq(CALL("alloc 0 %u %x 0 %d", kernel, event(BRANCH), USER),
			 0);
	ck_assert_int_eq(CALL("value 0 %u", kernel), 0);
	before = value;
	vpmu_mark();
	for (int i = 0; i < BLOCKS; i++) {
		CALL("save");
		dev_spin(BLOCK);
		CALL("restore");
		dev_spin(BLOCK);
		CALL("context");
	}
	truth = vpmu_since(VPMU_SINCE_ALL, VPMU_USER_BRANCH);
	ck_assert_int_eq(CALL("value 0 %u", kernel), 0);
	value -= before;
	ck_assert_uint_ge(truth, 2 * BLOCKS * BLOCK);
	ck_assert_uint_ge(value, truth);
	ck_assert_uint_lt(value - truth, BLOCK);
	ck_assert_int_eq(CALL("free 0 %u", kernel), 0);
	/* The process has at least what was not between a save and a restore. */
	ck_assert_uint_ge(value_of(getpid()), BLOCKS * BLOCK);
	disable(getpid());
	ck_assert_int_eq(CALL("unconfigure %d %u", getpid(), ctr()), 0);
	dev_check_registers_clear();
}
END_TEST

START_TEST(a_counter_of_the_kernel_counts_all_cpus_until_it_is_freed)
{
	struct child c = dev_loop(1000000);
	unsigned long long before;
	int fd = dev_open();
	struct hwpmc_op_pmcallocate op;

	ck_assert_int_eq(CALL("alloc 0 %u %x 0 %d", ctr(), event(BRANCH), USER),
			 0);
	ck_assert_int_eq(CALL("alloc 0 %u %x 0 %d", ctr(), event(BRANCH), USER),
			 -EBUSY);
	ck_assert_int_eq(CALL("isrunning 0 %u", ctr()), 1);
	ck_assert_int_eq(CALL("isconfigured %d %u", c.pid, ctr()), 1);
	ck_assert_int_eq(CALL("enabled 0"), 1);
	ck_assert_int_eq(CALL("value 0 %u", ctr()), 0);
	before = value;
	dev_go(&c);
	dev_wait(&c);
	ck_assert_int_eq(CALL("value 0 %u", ctr()), 0);
	ck_assert_uint_ge(value - before, loop_branches(1000000));
	/* It is no process's meanwhile. */
	ck_assert_int_eq(CALL("configure %d %u %x 0 %d", getpid(), ctr(),
			      event(BRANCH), USER), -EINVAL);
	dev_request(&op, TC, 0, ANY, BRANCH, U);
	ck_assert_int_eq(dev_allocate(fd, &op), 0);
	ck_assert_uint_ne(HWPMC_ID_ROW(op.pmcid), ctr());
	close(fd);
	ck_assert_int_eq(CALL("stop 0 %u", ctr()), -ENOENT);
	ck_assert_int_eq(CALL("free 0 %u", ctr()), 0);
	ck_assert_int_eq(CALL("free 0 %u", ctr()), -ENOENT);
	ck_assert_int_eq(CALL("value 0 %u", ctr()), -ENOENT);
	/* And it begins at what it is told. */
	ck_assert_int_eq(CALL("alloc 0 %u %x %llu %d", ctr(), event(BRANCH), 1ULL << 40,
			      USER), 0);
	ck_assert_int_eq(CALL("value 0 %u", ctr()), 0);
	ck_assert_uint_ge(value, 1ULL << 40);
	ck_assert_int_eq(CALL("free 0 %u", ctr()), 0);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

START_TEST(profiling_by_a_counter_fills_the_histogram_of_the_kernel)
{
	struct hwpmc_kgmon_entry *all;
	struct hwpmc_op_kgmon op;
	uint64_t overflows, sum = 0;
	int fd = dev_open();

	dev_kgmon(fd, HWPMC_KGMON_RESET);
	overflows = vpmu_access(VPMU_N_OVERFLOW_INT, VPMU_ALL_VCPUS);
	ck_assert_int_eq(CALL("profile 0 %u %x 10000 0", ctr(), event(INSN)), 0);
	op = dev_kgmon(fd, HWPMC_KGMON_READ);
	ck_assert_uint_eq(op.on, 1);
	ck_assert_uint_eq(op.users, dev_cpus());
	/* It is no counter that counts, and one of two leaves the other. */
	ck_assert_int_eq(CALL("free 0 %u", ctr()), -ENOENT);
	ck_assert_int_eq(CALL("profile 0 %u %x 1000000000 0", ctr() + 1, event(INSN)), 0);
	ck_assert_int_eq(CALL("stop 0 %u", ctr() + 1), 0);
	op = dev_kgmon(fd, HWPMC_KGMON_READ);
	ck_assert_uint_eq(op.on, 1);
	for (int i = 0; i < 3000; i++)
		if (access("/proc/self/status", R_OK))
			ck_abort();
	ck_assert_int_eq(CALL("stop 0 %u", ctr()), 0);
	overflows = vpmu_access(VPMU_N_OVERFLOW_INT, VPMU_ALL_VCPUS) - overflows;
	op = dev_kgmon(fd, HWPMC_KGMON_READ);
	ck_assert_uint_eq(op.on, 0);
	ck_assert_uint_eq(op.users, 0);
	ck_assert_uint_gt(op.kernel, 100);
	/* What overflowed while its counter was taken away hit nobody knows
	 * what. */
	ck_assert_uint_le(op.lost, dev_cpus());
	ck_assert_uint_eq(op.kernel + op.user + op.lost, overflows);
	all = calloc(op.nentry, sizeof(*all));
	op.command = HWPMC_KGMON_READ;
	op.entries = (uintptr_t)all;
	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_KGMON, &op), 0);
	for (uint32_t i = 0; i < op.nentry; i++) {
		ck_assert_uint_ge(all[i].address, 0xffff800000000000ull);
		sum += all[i].count;
	}
	ck_assert_uint_eq(sum, op.kernel);
	free(all);
	dev_kgmon(fd, HWPMC_KGMON_RESET);
	op = dev_kgmon(fd, HWPMC_KGMON_READ);
	ck_assert_uint_eq(op.nentry, 0);
	ck_assert_uint_eq(op.kernel, 0);
	close(fd);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

START_TEST(wrong_arguments_of_the_kernel_interface_are_refused)
{
	int pid = getpid();

	ck_assert_int_eq(CALL("configure %d 4711 0 0 0", pid), -EINVAL);
	ck_assert_int_eq(CALL("configure %d -1 0 0 0", pid), -EINVAL);
	ck_assert_int_eq(CALL("configure 0 %u %x 0 0", ctr(), event(INSN)),
			 -EINVAL);
	ck_assert_int_eq(CALL("configure %d %u ffffffff00000000 0 0", pid,
			      ctr()), -EINVAL);
	ck_assert_int_eq(CALL("value %d %u 0 0 2", pid, ctr()), -EINVAL);
	ck_assert_int_eq(CALL("value %d 4711", pid), -EINVAL);
	ck_assert_int_eq(CALL("enable %d 4711", pid), -EINVAL);
	ck_assert_int_eq(CALL("disable %d %u", pid, ctr()), -ENOENT);
	/* 0 and not an errno: an errno is true. */
	ck_assert_int_eq(CALL("isrunning %d 4711", pid), 0);
	ck_assert_int_eq(CALL("isrunning %d -1", pid), 0);
	ck_assert_int_eq(CALL("isconfigured %d 4711", pid), 0);
	ck_assert_int_eq(CALL("isconfigured %d -1", pid), 0);
	ck_assert_int_eq(CALL("alloc 0 4711 0 0 0"), -EINVAL);
	ck_assert_int_eq(CALL("free 0 4711"), -EINVAL);
	ck_assert_int_eq(CALL("profile 0 4711 0 0 0"), -EINVAL);
	ck_assert_int_eq(CALL("stop 0 4711"), -EINVAL);
	dev_still_counts();
}
END_TEST

static void load_client(void)
{
	if (!access(CLIENT, F_OK))
		return;
	if (system("mount -t debugfs none /sys/kernel/debug 2>/dev/null; "
		   "insmod build/vm/kmods/$(uname -r)/clientmod.ko")) {
		printf("Bail out! cannot load the client module\n");
		exit(1);
	}
}

int main(void)
{
	dev_setup();
	load_client();
	harness_add(counters_of_the_kernel_interface_have_numbers_and_types);
	harness_add(a_module_counts_a_process_exactly);
	harness_add(values_of_a_process_stay_while_it_lives_and_stop_when_disabled);
	harness_add_timed(a_value_that_is_read_often_misses_nothing_of_a_process_that_runs, 30);
	harness_add_timed(a_process_that_runs_on_another_cpu_stops_at_once_when_disabled, 30);
	harness_add(a_child_begins_at_0_inherits_and_leaves_its_value_to_its_parent);
	harness_add(values_of_a_child_can_be_moved_to_its_parent_while_it_lives);
	harness_add(enabling_and_disabling_change_one_process);
	harness_add(a_child_inherits_a_disabled_counter_and_is_enabled_by_itself);
	harness_add(configuring_a_child_leaves_its_parent_as_it_is);
	harness_add(configuring_a_process_leaves_the_children_that_it_has_as_they_are);
	harness_add(a_child_keeps_its_configuration_when_its_parent_has_exited);
	harness_add(a_refused_configuration_leaves_the_old_one_as_it_is);
	harness_add(saving_and_restoring_a_context_loses_nothing);
	harness_add(counters_of_the_kernel_count_on_while_a_context_is_saved);
	harness_add(a_counter_of_the_kernel_counts_all_cpus_until_it_is_freed);
	harness_add(profiling_by_a_counter_fills_the_histogram_of_the_kernel);
	harness_add(wrong_arguments_of_the_kernel_interface_are_refused);
	return harness_run();
}
