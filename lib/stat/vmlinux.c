/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * vmlinux.c - symbols of the kernel from its vmlinux, and of modules from their
 * files, also compressed: options.kernel names a vmlinux, or a directory to look
 * for all of them.
 */
#include <errno.h>
#include <fts.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "stat.h"

/* ---- is it the log's? ---------------------------------------------------- */

/*
 * Where the kernel's loader puts a section: the executable ones follow each other,
 * those for the time of loading lie elsewhere. Returns the end of the text.
 */
uint64_t ko_layout(Elf *elf, ko_section_fn *fn, void *arg)
{
	Elf_Scn *scn = NULL;
	uint64_t end = 0;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return 0;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || !(sh.sh_flags & SHF_ALLOC) ||
		    !(sh.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(elf, strings, sh.sh_name);
		if (!name || strncmp(name, ".init", 5) == 0)
			continue;
		if (sh.sh_addralign > 1)
			end = (end + sh.sh_addralign - 1) & -sh.sh_addralign;
		if (fn)
			fn(elf_ndxscn(scn), &sh, end, arg);
		end += sh.sh_size;
	}
	return end;
}

/* The module whose text has the same number of pages, when they are known. */
static bool has_size(const struct image *img, uint64_t size)
{
	return !img->end ||
	       ((size + 4095) & ~4095ull) ==
	       ((img->end - img->start + 4095) & ~4095ull);
}

/* A vmlinux by its build-id, which must be known; a module by its size. */
static bool file_fits(const struct image *img, const char *path)
{
	struct elf_file f;
	bool right;

	if (elf_open(&f, NULL, path, true) < 0)
		return false;
	right = elf_is_of(&f, img);
	if (img->pub.kind == HWPMC_IMAGE_MODULE)
		right &= img->end && has_size(img, ko_layout(f.elf, NULL, NULL));
	else
		right &= img->pub.build_id_len > 0;
	elf_close(&f);
	return right;
}

/* ---- which file ---------------------------------------------------------- */

static void add_file(struct kernel_files *k, const char *name, size_t len,
		     const char *path)
{
	struct kernel_file *f;

	if (!stat_room(&k->file, k->n, sizeof(*k->file)))
		return;
	f = &k->file[k->n++];
	f->path = stat_strdup(path);
	f->name = stat_strdup(name);
	if (f->name)
		f->name[len] = 0;
	for (char *c = f->name; c && *c; c++)
		if (*c == '-')
			*c = '_';
}

static bool is_module_suffix(const char *suffix)
{
	static const char *const suffixes[] = {
		"", ".debug", ".xz", ".zst", ".gz",
	};

	for (unsigned int i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++)
		if (strcmp(suffix, suffixes[i]) == 0)
			return true;
	return false;
}

/* "vmlinux", "vmlinux-6.1.0", "name.ko", "name.ko.debug", "name.ko.xz". */
static void look_at(struct kernel_files *k, const FTSENT *e)
{
	const char *ko = strstr(e->fts_name, ".ko");

	if (strncmp(e->fts_name, "vmlinux", 7) == 0 &&
	    (!e->fts_name[7] || e->fts_name[7] == '-'))
		add_file(k, "vmlinux", 7, e->fts_path);
	else if (ko && is_module_suffix(ko + 3))
		add_file(k, e->fts_name, ko - e->fts_name, e->fts_path);
}

static void look_into(struct kernel_files *k, const char *dir)
{
	char *paths[] = { (char *)dir, NULL };
	FTS *fts = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	FTSENT *e;

	while (fts && (e = fts_read(fts)))
		if (e->fts_info == FTS_F)
			look_at(k, e);
	if (fts)
		fts_close(fts);
}

static void files_look(struct images *set)
{
	const char *path = set->options.kernel;
	struct kernel_files *k = &set->files;
	struct stat st;

	if (k->looked || !path)
		return;
	k->looked = true;
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		look_into(k, path);
	else
		add_file(k, "vmlinux", 7, path);
}

/* Where distributions have them, for the log's release. */
static void look_around(struct images *set)
{
	static const char *const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s", "/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s", "/lib/modules/%s",
	};
	const char *release = set->kallsyms.release;
	struct kernel_files *k = &set->standard;
	char name[300], *path;

	if (k->looked || !release || strchr(release, '/'))
		return;
	k->looked = true;
	for (unsigned int i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(name, sizeof(name), places[i], release);
		path = stat_join(set->options.root ? set->options.root : "",
				 name);
		if (path)
			look_into(k, path);
		free(path);
	}
}

static bool is_named(const struct kernel_file *f, const char *name, size_t len)
{
	return f->name && f->path && strncmp(f->name, name, len) == 0 &&
	       !f->name[len];
}

