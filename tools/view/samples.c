/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * samples.c - what a log has, sample by sample, for programs. The profile must
 * have a timeline.
 */
#include <inttypes.h>

#include "common/fmt.h"
#include "tree.h"
#include "view.h"

static void put_pc(FILE *f, const struct hwpmc_frame *hit)
{
	const struct hwpmc_symbol *s = hit->symbol;

	fprintf(f, "0x%" PRIx64 " ", hit->addr);
	view_put_word(f, s->name);
	if (s->unknown)
		fputs(" 0x0 0x0\n", f);
	else
		fprintf(f, " 0x%" PRIx64 " 0x%" PRIx64 "\n", s->start,
			s->start + s->size);
}

static void put_frame(FILE *f, struct hwpmc_profile *p,
		      const struct hwpmc_frame *frame)
{
	const char *file = "??";
	unsigned int line = 0;

	fprintf(f, "0x%" PRIx64 " ", frame->pc);
	if (frame->symbol->unknown) {
		fputs("<unknown> ??:0\n", f);
		return;
	}
	view_put_word(f, frame->symbol->name);
	if (hwpmc_frame_line(p, frame, &file, &line) != 1) {
		fputs(" ??:0\n", f);
		return;
	}
	fputc(' ', f);
	fmt_put_plain(f, file, 0);
	fprintf(f, ":%u\n", line);
}

void view_frames(FILE *f, struct hwpmc_profile *p)
{
	const struct hwpmc_sample_point *point;
	const struct hwpmc_stack *stack;
	uint32_t npoint, nstack;

	stack = hwpmc_profile_stacks(p, &nstack);
	point = hwpmc_profile_timeline(p, &npoint);
	for (uint32_t i = 0; i < npoint; i++) {
		const struct hwpmc_stack *s = &stack[point[i].stack];

		for (uint32_t j = 0; j < s->nframe; j++)
			put_frame(f, p, s->frame[j]);
		fputs("--\n", f);
	}
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
