/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * code.c - the bytes of functions. A file is only read if it
 * is the one that ran, by its build-id: the instructions of another would be lies.
 */
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "code_read.h"
#include "common/msg.h"

#define SIZE_LIMIT	(16u << 20)	/* of a function: more is a mistake */
#define FILE_LIMIT	(16ull << 30)

int code_refuse(char *err, size_t size, const char *what, const char *why)
{
	snprintf(err, size, "%s: %s", what, why);
	return -1;
}

/* ---- which part of an ELF file ------------------------------------------- */

static bool has_build_id(Elf *elf, const uint8_t *id, uint32_t len)
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
		     at = next)
			if (nh.n_type == NT_GNU_BUILD_ID && nh.n_descsz == len &&
			    memcmp((char *)data->d_buf + desc, id, len) == 0)
				return true;
	}
	return false;
}

/* Where in the file an address lies: an executable segment, and how much of it. */
static bool find_segment(Elf *elf, uint64_t addr, uint64_t *offset,
			 uint64_t *left)
{
	size_t n;

	if (elf_getphdrnum(elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_LOAD ||
		    !(ph.p_flags & PF_X) || addr < ph.p_vaddr ||
		    addr - ph.p_vaddr >= ph.p_filesz)
			continue;
		*offset = ph.p_offset + (addr - ph.p_vaddr);
		*left = ph.p_filesz - (addr - ph.p_vaddr);
		return true;
	}
	return false;
}

static uint64_t least_of_2(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int code_read_bytes(struct code *c, int fd, uint64_t offset, uint64_t size,
		    char *err, size_t errsize)
{
	ssize_t n;

	c->bytes = must_calloc(size, 1);
	n = pread(fd, c->bytes, size, offset);
	if (n <= 0)
		return code_refuse(err, errsize, c->from, n < 0 ? strerror(errno) :
			      "it ends before this function");
	c->size = n;
	return 0;
}

static int read_elf(struct code *c, int fd, Elf *elf,
		    const struct hwpmc_image *image, uint64_t size,
		    char *err, size_t errsize)
{
	uint64_t offset, left;

	if (image->build_id_len &&
	    !has_build_id(elf, image->build_id, image->build_id_len))
		return code_refuse(err, errsize, c->from,
			      "the file has changed: its build-id differs from the log");
	if (!find_segment(elf, c->addr, &offset, &left))
		return code_refuse(err, errsize, c->from,
			      "it has no code at the address of the function");
	c->bits32 = gelf_getclass(elf) == ELFCLASS32;
	return code_read_bytes(c, fd, offset, least_of_2(size, left), err, errsize);
}

int code_read_elf(struct code *c, const char *root, const char *path,
		  const struct hwpmc_image *image, uint64_t size, char *err, size_t errsize)
{
	struct hwpmc_guard guard = { .root = root, .limit = FILE_LIMIT };
	const char *why;
	int fd, rc = -1;
	Elf *elf;

	fd = hwpmc_open_guarded(&guard, path, &why);
	if (fd < 0)
		return code_refuse(err, errsize, c->from, why);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		rc = read_elf(c, fd, elf, image, size, err, errsize);
	else
		code_refuse(err, errsize, c->from, "it is not an ELF file");
	elf_end(elf);
	close(fd);
	return rc;
}

/* ---- without a file ------------------------------------------------------ */

/* The vdso of this process is that of all, as long as the kernel is the same. */
static int read_vdso(struct code *c, const struct hwpmc_image *image,
		     uint64_t size, char *err, size_t errsize)
{
	char *base = (char *)getauxval(AT_SYSINFO_EHDR);
	uint64_t offset, left;
	int rc = -1;
	Elf *elf;

	strcpy(c->from, "[vdso] of the running kernel");
	elf_version(EV_CURRENT);
	elf = base ? elf_memory(base, 2 * getpagesize()) : NULL;
	if (!elf || (image->build_id_len &&
		     !has_build_id(elf, image->build_id, image->build_id_len)))
		code_refuse(err, errsize, "[vdso]",
		       "the log is from another kernel");
	else if (!find_segment(elf, c->addr, &offset, &left))
		code_refuse(err, errsize, "[vdso]",
		       "it has no code at the address of the function");
	else
		rc = 0;
	elf_end(elf);
	if (rc)
		return rc;
	c->size = least_of_2(size, left);
	c->bytes = must_calloc(c->size, 1);
	memcpy(c->bytes, base + offset, c->size);
	return 0;
}

static int read_image(struct code *c, const struct hwpmc_symbol *s,
		      const char *root, uint64_t size, char *err, size_t errsize)
{
	const struct hwpmc_image *image = s->image;

	switch (image->kind) {
	case HWPMC_IMAGE_ELF:
		if (image->root && !*image->root)
			return code_refuse(err, errsize, image->path,
					   "its file is no longer at its path");
		root = image->root ? image->root : root;
		snprintf(c->from, sizeof(c->from), "%s%s", root ? root : "",
			 image->path);
		return code_read_elf(c, root, image->path, image, size, err,
				     errsize);
	case HWPMC_IMAGE_KERNEL:
	case HWPMC_IMAGE_MODULE:
		return code_read_kernel(c, s, size, err, errsize);
	case HWPMC_IMAGE_VDSO:
		return read_vdso(c, image, size, err, errsize);
	case HWPMC_IMAGE_JIT:
		return code_refuse(err, errsize, image->path,
				   "generated code: its instructions are not in a file");
	default:
		return code_refuse(err, errsize, image->path,
				   "the mapping of the function is unknown");
	}
}

int code_read(struct code *c, const struct hwpmc_symbol *s, const char *root,
	      char *err, size_t errsize)
{
	int rc;

	*c = (struct code){ .addr = s->start };
	rc = read_image(c, s, root, least_of_2(s->size, SIZE_LIMIT), err, errsize);
	if (rc < 0)
		code_free(c);
	return rc;
}

void code_free(struct code *c)
{
	free(c->bytes);
	c->bytes = NULL;
}
