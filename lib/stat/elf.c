/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf.c - symbols and segments of programs and libraries, by libelf. A file whose
 * build-id is not the log's is another one: its symbols would be wrong. Files that
 * are not regular are never opened: the log may name devices.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stat.h"

/* ---- files --------------------------------------------------------------- */

int elf_open(struct elf_file *f, const char *path)
{
	struct stat st;

	elf_version(EV_CURRENT);
	f->fd = -1;
	f->elf = NULL;
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (f->fd < 0)
		return -1;
	/* It decompresses, too. */
	f->elf = dwelf_elf_begin(f->fd);
	if (f->elf && elf_kind(f->elf) == ELF_K_ELF)
		return 0;
	elf_close(f);
	return -1;
}

void elf_close(struct elf_file *f)
{
	elf_end(f->elf);
	if (f->fd >= 0)
		close(f->fd);
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

	return (type == STT_FUNC || type == STT_GNU_IFUNC ||
		(type == STT_NOTYPE && GELF_ST_BIND(sym->st_info) != STB_LOCAL)) &&
	       sym->st_shndx != SHN_UNDEF;
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

static bool add_symbol(const GElf_Sym *sym, const char *name, void *arg)
{
	if (!sym->st_value)
		return false;
	add_at(arg, sym, name, 0);
	return true;
}

unsigned int elf_add_symbols(struct elf_file *f, struct image *img)
{
	return each_symbol(f->elf, SHT_SYMTAB, add_symbol, img);
}

struct section {
	struct image *img;
	size_t index;
	uint64_t at;
};

static bool add_in_section(const GElf_Sym *sym, const char *name, void *arg)
{
	struct section *s = arg;

	if (sym->st_shndx != s->index)
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

static void add_segments(struct image *img, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n; i++) {
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

/* ---- the image ----------------------------------------------------------- */

static void add_own(struct images *set, struct image *img, struct elf_file *f)
{
	add_segments(img, f->elf);
	if (!elf_add_symbols(f, img) && !debug_file_load(set, img, f)) {
		each_symbol(f->elf, SHT_DYNSYM, add_symbol, img);
		debug_data_add(img, f);
	}
	plt_add(img, f->elf);
	if (!img->nsymbol)
		image_problem(img, "it has no symbols");
}

/* Its section headers are its last bytes; all of it is mapped. */
static size_t vdso_size(const char *at)
{
	const Elf64_Ehdr *h = (const Elf64_Ehdr *)at;

	return h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;
}

/* The vdso of this process is that of all, as long as the kernel is the same. */
static int vdso_load(struct images *set, struct image *img)
{
	char *at = (char *)getauxval(AT_SYSINFO_EHDR);
	Elf *elf;

	if (strcmp(img->pub.path, "[vdso]"))
		return image_problem(img, "the vdso of 32-bit programs is not known here");
	if (!kallsyms_of_this_kernel(set))
		return image_problem(img, "the log is of another kernel than the one that runs here");
	elf_version(EV_CURRENT);
	elf = at ? elf_memory(at, vdso_size(at)) : NULL;
	if (!elf)
		return image_problem(img, "this system has no vdso");
	add_segments(img, elf);
	each_symbol(elf, SHT_DYNSYM, add_symbol, img);
	elf_end(elf);
	return 0;
}

int elf_load(struct images *set, struct image *img)
{
	const char *root = set->options.root;
	struct elf_file f;
	char *path;
	bool same;

	if (img->pub.kind == HWPMC_IMAGE_VDSO)
		return vdso_load(set, img);
	path = stat_join(root ? root : "", img->pub.path);
	if (!path || elf_open(&f, path) < 0) {
		free(path);
		/* The program may be gone, and its symbols still there. */
		if (debug_file_load(set, img, NULL))
			return 0;
		return image_problem(img, "there is no such file, or it is not ELF");
	}
	same = elf_is_of(&f, img);
	if (same) {
		img->pub.file = path;
		img->pub.code = stat_strdup(path);
		add_own(set, img, &f);
	} else {
		free(path);
		if (!debug_file_load(set, img, NULL))
			image_problem(img, "the file has changed: its build-id is not the log's");
	}
	elf_close(&f);
	return img->pub.problem ? -1 : 0;
}
