/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* unwind_memo.h - what walks by unwind tables remember between samples. Pure. */
#ifndef HWPMC_UNWIND_MEMO_H
#define HWPMC_UNWIND_MEMO_H

#include "../compat/types.h"

/* A rule that was looked for before. */
struct hwpmc_unwind_memo {
	u64 at;
	u64 tag;
	u32 rule;
};

#define UNWIND_MEMO_BITS	8
#define UNWIND_MEMO_SIZE	256	/* 2 to the power of that */

#endif /* HWPMC_UNWIND_MEMO_H */
