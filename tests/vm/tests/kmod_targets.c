// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_targets.c - which threads and processes a PMC counts: threads that exist when
 * their process is attached, trees of processes that do, children of a process that
 * waits for its exec, children where only some PMCs have DESCENDANTS, threads of the
 * kernel, and nothing after a detach. The truth is the program's own length, or the
 * emulated PMU's totals since a mark.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <sys/mman.h>

#include "kmod_dev.h"

#define EARLIER	4
#define LOOPS	20000

static int gate[2];

static void *spin_thread(void *arg)
{
	dev_spin(LOOPS + (uintptr_t)arg * 100);
	return NULL;
}

/* Waits at the gate, works, and makes a thread that works too. */
static void *wait_and_spin(void *arg)
{
	pthread_t t;
	char c;

	if (read(gate[0], &c, 1) != 1)
		_exit(1);
	spin_thread(arg);
	pthread_create(&t, NULL, spin_thread, arg);
	pthread_join(t, NULL);
	return NULL;
}

static void threads_at_the_gate(void *unused)
{
	pthread_t t[EARLIER];

	for (uintptr_t i = 0; i < EARLIER; i++)
		pthread_create(&t[i], NULL, wait_and_spin, (void *)i);
	for (int i = 0; i < EARLIER; i++)
		pthread_join(t[i], NULL);
}

/* How many threads of the process sleep; all of them must, for 0 is returned else. */
static unsigned int sleeping_threads(pid_t pid)
{
	char path[64], state;
	unsigned int n = 0;
	struct dirent *e;
	DIR *dir;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while ((e = readdir(dir))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid,
			 atoi(e->d_name));
		f = fopen(path, "r");
		ck_assert_ptr_nonnull(f);
		ck_assert_int_eq(fscanf(f, "%*d (%*[^)]) %c", &state), 1);
		fclose(f);
		if (state != 'S') {
			n = 0;
			break;
		}
		n++;
	}
	closedir(dir);
	return n;
}

START_TEST(threads_that_exist_when_their_process_is_attached_are_counted)
{
	int fd = dev_open();
	uint32_t insn = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint32_t branch = dev_alloc(fd, TC, 0, ANY, BRANCH, U);
	struct child child;
	uint64_t truth;

	ck_assert_int_eq(pipe(gate), 0);
	child = dev_child(threads_at_the_gate, NULL);
	dev_go(&child);
	while (sleeping_threads(child.pid) != 1 + EARLIER)
		dev_msleep(1);
	dev_ok(dev_attach(fd, insn, child.pid));
	dev_ok(dev_attach(fd, branch, child.pid));
	dev_ok(dev_start(fd, insn));
	dev_ok(dev_start(fd, branch));
	vpmu_mark();
	ck_assert_int_eq(write(gate[1], "gate", EARLIER), EARLIER);
	dev_wait(&child);
	truth = vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_INSN);
	ck_assert_uint_gt(truth, 2 * EARLIER * 3 * LOOPS);
	ck_assert_uint_eq(dev_read(fd, insn), truth);
	ck_assert_uint_eq(dev_read(fd, branch),
			  vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_BRANCH));
	close(fd);
	dev_still_counts();
}
END_TEST

#define NODES	7

static volatile pid_t *nodes;

/* Node i with the nodes below it, 2 * i + 1 and 2 * i + 2. */
static void tree_node(void *arg)
{
	uintptr_t i = (uintptr_t)arg;
	char c;

	for (uintptr_t k = 2 * i + 1; k <= 2 * i + 2 && k < NODES; k++) {
		if (fork())
			continue;
		tree_node((void *)k);
		_exit(0);
	}
	nodes[i] = getpid();
	if (read(gate[0], &c, 1) != 1)
		_exit(1);
	dev_spin(10 * LOOPS * (i + 1));
	while (wait(NULL) > 0)
		;
}

/* The tree, each process of it at the gate. */
static struct child tree_begin(void)
{
	struct child root;

	nodes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	ck_assert(nodes != MAP_FAILED && !pipe(gate));
	root = dev_child(tree_node, NULL);
	dev_go(&root);
	for (int i = 0; i < NODES; i++) {
		while (!nodes[i])
			dev_msleep(1);
		dev_held(nodes[i]);
	}
	return root;
}

static uint32_t start_on(int fd, uint32_t flags, enum dev_event ev, pid_t pid)
{
	uint32_t id = dev_alloc(fd, TC, flags, ANY, ev, U);

	dev_ok(dev_attach(fd, id, pid));
	dev_ok(dev_start(fd, id));
	return id;
}

