/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debug.c - separate debug files, for programs that were stripped: by build-id and
 * by the link in the program (name and checksum), in the directories of
 * options.debug and in /usr/lib/debug; and the few symbols that a program may
 * carry compressed in itself.
 */
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "stat.h"

#define STANDARD	"/usr/lib/debug"

/* What is looked for, and the program, if it is there. */
struct search {
	struct image *img;
	const struct elf_file *program;
	const char *link;		/* name, by .gnu_debuglink; or NULL */
	uint32_t crc;
};

static bool has_crc(int fd, uint32_t crc)
{
	uint32_t sum = crc32(0, NULL, 0);
	uint8_t buf[16384];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, buf, sizeof(buf), at)) > 0) {
		sum = crc32(sum, buf, n);
		at += n;
	}
	return n == 0 && sum == crc;
}

/* Is it the debug file? By build-id, or else by the link's checksum. */
static bool search_fits(const struct search *s, const struct elf_file *f)
{
	if (s->img->pub.build_id_len)
		return elf_is_of(f, s->img);
	return s->link && has_crc(f->fd, s->crc);
}

/* Takes path. */
static bool try_file(const struct search *s, char *path)
{
	struct image *img = s->img;
	bool used = false;
	struct elf_file f;

	if (!path || elf_open(&f, path) < 0) {
		free(path);
		return false;
	}
	if (search_fits(s, &f) && elf_add_symbols(&f, img)) {
		used = true;
		if (!s->program)
			elf_guess_text(img, f.elf);
		free((void *)img->pub.file);
		img->pub.file = path;
	}
	elf_close(&f);
	if (!used)
		free(path);
	return used;
}

static char *build_id_path(const struct image *img, const char *dir)
{
	char hex[2 * HWPMC_LOG_BUILD_ID + 32], *at = hex;

	if (img->pub.build_id_len < 2 ||
	    img->pub.build_id_len > HWPMC_LOG_BUILD_ID)
		return NULL;
	at += sprintf(at, "/.build-id/%02x/", img->pub.build_id[0]);
	for (uint32_t i = 1; i < img->pub.build_id_len; i++)
		at += sprintf(at, "%02x", img->pub.build_id[i]);
	strcpy(at, ".debug");
	return stat_join(dir, hex);
}

/* DIR/NAME.debug, DIR/LINK and DIR/where/the/program/is/LINK. */
static bool by_name(const struct search *s, const char *dir)
{
	const char *path = s->img->pub.path, *slash = strrchr(path, '/');
	char *with_slash = stat_join(dir, "/"), *at;
	bool found;

	if (!with_slash)
		return false;
	at = stat_join(with_slash, s->img->pub.name);
	found = at && try_file(s, stat_join(at, ".debug"));
	free(at);
	if (!found && s->link)
		found = try_file(s, stat_join(with_slash, s->link));
	free(with_slash);
	if (!found && s->link && slash) {
		at = stat_join(dir, path);
		if (at)
			at[strlen(dir) + (slash + 1 - path)] = 0;
		found = at && try_file(s, stat_join(at, s->link));
		free(at);
	}
	return found;
}

static bool in_directory(const struct search *s, const char *dir)
{
	return try_file(s, build_id_path(s->img, dir)) || by_name(s, dir);
}

static bool in_directories(const struct search *s, const char *list)
{
	char *copy = stat_strdup(list), *rest = copy, *dir;
	bool found = false;

	while (rest && !found && (dir = strsep(&rest, ":")))
		found = in_directory(s, dir);
	free(copy);
	return found;
}

/* Beside the program, and in .debug there. */
static bool search_beside(const struct search *s)
{
	const char *file = s->img->pub.file, *slash;
	char *dir, *hidden;
	bool found;

	slash = file ? strrchr(file, '/') : NULL;
	if (!slash || !s->link)
		return false;
	dir = stat_strdup(file);
	if (!dir)
		return false;
	dir[slash + 1 - file] = 0;
	hidden = stat_join(dir, ".debug/");
	found = try_file(s, stat_join(dir, s->link)) ||
		(hidden && try_file(s, stat_join(hidden, s->link)));
	free(hidden);
	free(dir);
	return found;
}

/* .gnu_debuglink: a name, zeros up to a multiple of 4, a checksum. */
static void read_link(struct search *s, Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t strings, len;

	if (elf_getshdrstrndx(elf, &strings))
		return;
	while ((scn = elf_nextscn(elf, scn))) {
		Elf_Data *data;
		const char *name;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, strings, sh.sh_name);
		if (!name || strcmp(name, ".gnu_debuglink"))
			continue;
		data = elf_getdata(scn, NULL);
		if (!data || !data->d_buf)
			return;
		len = strnlen(data->d_buf, data->d_size);
		/* A name in the directories that are searched, and no way out. */
		if (len == 0 || memchr(data->d_buf, '/', len) || (len / 4 + 1) * 4 + 4 > data->d_size)
			return;
		s->link = data->d_buf;
		memcpy(&s->crc, (char *)data->d_buf + (len / 4 + 1) * 4, 4);
		return;
	}
}

bool debug_file_load(struct images *set, struct image *img,
		     const struct elf_file *program)
{
	struct search s = { .img = img, .program = program };

	if (program)
		read_link(&s, program->elf);
	return (set->options.debug && in_directories(&s, set->options.debug)) ||
	       search_beside(&s) || in_directory(&s, STANDARD) ||
	       try_file(&s, debuginfod_path(set, img));
}

/* ---- .gnu_debugdata ------------------------------------------------------ */

static int find_nothing(Dwfl_Module *module, void **data, const char *name,
			Dwarf_Addr base, const char *file, const char *link,
			GElf_Word crc, char **path)
{
	return -1;
}

static void add_all(struct image *img, Dwfl_Module *module)
{
	int n = dwfl_module_getsymtab(module);
	GElf_Addr bias = 0;

	dwfl_module_getelf(module, &bias);
	for (int i = 1; i < n; i++) {
		GElf_Addr addr;
		const char *name;
		GElf_Sym sym;

		name = dwfl_module_getsym_info(module, i, &sym, &addr, NULL,
					       NULL, NULL);
		if (name && *name && sym.st_shndx != SHN_UNDEF &&
		    GELF_ST_TYPE(sym.st_info) == STT_FUNC)
			image_add_symbol(img, addr - bias, sym.st_size, name,
					 true);
	}
}

/* libdwfl knows how to take it out. */
void debug_data_add(struct image *img, const struct elf_file *f)
{
	static const Dwfl_Callbacks callbacks = {
		.find_debuginfo = find_nothing,
		.section_address = dwfl_offline_section_address,
	};
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module = NULL;

	if (dwfl && fd >= 0)
		module = dwfl_report_elf(dwfl, "", img->pub.file, fd, 0, false);
	if (!module && fd >= 0)
		close(fd);
	if (dwfl)
		dwfl_report_end(dwfl, NULL, NULL);
	if (module)
		add_all(img, module);
	dwfl_end(dwfl);
}
