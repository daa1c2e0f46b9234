// SPDX-License-Identifier: BSD-2-Clause
/*
 * vpmu_exact - the emulated PMU counts blocks of known length exactly, through
 * everything that leaves a block early: faults, traps, signals, system calls,
 * interrupts, repeated string instructions, single-stepping.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "rdpmc_block.h"
#include "vpmu_guest.h"

#define PAGE	4096UL
#define PAGES	256

static void open_instructions(void)
{
	rdpmc_open(PERF_COUNT_HW_INSTRUCTIONS);
}

static void open_branches(void)
{
	rdpmc_open(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
}

/* Small pages, none of them present. */
static char *absent_pages(void)
{
	char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	madvise(p, PAGES * PAGE, MADV_NOHUGEPAGE);
	return p;
}

static char *present_pages(void)
{
	char *p = absent_pages();

	memset(p, 0, PAGES * PAGE);
	return p;
}

/* A mapping of a file in memory: its pages are there, the mappings absent. */
static char *absent_mapping(int fd, int prot)
{
	char *p = mmap(NULL, PAGES * PAGE, prot, MAP_PRIVATE, fd, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	madvise(p, PAGES * PAGE, MADV_RANDOM);
	return p;
}

static int memory_file(void)
{
	int fd = memfd_create("pages", 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, PAGES * PAGE), 0);
	return fd;
}

static void put(int fd, const void *p, size_t size, off_t at)
{
	ck_assert_int_eq(pwrite(fd, p, size, at), size);
}

/* Signal handlers of known length: 1 or 2, and 3 to return. */
extern char handler_plain[], handler_skip2[], handler_return[], just_ret[];
asm("handler_plain: ret\n"
    "handler_skip2: addq $2, 168(%rdx)\n ret\n"		/* the saved RIP */
    "handler_return: mov $15, %eax\n syscall\n"
    "just_ret: ret\n");

static void handle(int sig, char *handler)
{
	struct {
		void *handler;
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} action = { handler, 0x04000000 | SA_SIGINFO, handler_return, 0 };

	ck_assert_int_eq(syscall(SYS_rt_sigaction, sig, &action, 0, 8), 0);
}

START_TEST(straight_code_and_loops_count_exactly)
{
	ck_assert_uint_eq(COUNT_INSNS(""), 0);
	ck_assert_uint_eq(COUNT_INSNS("nop; nop; nop"), 3);
	ck_assert_uint_eq(COUNT_INSNS("mov $1000, %%r9d\n"
		"1: dec %%r9d; jnz 1b"), 2001);
	ck_assert_uint_eq(COUNT_INSNS("mov $100000, %%r9d\n"
		"1: push %%r9; pop %%r10; call 2f; dec %%r9d; jnz 1b; jmp 3f\n"
		"2: ret\n3:"), 1 + 6 * 100000 + 1);
}
END_TEST

START_TEST(long_loop_counts_exactly_through_timer_interrupts)
{
	ck_assert_uint_eq(COUNT_INSNS("mov $20000000, %%r9d\n"
		"1: dec %%r9d; jnz 1b"), 40000001);
}
END_TEST

START_TEST(faulting_stores_and_loads_count_once)
{
	char *p = absent_pages();

	ck_assert_uint_eq(COUNT_INSNS("mov %[p], %%rdi; mov $256, %%r9d\n"
		"1: nop; movb $1, (%%rdi); add $4096, %%rdi; dec %%r9d; jnz 1b",
		[p]"r"(p)), 2 + 5 * 256);
	p = absent_pages();
	ck_assert_uint_eq(COUNT_INSNS("mov %[p], %%rdi; mov $256, %%r9d\n"
		"1: nop; pushq (%%rdi); pop %%r10; add $4096, %%rdi\n"
		"dec %%r9d; jnz 1b", [p]"r"(p)), 2 + 6 * 256);
}
END_TEST

START_TEST(repeated_string_instruction_counts_once)
{
	char *p = absent_pages();

	ck_assert_uint_eq(COUNT_INSNS("mov %[p], %%rdi; mov $1048576, %%ecx\n"
		"xor %%eax, %%eax; rep stosb; nop", [p]"r"(p)), 5);
	ck_assert_uint_eq(COUNT_INSNS("mov %[p], %%rdi; mov %[p], %%rsi\n"
		"mov $1048576, %%ecx; rep movsb; nop", [p]"r"(p)), 5);
	ck_assert_uint_eq(COUNT_INSNS("mov $10, %%r9d\n"
		"1: mov %[p], %%rdi; mov %[p], %%rsi; mov $200000, %%ecx\n"
		"rep movsb; dec %%r9d; jnz 1b", [p]"r"(p)), 1 + 60);
	ck_assert_uint_eq(COUNT_INSNS("mov %[p], %%rdi; xor %%ecx, %%ecx\n"
		"rep stosb; nop", [p]"r"(p)), 4);
}
END_TEST

