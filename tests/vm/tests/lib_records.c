/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_records - hwpmc_rings_next(): the records of the rings of all CPUs, one by one, parsed, by
 * a single call in a loop.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <libhwpmclog.h>

#include "harness.h"
#include "../lib/lib_machine.h"

#define PERIOD	20000
#define MARK	4711

static struct hwpmc *h;
static struct hwpmc_rings *rings;

static uint64_t of_type[256], samples_on[2], declared, marks;
static const struct hwpmc_log_hdr *first;

static void ok(int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(h));
}

static void begin(uint32_t ring_size)
{
	ck_assert_msg(!hwpmc_open(&h), "%s", hwpmc_error(NULL));
	ok(hwpmc_rings_open(h, ring_size, 0, &rings));
}

static void end(void)
{
	hwpmc_rings_close(rings);
	hwpmc_close(h);
}

static void execute(unsigned long n)
{
	__asm__ __volatile__("1: nop; dec %0; jnz 1b" : "+r"(n) : : "cc");
}

static uint32_t sampling(void)
{
	uint32_t id;

	ok(hwpmc_open_counter(h, "instructions:u", HWPMC_MODE_TS, HWPMC_F_CALLCHAIN, 0, PERIOD,
			      &id));
	ok(hwpmc_start(h, id));
	return id;
}

static void add(const struct hwpmc_record *r)
{
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS];

	if (!first) {
		first = r->hdr;
		ck_assert_int_eq(r->hdr->type, HWPMC_LOG_INITIALIZE);
	}
	of_type[r->hdr->type]++;
	switch (r->hdr->type) {
	case HWPMC_LOG_CALLCHAIN:
		ck_assert_int_eq(r->pid, getpid());
		ck_assert_int_ge(r->cpu, 0);
		ck_assert_int_lt(r->cpu, 2);
		ck_assert_uint_ge(r->npc, 1);
		samples_on[r->cpu]++;
		break;
	case HWPMC_LOG_DROPNOTIFY:
		hwpmc_record_drops(r->drop, samples, others, HWPMC_DROP_SLOTS);
		for (int i = 0; i < HWPMC_DROP_SLOTS; i++)
			declared += samples[i];
		break;
	case HWPMC_LOG_USERDATA:
		marks += r->hdr->id == MARK;
		break;
	}
}

/* All that is there. */
static void take(int timeout_ms)
{
	struct hwpmc_record r;
	int rc;

	while ((rc = hwpmc_rings_next(rings, timeout_ms, &r)) == 1)
		add(&r);
	ok(rc);
}

static uint64_t overflows(void)
{
	struct hwpmc_op_getdriverstats stats;

	ok(hwpmc_driver_stats(h, &stats));
	return stats.intr_processed;
}

static void *work(void *arg)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((long)arg, &one);
	sched_setaffinity(0, sizeof(one), &one);
	for (int i = 0; i < 100; i++)
		execute(PERIOD);
	return NULL;
}

START_TEST(records_of_all_cpus_come_from_one_call)
{
	uint64_t before;
	pthread_t thread[2];
	uint32_t id;

	begin(0);
	before = overflows();
	id = sampling();
	for (long cpu = 0; cpu < 2; cpu++)
		pthread_create(&thread[cpu], NULL, work, (void *)cpu);
	take(0);
	ok(hwpmc_write_log(h, MARK));
	for (int cpu = 0; cpu < 2; cpu++) {
		pthread_join(thread[cpu], NULL);
		take(0);
	}
	ok(hwpmc_stop(h, id));
	ok(hwpmc_flush_log(h));
	take(0);
	/* 300 periods of each thread. */
	for (int cpu = 0; cpu < 2; cpu++)
		ck_assert_uint_ge(samples_on[cpu] + declared, 250);
	ck_assert_uint_eq(samples_on[0] + samples_on[1] + declared, overflows() - before);
	ck_assert_uint_eq(marks, 1);
	ck_assert_uint_eq(of_type[HWPMC_LOG_PMCALLOCATE], 1);
	ck_assert_uint_eq(of_type[HWPMC_LOG_PMCATTACH], 1);
	ck_assert_uint_ge(of_type[HWPMC_LOG_MAP_IN], 3);
	ck_assert_uint_ge(of_type[HWPMC_LOG_THR_CREATE], 2);
	end();
}
END_TEST

