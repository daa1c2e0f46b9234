/* SPDX-License-Identifier: BSD-2-Clause */
/* places.c - copies of symbols and frames, by what they are, in tables that grow. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "common/msg.h"
#include "places.h"

struct view_place {
	struct view_place *next;	/* of the slot */
	uint64_t hash;
	union {
		struct hwpmc_frame frame;
		struct hwpmc_symbol symbol;
		struct {
			const struct hwpmc_frame *from;
			struct hwpmc_frame *to;
		} known;
	};
	struct hwpmc_image image;	/* of a symbol; its names follow */
	char text[];
};

#define SMALL	offsetof(struct view_place, image)	/* what is no symbol */

/* ---- tables -------------------------------------------------------------- */

static struct view_place *table_first(const struct view_places_table *t,
				      uint64_t hash)
{
	return t->nslot ? t->slot[hash & (t->nslot - 1)] : NULL;
}

static void table_enter(struct view_places_table *t, struct view_place *e)
{
	struct view_place **slot = &t->slot[e->hash & (t->nslot - 1)];

	e->next = *slot;
	*slot = e;
}

static void table_grow(struct view_places_table *t)
{
	struct view_places_table more = { .nslot = t->nslot ? 2 * t->nslot : 256 };
	struct view_place *e, *next;

	more.slot = must_calloc(more.nslot, sizeof(*more.slot));
	for (uint32_t i = 0; i < t->nslot; i++)
		for (e = t->slot[i]; e; e = next) {
			next = e->next;
			table_enter(&more, e);
		}
	free(t->slot);
	more.n = t->n;
	*t = more;
}

static struct view_place *table_add(struct view_places_table *t, uint64_t hash,
				    size_t size)
{
	struct view_place *e = must_calloc(1, size);

	if (t->n == t->nslot)
		table_grow(t);
	e->hash = hash;
	table_enter(t, e);
	t->n++;
	return e;
}

static void table_free(struct view_places_table *t)
{
	struct view_place *e, *next;

	for (uint32_t i = 0; i < t->nslot; i++)
		for (e = t->slot[i]; e; e = next) {
			next = e->next;
			free(e);
		}
	free(t->slot);
	*t = (struct view_places_table){ NULL };
}

/* ---- places -------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

static uint64_t mix_text(uint64_t hash, const char *s)
{
	for (; *s; s++)
		hash = mix(hash, (unsigned char)*s);
	return hash;
}

static bool same_symbol(const struct hwpmc_symbol *a, const struct hwpmc_symbol *b)
{
	return a->start == b->start && a->unknown == b->unknown &&
	       a->image->kind == b->image->kind &&
	       !strcmp(a->name, b->name) && !strcmp(a->image->path, b->image->path);
}

static const char *put_text(char **at, const char *s)
{
	char *to = *at;

	*at = stpcpy(to, s) + 1;
	return to;
}

static struct hwpmc_symbol *copy_symbol(struct view_places *p,
					const struct hwpmc_symbol *s)
{
	uint64_t hash = mix_text(mix_text(s->start, s->name), s->image->path);
	struct view_place *e;
	char *text;

	for (e = table_first(&p->symbols, hash); e; e = e->next)
		if (e->hash == hash && same_symbol(&e->symbol, s))
			return &e->symbol;
	e = table_add(&p->symbols, hash, sizeof(*e) + strlen(s->name) +
		      strlen(s->image->path) + strlen(s->image->name) + 3);
	text = e->text;
	e->image.kind = s->image->kind;
	e->image.path = put_text(&text, s->image->path);
	e->image.name = put_text(&text, s->image->name);
	e->symbol.image = &e->image;
	e->symbol.name = put_text(&text, s->name);
	e->symbol.start = s->start;
	e->symbol.unknown = s->unknown;
	return &e->symbol;
}

static struct hwpmc_frame *copy_frame(struct view_places *p,
				      const struct hwpmc_frame *f)
{
	struct hwpmc_symbol *symbol = copy_symbol(p, f->symbol);
	uint64_t hash = mix(mix(0, (uintptr_t)symbol), f->addr);
	struct view_place *e;

	for (e = table_first(&p->frames, hash); e; e = e->next)
		if (e->frame.symbol == symbol && e->frame.addr == f->addr)
			return &e->frame;
	e = table_add(&p->frames, hash, SMALL);
	e->frame.symbol = symbol;
	e->frame.image = symbol->image;
	e->frame.addr = f->addr;
	return &e->frame;
}

struct hwpmc_frame *view_places_copy(struct view_places *p,
				     const struct hwpmc_frame *frame)
{
	uint64_t hash = mix(0, (uintptr_t)frame);
	struct view_place *e;

	for (e = table_first(&p->known, hash); e; e = e->next)
		if (e->known.from == frame)
			return e->known.to;
	e = table_add(&p->known, hash, SMALL);
	e->known.from = frame;
	e->known.to = copy_frame(p, frame);
	return e->known.to;
}

void view_places_end_round(struct view_places *p)
{
	table_free(&p->known);
}

void view_places_free(struct view_places *p)
{
	table_free(&p->known);
	table_free(&p->frames);
	table_free(&p->symbols);
}
