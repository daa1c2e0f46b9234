/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * chains.c - how many chains by frame pointers end too early. Code without frame
 * pointers has another use for the register: the walk ends there, and what it has found
 * looks like a whole chain. A whole one ends where a thread begins.
 */
#include <string.h>

#include "profile.h"

/* Where programs and threads begin. Those of the C library have no callers to show. */
static const char *const first_functions[] = {
	"_start", "main", "__libc_start_main", "__libc_start_main_impl",
	"__libc_start_call_main", "_dl_start", "_dl_start_user", "start_thread",
	"clone", "__clone", "clone3", "__clone3", "runtime.goexit",
};

static bool is_first(const struct hwpmc_symbol *s)
{
	/* Some names have a version behind them. */
	size_t len = strcspn(s->raw, "@");

	if (s->unknown)
		return false;
	for (size_t i = 0; i < sizeof(first_functions) / sizeof(*first_functions); i++)
		if (strlen(first_functions[i]) == len &&
		    !strncmp(s->raw, first_functions[i], len))
			return true;
	return false;
}

static const struct hwpmc_symbol *symbol_of(struct hwpmc_profile *p, const struct entry *e,
					    uint32_t i)
{
	uint64_t pc = p->pcs[e->pc + i];

	if (pc == HWPMC_PC_USER)
		return NULL;
	return frames_get(&p->frames, &p->model, e->space, e->time, pc, false,
			  i > 0)->frame.symbol;
}

/* Does it have a user's chain by frame pointers that no limit has cut? */
static bool is_by_fp(const struct hwpmc_profile *p, const struct entry *e)
{
	return p->event[e->event].pub.flags & HWPMC_F_CALLCHAIN && e->npc &&
	       !(e->flags & (HWPMC_SAMPLE_TABLES | HWPMC_SAMPLE_CUT)) &&
	       (e->flags & (HWPMC_SAMPLE_USER | HWPMC_SAMPLE_SPLIT)) &&
	       p->pcs[e->pc + e->npc - 1] != HWPMC_PC_HIDDEN;
}

static void count_end(struct hwpmc_profile *p, const struct entry *e)
{
	const struct hwpmc_symbol *last = symbol_of(p, e, e->npc - 1), *before = NULL;

	if (last && e->npc > 1)
		before = symbol_of(p, e, e->npc - 2);
	/* Without names there is nothing to tell it by. A library without symbols may have
	 * called main(). */
	if (!last || (last->unknown && (!before || before->unknown)))
		return;
	p->totals.fp_chains += profile_taken(p, e);
	if (!is_first(last) && !(before && is_first(before)))
		p->totals.fp_short += profile_taken(p, e);
}

void profile_count_ends(struct hwpmc_profile *p)
{
	p->totals.fp_chains = p->totals.fp_short = 0;
	if (p->depth != UINT32_MAX)
		return;
	for (uint32_t i = 0; i < p->nentry; i++)
		if (!p->entry[i].out && is_by_fp(p, &p->entry[i]))
			count_end(p, &p->entry[i]);
}
