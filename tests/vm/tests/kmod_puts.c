// SPDX-License-Identifier: BSD-2-Clause
/*
 * kmod_puts.c - last references to files and mappings that the module puts. The kernel releases
 * files that kernel threads put in one work item of the whole machine, which others wait for;
 * and a program can make the release of its mappings last as long as it likes.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <libhwpmcstat.h>

#include "harness.h"
#include "kmod_dev.h"
#include "../lib/kmod_hold.h"
#include "../lib/kmod_linger.h"
#include "../lib/kmod_unanswered.h"

#define TRACING	"/sys/kernel/tracing/"
#define BEGUN	TRACING "events/workqueue/workqueue_execute_start/enable"

/* How often the work item has run since the trace was cleared. */
static unsigned int runs_of(const char *function)
{
	FILE *f = fopen(TRACING "trace", "r");
	unsigned int n = 0;
	char line[512];

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		n += strstr(line, function) != NULL;
	fclose(f);
	return n;
}

static void watch_works(void)
{
	dev_put(TRACING "trace", "");
	dev_put(BEGUN, "1");
}

static void unwatch_works(void)
{
	dev_put(BEGUN, "0");
}

/* KiB of shared memory on the machine. */
static long shared_memory(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	char line[128];
	long kib = -1;

	ck_assert_ptr_nonnull(f);
	while (kib < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "Shmem: %ld", &kib);
	fclose(f);
	return kib;
}

#define LARGE	(256 << 20)

/* ---- files that a look holds ------------------------------------------------- */

#define FILES	20

/* It has no first page that could be read. */
static void map_and_unmap(void)
{
	char path[] = "/tmp/puts.XXXXXX";
	int fd = mkstemp(path);
	void *at;

	ck_assert(!unlink(path) && !ftruncate(fd, 4096));
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	close(fd);
	munmap(at, 4096);
}

/* Processes, by unwind tables; it remains to start it. */
static uint32_t measure(struct hwpmc *h, struct hwpmc_rings **rings, const pid_t *pid,
			unsigned int n)
{
	const uint32_t flags = HWPMC_F_CALLCHAIN | HWPMC_F_TABLES;
	struct hwpmc_event event;
	uint32_t id;

	ck_assert(!hwpmc_rings_open(h, 0, 0, rings));
	ck_assert(!hwpmc_event_parse(h, "instructions:u", &event));
	ck_assert(!hwpmc_allocate_event(h, &event, HWPMC_MODE_TS, flags, HWPMC_CPU_ANY, 1000000,
					&id));
	for (unsigned int i = 0; i < n; i++)
		ck_assert(!hwpmc_attach(h, id, pid[i]));
	return id;
}

START_TEST(file_unmapped_before_its_look_needs_no_shared_work)
{
	struct hwpmc_rings *rings;
	const pid_t self = 0;
	struct hwpmc *h;
	uint32_t id;

	ck_assert(!hwpmc_open(&h));
	id = measure(h, &rings, &self, 1);
	ck_assert(!hwpmc_start(h, id));
	watch_works();
	for (int i = 0; i < FILES; i++)
		map_and_unmap();
	for (int i = 0; i < 200 && !runs_of("function look_at_all"); i++)
		dev_msleep(50);
	/* What has begun waits half a second for pages; the kernel's item comes a tick later. */
	dev_msleep(1500);
	unwatch_works();
	ck_assert_uint_ge(runs_of("function look_at_all"), 1);
	ck_assert_uint_eq(runs_of("function delayed_fput"), 0);
	ck_assert(!hwpmc_release(h, id));
	hwpmc_close(h);
}
END_TEST

/* ---- mappings of a program that ends during a start ------------------------------ */

#define LIBRARY	"/tmp/puts.library"

static void start_read(void *unused)
{
	unanswered_read();
	pause();
}

