/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy.c - the parts of a file that its unwind table is made of, copied: a process that can
 * write to the file could change or truncate it while it is read. Files are not trusted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../stat/libhwpmcstat.h"
#include "unwind.h"

/* Of call-frame information; that of the largest programs has a tenth of it. */
#define PART_MAX	(256u << 20)

#define ENCODED_UDATA4		0x03
#define ENCODED_PCREL_SDATA4	0x1b
#define ENCODED_DATAREL_SDATA4	0x3b

/* What the module sees of a file: see kmod/log/buildid.c. */
#define PAGE		4096u
#define GNU_BUILD_ID	3

static bool is_in(uint64_t at, uint64_t len, uint64_t size)
{
	return at <= size && len <= size - at;
}

/* What the checks of the first page have seen is not read again. Returns false with errno: EIO
 * if the file is too short for it. */
static bool read_part(int fd, struct unwind_copy *c, uint64_t at, uint64_t len)
{
	uint64_t skip = at < c->head ? c->head - at : 0;
	ssize_t n;

	errno = EIO;
	if (!is_in(at, len, c->size))
		return false;
	if (skip >= len)
		return true;
	for (at += skip, len -= skip; len; at += n, len -= n) {
		n = pread(fd, c->image + at, len, at);
		if (n <= 0) {
			errno = n ? errno : EIO;
			return false;
		}
	}
	return true;
}

static Elf64_Phdr segment(const struct unwind_copy *c, unsigned int i)
{
	const Elf64_Ehdr *eh = (const void *)c->image;
	Elf64_Phdr ph;

	memcpy(&ph, c->image + eh->e_phoff + i * sizeof(ph), sizeof(ph));
	return ph;
}

/* Only programs of this architecture can be walked. */
static bool is_ours(const Elf64_Ehdr *eh)
{
	return !memcmp(eh->e_ident, ELFMAG, SELFMAG) && eh->e_ident[EI_CLASS] == ELFCLASS64 &&
	       eh->e_ident[EI_DATA] == ELFDATA2LSB && eh->e_machine == EM_X86_64 &&
	       eh->e_phentsize == sizeof(Elf64_Phdr);
}

/* ---- .eh_frame_hdr and .eh_frame ------------------------------------------ */

static bool can_read(const struct eh_frame_hdr *h, size_t size)
{
	return h->version == 1 && h->frame_encoding == ENCODED_PCREL_SDATA4 &&
	       h->count_encoding == ENCODED_UDATA4 &&
	       h->table_encoding == ENCODED_DATAREL_SDATA4 &&
	       h->count <= (size - sizeof(*h)) / sizeof(h->entry[0]);
}

/*
 * From there to the end of the segment that it is in. That lies as far from its address as
 * the header: else elfutils would look elsewhere (in old files it is in the data segment).
 */
static bool find_frames(struct unwind_copy *c, uint64_t at, uint64_t distance)
{
	const Elf64_Ehdr *eh = (const void *)c->image;
	uint64_t len;

	for (unsigned int i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr ph = segment(c, i);

		if (ph.p_type != PT_LOAD || at < ph.p_offset ||
		    at - ph.p_offset >= ph.p_filesz)
			continue;
		len = ph.p_filesz - (at - ph.p_offset);
		if (ph.p_vaddr - ph.p_offset != distance)
			return false;
		c->frames = at;
		c->frames_len = len < PART_MAX ? len : PART_MAX;
		return is_in(at, c->frames_len, c->size);
	}
	return false;
}

/* fd: the file, or -1 if all of it is there. Returns false with errno if a read failed. */
static bool find_header(int fd, struct unwind_copy *c)
{
	const Elf64_Ehdr *eh = (const void *)c->image;
	const struct eh_frame_hdr *h;

	for (unsigned int i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr ph = segment(c, i);

		if (ph.p_type != PT_GNU_EH_FRAME)
			continue;
		c->has_frames = ph.p_filesz;
		if (ph.p_filesz < sizeof(*h) || ph.p_filesz > PART_MAX || ph.p_offset & 3 ||
		    !is_in(ph.p_offset, ph.p_filesz, c->size))
			return true;
		if (fd >= 0 && !read_part(fd, c, ph.p_offset, ph.p_filesz))
			return false;
		h = (const void *)(c->image + ph.p_offset);
		if (!can_read(h, ph.p_filesz) ||
		    !find_frames(c, ph.p_offset + 4 + h->frame, ph.p_vaddr - ph.p_offset))
			return true;
		if (fd >= 0 && !read_part(fd, c, c->frames, c->frames_len))
			return false;
		/* It may be in what was read after it. */
		if (!can_read(h, ph.p_filesz))
			return true;
		c->header = h;
		c->header_address = ph.p_vaddr;
		return true;
	}
	return true;
}

/* ---- the build-id --------------------------------------------------------- */

static bool id_in_notes(const unsigned char *at, const unsigned char *end,
			struct hwpmc_unwind *u)
{
	Elf64_Nhdr note;
	uint64_t name, desc, left = end - at;

	while (left >= sizeof(note)) {
		memcpy(&note, at, sizeof(note));
		at += sizeof(note);
		left -= sizeof(note);
		name = ((uint64_t)note.n_namesz + 3) & ~3ull;
		desc = ((uint64_t)note.n_descsz + 3) & ~3ull;
		if (name > left || note.n_descsz > left - name)
			return false;
		if (note.n_type == GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(at, "GNU", 4)) {
			if (!note.n_descsz || note.n_descsz > sizeof(u->build_id))
				return false;
			u->build_id_len = note.n_descsz;
			memcpy(u->build_id, at + name, note.n_descsz);
			return true;
		}
		if (desc > left - name)
			return false;
		at += name + desc;
		left -= name + desc;
	}
	return false;
}

