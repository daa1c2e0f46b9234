/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stat.h - what the files of lib/stat share: images and their symbols, processes
 * over time. Nothing here is exported.
 */
#ifndef HWPMC_LIB_STAT_H
#define HWPMC_LIB_STAT_H

#include <stddef.h>
#include <stdint.h>

#include "libhwpmcstat.h"

#define EXPORT	__attribute__((visibility("default")))

/* Memory, or the end of the program: who cannot hold a profile cannot go on. */
void *stat_alloc(size_t n, size_t size);
void *stat_grow(void *p, size_t n, size_t size);

/* ---- image.c ------------------------------------------------------------- */

struct segment {
	uint64_t offset, size, addr;	/* in the file, and where ELF wants it */
};

struct image {
	struct hwpmc_image pub;
	struct hwpmc_symbol *symbol;	/* by start */
	uint32_t nsymbol;
	struct segment *segment;
	uint32_t nsegment;
	bool loaded;
	int32_t pid;			/* JIT: whose map */
	struct hwpmc_symbol unknown;
	struct image *next;		/* of the same hash */
};

struct images {
	struct hwpmc_symbol_options options;
	struct image **all;
	uint32_t n;
	struct image *hash[256];
	struct image *unknown, *hidden, *kernel;
};

void images_init(struct images *set, const struct hwpmc_symbol_options *o);
void images_free(struct images *set);
struct image *image_get(struct images *set, const char *path,
			enum hwpmc_image_kind kind, const uint8_t *build_id,
			uint32_t build_id_len, int32_t pid);
/* From an offset in the file to the address that ELF gives it. */
uint64_t image_addr(struct images *set, struct image *img, uint64_t offset);
struct hwpmc_symbol *image_symbol(struct images *set, struct image *img,
				  uint64_t addr);

/* elf.c: 0, or -1 and *problem. */
int elf_load(struct image *img, const struct hwpmc_symbol_options *o);
void image_add_symbol(struct image *img, uint64_t start, uint64_t size,
		      const char *raw, bool demangle);
void image_sort(struct image *img);

/* kernel.c: kallsyms; jit.c: perf-PID.map */
int kernel_load(struct images *set);
int jit_load(struct image *img, const struct hwpmc_symbol_options *o);

/* ---- model.c ------------------------------------------------------------- */

struct map {
	uint64_t start, end, offset, from;
	struct image *image;
};

/* What a process has mapped, from an exec (or its fork) to the next. */
struct space {
	uint64_t from;
	struct map *map;
	uint32_t nmap;
	const char *comm, *path;
	uint32_t serial;
	struct space *next;		/* later */
};

struct process {
	int32_t pid;
	struct space *first, *last;
	struct process *hash_next;
};

struct model {
	struct images images;
	struct process *hash[1024];
	struct process *cached;
	uint32_t nspace;
	struct map *modules;
	uint32_t nmodule;
};

void model_init(struct model *m, const struct hwpmc_symbol_options *o);
void model_free(struct model *m);
/* A record that changes what is where; in the order of their time. */
void model_apply(struct model *m, const struct hwpmc_record *r);
bool model_wants(uint8_t type);
struct space *model_space(struct model *m, int32_t pid, uint64_t time);
/* Where an address lies; image->unknown and *addr = pc where that is not known. */
struct image *model_find(struct model *m, struct space *space, bool kernel,
			 uint64_t pc, uint64_t time, uint64_t *addr);

#endif /* HWPMC_LIB_STAT_H */
