/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf.c - ELF files by libelf: symbols, segments, build-id.
 */
#include <elfutils/libdwelf.h>
#include <endian.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stat.h"

#define SECTIONS_MIN	(64ull << 20)
#define SECTIONS_RATIO	16
#define EXTENTS_MAX	4096

/* ---- files --------------------------------------------------------------- */

/* Without its holes, which cost nothing; EXTENTS_MAX pieces of it. The file is read from
 * its beginning afterwards. */
static uint64_t bytes_on_disk(int fd)
{
	off_t data, hole = 0;
	uint64_t n = 0;

	for (int i = 0; i < EXTENTS_MAX; i++) {
		data = lseek(fd, hole, SEEK_DATA);
		hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);
		if (hole < 0)
			break;
		n += hole - data;
	}
	lseek(fd, 0, SEEK_SET);
	return n;
}

/* Compilers' output shrinks to a third; what shrinks more is small. */
static uint64_t unpacked_limit(int fd)
{
	return SECTIONS_MIN + bytes_on_disk(fd) * SECTIONS_RATIO;
}

/* What is in the file, or the file itself where it is not packed. Takes fd. */
static int open_packed(int fd)
{
	char magic[SELFMAG];
	int unpacked, error;

	if (pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG))
		return fd;
	unpacked = unpack_fd(fd, unpacked_limit(fd));
	error = errno;
	close(fd);
	errno = error;
	return unpacked;
}

/* What it says that it unpacks to: as ELF has it, or as GNU had it before. 0: not packed. */
static uint64_t unpacked_size(Elf *elf, Elf_Scn *scn, size_t names)
{
	const char *name;
	uint64_t size;
	GElf_Shdr sh;
	GElf_Chdr ch;
	Elf_Data *raw;

	if (!gelf_getshdr(scn, &sh))
		return 0;
	if (sh.sh_flags & SHF_COMPRESSED)
		return gelf_getchdr(scn, &ch) ? ch.ch_size : 0;
	name = elf_strptr(elf, names, sh.sh_name);
	if (!name || strncmp(name, ".zdebug", 7))
		return 0;
	raw = elf_rawdata(scn, NULL);
	if (!raw || !raw->d_buf || raw->d_size < 12)
		return 0;
	memcpy(&size, (const char *)raw->d_buf + 4, sizeof(size));
	return be64toh(size);
}

/* libdw finds these by their names, whatever their flags. */
static bool has_debug_name(const char *name)
{
	static const char *const prefix[] = { ".debug", ".zdebug", ".gnu_debug", ".gnu.debuglto" };

	for (size_t i = 0; name && i < sizeof(prefix) / sizeof(*prefix); i++)
		if (!strncmp(name, prefix[i], strlen(prefix[i])))
			return true;
	return false;
}

/* Tables and variables of the program, which nothing here reads but call-frame information. */
static bool is_data(Elf *elf, const GElf_Shdr *sh, size_t names)
{
	const char *name = elf_strptr(elf, names, sh->sh_name);

	return sh->sh_type == SHT_PROGBITS && sh->sh_flags & SHF_ALLOC &&
	       !(sh->sh_flags & (SHF_EXECINSTR | SHF_COMPRESSED)) &&
	       !has_debug_name(name) && !(name && !strcmp(name, ".eh_frame"));
}

/*
 * Sections do not overlap: together they are no larger than the file, else each
 * that has the same bytes would cost once more. limit: of those that are read, which may be
 * holes, and of what they unpack to.
 */
static bool is_bounded(Elf *elf, uint64_t size, uint64_t limit)
{
	uint64_t stored = 0, read = 0, held = 0, unpacked;
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return true;
	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || sh.sh_type == SHT_NOBITS)
			continue;
		unpacked = unpacked_size(elf, scn, names);
		if (sh.sh_size > size - stored || unpacked > limit - held)
			return false;
		stored += sh.sh_size;
		read += is_data(elf, &sh, names) ? 0 : sh.sh_size;
		if (read > limit)
			return false;
		held += unpacked;
	}
	return true;
}

