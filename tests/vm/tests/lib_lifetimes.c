/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_lifetimes - PMCs, regions and mapped reads through release and allocation: a value is
 * exact or there is none, in the same thread, in others, and in threads that reuse the
 * memory of ended ones.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <libhwpmc.h>
#include <libhwpmclog.h>

#include "harness.h"
#include "../lib/lib_machine.h"

#define NOPS_10	__asm__ __volatile__("nop;nop;nop;nop;nop;nop;nop;nop;nop;nop")
#define VALUES	20
#define THREADS	8
#define ROUNDS	100

static struct hwpmc *h;

static void ok(int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(h));
}

static void begin(void)
{
	ck_assert_msg(!hwpmc_open(&h), "%s", hwpmc_error(NULL));
}

static void end(void)
{
	hwpmc_close(h);
}

static uint32_t counting(const char *event)
{
	uint32_t id;

	ok(hwpmc_allocate(h, event, HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id));
	ok(hwpmc_attach(h, id, 0));
	ok(hwpmc_start(h, id));
	return id;
}

static struct hwpmc_region *region(uint32_t id)
{
	struct hwpmc_region *r = hwpmc_region_new(h, "test", &id, 1);

	ck_assert_msg(r != NULL, "%s", hwpmc_error(h));
	return r;
}

static void run(struct hwpmc_region *r)
{
	for (int i = 0; i < VALUES; i++) {
		hwpmc_region_begin(r);
		NOPS_10;
		hwpmc_region_end(r);
	}
}

static struct hwpmc_region_stats stats_of(struct hwpmc_region *r)
{
	struct hwpmc_region_stats s;

	ok(hwpmc_region_get(r, 0, &s));
	return s;
}

/* Each value is ten; values are missing only where the thread was switched in a read. */
static void check_exact(struct hwpmc_region *r)
{
	struct hwpmc_region_stats s = stats_of(r);

	ck_assert_uint_ge(s.count, VALUES - 5);
	ck_assert_uint_eq(s.count + s.dropped, VALUES);
	ck_assert_uint_eq(s.min, 10);
	ck_assert_uint_eq(s.max, 10);
	ck_assert_uint_eq(s.fallbacks, 0);
}

START_TEST(region_is_exact_after_release_and_allocation)
{
	begin();
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t id = counting("instructions:u");
		struct hwpmc_region *r = region(id);

		run(r);
		check_exact(r);
		hwpmc_region_free(r);
		ok(hwpmc_release(h, id));
	}
	end();
}
END_TEST

START_TEST(region_is_exact_after_detach_and_attach)
{
	struct hwpmc_region *r;
	uint32_t id;

	begin();
	id = counting("instructions:u");
	r = region(id);
	for (int round = 0; round < 3; round++) {
		run(r);
		check_exact(r);
		ok(hwpmc_detach(h, id, 0));
		ok(hwpmc_stop(h, id));
		hwpmc_region_reset(r);
		run(r);
		/* The PMC is read by call: it counts nobody. */
		ck_assert_uint_eq(stats_of(r).max, 0);
		hwpmc_region_reset(r);
		ok(hwpmc_attach(h, id, 0));
		ok(hwpmc_start(h, id));
	}
	hwpmc_region_free(r);
	end();
}
END_TEST

START_TEST(region_of_a_released_pmc_has_no_values)
{
	struct hwpmc_region *r;
	struct hwpmc_counter c;
	uint32_t id, next;

	begin();
	id = counting("r00c4");
	r = region(id);
	ok(hwpmc_release(h, id));
	next = counting("r00c5");
	ck_assert_uint_eq(HWPMC_ID_ROW(next), HWPMC_ID_ROW(id));
	ok(hwpmc_counter_open(h, next, &c));
	run(r);
	ck_assert_uint_eq(stats_of(r).count, 0);
	hwpmc_region_free(r);
	end();
}
END_TEST

/* Only a wrong id: the PMC that is on the row now is not touched. */
static void refused(int rc)
{
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(hwpmc_reason(h), HWPMC_WHY_ID);
}

