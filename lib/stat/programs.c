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

int program_load(struct images *set, struct image *img)
{
	const char *root = set->options.root;
	struct elf_file f;
	char *path;

	if (img->pub.kind == HWPMC_IMAGE_VDSO)
		return vdso_load(set, img);
	path = stat_join(root ? root : "", img->pub.path);
	if (!path || elf_open(&f, root, img->pub.path, false) < 0) {
		bool large = path && errno == EFBIG;

		free(path);
		/* The program may be gone, and its symbols still there. */
		if (debug_file_load(set, img, NULL))
			return 0;
		return image_problem(img, large ?
				     "its content is larger than the file: holes, packed sections or overlapping sections" :
				     "the file does not exist, or is not ELF");
	}
	if (identity_check(set, img, &f)) {
		img->pub.file = path;
		img->pub.code = stat_strdup(path);
		add_own(set, img, &f);
	} else {
		free(path);
		/* Its debug file may be there yet. */
		if (debug_file_load(set, img, NULL))
			img->pub.problem = NULL;
	}
	elf_close(&f);
	return img->pub.problem ? -1 : 0;
}
