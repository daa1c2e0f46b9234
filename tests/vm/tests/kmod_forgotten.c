/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_forgotten.c - counters that another module has configured for processes and
 * forgets: it is unloaded, and the driver after it, while those processes exit, and
 * the calls of several modules meet at one process.
 *
 * STORM_CYCLES=n: so many lives of both modules (25). STORM_CALLS=n: so many calls of
 * each of those that call at once (3000).
 */
#define _GNU_SOURCE
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "../lib/kmod_storms.h"

#define CLIENT	"/sys/kernel/debug/hwpmc_client"
#define CHILDREN	12
#define CALLERS		4

static char driver[128], client[128];

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_msg(!syscall(SYS_finit_module, fd, "", 0), "%s: %s", path,
		      strerror(errno));
	close(fd);
}

static void unload(const char *name)
{
	ck_assert_msg(!syscall(SYS_delete_module, name, O_NONBLOCK), "%s: %s",
		      name, strerror(errno));
}

/* What it answers is not looked at: several ask at once. */
static void call(const char *what, pid_t pid, unsigned int ctr, uint64_t event)
{
	int fd = open(CLIENT, O_WRONLY | O_CLOEXEC);
	char line[128];
	int n = snprintf(line, sizeof(line), "%s %d %u %lx 0 1", what, pid, ctr,
			 event);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, line, n), n);
	close(fd);
}

static uint64_t event_code(void)
{
	struct hwpmc_op_pmcallocate op;

	dev_request(&op, TC, 0, ANY, INSN, U);
	return op.config;
}

static void live_a_little(void *arg)
{
	uint64_t n = *(uint64_t *)arg;

	if (n % 3 == 0 && !fork())
		_exit(0);
	dev_spin(n);
}

static void forget(void)
{
	unsigned int ctr = dev_first_row() + 1;
	uint64_t event = event_code(), spins[CHILDREN];
	struct child c[CHILDREN];

	for (int i = 0; i < CHILDREN; i++) {
		spins[i] = 1 + pick(400000);
		c[i] = dev_child(live_a_little, &spins[i]);
		call("configure", c[i].pid, ctr + i % 2, event);
		call("enable", c[i].pid, ctr + i % 2, event);
	}
	for (int i = 0; i < CHILDREN; i++)
		dev_go(&c[i]);
	dev_spin(pick(400000));
	unload("clientmod");
	unload("hwpmc");
	ck_assert_int_eq(dev_busy_register(), 0);
	for (int i = 0; i < CHILDREN; i++)
		dev_wait(&c[i]);
}

START_TEST(modules_unload_while_processes_exit_whose_counters_they_forgot)
{
	uint64_t cycles = env_number("STORM_CYCLES", 25);

	seed();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	unload("hwpmc");
	for (uint64_t i = 0; i < cycles; i++) {
		load(driver);
		load(client);
		forget();
	}
	fprintf(stderr, "%lu lives of the modules\n", cycles);
	load(driver);
	dev_still_counts();
}
END_TEST

static void keep_calling(void *arg)
{
	unsigned int ctr = dev_first_row() + 1;
	uint64_t event = event_code();
	uint64_t calls = env_number("STORM_CALLS", 3000);
	pid_t pid = *(pid_t *)arg;

	for (uint64_t i = 0; i < calls; i++)
		call(i & 1 ? "configure" : "unconfigure", pid, ctr, event);
}

static void stay(void *arg)
{
	pause();
}

START_TEST(several_modules_configure_one_counter_of_one_process_at_once)
{
	struct child target = dev_child(stay, NULL), c[CALLERS];

	load(client);
	for (int i = 0; i < CALLERS; i++)
		c[i] = dev_child(keep_calling, &target.pid);
	for (int i = 0; i < CALLERS; i++)
		dev_go(&c[i]);
	for (int i = 0; i < CALLERS; i++)
		dev_wait(&c[i]);
	call("unconfigure", target.pid, dev_first_row() + 1, 0);
	kill(target.pid, SIGKILL);
	waitpid(target.pid, NULL, 0);
	unload("clientmod");
	dev_still_counts();
}
END_TEST

int main(void)
{
	struct utsname uts;

	uname(&uts);
	snprintf(client, sizeof(client), "build/vm/kmods/%s/clientmod.ko",
		 uts.release);
	snprintf(driver, sizeof(driver), "build/kmod/%s/hwpmc.ko", uts.release);
	dev_setup();
	harness_add_timed(several_modules_configure_one_counter_of_one_process_at_once, 60);
	harness_add_timed(modules_unload_while_processes_exit_whose_counters_they_forgot, 200);
	return harness_run();
}
