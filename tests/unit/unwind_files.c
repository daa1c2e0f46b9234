/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unwind_files.c - unwind tables of files that are made to do harm, or change while they
 * are read, and of such that are only unusual. Under ASan and UBSan.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "libhwpmcstat.h"

#define PAGE		4096u
#define BASE		0x400000u
#define NOTE		36u		/* bytes, of a build-id */

/* A program: code, a header of .eh_frame, that, and the note. */
struct made {
	uint8_t *bytes;
	size_t size;
	uint32_t code, code_size, header, frames;	/* positions */
	uint32_t functions;		/* in the header */
};

/* Code of so many bytes, and room for so many bytes of .eh_frame. */
static void made_begin(struct made *m, uint32_t code_size, uint32_t functions,
		       size_t frames_size, uint32_t note)
{
	*m = (struct made){ .code = PAGE, .code_size = code_size, .functions = functions };
	m->header = PAGE + (code_size + 7) / 8 * 8;
	m->frames = m->header + 12 + 8 * functions;
	m->frames = (m->frames + 7) / 8 * 8;
	m->size = m->frames + frames_size;
	if (m->size < note + NOTE)
		m->size = note + NOTE;
	m->bytes = calloc(1, m->size);

	Elf64_Ehdr *eh = (void *)m->bytes;
	Elf64_Phdr *ph = (void *)(eh + 1);

	memcpy(eh->e_ident, ELFMAG, SELFMAG);
	eh->e_ident[EI_CLASS] = ELFCLASS64;
	eh->e_ident[EI_DATA] = ELFDATA2LSB;
	eh->e_ident[EI_VERSION] = EV_CURRENT;
	eh->e_type = ET_EXEC;
	eh->e_machine = EM_X86_64;
	eh->e_version = EV_CURRENT;
	eh->e_phoff = sizeof(*eh);
	eh->e_ehsize = sizeof(*eh);
	eh->e_phentsize = sizeof(*ph);
	eh->e_phnum = 3;
	ph[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = BASE,
			      .p_filesz = m->size, .p_memsz = m->size, .p_align = PAGE };
	ph[1] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME, .p_flags = PF_R,
			      .p_offset = m->header, .p_vaddr = BASE + m->header,
			      .p_filesz = 12 + 8 * functions, .p_align = 4 };
	ph[2] = (Elf64_Phdr){ .p_type = PT_NOTE, .p_flags = PF_R, .p_offset = note,
			      .p_vaddr = BASE + note, .p_filesz = NOTE, .p_align = 4 };
	memcpy(m->bytes + note, (uint32_t []){ 4, 20, 3 }, 12);
	memcpy(m->bytes + note + 12, "GNU\0a build-id of 20 b.", 24);

	uint8_t *h = m->bytes + m->header;
	int32_t frame = m->frames - (m->header + 4);

	memcpy(h, "\1\x1b\3\x3b", 4);
	memcpy(h + 4, &frame, 4);
	memcpy(h + 8, &functions, 4);
}

/* The common entry; returns where the next is to be. */
static uint32_t made_common(struct made *m)
{
	static const uint8_t entry[24] = { 20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78,
					   16, 1, 0x1b, 12, 7, 8, 0x90, 1 };

	memcpy(m->bytes + m->frames, entry, sizeof(entry));
	return m->frames + sizeof(entry);
}

/* A function of `size` bytes, each of the first `rows` with another CFA. */
static uint32_t made_function(struct made *m, uint32_t at, uint32_t start, uint32_t size,
			      uint32_t rows)
{
	uint32_t len = (4 + 8 + 1 + 3 * rows + 7) / 8 * 8 + 4;
	uint32_t words[4] = { len, at + 4 - m->frames,
			      m->code + start - (at + 8), size };

	memcpy(m->bytes + at, words, sizeof(words));
	for (uint32_t i = 0; i < rows; i++)
		memcpy(m->bytes + at + 17 + 3 * i,
		       (uint8_t []){ 0x41, 0x0e, 8 + 8 * (i & 1) }, 3);
	return at + 4 + len;
}

