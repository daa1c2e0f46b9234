// SPDX-License-Identifier: BSD-2-Clause
/*
 * vpmu_totals - the private CPUID leaves of the emulated PMU: what a total
 * includes of the read itself, totals per address space and since a mark, the
 * counts of accesses and the registers.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "rdpmc_block.h"
#include "vpmu_guest.h"

/*
 * Two reads of a total with a block between; the difference is the block, the
 * second CPUID, and the 8 instructions that make the first result safe and
 * prepare the second.
 */
#define READ_AROUND(leaf, sub, block) ({				\
	uint64_t d_;							\
	asm volatile("mov %[l], %%eax; mov %[s], %%ecx; cpuid\n"	\
		     "shl $32, %%rdx; or %%rax, %%rdx\n"		\
		     "mov %%rdx, %%r8\n"				\
		     block "\n"						\
		     "mov %[l], %%eax; mov %[s], %%ecx; cpuid\n"	\
		     "shl $32, %%rdx; or %%rax, %%rdx\n"		\
		     "sub %%r8, %%rdx; mov %%rdx, %[d]"			\
		     : [d]"=&r"(d_)					\
		     : [l]"r"(VPMU_LEAF + (leaf)), [s]"r"(sub)		\
		     : "rax", "rbx", "rcx", "rdx", "r8", "r9", "cc",	\
		       "memory");					\
	d_; })
#define BETWEEN		6	/* shl or mov, mov mov cpuid */

START_TEST(every_total_includes_the_reading_cpuid_itself)
{
	pin_to_cpu(0);
	for (int i = 0; i < 100; i++) {
		ck_assert_uint_eq(READ_AROUND(VPMU_VCPU + VPMU_USER_INSN, 0,
					      ""), BETWEEN);
		ck_assert_uint_eq(READ_AROUND(VPMU_OWN, VPMU_USER_INSN, ""),
				  BETWEEN);
		ck_assert_uint_eq(READ_AROUND(VPMU_OWN, VPMU_USER_BRANCH, ""),
				  0);
	}
}
END_TEST

START_TEST(own_totals_count_a_block_exactly)
{
	for (int i = 0; i < 10; i++) {
		ck_assert_uint_eq(READ_AROUND(VPMU_OWN, VPMU_USER_INSN,
			"mov $100000, %%r9d\n1: dec %%r9d; jnz 1b"),
			BETWEEN + 200001);
		ck_assert_uint_eq(READ_AROUND(VPMU_OWN, VPMU_USER_BRANCH,
			"mov $100000, %%r9d\n1: dec %%r9d; jnz 1b"), 100000);
	}
}
END_TEST

START_TEST(own_totals_follow_the_process_across_cpus)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t before, n = 0;

	before = vpmu_own(VPMU_USER_INSN);
	for (int i = 0; i < 20; i++) {
		pin_to_cpu(i % cpus);
		n += READ_AROUND(VPMU_OWN, VPMU_USER_INSN,
				 "mov $10000, %%r9d\n1: dec %%r9d; jnz 1b");
	}
	ck_assert_uint_eq(n, 20 * (BETWEEN + 20001));
	ck_assert_uint_ge(vpmu_own(VPMU_USER_INSN) - before, n);
	ck_assert_uint_lt(vpmu_own(VPMU_USER_INSN) - before, n + 100000);
}
END_TEST

static void busy(uint64_t n)
{
	asm volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
}

struct shared {
	uint64_t key, before, after;
};

static struct shared *shared_page(void)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(s, MAP_FAILED);
	return s;
}

START_TEST(another_process_has_totals_of_its_own)
{
	struct shared *s = shared_page();
	uint64_t own = vpmu_own(VPMU_USER_INSN);
	int status;

	if (!fork()) {
		s->key = vpmu_key();
		s->before = vpmu_own(VPMU_USER_INSN);
		busy(1000000);
		s->after = vpmu_own(VPMU_USER_INSN);
		_exit(0);
	}
	wait(&status);
	ck_assert_uint_ne(s->key, vpmu_key());
	ck_assert_uint_ge(s->after - s->before, 2000000);
	ck_assert_uint_lt(s->after - s->before, 2000100);
	ck_assert_uint_ge(vpmu_space(s->key, VPMU_USER_INSN), s->after);
	ck_assert_uint_lt(vpmu_space(s->key, VPMU_USER_INSN), s->after + 10000);
	ck_assert_uint_lt(vpmu_own(VPMU_USER_INSN) - own, 100000);
}
END_TEST

static void *busy_thread(void *arg)
{
	busy(500000);
	return arg;
}

START_TEST(threads_share_the_totals_of_their_process)
{
	uint64_t own = vpmu_own(VPMU_USER_INSN);
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, busy_thread, NULL), 0);
	pthread_join(thread, NULL);
	own = vpmu_own(VPMU_USER_INSN) - own;
	ck_assert_uint_ge(own, 1000000);
	ck_assert_uint_lt(own, 1000000 + 10000);
}
END_TEST

START_TEST(totals_since_the_mark_split_into_own_and_others)
{
	uint64_t own, others, all;
	int status;

	vpmu_mark();
	if (!fork()) {
		busy(1000000);
		_exit(0);
	}
	wait(&status);
	busy(300000);
	own = vpmu_since(VPMU_SINCE_OWN, VPMU_USER_BRANCH);
	others = vpmu_since(VPMU_SINCE_OTHERS, VPMU_USER_BRANCH);
	all = vpmu_since(VPMU_SINCE_ALL, VPMU_USER_BRANCH);
	ck_assert_uint_ge(own, 300000);
	ck_assert_uint_lt(own, 310000);
	ck_assert_uint_ge(others, 1000000);
	ck_assert_uint_ge(all, own + others);
	ck_assert_uint_lt(all, own + others + 1000);
}
END_TEST

