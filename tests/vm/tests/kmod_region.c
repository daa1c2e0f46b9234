/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_region.c - regions: ten instructions are ten, whatever happens around
 * them, and whoever uses a region wrongly is told so.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <libhwpmc.h>

#include "harness.h"
#include "kmod_dev.h"

/* A region may be in a variable of any kind. */
static struct hwpmc *h;
static struct hwpmc_region *everywhere;
static _Thread_local struct hwpmc_region *of_thread;

#define NOPS_10	__asm__ __volatile__("nop;nop;nop;nop;nop;nop;nop;nop;nop;nop")

/* LONG_INSNS instructions, 20000 of them branches. */
#define LONG								\
	__asm__ __volatile__("movl $20000, %%ecx\n"			\
			     "1:\taddq $1, %%rdx\n\t"			\
			     "decl %%ecx\n\t"				\
			     "jnz 1b"					\
			     : : : "rcx", "rdx", "cc")
#define LONG_INSNS	60001

static void ok(int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(h));
}

static uint32_t allocate(const char *event, uint32_t flags)
{
	uint32_t id;

	ok(hwpmc_allocate(h, event, HWPMC_MODE_TC, flags, HWPMC_CPU_ANY, 0, &id));
	ok(hwpmc_attach(h, id, 0));
	return id;
}

static uint32_t own(const char *event)
{
	uint32_t id = allocate(event, 0);

	ok(hwpmc_start(h, id));
	return id;
}

static struct hwpmc_region *region(const uint32_t *ids, unsigned int n)
{
	struct hwpmc_region *r = hwpmc_region_new(h, "test", ids, n);

	ck_assert_msg(r != NULL, "%s", hwpmc_error(h));
	return r;
}

/* Of all threads of this process. */
static uint64_t switches(void)
{
	struct rusage used;

	ck_assert(!getrusage(RUSAGE_SELF, &used));
	return used.ru_nvcsw + used.ru_nivcsw;
}

static uint64_t switches_at_open;

static void open_device(void)
{
	switches_at_open = switches();
	ck_assert_msg(!hwpmc_open(&h), "%s", hwpmc_error(NULL));
}

static struct hwpmc_region_stats get(struct hwpmc_region *r, unsigned int i)
{
	struct hwpmc_region_stats s;

	ok(hwpmc_region_get(r, i, &s));
	return s;
}

static void check_all(struct hwpmc_region *r, unsigned int i, uint64_t n,
		      uint64_t value)
{
	struct hwpmc_region_stats s = get(r, i);

	ck_assert_uint_eq(s.misused, 0);
	ck_assert_uint_eq(s.count + s.dropped, n);
	/* A switch in the midst of reading costs one value. */
	ck_assert_uint_le(s.dropped, switches() - switches_at_open);
	ck_assert_uint_eq(s.min, value);
	ck_assert_uint_eq(s.median, value);
	ck_assert_uint_eq(s.max, value);
	ck_assert_uint_eq(s.sum, s.count * value);
	ck_assert(s.mean == (double)value);
}

/* All by the thread itself. */
static void check_exact(struct hwpmc_region *r, unsigned int i, uint64_t n,
			uint64_t value)
{
	check_all(r, i, n, value);
	ck_assert_uint_eq(get(r, i).fallbacks, 0);
}

/* Ten instructions, once; again where the thread was switched amid the end. */
static void check_once(struct hwpmc_region *r)
{
	int left = 5;

	do {
		hwpmc_region_reset(r);
		hwpmc_region_begin(r);
		NOPS_10;
		hwpmc_region_end(r);
	} while (get(r, 0).dropped && left--);
	check_exact(r, 0, 1, 10);
}

/* ---- exact --------------------------------------------------------------- */

START_TEST(ten_nops_in_a_region_are_ten_instructions)
{
	struct hwpmc_region *r;
	uint32_t ids[2];

	open_device();
	ids[0] = own("instructions:u");
	ids[1] = own("branches:u");
	r = region(ids, 2);
	ck_assert_str_eq(hwpmc_region_name(r), "test");
	for (int i = 0; i < 4000; i++) {
		hwpmc_region_begin(r);
		NOPS_10;
		hwpmc_region_end(r);
	}
	check_exact(r, 0, 4000, 10);
	check_exact(r, 1, 4000, 0);
	hwpmc_region_free(r);
	hwpmc_close(h);
}
END_TEST

