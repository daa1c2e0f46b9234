/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_log.c - the operations on logs: their errors, each with all else valid; what
 * a descriptor that fails, fills up or is not read does; what is in the stream.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <libhwpmclog.h>

#include "harness.h"
#include "kmod_dev.h"

#define REFUSED(call, err, why) do {					\
	int got_ = (call);						\
	ck_assert_msg(got_ == (err) && dev_hdr.reason == HWPMC_WHY_##why, \
		      "%s: errno %d, reason %u (%d), not %d, " #why, #call, \
		      got_, dev_hdr.reason, dev_hdr.detail, err);	\
} while (0)

static int fd, file;

static int op(unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);

	memcpy(&dev_hdr, arg, sizeof(dev_hdr));
	return ret ? errno : 0;
}

static int configure_with(struct hwpmc_op_configurelog arg)
{
	return op(HWPMC_IOC_CONFIGURELOG, &arg);
}

static int configure(int logfd)
{
	return configure_with((struct hwpmc_op_configurelog){ .logfd = logfd });
}

static int configure_mapped(uint32_t size)
{
	return configure_with((struct hwpmc_op_configurelog){
		.logfd = -1, .flags = HWPMC_LOG_F_MAPPED, .ring_size = size,
	});
}

static int simple(unsigned long request)
{
	struct hwpmc_op_simple arg = { { 0 } };

	return op(request, &arg);
}

static int flush_log(void)
{
	return simple(HWPMC_IOC_FLUSHLOG);
}

static int close_log(void)
{
	return simple(HWPMC_IOC_CLOSELOG);
}

static int write_log(uint32_t datum)
{
	struct hwpmc_op_writelog arg = { .userdata = datum };

	return op(HWPMC_IOC_WRITELOG, &arg);
}

static void setup(void)
{
	/* One CPU: records of one ring are in order. */
	dev_pin(getpid(), 0);
	fd = dev_open();
	file = memfd_create("log", MFD_CLOEXEC);
	ck_assert_int_ge(file, 0);
}

static uint32_t sampling_pmc(uint64_t period)
{
	struct hwpmc_op_pmcallocate req;

	dev_request(&req, HWPMC_MODE_TS, 0, ANY, INSN, U);
	req.count = period;
	dev_ok(dev_allocate(fd, &req));
	return req.pmcid;
}

/* The log in `file`, each record told to fn; the parser must like all of it. */
static unsigned int each_record(void (*fn)(const struct hwpmc_record *r))
{
	struct hwpmc_parser *p = hwpmc_parser_new();
	off_t size = lseek(file, 0, SEEK_END);
	struct hwpmc_record r;
	enum hwpmc_parse what;
	unsigned int n = 0;
	void *at;

	ck_assert_int_gt(size, 0);
	at = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
	hwpmc_parser_feed(p, at, size);
	hwpmc_parser_end(p);
	while ((what = hwpmc_parser_next(p, &r)) == HWPMC_PARSE_RECORD) {
		n++;
		if (fn)
			fn(&r);
	}
	ck_assert_msg(what == HWPMC_PARSE_END, "%s", hwpmc_parser_error(p));
	munmap(at, size);
	hwpmc_parser_free(p);
	return n;
}

/* ---- errors -------------------------------------------------------------- */

START_TEST(configurelog_refuses_what_it_cannot_do)
{
	int readonly = open("/dev/null", O_RDONLY);

	REFUSED(configure(-1), EINVAL, NO_LOG);
	REFUSED(configure(readonly), EBADF, LOG_FD);
	REFUSED(configure(999), EBADF, LOG_FD);
	REFUSED(configure(fd), EBADF, LOG_FD);
	/* What the kernel cannot write to; programs can. */
	REFUSED(configure(open("/proc/self/clear_refs", O_WRONLY)), EBADF, LOG_FD);
	REFUSED(configure_with((struct hwpmc_op_configurelog){
		.logfd = file, .flags = 2 }), EINVAL, FLAGS);
	REFUSED(configure_with((struct hwpmc_op_configurelog){
		.logfd = file, .flags = HWPMC_LOG_F_MAPPED }), EINVAL, FLAGS);
	REFUSED(configure_mapped(5000), EINVAL, RING_SIZE);
	REFUSED(configure_mapped(1024), EINVAL, RING_SIZE);
	REFUSED(configure_mapped(1u << 31), EINVAL, RING_SIZE);
	dev_ok(configure(file));
	REFUSED(configure(file), EBUSY, LOG_EXISTS);
	dev_ok(configure(-1));
	REFUSED(configure(-1), EINVAL, NO_LOG);
	dev_ok(configure_mapped(0));
	REFUSED(configure_mapped(0), EBUSY, LOG_EXISTS);
	close(fd);
	dev_still_counts();
}
END_TEST

