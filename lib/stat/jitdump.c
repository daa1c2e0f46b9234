/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jitdump.c - the format in which V8, LLVM, .NET, Julia and agents of Java write what they
 * generate: a head, then records, in the byte order of the machine. Of these the ones that
 * put a function at an address, or move it, name code. Times are not used: as in a
 * perf-PID.map, the latest function at an address has all its samples.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "stat.h"

#define MAGIC		0x4A695444u
#define NAME_MAX_LEN	4096
#define SYMBOLS_MAX	(4u << 20)	/* with those that were replaced */
/* A move is a few bytes that copy a name: names of moves take no more than this. */
#define MOVED_MAX	(16u << 20)

enum { CODE_LOAD, CODE_MOVE };

struct head {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct record {
	uint32_t type, size;
	uint64_t time;
};

struct load {
	uint32_t pid, tid;
	uint64_t vma, at, len, index;
};

struct move {
	uint32_t pid, tid;
	uint64_t vma, from, to, len, index;
};

static bool read_at(FILE *f, uint64_t at, void *to, size_t len)
{
	return fseeko(f, at, SEEK_SET) == 0 && fread(to, len, 1, f) == 1;
}

/* room: bytes of the record behind the fields. */
static bool add_load(struct image *img, FILE *f, uint64_t room, bool demangle)
{
	char name[NAME_MAX_LEN];
	struct load l;
	size_t n;

	if (room < sizeof(l) || fread(&l, sizeof(l), 1, f) != 1 || !l.len)
		return false;
	room -= sizeof(l);
	n = fread(name, 1, room < sizeof(name) ? room : sizeof(name), f);
	if (!memchr(name, '\0', n) || !*name)
		return false;
	return image_add_symbol(img, l.at, l.len, name, demangle);
}

/* The latest one that began there; the number of the function is not kept. */
static const char *name_at(const struct image *img, uint64_t at, uint64_t *left)
{
	for (uint32_t i = img->nsymbol; i-- > 0 && *left; --*left)
		if (img->symbol[i]->start == at)
			return img->symbol[i]->raw;
	return NULL;
}

static bool add_move(struct image *img, FILE *f, uint64_t room, bool demangle, uint64_t *left)
{
	const char *name;
	struct move m;

	if (room < sizeof(m) || fread(&m, sizeof(m), 1, f) != 1 || !m.len)
		return false;
	name = name_at(img, m.from, left);
	if (!name || img->moved >= MOVED_MAX)
		return false;
	img->moved += strlen(name) + 1;
	return image_add_symbol(img, m.to, m.len, name, demangle);
}

static bool is_jitdump(const struct head *h)
{
	return h->magic == MAGIC && h->version >= 1 && h->size >= sizeof(*h);
}

bool jitdump_read(struct image *img, FILE *f, bool demangle, bool *more)
{
	uint64_t left = 1 << 24;	/* symbols that moves are compared with */
	struct record r;
	struct stat st;
	struct head h;

	if (!read_at(f, 0, &h, sizeof(h)) || !is_jitdump(&h) || fstat(fileno(f), &st) < 0)
		return false;
	if ((uint64_t)st.st_size < img->read) {
		image_forget_symbols(img);
		img->read = 0;
	}
	if (!img->read)
		img->read = h.size;
	/* A record that is not whole is read the next time. */
	while ((uint64_t)img->nsymbol + img->nretired < SYMBOLS_MAX && read_at(f, img->read, &r, sizeof(r)) &&
	       r.size >= sizeof(r) && r.size <= st.st_size - img->read) {
		if (r.type == CODE_LOAD)
			*more |= add_load(img, f, r.size - sizeof(r), demangle);
		else if (r.type == CODE_MOVE)
			*more |= add_move(img, f, r.size - sizeof(r), demangle, &left);
		img->read += r.size;
	}
	return true;
}
