/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_readers.c - logs whose reader or file is as slow as its user likes, or never ends:
 * they hold up their owner and nobody else, and end with its process.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "harness.h"
#include "hwpmc_log.h"
#include "kmod_dev.h"
#include "../lib/kmod_linger.h"

#define OTHER	65533
#define LIMIT_MS	8000	/* for what takes no time; it only ends a hang */

static uint64_t now_ms(void)
{
	return dev_now() / 1000000;
}

/* Says that it is ready; the test waits for it. */
static int ready[2];

static void say_ready(void)
{
	if (write(ready[1], "", 1) != 1)
		_exit(9);
}

static void await_ready(void)
{
	char c;

	ck_assert_int_eq(read(ready[0], &c, 1), 1);
}

/* A child that has become a user without rights, and is killed with the test. */
static pid_t begin(void (*fn)(void))
{
	pid_t pid;

	if (!ready[1])
		ck_assert(!pipe(ready));
	pid = fork();
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dev_become(NOBODY);
	fn();
	_exit(0);
}

/* ---- files whose release is slow --------------------------------------------- */

/* The end of the pipe is the release of its other end, which the module has. */
static bool ends(int pipe_end)
{
	uint64_t began = now_ms();
	char text[4096];

	for (;;) {
		struct pollfd p = { .fd = pipe_end, .events = POLLIN };
		int left = LIMIT_MS - (int)(now_ms() - began);

		if (left <= 0 || poll(&p, 1, left) <= 0)
			return false;
		if (read(pipe_end, text, sizeof(text)) <= 0)
			return true;
	}
}

static void log_to_a_pipe(void *unused)
{
	int fd = dev_open(), p[2];

	ck_assert(!pipe(p));
	dev_ok(dev_configure(fd, p[1], 0, 16384));
	close(p[1]);
	dev_write_records(fd, 1);
	dev_ok(dev_simple(fd, HWPMC_IOC_CLOSELOG));
	ck_assert(ends(p[0]));
}

/* A kernel thread puts the file of a log; the module's own thread puts that of another. */
static void others_end(void)
{
	dev_as(OTHER, log_to_a_pipe, NULL);
}

static void log_to_lingering(void)
{
	int fd = dev_open(), log = linger_connect();

	dev_ok(dev_configure(fd, log, 0, 1 << 17));
	close(log);
	dev_write_records(fd, 5000);
	dev_ok(dev_simple(fd, HWPMC_IOC_CLOSELOG));
	say_ready();
	pause();
}

static void others_end_beside(void (*log)(void))
{
	pid_t pid = begin(log);

	await_ready();
	dev_msleep(500);
	others_end();
	others_end();
	dev_end(pid);
}

START_TEST(log_file_that_lingers_delays_no_release_of_others)
{
	others_end();
	others_end_beside(log_to_lingering);
}
END_TEST

static void send_fd(int sock, int fd)
{
	union {
		char text[CMSG_SPACE(sizeof(int))];
		struct cmsghdr hdr;
	} control = { };
	struct iovec iov = { "", 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.text,
		.msg_controllen = sizeof(control.text),
	};

	control.hdr.cmsg_level = SOL_SOCKET;
	control.hdr.cmsg_type = SCM_RIGHTS;
	control.hdr.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.hdr), &fd, sizeof(int));
	ck_assert_int_eq(sendmsg(sock, &msg, 0), 1);
}

static int receive_fd(int sock)
{
	union {
		char text[CMSG_SPACE(sizeof(int))];
		struct cmsghdr hdr;
	} control = { };
	char c;
	struct iovec iov = { &c, 1 };
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.text,
		.msg_controllen = sizeof(control.text),
	};
	int fd;

	ck_assert_int_eq(recvmsg(sock, &msg, 0), 1);
	memcpy(&fd, CMSG_DATA(&control.hdr), sizeof(int));
	return fd;
}

/* The log is a socket, in whose queue a lingering connection is: its release is nested. */
static void log_to_socket_with(int inner)
{
	int fd = dev_open(), outer[2], middle[2];

	ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, outer));
	ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, middle));
	send_fd(middle[1], inner);
	close(inner);
	send_fd(outer[1], middle[0]);
	close(middle[0]);
	dev_ok(dev_configure(fd, outer[0], 0, 16384));
	close(outer[0]);
	dev_ok(dev_simple(fd, HWPMC_IOC_CLOSELOG));
	say_ready();
	pause();
}

static void log_to_socket_with_lingering(void)
{
	int inner = linger_connect();
	static char text[65536];

	ck_assert_int_gt(send(inner, text, sizeof(text), MSG_DONTWAIT), 0);
	log_to_socket_with(inner);
}

START_TEST(log_file_that_holds_lingering_ones_delays_no_release)
{
	others_end_beside(log_to_socket_with_lingering);
}
END_TEST

/* A log to a pipe of one page, with more in its rings than that. Returns the pipe's end. */
static int log_of_pages(int fd, unsigned int records)
{
	int p[2];

	ck_assert(!pipe(p));
	fcntl(p[1], F_SETPIPE_SZ, 4096);
	dev_ok(dev_configure(fd, p[1], 0, 1 << 17));
	close(p[1]);
	dev_write_records(fd, records);
	return p[0];
}