START_TEST(id_of_a_released_pmc_is_einval_in_every_call)
{
	struct hwpmc_counter c;
	uint64_t value;
	uint32_t old, next;

	begin();
	for (int round = 0; round < 3 * ROUNDS; round++) {
		old = counting("r00c0");
		ok(hwpmc_release(h, old));
		next = counting("r00c0");
		ck_assert_uint_eq(HWPMC_ID_ROW(next), HWPMC_ID_ROW(old));
		refused(hwpmc_stop(h, old));
		refused(hwpmc_start(h, old));
		refused(hwpmc_read(h, old, &value));
		refused(hwpmc_rw(h, old, 5, &value));
		refused(hwpmc_set(h, old, 5));
		refused(hwpmc_attach(h, old, 0));
		refused(hwpmc_detach(h, old, 0));
		refused(hwpmc_counter_open(h, old, &c));
		refused(hwpmc_release(h, old));
		ok(hwpmc_read(h, next, &value));
		ck_assert_uint_gt(value, 0);
		ok(hwpmc_stop(h, next));
		ok(hwpmc_release(h, next));
	}
	end();
}
END_TEST

START_TEST(mapped_read_needs_no_call_after_release)
{
	begin();
	for (int round = 0; round < ROUNDS; round++) {
		uint32_t id = counting("instructions:u");
		struct hwpmc_counter c;
		uint64_t mapped = 0, called;
		int tries = 0;

		ok(hwpmc_counter_open(h, id, &c));
		while (!hwpmc_user_row_read(c.row, &mapped))
			ck_assert_int_lt(tries++, 100);
		ok(hwpmc_read(h, id, &called));
		ck_assert_uint_gt(mapped, 0);
		ck_assert_uint_gt(called, mapped);
		ok(hwpmc_release(h, id));
	}
	end();
}
END_TEST

/* ---- threads ---------------------------------------------------------------- */

static pthread_barrier_t together;

static void *rounds_of_thread(void *arg)
{
	uint32_t id = *(uint32_t *)arg;
	struct hwpmc_region *r = region(id);

	run(r);
	pthread_barrier_wait(&together);
	check_exact(r);
	hwpmc_region_free(r);
	pthread_barrier_wait(&together);
	/* The main thread releases the PMC and allocates another one. */
	pthread_barrier_wait(&together);
	r = region(*(uint32_t *)arg);
	run(r);
	check_exact(r);
	hwpmc_region_free(r);
	return NULL;
}

START_TEST(regions_of_threads_are_exact_after_release)
{
	pthread_t threads[THREADS];
	uint32_t id;

	begin();
	pthread_barrier_init(&together, NULL, THREADS + 1);
	for (int round = 0; round < ROUNDS; round++) {
		id = counting("instructions:u");
		for (int i = 0; i < THREADS; i++)
			ck_assert(!pthread_create(&threads[i], NULL, rounds_of_thread, &id));
		pthread_barrier_wait(&together);
		pthread_barrier_wait(&together);
		ok(hwpmc_release(h, id));
		id = counting("instructions:u");
		pthread_barrier_wait(&together);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		ok(hwpmc_release(h, id));
	}
	end();
}
END_TEST

static struct hwpmc_region *left;

static void *end_within_region(void *arg)
{
	left = region(*(uint32_t *)arg);
	hwpmc_region_begin(left);
	pthread_exit((void *)pthread_self());
}

static void *cancelled_within_region(void *arg)
{
	left = region(*(uint32_t *)arg);
	hwpmc_region_begin(left);
	pthread_cancel(pthread_self());
	pthread_testcancel();
	return NULL;
}

static void *use_region_of_another(void *arg)
{
	hwpmc_region_end(left);
	hwpmc_region_begin(left);
	hwpmc_region_end(left);
	return (void *)pthread_self();
}

/* glibc gives the memory of an ended thread to the next one, at the same address. */
static void region_outlives_thread(const char *event, void *(*fn)(void *))
{
	uint32_t id;
	pthread_t t;
	void *second;

	begin();
	id = counting(event);
	ck_assert(!pthread_create(&t, NULL, fn, &id));
	pthread_join(t, NULL);
	ck_assert(!pthread_create(&t, NULL, use_region_of_another, NULL));
	pthread_join(t, &second);
	ck_assert(left->thread == second);
	ck_assert_uint_eq(stats_of(left).count, 0);
	ck_assert_uint_eq(stats_of(left).misused, 3);
	hwpmc_region_free(left);
	end();
}