START_TEST(an_empty_region_is_0_of_each_number_of_counters)
{
	uint32_t ids[HWPMC_REGION_PMCS];
	unsigned int most = dev_counters();

	open_device();
	if (most > HWPMC_REGION_PMCS)
		most = HWPMC_REGION_PMCS;
	for (unsigned int n = 1; n <= most; n++) {
		struct hwpmc_region *r;

		ids[n - 1] = own(n % 2 ? "instructions:u" : "branches:u");
		r = region(ids, n);
		for (int i = 0; i < 500; i++) {
			hwpmc_region_begin(r);
			hwpmc_region_end(r);
		}
		for (unsigned int j = 0; j < n; j++)
			check_exact(r, j, 500, 0);
		hwpmc_region_free(r);
	}
	hwpmc_close(h);
}
END_TEST

__attribute__((optimize("O0"), noinline))
static void not_optimised(struct hwpmc_region *r)
{
	hwpmc_region_begin(r);
	NOPS_10;
	hwpmc_region_end(r);
}

START_TEST(a_region_is_exact_wherever_its_pointer_is_and_however_compiled)
{
	struct { struct hwpmc_region *within; } s;
	uint32_t id;

	open_device();
	id = own("instructions:u");
	everywhere = region(&id, 1);
	of_thread = everywhere;
	s.within = everywhere;
	for (int i = 0; i < 300; i++) {
		not_optimised(everywhere);
		hwpmc_region_begin(everywhere);
		NOPS_10;
		hwpmc_region_end(everywhere);
		hwpmc_region_begin(of_thread);
		NOPS_10;
		hwpmc_region_end(of_thread);
		hwpmc_region_begin(s.within);
		NOPS_10;
		hwpmc_region_end(s.within);
	}
	check_exact(everywhere, 0, 1200, 10);
	hwpmc_region_reset(everywhere);
	/* As functions: some instructions more, always the same. */
	for (int i = 0; i < 300; i++) {
		(hwpmc_region_begin)(everywhere);
		NOPS_10;
		(hwpmc_region_end)(everywhere);
	}
	ck_assert_uint_ge(get(everywhere, 0).min, 10);
	ck_assert_uint_le(get(everywhere, 0).min, 20);
	check_exact(everywhere, 0, 300, get(everywhere, 0).min);
	hwpmc_region_free(everywhere);
	hwpmc_close(h);
}
END_TEST

/* Somebody who moves the process about and takes its CPUs from it. */
static pid_t disturb(pid_t whom)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; ; i++) {
		dev_pin(whom, i & 1);
		dev_pin(0, i & 1);
		for (int j = 0; j < 20; j++) {
			dev_spin(20000);
			sched_yield();
		}
	}
}

START_TEST(regions_stay_exact_when_they_are_preempted_and_moved)
{
	pid_t pid = disturb(getpid());
	struct hwpmc_region *r;
	uint32_t ids[2];
	uint64_t end, n = 0;

	open_device();
	ids[0] = own("instructions:u");
	ids[1] = own("branches:u");
	r = region(ids, 2);
	for (end = switches() + 20; n < 10000 || switches() <= end; n++) {
		hwpmc_region_begin(r);
		LONG;
		hwpmc_region_end(r);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	check_exact(r, 0, n, LONG_INSNS);
	check_exact(r, 1, n, 20000);
	hwpmc_region_free(r);
	hwpmc_close(h);
	dev_still_counts();
}
END_TEST

static volatile bool stop_thread;

static void *spin_in_thread(void *arg)
{
	while (!stop_thread)
		dev_spin(1000);
	return NULL;
}

START_TEST(other_threads_of_the_process_are_not_in_a_region)
{
	struct hwpmc_region *r;
	pthread_t thread;
	uint32_t id;

	open_device();
	id = own("instructions:u");
	pthread_create(&thread, NULL, spin_in_thread, NULL);
	r = region(&id, 1);
	for (int i = 0; i < 2000; i++) {
		hwpmc_region_begin(r);
		LONG;
		hwpmc_region_end(r);
	}
	stop_thread = true;
	pthread_join(thread, NULL);
	check_exact(r, 0, 2000, LONG_INSNS);
	hwpmc_region_free(r);
	hwpmc_close(h);
}
END_TEST

static void *measure_in_thread(void *arg)
{
	struct hwpmc_region *r = hwpmc_region_new(h, "thread", arg, 1);

	for (int i = 0; r && i < 3000; i++) {
		hwpmc_region_begin(r);
		NOPS_10;
		hwpmc_region_end(r);
	}
	return r;
}

START_TEST(each_thread_has_regions_of_its_own_of_one_counter)
{
	struct hwpmc_region *r[3];
	pthread_t thread[3];
	uint32_t id;

	open_device();
	id = own("instructions:u");
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, measure_in_thread, &id);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], (void **)&r[i]);
	for (int i = 0; i < 3; i++) {
		ck_assert_ptr_nonnull(r[i]);
		check_exact(r[i], 0, 3000, 10);
		/* What has ended its thread can be asked, and is of no use. */
		hwpmc_region_begin(r[i]);
		hwpmc_region_end(r[i]);
		ck_assert_uint_eq(get(r[i], 0).misused, 2);
		hwpmc_region_free(r[i]);
	}
	hwpmc_close(h);
}
END_TEST