START_TEST(records_and_declared_drops_are_all_overflows)
{
	uint64_t before;
	uint32_t id;

	begin(16384);
	before = overflows();
	id = sampling();
	for (int i = 0; i < 5; i++) {
		/* More samples than the ring has room for. */
		for (int j = 0; j < 300; j++)
			execute(PERIOD);
		take(0);
	}
	ok(hwpmc_stop(h, id));
	ok(hwpmc_flush_log(h));
	take(0);
	ck_assert_uint_gt(declared, 0);
	ck_assert_uint_gt(samples_on[0] + samples_on[1], 100);
	ck_assert_uint_eq(samples_on[0] + samples_on[1] + declared, overflows() - before);
	end();
}
END_TEST

static void nothing(int sig)
{
}

START_TEST(records_are_waited_for_until_the_time_is_over)
{
	struct sigaction sa = { .sa_handler = nothing };
	struct hwpmc_record r;

	begin(0);
	take(0);
	ck_assert_int_eq(hwpmc_rings_next(rings, 10, &r), 0);
	/* Fewer bytes than wake a reader. */
	ok(hwpmc_write_log(h, MARK));
	take(10);
	ck_assert_uint_eq(marks, 1);
	sigaction(SIGALRM, &sa, NULL);
	alarm(1);
	ck_assert_int_eq(hwpmc_rings_next(rings, -1, &r), -1);
	ck_assert_int_eq(errno, EINTR);
	end();
}
END_TEST

START_TEST(records_of_an_ended_log_come_before_its_end)
{
	struct hwpmc_record r;
	int rc;

	begin(0);
	ok(hwpmc_write_log(h, MARK));
	ok(hwpmc_close_log(h));
	while ((rc = hwpmc_rings_next(rings, -1, &r)) == 1)
		add(&r);
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(errno, ENODATA);
	ck_assert_ptr_nonnull(strstr(hwpmc_error(h), "ended"));
	ck_assert_uint_eq(marks, 1);
	ck_assert_uint_eq(of_type[HWPMC_LOG_CLOSELOG], 1);
	end();
}
END_TEST

/* All records, then the end of the log. */
static void take_to_the_end(int timeout_ms)
{
	struct hwpmc_record r;
	int rc;

	while ((rc = hwpmc_rings_next(rings, timeout_ms, &r)) == 1)
		add(&r);
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(errno, ENODATA);
}

START_TEST(records_of_a_removed_log_come_before_its_end)
{
	begin(0);
	ok(hwpmc_write_log(h, MARK));
	ok(hwpmc_configure_log(h, -1));
	take_to_the_end(1000);
	ck_assert_uint_eq(marks, 1);
	ck_assert_uint_eq(of_type[HWPMC_LOG_INITIALIZE], 1);
	ck_assert_int_eq(hwpmc_rings_wait(rings, 0), 1);
	/* Each later call too. */
	take_to_the_end(0);
	end();
}
END_TEST

START_TEST(records_of_a_full_ring_have_their_drops_and_the_end)
{
	uint64_t before;

	begin(16384);
	before = overflows();
	sampling();
	/* Both rings are full when the log is closed. */
	for (long cpu = 0; cpu < 2; cpu++)
		for (int i = 0; i < 4; i++)
			work((void *)cpu);
	ok(hwpmc_close_log(h));
	take_to_the_end(1000);
	ck_assert_uint_gt(declared, 0);
	ck_assert_uint_eq(samples_on[0] + samples_on[1] + declared, overflows() - before);
	ck_assert_uint_eq(of_type[HWPMC_LOG_CLOSELOG], 1);
	take_to_the_end(0);
	end();
}
END_TEST

static void *remove_log(void *arg)
{
	usleep(100000);
	ok(hwpmc_configure_log(h, -1));
	return NULL;
}

START_TEST(records_reader_wakes_when_the_log_is_removed)
{
	pthread_t thread;

	begin(0);
	take(0);
	pthread_create(&thread, NULL, remove_log, NULL);
	take_to_the_end(20000);
	pthread_join(thread, NULL);
	end();
}
END_TEST

