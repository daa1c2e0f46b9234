/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image.c - tables of files and of the vdso.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "../stat/libhwpmcstat.h"
#include "unwind.h"

#define EXPORT __attribute__((visibility("default")))

/* Takes the functions. */
static int read_functions(Elf *elf, struct cfi_functions *functions, uint64_t size,
			  uint64_t entry, struct hwpmc_unwind *u)
{
	struct cfi_ranges ranges;
	int ret;

	ret = cfi_ranges_read(elf, functions, size, &ranges);
	free(functions->function);
	if (ret)
		return ret;
	ret = cfi_rows_make(elf, &ranges, entry, &u->row, &u->nrow);
	free(ranges.range);
	return ret;
}

/* Of a copy that has a header. */
static int read_by_header(const struct unwind_copy *c, struct hwpmc_unwind *u)
{
	Elf *elf = elf_memory((char *)c->image, c->size);
	struct cfi_functions functions;
	int ret;

	if (!elf) {
		errno = EIO;
		return -1;
	}
	ret = cfi_functions_by_header(c, &functions);
	if (!ret)
		ret = read_functions(elf, &functions, c->frames_len, copy_entry(c), u);
	elf_end(elf);
	return ret;
}

/* elfutils reads what it needs: a file that is mapped could be cut off meanwhile. */
static int read_by_section(int fd, uint64_t entry, struct hwpmc_unwind *u)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	struct cfi_functions functions;
	uint64_t size;
	int ret;

	if (!elf || elf_kind(elf) != ELF_K_ELF || gelf_getclass(elf) != ELFCLASS64) {
		elf_end(elf);
		/* The copy was a program: the file has changed, or cannot be read. */
		errno = EIO;
		return -1;
	}
	ret = cfi_functions_by_section(elf, &functions, &size);
	if (!ret)
		ret = read_functions(elf, &functions, size, entry, u);
	elf_end(elf);
	return ret;
}

static int read_file(int fd, const struct unwind_copy *c, struct hwpmc_unwind *u)
{
	if (c->header)
		return read_by_header(c, u);
	if (c->many_sections) {
		errno = EFBIG;
		return -1;
	}
	if (!read_by_section(fd, copy_entry(c), u))
		return 0;
	if (errno == ENODATA && c->has_frames)
		errno = ENOTSUP;
	return -1;
}

/* The copy's file, by the table that was made of it before. */
static int read_kept(int fd, int dir, const struct stat *st, const struct unwind_copy *c,
		     struct hwpmc_unwind *u)
{
	int ret;

	if (cache_load(dir, st, u))
		return 0;
	ret = read_file(fd, c, u);
	if (!ret)
		cache_store(dir, st, u);
	return ret;
}

/* By errno: in other cases the file may have a table, which could not be made. */
static bool has_none(void)
{
	return errno == ENOEXEC || errno == ENODATA;
}

EXPORT int hwpmc_unwind_read_cached(int fd, int dir, struct hwpmc_unwind *u)
{
	struct unwind_copy copy;
	struct stat st;
	int ret;

	if (unwind_null(!u))
		return -1;
	*u = (struct hwpmc_unwind){ .nrow = 0 };
	if (fstat(fd, &st))
		return -1;
	u->inode = st.st_ino;
	u->major = major(st.st_dev);
	u->minor = minor(st.st_dev);
	unwind_name_as_mapped(fd, u);
	elf_version(EV_CURRENT);
	if (copy_file(fd, st.st_size, &copy)) {
		u->none = has_none();
		return -1;
	}
	copy_build_id(&copy, u);
	if (dir < 0 || !u->build_id_len)
		ret = read_file(fd, &copy, u);
	else
		ret = read_kept(fd, dir, &st, &copy, u);
	u->none = ret && has_none();
	copy_free(&copy);
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
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	struct unwind_copy copy;
	int ret = -1;

	if (unwind_null(!u))
		return -1;
	*u = (struct hwpmc_unwind){ .vdso = true };
	if (!image) {
		u->none = true;
		errno = ENODATA;
		return -1;
	}
	elf_version(EV_CURRENT);
	if (copy_memory(image, vdso_size(image), &copy))
		return -1;
	if (copy.header)
		ret = read_by_header(&copy, u);
	else
		errno = ENODATA;
	u->none = ret && has_none();
	copy_free(&copy);
	return ret;
}

EXPORT void hwpmc_unwind_free(struct hwpmc_unwind *u)
{
	if (!u)
		return;
	free(u->row);
	*u = (struct hwpmc_unwind){ .nrow = 0 };
}