START_TEST(without_a_log_there_is_nothing_to_flush_close_or_write)
{
	REFUSED(flush_log(), EINVAL, NO_LOG);
	REFUSED(close_log(), EINVAL, NO_LOG);
	REFUSED(write_log(1), EINVAL, NO_LOG);
	dev_ok(configure(file));
	dev_ok(flush_log());
	dev_ok(close_log());
	REFUSED(close_log(), EINVAL, LOG_CLOSED);
	REFUSED(write_log(1), EINVAL, LOG_CLOSED);
	dev_ok(flush_log());
}
END_TEST

START_TEST(rings_beyond_the_limit_of_locked_memory_are_refused)
{
	/* The smallest ring of each possible CPU fits, nothing near 1 MiB does. */
	rlim_t most = 32768 * sysconf(_SC_NPROCESSORS_CONF);
	struct rlimit none = { most, most };

	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	ck_assert_int_eq(setresgid(65534, 65534, 65534), 0);
	ck_assert_int_eq(setresuid(65534, 65534, 65534), 0);
	close(fd);
	fd = dev_open();
	REFUSED(configure_mapped(1 << 20), EPERM, LOCKED_MEMORY);
	/* Asked for no size it takes what fits. */
	dev_ok(configure_mapped(0));
}
END_TEST

/* ---- what is in it ------------------------------------------------------- */

static unsigned int data_seen, ends;
static uint8_t first_type, last_type;

static void look(const struct hwpmc_record *r)
{
	if (!r->serial)
		first_type = r->hdr->type;
	last_type = r->hdr->type;
	if (r->hdr->type == HWPMC_LOG_USERDATA)
		ck_assert_uint_eq(r->hdr->id, data_seen++);
	ends += r->hdr->type == HWPMC_LOG_CLOSELOG;
}

START_TEST(a_closed_log_has_all_of_its_records_between_first_and_last)
{
	dev_ok(configure(file));
	for (uint32_t i = 0; i < 5000; i++)
		dev_ok(write_log(i));
	dev_ok(close_log());
	dev_ok(flush_log());
	each_record(look);
	ck_assert_uint_eq(first_type, HWPMC_LOG_INITIALIZE);
	ck_assert_uint_eq(last_type, HWPMC_LOG_CLOSELOG);
	ck_assert_uint_eq(data_seen, 5000);
	ck_assert_uint_eq(ends, 1);
}
END_TEST

START_TEST(a_log_is_complete_when_its_owner_simply_closes)
{
	dev_ok(configure(file));
	for (uint32_t i = 0; i < 5000; i++)
		dev_ok(write_log(i));
	close(fd);
	each_record(look);
	ck_assert_uint_eq(data_seen, 5000);
	ck_assert_uint_eq(last_type, HWPMC_LOG_CLOSELOG);
}
END_TEST

START_TEST(what_is_written_after_a_log_stands_behind_it)
{
	struct stat st;

	dev_ok(configure(file));
	for (uint32_t i = 0; i < 1000; i++)
		dev_ok(write_log(i));
	dev_ok(close_log());
	dev_ok(flush_log());
	ck_assert_int_eq(fstat(file, &st), 0);
	ck_assert_int_gt(st.st_size, 1000 * sizeof(struct hwpmc_log_hdr));
	ck_assert_int_eq(lseek(file, 0, SEEK_CUR), st.st_size);
}
END_TEST