/* Its last mapping is looked at by the work item: the file has no first page to read. */
static void start_read_and_map(void *unused)
{
	int fd = open(LIBRARY, O_RDWR | O_CREAT | O_TRUNC, 0600);

	ck_assert_int_ge(fd, 0);
	unanswered_read();
	ck_assert(!ftruncate(fd, 4096));
	ck_assert_ptr_ne(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0),
			 MAP_FAILED);
	pause();
}

/* Its exit has put its reference to the mappings when it is a zombie, or waits for the read. */
static void kill_and_await_exit(pid_t pid)
{
	ck_assert(!kill(pid, SIGKILL));
	while (!strchr("ZD", dev_state(pid)))
		dev_msleep(10);
}

static void await_read(pid_t pid)
{
	while (dev_waiting_in(pid) != SYS_pause)
		dev_msleep(10);
}

static bool ends_in_time(pid_t pid)
{
	int status;

	for (int i = 0; i < 500; i++) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return !status;
		dev_msleep(20);
	}
	return false;
}

static void start_measuring(void *arg)
{
	const struct child *program = arg;
	struct hwpmc_rings *rings;
	struct hwpmc *h;

	ck_assert(!hwpmc_open(&h));
	/* It can be refused if the program has ended before. */
	(void)hwpmc_start(h, measure(h, &rings, &program->pid, 1));
}

START_TEST(start_waits_for_no_mappings_of_a_program_that_ends)
{
	struct child program, starter;
	bool ended;

	unanswered_mount();
	dev_pin(0, 0);
	program = dev_child(start_read, NULL);
	dev_go(&program);
	await_read(program.pid);
	starter = dev_child(start_measuring, &program);
	dev_pin(starter.pid, 1);
	hold_at("hwpmc_map_init");
	hold_arm(starter.pid);
	dev_go(&starter);
	hold_wait();
	kill_and_await_exit(program.pid);
	hold_end();
	ended = ends_in_time(starter.pid);
	unanswered_end();
	ck_assert_msg(ended, "the start waits for a read of the program");
	waitpid(program.pid, NULL, 0);
	dev_still_counts();
}
END_TEST

#define ITEMS	"/sys/devices/virtual/workqueue/cpumask"

/* True if the file, which a look holds after the program has unmapped it, is released. */
static bool file_is_released(struct child *program)
{
	long before = shared_memory();

	dev_go(program);
	dev_wait(program);
	for (int i = 0; i < 500; i++) {
		if (shared_memory() - before < LARGE / 1024 / 16)
			return true;
		dev_msleep(20);
	}
	return false;
}

static void map_and_unmap_large(void *unused)
{
	int fd = memfd_create("large", 0);
	void *at;

	ck_assert(!fallocate(fd, 0, 4096, LARGE));
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	munmap(at, 4096);
}

START_TEST(file_of_a_look_waits_for_no_mappings_of_others)
{
	struct child program, other;
	struct hwpmc_rings *rings;
	struct hwpmc *h;
	uint32_t id;
	bool released;

	unanswered_mount();
	dev_pin(0, 0);
	dev_put(ITEMS, "2");
	program = dev_child(start_read_and_map, NULL);
	other = dev_child(map_and_unmap_large, NULL);
	ck_assert(!hwpmc_open(&h));
	id = measure(h, &rings, (pid_t[]){ program.pid, other.pid }, 2);
	ck_assert(!hwpmc_start(h, id));
	hold_at("hwpmc_map_unwind_range");
	hold_arm(HOLD_KTHREADS);
	dev_go(&program);
	await_read(program.pid);
	hold_wait();
	kill_and_await_exit(program.pid);
	hold_end();
	released = file_is_released(&other);
	unanswered_end();
	dev_put(ITEMS, "3");
	ck_assert_msg(released, "a file waits for a read of another program");
	waitpid(program.pid, NULL, 0);
	ck_assert(!hwpmc_release(h, id));
	hwpmc_close(h);
	dev_still_counts();
}
END_TEST

/* ---- the file of a log ---------------------------------------------------------- */

