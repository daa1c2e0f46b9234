/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * programs.c - symbols of programs, libraries and the vdso: those of the file itself, of
 * a separate debug file, and of calls through the PLT. The symbols of a file that is not
 * the one that ran (identity.c) would be wrong.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "stat.h"

static void add_own(struct images *set, struct image *img, struct elf_file *f)
{
	elf_add_segments(img, f->elf);
	elf_add_code(img, f->elf);
	if (!elf_add_symbols(f, img) && !debug_file_load(set, img, f)) {
		uint32_t before;

		elf_add_dynamic_symbols(f->elf, img);
		before = img->nsymbol;
		debug_data_add(img, f);
		img->stripped = img->nsymbol == before;
		bounds_add(img, f->elf);
	}
	plt_add(img, f->elf);
	if (!img->nsymbol)
		image_problem(img, IMAGE_STRIPPED);
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
		return image_problem(img, "symbols of the vdso of 32-bit programs are not supported");
	if (!kallsyms_of_this_kernel(set))
		return image_problem(img, "the log is from another kernel");
	elf_version(EV_CURRENT);
	elf = at ? elf_memory(at, vdso_size(at)) : NULL;
	if (!elf)
		return image_problem(img, "this system has no vdso");
	elf_add_segments(img, elf);
	elf_add_dynamic_symbols(elf, img);
	elf_end(elf);
	return 0;
}

/* Takes path, which is the file's for the reader. */
static bool use_file(struct images *set, struct image *img, struct elf_file *f, char *path,
		     const char *root)
{
	bool is = path && identity_check(set, img, f);

	if (is) {
		img->pub.problem = NULL;
		img->pub.file = path;
		img->pub.root = root;
		img->pub.code = stat_strdup(path);
		add_own(set, img, f);
	} else {
		free(path);
	}
	elf_close(f);
	return is;
}

/* Below the option's root, or a process's. */
static bool load_below(struct images *set, struct image *img, const char *root)
{
	struct elf_file f;

	if (elf_open(&f, root, img->pub.path, false) < 0) {
		image_problem(img, errno == EFBIG ?
			      "its content is larger than the file: holes, packed sections or overlapping sections" :
			      "the file does not exist, or is not ELF");
		return false;
	}
	return use_file(set, img, &f, stat_join(root ? root : "", img->pub.path), img->root);
}

/* Loads the file that the process has mapped, wherever it is, and if it has been removed. */
static bool load_mapped(struct images *set, struct image *img, const struct mapper *m)
{
	int fd = hwpmc_open_mapped(m->pid, m->start, m->end);
	struct elf_file f;

	if (fd < 0 || elf_open_fd(&f, fd) < 0)
		return false;
	return use_file(set, img, &f, stat_strdup(img->pub.path), "");
}

/* In a process that has mapped it: its paths may be those of a container. */
static bool load_of_process(struct images *set, struct image *img)
{
	char root[ORIGIN_ROOT];

	if (!origin_is_here(set))
		return false;
	for (uint32_t i = 0; i < MAPPERS_MAX && img->mapper[i].pid; i++) {
		const struct mapper *m = &img->mapper[i];

		if (!origin_lives(set, m->pid))
			continue;
		img->root = stat_strdup(origin_root(m->pid, root));
		if (!img->root)
			return false;
		if (load_below(set, img, img->root))
			return true;
		free((void *)img->root);
		img->root = NULL;
		if (load_mapped(set, img, m))
			return true;
	}
	return false;
}

int program_load(struct images *set, struct image *img)
{
	const char *why;

	if (img->pub.kind == HWPMC_IMAGE_VDSO)
		return vdso_load(set, img);
	if (!load_below(set, img, set->options.root)) {
		why = img->pub.problem;
		if (!load_of_process(set, img))
			/* The program may be gone, and its debug file still there. */
			img->pub.problem = debug_file_load(set, img, NULL) ? NULL : why;
	}
	return img->pub.problem ? -1 : 0;
}