bool elf_in_memory(struct elf_file *f, void *bytes, size_t len)
{
	elf_version(EV_CURRENT);
	f->fd = -1;
	f->elf = elf_memory(bytes, len);
	if (f->elf && elf_kind(f->elf) == ELF_K_ELF &&
	    is_bounded(f->elf, len, SECTIONS_MIN + len * SECTIONS_RATIO))
		return true;
	elf_close(f);
	return false;
}

/* 0, or an errno: EFBIG if sections that are read are large by a hole, which takes no room on
 * the disk, or out of proportion. */
static int check_bounds(const struct elf_file *f)
{
	uint64_t limit = unpacked_limit(f->fd);
	struct stat st;

	if (fstat(f->fd, &st) < 0)
		return errno;
	return is_bounded(f->elf, st.st_size, limit) ? 0 : EFBIG;
}

static int open_fd(struct elf_file *f, int fd, bool packed)
{
	int error;

	elf_version(EV_CURRENT);
	f->fd = packed && fd >= 0 ? open_packed(fd) : fd;
	error = f->fd < 0 ? errno : 0;
	f->elf = NULL;
	if (f->fd >= 0)
		f->elf = elf_begin(f->fd, ELF_C_READ_MMAP, NULL);
	if (f->elf && elf_kind(f->elf) == ELF_K_ELF) {
		error = check_bounds(f);
		if (!error)
			return 0;
	}
	elf_close(f);
	errno = error;
	return -1;
}

int elf_open(struct elf_file *f, const char *root, const char *path, bool packed)
{
	struct hwpmc_guard guard = { .root = root, .limit = ELF_LIMIT };

	return open_fd(f, hwpmc_open_guarded(&guard, path, NULL), packed);
}

int elf_open_fd(struct elf_file *f, int fd)
{
	return open_fd(f, fd, false);
}

void elf_close(struct elf_file *f)
{
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
	f->elf = NULL;
	f->fd = -1;
}

bool elf_is_of(const struct elf_file *f, const struct image *img)
{
	const void *id;
	ssize_t n;

	if (!img->pub.build_id_len)
		return true;
	n = dwelf_elf_gnu_build_id(f->elf, &id);
	return n == img->pub.build_id_len && !memcmp(id, img->pub.build_id, n);
}

/* ---- symbols ------------------------------------------------------------- */

static bool is_code(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE) &&
	       sym->st_shndx != SHN_UNDEF;
}

/* Functions of hand-written assembly, most of which have no type either. */
static bool is_label(const GElf_Sym *sym)
{
	return GELF_ST_TYPE(sym->st_info) == STT_NOTYPE &&
	       GELF_ST_BIND(sym->st_info) == STB_LOCAL;
}

typedef bool symbol_fn(const GElf_Sym *sym, const char *name, void *arg);

static unsigned int each_in_table(Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh,
				  symbol_fn *fn, void *arg)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	unsigned int taken = 0;

	for (size_t i = 0; data && i < n; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, i, &sym) || !is_code(&sym))
			continue;
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (name && *name)
			taken += fn(&sym, name, arg);
	}
	return taken;
}

static unsigned int each_symbol(Elf *elf, uint32_t type, symbol_fn *fn,
				void *arg)
{
	Elf_Scn *scn = NULL;
	unsigned int taken = 0;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == type)
			taken += each_in_table(elf, scn, &sh, fn, arg);
	}
	return taken;
}

static void add_at(struct image *img, const GElf_Sym *sym, const char *name,
		   uint64_t at)
{
	struct hwpmc_symbol *s;

	s = image_add_symbol(img, at + sym->st_value, sym->st_size, name, true);
	if (!s)
		return;
	s->weak = GELF_ST_BIND(sym->st_info) == STB_WEAK;
	s->local = GELF_ST_BIND(sym->st_info) == STB_LOCAL;
}