START_TEST(repeated_comparison_counts_once)
{
	char *p = present_pages();

	p[70000] = 1;
	ck_assert_uint_eq(COUNT_INSNS("mov %[p], %%rdi; mov $1048576, %%ecx\n"
		"xor %%eax, %%eax; repe scasb; nop", [p]"r"(p)), 5);
	ck_assert_uint_eq(COUNT_INSNS("mov %[p], %%rdi; mov %[p], %%rsi\n"
		"mov $131072, %%ecx; repe cmpsq; nop", [p]"r"(p)), 5);
}
END_TEST

START_TEST(system_calls_count_their_user_part_only)
{
	ck_assert_uint_eq(COUNT_INSNS("mov $1000, %%r9d\n"
		"1: mov $39, %%eax; syscall; dec %%r9d; jnz 1b"), 1 + 4 * 1000);
	ck_assert_uint_eq(COUNT_INSNS("mov $100, %%r9d\n"
		"1: mov $24, %%eax; syscall; dec %%r9d; jnz 1b"), 1 + 4 * 100);
}
END_TEST

START_TEST(breakpoint_retires_and_its_handler_counts)
{
	handle(SIGTRAP, handler_plain);
	ck_assert_uint_eq(COUNT_INSNS("nop; int3; nop"), 3 + 3);
}
END_TEST

START_TEST(undefined_instruction_does_not_retire)
{
	handle(SIGILL, handler_skip2);
	ck_assert_uint_eq(COUNT_INSNS("nop; ud2; nop"), 2 + 4);
}
END_TEST

START_TEST(divide_error_does_not_retire)
{
	handle(SIGFPE, handler_skip2);
	ck_assert_uint_eq(COUNT_INSNS("xor %%ecx, %%ecx; mov $1, %%eax\n"
		"xor %%edx, %%edx; div %%ecx; nop"), 4 + 4);
}
END_TEST

START_TEST(rdpmc_of_no_counter_is_a_general_protection_fault)
{
	handle(SIGSEGV, handler_skip2);
	ck_assert_uint_eq(COUNT_INSNS("mov $0x20, %%ecx; rdpmc; nop"), 2 + 4);
}
END_TEST

START_TEST(absent_code_pages_count_each_call_once)
{
	int fd = memory_file();

	for (int i = 0; i < PAGES; i++)
		put(fd, "\xc3", 1, i * PAGE + (i & 63));
	for (int r = 0; r < 3; r++) {
		char *p = absent_mapping(fd, PROT_READ | PROT_EXEC);

		ck_assert_uint_eq(COUNT_INSNS("mov %[p], %%rdi\n"
			"mov $256, %%r9d; xor %%r10d, %%r10d\n"
			"1: mov %%r10, %%r11; and $63, %%r11; add %%rdi, %%r11\n"
			"call *%%r11; add $4096, %%rdi; inc %%r10; dec %%r9d\n"
			"jnz 1b", [p]"r"(p)), 3 + PAGES * 9);
		munmap(p, PAGES * PAGE);
	}
}
END_TEST

START_TEST(instruction_across_absent_pages_counts_once)
{
	static const char lea_ret[] = "\x48\x8d\x80\0\0\0\0\xc3";
	int fd = memory_file();

	for (int i = 0; i < PAGES - 1; i++)
		put(fd, lea_ret, 8, i * PAGE + PAGE - 3);
	for (int r = 0; r < 2; r++) {
		char *p = absent_mapping(fd, PROT_READ | PROT_EXEC);

		ck_assert_uint_eq(COUNT_INSNS("mov %[p], %%rdi\n"
			"add $4093, %%rdi; mov $127, %%r9d\n"
			"1: call *%%rdi; add $8192, %%rdi; dec %%r9d; jnz 1b",
			[p]"r"(p)), 3 + 127 * 6);
		munmap(p, PAGES * PAGE);
	}
}
END_TEST

START_TEST(branches_count_taken_or_not)
{
	ck_assert_uint_eq(COUNT(""), 0);
	ck_assert_uint_eq(COUNT("mov $1000, %%r9d\n"
		"1: dec %%r9d; jnz 1b"), 1000);
	ck_assert_uint_eq(COUNT("mov $1000, %%r9d\n"
		"1: call 2f; dec %%r9d; jnz 1b; jmp 3f; 2: ret\n3:"), 3001);
}
END_TEST

