/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plt.c - names for the stubs of the procedure linkage table, "name@plt": each jumps
 * through a slot, and the slot's relocation has the name. x86-64 only.
 */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

struct slot {
	uint64_t addr;
	const char *name;		/* NULL: that of its resolver */
	uint64_t resolver;		/* of an indirect function, which chooses at start */
};

struct slots {
	struct slot *slot;
	uint32_t n;
};

static int by_addr(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void add_slot(struct slots *s, const struct slot *slot)
{
	if (stat_room(&s->slot, s->n, sizeof(s->slot[0])))
		s->slot[s->n++] = *slot;
}

/* Static programs have them too, and no table of symbols for them. */
static void add_resolved(struct slots *s, Elf_Data *rela)
{
	GElf_Rela r;

	for (int i = 0; rela && gelf_getrela(rela, i, &r); i++)
		if (GELF_R_TYPE(r.r_info) == R_X86_64_IRELATIVE)
			add_slot(s, &(struct slot){ .addr = r.r_offset,
						    .resolver = r.r_addend });
}

/* An indirect function has the name of its resolver. */
static void name_resolved(struct slots *s, struct image *img)
{
	bool sorted = false;

	for (uint32_t i = 0; i < s->n; i++) {
		if (s->slot[i].name)
			continue;
		if (!sorted)
			image_sort_symbols(img);
		sorted = true;
		s->slot[i].name = image_name_at(img, s->slot[i].resolver);
	}
}

static void add_slots(struct slots *s, Elf *elf, Elf_Scn *scn,
		      const GElf_Shdr *sh)
{
	Elf_Data *rela = elf_getdata(scn, NULL), *syms;
	Elf_Scn *table = elf_getscn(elf, sh->sh_link);
	GElf_Shdr th;
	GElf_Rela r;
	GElf_Sym sym;

	add_resolved(s, rela);
	if (!rela || !table || !gelf_getshdr(table, &th))
		return;
	syms = elf_getdata(table, NULL);
	for (int i = 0; syms && gelf_getrela(rela, i, &r); i++) {
		int type = GELF_R_TYPE(r.r_info);
		const char *name;

		if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
		    !gelf_getsym(syms, GELF_R_SYM(r.r_info), &sym))
			continue;
		name = elf_strptr(elf, th.sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		add_slot(s, &(struct slot){ .addr = r.r_offset, .name = name });
	}
}

static void find_slots(struct slots *s, struct image *img, Elf *elf)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_RELA)
			add_slots(s, elf, scn, &sh);
	name_resolved(s, img);
	if (s->n)
		qsort(s->slot, s->n, sizeof(*s->slot), by_addr);
}

/* The slot that `jmp *disp(%rip)` in this stub jumps through; 0: no such jump. */
static uint64_t slot_of(const uint8_t *code, size_t len, uint64_t addr)
{
	for (size_t i = 0; i + 6 <= len; i++)
		if (code[i] == 0xff && code[i + 1] == 0x25) {
			int32_t disp;

			memcpy(&disp, code + i + 2, sizeof(disp));
			return addr + i + 6 + disp;
		}
	return 0;
}

static void add_stub(struct image *img, const struct slots *s, uint64_t got,
		     uint64_t addr, uint64_t size)
{
	const struct slot key = { .addr = got };
	const struct slot *slot;
	char *name;

	slot = bsearch(&key, s->slot, s->n, sizeof(key), by_addr);
	name = slot && slot->name ? stat_join(slot->name, "@plt") : NULL;
	if (name)
		image_add_symbol(img, addr, size, name, true);
	free(name);
}

/* Linkers leave it out for stubs of indirect functions, which are as long as aligned. */
static uint64_t stub_size(const GElf_Shdr *sh)
{
	if (sh->sh_entsize)
		return sh->sh_entsize;
	return sh->sh_addralign == 8 ? 8 : 16;
}

static void add_section(struct image *img, const struct slots *s, Elf_Scn *scn,
			const GElf_Shdr *sh)
{
	uint64_t size = stub_size(sh);
	Elf_Data *data = elf_getdata(scn, NULL);

	if (!data || !data->d_buf || size > 64)
		return;
	for (uint64_t at = 0; at + size <= data->d_size; at += size) {
		uint64_t got = slot_of((uint8_t *)data->d_buf + at, size,
				       sh->sh_addr + at);

		if (got)
			add_stub(img, s, got, sh->sh_addr + at, size);
	}
}

void plt_add(struct image *img, Elf *elf)
{
	struct slots s = { NULL, 0 };
	Elf_Scn *scn = NULL;
	size_t strings;
	GElf_Ehdr eh;
	GElf_Shdr sh;

	if (!gelf_getehdr(elf, &eh) || eh.e_machine != EM_X86_64 ||
	    elf_getshdrstrndx(elf, &strings))
		return;
	find_slots(&s, img, elf);
	while (s.n && (scn = elf_nextscn(elf, scn))) {
		const char *name;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, strings, sh.sh_name);
		if (name && (!strncmp(name, ".plt", 4) || !strcmp(name, ".iplt")))
			add_section(img, &s, scn, &sh);
	}
	free(s.slot);
}
