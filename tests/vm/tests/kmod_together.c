/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_together - several that count at one time: processes whose PMCs have one row, and
 * reads by a thread while another one of its process, or its child, runs elsewhere.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

#include <libhwpmc.h>

#include "harness.h"
#include "kmod_dev.h"

#define MOST_OWNERS	32

/* One CPU goes from one to the other, and each has the counter in its turn. */
START_TEST(processes_whose_pmcs_have_one_row_are_counted_apart)
{
	const unsigned int n = dev_insn_counters();
	int fd[MOST_OWNERS + 1];
	uint32_t id[MOST_OWNERS + 1];
	struct child a, b;

	ck_assert_uint_le(n, MOST_OWNERS);
	for (unsigned int i = 0; i <= n; i++) {
		fd[i] = dev_open();
		id[i] = dev_alloc(fd[i], TC, HWPMC_F_EXEC_START, ANY, INSN, U);
	}
	ck_assert_uint_eq(HWPMC_ID_ROW(id[0]), HWPMC_ID_ROW(id[n]));
	a = dev_loop(8000000);
	b = dev_loop(8000000);
	dev_pin(a.pid, 0);
	dev_pin(b.pid, 0);
	dev_ok(dev_attach(fd[0], id[0], a.pid));
	dev_ok(dev_attach(fd[n], id[n], b.pid));
	dev_ok(dev_start(fd[0], id[0]));
	dev_ok(dev_start(fd[n], id[n]));
	dev_go(&a);
	dev_go(&b);
	dev_wait(&a);
	dev_wait(&b);
	ck_assert_uint_eq(dev_read(fd[0], id[0]), loop_insn(8000000));
	ck_assert_uint_eq(dev_read(fd[n], id[n]), loop_insn(8000000));
	for (unsigned int i = 0; i <= n; i++)
		close(fd[i]);
}
END_TEST

/* ---- threads -------------------------------------------------------------- */

static struct hwpmc *h;
static uint32_t id[2];

static void ok(int rc)
{
	ck_assert_msg(!rc, "%s", hwpmc_error(h));
}

/* This process counts its instructions, by two PMCs, on CPU 0. */
static void count_own(void)
{
	dev_pin(0, 0);
	ok(hwpmc_open(&h));
	for (int i = 0; i < 2; i++) {
		ok(hwpmc_allocate(h, i ? "branches:u" : "instructions:u", HWPMC_MODE_TC, 0,
				  HWPMC_CPU_ANY, 0, &id[i]));
		ok(hwpmc_attach(h, id[i], 0));
		ok(hwpmc_start(h, id[i]));
	}
}

#define ROUND	10000		/* branches of a round, and a third of its instructions */

static volatile uint64_t rounds;
static volatile bool over;

static void *spin_on(void *unused)
{
	while (!over) {
		dev_spin(ROUND);
		rounds++;
	}
	return NULL;
}

/* On CPU 1 from its first instruction. */
static pthread_t begin_other(void)
{
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t cpu;

	CPU_ZERO(&cpu);
	CPU_SET(1, &cpu);
	rounds = 0;
	over = false;
	ck_assert(!pthread_attr_init(&attr));
	ck_assert(!pthread_attr_setaffinity_np(&attr, sizeof(cpu), &cpu));
	ck_assert(!pthread_create(&thread, &attr, spin_on, NULL));
	pthread_attr_destroy(&attr);
	return thread;
}

static void end_other(pthread_t thread)
{
	over = true;
	pthread_join(thread, NULL);
}

static void read_one_by_one(uint64_t *value)
{
	ok(hwpmc_read(h, id[0], &value[0]));
	ok(hwpmc_read(h, id[1], &value[1]));
}

static void read_in_a_batch(uint64_t *value)
{
	struct hwpmc_batch_entry entry[2] = { { .pmcid = id[0] }, { .pmcid = id[1] } };

	ok(hwpmc_batch(h, HWPMC_BATCH_READ, entry, 2));
	value[0] = entry[0].value;
	value[1] = entry[1].value;
}

