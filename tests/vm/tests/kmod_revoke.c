/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_revoke.c - everything is taken from everybody: signals, errors, registers;
 * and from nobody without privilege.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include <libhwpmclog.h>

#include "harness.h"
#include "kmod_dev.h"

static int take_all(int fd)
{
	struct hwpmc_op_simple op = { { 0 } };
	int err = ioctl(fd, HWPMC_IOC_REVOKE, &op) ? errno : 0;

	dev_hdr = op.hdr;
	return err;
}

/* From another process, as "hwpmc unload" does. */
static void revoke_from_outside(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(take_all(dev_open()));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

START_TEST(revoke_needs_privilege)
{
	int fd = dev_open(), status;
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	pid_t pid = fork();

	if (!pid) {
		int other = dev_open();

		if (setuid(65534))
			_exit(2);
		_exit(take_all(other) == EPERM &&
		      dev_hdr.reason == HWPMC_WHY_PRIV_ADMIN ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	dev_ok(dev_start(fd, id));
	close(fd);
}
END_TEST

static volatile sig_atomic_t sigbuses;

static void on_sigbus(int sig)
{
	sigbuses++;
}

static void check_dead(int err)
{
	ck_assert_int_eq(err, ENODEV);
	ck_assert_uint_eq(dev_hdr.reason, HWPMC_WHY_REVOKED);
}

START_TEST(whoever_was_revoked_gets_sigbus_once_and_enodev_for_ever)
{
	struct child c = dev_loop(1000000);
	int fd = dev_open(), idle = dev_open();
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct hwpmc_op_pmcallocate op;
	uint32_t id, second;
	uint64_t value;

	signal(SIGBUS, on_sigbus);
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	second = dev_alloc(fd, HWPMC_MODE_SS, 0, 0, BRANCH, U);
	dev_ok(dev_attach(fd, id, c.pid));
	dev_ok(dev_start(fd, id));
	dev_go(&c);
	dev_msleep(5);
	revoke_from_outside();
	ck_assert_int_eq(sigbuses, 1);
	dev_check_registers_clear();
	check_dead(dev_rw(fd, id, HWPMC_F_OLDVALUE, &value));
	check_dead(dev_stop(fd, id));
	check_dead(dev_release(fd, second));
	dev_request(&op, TC, 0, ANY, INSN, U);
	check_dead(dev_allocate(fd, &op));
	check_dead(dev_start(idle, id));
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	ck_assert(p.revents & POLLERR && p.revents & POLLHUP);
	ck_assert_ptr_eq(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd,
			      HWPMC_USER_OFFSET), MAP_FAILED);
	ck_assert_int_eq(errno, ENODEV);
	dev_wait(&c);
	close(fd);
	close(idle);
	/* The module has not gone: who comes anew is served. */
	dev_still_counts();
}
END_TEST

START_TEST(who_held_nothing_gets_no_signal_when_all_is_revoked)
{
	int fd = dev_open();

	signal(SIGBUS, on_sigbus);
	revoke_from_outside();
	ck_assert_int_eq(sigbuses, 0);
	check_dead(dev_start(fd, 0));
	close(fd);
}
END_TEST

START_TEST(who_only_counts_gets_enodev_and_no_signal)
{
	int fd = dev_open();
	struct pollfd p = { .fd = fd };
	uint32_t id, second;
	uint64_t value;

	signal(SIGBUS, on_sigbus);
	sigbuses = 0;
	id = dev_alloc(fd, TC, 0, ANY, INSN, U);
	second = dev_alloc(fd, SC, 0, 0, BRANCH, U);
	dev_ok(dev_start(fd, id));
	dev_ok(dev_start(fd, second));
	ck_assert_int_eq(poll(&p, 1, 0), 0);
	revoke_from_outside();
	ck_assert_int_eq(sigbuses, 0);
	dev_check_registers_clear();
	check_dead(dev_rw(fd, id, HWPMC_F_OLDVALUE, &value));
	check_dead(dev_rw(fd, second, HWPMC_F_OLDVALUE, &value));
	ck_assert_int_eq(poll(&p, 1, 0), 1);
	ck_assert(p.revents & POLLHUP);
	close(fd);
	dev_still_counts();
}
END_TEST

/* A program that reads its own counters by regions, as a server does. */
static void serve(volatile int *ready, struct hwpmc *h, struct hwpmc_region *r)
{
	struct pollfd p = { .fd = hwpmc_fd(h) };

	*ready = 1;
	do {
		hwpmc_region_begin(r);
		dev_spin(100);
		hwpmc_region_end(r);
	} while (!poll(&p, 1, 0));
}

static int server(volatile int *ready)
{
	struct hwpmc_region *r;
	struct hwpmc *h;
	uint64_t value;
	uint32_t id;

	if (hwpmc_open(&h) ||
	    hwpmc_open_counter(h, "instructions:u", HWPMC_MODE_TC, 0, 0, 0, &id) ||
	    hwpmc_start(h, id))
		return 2;
	r = hwpmc_region_new(h, "request", &id, 1);
	if (!r)
		return 3;
	serve(ready, h, r);
	if (!hwpmc_read(h, id, &value) || errno != ENODEV ||
	    hwpmc_reason(h) != HWPMC_WHY_REVOKED)
		return 4;
	hwpmc_region_begin(r);
	hwpmc_region_end(r);
	hwpmc_region_free(r);
	hwpmc_close(h);
	return 0;
}

START_TEST(server_that_measures_itself_outlives_its_counters)
{
	volatile int *ready = mmap(NULL, sizeof(*ready), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	ck_assert(ready != MAP_FAILED);
	pid = fork();
	if (!pid)
		_exit(server(ready));
	while (!*ready && !waitpid(pid, &status, WNOHANG))
		dev_msleep(1);
	ck_assert(*ready);
	dev_msleep(20);
	revoke_from_outside();
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	dev_still_counts();
}
END_TEST

START_TEST(who_samples_without_a_log_gets_sigbus_too)
{
	int fd = dev_open();

	signal(SIGBUS, on_sigbus);
	sigbuses = 0;
	dev_alloc(fd, HWPMC_MODE_SS, 0, 0, INSN, U);
	revoke_from_outside();
	ck_assert_int_eq(sigbuses, 1);
	check_dead(dev_start(fd, 0));
	close(fd);
	dev_still_counts();
}
END_TEST

/* It would go on waiting for records. */
START_TEST(who_held_a_log_alone_gets_sigbus_too)
{
	struct hwpmc_op_configurelog log = { .logfd = open("/dev/null", O_WRONLY) };
	int fd = dev_open();

	ck_assert(!ioctl(fd, HWPMC_IOC_CONFIGURELOG, &log));
	signal(SIGBUS, on_sigbus);
	revoke_from_outside();
	ck_assert_int_eq(sigbuses, 1);
	check_dead(dev_start(fd, 0));
	close(fd);
	close(log.logfd);
	dev_still_counts();
}
END_TEST

START_TEST(who_revokes_keeps_what_it_has_itself)
{
	int fd = dev_open(), other = dev_open();
	uint32_t id = dev_alloc(fd, TC, 0, ANY, INSN, U);

	dev_ok(dev_start(fd, id));
	dev_ok(take_all(other));
	ck_assert_uint_gt(dev_read(fd, id), 0);
	close(fd);
	close(other);
}
END_TEST

static int find_close(unsigned int cpu, const void *data, size_t len, void *found)
{
	for (size_t at = 0; at < len; at += (((const struct hwpmc_log_hdr *)
					      ((const char *)data + at))->len + 7) & ~7u) {
		const void *r = (const char *)data + at;

		*(int *)found += ((const struct hwpmc_log_hdr *)r)->type == HWPMC_LOG_CLOSELOG;
	}
	return 0;
}

/* Its rings stay mapped, and are read to their end. */
START_TEST(revoke_ends_a_mapped_log_with_its_last_record)
{
	struct hwpmc_rings *rings;
	struct hwpmc *h;
	int found = 0;

	signal(SIGBUS, on_sigbus);
	ck_assert(!hwpmc_open(&h));
	ck_assert(!hwpmc_rings_open(h, 65536, 0, &rings));
	revoke_from_outside();
	for (int i = 0; i < 500 && !found; i++) {
		dev_msleep(10);
		ck_assert(!hwpmc_rings_read(rings, find_close, &found, NULL));
	}
	ck_assert_int_eq(found, 1);
	hwpmc_rings_close(rings);
	hwpmc_close(h);
}
END_TEST

/* An owner that samples the machine as fast as it can, into rings. */
static void sample_for_ever(volatile bool *samples)
{
	struct hwpmc_rings *rings;
	struct hwpmc *h;
	uint32_t id;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (hwpmc_open(&h) || hwpmc_rings_open(h, 65536, 0, &rings))
		_exit(2);
	for (int cpu = 0; cpu < dev_cpus(); cpu++)
		if (hwpmc_allocate(h, "instructions:u", HWPMC_MODE_SS, 0, cpu,
				   1000, &id) || hwpmc_start(h, id))
			_exit(3);
	*samples = true;
	for (;;)
		dev_spin(1000000);
}

START_TEST(revoke_in_a_storm_of_samples_ends_the_storm_and_its_owner)
{
	volatile bool *samples = mmap(NULL, sizeof(*samples), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;
	pid_t pid;

	ck_assert(samples != MAP_FAILED);
	for (int i = 0; i < 5; i++) {
		*samples = false;
		pid = fork();
		if (!pid)
			sample_for_ever(samples);
		while (!*samples && !waitpid(pid, NULL, WNOHANG))
			dev_msleep(1);
		ck_assert(*samples);
		dev_msleep(100);
		revoke_from_outside();
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert(WIFSIGNALED(status));
		ck_assert_int_eq(WTERMSIG(status), SIGBUS);
		dev_check_registers_clear();
	}
	dev_still_counts();
}
END_TEST

static void open_again_and_again(void)
{
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGBUS, SIG_IGN);
	dev_become(NOBODY);
	for (;;) {
		fd = open(HWPMC_DEVICE, O_RDWR | O_CLOEXEC);
		if (fd > 200)
			close_range(3, fd, 0);
	}
}

/* REVOKE goes through the owners that there are: those that come meanwhile do not keep it. */
START_TEST(revoke_ends_beside_programs_that_open_again_and_again)
{
	pid_t pid[2];

	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		if (!pid[i])
			open_again_and_again();
	}
	dev_msleep(500);
	for (int i = 0; i < 5; i++)
		revoke_from_outside();
	for (int i = 0; i < 2; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(revoke_needs_privilege);
	harness_add(whoever_was_revoked_gets_sigbus_once_and_enodev_for_ever);
	harness_add(who_held_nothing_gets_no_signal_when_all_is_revoked);
	harness_add(who_only_counts_gets_enodev_and_no_signal);
	harness_add(server_that_measures_itself_outlives_its_counters);
	harness_add(who_samples_without_a_log_gets_sigbus_too);
	harness_add(who_held_a_log_alone_gets_sigbus_too);
	harness_add(who_revokes_keeps_what_it_has_itself);
	harness_add(revoke_ends_a_mapped_log_with_its_last_record);
	harness_add_timed(revoke_in_a_storm_of_samples_ends_the_storm_and_its_owner, 20);
	harness_add(revoke_ends_beside_programs_that_open_again_and_again);
	return harness_run();
}
