/* SPDX-License-Identifier: BSD-2-Clause */
/* image.c - files that code lies in, each once, and their symbols. */
#include <stdlib.h>
#include <string.h>

#include "stat.h"

void *stat_alloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		abort();
	return p;
}

void *stat_grow(void *p, size_t n, size_t size)
{
	/* Twice as large at each power of two. */
	if (n & (n - 1))
		return p;
	p = realloc(p, (n ? 2 * n : 1) * size);
	if (!p)
		abort();
	return p;
}

void images_init(struct images *set, const struct hwpmc_symbol_options *o)
{
	memset(set, 0, sizeof(*set));
	set->options = *o;
	set->unknown = image_get(set, "[unknown]", HWPMC_IMAGE_UNKNOWN, NULL, 0, 0);
	set->hidden = image_get(set, "[hidden kernel]", HWPMC_IMAGE_HIDDEN, NULL,
				0, 0);
	set->kernel = image_get(set, "[kernel]", HWPMC_IMAGE_KERNEL, NULL, 0, 0);
}

static void image_free(struct image *img)
{
	for (uint32_t i = 0; i < img->nsymbol; i++) {
		if (img->symbol[i].name != img->symbol[i].raw)
			free((void *)img->symbol[i].name);
		free((void *)img->symbol[i].raw);
	}
	lines_close(img);
	for (uint32_t i = 0; i < img->ninlined; i++) {
		if (img->inlined[i]->name != img->inlined[i]->raw)
			free((void *)img->inlined[i]->name);
		free((void *)img->inlined[i]->raw);
		free(img->inlined[i]);
	}
	free(img->inlined);
	free(img->symbol);
	free(img->segment);
	free((void *)img->pub.code);
	free((void *)img->pub.path);
	free((void *)img->pub.build_id);
	free((void *)img->pub.file);
	free((void *)img->pub.problem);
	free(img);
}

void images_free(struct images *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		image_free(set->all[i]);
	free(set->all);
}

static unsigned int hash_path(const char *path)
{
	unsigned int h = 5381;

	while (*path)
		h = h * 33 + (unsigned char)*path++;
	return h & 255;
}

static bool same_image(const struct image *img, const char *path,
		       const uint8_t *id, uint32_t len, int32_t pid)
{
	return img->pid == pid && strcmp(img->pub.path, path) == 0 &&
	       img->pub.build_id_len == len &&
	       (!len || memcmp(img->pub.build_id, id, len) == 0);
}

static void name_image(struct image *img, const char *path)
{
	const char *slash;

	img->pub.path = strdup(path);
	if (!img->pub.path)
		abort();
	slash = strrchr(img->pub.path, '/');
	img->pub.name = slash && slash[1] && path[0] == '/' && path[1] != '/' ?
			slash + 1 : img->pub.path;
}

struct image *image_get(struct images *set, const char *path,
			enum hwpmc_image_kind kind, const uint8_t *build_id,
			uint32_t build_id_len, int32_t pid)
{
	struct image **slot = &set->hash[hash_path(path)], *img;

	for (img = *slot; img; img = img->next)
		if (same_image(img, path, build_id, build_id_len, pid))
			return img;
	img = stat_alloc(1, sizeof(*img));
	name_image(img, path);
	img->pub.kind = kind;
	img->pid = pid;
	if (build_id_len) {
		uint8_t *copy = stat_alloc(1, build_id_len);

		memcpy(copy, build_id, build_id_len);
		img->pub.build_id = copy;
		img->pub.build_id_len = build_id_len;
	}
	img->unknown = (struct hwpmc_symbol){
		.image = &img->pub, .name = "[unknown]", .raw = "[unknown]",
		.unknown = true,
	};
	img->next = *slot;
	*slot = img;
	set->all = stat_grow(set->all, set->n, sizeof(*set->all));
	set->all[set->n++] = img;
	return img;
}

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
		elf_load(img, &set->options);
		break;
	case HWPMC_IMAGE_KERNEL:
	case HWPMC_IMAGE_MODULE:
		kernel_load(set);
		break;
	case HWPMC_IMAGE_JIT:
		jit_load(img, &set->options);
		break;
	default:
		break;
	}
	image_sort(img);
}

static int by_start(const void *a, const void *b)
{
	const struct hwpmc_symbol *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* With a size before without; then by name, to be the same each time. */
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	return strcmp(x->raw, y->raw);
}

void image_sort(struct image *img)
{
	uint32_t n = 0;

	if (!img->nsymbol)
		return;
	qsort(img->symbol, img->nsymbol, sizeof(*img->symbol), by_start);
	for (uint32_t i = 1; i < img->nsymbol; i++) {
		if (img->symbol[i].start == img->symbol[n].start) {
			if (img->symbol[i].name != img->symbol[i].raw)
				free((void *)img->symbol[i].name);
			free((void *)img->symbol[i].raw);
			continue;
		}
		/* What has no size goes on to the next. */
		if (!img->symbol[n].size)
			img->symbol[n].size = img->symbol[i].start -
					      img->symbol[n].start;
		img->symbol[++n] = img->symbol[i];
	}
	img->nsymbol = n + 1;
	if (!img->symbol[n].size)
		img->symbol[n].size = 4096;
}

uint64_t image_addr(struct images *set, struct image *img, uint64_t offset)
{
	image_load(set, img);
	for (uint32_t i = 0; i < img->nsegment; i++) {
		const struct segment *s = &img->segment[i];

		if (offset >= s->offset && offset - s->offset < s->size)
			return offset - s->offset + s->addr;
	}
	return offset;
}

struct hwpmc_symbol *image_symbol(struct images *set, struct image *img,
				  uint64_t addr)
{
	uint32_t lo = 0, hi;

	image_load(set, img);
	hi = img->nsymbol;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (img->symbol[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo && addr - img->symbol[lo - 1].start < img->symbol[lo - 1].size)
		return &img->symbol[lo - 1];
	return &img->unknown;
}

/* By name; where they belong in the sorted array if it is not there. */
static uint32_t inlined_slot(const struct image *img, const char *raw)
{
	uint32_t lo = 0, hi = img->ninlined;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (strcmp(img->inlined[mid]->raw, raw) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct hwpmc_symbol *image_inlined(struct images *set, struct image *img,
				   const char *raw)
{
	uint32_t at;
	struct hwpmc_symbol *s;

	if (!raw)
		return &img->unknown;
	at = inlined_slot(img, raw);
	if (at < img->ninlined && !strcmp(img->inlined[at]->raw, raw))
		return img->inlined[at];
	s = stat_alloc(1, sizeof(*s));
	*s = (struct hwpmc_symbol){
		.image = &img->pub, .raw = strdup(raw), .inlined = true,
	};
	s->name = symbol_name(s->raw, !set->options.no_demangle);
	img->inlined = stat_grow(img->inlined, img->ninlined, sizeof(s));
	memmove(&img->inlined[at + 1], &img->inlined[at],
		(img->ninlined++ - at) * sizeof(s));
	img->inlined[at] = s;
	return s;
}
