/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kmod_fault.h - faults of the kernel, on a kernel with fault injection: the n-th of the
 * caller's next allocations, page allocations and copies fails.
 */
#ifndef KMOD_FAULT_H
#define KMOD_FAULT_H

#include <stdbool.h>

#define FAULT_MOST	2000	/* that one operation can have */
#define FAULT_QUIET	8	/* times without: caches make it more or fewer */

/* The next n - 1 succeed, the n-th does not. From its end on they count: libcheck, which
 * writes to a pipe, is not called until fault_disarm(). */
void fault_arm(unsigned int n);
/* Was there a fault? */
bool fault_disarm(void);
/* How many there could have been since fault_arm(n), with so large an n that there was
 * none; disarms. */
unsigned int fault_count(unsigned int n);

/* Before each test, in its process. */
void fault_setup(void);
/* What main() does: the tests, or, where the kernel has no faults, no plan. */
void fault_main(void);

#endif
