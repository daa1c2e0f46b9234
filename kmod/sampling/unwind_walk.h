/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * unwind_walk.h - the walk over a user stack by unwind tables. Pure: the file that
 * includes it first defines three functions, inline as all here, for they are called for
 * each frame:
 *
 *	bool unwind_read_nmi(u64 at, u64 *value)
 *		a word of the stack; false: it cannot be read
 *	u64 unwind_reg_nmi(const void *regs, unsigned int nr)
 *		a register of the first frame, by DWARF's number, 0 to 15
 *	const struct hwpmc_unwind_table *unwind_table_nmi(const void *tables,
 *				const struct hwpmc_unwind_map *map)
 *		the table of a mapping's file, which has no rows if the file has no
 *		table, or NULL: not known
 *
 * Table, stack and registers may be anything. For any of them
 *	- a frame costs at most 13 steps of bisection in a table, those in the mappings,
 *	  and four guarded reads, and one of them two more;
 *	- an address is stored only if it is in an executable mapping, but for the first,
 *	  which the processor was executing;
 *	- the walk ends after `max` addresses, as each frame stores one.
 */
#ifndef HWPMC_UNWIND_WALK_H
#define HWPMC_UNWIND_WALK_H

#include "../compat/types.h"
#include "hwpmc_log.h"		/* uapi */
#include "unwind_memo.h"
#include "unwind_table.h"

struct hwpmc_unwind_walk {
	/* The frame that has been reached. */
	u64 ip, sp, bp;
	bool returned;		/* ip is a return address */
	bool first;
	const void *regs;

	const struct hwpmc_unwind_map *map;	/* rising */
	unsigned int nmap;
	const void *tables;
	bool all_known;		/* a file without an entry in tables is not ready */
	/* UNWIND_MEMO_SIZE entries, or NULL; the tag stands for map and tables. */
	struct hwpmc_unwind_memo *memo;
	u64 tag;

	/* The last walk's frames, or NULL; not with tag 0, which says that none are known. */
	struct hwpmc_unwind_past *past;
	bool learns;			/* none of the frames was one of them yet */
	u64 bp_at;			/* where bp of this frame was read, or 0 */
	struct hwpmc_unwind_frame *known;	/* those before it lie below this frame */
	struct hwpmc_unwind_frame *first_fresh, *fresh;	/* callers of this walk, to be known */
};

/* Beside enum hwpmc_chain_end: the caller's frame was found. */
#define UNWIND_GOES_ON		HWPMC_CHAIN__COUNT
/* Beside the rules of tables: the mapping's file has no table, or none that is known. */
#define UNWIND_RULE_NO_TABLE	0xfffffff8u
#define UNWIND_RULE_NOT_READY	0xfffffff0u

/* The rule at a position in the file. */
static inline u32 unwind_find_rule_nmi(const struct hwpmc_unwind_table *t, u64 at)
{
	u64 page = (at >> UNWIND_PAGE_SHIFT) - t->first_page;
	u32 first, n;

	/* A position before the first page wraps; a table without rows has no page. */
	if (page >= t->npage)
		return !t->nrow ? UNWIND_RULE_NO_TABLE :
			at >> 32 || at < t->row[0].at ? HWPMC_UNWIND_NONE :
			t->row[t->nrow - 1].rule;
	first = t->page[page];
	for (n = t->page[page + 1] - first + 1; n > 1; n -= n / 2)
		if (t->row[first + n / 2].at <= at)
			first += n / 2;
	return t->row[first].at <= at ? t->row[first].rule : HWPMC_UNWIND_NONE;
}

/* The rule of the mapping that the address is in; false: it is in none. */
static inline bool unwind_look_up_nmi(const struct hwpmc_unwind_walk *w, u64 at, u32 *rule)
{
	const struct hwpmc_unwind_map *map = unwind_find_map_nmi(w->map, w->nmap, at);
	const struct hwpmc_unwind_table *table;

	if (!map)
		return false;
	table = unwind_table_nmi(w->tables, map);
	*rule = table ? unwind_find_rule_nmi(table, at - map->shift) :
		UNWIND_RULE_NOT_READY;
	return true;
}