/* The whole machine: two reads by this process, which has it to itself. */
START_TEST(totals_of_all_vcpus_add_up)
{
	uint64_t all = vpmu_all(VPMU_KERNEL_INSN);
	uint64_t own = vpmu_own(VPMU_KERNEL_INSN);

	for (int i = 0; i < 1000; i++)
		syscall(SYS_getppid);
	own = vpmu_own(VPMU_KERNEL_INSN) - own;
	all = vpmu_all(VPMU_KERNEL_INSN) - all;
	ck_assert_uint_ge(own, 1000 * 50);
	ck_assert_uint_ge(all, own);
}
END_TEST

START_TEST(kernel_instructions_are_not_user_ones)
{
	uint64_t user, kernel;
	volatile char *p;

	pin_to_cpu(0);
	p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	user = vpmu_own(VPMU_USER_INSN);
	kernel = vpmu_own(VPMU_KERNEL_INSN);
	p[0] = 1;				/* a page fault */
	kernel = vpmu_own(VPMU_KERNEL_INSN) - kernel;
	user = vpmu_own(VPMU_USER_INSN) - user;
	ck_assert_uint_ge(kernel, 500);
	ck_assert_uint_lt(user, 200);
}
END_TEST

START_TEST(rdpmc_accesses_are_counted)
{
	uint64_t all, one, n = 0;

	rdpmc_open(PERF_COUNT_HW_INSTRUCTIONS);
	/* When it is preempted perf reads the counter too: another try then. */
	for (int try = 0; try < 20 && n != 100; try++) {
		all = vpmu_access(VPMU_N_RDPMC, VPMU_ALL_VCPUS);
		one = vpmu_access(VPMU_N_RDPMC, 0);
		for (int i = 0; i < 50; i++)
			COUNT("");
		n = vpmu_access(VPMU_N_RDPMC, 0) - one;
		ck_assert_uint_ge(n, 100);
		ck_assert_uint_ge(vpmu_access(VPMU_N_RDPMC, VPMU_ALL_VCPUS) - all,
				  100);
	}
	ck_assert_uint_eq(n, 100);
}
END_TEST

/* Opening and closing an event writes selects, and leaves them as before. */
START_TEST(registers_show_what_a_driver_wrote)
{
	uint64_t writes = vpmu_access(VPMU_N_WRMSR, VPMU_ALL_VCPUS);
	uint64_t fixed, used = 0;
	int n = vpmu_reg(VPMU_REG_N_GENERAL, 0);

	ck_assert_int_gt(n, 0);
	rdpmc_open(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	for (int i = 0; i < n; i++)
		used += (vpmu_reg(VPMU_REG_SELECT + i, 0) & 0xff) ==
			(vpmu_reg(VPMU_REG_IS_AMD, 0) ? 0xc2 : 0xc4);
	ck_assert_uint_eq(used, 1);
	ck_assert_uint_gt(vpmu_access(VPMU_N_WRMSR, VPMU_ALL_VCPUS), writes);
	ck_assert_uint_gt(vpmu_access(VPMU_N_WRMSR_CLASS + VPMU_CLASS_SELECT,
				      VPMU_ALL_VCPUS), 0);
	fixed = vpmu_reg(VPMU_REG_COUNTER + rdpmc_index, 0);
	busy(1000);
	ck_assert_uint_ge(vpmu_reg(VPMU_REG_COUNTER + rdpmc_index, 0) - fixed,
			  1000);
}
END_TEST

START_TEST(unknown_queries_answer_zero)
{
	ck_assert_uint_eq(vpmu_query(0x7777, 0, 0), 0);
	ck_assert_uint_eq(vpmu_own(99), 0);
	ck_assert_uint_eq(vpmu_space(0x123000, 0), 0);
	ck_assert_uint_eq(vpmu_reg(0x999, 0), 0);
	ck_assert_uint_eq(vpmu_reg(VPMU_REG_SELECT, 1000), 0);
	ck_assert_uint_eq(vpmu_access(VPMU_N_RDPMC, 1000), 0);
}
END_TEST

START_TEST(guest_header_finds_the_emulated_pmu)
{
	ck_assert(vpmu_present());
	ck_assert_uint_eq(vpmu_reg(VPMU_REG_N_VCPUS, 0),
			  (unsigned int)atoi(getenv("VM_CPUS")));
	ck_assert_uint_ne(vpmu_key(), 0);
}
END_TEST

int main(void)
{
	harness_add(guest_header_finds_the_emulated_pmu);
	harness_add(every_total_includes_the_reading_cpuid_itself);
	harness_add(own_totals_count_a_block_exactly);
	harness_add(own_totals_follow_the_process_across_cpus);
	harness_add(another_process_has_totals_of_its_own);
	harness_add(threads_share_the_totals_of_their_process);
	harness_add(totals_since_the_mark_split_into_own_and_others);
	harness_add(totals_of_all_vcpus_add_up);
	harness_add(kernel_instructions_are_not_user_ones);
	harness_add(rdpmc_accesses_are_counted);
	harness_add(registers_show_what_a_driver_wrote);
	harness_add(unknown_queries_answer_zero);
	return harness_run();
}