/* Entry nr of the header's table. */
static void made_entry(struct made *m, uint32_t nr, uint32_t start, uint32_t at)
{
	int32_t entry[2] = { m->code + start - m->header, at - m->header };

	memcpy(m->bytes + m->header + 12 + 8 * nr, entry, sizeof(entry));
}

static int made_file(const struct made *m)
{
	int fd = memfd_create("made", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pwrite(fd, m->bytes, m->size, 0), m->size);
	return fd;
}

/* What the library says of it: 0, or errno. */
static int made_read(struct made *m, struct hwpmc_unwind *u)
{
	int fd = made_file(m), ret;

	ret = hwpmc_unwind_read(fd, u) ? errno : 0;
	close(fd);
	free(m->bytes);
	return ret;
}

/* One function of so many rows. */
static void made_simple(struct made *m, uint32_t rows, uint32_t note)
{
	made_begin(m, rows + 16, 1, 64 + 3 * rows, note);
	made_entry(m, 0, 0, made_common(m));
	made_function(m, m->frames + 24, 0, rows + 16, rows);
}

/* The rule at a byte of the code. */
static uint32_t rule_at(const struct hwpmc_unwind *u, uint32_t at)
{
	uint32_t rule = HWPMC_UNWIND_NONE;

	for (uint32_t i = 0; i < u->nrow && u->row[i].at <= at; i++)
		rule = u->row[i].rule;
	return rule;
}

#define NOTE_AT	512u
#define SECTIONS_AT	1024u
#define GAP	128	/* between two functions of 64 bytes */

/* A section of the code, behind the null one. */
static void made_section(struct made *m, uint32_t start, uint32_t size)
{
	Elf64_Ehdr *eh = (void *)m->bytes;
	Elf64_Shdr *sh = (void *)(m->bytes + SECTIONS_AT);

	eh->e_shoff = SECTIONS_AT;
	eh->e_shentsize = sizeof(*sh);
	eh->e_shnum = 2;
	sh[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
			      .sh_addr = BASE + m->code + start, .sh_offset = m->code + start,
			      .sh_size = size, .sh_addralign = 1 };
}

/* Two functions, with code between them that has no rule. */
static int read_with_entry(uint64_t entry, uint16_t type, uint32_t *code,
			   struct hwpmc_unwind *u)
{
	struct made m;
	uint32_t at;

	made_begin(&m, 64 + GAP + 64, 2, 64 + 200, NOTE_AT);
	*code = m.code;
	((Elf64_Ehdr *)m.bytes)->e_entry = entry ? BASE + m.code + entry - 1 : 0;
	((Elf64_Ehdr *)m.bytes)->e_type = type;
	if (type == ET_DYN)
		made_section(&m, 64 + 16, 64);
	at = made_common(&m);
	made_entry(&m, 0, 0, at);
	at = made_function(&m, at, 0, 64, 1);
	made_entry(&m, 1, 64 + GAP, at);
	made_function(&m, at, 64 + GAP, 64, 1);
	return made_read(&m, u);
}

