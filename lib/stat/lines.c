/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lines.c - source lines and inlined functions, from DWARF by libdw. Nothing of it
 * is read before the first lookup in the image, which reads the ranges of its units; the
 * functions of a unit are read by the first lookup in that unit.
 */
#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stat.h"

/* Blocks, classes and functions in each other. */
#define DEPTH_MAX	128

/* Of functions and blocks beside each other that are looked at: for the first lookups, and
 * for each. */
#define STEPS_MIN	10000000
#define STEPS_EACH	1000

/* Addresses, and what has them: the index of a unit, or of a function. */
struct range {
	uint64_t start, end;
	uint64_t reach;			/* highest end up to here */
	uint32_t what;
};

struct ranges {
	struct range *range;		/* by start */
	uint32_t n;
};

struct unit {
	Dwarf_Die die;			/* with the line table */
	Dwarf_Die code;			/* with the functions: split DWARF */
	bool indexed;
	Dwarf_Die *function;
	uint32_t nfunction;
	struct ranges ranges;		/* of its functions */
};

/* A section of a module: where its loader puts it, and where libdwfl does. */
struct piece {
	uint64_t at, size, dwarf;
};

/* An ELF file whose debugging information is empty. */
struct nothing {
	Elf64_Ehdr eh;
	Elf64_Shdr sh[3];
	char names[24];
	char info[4];
};

struct lines {
	Dwfl *dwfl;
	Dwarf *dwarf;
	struct unit *unit;
	uint32_t nunit;
	struct ranges ranges;		/* of the units */
	struct images *set;
	struct image *img;
	const char *file;		/* that leads to DWARF */
	char path[PATH_MAX];		/* of the file that has it */
	char dir[PATH_MAX];		/* the same, up to the slash */
	Dwarf *shared;			/* what dwz has moved to another file */
	int shared_fd;
	struct nothing nothing;
	Elf *empty_elf;
	Dwarf *empty;
	uint64_t steps, lookups;
	bool owned;			/* the image's lines_owner is that of a file */
	Dwfl_Callbacks callbacks;
	uint64_t moved;			/* the kernel: from where its file is */
	bool relocatable;		/* a module's file, which has no addresses */
	struct piece *piece;
	uint32_t npiece;
};

/* ---- ranges -------------------------------------------------------------- */

static void add_ranges(struct lines *l, struct ranges *r, Dwarf_Die *die,
		       uint32_t what)
{
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		/* A function that the linker has left out lies at 0. */
		if (start >= end || (!start && !l->relocatable))
			continue;
		if (!stat_room(&r->range, r->n, sizeof(*r->range)))
			return;
		r->range[r->n++] = (struct range){ start, end, end, what };
	}
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

static void sort_ranges(struct ranges *r)
{
	if (r->n)
		qsort(r->range, r->n, sizeof(*r->range), by_start);
	for (uint32_t i = 1; i < r->n; i++)
		if (r->range[i].reach < r->range[i - 1].reach)
			r->range[i].reach = r->range[i - 1].reach;
}

/* A program can be made so that each lookup goes through all of it. */
static bool may_step(struct lines *l)
{
	if (l->steps++ < STEPS_MIN + l->lookups * STEPS_EACH)
		return true;
	l->img->pub.no_lines = "some lines are not shown: too many functions overlap";
	return false;
}