/* The kernel takes set-id bits from a file that the unprivileged write. */
static void log_to_set_id(void *unused)
{
	struct stat st;

	fd = dev_open();
	file = open("/tmp/set-id", O_RDWR | O_CREAT | O_EXCL, 0755);
	ck_assert_int_eq(fchmod(file, 04755), 0);
	dev_ok(configure(file));
	dev_ok(write_log(1));
	dev_ok(flush_log());
	ck_assert_int_eq(fstat(file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0755);
	ck_assert_int_gt(st.st_size, 0);
}

START_TEST(a_log_is_written_with_the_rights_of_its_owner)
{
	unlink("/tmp/set-id");
	dev_as(65534, log_to_set_id, NULL);
	unlink("/tmp/set-id");
}
END_TEST

static unsigned int allocates, attaches;
static char attached_path[256];

static void look_for_pmcs(const struct hwpmc_record *r)
{
	allocates += r->hdr->type == HWPMC_LOG_PMCALLOCATE;
	if (r->hdr->type != HWPMC_LOG_PMCATTACH)
		return;
	attaches++;
	ck_assert_int_eq(r->attach->pid, getpid());
	strncpy(attached_path, r->attach->path, sizeof(attached_path) - 1);
}

START_TEST(pmcs_of_before_the_log_have_their_records_too)
{
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	dev_ok(dev_attach(fd, id, 0));
	dev_ok(configure(file));
	dev_alloc(fd, TC, 0, ANY, BRANCH, U);
	dev_ok(flush_log());
	each_record(look_for_pmcs);
	ck_assert_uint_eq(allocates, 2);
	ck_assert_uint_eq(attaches, 1);
	ck_assert_ptr_nonnull(strstr(attached_path, "/kmod_log"));
}
END_TEST

/* ---- descriptors that fail ------------------------------------------------ */

static volatile sig_atomic_t sigios;

static void on_sigio(int sig)
{
	sigios++;
}

/* Until the drain thread has met the error; a flush waits for it. */
static void check_fails_with(int err)
{
	int got;

	signal(SIGIO, on_sigio);
	for (uint32_t i = 0; i < 100; i++)
		if (write_log(i))
			break;
	got = flush_log();
	ck_assert_msg(got == err, "errno %d, not %d", got, err);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_LOG_ERROR);
	ck_assert_int_eq(dev_hdr.detail, err);
	while (!sigios)
		dev_msleep(1);
	ck_assert_int_eq(sigios, 1);
	/* It stays known, and the log can be ended. */
	ck_assert_int_eq(flush_log(), err);
	dev_ok(configure(-1));
	dev_ok(configure(file));
	dev_ok(write_log(0));
	dev_ok(flush_log());
	close(fd);
	dev_still_counts();
}

/* A file system of one page, which INITIALIZE and some records more than fill. */
static int open_on_full_disk(void)
{
	static char page[4096 - 1];
	int full;

	mkdir("/tmp/full", 0700);
	ck_assert_int_eq(mount("none", "/tmp/full", "tmpfs", 0, "size=4k"), 0);
	full = open("/tmp/full/log", O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(full, page, sizeof(page)), sizeof(page));
	umount2("/tmp/full", MNT_DETACH);
	return full;
}

START_TEST(a_full_disk_is_told_by_flush_and_by_sigio)
{
	dev_ok(configure(open_on_full_disk()));
	check_fails_with(ENOSPC);
}
END_TEST

START_TEST(a_pipe_without_a_reader_is_told_by_flush_and_by_sigio)
{
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	close(p[0]);
	dev_ok(configure(p[1]));
	check_fails_with(EPIPE);
}
END_TEST

