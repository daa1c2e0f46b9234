/* SPDX-License-Identifier: BSD-2-Clause */
/* sys/cpuset.h - FreeBSD's sets of CPUs. */
#ifndef HWPMC_FREEBSD_SYS_CPUSET_H
#define HWPMC_FREEBSD_SYS_CPUSET_H

/* Linux's have some of the same macros, with another type. */
#include <sched.h>
#undef CPU_SETSIZE
#undef CPU_ZERO
#undef CPU_SET
#undef CPU_CLR
#undef CPU_ISSET
#undef CPU_COUNT
#undef CPU_EQUAL
#undef CPU_AND
#undef CPU_OR

#include <stddef.h>
#include <string.h>

#define CPU_SETSIZE	1024

typedef struct {
	unsigned long bits[CPU_SETSIZE / (8 * sizeof(unsigned long))];
} cpuset_t;

#define CPU_WORDS	(sizeof(cpuset_t) / sizeof(unsigned long))
#define CPU_WORD(n)	((n) / (8 * sizeof(unsigned long)))
#define CPU_BIT(n)	(1ul << (n) % (8 * sizeof(unsigned long)))

#define CPU_ZERO(s)	((void)memset((s), 0, sizeof(cpuset_t)))
#define CPU_FILL(s)	((void)memset((s), 0xff, sizeof(cpuset_t)))
#define CPU_SET(n, s)	((s)->bits[CPU_WORD(n)] |= CPU_BIT(n))
#define CPU_CLR(n, s)	((s)->bits[CPU_WORD(n)] &= ~CPU_BIT(n))
#define CPU_ISSET(n, s)	(((s)->bits[CPU_WORD(n)] & CPU_BIT(n)) != 0)
#define CPU_COPY(from, to) (*(to) = *(from))
#define CPU_AND(to, s) \
	do { for (size_t i_ = 0; i_ < CPU_WORDS; i_++) (to)->bits[i_] &= (s)->bits[i_]; } while (0)
/* FreeBSD's name: it removes the second set from the first. */
#define CPU_NAND(to, s) \
	do { for (size_t i_ = 0; i_ < CPU_WORDS; i_++) (to)->bits[i_] &= ~(s)->bits[i_]; } while (0)
#define CPU_ANDNOT(to, s)	CPU_NAND(to, s)

static inline int cpuset_first(const cpuset_t *s)
{
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, s))
			return i + 1;
	return 0;
}

#define CPU_FFS(s)	cpuset_first(s)
#define CPU_EMPTY(s)	(!cpuset_first(s))

#define CPU_LEVEL_ROOT	1
#define CPU_LEVEL_CPUSET 2
#define CPU_LEVEL_WHICH	3
#define CPU_WHICH_TID	1
#define CPU_WHICH_PID	2
#define CPU_WHICH_DOMAIN 6

#ifdef __cplusplus
extern "C" {
#endif
/* All CPUs that are online, or those of the node id. */
int cpuset_getaffinity(int level, int which, long id, size_t size, cpuset_t *set);
#ifdef __cplusplus
}
#endif

/* sysconf() of libc.c knows it. */
#define _SC_CPUSET_SIZE	(-4711)
long freebsd_sysconf(int name);
#define sysconf(name)	freebsd_sysconf(name)

#endif /* HWPMC_FREEBSD_SYS_CPUSET_H */