/* The innermost that has addr; NULL: none. */
static const struct range *find_range(struct lines *l, const struct ranges *r,
				      uint64_t addr)
{
	uint32_t lo = 0, hi = r->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (r->range[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	while (lo-- > 0 && r->range[lo].reach > addr && may_step(l))
		if (r->range[lo].end > addr)
			return &r->range[lo];
	return NULL;
}

/* ---- owners -------------------------------------------------------------- */

/*
 * Source files are shown because one of these files names them. A program of root's is no
 * proof: its debug file may be another user's, beside a link to the program.
 */
static void note_owner(struct lines *l, const struct stat *st)
{
	struct hwpmc_image *img = &l->img->pub;

	if (!l->owned || !img->lines_owner) {
		img->lines_owner = st->st_uid;
		img->lines_group = st->st_gid;
	} else if (st->st_uid && st->st_uid != img->lines_owner) {
		img->lines_owner = img->lines_group = NOBODY;
	}
	l->owned = true;
}

/* ---- units and functions ------------------------------------------------- */

static void add_unit(struct lines *l, Dwarf_Die *die, const Dwarf_Die *split)
{
	if (!stat_room(&l->unit, l->nunit, sizeof(*l->unit)))
		return;
	l->unit[l->nunit] = (struct unit){
		.die = *die, .code = split->addr ? *split : *die,
	};
	add_ranges(l, &l->ranges, die, l->nunit++);
}

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;

	return dwarf_formstring(dwarf_attr_integrate(die, name, &attr));
}

static bool is_below(const char *dir, const char *path)
{
	char *above = realpath(dir, NULL), *below = realpath(path, NULL);
	size_t len = above ? strlen(above) : 0;
	bool is;

	if (len && above[len - 1] == '/')
		len--;
	is = above && below && !strncmp(above, below, len) && below[len] == '/';
	free(above);
	free(below);
	return is;
}

/*
 * libdw opens the file of a split unit itself: only what is a file, within bounds, and below
 * the root, or where the file that leads to it is.
 */
static bool is_harmless(struct lines *l, const char *path)
{
	const char *root = image_root(l->set, l->img);
	struct elf_file f;
	struct stat st;

	if (lstat(path, &st) < 0)
		return true;
	/* realpath(3) of a process's root is "/", so nothing can be checked: no split units. */
	if (l->img->root)
		return false;
	if ((root && !is_below(root, path) && !is_below(l->dir, path)) ||
	    elf_open(&f, NULL, path, false) < 0)
		return false;
	if (fstat(f.fd, &st) == 0)
		note_owner(l, &st);
	elf_close(&f);
	return true;
}

/* Newer versions of libdw look for all split units in one file first. */
static bool may_package(struct lines *l)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s.dwp", l->path);
	return is_harmless(l, path);
}

/* Where libdw looks: beside the file that has the DWARF, and where it was compiled. */
static bool may_split(struct lines *l, Dwarf_Die *die)
{
	const char *name, *built = string_of(die, DW_AT_comp_dir);
	char beside[2 * PATH_MAX], there[2 * PATH_MAX];
	bool whole;

	name = string_of(die, DW_AT_dwo_name);
	if (!name)
		name = string_of(die, DW_AT_GNU_dwo_name);
	if (!name)
		return false;
	whole = name[0] == '/';
	if (!built)
		built = "";
	if (snprintf(beside, sizeof(beside), "%s%s", whole ? "" : l->dir, name) >=
	    (int)sizeof(beside) ||
	    snprintf(there, sizeof(there), "%s%s/%s", built[0] == '/' ? "" : l->dir,
		     built, name) >= (int)sizeof(there))
		return false;
	return is_harmless(l, beside) && (whole || is_harmless(l, there));
}

static void add_units(struct lines *l)
{
	Dwarf_CU *cu = NULL, *next;
	bool package = may_package(l);
	Dwarf_Die die, split;
	uint8_t type;

	for (;;) {
		memset(&split, 0, sizeof(split));
		if (dwarf_get_units(l->dwarf, cu, &next, NULL, &type, &die,
				    NULL))
			break;
		cu = next;
		if (type == DW_UT_skeleton && package && may_split(l, &die))
			dwarf_cu_info(cu, NULL, NULL, NULL, &split, NULL, NULL,
				      NULL);
		if (split.addr)
			dwarf_setalt(dwarf_cu_getdwarf(split.cu), l->empty);
		if (type == DW_UT_compile || type == DW_UT_skeleton)
			add_unit(l, &die, &split);
	}
	sort_ranges(&l->ranges);
}

static void add_function(struct lines *l, struct unit *u, Dwarf_Die *die)
{
	if (!stat_room(&u->function, u->nfunction, sizeof(*u->function)))
		return;
	u->function[u->nfunction] = *die;
	add_ranges(l, &u->ranges, die, u->nfunction++);
}

/* Functions lie in units, namespaces and classes, and in functions. */
static bool holds_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

/*
 * false: it is nested deeper than a compiler does; the rest of the unit is left out, as
 * each level costs a walk through all that is below it.
 */
static bool add_functions(struct lines *l, struct unit *u, Dwarf_Die *parent,
			  unsigned int depth)
{
	Dwarf_Die die;

	if (depth == DEPTH_MAX)
		return false;
	if (dwarf_child(parent, &die))
		return true;
	do {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_function(l, u, &die);
		if (holds_functions(tag) && !add_functions(l, u, &die, depth + 1))
			return false;
	} while (dwarf_siblingof(&die, &die) == 0);
	return true;
}