/* The loader is entered in code without rules: nothing has called it. */
START_TEST(chain_ends_in_code_without_rules_at_the_entry)
{
	struct hwpmc_unwind u;
	uint32_t code;

	ck_assert_int_eq(read_with_entry(1 + 64 + 16, ET_EXEC, &code, &u), 0);
	ck_assert_uint_eq(HWPMC_UNWIND_KIND(rule_at(&u, code + 63)), HWPMC_UNWIND_SP);
	/* Padding that is shorter than a function. */
	ck_assert_uint_eq(HWPMC_UNWIND_KIND(rule_at(&u, code + 64 + 15)), HWPMC_UNWIND_SP);
	ck_assert_uint_eq(rule_at(&u, code + 64 + 16), HWPMC_UNWIND_END);
	ck_assert_uint_eq(rule_at(&u, code + 64 + GAP - 1), HWPMC_UNWIND_END);
	ck_assert_uint_eq(HWPMC_UNWIND_KIND(rule_at(&u, code + 64 + GAP)), HWPMC_UNWIND_SP);
	ck_assert_uint_eq(rule_at(&u, code + 64 + GAP + 64), HWPMC_UNWIND_NONE);
	hwpmc_unwind_free(&u);
	/* Libraries have no entry, and programs one that has a rule. */
	for (uint64_t entry = 0; entry < 2; entry++) {
		ck_assert_int_eq(read_with_entry(entry, ET_EXEC, &code, &u), 0);
		ck_assert_uint_eq(HWPMC_UNWIND_KIND(rule_at(&u, code)), HWPMC_UNWIND_SP);
		ck_assert_uint_eq(rule_at(&u, code + 64), HWPMC_UNWIND_NONE);
		hwpmc_unwind_free(&u);
	}
}
END_TEST

/* Checks the rules of code without them around an entry `entry` bytes into it. */
static void check_gap(uint64_t entry, uint32_t before, uint32_t behind)
{
	struct hwpmc_unwind u;
	uint32_t code;

	ck_assert_int_eq(read_with_entry(1 + 64 + entry, ET_DYN, &code, &u), 0);
	ck_assert_uint_eq(rule_at(&u, code + 64), before);
	ck_assert_uint_eq(rule_at(&u, code + 64 + entry - 1), before);
	ck_assert_uint_eq(rule_at(&u, code + 64 + entry), behind);
	ck_assert_uint_eq(rule_at(&u, code + 64 + GAP - 1), behind);
	hwpmc_unwind_free(&u);
}

/* Code before the entry can have been called. */
START_TEST(chain_has_no_end_in_code_before_the_entry)
{
	check_gap(40, HWPMC_UNWIND_NONE, HWPMC_UNWIND_END);
}
END_TEST

/* Linkers gave it the beginning of a section as its entry. */
START_TEST(chain_has_no_end_at_the_entry_of_a_library)
{
	check_gap(16, HWPMC_UNWIND_NONE, HWPMC_UNWIND_NONE);
}
END_TEST

/* Elfutils would take minutes for the first, and any memory for the second. */
START_TEST(files_whose_information_takes_too_long_have_no_table)
{
	struct hwpmc_unwind u;
	struct made m;
	uint32_t at, next, i;

	made_simple(&m, 1000, NOTE_AT);
	ck_assert_int_eq(made_read(&m, &u), 0);
	ck_assert_uint_eq(u.nrow, 1001);
	hwpmc_unwind_free(&u);

	made_simple(&m, 400000, NOTE_AT);
	ck_assert_int_eq(made_read(&m, &u), EFBIG);

	/* The same two functions again and again. */
	made_begin(&m, 1016, 20000, 4096, NOTE_AT);
	at = made_common(&m);
	next = made_function(&m, at, 0, 1000, 999);
	made_function(&m, next, 1000, 16, 0);
	for (i = 0; i < m.functions; i++)
		made_entry(&m, i, i & 1 ? 1000 : 0, i & 1 ? next : at);
	ck_assert_int_eq(made_read(&m, &u), 0);
	ck_assert_uint_eq(u.nrow, 1000);
	hwpmc_unwind_free(&u);

	/* Short functions, in the place of each of which elfutils finds a long one. */
	made_begin(&m, 40016, 1000, 200000, NOTE_AT);
	at = made_common(&m);
	made_entry(&m, 0, 0, at);
	at = made_function(&m, at, 0, 40016, 40000);
	for (i = 1; i < m.functions; i++) {
		made_entry(&m, i, 40 * i, at);
		at = made_function(&m, at, 40 * i, 40, 1);
	}
	ck_assert_int_eq(made_read(&m, &u), EFBIG);
}
END_TEST

