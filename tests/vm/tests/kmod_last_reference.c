/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_last_reference.c - a log that one thread ends while another closes it: the closing
 * thread queues the wake-up of the reader last, and then drops the last reference. On a
 * real-time kernel a thread of low priority executes the wake-up, after both. The kernel has
 * slub_debug=P, and complains of what reads freed memory. CPU 2 goes off and on, which
 * delays the closing thread and not the ending one.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "harness.h"
#include "kmod_dev.h"
#include "../lib/kmod_hold.h"

#define ROUNDS	150

static int fd;
static atomic_uint begun, in_close, ended;
static atomic_bool over;

static void fifo(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	ck_assert(!sched_setscheduler(0, SCHED_FIFO, &param));
}

static int configure(int device, int logfd, uint32_t flags)
{
	struct hwpmc_op_configurelog op = {
		.logfd = logfd, .flags = flags,
		.ring_size = flags ? 16384 : 0, .wakeup = flags ? 1 : 0,
	};

	return ioctl(device, HWPMC_IOC_CONFIGURELOG, &op) ? errno : 0;
}

static void await_round(unsigned int seen)
{
	while (begun == seen && !over)
		usleep(100);
}

static void *close_log(void *unused)
{
	struct hwpmc_op_simple op = { { 0 } };
	unsigned int seen = 0;

	dev_pin(0, 1);
	fifo(50);
	for (;;) {
		await_round(seen);
		if (over)
			return NULL;
		in_close = ++seen;
		ioctl(fd, HWPMC_IOC_CLOSELOG, &op);
		ended++;
	}
}

static void *end_log(void *unused)
{
	unsigned int seen = 0;

	dev_pin(0, 0);
	fifo(40);
	for (;;) {
		await_round(seen);
		if (over)
			return NULL;
		while (in_close == seen)
			usleep(100);
		seen++;
		usleep(500);
		configure(fd, -1, 0);
		ended++;
	}
}

static void *switch_cpu(void *unused)
{
	dev_pin(0, 0);
	while (!over) {
		dev_put("/sys/devices/system/cpu/cpu2/online", "0");
		dev_put("/sys/devices/system/cpu/cpu2/online", "1");
	}
	return NULL;
}

START_TEST(log_ended_amid_its_close_leaves_no_wakeup_behind)
{
	pthread_t thread[3];
	void *(*fn[])(void *) = { close_log, end_log, switch_cpu };

	for (int i = 0; i < 3; i++)
		ck_assert(!pthread_create(&thread[i], NULL, fn[i], NULL));
	dev_pin(0, 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct hwpmc_op_writelog op = { .userdata = 1 };

		fd = dev_open();
		ck_assert_int_eq(configure(fd, -1, HWPMC_LOG_F_MAPPED), 0);
		ck_assert(!ioctl(fd, HWPMC_IOC_WRITELOG, &op));
		ended = 0;
		begun++;
		while (ended < 2)
			usleep(200);
		close(fd);
	}
	over = true;
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	dev_still_counts();
}
END_TEST

/* ---- two threads of a user without rights ----------------------------------------- */

static pthread_barrier_t both;
static int devices[ROUNDS];

static void *close_each(void *unused)
{
	struct hwpmc_op_simple op = { { 0 } };

	dev_pin(0, 1);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_barrier_wait(&both);
		ioctl(devices[i], HWPMC_IOC_CLOSELOG, &op);
		pthread_barrier_wait(&both);
	}
	return NULL;
}