static struct unit *find_unit(struct lines *l, uint64_t addr)
{
	const struct range *r = find_range(l, &l->ranges, addr);

	return r ? &l->unit[r->what] : NULL;
}

static Dwarf_Die *find_function(struct lines *l, struct unit *u, uint64_t addr)
{
	const struct range *r;

	if (!u->indexed) {
		u->indexed = true;
		add_functions(l, u, &u->code, 0);
		sort_ranges(&u->ranges);
	}
	r = find_range(l, &u->ranges, addr);
	return r ? &u->function[r->what] : NULL;
}

/* ---- opening ------------------------------------------------------------- */

static int no_lines(struct image *img, const char *why)
{
	img->pub.no_lines = why;
	return -1;
}

static void add_piece(size_t index, const GElf_Shdr *sh, uint64_t at, void *arg)
{
	struct lines *l = arg;

	if (!stat_room(&l->piece, l->npiece, sizeof(*l->piece)))
		return;
	l->piece[l->npiece++] = (struct piece){ at, sh->sh_size, sh->sh_addr };
}

/* libdwfl has given addresses to the sections when the file was reported to it. */
static void find_pieces(struct lines *l, Dwfl_Module *module, uint64_t bias)
{
	GElf_Addr elf_bias;
	Elf *elf = dwfl_module_getelf(module, &elf_bias);
	GElf_Ehdr eh;

	if (!elf || !gelf_getehdr(elf, &eh) || eh.e_type != ET_REL)
		return;
	l->relocatable = true;
	ko_layout(elf, add_piece, l);
	for (uint32_t i = 0; i < l->npiece; i++)
		l->piece[i].dwarf += elf_bias - bias;
}

static uint64_t to_dwarf(const struct lines *l, uint64_t addr)
{
	addr -= l->moved;
	for (uint32_t i = 0; i < l->npiece; i++)
		if (addr - l->piece[i].at < l->piece[i].size)
			return addr - l->piece[i].at + l->piece[i].dwarf;
	return l->relocatable ? UINT64_MAX : addr;
}

/* ---- opening: files ------------------------------------------------------ */

static bool is_same_yet(const struct lines *l, const struct elf_file *f)
{
	const char *problem = l->img->pub.problem;
	bool same = identity_check(l->set, l->img, f);

	/* Its symbols are right all the same. */
	l->img->pub.problem = problem;
	return same;
}

/* The image's own. libdwfl would open it unguarded, and take what unpacks to anything. */
static int open_file(const struct lines *l, struct elf_file *f)
{
	const struct image *img = l->img;
	bool kernel = img->pub.kind != HWPMC_IMAGE_ELF;

	if (!kernel && img->pub.code) {
		if (elf_open(f, image_root(l->set, img), img->pub.path, false) < 0)
			return -1;
		/* It may have become another one since its symbols were read. */
		if (is_same_yet(l, f))
			return 0;
		elf_close(f);
		return -1;
	}
	return elf_open(f, NULL, l->file, kernel);
}

static int take_fd(struct elf_file *f)
{
	int fd = f->fd;

	f->fd = -1;
	elf_close(f);
	return fd;
}

/* A file that has DWARF, or leads to it. */
static int note_file(struct lines *l, int fd)
{
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0)
		note_owner(l, &st);
	return fd;
}

/* Where it is; the descriptor becomes libdwfl's, which may close it. */
static int note_dir(struct lines *l, int fd)
{
	char link[32], *slash;
	ssize_t n;

	if (note_file(l, fd) < 0)
		return -1;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, l->path, sizeof(l->path) - 1);
	l->path[n > 0 ? n : 0] = 0;
	strcpy(l->dir, l->path);
	slash = strrchr(l->dir, '/');
	if (slash)
		slash[1] = 0;
	return fd;
}

/* What dwz has moved to another file; name: from where the debug file is. */
static int open_shared(struct lines *l, const char *name)
{
	char *path = stat_join(name[0] == '/' ? "" : l->dir, name);
	struct elf_file f;
	int rc = -1;

	if (path)
		rc = elf_open(&f, NULL, path, false);
	free(path);
	return rc < 0 ? -1 : note_file(l, take_fd(&f));
}

static bool has_id(Dwarf *dwarf, const void *id, ssize_t len)
{
	const void *own;

	return dwelf_elf_gnu_build_id(dwarf_getelf(dwarf), &own) == len &&
	       !memcmp(own, id, len);
}