/* Between two reads the other thread has been in no switch, mostly. This one sleeps, so that
 * it executes little itself. */
static void check_reads(void (*read_both)(uint64_t *value))
{
	pthread_t thread;

	count_own();
	thread = begin_other();
	for (int i = 0; i < 30; i++) {
		uint64_t before[2], after[2], n, most;

		read_both(before);
		n = rounds + 1;		/* of which it may have had the last one in part */
		while (rounds < n + 4)
			dev_msleep(1);
		most = rounds;
		read_both(after);
		ck_assert_uint_ge(after[0] - before[0], 3 * ROUND * (most - n));
		ck_assert_uint_ge(after[1] - before[1], ROUND * (most - n));
	}
	end_other(thread);
	hwpmc_close(h);
}

START_TEST(a_thread_reads_what_another_of_its_process_has_counted_elsewhere)
{
	check_reads(read_one_by_one);
}
END_TEST

START_TEST(a_thread_reads_the_same_in_a_batch)
{
	check_reads(read_in_a_batch);
}
END_TEST

/* ---- pages ---------------------------------------------------------------- */

/* The page is of one thread: with another one its row does not hold the PMC's count, also
 * where this thread goes on without a switch. */
START_TEST(a_new_thread_ends_what_the_page_of_its_maker_says_of_both)
{
	struct hwpmc_counter c;
	unsigned int held = 0;

	count_own();
	ok(hwpmc_counter_open(h, id[0], &c));
	for (int i = 0; i < 30; i++) {
		const volatile struct hwpmc_user_row *row = c.row;
		pthread_t thread;

		held += row->sum == row->seq;
		thread = begin_other();
		while (!rounds)
			;
		ck_assert_uint_ne(row->sum, row->seq);
		end_other(thread);
		/* A switch, after which the thread is alone again. */
		dev_msleep(1);
	}
	ck_assert_uint_gt(held, 0);
	hwpmc_close(h);
}
END_TEST

/* What both look at, so that each goes on until the other has looked often enough. */
struct looks {
	volatile unsigned int parent, child;
	volatile unsigned int wrong;		/* the child's that found a count */
};

#define LOOKS	10000

static void look_as_child(const volatile struct hwpmc_user_row *row, struct looks *looks)
{
	dev_pin(0, 1);
	while (looks->parent < LOOKS || looks->child < LOOKS) {
		looks->wrong += row->own == row->seq || row->sum == row->seq;
		looks->child++;
	}
	_exit(0);
}

/* The parent runs, and so its own page holds a count. A switch may come between two of its
 * looks, so those are counted that found one. */
START_TEST(a_child_finds_no_count_in_the_page_while_its_parent_runs)
{
	struct looks *looks = mmap(NULL, sizeof(*looks), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const volatile struct hwpmc_user_row *row;
	struct hwpmc_counter c;
	pid_t pid;

	ck_assert(looks != MAP_FAILED);
	count_own();
	ok(hwpmc_counter_open(h, id[0], &c));
	row = c.row;
	pid = fork();
	if (!pid)
		look_as_child(row, looks);
	while (looks->parent < LOOKS || looks->child < LOOKS)
		looks->parent += row->own == row->seq;
	ck_assert(waitpid(pid, NULL, 0) == pid);
	ck_assert_uint_eq(looks->wrong, 0);
	hwpmc_close(h);
	munmap(looks, sizeof(*looks));
}
END_TEST

int main(void)
{
	dev_setup();
	harness_fixture(NULL, dev_still_counts);
	harness_add_timed(processes_whose_pmcs_have_one_row_are_counted_apart, 30);
	harness_add_timed(a_thread_reads_what_another_of_its_process_has_counted_elsewhere, 30);
	harness_add_timed(a_thread_reads_the_same_in_a_batch, 30);
	harness_add_timed(a_new_thread_ends_what_the_page_of_its_maker_says_of_both, 30);
	harness_add_timed(a_child_finds_no_count_in_the_page_while_its_parent_runs, 30);
	return harness_run();
}