START_TEST(region_of_an_ended_thread_is_misuse_in_the_next)
{
	region_outlives_thread("instructions:u", end_within_region);
	region_outlives_thread("instructions:u", cancelled_within_region);
	region_outlives_thread("page-faults", end_within_region);
}
END_TEST

START_TEST(region_left_by_longjmp_begins_again)
{
	struct hwpmc_region *r;
	jmp_buf env;
	uint32_t id;

	begin();
	id = counting("instructions:u");
	r = region(id);
	if (!setjmp(env)) {
		hwpmc_region_begin(r);
		longjmp(env, 1);
	}
	run(r);
	check_exact(r);
	ck_assert_uint_eq(stats_of(r).misused, 1);
	hwpmc_region_free(r);
	end();
}
END_TEST

static int status_of(pid_t child)
{
	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_msg(WIFEXITED(status), "the child got signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* ---- beside busy threads ----------------------------------------------------- */

static volatile bool stop;

static void *spin(void *arg)
{
	while (!stop)
		;
	return arg;
}

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ull + ts.tv_nsec / 1000;
}

#define BUSY	3

static void spin_begin(pthread_t *threads)
{
	stop = false;
	for (int i = 0; i < BUSY; i++)
		ck_assert(!pthread_create(&threads[i], NULL, spin, NULL));
}

static void spin_end(pthread_t *threads)
{
	stop = true;
	for (int i = 0; i < BUSY; i++)
		pthread_join(threads[i], NULL);
}

static uint64_t requests(void)
{
	struct hwpmc_op_getdriverstats s;

	ok(hwpmc_driver_stats(h, &s));
	return s.syscalls;
}

START_TEST(region_is_made_without_reads_by_call_beside_threads)
{
	pthread_t threads[BUSY];
	struct hwpmc_region *r;
	uint64_t before, calls;
	uint32_t id[2];

	begin();
	id[0] = counting("instructions:u");
	id[1] = counting("branches:u");
	spin_begin(threads);
	before = requests();
	r = hwpmc_region_new(h, "test", id, 2);
	calls = requests() - before - 1;
	ck_assert_ptr_nonnull(r);
	/* One for each counter, and two to ask. */
	ck_assert_uint_le(calls, 4);
	run(r);
	spin_end(threads);
	check_exact(r);
	hwpmc_region_free(r);
	end();
}
END_TEST

/* Of a PMC that can be read by call alone: other threads are in its values. */
START_TEST(region_by_call_beside_threads_is_not_below_the_truth)
{
	pthread_t threads[BUSY];
	struct hwpmc_region_stats s;
	struct hwpmc_region *r;
	uint64_t before;
	uint32_t id;

	begin();
	ok(hwpmc_open_counter(h, "instructions:u", HWPMC_MODE_TC, HWPMC_F_DESCENDANTS, 0, 0,
			      &id));
	ok(hwpmc_start(h, id));
	spin_begin(threads);
	before = now_us();
	r = region(id);
	/* A call takes its time here, and a hundred of them took seconds. */
	ck_assert_uint_lt(now_us() - before, 500000);
	run(r);
	s = stats_of(r);
	ck_assert_uint_eq(s.fallbacks, VALUES);
	ck_assert_uint_ge(s.min, 10);
	hwpmc_region_free(r);
	spin_end(threads);
	/* Alone in its process it is exact but for some instructions of the caller. */
	r = region(id);
	run(r);
	s = stats_of(r);
	ck_assert_uint_ge(s.min, 10);
	ck_assert_uint_le(s.median, 20);
	hwpmc_region_free(r);
	end();
}
END_TEST

START_TEST(descriptor_of_a_handle_is_no_standard_one)
{
	int in = dup(0), out = dup(1), err = dup(2);
	struct hwpmc *mine[3];
	int fd[3], rc = 0;

	close(0);
	close(1);
	close(2);
	for (int i = 0; i < 3; i++)
		rc |= hwpmc_open(&mine[i]);
	for (int i = 0; i < 3; i++)
		fd[i] = rc ? -1 : hwpmc_fd(mine[i]);
	rc |= fcntl(0, F_GETFD) != -1 || fcntl(1, F_GETFD) != -1 || fcntl(2, F_GETFD) != -1;
	for (int i = 0; i < 3 && fd[i] >= 0; i++)
		rc |= fcntl(fd[i], F_GETFD) != FD_CLOEXEC;
	dup2(in, 0);
	dup2(out, 1);
	dup2(err, 2);
	ck_assert_int_eq(rc, 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_gt(fd[i], 2);
		hwpmc_close(mine[i]);
	}
}
END_TEST

/* Refuses a system call with an errno, as containers do. */
static int filter(int nr, int err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = 4, .filter = code };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int filtered_call(int err)
{
	struct hwpmc *mine;

	if (filter(SYS_ioctl, err))
		return 1;
	if (!hwpmc_open(&mine) || errno != err)
		return 2;
	return strstr(hwpmc_error(NULL), "(seccomp) forbids it") ? 0 : 3;
}

START_TEST(filter_of_system_calls_is_named_as_the_cause)
{
	static const int errors[] = { EPERM, ENOSYS };

	for (int i = 0; i < 2; i++) {
		pid_t child = fork();

		if (!child)
			_exit(filtered_call(errors[i]));
		ck_assert_int_eq(status_of(child), 0);
	}
}
END_TEST

/* ---- children of fork() ------------------------------------------------------- */

static bool not_owner(int rc)
{
	bool is = rc == -1 && errno == ESRCH && hwpmc_reason(h) == HWPMC_WHY_NOT_OWNER &&
		  hwpmc_detail(h) == getppid();

	if (!is)
		fprintf(stderr, "# %d, %s\n", rc, hwpmc_error(h));
	return is;
}

/* Operations on the PMC that its parent counts with. */
static bool child_is_refused(uint32_t id)
{
	struct hwpmc_batch_entry entry = { .pmcid = id };
	struct hwpmc_counter c;
	uint64_t value;

	return not_owner(hwpmc_stop(h, id)) && not_owner(hwpmc_start(h, id)) &&
	       not_owner(hwpmc_write(h, id, 42)) && not_owner(hwpmc_set(h, id, 42)) &&
	       not_owner(hwpmc_rw(h, id, 42, &value)) &&
	       not_owner(hwpmc_attach(h, id, 0)) && not_owner(hwpmc_detach(h, id, 0)) &&
	       not_owner(hwpmc_batch(h, HWPMC_BATCH_STOP, &entry, 1)) &&
	       not_owner(hwpmc_counter_open(h, id, &c)) && not_owner(hwpmc_release(h, id));
}

/* Operations on the handle itself. */
static bool child_is_refused_the_rest(void)
{
	struct hwpmc_op_kgmon kgmon = { .command = HWPMC_KGMON_RESET };
	struct hwpmc_unwind unwind = { .vdso = true };
	uint32_t id;

	return not_owner(hwpmc_allocate(h, "r00c4", HWPMC_MODE_TC, 0, HWPMC_CPU_ANY, 0, &id)) &&
	       not_owner(hwpmc_configure_log(h, -1)) && not_owner(hwpmc_flush_log(h)) &&
	       not_owner(hwpmc_close_log(h)) && not_owner(hwpmc_write_log(h, 1)) &&
	       not_owner(hwpmc_admin(h, 0, 0, HWPMC_STATE_FREE)) &&
	       not_owner(hwpmc_kgmon(h, &kgmon)) && not_owner(hwpmc_revoke(h)) &&
	       not_owner(hwpmc_unwind_add(h, &unwind));
}

static uint32_t counting_with_children(void)
{
	uint32_t id;

	ok(hwpmc_allocate(h, "instructions:u", HWPMC_MODE_TC, HWPMC_F_DESCENDANTS,
			  HWPMC_CPU_ANY, 0, &id));
	ok(hwpmc_attach(h, id, 0));
	ok(hwpmc_start(h, id));
	return id;
}

START_TEST(forked_child_can_only_read_its_parents_pmc)
{
	uint64_t before, after;
	uint32_t id;
	pid_t child;

	begin();
	id = counting_with_children();
	ok(hwpmc_read(h, id, &before));
	child = fork();
	if (!child)
		_exit(hwpmc_read(h, id, &after) || after <= before ? 1 :
		      !child_is_refused(id) ? 2 : !child_is_refused_the_rest() ? 3 : 0);
	ck_assert_int_eq(status_of(child), 0);
	ok(hwpmc_read(h, id, &before));
	ok(hwpmc_read(h, id, &after));
	ck_assert_uint_gt(after, before);
	end();
}
END_TEST

START_TEST(destructors_in_a_forked_child_end_nothing)
{
	struct hwpmc_region *r;
	uint32_t whole, own;
	uint64_t before, after;
	pid_t child;

	begin();
	whole = counting_with_children();
	own = counting("instructions:u");
	r = region(own);
	ok(hwpmc_read(h, whole, &before));
	child = fork();
	if (!child) {
		hwpmc_region_free(r);
		hwpmc_stop(h, whole);
		hwpmc_release(h, whole);
		hwpmc_release(h, own);
		hwpmc_close(h);
		exit(0);
	}
	ck_assert_int_eq(status_of(child), 0);
	ok(hwpmc_read(h, whole, &after));
	ck_assert_uint_gt(after, before);
	run(r);
	check_exact(r);
	hwpmc_region_free(r);
	end();
}
END_TEST

/* The first address of the first ring. */
static void *ring_address(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[300];
	void *at = NULL;

	ck_assert_ptr_nonnull(maps);
	while (!at && fgets(line, sizeof(line), maps))
		if (strstr(line, "hwpmc"))
			ck_assert_int_eq(sscanf(line, "%p", &at), 1);
	fclose(maps);
	return at;
}

static int no_record(unsigned int cpu, const void *data, size_t len, void *arg)
{
	return 1;
}

/* The child has its own memory where its parent has a ring. */
static int child_keeps_its_memory(struct hwpmc_rings *rings, void *at)
{
	volatile char *mine = mmap(at, 4096, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	uint64_t bytes = 1;

	if (mine != at)
		return 1;
	*mine = 7;
	if (!not_owner(hwpmc_rings_read(rings, no_record, NULL, &bytes)) || bytes ||
	    !not_owner(hwpmc_rings_wait(rings, 0)))
		return 2;
	hwpmc_rings_close(rings);
	return *mine == 7 ? 0 : 3;
}

START_TEST(rings_of_its_parent_are_refused_in_a_forked_child)
{
	struct hwpmc_rings *rings;
	pid_t child;
	void *at;

	begin();
	ok(hwpmc_rings_open(h, 0, 0, &rings));
	at = ring_address();
	ck_assert_ptr_nonnull(at);
	child = fork();
	if (!child)
		_exit(child_keeps_its_memory(rings, at));
	ck_assert_int_eq(status_of(child), 0);
	hwpmc_rings_close(rings);
	end();
}
END_TEST

int main(void)
{
	lib_load_module("true");
	harness_add_timed(region_is_exact_after_release_and_allocation, 60);
	harness_add(region_is_exact_after_detach_and_attach);
	harness_add(region_of_a_released_pmc_has_no_values);
	harness_add_timed(id_of_a_released_pmc_is_einval_in_every_call, 60);
	harness_add_timed(mapped_read_needs_no_call_after_release, 60);
	harness_add_timed(regions_of_threads_are_exact_after_release, 120);
	harness_add(region_of_an_ended_thread_is_misuse_in_the_next);
	harness_add(region_left_by_longjmp_begins_again);
	harness_add(region_is_made_without_reads_by_call_beside_threads);
	harness_add(region_by_call_beside_threads_is_not_below_the_truth);
	harness_add(descriptor_of_a_handle_is_no_standard_one);
	harness_add(filter_of_system_calls_is_named_as_the_cause);
	harness_add(forked_child_can_only_read_its_parents_pmc);
	harness_add(destructors_in_a_forked_child_end_nothing);
	harness_add(rings_of_its_parent_are_refused_in_a_forked_child);
	return harness_run();
}
