/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.c - the functions that .eh_frame has entries for, in a file that has no sorted
 * table of them: linkers make none for static programs, which register the section at
 * run time.
 */
#include <dwarf.h>
#include <gelf.h>
#include <string.h>

#include "unwind.h"

/* Encodings of addresses in an entry: DW_EH_PE_absptr, udata4, sdata4 and sdata8, each
 * from 0 or from the address of the field itself. */
#define FORM(encoding)	((encoding) & 0x0f)
#define FORM_ABSPTR	0x00
#define FORM_UDATA4	0x03
#define FORM_SDATA4	0x0b
#define FORM_SDATA8	0x0c
#define FROM(encoding)	((encoding) & 0xf0)
#define FROM_ZERO	0x00
#define FROM_FIELD	0x10

struct section {
	Elf_Data *data;
	uint64_t address;
	const unsigned char *ident;
	/* Of the last common entry that was asked for. */
	Dwarf_Off common;
	int encoding;			/* -1: none that is known here */
};

static bool find_section(Elf *elf, struct section *s)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	const char *name;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		name = elf_strptr(elf, names, sh.sh_name);
		if (!name || strcmp(name, ".eh_frame"))
			continue;
		s->data = elf_getdata(scn, NULL);
		s->address = sh.sh_addr;
		s->ident = (const unsigned char *)elf_getident(elf, NULL);
		s->encoding = -1;
		s->common = -1;
		return s->data && s->data->d_buf && s->ident;
	}
	return false;
}

/* An augmentation "zR" and others: its data, a byte or two of each letter. */
static int encoding_of(const Dwarf_CIE *cie)
{
	const uint8_t *at = cie->augmentation_data, *end = at + cie->augmentation_data_size;

	if (!cie->augmentation || cie->augmentation[0] != 'z')
		return FORM_ABSPTR | FROM_ZERO;
	for (const char *a = cie->augmentation + 1; *a && at < end; a++) {
		if (*a == 'R')
			return *at;
		if (*a == 'L')
			at++;
		else if (*a == 'P')
			at += FORM(*at) == FORM_UDATA4 || FORM(*at) == FORM_SDATA4 ? 5 : 9;
		else if (*a != 'S' && *a != 'B')
			return -1;
	}
	return FORM_ABSPTR | FROM_ZERO;
}

static int encoding_at(struct section *s, Dwarf_Off common)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (common == s->common)
		return s->encoding;
	s->common = common;
	s->encoding = -1;
	if (!dwarf_next_cfi(s->ident, s->data, true, common, &next, &entry) &&
	    dwarf_cfi_cie_p(&entry))
		s->encoding = encoding_of(&entry.cie);
	return s->encoding;
}

/* A number at *at, which moves behind it. False: no such form, or it is cut off. */
static bool read_number(const uint8_t **at, const uint8_t *end, int form, uint64_t *n)
{
	size_t size = form == FORM_UDATA4 || form == FORM_SDATA4 ? 4 : 8;
	int32_t word;

	if ((size_t)(end - *at) < size)
		return false;
	if (size == 8) {
		memcpy(n, *at, size);
	} else {
		memcpy(&word, *at, size);
		*n = form == FORM_SDATA4 ? (uint64_t)(int64_t)word : (uint32_t)word;
	}
	*at += size;
	return form == FORM_ABSPTR || form == FORM_SDATA8 || size == 4;
}

static bool function_of(struct section *s, const Dwarf_FDE *fde, uint64_t *start,
			uint64_t *size)
{
	int encoding = encoding_at(s, fde->CIE_pointer);
	const uint8_t *field = fde->start;
	uint64_t place = s->address + (field - (const uint8_t *)s->data->d_buf);

	if (encoding < 0 || (FROM(encoding) != FROM_ZERO && FROM(encoding) != FROM_FIELD))
		return false;
	if (!read_number(&field, fde->end, FORM(encoding), start) ||
	    !read_number(&field, fde->end, FORM(encoding), size))
		return false;
	if (FROM(encoding) == FROM_FIELD)
		*start += place;
	return *start + *size > *start;
}

int cfi_read_section(Elf *elf, Dwarf_CFI *cfi, struct cfi_ranges *ranges)
{
	uint64_t start, size;
	struct section s = { .data = NULL };
	Dwarf_CFI_Entry entry;
	Dwarf_Off at = 0, next;
	int ret;

	if (!find_section(elf, &s))
		return 0;
	/* -1: an entry that cannot be read; `next`, if it is behind, is the one after. */
	for (; (ret = dwarf_next_cfi(s.ident, s.data, true, at, &next, &entry)) != 1;
	     at = next) {
		if (next <= at || next == (Dwarf_Off)-1)
			break;
		if (ret || dwarf_cfi_cie_p(&entry) ||
		    !function_of(&s, &entry.fde, &start, &size))
			continue;
		if (cfi_read_function(cfi, start, start + size, ranges))
			return -1;
	}
	return 0;
}