/* One that is not in the first page is none to the module, which compares them. */
void copy_build_id(const struct unwind_copy *c, struct hwpmc_unwind *u)
{
	const Elf64_Ehdr *eh = (const void *)c->image;

	for (unsigned int i = 0; i < eh->e_phnum; i++) {
		Elf64_Phdr ph;

		if (!is_in(eh->e_phoff + i * sizeof(ph), sizeof(ph), PAGE))
			return;
		ph = segment(c, i);
		if (ph.p_type == PT_NOTE && is_in(ph.p_offset, ph.p_filesz, PAGE) &&
		    id_in_notes(c->image + ph.p_offset,
				c->image + ph.p_offset + ph.p_filesz, u))
			return;
	}
}

/* ---- the entry ------------------------------------------------------------ */

static bool has_interpreter(const struct unwind_copy *c)
{
	const Elf64_Ehdr *eh = (const void *)c->image;

	for (unsigned int i = 0; i < eh->e_phnum; i++)
		if (segment(c, i).p_type == PT_INTERP)
			return true;
	return false;
}

/* Sections of code are among the first ones; a file that is not trusted can have 65,535. */
#define SECTIONS_READ	128

static bool read_section(int fd, const struct unwind_copy *c, unsigned int i, Elf64_Shdr *sh)
{
	const Elf64_Ehdr *eh = (const void *)c->image;
	uint64_t at = eh->e_shoff + i * sizeof(*sh);

	if (!is_in(at, sizeof(*sh), c->size))
		return false;
	if (fd >= 0)
		return pread(fd, sh, sizeof(*sh), at) == sizeof(*sh);
	memcpy(sh, c->image + at, sizeof(*sh));
	return true;
}

/*
 * Linkers gave libraries the beginning of a section as their entry. Nothing enters a library
 * there: the code there has a caller. The entry of the loader is within its section. A static
 * program of a kind that has no interpreter either begins with a function that has a rule.
 */
static void drop_entry_of_library(int fd, struct unwind_copy *c)
{
	Elf64_Ehdr *eh = (void *)c->image;
	Elf64_Shdr sh;

	if (eh->e_type != ET_DYN || !eh->e_entry || eh->e_shentsize != sizeof(sh) ||
	    has_interpreter(c))
		return;
	for (unsigned int i = 0; i < eh->e_shnum && i < SECTIONS_READ &&
	     read_section(fd, c, i, &sh); i++) {
		if (sh.sh_flags & SHF_EXECINSTR && sh.sh_addr == eh->e_entry) {
			eh->e_entry = 0;
			return;
		}
	}
}

uint64_t copy_entry(const struct unwind_copy *c)
{
	return ((const Elf64_Ehdr *)c->image)->e_entry;
}

/* ---- for others ----------------------------------------------------------- */

/* Its section headers are needed by nothing then, and say nothing else than the segments. */
static void drop_sections(struct unwind_copy *c)
{
	Elf64_Ehdr *eh = (void *)c->image;

	eh->e_shoff = 0;
	eh->e_shnum = 0;
	eh->e_shstrndx = 0;
}

/* Sets errno: ENOEXEC only if the file is no program of ours, whatever was cut off. */
static bool check_head(const struct unwind_copy *c)
{
	const Elf64_Ehdr *eh = (const void *)c->image;

	errno = c->size ? ENOEXEC : EIO;
	if (!c->size || memcmp(eh->e_ident, ELFMAG, SELFMAG))
		return false;
	if (c->size < sizeof(*eh)) {
		errno = EIO;
		return false;
	}
	if (!is_ours(eh))
		return false;
	errno = EFBIG;
	return eh->e_phnum != PN_XNUM;
}

static bool copy_parts(int fd, struct unwind_copy *c)
{
	const Elf64_Ehdr *eh = (const void *)c->image;
	uint64_t head = c->size < PAGE ? c->size : PAGE;

	if (!read_part(fd, c, 0, head) || !check_head(c))
		return false;
	c->head = head;
	if (!read_part(fd, c, eh->e_phoff, eh->e_phnum * sizeof(Elf64_Phdr)))
		return false;
	c->many_sections = !eh->e_shnum && eh->e_shoff;
	if (!find_header(fd, c))
		return false;
	drop_entry_of_library(fd, c);
	drop_sections(c);
	return true;
}

int copy_file(int fd, uint64_t size, struct unwind_copy *c)
{
	int failed;

	*c = (struct unwind_copy){ .size = size };
	/* A page more: the build-id is looked for in one. What is not read takes no memory. */
	c->mapped = size + PAGE;
	c->image = mmap(NULL, c->mapped, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (c->image == MAP_FAILED)
		return -1;
	if (copy_parts(fd, c))
		return 0;
	failed = errno;
	copy_free(c);
	errno = failed;
	return -1;
}

int copy_memory(const void *image, size_t size, struct unwind_copy *c)
{
	*c = (struct unwind_copy){ .size = size, .mapped = size + PAGE };
	c->image = mmap(NULL, c->mapped, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (c->image == MAP_FAILED)
		return -1;
	memcpy(c->image, image, size);
	find_header(-1, c);
	drop_entry_of_library(-1, c);
	drop_sections(c);
	return 0;
}

void copy_free(struct unwind_copy *c)
{
	munmap(c->image, c->mapped);
}
