/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * types.h - fixed-width types and a few macros, the only header that a pure file
 * needs: from the kernel in the module, from the C library on the host (unit tests,
 * fuzzers).
 */
#ifndef HWPMC_TYPES_H
#define HWPMC_TYPES_H

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#include <linux/types.h>
#else
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;
#define BIT_ULL(n)		(1ULL << (n))
#define GENMASK_ULL(h, l)	((~0ULL << (l)) & (~0ULL >> (63 - (h))))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_store_release(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELEASE)
#define cmpxchg_local(p, o, n)	__sync_val_compare_and_swap((p), (o), (n))
#define barrier()		__asm__ __volatile__("" : : : "memory")
#endif

#endif /* HWPMC_TYPES_H */
