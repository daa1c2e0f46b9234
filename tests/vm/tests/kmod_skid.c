/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_skid.c - an overflow in user mode whose interrupt comes a few instructions later, when
 * the program has entered the kernel (option skid= of the emulated PMU): the sample is where
 * the program was, as all of a PMC that counts user mode alone.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>

#include "harness.h"
#include "../lib/kmod_rec.h"

#define PERIOD	1009
#define ROUNDS	60000ul

/* Each has a frame of its own and is all that a child executes for long: the addresses from
 * its beginning to its end. */
extern char calls[], calls_end[], gates[], gates_end[], faults[], faults_end[];
/* Up to the first of two places that enter the kernel in turn: the second executes little. */
extern char turns[], turns_end[], gate_turns[], gate_turns_end[];

asm(".text\n"
    "calls: push %rbp; mov %rsp, %rbp\n"
    "1: mov $110, %eax; syscall; dec %rdi; jnz 1b; pop %rbp; ret\n"
    "calls_end:\n"
    "gates: push %rbp; mov %rsp, %rbp\n"
    "1: mov $64, %eax; int $0x80; dec %rdi; jnz 1b; pop %rbp; ret\n"
    "gates_end:\n"
    /* MADV_DONTNEED of the page at RSI, then a fault on it. */
    "faults: push %rbp; mov %rsp, %rbp; mov %rdi, %r8; mov %rsi, %rdi\n"
    "1: mov $28, %eax; mov $4096, %esi; mov $4, %edx; syscall; movb $1, (%rdi)\n"
    "dec %r8; jnz 1b; pop %rbp; ret\n"
    "faults_end:\n"
    "turns: push %rbp; mov %rsp, %rbp\n"
    "1: .rept 500; nop; .endr; mov $110, %eax; syscall; nop\n"
    "turns_end: mov $110, %eax; syscall; dec %rdi; jnz 1b; pop %rbp; ret\n"
    "gate_turns: push %rbp; mov %rsp, %rbp\n"
    "1: .rept 500; nop; .endr; mov $64, %eax; int $0x80; nop\n"
    "gate_turns_end: mov $64, %eax; int $0x80; dec %rdi; jnz 1b; pop %rbp; ret\n");

typedef void entry(uint64_t rounds, void *page);

static const struct program {
	char *from, *to;
	uint64_t rounds;
} programs[] = {
	{ calls, calls_end, ROUNDS }, { gates, gates_end, ROUNDS },
	{ faults, faults_end, ROUNDS / 4 },
	{ turns, turns_end, ROUNDS / 40 }, { gate_turns, gate_turns_end, ROUNDS / 40 },
};

/* Its return address is in every chain. */
static void __attribute__((noinline, noclone)) caller(const struct program *p, void *page)
{
	((entry *)p->from)(p->rounds, page);
	asm volatile("");
}

static void enter_kernel(void *program)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);

	caller(program, page);
}

static unsigned int samples, inside, chained, broken;

static bool is_in(uint64_t pc, const char *from, const char *to)
{
	return pc >= (uintptr_t)from && pc < (uintptr_t)to;
}

static void look_at_sample(const struct hwpmc_record *r, const struct program *p)
{
	unsigned int n = (r->hdr->len - sizeof(*r->sample)) / 8;
	const __u64 *pc = r->sample->pc;

	samples++;
	ck_assert_msg(r->hdr->flags & HWPMC_SAMPLE_USER &&
		      !(r->hdr->flags & (HWPMC_SAMPLE_HIDDEN | HWPMC_SAMPLE_SPLIT)),
		      "flags %#x at %#llx", r->hdr->flags, pc[0]);
	ck_assert_uint_lt(pc[0], 1ull << 47);
	if (!is_in(pc[0], p->from, p->to))
		return;
	inside++;
	broken += !!(r->hdr->flags & HWPMC_SAMPLE_FAULT);
	if (n > 1)
		chained += is_in(pc[1], (char *)caller, (char *)caller + 64);
}

static void look_at(const struct program *p)
{
	samples = inside = chained = broken = 0;
	look();
	for (unsigned int i = 0; i < nrec; i++)
		if (rec[i].hdr->type == HWPMC_LOG_CALLCHAIN)
			look_at_sample(&rec[i], p);
}

/* Not at a function's first or last instructions, where the frame is not yet there: those
 * are two of a million here. */
static void sample_program(const struct program *p, uint32_t flags)
{
	struct child c;
	uint32_t id;

	kmod_setup();
	begin();
	c = dev_child(enter_kernel, (void *)p);
	id = allocate("instructions:u", HWPMC_MODE_TS, flags, ANY, PERIOD);
	ok(hwpmc_attach(h, id, c.pid));
	ok(hwpmc_start(h, id));
	dev_go(&c);
	dev_wait(&c);
	ok(hwpmc_stop(h, id));
	look_at(p);
	hwpmc_close(h);
	ck_assert_uint_gt(inside, 50);
	/* The way to the program and back, in the C library; and the second place of two. */
	ck_assert_uint_ge(inside + inside / 30 + 10, samples);
	if (flags & HWPMC_F_CALLCHAIN)
		ck_assert_msg(chained == inside && !broken, "%u of %u, %u broken", chained,
			      inside, broken);
}

static void sample_programs(void *unused)
{
	for (unsigned int i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		sample_program(&programs[i], 0);
		sample_program(&programs[i], HWPMC_F_CALLCHAIN);
		sample_program(&programs[i], HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN);
	}
}

START_TEST(samples_of_user_mode_are_where_the_program_entered_the_kernel)
{
	sample_programs(NULL);
}
END_TEST

START_TEST(samples_of_user_mode_are_so_for_the_unprivileged_too)
{
	dev_as(NOBODY, sample_programs, NULL);
}
END_TEST

/* Whatever the kernel executes for a thread that has no user part any more. */
START_TEST(samples_of_user_mode_of_a_whole_cpu_bear_exits_and_kernel_threads)
{
	uint32_t id;

	kmod_setup();
	begin();
	id = allocate("instructions:u", HWPMC_MODE_SS, HWPMC_F_CALLCHAIN, 0, 211);
	ok(hwpmc_start(h, id));
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (!pid)
			_exit(0);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	}
	ok(hwpmc_stop(h, id));
	look();
	ck_assert_uint_gt(count(HWPMC_LOG_CALLCHAIN), 200);
	for (unsigned int i = 0; i < nrec; i++)
		if (rec[i].hdr->type == HWPMC_LOG_CALLCHAIN &&
		    rec[i].hdr->flags & HWPMC_SAMPLE_USER)
			ck_assert_uint_lt(rec[i].sample->pc[0], 1ull << 47);
	hwpmc_close(h);
	dev_still_counts();
}
END_TEST

int main(void)
{
	dev_setup();
	harness_add(samples_of_user_mode_are_where_the_program_entered_the_kernel);
	harness_add(samples_of_user_mode_are_so_for_the_unprivileged_too);
	harness_add(samples_of_user_mode_of_a_whole_cpu_bear_exits_and_kernel_threads);
	return harness_run();
}