/* The same, of the frame. */
static inline bool unwind_rule_nmi(const struct hwpmc_unwind_walk *w, u32 *rule)
{
	u64 at = w->ip - w->returned;
	struct hwpmc_unwind_memo *memo;

	if (!w->memo)
		return unwind_look_up_nmi(w, at, rule);
	memo = &w->memo[(at ^ at >> UNWIND_MEMO_BITS) % UNWIND_MEMO_SIZE];
	if (memo->at == at && memo->tag == w->tag) {
		*rule = memo->rule;
		return true;
	}
	if (!unwind_look_up_nmi(w, at, rule))
		return false;
	*memo = (struct hwpmc_unwind_memo){ at, w->tag, *rule };
	return true;
}

/* Operand N of SP and BP, in bytes. */
static inline s64 unwind_n_nmi(u32 rule)
{
	return ((s64)(s32)(rule << 10) >> 15) * 8;
}

/* The same of AT_BP. */
static inline s64 unwind_n_at_bp_nmi(u32 rule)
{
	return ((s64)(s32)(rule << 14) >> 23) * 8;
}

/* Where struct rt_sigframe, without its return address, has the registers. */
#define SIGFRAME_BP	120
#define SIGFRAME_SP	160
#define SIGFRAME_IP	168

static inline unsigned int unwind_signal_nmi(struct hwpmc_unwind_walk *w)
{
	u64 sp = w->sp;

	if (!unwind_read_nmi(sp + SIGFRAME_BP, &w->bp) ||
	    !unwind_read_nmi(sp + SIGFRAME_SP, &w->sp) ||
	    !unwind_read_nmi(sp + SIGFRAME_IP, &w->ip))
		return HWPMC_CHAIN_FAULT;
	w->returned = false;
	w->first = false;
	w->fresh = w->first_fresh;
	return UNWIND_GOES_ON;
}

static inline unsigned int unwind_other_nmi(struct hwpmc_unwind_walk *w, u32 rule, u64 *cfa)
{
	u32 reg = HWPMC_UNWIND_REG(rule);

	if (reg == HWPMC_UNWIND_REG_AT_BP) {
		if (!unwind_read_nmi(w->bp + unwind_n_at_bp_nmi(rule), cfa))
			return HWPMC_CHAIN_FAULT;
		*cfa += (rule >> 18 & 15) * 8;
		if (rule & HWPMC_UNWIND_BP_AT_BP && !unwind_read_nmi(w->bp, &w->bp))
			return HWPMC_CHAIN_FAULT;
		return UNWIND_GOES_ON;
	}
	if (reg == HWPMC_UNWIND_REG_UNKNOWN || !w->first)
		return HWPMC_CHAIN_NO_RULE;
	*cfa = unwind_reg_nmi(w->regs, reg) + (rule >> 9 & 4095) * 8;
	return UNWIND_GOES_ON;
}

static inline unsigned int unwind_cfa_nmi(struct hwpmc_unwind_walk *w, u32 rule, u64 *cfa)
{
	switch (HWPMC_UNWIND_KIND(rule)) {
	case HWPMC_UNWIND_SP:
		*cfa = w->sp + unwind_n_nmi(rule);
		return UNWIND_GOES_ON;
	case HWPMC_UNWIND_BP:
		*cfa = w->bp + unwind_n_nmi(rule);
		return UNWIND_GOES_ON;
	case HWPMC_UNWIND_PLT:
		*cfa = w->sp + 8 + ((w->ip & 15) >= (rule >> 5 & 15) ? 8 : 0);
		return UNWIND_GOES_ON;
	case HWPMC_UNWIND_AT_SP:
		w->fresh = w->first_fresh;
		if (!unwind_read_nmi(w->sp + (rule >> 5 & 2047) * 8, cfa))
			return HWPMC_CHAIN_FAULT;
		*cfa += (rule >> 16 & 63) * 8;
		return UNWIND_GOES_ON;
	case HWPMC_UNWIND_OTHER:
		w->fresh = w->first_fresh;
		return unwind_other_nmi(w, rule, cfa);
	case HWPMC_UNWIND_END:
		return HWPMC_CHAIN_COMPLETE;
	default:
		if (rule == UNWIND_RULE_NOT_READY)
			return HWPMC_CHAIN_NOT_READY;
		return rule == UNWIND_RULE_NO_TABLE ? HWPMC_CHAIN_NO_TABLE :
			HWPMC_CHAIN_NO_RULE;
	}
}

