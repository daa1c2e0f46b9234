/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jit.c - symbols of generated code, from the file that its generator leaves in
 * /tmp: "start size name" a line. It grows while the program runs: each further lookup
 * reads the lines added since. Later code replaces earlier code at the same addresses.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stat.h"

#define NO_MAP	"generated code, but no perf-PID.map has its symbols"
#define REFUSED	"its perf-PID.map is a link, is not a regular file, has several hard links or more than 256 MiB"
#define UNREADABLE \
	"its perf-PID.map cannot be read: permission denied: read the log as its owner or root, or copy it to a directory of yours, --perf-map"

/* Those of programs that run for months have some hundred megabytes. */
#define MAP_LIMIT	(256ull << 20)
#define SYMBOLS_MAX	(4u << 20)

static const char foreign[] =
	"its perf-PID.map belongs to another user, who is neither root nor the reader, nor owns the process: copy it to a directory of yours, --perf-map";

static char *map_path(const struct image *img,
		      const struct hwpmc_symbol_options *o)
{
	char name[32];

	snprintf(name, sizeof(name), "/perf-%d.map", img->pid);
	return stat_join(o->perf_map ? o->perf_map : "/tmp", name);
}

/* Whose process it is, if it still runs. */
static bool is_of_process(int32_t pid, uid_t owner)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d", pid);
	return stat(path, &st) == 0 && st.st_uid == owner;
}

/*
 * Any user may put a file of this name into /tmp: only root, the reader and the owner
 * of the process are believed. A directory that an option names is the reader's matter.
 */
static FILE *open_map(const char *path, int32_t pid, bool anywhere,
		      const char **why)
{
	struct hwpmc_guard guard = {
		.limit = MAP_LIMIT, .no_link = true, .one_name = true,
	};
	int fd = hwpmc_open_guarded(&guard, path, why);
	struct stat st;
	FILE *f;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0 ||
	    (!anywhere && st.st_uid && st.st_uid != geteuid() &&
	     !is_of_process(pid, st.st_uid))) {
		*why = foreign;
		close(fd);
		return NULL;
	}
	f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

static bool add_line(struct image *img, char *line, bool demangle)
{
	uint64_t start, len;
	int at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &start, &len, &at) < 2 ||
	    !at || !line[at] || !len)
		return false;
	image_add_symbol(img, start, len, line + at, demangle);
	return true;
}

/*
 * What is behind what was read before; a shorter file is another one. A line without
 * an end is read again the next time.
 */
static bool read_more(struct image *img, FILE *f, bool demangle)
{
	char *line = NULL;
	bool more = false;
	struct stat st;
	size_t size = 0;
	ssize_t n;

	if (fstat(fileno(f), &st) == 0 && st.st_size < img->read) {
		image_forget_symbols(img);
		img->read = 0;
	}
	if (fseeko(f, img->read, SEEK_SET) < 0)
		return false;
	while (img->nsymbol < SYMBOLS_MAX && img->read < MAP_LIMIT &&
	       (n = getline(&line, &size, f)) > 0) {
		if (line[n - 1] == '\n')
			img->read += n;
		more |= add_line(img, line, demangle);
	}
	free(line);
	return more;
}

/* ---- the latest wins ----------------------------------------------------- */

struct aged {
	struct hwpmc_symbol *symbol;
	uint32_t age;			/* lines before it */
};

static int by_start(const void *a, const void *b)
{
	const struct aged *x = a, *y = b;

	if (x->symbol->start != y->symbol->start)
		return x->symbol->start < y->symbol->start ? -1 : 1;
	return x->age < y->age ? -1 : x->age > y->age;
}

static bool lies_in(const struct hwpmc_symbol *s,
		    const struct hwpmc_symbol *other)
{
	return s->start - other->start < other->size;
}

static void lay_over(struct image *img)
{
	struct aged *all = stat_alloc(img->nsymbol, sizeof(*all));
	uint32_t n = 0;

	if (!all)
		return;
	for (uint32_t i = 0; i < img->nsymbol; i++)
		all[i] = (struct aged){ img->symbol[i], i };
	qsort(all, img->nsymbol, sizeof(*all), by_start);
	for (uint32_t i = 0; i < img->nsymbol; i++) {
		struct aged *top = n ? &all[n - 1] : NULL;

		struct aged *old = &all[i];

		if (top && lies_in(old->symbol, top->symbol) &&
		    top->age < old->age)
			old = top;
		else if (!top || !lies_in(old->symbol, top->symbol))
			old = NULL;
		if (!old || !image_retire(img, old->symbol)) {
			all[n++] = all[i];
		} else if (old == top) {
			n--;
			i--;
		}
	}
	for (uint32_t i = 0; i < n; i++)
		img->symbol[i] = all[i].symbol;
	img->nsymbol = n;
	free(all);
}

static const char *map_problem(const char *path, const char *why)
{
	if (why == foreign)
		return foreign;
	if (eaccess(path, R_OK) == 0)
		return REFUSED;
	return errno == EACCES ? UNREADABLE : NO_MAP;
}

void jit_load(struct image *img, const struct hwpmc_symbol_options *o)
{
	char *path = map_path(img, o);
	const char *why = NULL;
	FILE *f = path ? open_map(path, img->pid, o->perf_map, &why) : NULL;

	if (!f) {
		if (!img->pub.file)
			image_problem(img, path ? map_problem(path, why) : REFUSED);
		free(path);
		return;
	}
	img->pub.problem = NULL;
	if (img->pub.file)
		free(path);
	else
		img->pub.file = path;
	if (read_more(img, f, !o->no_demangle)) {
		img->generation++;
		lay_over(img);
	}
	fclose(f);
}