START_TEST(regions_are_nested_and_overlap)
{
	struct hwpmc_region *a, *b, *outer;
	uint32_t id;

	open_device();
	id = own("instructions:u");
	a = region(&id, 1);
	b = region(&id, 1);
	outer = region(&id, 1);
	for (int i = 0; i < 1000; i++) {
		hwpmc_region_begin(outer);
		hwpmc_region_begin(a);
		NOPS_10;
		hwpmc_region_end(a);
		hwpmc_region_end(outer);
	}
	check_exact(a, 0, 1000, 10);
	/* What a region within it costs, besides. */
	ck_assert_uint_ge(get(outer, 0).min, 10 + get(a, 0).cost);
	ck_assert_uint_lt(get(outer, 0).max, 500);
	/* A switch in the midst of reading costs a value, and is told. */
	ck_assert_uint_eq(get(outer, 0).count + get(outer, 0).dropped, 1000);
	ck_assert_uint_le(get(outer, 0).dropped, switches() - switches_at_open);
	hwpmc_region_reset(a);
	ck_assert_uint_eq(get(a, 0).count, 0);
	for (int i = 0; i < 1000; i++) {
		hwpmc_region_begin(a);
		LONG;
		hwpmc_region_begin(b);
		LONG;
		hwpmc_region_end(a);
		LONG;
		hwpmc_region_end(b);
	}
	for (int i = 0; i < 2; i++) {
		struct hwpmc_region_stats s = get(i ? b : a, 0);

		ck_assert_uint_eq(s.count + s.dropped, 1000);
		ck_assert_uint_eq(s.misused, 0);
		ck_assert_uint_gt(s.min, 2 * LONG_INSNS);
		ck_assert_uint_lt(s.max, 2 * LONG_INSNS + 500);
	}
	hwpmc_region_free(a);
	hwpmc_region_free(b);
	hwpmc_region_free(outer);
	hwpmc_close(h);
}
END_TEST

START_TEST(many_values_of_a_region_have_a_median_that_says_it_is_sketched)
{
	struct hwpmc_region_stats s;
	struct hwpmc_region *r;
	uint32_t id;

	open_device();
	id = own("instructions:u");
	r = region(&id, 1);
	for (int i = 0; i < 9000; i++) {
		hwpmc_region_begin(r);
		if (i % 3)
			LONG;
		hwpmc_region_end(r);
		if (i == 4000)
			ck_assert_uint_eq(get(r, 0).sketched, 0);
	}
	s = get(r, 0);
	ck_assert_uint_eq(s.sketched, 1);
	ck_assert_uint_lt(s.min, 10);
	ck_assert_uint_ge(s.median, LONG_INSNS - LONG_INSNS / 256);
	ck_assert_uint_le(s.median, s.max);
	ck_assert_uint_lt(s.max, LONG_INSNS + 10);
	hwpmc_region_free(r);
	hwpmc_close(h);
}
END_TEST

/* ---- not by the thread itself -------------------------------------------- */

START_TEST(a_region_made_before_its_counter_starts_is_exact_afterwards)
{
	struct hwpmc_region *r;
	uint32_t id;

	open_device();
	id = allocate("instructions:u", 0);
	r = region(&id, 1);
	ok(hwpmc_start(h, id));
	for (int i = 0; i < 100; i++) {
		hwpmc_region_begin(r);
		NOPS_10;
		hwpmc_region_end(r);
	}
	check_exact(r, 0, 100, 10);
	hwpmc_region_free(r);
	hwpmc_close(h);
}
END_TEST

