/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fold.c - stacks where each branch of the tree that they are has a least share of its
 * event: what has less ends at its caller in a frame "[other]". A branch is not looked
 * into before it is known to be large enough: a million stacks that differ take no more
 * than their common part.
 */
#include <stdlib.h>

#include "profile.h"

/* An entry, and how much of it is not on the path yet. */
struct strand {
	uint32_t entry;
	uint32_t left;			/* addresses; the outermost is the last */
	struct spot *spot;		/* at this level; NULL: it has ended */
	const void *name;		/* what it is grouped by */
};

/* The strands first to last - 1 have the same path. */
struct branch {
	uint32_t first, last;
	uint32_t level;
};

/* Of a place in the tree, what is too small. */
struct rest {
	uint64_t count, taken;
	uint32_t any;			/* a strand of it */
	int32_t pid, tid;		/* -1: of several */
	const char *comm;		/* NULL: of several */
};

struct fold {
	struct hwpmc_profile *p;
	struct strand *strand;
	struct branch *todo;
	uint32_t ntodo;
	uint64_t least;			/* samples; of the event */
};

static struct entry *entry_of(const struct fold *f, const struct strand *s)
{
	return &f->p->entry[s->entry];
}

static uint64_t count_of(const struct fold *f, uint32_t first, uint32_t last)
{
	uint64_t n = 0;

	for (uint32_t i = first; i < last; i++)
		n += entry_of(f, &f->strand[i])->count;
	return n;
}

static bool is_mark(const struct entry *e, uint64_t pc)
{
	return e->flags & HWPMC_SAMPLE_SPLIT && pc == HWPMC_PC_USER;
}

/* A mark that no frame stands for. */
static bool is_skipped(const struct entry *e, uint64_t pc)
{
	return is_mark(e, pc) || (e->flags & HWPMC_SAMPLE_TABLES && pc == HWPMC_PC_FP);
}

/* Is address n the kernel's? What stands behind a mark is the user's. */
static bool is_kernel(const struct entry *e, const uint64_t *pc, uint32_t n)
{
	if (e->flags & HWPMC_SAMPLE_USER)
		return false;
	for (uint32_t i = 0; e->flags & HWPMC_SAMPLE_SPLIT && i < n; i++)
		if (pc[i] == HWPMC_PC_USER)
			return false;
	return true;
}

/* One level further in; what the previous strand found holds for the same address. */
static void step(struct fold *f, struct strand *s, const struct strand *before)
{
	const struct entry *e = entry_of(f, s), *b = before ? entry_of(f, before) : NULL;
	const uint64_t *pc = f->p->pcs + e->pc;
	bool caller;

	while (s->left && is_skipped(e, pc[s->left - 1]))
		s->left--;
	s->spot = NULL;
	s->name = NULL;
	if (!s->left)
		return;
	s->left--;
	if (b && before->spot && b->space == e->space && b->flags == e->flags &&
	    !(e->flags & HWPMC_SAMPLE_SPLIT) && b->era == e->era && before->left &&
	    s->left && f->p->pcs[b->pc + before->left] == pc[s->left]) {
		s->spot = before->spot;
		s->name = before->name;
		return;
	}
	caller = s->left && !is_mark(e, pc[s->left - 1]);
	s->spot = frames_get(&f->p->frames, &f->p->model, e->space, e->time,
			     pc[s->left], is_kernel(e, pc, s->left), caller);
	/* Where functions are inlined, a place has frames of its own. */
	s->name = s->spot->ninner ? (void *)s->spot : (void *)s->spot->frame.symbol;
}

static int by_name(const void *a, const void *b)
{
	const struct strand *x = a, *y = b;

	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->entry > y->entry) - (x->entry < y->entry);
}

/* ---- stacks -------------------------------------------------------------- */

/* Where all that is too small ends. */
static void make_other(struct hwpmc_profile *p)
{
	struct image *img = p->model.images.unknown;

	p->other.symbol = (struct hwpmc_symbol){
		.image = &img->pub, .name = "[other]", .raw = "[other]", .unknown = true,
	};
	p->other.frame = (struct hwpmc_frame){
		.symbol = &p->other.symbol, .image = &img->pub,
	};
	p->other.thread = (struct hwpmc_thread_info){
		-1, -1, "[other]", "[other]", NULL,
	};
}

/* The path to a level, as strand s has it, and what is below it as one frame. */
static void add_other(struct fold *f, const struct strand *s, uint32_t level,
		      const struct rest *rest, struct hwpmc_thread_info *thread)
{
	const struct entry *e = entry_of(f, s);
	struct hwpmc_profile *p = f->p;
	struct hwpmc_stack whole = { 0 }, *out;
	uint32_t skip;

	if (!rest->count || !stat_room(&p->stack, p->nstack, sizeof(*out)))
		return;
	out = &p->stack[p->nstack++];
	*out = (struct hwpmc_stack){
		.event = e->event, .count = rest->count, .taken = rest->taken,
		.flags = e->flags, .thread = thread, .cpu = -1,
	};
	stacks_push_frame(out, &p->other.frame);
	stacks_name_frames(p, e, &whole);
	/* Inlined frames stand before the one that they are in. */
	for (skip = whole.nframe; level && skip; level--)
		for (skip--; skip && whole.frame[skip - 1]->inlined; skip--)
			;
	for (; skip < whole.nframe; skip++)
		stacks_push_frame(out, whole.frame[skip]);
	free(whole.frame);
	p->totals.folded += rest->taken;
}

