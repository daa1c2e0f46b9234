/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * debug.c - separate debug files, for programs that were stripped: by build-id and
 * by the link in the program (name and checksum), in the directories of
 * options.debug and in /usr/lib/debug; and the few symbols that a program may
 * carry compressed in itself.
 */
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "stat.h"

#define STANDARD	"/usr/lib/debug"

/* Of .gnu_debugdata: a symbol table, unpacked, and its decoder. */
#define DATA_LIMIT	(64u << 20)
#define DATA_MEMORY	(128u << 20)

/* What is looked for, and the program, if it is there. */
struct search {
	struct image *img;
	const struct elf_file *program;
	const char *link;		/* name, by .gnu_debuglink; or NULL */
	uint32_t crc;
	int *fd;			/* where its descriptor is wanted, and no symbols */
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

/* What it is looked for is there, and taken. */
static bool use_file(const struct search *s, struct elf_file *f)
{
	if (!s->fd)
		return elf_add_symbols(f, s->img) > 0;
	*s->fd = f->fd;
	f->fd = -1;
	return true;
}

/* Takes path, which is below root; NULL: anywhere. */
static bool try_file(const struct search *s, const char *root, char *path)
{
	struct image *img = s->img;
	bool used = false;
	struct elf_file f;

	if (!path || elf_open(&f, root, path, false) < 0) {
		free(path);
		return false;
	}
	if (!search_fits(s, &f)) {
		elf_close(&f);
		free(path);
		return false;
	}
	if (!img->ncode)
		elf_add_code(img, f.elf);
	if (use_file(s, &f)) {
		used = true;
		if (!s->program)
			elf_guess_text(img, f.elf);
		if (!s->fd) {
			free((void *)img->pub.file);
			img->pub.file = stat_join(root ? root : "", path);
		}
	}
	elf_close(&f);
	free(path);
	return used;
}

/* "/.build-id/ab/cdef.debug" */
static char *build_id_path(const struct image *img)
{
	char hex[2 * HWPMC_LOG_BUILD_ID + 32], *at = hex;

	if (img->pub.build_id_len < 2 ||
	    img->pub.build_id_len > HWPMC_LOG_BUILD_ID)
		return NULL;
	at += sprintf(at, "/.build-id/%02x/", img->pub.build_id[0]);
	for (uint32_t i = 1; i < img->pub.build_id_len; i++)
		at += sprintf(at, "%02x", img->pub.build_id[i]);
	strcpy(at, ".debug");
	return stat_strdup(hex);
}

/* Takes name, which begins with a slash; links in the directory are its owner's. */
static bool try_in(const struct search *s, const char *dir, char *name)
{
	char *path = name ? stat_join(dir, name) : NULL;

	free(name);
	return try_file(s, NULL, path);
}

static bool leads_out(const char *path)
{
	return !strncmp(path, "../", 3) || strstr(path, "/../");
}

/* DIR/NAME.debug, DIR/LINK and DIR/where/the/program/is/LINK. */
static bool by_name(const struct search *s, const char *dir)
{
	const char *path = s->img->pub.path, *slash = strrchr(path, '/');
	char *at = stat_join("/", s->img->pub.name), *where;
	bool found;

	found = at && !strchr(at + 1, '/') &&
		try_in(s, dir, stat_join(at, ".debug"));
	free(at);
	if (found || !s->link)
		return found;
	if (try_in(s, dir, stat_join("/", s->link)))
		return true;
	where = slash && !leads_out(path) ? stat_strdup(path) : NULL;
	if (!where)
		return false;
	where[slash + 1 - path] = 0;
	found = where[0] == '/' && try_in(s, dir, stat_join(where, s->link));
	free(where);
	return found;
}

static bool in_directory(const struct search *s, const char *dir)
{
	return try_in(s, dir, build_id_path(s->img)) || by_name(s, dir);
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
static bool search_beside(const struct search *s, const char *root)
{
	const char *path = s->img->pub.path, *slash = strrchr(path, '/');
	char *dir, *hidden;
	bool found;

	if (!s->program || !slash || !s->link)
		return false;
	dir = stat_strdup(path);
	if (!dir)
		return false;
	dir[slash + 1 - path] = 0;
	hidden = stat_join(dir, ".debug/");
	found = try_file(s, root, stat_join(dir, s->link)) ||
		(hidden && try_file(s, root, stat_join(hidden, s->link)));
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

static bool search_all(struct images *set, struct search *s)
{
	if (s->program)
		read_link(s, s->program->elf);
	return (set->options.debug && in_directories(s, set->options.debug)) ||
	       search_beside(s, image_root(set, s->img)) || in_directory(s, STANDARD) ||
	       try_file(s, NULL, debuginfod_path(set, s->img));
}

/* The log may lack the build-id of a program that was found otherwise. */
static bool lend_build_id(struct image *img, const struct elf_file *program)
{
	const void *id;
	ssize_t n;

	if (img->pub.build_id_len || !program)
		return false;
	n = dwelf_elf_gnu_build_id(program->elf, &id);
	if (n <= 0 || n > HWPMC_LOG_BUILD_ID)
		return false;
	img->pub.build_id = id;
	img->pub.build_id_len = n;
	return true;
}

bool debug_file_load(struct images *set, struct image *img,
		     const struct elf_file *program)
{
	struct search s = { .img = img, .program = program };
	bool lent = lend_build_id(img, program), found = search_all(set, &s);

	if (lent) {
		img->pub.build_id = NULL;
		img->pub.build_id_len = 0;
	}
	return found;
}

int debug_file_open(struct images *set, struct image *img,
		    const struct elf_file *program)
{
	struct image like = *img;
	int fd = -1;
	struct search s = { .img = &like, .program = program, .fd = &fd };

	lend_build_id(&like, program);
	search_all(set, &s);
	return fd;
}

/* ---- .gnu_debugdata ------------------------------------------------------ */

static Elf_Data *find_debug_data(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return NULL;
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, strings, sh.sh_name);
		if (name && !strcmp(name, ".gnu_debugdata"))
			return elf_rawdata(scn, NULL);
	}
	return NULL;
}

/* Into at most DATA_LIMIT bytes, which grow as they are needed; NULL: more, or bad. */
static uint8_t *unpack(const Elf_Data *data, size_t *len)
{
	lzma_stream xz = LZMA_STREAM_INIT;
	uint8_t *out = NULL, *more;
	lzma_ret rc = LZMA_OK;
	size_t room = 0;

	if (lzma_stream_decoder(&xz, DATA_MEMORY, 0) != LZMA_OK)
		return NULL;
	xz.next_in = data->d_buf;
	xz.avail_in = data->d_size;
	while (rc == LZMA_OK && room < DATA_LIMIT) {
		room = room ? 2 * room : 1 << 20;
		more = realloc(out, room);
		stat_nomem |= !more;
		if (!more)
			break;
		out = more;
		xz.next_out = out + xz.total_out;
		xz.avail_out = room - xz.total_out;
		rc = lzma_code(&xz, LZMA_FINISH);
	}
	*len = xz.total_out;
	lzma_end(&xz);
	if (rc == LZMA_STREAM_END)
		return out;
	free(out);
	return NULL;
}

/* Its addresses are the program's. */
void debug_data_add(struct image *img, const struct elf_file *f)
{
	Elf_Data *data = find_debug_data(f->elf);
	struct elf_file inner;
	uint8_t *bytes;
	size_t len;

	if (!data || !data->d_buf)
		return;
	bytes = unpack(data, &len);
	if (!bytes)
		return;
	if (elf_in_memory(&inner, bytes, len)) {
		elf_add_symbols(&inner, img);
		elf_close(&inner);
	}
	free(bytes);
}
