// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_targets.c - which threads and processes a PMC counts: threads that exist when
 * their process is attached, children of a process that waits for its exec, children
 * where only some PMCs have DESCENDANTS, and nothing after a detach. The truth is the
 * program's own length, or the emulated PMU's totals since a mark.
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
	harness_add(a_child_of_a_process_that_waits_for_its_exec_waits_for_its_own);
	harness_add(a_child_inherits_those_pmcs_alone_that_have_descendants);
	harness_add(what_a_process_does_after_its_detach_is_not_counted);
	return harness_run();
}