/* Where there is nothing to look into, libdw opens what the file names, whatever it is. */
static bool make_empty(struct lines *l)
{
	struct nothing *n = &l->nothing;

	*n = (struct nothing){
		.eh = {
			.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB,
				     EV_CURRENT },
			.e_type = ET_EXEC, .e_machine = EM_X86_64,
			.e_version = EV_CURRENT, .e_ehsize = sizeof(n->eh),
			.e_shoff = offsetof(struct nothing, sh), .e_shnum = 3,
			.e_shentsize = sizeof(n->sh[0]), .e_shstrndx = 2,
		},
		.sh = {
			[1] = { .sh_name = 1, .sh_type = SHT_PROGBITS,
				.sh_offset = offsetof(struct nothing, info),
				.sh_size = sizeof(n->info), .sh_addralign = 1 },
			[2] = { .sh_type = SHT_STRTAB, .sh_size = sizeof(n->names),
				.sh_offset = offsetof(struct nothing, names),
				.sh_addralign = 1 },
		},
		.names = "\0.debug_info",
	};
	l->empty_elf = elf_memory((char *)n, sizeof(*n));
	l->empty = l->empty_elf ? dwarf_begin_elf(l->empty_elf, DWARF_C_READ, NULL) : NULL;
	return l->empty != NULL;
}

static void find_shared(struct lines *l)
{
	const char *name;
	const void *id;
	ssize_t len = dwelf_dwarf_gnu_debugaltlink(l->dwarf, &name, &id);

	if (len <= 0)
		return;
	l->shared_fd = open_shared(l, name);
	if (l->shared_fd >= 0)
		l->shared = dwarf_begin(l->shared_fd, DWARF_C_READ);
	if (l->shared)
		dwarf_setalt(l->shared, l->empty);
	dwarf_setalt(l->dwarf, l->shared && has_id(l->shared, id, len) ? l->shared :
									 l->empty);
}

/* libdwfl asks for the debug file of the image; what that shares is find_shared()'s. */
static int find_debug_file(Dwfl_Module *module, void **data, const char *name,
			   Dwarf_Addr base, const char *file, const char *link,
			   GElf_Word crc, char **path)
{
	struct lines *l = *data;
	struct elf_file f;
	int fd;

	if (!l || !file || open_file(l, &f) < 0)
		return -1;
	fd = debug_file_open(l->set, l->img, &f);
	elf_close(&f);
	return note_dir(l, fd);
}

static Dwfl_Module *report_file(struct lines *l)
{
	Dwfl_Module *module = NULL;
	struct elf_file f;
	void **data;
	int fd;

	if (open_file(l, &f) < 0)
		return NULL;
	fd = note_dir(l, take_fd(&f));
	if (fd >= 0)
		module = dwfl_report_offline(l->dwfl, "", l->file, fd);
	if (!module && fd >= 0)
		close(fd);
	if (module) {
		dwfl_module_info(module, &data, NULL, NULL, NULL, NULL, NULL,
				 NULL);
		*data = l;
	}
	return module;
}

static int open_dwarf(struct lines *l)
{
	Dwfl_Module *module;
	Dwarf_Addr bias;

	l->callbacks = (Dwfl_Callbacks){
		.find_debuginfo = find_debug_file,
		.section_address = dwfl_offline_section_address,
	};
	l->dwfl = dwfl_begin(&l->callbacks);
	if (!l->dwfl)
		return -1;
	module = report_file(l);
	dwfl_report_end(l->dwfl, NULL, NULL);
	l->dwarf = module ? dwfl_module_getdwarf(module, &bias) : NULL;
	if (!l->dwarf || !make_empty(l))
		return -1;
	find_shared(l);
	find_pieces(l, module, bias);
	return 0;
}

void lines_close(struct image *img)
{
	struct lines *l = img->lines;

	if (!l)
		return;
	for (uint32_t i = 0; i < l->nunit; i++) {
		free(l->unit[i].function);
		free(l->unit[i].ranges.range);
	}
	free(l->unit);
	free(l->ranges.range);
	free(l->piece);
	if (l->dwfl)
		dwfl_end(l->dwfl);
	dwarf_end(l->shared);
	if (l->shared_fd >= 0)
		close(l->shared_fd);
	dwarf_end(l->empty);
	elf_end(l->empty_elf);
	free(l);
	img->lines = NULL;
}