START_TEST(a_tree_that_exists_is_counted_exactly_from_the_process_attached_down)
{
	const uint64_t turn = 3 * 10 * LOOPS;
	uint32_t insn, branch, below, alone;
	struct child root = tree_begin();
	int fd = dev_open();
	uint64_t truth;

	insn = start_on(fd, HWPMC_F_DESCENDANTS, INSN, root.pid);
	branch = start_on(fd, HWPMC_F_DESCENDANTS, BRANCH, root.pid);
	below = start_on(fd, HWPMC_F_DESCENDANTS, INSN, nodes[1]);
	alone = start_on(fd, 0, INSN, nodes[1]);
	vpmu_mark();
	ck_assert_int_eq(write(gate[1], "the tree", NODES), NODES);
	dev_wait(&root);
	truth = vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_INSN);
	ck_assert_uint_gt(truth, (1 + 2 + 3 + 4 + 5 + 6 + 7) * turn);
	ck_assert_uint_eq(dev_read(fd, insn), truth);
	ck_assert_uint_eq(dev_read(fd, branch),
			  vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_BRANCH));
	/* Nodes 1, 3 and 4, and node 1: the least of the others has a turn more. */
	ck_assert_uint_gt(dev_read(fd, below), (2 + 4 + 5) * turn);
	ck_assert_uint_lt(dev_read(fd, below), (2 + 4 + 5 + 1) * turn);
	ck_assert_uint_gt(dev_read(fd, alone), 2 * turn);
	ck_assert_uint_lt(dev_read(fd, alone), (2 + 1) * turn);
	close(fd);
	dev_still_counts();
}
END_TEST

/* ---- threads of the kernel, and process 1 -------------------------------- */

static uint64_t switches(pid_t pid)
{
	unsigned long n = 0, one;
	char path[32], line[128];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "voluntary_ctxt_switches: %lu", &one) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %lu", &one) == 1)
			n += one;
	fclose(f);
	return n;
}

static pid_t thread_named(const char *name)
{
	char cmd[64];
	int pid = 0;
	FILE *f;

	snprintf(cmd, sizeof(cmd), "pgrep -x '%s'", name);
	f = popen(cmd, "r");
	ck_assert_int_eq(fscanf(f, "%d", &pid), 1);
	pclose(f);
	return pid;
}

/* The daemon that writes a log is a new thread of the kernel. */
static void have_a_thread_made(void)
{
	struct hwpmc_op_configurelog op = { .logfd = memfd_create("log", 0) };
	int fd = dev_open();

	ck_assert_int_eq(ioctl(fd, HWPMC_IOC_CONFIGURELOG, &op), 0);
	close(op.logfd);
	close(fd);
}

/* On the CPU of the caller, from a system call: that is left to its thread. */
static void have_a_softirq_handled(void)
{
	dev_put("/sys/kernel/debug/hwpmc_client", "softirq");
}

