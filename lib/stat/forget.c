/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forget.c - bounds the memory of a reader that follows a log for days: frees processes
 * that have ended, programs that were replaced, mappings that are gone and files that no
 * process maps. What ended after the previous call is kept: samples of it may follow.
 */
#include <stdlib.h>

#include "stat.h"

/* Do not look at each mapping of each process each time. */
#define MAPS_MIN	64

/* ---- mappings ------------------------------------------------------------ */

static bool maps_overlap(const struct map *a, const struct map *b)
{
	return a->start < b->end && b->start < a->end;
}

static bool map_contains(const struct map *outer, const struct map *inner)
{
	return outer->start <= inner->start && inner->end <= outer->end;
}

/* Take `new` into a list that it may replace parts of; its new length. */
static uint32_t map_replace(struct map *map, uint32_t n, struct map new)
{
	bool touches = false;
	uint32_t out = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (map_contains(&new, &map[i]))
			continue;
		touches |= maps_overlap(&new, &map[i]);
		map[out++] = map[i];
	}
	/* A hole in nothing is nothing. */
	if (new.image || touches)
		map[out++] = new;
	return out;
}

static void forget_maps(struct space *s, uint64_t before)
{
	uint32_t n = 0;

	if (s->nmap < 2 * s->settled || s->nmap < MAPS_MIN)
		return;
	for (uint32_t i = 0; i < s->nmap; i++) {
		if (s->map[i].from < before)
			n = map_replace(s->map, n, s->map[i]);
		else
			s->map[n++] = s->map[i];
	}
	s->nmap = s->settled = n;
}

/* ---- processes ----------------------------------------------------------- */

static void forget_spaces(struct process *p, uint64_t before)
{
	struct space *s;

	while ((s = p->first)->next && s->next->from < before) {
		p->first = s->next;
		space_free(s);
	}
	for (s = p->first; s; s = s->next) {
		forget_maps(s, before);
		eras_forget(&s->eras, before);
	}
}

static void forget_processes(struct model *m, unsigned int hash,
			     uint64_t before)
{
	struct process **at = &m->hash[hash];

	while (*at) {
		struct process *p = *at;

		if (p->ended && p->ended < before) {
			*at = p->hash_next;
			process_free(p);
			continue;
		}
		forget_spaces(p, before);
		at = &p->hash_next;
	}
}

/* ---- images -------------------------------------------------------------- */

static void maps_mark_images(struct map *map, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (map[i].image)
			map[i].image->used = true;
}

static void mark_used(struct model *m)
{
	for (unsigned int i = 0; i < 1024; i++)
		for (struct process *p = m->hash[i]; p; p = p->hash_next)
			for (struct space *s = p->first; s; s = s->next)
				maps_mark_images(s->map, s->nmap);
}

static bool comes_and_goes(const struct image *img)
{
	return img->pub.kind == HWPMC_IMAGE_ELF ||
	       img->pub.kind == HWPMC_IMAGE_JIT;
}

static void forget_images(struct images *set)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < set->n; i++) {
		struct image *img = set->all[i];

		if (img->used || !comes_and_goes(img)) {
			img->used = false;
			set->all[n++] = img;
		} else {
			image_remove(set, img);
		}
	}
	/* It is read again when there are others. */
	if (set->kallsyms.nimage == set->n)
		set->kallsyms.nimage = n;
	set->n = n;
}

/* ---- names --------------------------------------------------------------- */

static void map_move(struct stat_strings *to, const char **text)
{
	if (*text)
		*text = stat_string(to, *text);
}

/* Those of spaces that are left, and what the log says of its kernel. */
static void forget_names(struct model *m)
{
	struct stat_strings left = { NULL, 0, 0 };

	for (unsigned int i = 0; i < 1024; i++)
		for (struct process *p = m->hash[i]; p; p = p->hash_next)
			for (struct space *s = p->first; s; s = s->next) {
				map_move(&left, &s->comm);
				map_move(&left, &s->former_comm);
				map_move(&left, &s->path);
			}
	map_move(&left, &m->images.kallsyms.release);
	map_move(&left, &m->images.kallsyms.hostname);
	m->nowhere.comm = m->nowhere.former_comm = m->nowhere.path = NULL;
	stat_strings_free(&m->strings);
	m->strings = left;
}

void model_forget(struct model *m, uint64_t now)
{
	uint64_t before = m->forgot;

	m->forgot = now;
	m->cached = NULL;
	for (unsigned int i = 0; i < 1024; i++)
		forget_processes(m, i, before);
	mark_used(m);
	forget_images(&m->images);
	forget_names(m);
}
