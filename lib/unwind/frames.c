/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * frames.c - the functions that .eh_frame has entries for. Most files have a sorted table of
 * them, .eh_frame_hdr, which linkers make for exceptions; of a file without one, as a static
 * program is, the entries are read one by one.
 */
#include <dwarf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
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

/* Bytes; a file can claim any number of them, and have holes there. */
#define NAMES_MAX	(1u << 20)
#define SECTION_MAX	(256u << 20)

struct section {
	Elf_Data *data;
	uint64_t address;
	const unsigned char *ident;
	/* Of the last common entry that was asked for. */
	Dwarf_Off common;
	int encoding;			/* -1: none that is known here */
};

/* Returns false with errno if the file has no section with a name, too many names, or some that
 * cannot be read. */
static bool find_names(Elf *elf, size_t *names)
{
	GElf_Ehdr eh;
	GElf_Shdr sh;

	errno = EIO;
	if (!gelf_getehdr(elf, &eh))
		return false;
	if (!eh.e_shoff || eh.e_shstrndx == SHN_UNDEF) {
		errno = ENODATA;
		return false;
	}
	if (elf_getshdrstrndx(elf, names) || !gelf_getshdr(elf_getscn(elf, *names), &sh))
		return false;
	errno = EFBIG;
	return sh.sh_size <= NAMES_MAX;
}

/* elfutils shall find functions by their entries alone, and looks for it by its name. */
static bool hide_section(Elf_Scn *scn, GElf_Shdr *sh)
{
	sh->sh_name = 0;
	return gelf_update_shdr(scn, sh);
}

/* Returns false with errno if the section has no bytes, too many, or some that cannot be read. */
static bool take_section(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh, struct section *s)
{
	errno = sh->sh_size > SECTION_MAX ? EFBIG : ENODATA;
	if (sh->sh_type == SHT_NOBITS || !sh->sh_size || sh->sh_size > SECTION_MAX)
		return false;
	errno = EIO;
	s->data = elf_getdata(scn, NULL);
	s->address = sh->sh_addr;
	s->ident = (const unsigned char *)elf_getident(elf, NULL);
	s->encoding = -1;
	s->common = -1;
	return s->data && s->data->d_buf && s->ident;
}

/* Returns false with errno; ENODATA only if all sections were seen, and none has entries. */
static bool find_section(Elf *elf, struct section *s, bool hide)
{
	int none = ENODATA;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	const char *name;
	size_t names;

	if (!find_names(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn)) != NULL) {
		name = gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;
		if (!name) {
			none = EIO;
			continue;
		}
		if (hide && !strcmp(name, ".eh_frame_hdr") && !hide_section(scn, &sh)) {
			errno = EIO;
			return false;
		}
		if (!strcmp(name, ".eh_frame"))
			return take_section(elf, scn, &sh, s);
	}
	errno = none;
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

/* ---- functions ------------------------------------------------------------ */

static int functions_add(struct cfi_functions *fs, const struct cfi_function *f)
{
	if (fs->n == fs->max) {
		size_t max = fs->max ? 2 * fs->max : 1024;
		struct cfi_function *more = realloc(fs->function, max * sizeof(*more));

		if (!more)
			return -1;
		fs->function = more;
		fs->max = max;
	}
	fs->function[fs->n++] = *f;
	return 0;
}

/* Bytes of a common entry, which can be anywhere. */
static uint64_t length_of_common(const struct section *s, Dwarf_Off at)
{
	uint32_t len;

	if (at >= s->data->d_size || s->data->d_size - at < sizeof(len))
		return 0;
	memcpy(&len, (const char *)s->data->d_buf + at, sizeof(len));
	return len < s->data->d_size ? len : s->data->d_size;
}

enum entry { NO_MORE, OTHER_ENTRY, FUNCTION };

/* The entry at `at`, which *next is behind; what f has of start and end stays if it has
 * a form that is not known here. */
static enum entry read_entry(struct section *s, Dwarf_Off at, Dwarf_Off *next,
			     struct cfi_function *f)
{
	Dwarf_CFI_Entry entry;
	uint64_t start, size;
	int ret = dwarf_next_cfi(s->ident, s->data, true, at, next, &entry);

	/* -1: it cannot be read; *next, if it is behind, is the one after. */
	if (ret == 1 || *next <= at || *next == (Dwarf_Off)-1)
		return NO_MORE;
	f->length = *next - at;
	if (ret || dwarf_cfi_cie_p(&entry))
		return OTHER_ENTRY;
	f->length += length_of_common(s, entry.fde.CIE_pointer);
	if (function_of(s, &entry.fde, &start, &size)) {
		f->start = start;
		f->end = start + size;
	}
	return FUNCTION;
}

static int read_entries(struct section *s, struct cfi_functions *functions)
{
	struct cfi_function f;
	Dwarf_Off at = 0, next;
	enum entry entry;

	for (;; at = next) {
		f = (struct cfi_function){ .start = 0 };
		entry = read_entry(s, at, &next, &f);
		if (entry == NO_MORE)
			return 0;
		if (entry == FUNCTION && f.end && functions_add(functions, &f)) {
			free(functions->function);
			return -1;
		}
	}
}

static int read_section(Elf *elf, struct cfi_functions *functions, uint64_t *size, bool hide)
{
	struct section s = { .data = NULL };

	*functions = (struct cfi_functions){ .n = 0 };
	if (!find_section(elf, &s, hide))
		return -1;
	*size = s.data->d_size;
	return read_entries(&s, functions);
}

int cfi_functions_by_section(Elf *elf, struct cfi_functions *functions, uint64_t *size)
{
	return read_section(elf, functions, size, true);
}

int cfi_functions_of(Elf *elf, struct cfi_functions *functions)
{
	uint64_t size;

	return read_section(elf, functions, &size, false);
}

int cfi_functions_by_header(const struct unwind_copy *c, struct cfi_functions *functions)
{
	const struct eh_frame_hdr *h = c->header;
	uint64_t position = (const unsigned char *)h - c->image, at;
	Elf_Data data = {
		.d_buf = c->image + c->frames, .d_size = c->frames_len,
		.d_type = ELF_T_BYTE, .d_version = EV_CURRENT,
	};
	struct section s = {
		.data = &data, .ident = c->image, .encoding = -1, .common = -1,
		.address = c->header_address + (c->frames - position),
	};
	struct cfi_function f;
	Dwarf_Off next;

	*functions = (struct cfi_functions){ .n = 0 };
	for (uint32_t i = 0; i < h->count; i++) {
		f = (struct cfi_function){
			.start = c->header_address + h->entry[i].function,
			.end = UINT64_MAX,
		};
		at = position + h->entry[i].description - c->frames;
		if (at >= c->frames_len || read_entry(&s, at, &next, &f) != FUNCTION)
			f.length = c->frames_len;
		if (functions_add(functions, &f)) {
			free(functions->function);
			return -1;
		}
	}
	return 0;
}
