/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * load.c - addresses to images and symbols. An image's symbols are read when the first
 * one is asked for, from where its kind has them. An address of a module is an offset
 * into its text; one of the kernel is that of its vmlinux, or else as it ran.
 */
#include "stat.h"

void image_load(struct images *set, struct image *img)
{
	if (img->loaded)
		return;
	img->loaded = true;
	if (set->options.no_symbols)
		return;
	switch (img->pub.kind) {
	case HWPMC_IMAGE_ELF:
	case HWPMC_IMAGE_VDSO:
		program_load(set, img);
		if (img->copied)
			image_note_copy(img);
		break;
	case HWPMC_IMAGE_KERNEL:
	case HWPMC_IMAGE_MODULE:
		kernel_load(set, img);
		break;
	case HWPMC_IMAGE_JIT:
		jit_load(set, img);
		return;
	default:
		break;
	}
	image_sort_symbols(img);
}

void images_refresh(struct images *set)
{
	if (set->options.no_symbols)
		return;
	for (uint32_t i = 0; i < set->n; i++)
		if (set->all[i]->pub.kind == HWPMC_IMAGE_JIT &&
		    set->all[i]->loaded)
			jit_load(set, set->all[i]);
}

uint64_t image_addr(struct images *set, struct image *img,
		    const struct map *map, uint64_t pc)
{
	uint64_t offset = pc - map->start + map->offset;

	image_load(set, img);
	if (img->by_text)
		return img->text.size == map->end - map->start ?
		       pc - map->start + img->text.addr : UINT64_MAX;
	for (uint32_t i = 0; i < img->nsegment; i++) {
		const struct segment *s = &img->segment[i];

		if (offset >= s->offset && offset - s->offset < s->size)
			return offset - s->offset + s->addr;
	}
	/* Of a program's file, but nothing that the program is made of. */
	return img->nsegment ? UINT64_MAX : offset;
}

struct hwpmc_symbol *image_symbol(struct images *set, struct image *img,
				  uint64_t addr)
{
	image_load(set, img);
	if (img->lazy)
		return kallsyms_symbol(set, img, addr);
	return image_symbol_at(img, addr);
}

/* The module of an address that no mapping of the log covers: a BPF program, say. */
static struct image *unmapped_module(struct images *set, uint64_t pc)
{
	const char *name = kallsyms_module_at(set, pc);
	struct image *img;

	if (!name)
		return NULL;
	img = image_get(set, name, HWPMC_IMAGE_MODULE, NULL, 0, 0);
	/* What has a mapping lies there and nowhere else. */
	if (img->end || image_symbol(set, img, pc)->unknown)
		return NULL;
	return img;
}

struct image *kernel_find(struct images *set, const struct map *map,
			  uint64_t pc, uint64_t *addr)
{
	struct image *img = map ? map->image : NULL;

	*addr = pc;
	if (img && img != set->kernel) {
		*addr = pc - map->start;
		return img;
	}
	if (!img && !set->options.no_symbols)
		img = unmapped_module(set, pc);
	if (img && img != set->kernel)
		return img;
	image_load(set, set->kernel);
	*addr = pc - set->kernel->pub.load;
	return set->kernel;
}