static void end_each(void *unused)
{
	pthread_t thread;

	ck_assert(!pthread_barrier_init(&both, NULL, 2));
	ck_assert(!pthread_create(&thread, NULL, close_each, NULL));
	dev_pin(0, 0);
	for (int i = 0; i < ROUNDS; i++) {
		struct hwpmc_op_writelog op = { .userdata = 1 };

		devices[i] = dev_open();
		ck_assert_int_eq(configure(devices[i], -1, HWPMC_LOG_F_MAPPED), 0);
		ck_assert(!ioctl(devices[i], HWPMC_IOC_WRITELOG, &op));
		pthread_barrier_wait(&both);
		usleep(i % 10 * 100);
		/* The other may have ended it; there is none afterwards. */
		configure(devices[i], -1, 0);
		pthread_barrier_wait(&both);
		ck_assert_int_ne(configure(devices[i], -1, 0), 0);
		close(devices[i]);
	}
	pthread_join(thread, NULL);
}

START_TEST(log_closed_and_ended_at_the_same_time_ends_once)
{
	dev_as(NOBODY, end_each, NULL);
	dev_still_counts();
}
END_TEST

/* ---- the drain thread ends while its log does ---------------------------------------- */

static int configured, end_now;		/* write ends and read ends of pipes, for the owner */

/* The log has more than its pipe holds, so its drain thread goes on until the pipe is read. */
static void end_closed_log(void *arg)
{
	struct hwpmc_op_simple none = { { 0 } };
	int *log = arg, device = dev_open();
	char c = 0;

	close(log[0]);
	ck_assert_int_eq(fcntl(log[1], F_SETPIPE_SZ, 4096), 4096);
	ck_assert_int_eq(configure(device, log[1], 0), 0);
	close(log[1]);
	for (int i = 0; i < 1000; i++) {
		struct hwpmc_op_writelog op = { .userdata = i };

		ck_assert(!ioctl(device, HWPMC_IOC_WRITELOG, &op));
	}
	ck_assert(!ioctl(device, HWPMC_IOC_CLOSELOG, &none));
	ck_assert(write(configured, &c, 1) == 1 && read(end_now, &c, 1) == 1);
	ck_assert_int_eq(configure(device, -1, 0), 0);
}

/* Reads /proc alone, without a program: interrupts of disks have threads on a real-time kernel,
 * which cannot run on the CPU that the owner keeps. */
static bool has_drain_thread(pid_t owner)
{
	char want[32], comm[32], path[300];
	DIR *proc = opendir("/proc");
	bool found = false;
	struct dirent *e;
	FILE *f;

	snprintf(want, sizeof(want), "hwpmc/%d\n", owner);
	while (!found && (e = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		found = fgets(comm, sizeof(comm), f) && !strcmp(comm, want);
		fclose(f);
	}
	closedir(proc);
	return found;
}

static void read_to_end(int from)
{
	char buffer[4096];

	while (read(from, buffer, sizeof(buffer)) > 0)
		;
}

/*
 * The owner queues the item that ends the log, and is held there. The drain thread queues the
 * item too, and it runs: it must not free the log before the owner has queued it. It has seen
 * the thread exit when the thread is gone.
 */
START_TEST(log_is_not_freed_while_its_owner_queues_its_end)
{
	int log[2], ready[2], go[2];
	struct child owner;
	char c = 0;

	ck_assert(!pipe(log) && !pipe(ready) && !pipe(go));
	configured = ready[1];
	end_now = go[0];
	dev_pin(0, 0);
	owner = dev_child(end_closed_log, log);
	dev_pin(owner.pid, 1);
	close(log[1]);
	dev_go(&owner);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	hold_at("queue_delayed_work_on");
	hold_arm(owner.pid);
	ck_assert_int_eq(write(go[1], &c, 1), 1);
	hold_wait();
	ck_assert(has_drain_thread(owner.pid));
	read_to_end(log[0]);
	while (has_drain_thread(owner.pid))
		dev_msleep(10);
	dev_msleep(200);
	hold_end();
	dev_wait(&owner);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add_timed(log_ended_amid_its_close_leaves_no_wakeup_behind, 60);
	harness_add_timed(log_closed_and_ended_at_the_same_time_ends_once, 60);
	harness_add(log_is_not_freed_while_its_owner_queues_its_end);
	return harness_run();
}