/* A place within a function: ".L..." of GNU as; "function.place" and "..@macro" of NASM. */
static bool is_inner_label(const char *name)
{
	return !strncmp(name, ".L", 2) || strchr(name + 1, '.');
}

static bool add_symbol(const GElf_Sym *sym, const char *name, void *arg)
{
	const struct image *img = arg;

	/* A label is code if it lies in a section of code. */
	if (!sym->st_value ||
	    (is_label(sym) && (!img->ncode || sym->st_shndx >= SHN_LORESERVE ||
			       is_inner_label(name))))
		return false;
	add_at(arg, sym, name, 0);
	return true;
}

unsigned int elf_add_symbols(struct elf_file *f, struct image *img)
{
	return each_symbol(f->elf, SHT_SYMTAB, add_symbol, img);
}

void elf_add_dynamic_symbols(Elf *elf, struct image *img)
{
	each_symbol(elf, SHT_DYNSYM, add_symbol, img);
}

struct section {
	struct image *img;
	size_t index;
	uint64_t at;
};

static bool add_in_section(const GElf_Sym *sym, const char *name, void *arg)
{
	struct section *s = arg;

	if (sym->st_shndx != s->index || is_label(sym))
		return false;
	add_at(s->img, sym, name, s->at);
	return true;
}

void elf_add_section_symbols(struct elf_file *f, struct image *img,
			     size_t index, uint64_t at)
{
	struct section s = { img, index, at };

	each_symbol(f->elf, SHT_SYMTAB, add_in_section, &s);
}

/* ---- segments ------------------------------------------------------------ */

/* The kernel runs no program with more; each address is looked for in all. */
#define SEGMENTS_MAX	(65536 / sizeof(Elf64_Phdr))

void elf_add_segments(struct image *img, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n && i < SEGMENTS_MAX; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD)
			continue;
		if (!stat_room(&img->segment, img->nsegment,
			       sizeof(*img->segment)))
			return;
		img->segment[img->nsegment++] = (struct segment){
			ph.p_offset, ph.p_filesz, ph.p_vaddr,
		};
	}
}

static int by_addr(const void *a, const void *b)
{
	const struct segment *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

void elf_add_code(struct image *img, Elf *elf)
{
	Elf_Scn *scn = NULL;
	uint32_t n = 0;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_EXECINSTR) ||
		    !(sh.sh_flags & SHF_ALLOC) || !sh.sh_size ||
		    sh.sh_size > UINT64_MAX - sh.sh_addr)
			continue;
		if (!stat_room(&img->code, img->ncode, sizeof(*img->code)))
			return;
		img->code[img->ncode++] = (struct segment){ 0, sh.sh_size, sh.sh_addr };
	}
	if (!img->ncode)
		return;
	qsort(img->code, img->ncode, sizeof(*img->code), by_addr);
	/* Of damaged files some lie over others: each ends where the next begins. */
	for (uint32_t i = 0; i + 1 < img->ncode; i++)
		if (img->code[i].size > img->code[i + 1].addr - img->code[i].addr)
			img->code[i].size = img->code[i + 1].addr - img->code[i].addr;
	for (uint32_t i = 0; i < img->ncode; i++)
		if (img->code[i].size)
			img->code[n++] = img->code[i];
	img->ncode = n;
}

/*
 * A debug file alone: where its segments were in the program's file is lost, but one
 * that is the only executable one is that which was mapped, if it is as long.
 */
void elf_guess_text(struct image *img, Elf *elf)
{
	uint64_t first, end;
	unsigned int found = 0;
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X))
			continue;
		first = ph.p_vaddr & ~4095ull;
		end = (ph.p_vaddr + ph.p_memsz + 4095) & ~4095ull;
		img->text = (struct segment){ 0, end - first, first };
		found++;
	}
	img->by_text = true;
	if (found != 1)
		img->text.size = 0;
}
