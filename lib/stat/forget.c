/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * forget.c - bounds the memory of a reader that follows a log for days: frees processes
 * that have ended, programs that were replaced, mappings that are gone and files that no
 * process maps. What ended after the previous call is kept: samples of it may follow.
 */
#include <string.h>

#include "stat.h"

/* ---- processes ----------------------------------------------------------- */

static void forget_spaces(struct process *p, uint64_t before)
{
	uint32_t gone = 0;

	while (gone + 1 < p->nspace && p->space[gone + 1]->from < before)
		space_free(p->space[gone++]);
	p->nspace -= gone;
	memmove(p->space, p->space + gone, p->nspace * sizeof(*p->space));
	for (uint32_t i = 0; i < p->nspace; i++) {
		maps_forget(&space_memory(p->space[i])->maps, before);
		eras_forget(&space_memory(p->space[i])->eras, before);
	}
}

static void forget_processes(struct model *m, uint64_t before)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->nprocess; i++) {
		struct process *p = m->process[i];

		if (p->ended && p->ended < before) {
			process_free(p);
			continue;
		}
		forget_spaces(p, before);
		m->process[n++] = p;
	}
	m->nprocess = n;
	model_index(m);
}

static bool is_process(void *arg, int32_t pid)
{
	return model_has(arg, pid);
}

/* ---- images -------------------------------------------------------------- */

static void mark_used(struct model *m)
{
	m->round++;
	maps_mark_images(&m->kernel, m->round);
	for (uint32_t i = 0; i < m->nprocess; i++)
		for (uint32_t j = 0; j < m->process[i]->nspace; j++)
			maps_mark_images(&space_memory(m->process[i]->space[j])->maps,
					 m->round);
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
			image_end(img);
		}
	}
	/* It is read again when there are others. */
	if (set->kallsyms.nimage == set->n)
		set->kallsyms.nimage = n;
	set->n = n;
	images_index(set);
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
	struct stat_strings left = { NULL };

	for (uint32_t i = 0; i < m->nprocess; i++)
		for (uint32_t j = 0; j < m->process[i]->nspace; j++) {
			struct space *s = m->process[i]->space[j];

			map_move(&left, &s->comm);
			map_move(&left, &s->former_comm);
			map_move(&left, &s->path);
		}
	for (uint32_t i = 0; i < m->names.table.n; i++)
		for (uint32_t j = 0; j < m->names.thread[i].n; j++)
			map_move(&left, &m->names.thread[i].name[j].comm);
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
	forget_processes(m, before);
	names_forget(&m->names, before, is_process, m);
	mark_used(m);
	forget_images(&m->images);
	forget_names(m);
}
