/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* unwind_memo.h - what walks by unwind tables remember between samples. Pure. */
#ifndef HWPMC_UNWIND_MEMO_H
#define HWPMC_UNWIND_MEMO_H

#include "../compat/types.h"

/*
 * A tag stands for the state of mappings and tables, which have a number each. On this CPU no
 * other state has had the tag: it is by the whole of both numbers, and counted from 1 on.
 */
#define UNWIND_STATES	16

struct hwpmc_unwind_state {
	u64 maps, tables;
	u64 tag;
};

struct hwpmc_unwind_states {
	u64 last;		/* tag */
	struct hwpmc_unwind_state recent[UNWIND_STATES];
};

/* maps is not 0. */
static inline u64 unwind_tag_nmi(struct hwpmc_unwind_states *s, u64 maps, u64 tables)
{
	struct hwpmc_unwind_state *state = &s->recent[(maps ^ tables) % UNWIND_STATES];

	if (state->maps != maps || state->tables != tables) {
		state->maps = maps;
		state->tables = tables;
		state->tag = ++s->last;
	}
	return state->tag;
}

/* A rule that was looked for before. */
struct hwpmc_unwind_memo {
	u64 at;
	u64 tag;
	u32 rule;
};

#define UNWIND_MEMO_BITS	8
#define UNWIND_MEMO_SIZE	256	/* 2 to the power of that */

/* A caller's frame, and where it was read: ip at sp - 8, bp at bp_at; 0: bp was not read. */
struct hwpmc_unwind_frame {
	u64 ip, sp, bp;
	u64 bp_at;
};

#define UNWIND_PAST_FRAMES	128
#define UNWIND_PAST_ROOM	32	/* for frames before those of the last walk */
#define UNWIND_PAST_END		(~0ull)	/* sp behind the last; no frame has it */

/*
 * The callers that the last walk has found, each the caller of the one before: from `known`
 * up to one with sp UNWIND_PAST_END. All but the last lie in mappings of the tag; tag 0: none
 * are known.
 */
struct hwpmc_unwind_past {
	u64 tag;
	struct hwpmc_unwind_frame *known;
	u32 other;		/* the buffer that known is not in */
	struct hwpmc_unwind_frame buf[2][UNWIND_PAST_ROOM + UNWIND_PAST_FRAMES + 1];
};

#endif /* HWPMC_UNWIND_MEMO_H */