/* From the frame to its caller's: UNWIND_GOES_ON, or why not. */
static inline unsigned int unwind_frame_nmi(struct hwpmc_unwind_walk *w, u32 rule)
{
	unsigned int end;
	u64 cfa;

	if (HWPMC_UNWIND_KIND(rule) == HWPMC_UNWIND_SIGNAL)
		return unwind_signal_nmi(w);
	end = unwind_cfa_nmi(w, rule, &cfa);
	if (end != UNWIND_GOES_ON)
		return end;
	if (cfa <= w->sp || cfa & 7)
		return HWPMC_CHAIN_BROKEN;
	w->bp_at = 0;
	/* Below rsp, too: in an epilogue rbp has been popped already. */
	if (rule & HWPMC_UNWIND_BP_SAVED) {
		w->bp_at = cfa - HWPMC_UNWIND_SAVED(rule) * 8ULL;
		if (!unwind_read_nmi(w->bp_at, &w->bp))
			return HWPMC_CHAIN_FAULT;
	}
	if (!unwind_read_nmi(cfa - 8, &w->ip))
		return HWPMC_CHAIN_FAULT;
	w->sp = cfa;
	w->returned = true;
	w->first = false;
	return w->ip ? UNWIND_GOES_ON : HWPMC_CHAIN_COMPLETE;
}

/*
 * What the last walk has found. A frame's caller depends on its three registers, on its
 * rule, which is the same under the same tag, and on the words that are read. So from a
 * frame that the last walk had, its callers are the same as far as these words are, which
 * are read again; no rule is looked for. Rules that read more words (signal frames and
 * others) are not replayed: what is known begins after the last of them.
 */
static inline void unwind_past_begin_nmi(struct hwpmc_unwind_walk *w)
{
	struct hwpmc_unwind_past *past = w->past;

	w->learns = past;
	if (!past)
		return;
	w->first_fresh = past->buf[past->other] + UNWIND_PAST_ROOM;
	w->fresh = w->first_fresh;
	w->known = past->known;
	if (past->tag == w->tag)
		return;
	/* Where nothing is known one is found that ends it. */
	w->known = w->first_fresh + UNWIND_PAST_FRAMES;
	w->known->sp = UNWIND_PAST_END;
}

/* None of the frames was known: the callers of this walk are, at its end. */
static inline void unwind_past_replace_nmi(struct hwpmc_unwind_walk *w)
{
	struct hwpmc_unwind_past *past = w->past;

	w->fresh->sp = UNWIND_PAST_END;
	past->known = w->first_fresh;
	past->other ^= 1;
	past->tag = w->tag;
}

/* The callers of this walk come before w->known; those without room are not remembered. */
static inline void unwind_past_join_nmi(struct hwpmc_unwind_walk *w)
{
	struct hwpmc_unwind_past *past = w->past;
	struct hwpmc_unwind_frame *to = w->known, *from = w->fresh;

	while (from > w->first_fresh && to > past->buf[past->other ^ 1])
		*--to = *--from;
	past->known = to;
}

/* The words of the callers behind w->known. Returns the number of addresses. */
static inline unsigned int unwind_replay_nmi(struct hwpmc_unwind_walk *w, u64 *pc,
					     unsigned int n, unsigned int max)
{
	const struct hwpmc_unwind_frame *f = w->known;
	u64 ip, bp;

	while ((++f)->sp != UNWIND_PAST_END && n < max) {
		if (!unwind_read_nmi(f->sp - 8, &ip) || ip != f->ip ||
		    (f->bp_at && (!unwind_read_nmi(f->bp_at, &bp) || bp != f->bp))) {
			/* From here on the stack is another one. */
			w->past->tag = 0;
			break;
		}
		pc[n++] = w->ip;
		w->ip = f->ip;
		w->sp = f->sp;
		w->bp = f->bp;
	}
	return n;
}

/* A caller has been found. Returns the number of addresses. */
static inline unsigned int unwind_recall_nmi(struct hwpmc_unwind_walk *w, u64 *pc,
					     unsigned int n, unsigned int max)
{
	/* What a signal has interrupted is no caller. */
	if (!w->returned)
		return n;
	while (w->known->sp < w->sp)
		w->known++;
	if (w->known->sp == w->sp && w->known->ip == w->ip && w->known->bp == w->bp) {
		w->learns = false;
		/* It may have been reached by another way. */
		w->known->bp_at = w->bp_at;
		unwind_past_join_nmi(w);
		return unwind_replay_nmi(w, pc, n, max);
	}
	if (w->fresh == w->first_fresh + UNWIND_PAST_FRAMES) {
		w->learns = false;
		return n;
	}
	*w->fresh++ = (struct hwpmc_unwind_frame){ w->ip, w->sp, w->bp, w->bp_at };
	return n;
}

