/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bounds.c - functions of a stripped file, by its call-frame information (.eh_frame), which
 * has the bounds of each function and no names. A symbol is made up for a function when a
 * sample needs it: "rg+0x51f20", the file and the address of the function in it.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../unwind/unwind.h"
#include "stat.h"

static int by_addr(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	/* The longer one of two is kept. */
	return (x->size < y->size) - (x->size > y->size);
}

/* Of damaged files some lie over others: each ends where the next begins. */
static void cut_overlaps(struct image *img)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < img->nbounds; i++) {
		struct segment *s = &img->bounds[i], *before = &img->bounds[kept - 1];

		if (kept && s->addr == before->addr)
			continue;
		if (kept && before->size > s->addr - before->addr)
			before->size = s->addr - before->addr;
		img->bounds[kept++] = *s;
	}
	img->nbounds = kept;
}

void bounds_add(struct image *img, Elf *elf)
{
	struct cfi_functions fs;

	/* Addresses of 32-bit files have another form. */
	if (gelf_getclass(elf) != ELFCLASS64)
		return;
	if (cfi_functions_of(elf, &fs)) {
		stat_nomem |= errno == ENOMEM;
		return;
	}
	img->bounds = fs.n && fs.n < UINT32_MAX ? stat_alloc(fs.n, sizeof(*img->bounds)) : NULL;
	for (size_t i = 0; img->bounds && i < fs.n; i++)
		img->bounds[img->nbounds++] = (struct segment){
			.addr = fs.function[i].start,
			.size = fs.function[i].end - fs.function[i].start,
		};
	free(fs.function);
	if (!img->bounds)
		return;
	qsort(img->bounds, img->nbounds, sizeof(*img->bounds), by_addr);
	cut_overlaps(img);
}

/* Functions that begin at addr or before. */
static uint32_t count_up_to(const struct image *img, uint64_t addr)
{
	uint32_t lo = 0, hi = img->nbounds;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (img->bounds[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct segment *bounds_at(const struct image *img, uint64_t addr)
{
	uint32_t n = count_up_to(img, addr);
	const struct segment *s = n ? &img->bounds[n - 1] : NULL;

	return s && addr - s->addr < s->size ? s : NULL;
}

uint64_t bounds_limit(const struct image *img, uint64_t addr)
{
	const struct segment *s = bounds_at(img, addr);
	uint32_t n;

	if (s)
		return s->addr + s->size;
	n = count_up_to(img, addr);
	return n < img->nbounds ? img->bounds[n].addr : UINT64_MAX;
}

struct hwpmc_symbol *bounds_symbol(struct image *img, uint64_t addr)
{
	const struct segment *f = bounds_at(img, addr);
	size_t size = strlen(img->pub.name) + sizeof("+0x") + 16;
	struct hwpmc_symbol *s;
	char *name;

	if (!f)
		return NULL;
	name = stat_alloc(1, size);
	if (!name)
		return NULL;
	snprintf(name, size, "%s+0x%" PRIx64, img->pub.name, f->addr);
	s = image_insert_symbol(img, f->addr, f->size, name);
	free(name);
	if (s != &img->unknown)
		s->made_up = true;
	return s;
}
