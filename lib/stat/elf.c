/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * elf.c - symbols and segments of programs and libraries, by libelf. A file whose
 * build-id is not the log's is another one: its symbols would be wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "stat.h"

#define PATH_SIZE	8192

static int problem(struct image *img, const char *why)
{
	free((void *)img->pub.problem);
	img->pub.problem = strdup(why);
	return -1;
}

const char *symbol_name(const char *raw, bool demangle)
{
	char *nice = NULL;

	if (demangle && raw[0] == '_')
		nice = cplus_demangle(raw, DMGL_AUTO | DMGL_NO_OPTS);
	return nice ? nice : raw;
}

void image_add_symbol(struct image *img, uint64_t start, uint64_t size,
		      const char *raw, bool demangle)
{
	struct hwpmc_symbol *s;

	img->symbol = stat_grow(img->symbol, img->nsymbol, sizeof(*s));
	s = &img->symbol[img->nsymbol++];
	*s = (struct hwpmc_symbol){
		.image = &img->pub, .raw = strdup(raw), .start = start,
		.size = size,
	};
	s->name = symbol_name(s->raw, demangle);
}

static bool is_code(const GElf_Sym *sym)
{
	int type = GELF_ST_TYPE(sym->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC ||
		(type == STT_NOTYPE && GELF_ST_BIND(sym->st_info) != STB_LOCAL)) &&
	       sym->st_shndx != SHN_UNDEF && sym->st_value;
}

static unsigned int add_table(struct image *img, Elf *elf, Elf_Scn *scn,
			      const GElf_Shdr *sh, bool demangle)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	size_t n = sh->sh_entsize ? sh->sh_size / sh->sh_entsize : 0;
	unsigned int added = 0;

	for (size_t i = 0; data && i < n; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, i, &sym) || !is_code(&sym))
			continue;
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (!name || !*name)
			continue;
		image_add_symbol(img, sym.st_value, sym.st_size, name, demangle);
		added++;
	}
	return added;
}

static unsigned int add_tables(struct image *img, Elf *elf, uint32_t type,
			       bool demangle)
{
	Elf_Scn *scn = NULL;
	unsigned int added = 0;

	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == type)
			added += add_table(img, elf, scn, &sh, demangle);
	}
	return added;
}

static void add_segments(struct image *img, Elf *elf)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD)
			continue;
		img->segment = stat_grow(img->segment, img->nsegment,
					 sizeof(*img->segment));
		img->segment[img->nsegment++] = (struct segment){
			ph.p_offset, ph.p_filesz, ph.p_vaddr,
		};
	}
}

/* The note with the build-id; its length, 0: there is none. */
static unsigned int build_id_of(Elf *elf, uint8_t *id, unsigned int max)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(elf, scn))) {
		size_t at = 0, next, name, desc;
		Elf_Data *data;
		GElf_Shdr sh;
		GElf_Nhdr nh;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(scn, NULL);
		for (; data && (next = gelf_getnote(data, at, &nh, &name, &desc));
		     at = next) {
			if (nh.n_type != NT_GNU_BUILD_ID || nh.n_namesz != 4 ||
			    memcmp((char *)data->d_buf + name, "GNU", 4) ||
			    nh.n_descsz > max)
				continue;
			memcpy(id, (char *)data->d_buf + desc, nh.n_descsz);
			return nh.n_descsz;
		}
	}
	return 0;
}

static bool is_the_file(const struct image *img, Elf *elf)
{
	uint8_t id[64];
	unsigned int n;

	if (!img->pub.build_id_len)
		return true;
	n = build_id_of(elf, id, sizeof(id));
	return n == img->pub.build_id_len && !memcmp(id, img->pub.build_id, n);
}

static Elf *elf_open(const char *path, int *fd)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0)
		return NULL;
	elf = elf_begin(*fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	close(*fd);
	return NULL;
}

/* ---- separate debug files ------------------------------------------------ */

