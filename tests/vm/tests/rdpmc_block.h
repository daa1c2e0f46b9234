/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdpmc_block.h - count a block of instructions by RDPMC in user space, on a
 * counter that perf has opened for this process: what the block retires, to the
 * instruction.
 */
#ifndef RDPMC_BLOCK_H
#define RDPMC_BLOCK_H

#include <linux/perf_event.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"

static uint32_t rdpmc_index;
static uint64_t rdpmc_mask;

static inline int perf_open(uint64_t config, int pid)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(a),
		.config = config, .exclude_kernel = 1, .exclude_hv = 1,
		.pinned = 1, .disabled = pid != 0, .enable_on_exec = pid != 0,
	};

	return syscall(SYS_perf_event_open, &a, pid, -1, -1, 0);
}

static inline void pin_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* From here to the end of the test's process. */
static inline void rdpmc_open(uint64_t config)
{
	volatile struct perf_event_mmap_page *page;
	int fd;

	pin_to_cpu(0);
	fd = perf_open(config, 0);
	ck_assert_int_ge(fd, 0);
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne((void *)page, MAP_FAILED);
	ck_assert(page->cap_user_rdpmc);
	ck_assert_uint_ne(page->index, 0);
	rdpmc_index = page->index - 1;
	rdpmc_mask = (1ULL << page->pmc_width) - 1;
}

/* Instructions between the two counts that are not the block's own. */
#define RDPMC_INSNS	5

/*
 * What a block of assembly adds to the counter; free to use: rax, rcx, rdx, r9,
 * r10, r11, rsi, rdi. Operands beyond: inputs.
 */
#define COUNT(block, ...) ({						\
	uint32_t i_ = *(volatile uint32_t *)&rdpmc_index;		\
	uint64_t d_;							\
	asm volatile("mov %[i], %%ecx; rdpmc; shl $32, %%rdx\n"		\
		     "or %%rax, %%rdx; mov %%rdx, %%r8\n"		\
		     block						\
		     "\nmov %[i], %%ecx; rdpmc; shl $32, %%rdx\n"	\
		     "or %%rax, %%rdx; sub %%r8, %%rdx"			\
		     : "=&d"(d_)					\
		     : [i]"r"(i_) __VA_OPT__(,) __VA_ARGS__		\
		     : "rax", "rcx", "r8", "r9", "r10", "r11", "rsi",	\
		       "rdi", "memory", "cc");				\
	d_ & rdpmc_mask; })

#define COUNT_INSNS(block, ...) \
	(COUNT(block __VA_OPT__(,) __VA_ARGS__) - RDPMC_INSNS)

#endif
