/* SPDX-License-Identifier: ((GPL-2.0-only WITH Linux-syscall-note) OR BSD-2-Clause) */
/*
 * hwpmc_unwind.h - unwind tables: where the caller's frame is, for each instruction of a
 * file. A program makes them from the file's call-frame information (.eh_frame) and
 * adds them with HWPMC_OP_UNWIND (hwpmc.h); the module walks user stacks by them when
 * it takes a sample.
 *
 * A table is an array of rows in ascending order of `at`. A row is valid from its `at` up to
 * the `at` of the next row. Code before the first row has no rule. `at` is a position in
 * the file, not an address: an instruction at address `a` of a mapping [start, end)
 * whose first byte is at `offset` in the file is at a - start + offset. Tables of the
 * vdso count from the start of its mapping.
 *
 * All registers are those of the frame whose caller is to be found. `ip` of the first frame
 * is the sampled address; `ip` of each other frame is its return address minus 1. CFA is the
 * stack pointer of the caller after the call has returned. The return address is at CFA - 8.
 * Displacements are in words of 8 bytes.
 */
#ifndef _UAPI_HWPMC_UNWIND_H
#define _UAPI_HWPMC_UNWIND_H

#include <linux/types.h>

struct hwpmc_unwind_row {
	__u32	at;			/* position in the file, bytes */
	__u32	rule;
};

/*
 * A rule: kind [2:0], BP_SAVED [3], and operands that depend on the kind. With BP_SAVED the
 * caller's rbp is at CFA - 8 * SAVED [31:22]; otherwise it is unchanged. Bits that are not
 * named here must be 0.
 */
#define HWPMC_UNWIND_KIND(rule)		((rule) & 7)
#define HWPMC_UNWIND_BP_SAVED		0x8u
#define HWPMC_UNWIND_SAVED(rule)	((__u32)(rule) >> 22)
#define HWPMC_UNWIND_SAVED_MAX		1023

enum hwpmc_unwind_kind {
	/* No call-frame information: chains end here. No operands. */
	HWPMC_UNWIND_NONE = 0,
	/* CFA = rsp + 8 * N [21:5], signed. */
	HWPMC_UNWIND_SP = 1,
	/* CFA = rbp + 8 * N [21:5], signed. */
	HWPMC_UNWIND_BP = 2,
	/* The procedure linkage table: CFA = rsp + 8 if ip % 16 < N [8:5], else rsp + 16. */
	HWPMC_UNWIND_PLT = 3,
	/* The return of a signal handler: rbp, rsp and rip of the interrupted code, in
	 * struct rt_sigframe at rsp. No operands. */
	HWPMC_UNWIND_SIGNAL = 4,
	/* The outermost function: chains are complete. No operands. */
	HWPMC_UNWIND_END = 5,
	/* CFA = *(rsp + 8 * N [15:5]) + 8 * M [21:16]. */
	HWPMC_UNWIND_AT_SP = 6,
	/* The meaning depends on REG [8:5], DWARF's number of a register:
	 * 6: CFA = *(rbp + 8 * N [17:9], signed) + 8 * M [21:18]; with BP_AT_BP [4] the
	 *    caller's rbp is *rbp, and BP_SAVED is 0.
	 * 7: call-frame information that no rule can express. No other operands.
	 * others: CFA = register + 8 * N [20:9]; valid in the first frame only. */
	HWPMC_UNWIND_OTHER = 7,
};

#define HWPMC_UNWIND_REG(rule)		((rule) >> 5 & 15)
#define HWPMC_UNWIND_REG_AT_BP		6
#define HWPMC_UNWIND_REG_UNKNOWN	7
#define HWPMC_UNWIND_BP_AT_BP		0x10u

/* Maximum number of rows of a table. A table can describe a file of at most 4 GiB. */
#define HWPMC_UNWIND_ROWS_MAX		(64u << 20)

#endif /* _UAPI_HWPMC_UNWIND_H */