static void read_slowly(int pipe_end)
{
	static char text[4096];

	for (;;) {
		if (read(pipe_end, text, sizeof(text)) <= 0)
			_exit(0);
		dev_msleep(600);
	}
}

static pid_t begin_reading_slowly(int pipe_end)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close_range(3, pipe_end - 1, 0);
		close_range(pipe_end + 1, ~0U, 0);
		read_slowly(pipe_end);
	}
	return pid;
}

/* The other device's descriptor is closed by a kernel thread. */
static void log_to_socket_with_device(void)
{
	int fd = dev_open(), pipe_end;

	pipe_end = log_of_pages(fd, 6000);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fd);
		read_slowly(pipe_end);
	}
	log_to_socket_with(fd);
}

START_TEST(log_file_that_holds_a_device_delays_no_release)
{
	pid_t pid = begin(log_to_socket_with_device);

	await_ready();
	dev_msleep(500);
	others_end();
	others_end();
	dev_end(pid);
}
END_TEST

/* Whoever received a descriptor closes it last. */
START_TEST(close_by_another_process_waits_for_no_reader)
{
	int sockets[2], fd, pipe_end, received;
	uint64_t began;
	pid_t reader, pid;

	ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	ck_assert(!pipe(ready));
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dev_become(NOBODY);
		fd = dev_open();
		pipe_end = log_of_pages(fd, 6000);
		reader = fork();
		if (!reader) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(fd);
			read_slowly(pipe_end);
		}
		send_fd(sockets[1], fd);
		close(fd);
		say_ready();
		pause();
	}
	await_ready();
	received = receive_fd(sockets[0]);
	began = now_ms();
	close(received);
	/* The reader takes ten seconds and more. */
	ck_assert_uint_lt(now_ms() - began, 3000);
	dev_end(pid);
}
END_TEST

/* ---- REVOKE --------------------------------------------------------------- */

static void log_to_slow_reader(void)
{
	int fd = dev_open(), pipe_end;

	signal(SIGBUS, SIG_IGN);
	pipe_end = log_of_pages(fd, 6000);
	begin_reading_slowly(pipe_end);
	say_ready();
	for (;;)
		pause();
}

START_TEST(revoke_waits_for_no_slow_reader)
{
	pid_t pid[3];
	uint64_t began;
	int fd;

	for (int i = 0; i < 3; i++) {
		pid[i] = begin(log_to_slow_reader);
		await_ready();
	}
	dev_msleep(200);
	fd = dev_open();
	began = now_ms();
	dev_ok(dev_simple(fd, HWPMC_IOC_REVOKE));
	/* Each reader takes ten seconds and more. */
	ck_assert_uint_lt(now_ms() - began, 3000);
	for (int i = 0; i < 3; i++)
		dev_end(pid[i]);
	close(fd);
	dev_still_counts();
}
END_TEST

static void close_with_slow_reader(void)
{
	int fd = dev_open(), pipe_end = log_of_pages(fd, 6000), closed[2];
	char c = 0;

	ck_assert(!pipe(closed));
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(fd);
		ck_assert_int_eq(write(closed[1], &c, 1), 1);
		read_slowly(pipe_end);
	}
	/* The owner's close is the last one. */
	ck_assert_int_eq(read(closed[0], &c, 1), 1);
	say_ready();
	close(fd);
}

/* Its owner waits in close() for a reader that goes on. */
START_TEST(revoke_discards_records_of_a_log_that_ends_already)
{
	pid_t pid = begin(close_with_slow_reader);
	int fd = dev_open();
	uint64_t began;

	await_ready();
	dev_await_call(pid, SYS_close);
	ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
	began = now_ms();
	dev_ok(dev_simple(fd, HWPMC_IOC_REVOKE));
	dev_reap(pid);
	/* The reader takes ten seconds and more. */
	ck_assert_uint_lt(now_ms() - began, 4000);
	close(fd);
	dev_still_counts();
}
END_TEST

/* ---- owners that no process holds --------------------------------------------- */

#define CYCLES	5

/* The log is a socket, in whose queue its own descriptor is. */
static void leave_cycles(void)
{
	for (int i = 0; i < CYCLES; i++) {
		int fd = dev_open(), s[2];

		dev_ok(dev_start(fd, dev_alloc(fd, TC, 0, ANY, INSN, U)));
		ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, s));
		dev_ok(dev_configure(fd, s[0], 0, 0));
		send_fd(s[1], fd);
		send_fd(s[0], s[1]);
		close(s[0]);
		close(s[1]);
		close(fd);
	}
}

/* It is unloaded only when nobody has it open. */
START_TEST(owner_whose_log_holds_its_descriptor_ends_with_its_process)
{
	uint64_t began;
	int status;
	pid_t pid = begin(leave_cycles);

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	dev_check_registers_clear();
	for (began = now_ms(); system("rmmod hwpmc 2>/dev/null");) {
		ck_assert_uint_lt(now_ms() - began, LIMIT_MS);
		dev_msleep(50);
	}
	dev_fresh();
	dev_still_counts();
}
END_TEST

