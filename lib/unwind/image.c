/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image.c - tables of files and of the vdso.
 */
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../stat/libhwpmcstat.h"
#include "unwind.h"

#define EXPORT __attribute__((visibility("default")))

/* Only programs of this architecture can be walked. */
static bool is_ours(Elf *elf)
{
	GElf_Ehdr eh;

	return elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &eh) &&
	       eh.e_ident[EI_CLASS] == ELFCLASS64 && eh.e_machine == EM_X86_64;
}

static void read_build_id(Elf *elf, struct hwpmc_unwind *u)
{
	const void *id;
	ssize_t n = dwelf_elf_gnu_build_id(elf, &id);

	/* One that the kernel does not know is none to it. */
	if (n <= 0 || n > HWPMC_LOG_BUILD_ID)
		return;
	u->build_id_len = n;
	memcpy(u->build_id, id, n);
}

/* false: none of ours; elf is given back. */
static bool identify(Elf *elf, struct hwpmc_unwind *u)
{
	if (!elf || !is_ours(elf)) {
		elf_end(elf);
		errno = ENOEXEC;
		return false;
	}
	read_build_id(elf, u);
	return true;
}

/* Takes elf. */
static int read_elf(Elf *elf, struct hwpmc_unwind *u)
{
	struct cfi_ranges ranges = { .n = 0 };
	int ret;

	ret = cfi_ranges_read(elf, &ranges);
	if (!ret) {
		ret = cfi_rows_make(elf, &ranges, &u->row, &u->nrow);
		free(ranges.range);
	}
	elf_end(elf);
	return ret;
}

EXPORT int hwpmc_unwind_read_cached(int fd, int dir, struct hwpmc_unwind *u)
{
	struct stat st;
	Elf *elf;
	int ret;

	*u = (struct hwpmc_unwind){ .nrow = 0 };
	if (fstat(fd, &st))
		return -1;
	u->inode = st.st_ino;
	u->major = major(st.st_dev);
	u->minor = minor(st.st_dev);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP_PRIVATE, NULL);
	if (!identify(elf, u))
		return -1;
	if (dir < 0 || !u->build_id_len)
		return read_elf(elf, u);
	if (cache_load(dir, &st, u)) {
		elf_end(elf);
		return 0;
	}
	ret = read_elf(elf, u);
	if (!ret)
		cache_store(dir, &st, u);
	return ret;
}

EXPORT int hwpmc_unwind_read(int fd, struct hwpmc_unwind *u)
{
	return hwpmc_unwind_read_cached(fd, -1, u);
}

/* Bytes of the image that the kernel has mapped into this process: whole pages. */
static size_t vdso_size(const char *image)
{
	const Elf64_Ehdr *eh = (const void *)image;
	const Elf64_Phdr *ph = (const void *)(image + eh->e_phoff);
	size_t size = 0;

	/* Its section headers come last, and are needed by nothing here. */
	for (int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && ph[i].p_offset + ph[i].p_filesz > size)
			size = ph[i].p_offset + ph[i].p_filesz;
	return size;
}

EXPORT int hwpmc_unwind_read_vdso(struct hwpmc_unwind *u)
{
	char *image = (char *)getauxval(AT_SYSINFO_EHDR), *copy;
	size_t size;
	Elf *elf;
	int ret;

	*u = (struct hwpmc_unwind){ .vdso = true };
	if (!image) {
		errno = ENODATA;
		return -1;
	}
	size = vdso_size(image);
	copy = malloc(size);
	if (!copy)
		return -1;
	memcpy(copy, image, size);
	/* Otherwise they would be looked for behind the copy. */
	((Elf64_Ehdr *)copy)->e_shoff = 0;
	((Elf64_Ehdr *)copy)->e_shnum = 0;
	((Elf64_Ehdr *)copy)->e_shstrndx = 0;
	elf_version(EV_CURRENT);
	elf = elf_memory(copy, size);
	ret = identify(elf, u) ? read_elf(elf, u) : -1;
	free(copy);
	/* The kernel tells no build-id of this mapping. */
	u->build_id_len = 0;
	return ret;
}

EXPORT void hwpmc_unwind_free(struct hwpmc_unwind *u)
{
	free(u->row);
	*u = (struct hwpmc_unwind){ .nrow = 0 };
}