/* The file that leads to DWARF; *why, where there is none. */
static const char *file_with_lines(struct images *set, const struct image *img,
				   uint64_t *moved, const char **why)
{
	*moved = 0;
	switch (img->pub.kind) {
	case HWPMC_IMAGE_ELF:
		*why = img->pub.problem;
		return img->pub.code ? img->pub.code : img->pub.file;
	case HWPMC_IMAGE_KERNEL:
	case HWPMC_IMAGE_MODULE:
		*why = "give the vmlinux and the module files of the kernel by --kernel";
		return img->pub.code ? img->pub.code :
		       kernel_file_with_lines(set, img, moved);
	default:
		*why = "only programs, libraries and the kernel have lines";
		return NULL;
	}
}

static int lines_open(struct images *set, struct image *img)
{
	const char *file, *why;
	uint64_t moved;

	if (img->lines)
		return 0;
	if (img->pub.no_lines)
		return -1;
	image_load(set, img);
	file = file_with_lines(set, img, &moved, &why);
	if (!file)
		return no_lines(img, why ? why : "its file is unknown");
	img->lines = stat_alloc(1, sizeof(*img->lines));
	if (!img->lines)
		return -1;
	*img->lines = (struct lines){
		.set = set, .img = img, .file = file, .moved = moved, .shared_fd = -1,
	};
	if (open_dwarf(img->lines) < 0) {
		lines_close(img);
		return no_lines(img, "it has no debugging information");
	}
	add_units(img->lines);
	return 0;
}

/* ---- lines --------------------------------------------------------------- */

static bool line_in_unit(struct unit *u, uint64_t addr, struct place *at)
{
	Dwarf_Line *line = dwarf_getsrc_die(&u->die, addr);
	int number;

	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return false;
	at->file = dwarf_linesrc(line, NULL, NULL);
	at->line = number;
	return at->file != NULL;
}

bool lines_find(struct images *set, struct image *img, uint64_t addr,
		struct place *at)
{
	struct unit *u;

	if (lines_open(set, img) < 0)
		return false;
	img->lines->lookups++;
	addr = to_dwarf(img->lines, addr);
	u = find_unit(img->lines, addr);
	return u && line_in_unit(u, addr, at);
}

/* ---- inlined functions --------------------------------------------------- */

static bool inline_child(struct lines *l, Dwarf_Die *parent, uint64_t addr, Dwarf_Die *die)
{
	if (dwarf_child(parent, die))
		return false;
	do {
		int tag = dwarf_tag(die);

		if ((tag == DW_TAG_inlined_subroutine ||
		     tag == DW_TAG_lexical_block) && dwarf_haspc(die, addr) > 0)
			return true;
	} while (may_step(l) && dwarf_siblingof(die, die) == 0);
	return false;
}

static const char *linkage_name(Dwarf_Die *die)
{
	const char *name = string_of(die, DW_AT_linkage_name);

	if (!name)
		name = string_of(die, DW_AT_MIPS_linkage_name);
	return name ? name : dwarf_diename(die);
}

static uint64_t number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attr;
	Dwarf_Word word;

	if (dwarf_formudata(dwarf_attr(die, name, &attr), &word))
		return 0;
	return word;
}

/* Where the function that `die` is an instance of was called. */
static void called_at(struct unit *u, Dwarf_Die *die, struct place *at)
{
	uint64_t file = number_of(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t n;

	at->line = number_of(die, DW_AT_call_line);
	at->file = NULL;
	if (!dwarf_getsrcfiles(&u->code, &files, &n) && file < n)
		at->file = dwarf_filesrc(files, file, NULL, NULL);
	if (!at->file)
		at->line = 0;
}

uint32_t lines_inlined(struct images *set, struct image *img, uint64_t addr,
		       struct place *at, uint32_t max)
{
	Dwarf_Die *function, die;
	struct unit *u = NULL;
	uint32_t n = 0, depth = 0;

	memset(at, 0, sizeof(*at));
	if (lines_open(set, img) == 0) {
		img->lines->lookups++;
		addr = to_dwarf(img->lines, addr);
		u = find_unit(img->lines, addr);
	}
	function = u ? find_function(img->lines, u, addr) : NULL;
	if (!function)
		return 0;
	/* Outermost first: each is where the one before it was called. */
	for (die = *function; n + 1 < max && depth++ < DEPTH_MAX; ) {
		Dwarf_Die parent = die;

		if (!inline_child(img->lines, &parent, addr, &die))
			break;
		if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
			continue;
		called_at(u, &die, &at[n++]);
		at[n] = (struct place){ .name = linkage_name(&die) };
	}
	line_in_unit(u, addr, &at[n]);
	return n;
}