START_TEST(a_closed_socket_is_told_by_flush_and_by_sigio)
{
	int s[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
	close(s[0]);
	dev_ok(configure(s[1]));
	check_fails_with(EPIPE);
}
END_TEST

START_TEST(sigio_does_not_end_an_owner_that_ignores_it_by_default)
{
	signal(SIGIO, SIG_DFL);
	dev_ok(configure(open_on_full_disk()));
	dev_ok(write_log(1));
	ck_assert_int_eq(flush_log(), ENOSPC);
	dev_msleep(100);
}
END_TEST

static void await_full(int pipe_end)
{
	struct pollfd room = { .fd = pipe_end, .events = POLLOUT };

	while (poll(&room, 1, 0))
		dev_msleep(1);
}

START_TEST(a_pipe_that_nobody_reads_holds_nobody_up)
{
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	dev_ok(configure(p[1]));
	for (uint32_t i = 0; i < 20000; i++)
		if (write_log(i))
			break;
	await_full(p[1]);
	dev_ok(configure(-1));
	dev_ok(configure(p[1]));
	for (uint32_t i = 0; i < 20000; i++)
		if (write_log(i))
			break;
	close(fd);
	dev_still_counts();
}
END_TEST

START_TEST(a_pipe_is_read_as_the_log_is_written)
{
	char buf[65536];
	size_t sum = 0;
	ssize_t n;
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	if (!fork()) {
		close(p[0]);
		close(fd);
		fd = dev_open();
		dev_ok(configure(p[1]));
		close(p[1]);
		for (uint32_t i = 0; i < 20000; i++)
			while (write_log(i))
				dev_msleep(1);
		dev_ok(close_log());
		dev_ok(flush_log());
		close(fd);
		_exit(0);
	}
	close(p[1]);
	while ((n = read(p[0], buf, sizeof(buf))) > 0)
		sum += write(file, buf, n);
	ck_assert_uint_gt(sum, 20000 * 16);
	data_seen = 0;
	each_record(look);
	ck_assert_uint_eq(data_seen, 20000);
}
END_TEST

/* Numbers until the pipe takes no more, and some in the ring. */
static uint32_t write_more_than(int pipe_end)
{
	uint32_t n = 0;

	while (n < 8000)
		dev_ok(write_log(n++));
	await_full(pipe_end);
	return n;
}

static ssize_t copy_to_file(int end, size_t most)
{
	char buf[65536];
	ssize_t n = read(end, buf, most);

	if (n > 0)
		ck_assert_int_eq(write(file, buf, n), n);
	return n;
}

START_TEST(a_pipe_that_does_not_block_is_waited_for)
{
	uint32_t n;
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(fcntl(p[1], F_SETFL, O_NONBLOCK), 0);
	dev_ok(configure(p[1]));
	n = write_more_than(p[1]);
	close(p[1]);
	dev_ok(close_log());
	while (copy_to_file(p[0], 65536) > 0)
		continue;
	each_record(look);
	ck_assert_uint_eq(data_seen, n);
	ck_assert_uint_eq(last_type, HWPMC_LOG_CLOSELOG);
	close(fd);
}
END_TEST

/* Of an owner that ends: 8,000 numbers, at a page each tenth of a second. */
static bool slow_reader_has_all(void)
{
	pid_t pid;
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(fcntl(p[1], F_SETPIPE_SZ, 4096), 4096);
	ck_assert_int_eq(ftruncate(file, 0), 0);
	lseek(file, 0, SEEK_SET);
	pid = fork();
	if (!pid) {
		close(p[0]);
		close(fd);
		fd = dev_open();
		dev_ok(configure(p[1]));
		write_more_than(p[1]);
		_exit(0);
	}
	close(p[1]);
	while (copy_to_file(p[0], 4096) > 0)
		dev_msleep(100);
	close(p[0]);
	waitpid(pid, NULL, 0);
	data_seen = 0;
	each_record(look);
	return data_seen == 8000 && last_type == HWPMC_LOG_CLOSELOG;
}

/* The end of an owner waits for a second without any progress; a machine that stands still
 * for so long must not fail the test. */
START_TEST(a_reader_that_is_slow_gets_all_of_an_owner_that_ends)
{
	int tries = 0;

	while (!slow_reader_has_all())
		ck_assert_int_lt(++tries, 3);
}
END_TEST

static unsigned int declared;

static void look_for_drops(const struct hwpmc_record *r)
{
	if (r->hdr->type == HWPMC_LOG_DROPNOTIFY)
		declared += r->drop->others[HWPMC_DROP_FULL];
}

static atomic_bool flushed;

static void *flush_thread(void *unused)
{
	dev_ok(flush_log());
	flushed = true;
	return NULL;
}

START_TEST(a_flush_of_a_full_ring_has_its_drops_declared)
{
	struct pollfd pipe_end = { .events = POLLIN };
	pthread_t flush;
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	pipe_end.fd = p[0];
	dev_ok(configure(p[1]));
	for (uint32_t i = 0; !write_log(i); i++)
		continue;
	pthread_create(&flush, NULL, flush_thread, NULL);
	for (bool last = false; !last;) {
		last = flushed;
		while (poll(&pipe_end, 1, 1) > 0)
			copy_to_file(p[0], 65536);
	}
	pthread_join(flush, NULL);
	each_record(look_for_drops);
	ck_assert_uint_ge(declared, 1);
	close(fd);
}
END_TEST

/* The end of a pipe of which no other writer is left; the device is open all the time. */
static size_t read_to_end(int end)
{
	char buf[65536];
	size_t sum = 0;
	ssize_t n;

	while ((n = read(end, buf, sizeof(buf))) > 0)
		sum += n;
	ck_assert_int_eq(n, 0);
	return sum;
}

START_TEST(a_log_that_is_closed_lets_go_of_its_pipe)
{
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	dev_ok(configure(p[1]));
	close(p[1]);
	for (uint32_t i = 0; i < 1000; i++)
		dev_ok(write_log(i));
	dev_ok(close_log());
	ck_assert_uint_gt(read_to_end(p[0]), 1000 * sizeof(struct hwpmc_log_hdr));
	/* It is the owner's log as before. */
	dev_ok(flush_log());
	REFUSED(configure(file), EBUSY, LOG_EXISTS);
	dev_ok(configure(-1));
	dev_ok(configure(file));
	close(fd);
	dev_still_counts();
}
END_TEST

START_TEST(a_log_that_is_ended_lets_go_of_its_pipe)
{
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	dev_ok(configure(p[1]));
	close(p[1]);
	dev_ok(write_log(1));
	dev_ok(configure(-1));
	read_to_end(p[0]);
	close(fd);
	dev_still_counts();
}
END_TEST

/* The program that it executes inherits the device. */
static void log_and_exec(void *arg)
{
	fd = open(HWPMC_DEVICE, O_RDWR);
	dev_ok(configure(((int *)arg)[1]));
	execl("/bin/sleep", "sleep", "1000", (char *)NULL);
	_exit(127);
}

/* There is no PMC, for which execs would be seen. */
START_TEST(a_log_ends_with_the_exec_of_an_owner_that_has_nothing_else)
{
	struct child child;
	int p[2];

	close(fd);
	/* Of what was there before, execs would be seen for a second. */
	dev_fresh();
	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	child = dev_child(log_and_exec, p);
	close(p[1]);
	dev_go(&child);
	ck_assert_uint_gt(read_to_end(p[0]), sizeof(struct hwpmc_log_initialize));
	ck_assert_int_ne(dev_state(child.pid), 'Z');
	kill(child.pid, SIGKILL);
	ck_assert_int_eq(waitpid(child.pid, NULL, 0), child.pid);
	dev_still_counts();
}
END_TEST

#define ANEW	"/tmp/anew"

static void real_time(int cpu)
{
	struct sched_param param = { .sched_priority = 10 };

	dev_pin(0, cpu);
	ck_assert(!sched_setscheduler(0, SCHED_FIFO, &param));
}

static void not_real_time(void)
{
	struct sched_param param = { 0 };

	ck_assert(!sched_setscheduler(0, SCHED_OTHER, &param));
}

struct anew {
	bool had_log;	/* else a PMC */
	int told[2];
};

static void log_anew(void *arg)
{
	const struct anew *a = arg;
	char device[16], told[16];

	fd = open(HWPMC_DEVICE, O_RDWR);
	if (a->had_log)
		dev_ok(configure(file));
	else
		dev_alloc(fd, TC, 0, ANY, INSN, U);
	snprintf(device, sizeof(device), "%d", fd);
	snprintf(told, sizeof(told), "%d", a->told[1]);
	real_time(0);
	execl(ANEW, "anew", device, told, (char *)NULL);
	_exit(127);
}

/* The work item that ends what the old program held cannot run before: threads of
 * real time occupy all CPUs. */
static void check_logs_anew(struct anew a)
{
	struct pollfd answer = { .events = POLLIN };
	time_t end = time(NULL) + 5;
	struct child child;
	int errors[2];

	ck_assert(!pipe(a.told));
	answer.fd = a.told[0];
	child = dev_child(log_anew, &a);
	close(a.told[1]);
	real_time(1);
	dev_go(&child);
	while (!poll(&answer, 1, 0) && time(NULL) < end)
		;
	not_real_time();
	ck_assert(read(a.told[0], errors, sizeof(errors)) == sizeof(errors));
	dev_wait(&child);
	close(a.told[0]);
	ck_assert_int_eq(errors[0], 0);
	ck_assert_int_eq(errors[1], 0);
}

START_TEST(a_log_that_a_new_program_begins_at_once_is_not_ended_with_the_old_ones)
{
	close(fd);
	/* In memory: nothing is read for it. */
	ck_assert(!system("cp build/vm/progs/anew " ANEW));
	dev_put("/proc/sys/kernel/sched_rt_runtime_us", "-1");
	check_logs_anew((struct anew){ .had_log = true });
	check_logs_anew((struct anew){ .had_log = false });
	dev_put("/proc/sys/kernel/sched_rt_runtime_us", "950000");
	dev_still_counts();
}
END_TEST

/* ---- stops, and what owners do to their rings ------------------------------ */

START_TEST(ending_the_log_stops_what_needs_it)
{
	uint32_t id = sampling_pmc(100000);

	REFUSED(dev_start(fd, id), EBADFD, NO_LOG);
	dev_ok(configure(file));
	dev_ok(dev_start(fd, id));
	dev_ok(configure(-1));
	REFUSED(dev_start(fd, id), EBADFD, NO_LOG);
	dev_ok(configure(file));
	dev_ok(dev_start(fd, id));
	dev_ok(close_log());
	REFUSED(dev_start(fd, id), EBADFD, NO_LOG);
	close(fd);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

static void *map_ring(unsigned int cpu, size_t size)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		    HWPMC_LOG_MAP_OFFSET(cpu));
}

