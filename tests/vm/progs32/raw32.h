/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * raw32.h - system calls of a 32-bit program without a C library, and the device's
 * class of programmable counters.
 */
#ifndef RAW32_H
#define RAW32_H

#include "hwpmc.h"

#define NR_EXIT		1
#define NR_FORK		2
#define NR_OPEN		5
#define NR_WAITPID	7
#define NR_SIGNAL	48
#define NR_IOCTL	54
#define NR_MMAP2	192

/* The number and six arguments. */
static inline long sys6(const long arg[7])
{
	long ret;

	/* The sixth is in the register of the frame. */
	asm volatile("pushl %%ebp; movl 4(%1), %%ebx; movl 8(%1), %%ecx;"
		     "movl 12(%1), %%edx; movl 16(%1), %%esi; movl 20(%1), %%edi;"
		     "movl 24(%1), %%ebp; movl (%1), %1; int $0x80; popl %%ebp"
		     : "=a"(ret) : "0"(arg)
		     : "ebx", "ecx", "edx", "esi", "edi", "memory");
	return ret;
}

static inline long sys(long nr, long a, long b, long c)
{
	const long arg[7] = { nr, a, b, c };

	return sys6(arg);
}

static inline void __attribute__((noreturn)) quit(int status)
{
	for (;;)
		sys(NR_EXIT, status, 0, 0);
}

static inline long op(int fd, unsigned long request, void *arg)
{
	return sys(NR_IOCTL, fd, request, (long)arg);
}

static struct hwpmc_op_getcpuinfo info;

static inline __u32 find_class(int fd)
{
	if (op(fd, HWPMC_IOC_GETCPUINFO, &info))
		quit(2);
	for (__u32 i = 0; i < info.nclass; i++)
		if (info.classes[i].class == HWPMC_CLASS_IAP ||
		    info.classes[i].class == HWPMC_CLASS_K8)
			return info.classes[i].class;
	quit(3);
}

#endif
