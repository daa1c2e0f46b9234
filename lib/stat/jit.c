/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jit.c - symbols of generated code, from the file that its generator leaves in
 * /tmp: "start size name" a line; or from the jitdump that it has mapped (jitdump.c). It
 * grows while the program runs: each further lookup reads what was added since. Later code
 * replaces earlier code at the same addresses. While the process lives, the file is looked
 * for in its own /tmp, by the number that it has for itself.
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
	"its perf-PID.map cannot be read: permission denied: read the log as the owner of the map or root, or copy the map to a directory of your own: --perf-map"

/* Those of programs that run for months have some hundred megabytes. */
#define MAP_LIMIT	(256ull << 20)
#define SYMBOLS_MAX	(4u << 20)

static const char foreign[] =
	"its perf-PID.map belongs to another user, who is neither root nor the reader, nor owns the process: copy the map to a directory of your own: --perf-map";

static const char later[] =
	"its parent process has generated code after the fork: the perf-PID.map has names of both processes";

/* Generations of processes that a map may be of. */
#define PARENTS_MAX	8
/* The clock of files is that much behind. */
#define COARSE_NS	20000000

static char *map_path(const char *dir, int32_t pid)
{
	char name[32];

	snprintf(name, sizeof(name), "/perf-%d.map", pid);
	return stat_join(dir, name);
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
static FILE *open_map(const char *root, const char *path, int32_t pid, bool anywhere,
		      const char **why)
{
	struct hwpmc_guard guard = {
		.root = root, .limit = MAP_LIMIT, .no_link = true, .one_name = true,
	};
	struct stat st;
	FILE *f;
	int fd;

	fd = hwpmc_open_guarded(&guard, path, why);
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
	/* A file that shrinks again and again has replaced symbols, which stay in memory. */
	while ((uint64_t)img->nsymbol + img->nretired < SYMBOLS_MAX && img->read < MAP_LIMIT &&
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

/* ---- jitdumps that processes have mapped ---------------------------------- */

static bool same_dump(const void *items, uint32_t i, const void *pid)
{
	return ((const struct jit_dumps *)items)->dump[i].pid == *(const int32_t *)pid;
}

static uint32_t find_dump(const struct jit_dumps *d, int32_t pid)
{
	return table_find(&d->table, table_hash((uint32_t)pid), same_dump, d, &pid);
}

static const char *jit_dump_of(const struct images *set, int32_t pid)
{
	uint32_t i = find_dump(&set->dumps, pid);

	return i == TABLE_NONE ? NULL : set->dumps.dump[i].path;
}

/* ".../jit-NUMBER.dump" */
static bool is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (!name || strncmp(name, "/jit-", 5))
		return false;
	digits = strspn(name + 5, "0123456789");
	return digits && !strcmp(name + 5 + digits, ".dump");
}

void jit_note_dump(struct images *set, int32_t pid, const char *path)
{
	struct jit_dumps *d = &set->dumps;
	uint32_t i;
	char *copy;

	if (!is_dump(path))
		return;
	i = find_dump(d, pid);
	if (i == TABLE_NONE && (!table_room(&d->table) ||
				!stat_room(&d->dump, d->table.n, sizeof(*d->dump))))
		return;
	copy = stat_strdup(path);
	if (!copy)
		return;
	if (i != TABLE_NONE) {
		free(d->dump[i].path);
		d->dump[i].path = copy;
		return;
	}
	d->dump[d->table.n] = (struct jit_dump){ pid, copy };
	table_put(&d->table, table_hash((uint32_t)pid));
}

void jit_forget_dump(struct images *set, int32_t pid)
{
	uint32_t i = find_dump(&set->dumps, pid);

	if (i == TABLE_NONE)
		return;
	free(set->dumps.dump[i].path);
	set->dumps.dump[i].path = NULL;
}

void jit_dumps_free(struct jit_dumps *d)
{
	for (uint32_t i = 0; i < d->table.n; i++)
		free(d->dump[i].path);
	free(d->dump);
	table_free(&d->table);
}

/* ---- which file ---------------------------------------------------------- */

/* An open file, and what it is called where it lies. */
struct source {
	FILE *f;
	char *path;
	const char *why;		/* none was found: the reason */
};

/* Takes path. The first reason that is none of a missing file is kept. */
static bool take(struct source *s, const char *root, char *path, int32_t pid, bool anywhere)
{
	const char *why = NULL;

	if (!path)
		return false;
	s->f = open_map(root, path, pid, anywhere, &why);
	s->path = s->f ? stat_join(root ? root : "", path) : NULL;
	if (!s->f && !s->why && why == foreign)
		s->why = foreign;
	if (!s->f && !s->why && !root)
		s->why = eaccess(path, R_OK) == 0 ? REFUSED :
			 errno == EACCES ? UNREADABLE : NULL;
	free(path);
	return s->f;
}

/* Lines that its parent wrote before the fork describe its own code, too; later ones may not. */
static bool take_of_parent(struct source *s, int32_t parent, int64_t began)
{
	char root[ORIGIN_ROOT];
	struct stat st;

	if (!take(s, origin_root(parent, root), map_path("/tmp", origin_own_pid(parent)),
		  parent, false))
		return false;
	if (fstat(fileno(s->f), &st) == 0 &&
	    st.st_mtim.tv_sec * 1000000000ll + st.st_mtim.tv_nsec <= began + COARSE_NS)
		return true;
	s->why = later;
	fclose(s->f);
	free(s->path);
	s->f = NULL;
	return false;
}

/* Takes the file that the process itself has, or has from a parent. */
static bool take_of_process(struct source *s, const struct images *set, int32_t pid)
{
	const char *dump = jit_dump_of(set, pid);
	int32_t own = origin_lives(set, pid) ? origin_own_pid(pid) : 0;
	char root[ORIGIN_ROOT];
	int64_t began;

	if (!own)
		return false;
	origin_root(pid, root);
	if ((dump && take(s, root, stat_strdup(dump), pid, false)) ||
	    take(s, root, map_path("/tmp", own), pid, false))
		return true;
	for (int i = 0; i < PARENTS_MAX; i++) {
		began = origin_began(pid);
		pid = origin_parent(pid);
		if (!pid)
			return false;
		if (take_of_parent(s, pid, began))
			return true;
	}
	return false;
}

/* A file that was found in a process stays when that has ended: the host's may be another's. */
static bool find_source(struct source *s, const struct images *set, const struct image *img)
{
	int32_t pid = img->pid;
	const char *dir = set->options.perf_map, *dump = jit_dump_of(set, pid);
	bool had = img->pub.file && !strncmp(img->pub.file, "/proc/", 6);

	*s = (struct source){ .f = NULL };
	if (dir)
		return take(s, NULL, map_path(dir, pid), pid, true);
	if (take_of_process(s, set, pid) || had)
		return s->f;
	return (dump && take(s, set->options.root, stat_strdup(dump), pid, false)) ||
	       take(s, NULL, map_path("/tmp", pid), pid, false);
}

/* Another file than before: what was read of that one is not its. */
static void name_source(struct image *img, char *path)
{
	if (!path)
		return;
	if (img->pub.file && strcmp(img->pub.file, path)) {
		image_forget_symbols(img);
		img->read = 0;
	}
	free((void *)img->pub.file);
	img->pub.file = path;
}

void jit_load(struct images *set, struct image *img)
{
	bool demangle = !set->options.no_demangle, more = false;
	struct source s;

	if (!find_source(&s, set, img)) {
		if (!img->pub.file)
			image_problem(img, s.why ? s.why : NO_MAP);
		return;
	}
	img->pub.problem = NULL;
	name_source(img, s.path);
	if (!jitdump_read(img, s.f, demangle, &more))
		more = read_more(img, s.f, demangle);
	if (more) {
		img->generation++;
		lay_over(img);
	}
	fclose(s.f);
}