/* A child that has inherited the descriptor keeps nothing counting. */
START_TEST(counters_of_an_owner_end_with_its_process)
{
	int fd, status, told[2];
	pid_t pid, child;

	ck_assert(!pipe(told));
	pid = fork();
	if (!pid) {
		fd = open(HWPMC_DEVICE, O_RDWR);
		dev_ok(dev_start(fd, dev_alloc(fd, SC, 0, 0, INSN, U)));
		child = fork();
		if (!child) {
			prctl(PR_SET_NAME, "heir");
			for (;;)
				pause();
		}
		_exit(write(told[1], &child, sizeof(child)) != sizeof(child));
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert_int_eq(read(told[0], &child, sizeof(child)), sizeof(child));
	dev_check_registers_clear();
	kill(child, SIGKILL);
}
END_TEST

/* ---- limits of the maker --------------------------------------------------------- */

#define FILE_SIZE	65536

static void log_beyond_file_size(void *unused)
{
	struct rlimit limit = { FILE_SIZE, FILE_SIZE };
	int fd = dev_open(), log = memfd_create("log", 0);
	struct stat st;

	ck_assert(!setrlimit(RLIMIT_FSIZE, &limit));
	dev_ok(dev_configure(fd, log, 0, 1 << 18));
	dev_write_records(fd, 8000);
	ck_assert_int_eq(dev_simple(fd, HWPMC_IOC_FLUSHLOG), EFBIG);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_LOG_ERROR);
	ck_assert(!fstat(log, &st));
	ck_assert_int_eq(st.st_size, FILE_SIZE);
}

START_TEST(log_beyond_the_file_size_limit_fails_with_efbig)
{
	dev_as(NOBODY, log_beyond_file_size, NULL);
}
END_TEST

#define CGROUP	"/tmp/cg.readers/log"

static long charged(const char *key)
{
	char text[8192] = "", *at;
	int fd = open(CGROUP "/memory.stat", O_RDONLY);

	ck_assert_int_gt(read(fd, text, sizeof(text) - 1), 0);
	close(fd);
	at = strstr(text, key);
	ck_assert_ptr_nonnull(at);
	return atol(at + strlen(key));
}

#define PAGES	(4 << 20)

/* Kernels before 5.13 charge no pages that a kernel thread adds to a file. */
static bool pages_of_threads_are_charged(void)
{
	unsigned int major, minor;
	struct utsname name;

	ck_assert(!uname(&name));
	ck_assert_int_eq(sscanf(name.release, "%u.%u", &major, &minor), 2);
	return major > 5 || (major == 5 && minor >= 13);
}

static void log_to_memory(void *unused)
{
	int fd = dev_open(), log;
	long before;

	dev_put(CGROUP "/cgroup.procs", "0");
	log = memfd_create("log", 0);
	dev_ok(dev_configure(fd, log, 0, 1 << 20));
	before = charged("\nshmem ");
	for (int i = 0; i < 8; i++) {
		dev_write_records(fd, PAGES / 8 / sizeof(struct hwpmc_log_hdr) / 2);
		dev_ok(dev_simple(fd, HWPMC_IOC_FLUSHLOG));
	}
	if (pages_of_threads_are_charged())
		ck_assert_int_ge(charged("\nshmem ") - before,
				 lseek(log, 0, SEEK_END) * 9 / 10);
	else
		ck_assert_int_eq(charged("\nshmem "), before);
	ck_assert_int_ge(lseek(log, 0, SEEK_END), PAGES / 4);
}

START_TEST(log_pages_are_charged_to_the_memory_cgroup_of_its_maker)
{
	mkdir("/tmp/cg.readers", 0755);
	ck_assert(!mount("none", "/tmp/cg.readers", "cgroup2", 0, NULL));
	dev_put("/tmp/cg.readers/cgroup.subtree_control", "+memory");
	ck_assert(!mkdir(CGROUP, 0755));
	dev_apart(log_to_memory, NULL);
	rmdir(CGROUP);
	umount("/tmp/cg.readers");
}
END_TEST

int main(void)
{
	dev_setup();
	linger_setup();
	harness_add(log_file_that_lingers_delays_no_release_of_others);
	harness_add(log_file_that_holds_lingering_ones_delays_no_release);
	harness_add(log_file_that_holds_a_device_delays_no_release);
	harness_add(close_by_another_process_waits_for_no_reader);
	harness_add(revoke_waits_for_no_slow_reader);
	harness_add(revoke_discards_records_of_a_log_that_ends_already);
	harness_add(owner_whose_log_holds_its_descriptor_ends_with_its_process);
	harness_add(counters_of_an_owner_end_with_its_process);
	harness_add(log_beyond_the_file_size_limit_fails_with_efbig);
	harness_add(log_pages_are_charged_to_the_memory_cgroup_of_its_maker);
	return harness_run();
}