static void log_until_closed(int fd, int log)
{
	dev_ok(dev_configure(fd, log, 0, 1 << 17));
	close(log);
	dev_write_records(fd, 5000);
	dev_ok(dev_simple(fd, HWPMC_IOC_CLOSELOG));
}

#define KTHREAD	0x200000	/* the kernel's PF_KTHREAD */

/* True: a thread whose name begins so has flags without that of kernel threads. */
static bool is_disguised(const char *pid, const char *name)
{
	char path[300], line[1024] = "", *end;
	unsigned int flags;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	end = strrchr(line, ')');
	if (!end || !strstr(line, name))
		return false;
	ck_assert_int_eq(sscanf(end, ") %*c %*d %*d %*d %*d %*d %u", &flags), 1);
	return !(flags & KTHREAD);
}

static unsigned int disguised(const char *name)
{
	DIR *proc = opendir("/proc");
	unsigned int n = 0;
	struct dirent *e;

	while ((e = readdir(proc)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			n += is_disguised(e->d_name, name);
	closedir(proc);
	return n;
}

/* Files of /proc warn where the flag goes between two looks at it. */
START_TEST(log_thread_is_a_kernel_thread_amid_its_release)
{
	int fd = dev_open();

	log_until_closed(fd, linger_connect());
	for (int i = 0; i < 50; i++) {
		ck_assert_uint_eq(disguised("(hwpmc/"), 0);
		dev_msleep(20);
	}
	close(fd);
	dev_still_counts();
}
END_TEST

/* A log's file that nothing else has, in each of the ways that a log ends. */
static void log_to_pipe(int fd, unsigned int way)
{
	int p[2];

	ck_assert(!pipe(p));
	fcntl(p[1], F_SETPIPE_SZ, 1 << 20);
	log_until_closed(fd, p[1]);
	if (way)
		dev_ok(dev_configure(fd, -1, 0, 0));
	close(fd);
	close(p[0]);
}

START_TEST(log_file_is_released_by_no_shared_work)
{
	watch_works();
	for (int i = 0; i < 10; i++)
		log_to_pipe(dev_open(), i & 1);
	dev_msleep(500);
	unwatch_works();
	ck_assert_uint_ge(runs_of("function end_work"), 10);
	ck_assert_uint_eq(runs_of("function delayed_fput"), 0);
}
END_TEST

/* How much of a log's file of this size is left when close() returns, and how long that took. */
static long left_at_close(long size, uint64_t *ns)
{
	long before = shared_memory(), left;
	int fd = dev_open(), log = memfd_create("log", 0);

	ck_assert(!fallocate(log, 0, 0, size));
	ck_assert_int_ge(shared_memory() - before, size / 1024 / 2);
	log_until_closed(fd, log);
	*ns = dev_now();
	close(fd);
	*ns = dev_now() - *ns;
	left = shared_memory() - before;
	while (shared_memory() - before >= size / 1024 / 16)
		dev_msleep(20);
	return left;
}

/*
 * To release all of it takes long. The process of the owner waits in close() for that, two
 * seconds at most: a machine that needs more for it has a smaller file.
 */
START_TEST(log_file_is_released_when_close_of_its_owner_returns)
{
	long size = LARGE, left;
	uint64_t ns;

	for (;; size /= 2) {
		ck_assert_int_ge(size, 16 << 20);
		left = left_at_close(size, &ns);
		if (left < size / 1024 / 16)
			break;
		ck_assert_uint_ge(ns, 2 * 1000000000ULL);
	}
}
END_TEST

int main(void)
{
	dev_setup();
	linger_setup();
	harness_add(file_unmapped_before_its_look_needs_no_shared_work);
	harness_add(start_waits_for_no_mappings_of_a_program_that_ends);
	harness_add(file_of_a_look_waits_for_no_mappings_of_others);
	harness_add(log_thread_is_a_kernel_thread_amid_its_release);
	harness_add(log_file_is_released_by_no_shared_work);
	harness_add(log_file_is_released_when_close_of_its_owner_returns);
	return harness_run();
}