START_TEST(records_of_a_later_log_do_not_revive_an_ended_one)
{
	struct hwpmc_rings *older;
	struct hwpmc_record r;

	begin(0);
	take(0);
	ok(hwpmc_configure_log(h, -1));
	older = rings;
	ok(hwpmc_rings_open(h, 0, 0, &rings));
	first = NULL;
	ok(hwpmc_write_log(h, MARK));
	take(0);
	ck_assert_uint_eq(marks, 1);
	ok(hwpmc_write_log(h, MARK));
	/* The descriptor has records of the later log. */
	ck_assert_int_eq(hwpmc_rings_wait(older, 1000), 1);
	ck_assert_int_eq(hwpmc_rings_next(older, 1000, &r), -1);
	ck_assert_int_eq(errno, ENODATA);
	take(0);
	ck_assert_uint_eq(marks, 2);
	hwpmc_rings_close(older);
	end();
}
END_TEST

static volatile sig_atomic_t getpids;
static pid_t self;

static void answer_getpid(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	getpids++;
	uc->uc_mcontext.gregs[REG_RAX] = self;
}

/* For the rest of the process's life. */
static void count_getpid(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_getpid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog prog = { .len = 4, .filter = filter };
	struct sigaction sa = { .sa_sigaction = answer_getpid, .sa_flags = SA_SIGINFO };

	self = getpid();
	sigaction(SIGSYS, &sa, NULL);
	ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog), 0);
	ck_assert_int_eq(getpid(), self);
	ck_assert_int_eq(getpids, 1);
}

START_TEST(records_of_a_ring_need_no_system_call_each)
{
	struct hwpmc_record r;
	unsigned int n = 0;
	uint32_t id;

	begin(0);
	id = sampling();
	for (int i = 0; i < 200; i++)
		execute(PERIOD);
	ok(hwpmc_stop(h, id));
	ok(hwpmc_flush_log(h));
	count_getpid();
	while (hwpmc_rings_next(rings, 0, &r) == 1)
		n++;
	ck_assert_uint_ge(n, 200);
	/* The call itself; three for each of two rings, and for records that came later. */
	ck_assert_int_le(getpids, 12);
	end();
}
END_TEST

static int from_within(unsigned int cpu, const void *data, size_t len, void *arg)
{
	struct hwpmc_record r;

	ck_assert_int_eq(hwpmc_rings_next(rings, 0, &r), -1);
	return errno;
}

static int take_bytes(unsigned int cpu, const void *data, size_t len, void *arg)
{
	return 0;
}

START_TEST(records_and_bytes_are_not_read_at_the_same_time)
{
	struct hwpmc_record r;

	begin(0);
	ck_assert_int_eq(hwpmc_rings_read(rings, from_within, NULL, NULL), EBUSY);
	ck_assert_int_eq(hwpmc_rings_next(rings, 0, &r), 1);
	ck_assert_int_eq(hwpmc_rings_read(rings, take_bytes, NULL, NULL), -1);
	ck_assert_int_eq(errno, EBUSY);
	take(0);
	ok(hwpmc_rings_read(rings, take_bytes, NULL, NULL));
	end();
	/* Without its beginning it is not a log. */
	begin(0);
	ok(hwpmc_rings_read(rings, take_bytes, NULL, NULL));
	ok(hwpmc_write_log(h, MARK));
	ck_assert_int_eq(hwpmc_rings_next(rings, 0, &r), -1);
	ck_assert_int_eq(errno, EINVAL);
	end();
}
END_TEST

START_TEST(records_are_refused_in_a_forked_child)
{
	struct hwpmc_record r;
	int status;
	pid_t pid;

	begin(0);
	ck_assert_int_eq(hwpmc_rings_next(rings, 0, &r), 1);
	pid = fork();
	if (!pid) {
		status = hwpmc_rings_next(rings, 0, &r) == -1 && errno == ESRCH ? 0 : 1;
		hwpmc_rings_close(rings);
		_exit(status);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	take(0);
	end();
}
END_TEST

int main(void)
{
	lib_load_module(LIB_NO_WATCHDOG);
	harness_add(records_of_all_cpus_come_from_one_call);
	harness_add(records_and_declared_drops_are_all_overflows);
	harness_add(records_are_waited_for_until_the_time_is_over);
	harness_add(records_of_an_ended_log_come_before_its_end);
	harness_add(records_of_a_full_ring_have_their_drops_and_the_end);
	harness_add(records_of_a_removed_log_come_before_its_end);
	harness_add(records_reader_wakes_when_the_log_is_removed);
	harness_add(records_of_a_later_log_do_not_revive_an_ended_one);
	harness_add(records_of_a_ring_need_no_system_call_each);
	harness_add(records_and_bytes_are_not_read_at_the_same_time);
	harness_add(records_are_refused_in_a_forked_child);
	return harness_run();
}