START_TEST(only_a_whole_ring_of_a_mapped_log_can_be_mapped)
{
	size_t whole = HWPMC_LOG_MAP_SIZE(65536, 4096);

	ck_assert_ptr_eq(map_ring(0, whole), MAP_FAILED);
	dev_ok(configure(file));
	ck_assert_ptr_eq(map_ring(0, whole), MAP_FAILED);
	dev_ok(configure(-1));
	dev_ok(configure_mapped(65536));
	ck_assert_ptr_eq(map_ring(0, whole - 4096), MAP_FAILED);
	ck_assert_ptr_eq(map_ring(0, whole + 4096), MAP_FAILED);
	ck_assert_ptr_eq(map_ring(4000, whole), MAP_FAILED);
	ck_assert_ptr_eq(mmap(NULL, whole, PROT_READ, MAP_PRIVATE, fd, 0),
			 MAP_FAILED);
	ck_assert_ptr_eq(mmap(NULL, whole, PROT_READ, MAP_SHARED, fd, 4096),
			 MAP_FAILED);
	ck_assert_ptr_ne(map_ring(0, whole), MAP_FAILED);
	ck_assert_ptr_ne(map_ring(1, whole), MAP_FAILED);
}
END_TEST

static _Atomic pid_t poller;

static void *poll_for_records(void *unused)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	poller = gettid();
	return (void *)(long)(poll(&p, 1, -1) == 1 ? p.revents : -1);
}