START_TEST(a_stopped_counter_is_asked_of_the_module_and_said_to_be)
{
	struct hwpmc_region_stats s;
	struct hwpmc_region *r;
	uint32_t id;

	open_device();
	id = own("instructions:u");
	r = region(&id, 1);
	ok(hwpmc_stop(h, id));
	for (int i = 0; i < 10; i++) {
		hwpmc_region_begin(r);
		NOPS_10;
		hwpmc_region_end(r);
	}
	check_all(r, 0, 10, 0);
	ck_assert_uint_eq(get(r, 0).fallbacks, 10);
	/* Stopped within: what it was cannot be known. */
	hwpmc_region_reset(r);
	ok(hwpmc_start(h, id));
	hwpmc_region_begin(r);
	hwpmc_stop(h, id);
	hwpmc_region_end(r);
	s = get(r, 0);
	ck_assert_uint_eq(s.dropped, 1);
	ck_assert_uint_eq(s.count, 0);
	ok(hwpmc_start(h, id));
	check_once(r);
	hwpmc_region_free(r);
	hwpmc_close(h);
}
END_TEST

START_TEST(what_rdpmc_cannot_read_lies_beside_what_it_can)
{
	struct hwpmc_region *r;
	uint32_t ids[3];
	char *pages;

	open_device();
	ids[0] = own("page_fault.all");
	ids[1] = own("instructions:u");
	ids[2] = allocate("instructions:u", HWPMC_F_DESCENDANTS);
	ok(hwpmc_start(h, ids[2]));
	r = region(ids, 3);
	for (int i = 0; i < 100; i++) {
		pages = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ck_assert_ptr_ne(pages, MAP_FAILED);
		madvise(pages, 4 * 4096, MADV_NOHUGEPAGE);
		hwpmc_region_begin(r);
		__asm__ __volatile__("movb $1, (%0); movb $1, 4096(%0)\n\t"
				     "movb $1, 8192(%0); movb $1, 12288(%0)"
				     : : "r"(pages) : "memory");
		hwpmc_region_end(r);
		munmap(pages, 4 * 4096);
	}
	check_all(r, 0, 100, 4);
	ck_assert_uint_eq(get(r, 0).fallbacks, 100);
	ck_assert_uint_eq(get(r, 2).fallbacks, 100);
	/* By system call the caller's own code makes an instruction or two. */
	ck_assert_uint_lt(get(r, 2).median, 12);
	ck_assert_uint_gt(get(r, 2).cost, 20);
	/* Those four, and where the pointer to the pages had to be fetched. */
	ck_assert_uint_le(get(r, 1).min, 5);
	check_exact(r, 1, 100, get(r, 1).min);
	ck_assert_uint_ge(get(r, 1).min, 4);
	hwpmc_region_free(r);
	hwpmc_close(h);
}
END_TEST

/* ---- wrongly ------------------------------------------------------------- */

static void *use_in_thread(void *r)
{
	struct hwpmc_region *of_other = r;

	hwpmc_region_end(of_other);
	hwpmc_region_begin(of_other);
	hwpmc_region_end(of_other);
	return NULL;
}

START_TEST(end_without_begin_is_counted_and_harms_nothing)
{
	struct hwpmc_region *r;
	pthread_t thread;
	uint32_t id;

	open_device();
	id = own("instructions:u");
	r = region(&id, 1);
	hwpmc_region_end(r);
	hwpmc_region_end(r);
	ck_assert_uint_eq(get(r, 0).misused, 2);
	/* The second begin is what counts; again, where the thread was switched amid
	 * the end. */
	do {
		hwpmc_region_reset(r);
		hwpmc_region_begin(r);
		LONG;
		hwpmc_region_begin(r);
		NOPS_10;
		hwpmc_region_end(r);
		ck_assert_uint_eq(get(r, 0).misused, 1);
	} while (get(r, 0).dropped);
	ck_assert_uint_eq(get(r, 0).count, 1);
	ck_assert_uint_eq(get(r, 0).max, 10);
	/* Another thread cannot end what is open here. */
	pthread_create(&thread, NULL, use_in_thread, r);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(get(r, 0).misused, 4);
	hwpmc_region_begin(r);
	pthread_create(&thread, NULL, use_in_thread, r);
	pthread_join(thread, NULL);
	hwpmc_region_end(r);
	ck_assert_uint_eq(get(r, 0).misused, 7);
	ck_assert_uint_eq(get(r, 0).count + get(r, 0).dropped, 2);
	check_once(r);
	hwpmc_region_free(r);
	hwpmc_close(h);
}
END_TEST