static void push_branch(struct fold *f, uint32_t first, uint32_t last, uint32_t level)
{
	if (stat_room(&f->todo, f->ntodo, sizeof(*f->todo)))
		f->todo[f->ntodo++] = (struct branch){ first, last, level };
}

static bool all_same(const struct fold *f, const struct branch *b)
{
	for (uint32_t i = b->first + 1; i < b->last; i++)
		if (f->strand[i].name != f->strand[b->first].name)
			return false;
	return f->strand[b->first].spot != NULL;
}

static void add_rest(const struct fold *f, struct rest *rest, uint32_t first,
		     uint32_t last)
{
	for (uint32_t i = first; i < last; i++) {
		const struct entry *e = entry_of(f, &f->strand[i]);
		const struct hwpmc_thread_info *t = stacks_thread(f->p, e);

		rest->pid = !rest->count || rest->pid == t->pid ? t->pid : -1;
		rest->tid = !rest->count || rest->tid == t->tid ? t->tid : -1;
		rest->comm = !rest->count || rest->comm == t->comm ? t->comm : NULL;
		rest->count += e->count;
		rest->taken += profile_taken(f->p, e);
	}
	rest->any = first;
}

/* Those of one name: a branch of its own, or a part of what is too small. */
static void take_group(struct fold *f, const struct branch *b, uint32_t first,
		       uint32_t last, struct rest *rest)
{
	if (!f->strand[first].spot) {
		for (uint32_t i = first; i < last; i++)
			stacks_add(f->p, entry_of(f, &f->strand[i]), false);
		return;
	}
	if (count_of(f, first, last) >= f->least)
		push_branch(f, first, last, b->level + 1);
	else
		add_rest(f, rest, first, last);
}

static void split(struct fold *f, struct branch b)
{
	struct hwpmc_thread_info thread;
	struct rest rest = { 0 };

	for (uint32_t i = b.first; i < b.last; i++)
		step(f, &f->strand[i], i > b.first ? &f->strand[i - 1] : NULL);
	if (all_same(f, &b)) {
		push_branch(f, b.first, b.last, b.level + 1);
		return;
	}
	qsort(f->strand + b.first, b.last - b.first, sizeof(*f->strand), by_name);
	for (uint32_t i = b.first, end; i < b.last; i = end) {
		for (end = i + 1; end < b.last &&
		     f->strand[end].name == f->strand[i].name; end++)
			;
		take_group(f, &b, i, end, &rest);
	}
	if (!rest.count)
		return;
	thread = *stacks_thread(f->p, entry_of(f, &f->strand[rest.any]));
	thread.pid = rest.pid;
	thread.tid = rest.tid;
	thread.comm = rest.comm ? rest.comm : thread.process;
	add_other(f, &f->strand[rest.any], b.level, &rest,
		  stacks_find_thread(f->p, &thread));
}

/* ---- roots --------------------------------------------------------------- */

/* The first level is the process, by its name; `left` is the event until then. */
static int by_root(const void *a, const void *b)
{
	const struct strand *x = a, *y = b;

	if (x->left != y->left)
		return x->left < y->left ? -1 : 1;
	return by_name(a, b);
}

static void fold_root(struct fold *f, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i < last; i++)
		f->strand[i].left = entry_of(f, &f->strand[i])->npc;
	push_branch(f, first, last, 0);
	while (f->ntodo)
		split(f, f->todo[--f->ntodo]);
}

static uint32_t end_of(const struct fold *f, uint32_t first, uint32_t last, bool name)
{
	uint32_t end = first + 1;

	while (end < last && f->strand[end].left == f->strand[first].left &&
	       (!name || f->strand[end].name == f->strand[first].name))
		end++;
	return end;
}

static void fold_event(struct fold *f, uint32_t first, uint32_t last)
{
	double least = f->p->o.min_share / 100 *
		       f->p->event[f->strand[first].left].pub.samples;
	struct rest rest = { 0 };

	f->least = least;
	f->least += f->least < least;
	for (uint32_t i = first, end; i < last; i = end) {
		uint64_t count;

		end = end_of(f, i, last, true);
		count = count_of(f, i, end);
		if (count >= f->least) {
			fold_root(f, i, end);
			continue;
		}
		rest.count += count;
		for (uint32_t k = i; k < end; k++)
			rest.taken += profile_taken(f->p, entry_of(f, &f->strand[k]));
	}
	add_other(f, &f->strand[first], 0, &rest, &f->p->other.thread);
}

void fold_name_all(struct hwpmc_profile *p)
{
	struct fold f = { .p = p };
	uint32_t n = 0;

	p->totals.folded = 0;
	make_other(p);
	f.strand = stat_alloc(p->nentry, sizeof(*f.strand));
	if (!f.strand)
		return;
	for (uint32_t i = 0; i < p->nentry; i++)
		if (!p->entry[i].out)
			f.strand[n++] = (struct strand){
				i, p->entry[i].event, NULL,
				stacks_thread(p, &p->entry[i])->process,
			};
	qsort(f.strand, n, sizeof(*f.strand), by_root);
	for (uint32_t i = 0, end; i < n; i = end) {
		/* fold_root() overwrites what tells events apart. */
		end = end_of(&f, i, n, false);
		fold_event(&f, i, end);
	}
	free(f.strand);
	free(f.todo);
}