static bool add_debug_file(struct image *img, const char *path, bool demangle)
{
	unsigned int added = 0;
	Elf *elf;
	int fd;

	elf = elf_open(path, &fd);
	if (!elf)
		return false;
	if (is_the_file(img, elf))
		added = add_tables(img, elf, SHT_SYMTAB, demangle);
	elf_end(elf);
	close(fd);
	if (!added)
		return false;
	free((void *)img->pub.file);
	img->pub.file = strdup(path);
	return true;
}

static bool by_build_id(struct image *img, const char *dir, bool demangle)
{
	char path[PATH_SIZE];
	int n;

	if (img->pub.build_id_len < 2)
		return false;
	n = snprintf(path, sizeof(path), "%s/.build-id/%02x/", dir,
		     img->pub.build_id[0]);
	for (uint32_t i = 1; i < img->pub.build_id_len; i++)
		n += snprintf(path + n, sizeof(path) - n, "%02x",
			      img->pub.build_id[i]);
	snprintf(path + n, sizeof(path) - n, ".debug");
	return add_debug_file(img, path, demangle);
}

static bool in_directories(struct image *img, const char *list, bool demangle)
{
	char *copy = strdup(list), *rest = copy, *dir;
	char path[PATH_SIZE];
	bool found = false;

	while (!found && (dir = strsep(&rest, ":"))) {
		found = by_build_id(img, dir, demangle);
		if (found)
			break;
		snprintf(path, sizeof(path), "%s/%s.debug", dir, img->pub.name);
		found = add_debug_file(img, path, demangle);
	}
	free(copy);
	return found;
}

static bool find_debug_file(struct image *img,
			    const struct hwpmc_symbol_options *o)
{
	bool demangle = !o->no_demangle;

	if (o->debug && in_directories(img, o->debug, demangle))
		return true;
	return by_build_id(img, "/usr/lib/debug", demangle);
}

/* ---- the file itself ----------------------------------------------------- */

static void add_symbols(struct image *img, Elf *elf,
			const struct hwpmc_symbol_options *o)
{
	bool demangle = !o->no_demangle;

	add_segments(img, elf);
	if (add_tables(img, elf, SHT_SYMTAB, demangle))
		return;
	if (find_debug_file(img, o))
		return;
	if (!add_tables(img, elf, SHT_DYNSYM, demangle))
		problem(img, "it has no symbols");
}

/* The vdso of this process is that of all, as long as the kernel is the same. */
static int vdso_load(struct image *img, const struct hwpmc_symbol_options *o)
{
	char *at = (char *)getauxval(AT_SYSINFO_EHDR);
	Elf *elf;

	elf_version(EV_CURRENT);
	/* It has two pages; sections lie in what is mapped. */
	elf = at ? elf_memory(at, 2 * getpagesize()) : NULL;
	if (!elf)
		return problem(img, "this system has no vdso");
	add_segments(img, elf);
	add_tables(img, elf, SHT_DYNSYM, !o->no_demangle);
	elf_end(elf);
	return 0;
}

int elf_load(struct image *img, const struct hwpmc_symbol_options *o)
{
	char path[PATH_SIZE];
	Elf *elf;
	int fd;

	if (img->pub.kind == HWPMC_IMAGE_VDSO)
		return vdso_load(img, o);
	snprintf(path, sizeof(path), "%s%s", o->root ? o->root : "",
		 img->pub.path);
	elf = elf_open(path, &fd);
	if (!elf) {
		/* The program may be gone, and its symbols still there. */
		if (find_debug_file(img, o))
			return 0;
		return problem(img, "there is no such file, or it is not ELF");
	}
	if (is_the_file(img, elf)) {
		img->pub.file = strdup(path);
		img->pub.code = strdup(path);
		add_symbols(img, elf, o);
	} else if (!find_debug_file(img, o)) {
		problem(img, "the file has changed: its build-id is not the log's");
	}
	elf_end(elf);
	close(fd);
	return img->pub.problem ? -1 : 0;
}