/* One thread may read the rings while another asks for what has not come to the mark. */
START_TEST(a_flush_wakes_the_thread_that_waits_for_mapped_rings)
{
	pthread_t thread;
	void *events;

	dev_ok(configure_mapped(65536));
	for (int i = 0; i < 2; i++) {
		struct hwpmc_log_ring *ring = map_ring(i, HWPMC_LOG_MAP_SIZE(65536, 4096));

		ck_assert_ptr_ne(ring, MAP_FAILED);
		ring->tail = ring->head;
	}
	ck_assert(!pthread_create(&thread, NULL, poll_for_records, NULL));
	while (!poller)
		sched_yield();
	dev_await_call(poller, SYS_poll);
	flush_log();
	ck_assert(!pthread_join(thread, &events));
	ck_assert_int_eq((long)events, POLLIN);
}
END_TEST

START_TEST(an_owner_that_overwrites_its_rings_hurts_nobody)
{
	size_t whole = HWPMC_LOG_MAP_SIZE(65536, 4096);
	uint32_t id = sampling_pmc(1000);
	struct hwpmc_log_ring *ring[2];

	dev_ok(configure_mapped(65536));
	for (int i = 0; i < 2; i++) {
		ring[i] = map_ring(i, whole);
		ck_assert_ptr_ne(ring[i], MAP_FAILED);
	}
	dev_ok(dev_start(fd, id));
	for (int i = 0; i < 200; i++) {
		dev_spin(20000);
		for (int j = 0; j < 2; j++) {
			uint64_t *words = (void *)ring[j];

			for (int k = 0; k < 512; k++)
				words[k] = (uint64_t)i << (k & 63) ^ -(uint64_t)k;
			memset((char *)ring[j] + 4096, i, whole - 4096);
		}
	}
	dev_ok(dev_stop(fd, id));
	flush_log();
	dev_ok(configure(-1));
	/* The log is gone; the memory is the mappings' until they end. */
	memset(ring[0], 1, whole);
	munmap(ring[0], whole);
	munmap(ring[1], whole);
	close(fd);
	dev_check_registers_clear();
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(setup, NULL);
	harness_add(configurelog_refuses_what_it_cannot_do);
	harness_add(without_a_log_there_is_nothing_to_flush_close_or_write);
	harness_add(rings_beyond_the_limit_of_locked_memory_are_refused);
	harness_add(a_closed_log_has_all_of_its_records_between_first_and_last);
	harness_add(a_log_is_complete_when_its_owner_simply_closes);
	harness_add(what_is_written_after_a_log_stands_behind_it);
	harness_add(a_log_is_written_with_the_rights_of_its_owner);
	harness_add(pmcs_of_before_the_log_have_their_records_too);
	harness_add(a_full_disk_is_told_by_flush_and_by_sigio);
	harness_add(a_pipe_without_a_reader_is_told_by_flush_and_by_sigio);
	harness_add(a_closed_socket_is_told_by_flush_and_by_sigio);
	harness_add(sigio_does_not_end_an_owner_that_ignores_it_by_default);
	harness_add(a_pipe_that_nobody_reads_holds_nobody_up);
	harness_add(a_pipe_is_read_as_the_log_is_written);
	harness_add(a_pipe_that_does_not_block_is_waited_for);
	harness_add_timed(a_reader_that_is_slow_gets_all_of_an_owner_that_ends, 60);
	harness_add(a_flush_of_a_full_ring_has_its_drops_declared);
	harness_add(a_log_that_is_closed_lets_go_of_its_pipe);
	harness_add(a_log_that_is_ended_lets_go_of_its_pipe);
	harness_add(a_log_ends_with_the_exec_of_an_owner_that_has_nothing_else);
	harness_add(a_log_that_a_new_program_begins_at_once_is_not_ended_with_the_old_ones);
	harness_add(ending_the_log_stops_what_needs_it);
	harness_add(only_a_whole_ring_of_a_mapped_log_can_be_mapped);
	harness_add(a_flush_wakes_the_thread_that_waits_for_mapped_rings);
	harness_add(an_owner_that_overwrites_its_rings_hurts_nobody);
	return harness_run();
}