/* The one that is the log's; without one the first, if any will do. */
static const char *find_file(const struct kernel_files *k, const char *name,
			     size_t len, const struct image *img, bool any)
{
	const char *first = NULL;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct kernel_file *f = &k->file[i];

		if (!is_named(f, name, len))
			continue;
		if (file_fits(img, f->path))
			return f->path;
		if (!first)
			first = f->path;
	}
	return any ? first : NULL;
}

const char *vmlinux_path(struct images *set)
{
	files_look(set);
	return find_file(&set->files, "vmlinux", 7, set->kernel, true);
}

/* Of "[name]". */
const char *ko_path(struct images *set, const struct image *img)
{
	size_t len = strlen(img->pub.path);

	files_look(set);
	return len > 2 ? find_file(&set->files, img->pub.path + 1, len - 2,
				   img, true) : NULL;
}

void kernel_files_free(struct kernel_files *k)
{
	for (uint32_t i = 0; i < k->n; i++) {
		free(k->file[i].name);
		free(k->file[i].path);
	}
	free(k->file);
}

/* ---- vmlinux ------------------------------------------------------------- */

static uint64_t value_of(const struct image *img, const char *name)
{
	for (uint32_t i = 0; i < img->nsymbol; i++)
		if (strcmp(img->symbol[i]->raw, name) == 0)
			return img->symbol[i]->start;
	return 0;
}

static void use_file(struct image *img, const char *path)
{
	img->pub.file = stat_strdup(path);
	img->pub.code = stat_strdup(path);
}

static uint64_t stext_of(const char *path)
{
	struct image img = { .nsymbol = 0 };
	struct elf_file f;
	uint64_t stext = 0;

	if (elf_open(&f, NULL, path, true) < 0)
		return 0;
	elf_add_symbols(&f, &img);
	stext = value_of(&img, "_stext");
	elf_close(&f);
	image_free_symbols(&img);
	return stext;
}

static int cannot_open(struct image *img, const char *other)
{
	return image_problem(img, errno == EFBIG ?
			     "its packed file expands to more than 16 times its size, or beyond "
			     "the limit of files (ulimit -f)" : other);
}

int vmlinux_load(struct images *set, struct image *img, const char *path,
		 uint64_t *stext)
{
	struct elf_file f;

	if (elf_open(&f, NULL, path, true) < 0)
		return cannot_open(img, "the file does not exist, or is not ELF");
	if (!elf_is_of(&f, img))
		image_problem(img, "vmlinux is from another kernel: its build-id differs from the log");
	else if (!elf_add_symbols(&f, img))
		image_problem(img, "vmlinux has no symbols");
	else
		use_file(img, path);
	elf_close(&f);
	*stext = value_of(img, "_stext");
	return img->pub.problem ? -1 : 0;
}

/* ---- modules ------------------------------------------------------------- */

struct ko_add {
	struct elf_file *f;
	struct image *img;
};

static void add_section(size_t index, const GElf_Shdr *sh, uint64_t at,
			void *arg)
{
	struct ko_add *a = arg;

	elf_add_section_symbols(a->f, a->img, index, at);
}

int ko_load(struct image *img, const char *path)
{
	struct elf_file f;

	if (elf_open(&f, NULL, path, true) < 0)
		return cannot_open(img, "its file cannot be read, or it is not ELF");
	if (!elf_is_of(&f, img) || !has_size(img, ko_layout(f.elf, NULL, NULL))) {
		image_problem(img, "the file is not the module of the log");
	} else {
		ko_layout(f.elf, add_section, &(struct ko_add){ &f, img });
		if (img->nsymbol)
			use_file(img, path);
		else
			image_problem(img, "its file has no symbols");
	}
	elf_close(&f);
	return img->pub.problem ? -1 : 0;
}

/* ---- for lines alone ----------------------------------------------------- */

const char *kernel_file_with_lines(struct images *set, const struct image *img,
				   uint64_t *moved)
{
	uint64_t start = img->start, stext;
	const char *path;
	size_t len = strlen(img->pub.path);

	look_around(set);
	*moved = 0;
	if (img->pub.kind == HWPMC_IMAGE_MODULE)
		return len > 2 ? find_file(&set->standard, img->pub.path + 1,
					   len - 2, img, false) : NULL;
	path = find_file(&set->standard, "vmlinux", 7, img, false);
	stext = path ? stext_of(path) : 0;
	if (!start && kallsyms_read(set) == 0)
		start = set->kallsyms.stext;
	*moved = start - stext;
	return start && stext ? path : NULL;
}
