/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * view_samples.c - what a log has, sample by sample, for programs. The profile must
 * have a timeline.
 */
#include <inttypes.h>

#include "view.h"
#include "view_tree.h"

static void put_pc(FILE *f, const struct hwpmc_frame *hit)
{
	const struct hwpmc_symbol *s = hit->symbol;

	fprintf(f, "0x%" PRIx64 " ", hit->addr);
	view_put_word(f, s->name, 0);
	if (s->unknown)
		fputs(" 0x0 0x0\n", f);
	else
		fprintf(f, " 0x%" PRIx64 " 0x%" PRIx64 "\n", s->start,
			s->start + s->size);
}

void view_pcs(FILE *f, const struct hwpmc_profile *p)
{
	const struct hwpmc_sample_point *point;
	const struct hwpmc_stack *stack;
	uint32_t npoint, nstack;

	stack = hwpmc_profile_stacks(p, &nstack);
	point = hwpmc_profile_timeline(p, &npoint);
	for (uint32_t i = 0; i < npoint; i++)
		put_pc(f, stack[point[i].stack].frame[0]);
}