START_TEST(branches_count_exactly_through_faults)
{
	char *p = absent_pages();
	uint64_t target = (uint64_t)just_ret;
	int fd = memory_file();

	ck_assert_uint_eq(COUNT("mov %[p], %%rdi; mov $256, %%r9d\n"
		"1: cmpb $0, (%%rdi); jnz 2f; add $4096, %%rdi; dec %%r9d\n"
		"jnz 1b\n2:", [p]"r"(p)), 512);
	/* the branch itself faults */
	for (int i = 0; i < 64; i++)
		put(fd, &target, 8, i * PAGE);
	p = absent_mapping(fd, PROT_READ);
	ck_assert_uint_eq(COUNT("mov %[p], %%rdi; mov $64, %%r9d\n"
		"1: call *(%%rdi); add $4096, %%rdi; dec %%r9d; jnz 1b",
		[p]"r"(p)), 192);
}
END_TEST

/* Flags live across an emulated instruction that begins its block. */
START_TEST(status_flags_survive_at_a_block_start)
{
	for (int i = 0; i < 100; i++) {
		uint8_t below, equal;

		asm volatile("mov %2, %%ecx; xor %%eax, %%eax\n"
			     "cmp %3, %4; jmp 1f\n"
			     "1: rdpmc; setb %0; setz %1"
			     : "=&r"(below), "=&r"(equal)
			     : "r"(rdpmc_index), "r"(i), "r"(50)
			     : "rax", "rcx", "rdx", "cc");
		ck_assert_int_eq(below, 50 < i);
		ck_assert_int_eq(equal, 50 == i);
	}
}
END_TEST

static uint64_t count_of_loop_100(bool step)
{
	int go[2], status, fd;
	uint64_t n = 0;
	pid_t pid;
	char c = 0;

	ck_assert_int_eq(pipe(go), 0);
	pid = fork();
	if (!pid) {
		if (read(go[0], &c, 1) == 1 && step)
			ptrace(PTRACE_TRACEME, 0, 0, 0);
		execl("build/vm/progs/loop", "loop", "100", (char *)0);
		_exit(1);
	}
	fd = perf_open(PERF_COUNT_HW_INSTRUCTIONS, pid);
	ck_assert_int_eq(write(go[1], &c, 1), 1);
	while (waitpid(pid, &status, 0) == pid && !WIFEXITED(status))
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
	ck_assert_int_eq(WEXITSTATUS(status), 0);
	ck_assert_int_eq(read(fd, &n, 8), 8);
	return n;
}

START_TEST(single_stepped_program_counts_as_a_free_one)
{
	ck_assert_uint_eq(count_of_loop_100(false), 3 * 100 + 7 * 3 + 8);
	ck_assert_uint_eq(count_of_loop_100(true), 3 * 100 + 7 * 3 + 8);
}
END_TEST

/*
 * POPF ends a block with all flags ready. The addition in the next block has an operand with the
 * bits of IOPL, NT and AC, and its own flags are not computed when CPUID is emulated.
 */
START_TEST(flags_behind_an_emulated_instruction_have_no_other_bits)
{
	uint64_t flags, a, b, c, d, operand = 0x47000, sum = 1;

	for (int i = 0; i < 100; i++) {
		a = VPMU_LEAF + VPMU_ID;
		b = c = 0;
		asm volatile("lea -128(%%rsp), %%rsp; pushfq; popfq; jmp 1f; 1:"
			     "add %[operand], %[sum]; cpuid; pushfq; pop %[flags];"
			     "push $0x202; popfq; lea 128(%%rsp), %%rsp"
			     : "+a"(a), "+b"(b), "+c"(c), "=d"(d), [sum] "+r"(sum),
			       [flags] "=&r"(flags) : [operand] "r"(operand) : "memory", "cc");
		ck_assert_uint_eq(a, VPMU_INTERFACE);
		ck_assert_uint_eq(flags & operand, 0);
	}
}
END_TEST

int main(void)
{
	harness_add(single_stepped_program_counts_as_a_free_one);
	harness_fixture(open_instructions, NULL);
	harness_add(straight_code_and_loops_count_exactly);
	harness_add(long_loop_counts_exactly_through_timer_interrupts);
	harness_add(faulting_stores_and_loads_count_once);
	harness_add(repeated_string_instruction_counts_once);
	harness_add(repeated_comparison_counts_once);
	harness_add(system_calls_count_their_user_part_only);
	harness_add(breakpoint_retires_and_its_handler_counts);
	harness_add(undefined_instruction_does_not_retire);
	harness_add(divide_error_does_not_retire);
	harness_add(rdpmc_of_no_counter_is_a_general_protection_fault);
	harness_add(absent_code_pages_count_each_call_once);
	harness_add(instruction_across_absent_pages_counts_once);
	harness_add(status_flags_survive_at_a_block_start);
	harness_add(flags_behind_an_emulated_instruction_have_no_other_bits);
	harness_fixture(open_branches, NULL);
	harness_add(branches_count_taken_or_not);
	harness_add(branches_count_exactly_through_faults);
	return harness_run();
}