START_TEST(a_region_of_the_parent_has_no_values_in_a_child)
{
	struct hwpmc_region *r;
	uint32_t id;
	int status;
	pid_t pid;

	open_device();
	id = own("instructions:u");
	r = region(&id, 1);
	hwpmc_region_begin(r);
	pid = fork();
	if (!pid) {
		struct hwpmc_region_stats s;

		hwpmc_region_end(r);
		hwpmc_region_begin(r);
		hwpmc_region_end(r);
		hwpmc_region_get(r, 0, &s);
		_exit(s.count != 0 || s.dropped != 2);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	hwpmc_region_end(r);
	ck_assert_uint_eq(get(r, 0).count + get(r, 0).dropped, 1);
	check_once(r);
	hwpmc_region_free(r);
	hwpmc_close(h);
}
END_TEST

START_TEST(regions_of_what_cannot_be_read_are_refused)
{
	struct hwpmc_region_stats s;
	struct hwpmc_region *r;
	uint32_t ids[9];

	open_device();
	for (int i = 0; i < 9; i++)
		ids[i] = i ? ids[0] : own("instructions:u");
	ck_assert_ptr_null(hwpmc_region_new(h, "none", ids, 0));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_str_eq(hwpmc_error(h), "a region has 1 to 8 counters, not 0");
	ck_assert_ptr_null(hwpmc_region_new(h, "nine", ids, 9));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(hwpmc_region_new(h, "null", NULL, 1));
	ck_assert_int_eq(errno, EINVAL);
	ids[1] ^= 1;
	ck_assert_ptr_null(hwpmc_region_new(h, "no such", ids, 2));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(hwpmc_reason(h), HWPMC_WHY_ID);
	r = region(ids, 1);
	ck_assert_int_eq(hwpmc_region_get(r, 1, &s), -1);
	ck_assert_int_eq(errno, EINVAL);
	hwpmc_region_free(r);
	hwpmc_region_free(NULL);
	hwpmc_close(h);
}
END_TEST

/* A processor in order shows no more of them than that they are executed. */
START_TEST(rdpmc_reads_are_ordered_by_a_fence_at_each_end)
{
	uint64_t a, b, plain = 1000, ordered = 1000;
	struct hwpmc_counter c;

	open_device();
	ok(hwpmc_counter_open(h, own("instructions:u"), &c));
	for (int i = 0; i < 1000; i++) {
		hwpmc_counter_read(&c, &a);
		hwpmc_counter_read(&c, &b);
		if (b - a < plain)
			plain = b - a;
		hwpmc_counter_read_ordered(&c, &a);
		hwpmc_counter_read_ordered(&c, &b);
		if (b - a < ordered)
			ordered = b - a;
	}
	ck_assert_uint_eq(ordered, plain + 2);
	hwpmc_close(h);
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(rdpmc_reads_are_ordered_by_a_fence_at_each_end);
	harness_add(ten_nops_in_a_region_are_ten_instructions);
	harness_add(an_empty_region_is_0_of_each_number_of_counters);
	harness_add(a_region_is_exact_wherever_its_pointer_is_and_however_compiled);
	harness_add_timed(regions_stay_exact_when_they_are_preempted_and_moved, 60);
	harness_add_timed(other_threads_of_the_process_are_not_in_a_region, 30);
	harness_add_timed(each_thread_has_regions_of_its_own_of_one_counter, 30);
	harness_add(regions_are_nested_and_overlap);
	harness_add(many_values_of_a_region_have_a_median_that_says_it_is_sketched);
	harness_add(a_region_made_before_its_counter_starts_is_exact_afterwards);
	harness_add(a_stopped_counter_is_asked_of_the_module_and_said_to_be);
	harness_add(what_rdpmc_cannot_read_lies_beside_what_it_can);
	harness_add_timed(end_without_begin_is_counted_and_harms_nothing, 20);
	harness_add(a_region_of_the_parent_has_no_values_in_a_child);
	harness_add(regions_of_what_cannot_be_read_are_refused);
	return harness_run();
}