static void have_an_orphan_reaped(void)
{
	pid_t pid = fork();

	if (!pid) {
		if (!fork())
			dev_msleep(10);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

/* Start the PMC while the thread does not run. Returns its switches until then; *base is
 * the PMC's count. */
static uint64_t start_between_switches(int fd, uint32_t id, pid_t pid, uint64_t *base)
{
	uint64_t before;

	for (;;) {
		before = switches(pid);
		*base = dev_read(fd, id);
		dev_ok(dev_start(fd, id));
		if (switches(pid) == before && dev_state(pid) != 'R')
			return before;
		dev_ok(dev_stop(fd, id));
		sched_yield();
	}
}

/*
 * Of what the thread does from here on all switches are counted, and instructions: some,
 * and not more than there were.
 */
static void check_thread(pid_t pid, void (*kick)(void))
{
	struct hwpmc_op_pmcallocate op = {
		.mode = TC, .class = HWPMC_CLASS_SOFT, .cpu = ANY,
		.ev = HWPMC_EV_SOFT_CONTEXT_SWITCH,
	};
	int fd = dev_open();
	uint32_t insn = dev_alloc(fd, TC, 0, ANY, INSN, U | K);
	uint64_t before, base, n, count;

	dev_ok(dev_allocate(fd, &op));
	dev_ok(dev_attach(fd, insn, pid));
	dev_ok(dev_attach(fd, op.pmcid, pid));
	vpmu_mark();
	dev_ok(dev_start(fd, insn));
	before = start_between_switches(fd, op.pmcid, pid, &base);
	kick();
	/* It counts a switch when it has left its CPU, the kernel before that. */
	do {
		sched_yield();
		n = switches(pid) - before;
		count = dev_read(fd, op.pmcid) - base;
	} while (!n || count < n || n != switches(pid) - before);
	ck_assert_uint_eq(count, n);
	count = dev_read(fd, insn);
	ck_assert_uint_gt(count, 0);
	ck_assert_uint_le(count, vpmu_since(VPMU_SINCE_ALL, VPMU_KERNEL_INSN) +
			  vpmu_since(VPMU_SINCE_ALL, VPMU_USER_INSN));
	dev_ok(dev_detach(fd, insn, pid));
	ck_assert_int_eq(dev_detach(fd, insn, pid), EINVAL);
	close(fd);
}

START_TEST(threads_of_the_kernel_and_process_1_are_attached_and_counted)
{
	ck_assert_int_eq(system("insmod build/vm/kmods/$(uname -r)/clientmod.ko"), 0);
	dev_pin(0, 0);
	check_thread(thread_named("kthreadd"), have_a_thread_made);
	check_thread(thread_named("ksoftirqd/0"), have_a_softirq_handled);
	check_thread(1, have_an_orphan_reaped);
	ck_assert_int_eq(system("rmmod clientmod"), 0);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

static void exec_loop(const char *n)
{
	execl("build/vm/progs/loop", "loop", n, (char *)NULL);
	_exit(127);
}

/* The child works, and executes a program before its parent does. */
static void fork_then_exec(void *unused)
{
	pid_t pid = fork();

	if (!pid) {
		dev_spin(LOOPS);
		exec_loop("30000");
	}
	waitpid(pid, NULL, 0);
	exec_loop("50000");
}

START_TEST(a_child_of_a_process_that_waits_for_its_exec_waits_for_its_own)
{
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, HWPMC_F_EXEC_START | HWPMC_F_DESCENDANTS,
				ANY, INSN, U);
	struct child child = dev_child(fork_then_exec, NULL);

	dev_ok(dev_attach(fd, id, child.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&child);
	dev_wait(&child);
	ck_assert_uint_eq(dev_read(fd, id), loop_insn(30000) + loop_insn(50000));
	close(fd);
	dev_still_counts();
}
END_TEST

static void fork_and_spin(void *unused)
{
	pid_t pid = fork();

	if (!pid) {
		dev_spin(100 * LOOPS);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
}

START_TEST(a_child_inherits_those_pmcs_alone_that_have_descendants)
{
	int fd = dev_open();
	uint32_t tree = dev_alloc(fd, TC, HWPMC_F_DESCENDANTS, ANY, INSN, U);
	uint32_t alone = dev_alloc(fd, TC, 0, ANY, INSN, U);
	struct child child = dev_child(fork_and_spin, NULL);

	dev_ok(dev_attach(fd, tree, child.pid));
	dev_ok(dev_attach(fd, alone, child.pid));
	dev_ok(dev_start(fd, tree));
	dev_ok(dev_start(fd, alone));
	vpmu_mark();
	dev_go(&child);
	dev_wait(&child);
	ck_assert_uint_eq(dev_read(fd, tree),
			  vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_INSN));
	ck_assert_uint_gt(dev_read(fd, alone), 0);
	ck_assert_uint_le(dev_read(fd, alone),
			  dev_read(fd, tree) - 3 * 100 * LOOPS);
	close(fd);
	dev_still_counts();
}
END_TEST

static void publish_and_spin(void *arg)
{
	*(volatile uint64_t *)arg = vpmu_key();
	for (;;)
		dev_spin(1000000);
}

static void wait_for_progress(uint64_t key, uint64_t instructions)
{
	uint64_t begin = vpmu_space(key, VPMU_USER_INSN);

	while (vpmu_space(key, VPMU_USER_INSN) - begin < instructions)
		dev_msleep(1);
}

/* The PMC goes on counting another process, so nothing but the detach ends the first.
 * More than once: a switch just after the detach would end it, too. */
START_TEST(what_a_process_does_after_its_detach_is_not_counted)
{
	volatile uint64_t *key = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct child child = dev_child(publish_and_spin, (void *)key);
	struct child other = dev_loop(1000);
	int fd = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	uint64_t count = 0;

	dev_pin(child.pid, dev_cpus() - 1);
	dev_pin(0, 0);
	dev_go(&child);
	while (!*key)
		dev_msleep(1);
	dev_ok(dev_attach(fd, id, other.pid));
	for (int i = 0; i < 10; i++) {
		dev_ok(dev_attach(fd, id, child.pid));
		dev_ok(dev_start(fd, id));
		wait_for_progress(*key, 100000);
		dev_ok(dev_detach(fd, id, child.pid));
		ck_assert_uint_gt(dev_read(fd, id), count);
		count = dev_read(fd, id);
		wait_for_progress(*key, 100000);
		ck_assert_uint_eq(dev_read(fd, id), count);
		dev_ok(dev_stop(fd, id));
	}
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	ck_assert_uint_eq(dev_read(fd, id), count);
	dev_go(&other);
	dev_wait(&other);
	close(fd);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(threads_that_exist_when_their_process_is_attached_are_counted);
	harness_add(a_tree_that_exists_is_counted_exactly_from_the_process_attached_down);
	harness_add(threads_of_the_kernel_and_process_1_are_attached_and_counted);
	harness_add(a_child_of_a_process_that_waits_for_its_exec_waits_for_its_own);
	harness_add(a_child_inherits_those_pmcs_alone_that_have_descendants);
	harness_add(what_a_process_does_after_its_detach_is_not_counted);
	return harness_run();
}
