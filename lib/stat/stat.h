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
	struct lines *lines;		/* NULL: not asked for yet, or none */
	struct hwpmc_symbol **inlined;	/* functions, each once */
	uint32_t ninlined;
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
/* The one for functions of that name that were inlined. */
struct hwpmc_symbol *image_inlined(struct images *set, struct image *img,
				   const char *raw);
/* Find its file and symbols, if that was not done yet. */
void image_load(struct images *set, struct image *img);

/* elf.c: 0, or -1 and *problem. */
int elf_load(struct image *img, const struct hwpmc_symbol_options *o);
/* raw itself, or what it means to people, to be freed. */
const char *symbol_name(const char *raw, bool demangle);
void image_add_symbol(struct image *img, uint64_t start, uint64_t size,
		      const char *raw, bool demangle);
void image_sort(struct image *img);

/* ---- lines.c ------------------------------------------------------------- */

struct place {
	const char *name;		/* of the inlined function, as linked */
	const char *file;		/* NULL: not known */
	unsigned int line;
};

#define PLACES_MAX	64		/* functions inlined into each other */

bool lines_find(struct images *set, struct image *img, uint64_t addr,
		struct place *at);
/*
 * How many functions are inlined into each other at addr. at[0] is where the
 * function itself stands, at[1] the outermost inlined one, at[n] the innermost.
 */
uint32_t lines_inlined(struct images *set, struct image *img, uint64_t addr,
		       struct place *at, uint32_t max);
void lines_close(struct image *img);

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
	const char *former_comm;	/* before the latest change, or NULL */
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

/* ---- frames.c ------------------------------------------------------------ */

/* A frame; `frame` is the first field, and what others see of it. */
struct spot {
	struct hwpmc_frame frame;
	struct spot *inner;		/* inlined there, innermost first */
	uint32_t ninner;
	bool placed;			/* its line was asked for */
	struct place place;
};

struct frames {
	struct spot **slot;		/* by hash */
	uint32_t n, nslot;
};

struct spot *frames_get(struct frames *set, struct model *m,
			struct space *space, uint64_t time, uint64_t pc,
			bool kernel, bool caller);
void frames_free(struct frames *set);
int frame_line(struct images *images, const struct hwpmc_frame *frame,
	       const char **file, unsigned int *line);
int image_line(struct images *images, const struct hwpmc_image *image,
	       uint64_t addr, const char **file, unsigned int *line);

#endif /* HWPMC_LIB_STAT_H */