/*
 * Store the addresses of the frame and of its callers, at most max (1 or more). Returns
 * how many; *end is how the chain ends, and *w the last frame that was stored, or, after
 * FAULT and BROKEN, undefined.
 */
static inline unsigned int unwind_walk_nmi(struct hwpmc_unwind_walk *w, u64 *pc,
					   unsigned int max, unsigned int *end)
{
	unsigned int n = 0;
	u32 rule;

	unwind_past_begin_nmi(w);
	for (;;) {
		if (!unwind_rule_nmi(w, &rule)) {
			*end = n ? HWPMC_CHAIN_BROKEN : HWPMC_CHAIN_NO_MAPPING;
			if (!n)
				pc[n++] = w->ip;
			break;
		}
		if (n == max) {
			*end = HWPMC_CHAIN_DEPTH;
			break;
		}
		pc[n++] = w->ip;
		*end = unwind_frame_nmi(w, rule);
		if (*end != UNWIND_GOES_ON)
			break;
		if (w->learns)
			n = unwind_recall_nmi(w, pc, n, max);
	}
	if (w->learns)
		unwind_past_replace_nmi(w);
	if (*end == HWPMC_CHAIN_NOT_READY && !w->all_known)
		*end = HWPMC_CHAIN_NO_TABLE;
	return n;
}

/* ---- code without tables ---------------------------------------------------- */

/* Does the walk by tables go on here, or end because of a table that is not ready? */
static inline bool unwind_has_rule_nmi(const struct hwpmc_unwind_walk *w)
{
	u32 rule;

	return unwind_rule_nmi(w, &rule) && rule != UNWIND_RULE_NO_TABLE &&
	       rule != HWPMC_UNWIND_NONE && (rule != UNWIND_RULE_NOT_READY || w->all_known);
}

/*
 * From the frame where the tables end by frame pointers, as far as those lead to code, each
 * above the one before. *end is UNWIND_GOES_ON where the code has a rule again: the frame's
 * registers are known, and its address is not stored. It is COMPLETE where the caller has a
 * frame pointer of 0, as the first function of a goroutine has, and DEPTH where max addresses
 * are stored; else it is not changed.
 */
static inline unsigned int unwind_frame_pointers_nmi(struct hwpmc_unwind_walk *w, u64 *pc,
						     unsigned int max, unsigned int *end)
{
	unsigned int n = 0;
	u64 ret, next;

	while (n < max && w->bp >= w->sp && !(w->bp & 7)) {
		if (!unwind_read_nmi(w->bp, &next) || !unwind_read_nmi(w->bp + 8, &ret) ||
		    !ret || !unwind_find_map_nmi(w->map, w->nmap, ret - 1))
			break;
		w->ip = ret;
		w->sp = w->bp + 16;
		w->bp = next;
		w->returned = true;
		w->first = false;
		if (unwind_has_rule_nmi(w)) {
			*end = UNWIND_GOES_ON;
			return n;
		}
		pc[n++] = ret;
		if (next)
			continue;
		*end = HWPMC_CHAIN_COMPLETE;
		return n;
	}
	if (n == max)
		*end = HWPMC_CHAIN_DEPTH;
	return n;
}

/*
 * The same from a walk that ended at n of max addresses, and by tables again from the next
 * code that has them, as often as needed. Each part by frame pointers begins with a mark. The
 * walk leaves room for the mark at the end. Returns the number of entries.
 */
static inline unsigned int unwind_go_on_nmi(struct hwpmc_unwind_walk *w, u64 *pc, unsigned int n,
					    unsigned int max, unsigned int *end)
{
	unsigned int more;

	/* The last walk's frames are those before the first mark. */
	w->past = NULL;
	while ((*end == HWPMC_CHAIN_NO_TABLE || *end == HWPMC_CHAIN_NO_RULE) && n + 3 <= max) {
		more = unwind_frame_pointers_nmi(w, pc + n + 1, max - n - 2, end);
		if (!more && *end != UNWIND_GOES_ON)
			break;
		pc[n] = HWPMC_PC_FP;
		n += 1 + more;
		if (*end != UNWIND_GOES_ON)
			break;
		n += unwind_walk_nmi(w, pc + n, max - n, end);
	}
	return n;
}

#endif /* HWPMC_UNWIND_WALK_H */
