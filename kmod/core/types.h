/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * types.h - the only header that a pure file needs: the kernel's fixed-width
 * types, in the module from the kernel, on the host (unit tests, fuzzers) from
 * the C library.
 */
#ifndef HWPMC_TYPES_H
#define HWPMC_TYPES_H

#ifdef __KERNEL__
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
#endif

#endif /* HWPMC_TYPES_H */