START_TEST(a_build_id_that_the_module_does_not_see_is_none)
{
	struct hwpmc_unwind u;
	struct made m;

	made_simple(&m, 100, PAGE - NOTE);
	ck_assert_int_eq(made_read(&m, &u), 0);
	ck_assert_uint_eq(u.build_id_len, 20);
	ck_assert_mem_eq(u.build_id, "a build-id of 20 b.", 20);
	hwpmc_unwind_free(&u);

	/* As that of a file that patchelf has changed. */
	made_simple(&m, 100, PAGE - NOTE + 4);
	ck_assert_int_eq(made_read(&m, &u), 0);
	ck_assert_uint_eq(u.build_id_len, 0);
	hwpmc_unwind_free(&u);
}
END_TEST

struct changes {
	int fd;
	const struct made *m;
	bool ends;
};

static void *change(void *arg)
{
	struct changes *c = arg;

	while (!__atomic_load_n(&c->ends, __ATOMIC_RELAXED)) {
		ck_assert_int_eq(ftruncate(c->fd, 64), 0);
		ck_assert_int_eq(pwrite(c->fd, c->m->bytes, c->m->size, 0), c->m->size);
	}
	return NULL;
}

/* A read of a mapping behind the end of a truncated file is SIGBUS. */
START_TEST(a_file_that_is_cut_off_while_it_is_read_has_a_table_or_none)
{
	struct hwpmc_unwind u;
	struct changes c;
	pthread_t thread;
	struct made m;

	made_simple(&m, 2000, NOTE_AT);
	c = (struct changes){ made_file(&m), &m, false };
	ck_assert_int_eq(pthread_create(&thread, NULL, change, &c), 0);
	for (unsigned int i = 0; i < 300; i++)
		if (!hwpmc_unwind_read(c.fd, &u))
			hwpmc_unwind_free(&u);
	__atomic_store_n(&c.ends, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	ck_assert_int_eq(hwpmc_unwind_read(c.fd, &u), 0);
	ck_assert_uint_eq(u.nrow, 2001);
	hwpmc_unwind_free(&u);
	close(c.fd);
	free(m.bytes);
}
END_TEST

/* As of programs whose call-frame information is among their data: its header is of no
 * use, but the sections are. */
START_TEST(a_table_is_the_same_by_the_sections_alone)
{
	int from = open("/bin/true", O_RDONLY), to = memfd_create("true", MFD_CLOEXEC);
	struct hwpmc_unwind u, truth;
	const uint32_t none = PT_NULL;
	Elf64_Ehdr eh;
	Elf64_Phdr ph;
	struct stat st;
	off_t at = 0;

	ck_assert_int_eq(fstat(from, &st), 0);
	ck_assert_int_eq(sendfile(to, from, NULL, st.st_size), st.st_size);
	ck_assert_int_eq(hwpmc_unwind_read(to, &truth), 0);
	ck_assert_int_eq(pread(to, &eh, sizeof(eh), 0), sizeof(eh));
	for (unsigned int i = 0; i < eh.e_phnum; i++) {
		at = eh.e_phoff + i * sizeof(ph);
		ck_assert_int_eq(pread(to, &ph, sizeof(ph), at), sizeof(ph));
		if (ph.p_type == PT_GNU_EH_FRAME)
			break;
	}
	ck_assert_uint_eq(ph.p_type, PT_GNU_EH_FRAME);
	ck_assert_int_eq(pwrite(to, &none, sizeof(none), at), sizeof(none));
	ck_assert_int_eq(hwpmc_unwind_read(to, &u), 0);
	ck_assert_uint_eq(u.nrow, truth.nrow);
	ck_assert_mem_eq(u.row, truth.row, u.nrow * sizeof(*u.row));
	hwpmc_unwind_free(&u);
	hwpmc_unwind_free(&truth);
	close(from);
	close(to);
}
END_TEST

/* Reads the file, closes it, and returns errno; *none: the module would be told that it has none. */
static int read_closed(int fd, bool *none)
{
	struct hwpmc_unwind u;
	int ret = hwpmc_unwind_read(fd, &u) ? errno : 0;

	*none = u.none;
	hwpmc_unwind_free(&u);
	close(fd);
	return ret;
}

/* Frame pointers are followed in a file without a table: with one they lead astray. */
START_TEST(a_file_that_cannot_be_read_is_not_one_without_table)
{
	struct made m;
	bool none;
	int fd;

	/* A descriptor that cannot be read from. */
	ck_assert_int_eq(read_closed(open("/bin/true", O_PATH), &none), EBADF);
	ck_assert(!none);
	/* Cut off: in its header, before its program headers, to nothing. */
	made_simple(&m, 100, NOTE_AT);
	for (unsigned int i = 0; i < 3; i++) {
		fd = made_file(&m);
		ck_assert_int_eq(ftruncate(fd, (off_t []){ 32, 64, 0 }[i]), 0);
		ck_assert_int_eq(read_closed(fd, &none), EIO);
		ck_assert(!none);
	}
	free(m.bytes);
}
END_TEST

START_TEST(a_file_whose_table_cannot_be_used_is_not_one_without)
{
	struct made m;
	bool none;

	/* Its header has another version, and no section tells more. */
	made_simple(&m, 100, NOTE_AT);
	m.bytes[m.header] = 2;
	ck_assert_int_eq(read_closed(made_file(&m), &none), ENOTSUP);
	ck_assert(!none);
	m.bytes[m.header] = 1;
	/* More program headers, or sections, than its header can count. */
	((Elf64_Ehdr *)m.bytes)->e_phnum = PN_XNUM;
	ck_assert_int_eq(read_closed(made_file(&m), &none), EFBIG);
	ck_assert(!none);
	((Elf64_Ehdr *)m.bytes)->e_phnum = 1;
	((Elf64_Ehdr *)m.bytes)->e_shoff = SECTIONS_AT;
	ck_assert_int_eq(read_closed(made_file(&m), &none), EFBIG);
	ck_assert(!none);
	/* Sections behind the end of the file. */
	made_section(&m, 0, 16);
	((Elf64_Ehdr *)m.bytes)->e_shoff = m.size + PAGE;
	((Elf64_Ehdr *)m.bytes)->e_shstrndx = 1;
	ck_assert_int_eq(read_closed(made_file(&m), &none), EIO);
	ck_assert(!none);
	free(m.bytes);
}
END_TEST

START_TEST(a_file_without_table_is_none)
{
	struct made m;
	bool none;

	made_simple(&m, 100, NOTE_AT);
	((Elf64_Ehdr *)m.bytes)->e_phnum = 1;
	ck_assert_int_eq(read_closed(made_file(&m), &none), ENODATA);
	ck_assert(none);
	/* A program of 32 bits. */
	m.bytes[EI_CLASS] = ELFCLASS32;
	ck_assert_int_eq(read_closed(made_file(&m), &none), ENOEXEC);
	ck_assert(none);
	m.bytes[0] = 'x';
	ck_assert_int_eq(read_closed(made_file(&m), &none), ENOEXEC);
	ck_assert(none);
	free(m.bytes);
}
END_TEST

int main(void)
{
	harness_add(chain_ends_in_code_without_rules_at_the_entry);
	harness_add(chain_has_no_end_in_code_before_the_entry);
	harness_add(chain_has_no_end_at_the_entry_of_a_library);
	harness_add_timed(files_whose_information_takes_too_long_have_no_table, 60);
	harness_add(a_build_id_that_the_module_does_not_see_is_none);
	harness_add_timed(a_file_that_is_cut_off_while_it_is_read_has_a_table_or_none, 60);
	harness_add(a_table_is_the_same_by_the_sections_alone);
	harness_add(a_file_that_cannot_be_read_is_not_one_without_table);
	harness_add(a_file_whose_table_cannot_be_used_is_not_one_without);
	harness_add(a_file_without_table_is_none);
	return harness_run();
}
