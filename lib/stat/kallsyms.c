/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kallsyms.c - symbols of the kernel that runs, or of a copy of its kallsyms. Those
 * of another kernel would be wrong: what the log knows of its own is compared.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../unwind/cachedir.h"
#include "stat.h"

#define HIDDEN	"kallsyms shows no addresses: run as root, or set kernel.kptr_restrict=0"
#define UNREAD	"kallsyms cannot be read"
#define FOREIGN	"the log is from another kernel: give its files by --kernel or --kallsyms"
#define ELSEWHERE "the module was loaded at another address: give its file by --kernel"

/* ---- the file ------------------------------------------------------------ */

/* All of it: the kernel does not say how long it is. */
static char *read_text(const char *path)
{
	FILE *f = fopen(path, "re");
	size_t len = 0, room = 1 << 16, n;
	char *text = f ? malloc(room) : NULL, *more;

	while (text && (n = fread(text + len, 1, room - len, f)) > 0) {
		len += n;
		if (len < room)
			continue;
		more = realloc(text, room *= 2);
		if (!more)
			free(text);
		text = more;
	}
	stat_nomem |= f && !text;
	if (f)
		fclose(f);
	if (text)
		text[len] = 0;
	return text;
}

/* The next word of a line, ended by a zero; *at moves behind it. */
static char *next_word(char **at)
{
	char *word = *at, *end;

	while (*word == ' ' || *word == '\t')
		word++;
	for (end = word; *end > ' '; end++)
		;
	*at = end;
	if (end == word)
		return NULL;
	if (*end && *end != '\n')
		*(*at)++ = 0;
	return word;
}

static uint64_t next_number(char **at)
{
	uint64_t n = 0;
	char *c = *at;

	for (;; c++) {
		if (*c >= '0' && *c <= '9')
			n = n << 4 | (*c - '0');
		else if (*c >= 'a' && *c <= 'f')
			n = n << 4 | (*c - 'a' + 10);
		else
			break;
	}
	*at = c;
	return n;
}

static void add_symbol(struct kallsyms *k, struct ksym s)
{
	struct ksyms *list = s.module ? &k->modules : &k->kernel;

	if (!s.module && strcmp(k->text + s.name, "_stext") == 0)
		k->stext = s.addr;
	if (!s.module && strcmp(k->text + s.name, "_etext") == 0)
		k->etext = s.addr;
	if (stat_room(&list->symbol, list->n, sizeof(s)))
		list->symbol[list->n++] = s;
}

static bool is_code(const char *type)
{
	return strchr("tTwW", *type) != NULL;
}

/* "ffffffff81000000 T name [module]" */
static char *add_line(struct kallsyms *k, char *at)
{
	struct ksym s = { .addr = next_number(&at) };
	char *type = next_word(&at), *name = type ? next_word(&at) : NULL;
	char *module = name ? next_word(&at) : NULL, *end;

	if (name)
		s.name = name - k->text;
	if (module)
		s.module = module - k->text;
	end = strchr(at, '\n');
	if (end)
		*end = 0;
	if (name && s.addr && is_code(type))
		add_symbol(k, s);
	return end ? end + 1 : NULL;
}

static int by_addr(const void *a, const void *b)
{
	const struct ksym *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

/* The kernel's own are in order already. */
static void ksyms_sort(struct ksyms *list)
{
	for (uint32_t i = 1; i < list->n; i++)
		if (list->symbol[i - 1].addr > list->symbol[i].addr) {
			qsort(list->symbol, list->n, sizeof(*list->symbol),
			      by_addr);
			return;
		}
}

static const char *read_file(struct kallsyms *k, const char *path)
{
	char *at;

	k->text = read_text(path);
	/* Symbols have 32 bits for where their names are. */
	if (!k->text || strnlen(k->text, UINT32_MAX) == UINT32_MAX)
		return UNREAD;
	for (at = k->text; at && *at; )
		at = add_line(k, at);
	if (!k->kernel.n && !k->modules.n)
		return HIDDEN;
	ksyms_sort(&k->kernel);
	ksyms_sort(&k->modules);
	return NULL;
}

static void kallsyms_forget(struct kallsyms *k)
{
	if (!k->cached) {
		free(k->kernel.symbol);
		free(k->modules.symbol);
		free(k->text);
	}
	free(k->cached);
	k->cached = NULL;
	k->kernel = k->modules = (struct ksyms){ NULL, 0 };
	k->text = NULL;
	k->file_read = false;
}

void kallsyms_free(struct kallsyms *k)
{
	kallsyms_forget(k);
}

/* ---- is it the log's kernel? --------------------------------------------- */

/* 1: it runs here; 0: another one; -1: its build-id is not known. */
static int has_its_build_id(const struct image *img)
{
	struct hwpmc_running_kernel k;

	if (!img->pub.build_id_len || hwpmc_running_kernel(&k) < 0 ||
	    !k.build_id_len)
		return -1;
	return k.build_id_len == img->pub.build_id_len &&
	       !memcmp(k.build_id, img->pub.build_id, k.build_id_len);
}

/* A file named by an option is taken as the right one. */
bool kallsyms_of_this_kernel(const struct images *set)
{
	const struct kallsyms *k = &set->kallsyms;
	struct utsname u;

	if (set->options.kallsyms || uname(&u) < 0)
		return true;
	if (has_its_build_id(set->kernel) == 0)
		return false;
	if (k->release && strcmp(k->release, u.release))
		return false;
	/* Another machine has its kernel elsewhere; with a start that shows. */
	return set->kernel->start || !k->hostname ||
	       !strcmp(k->hostname, u.nodename);
}

/*
 * Is it the same kernel, wherever it lies? By its length, the ends of which may have
 * been rounded to pages; by its build-id; or because an option names its kallsyms.
 */
static bool is_same(const struct images *set)
{
	const struct kallsyms *k = &set->kallsyms;
	const struct image *img = set->kernel;
	int64_t longer = (k->etext - k->stext) - (img->end - img->start);

	if (!set->options.kallsyms && has_its_build_id(img) == 1)
		return true;
	if (!img->end)
		return set->options.kallsyms;
	return k->etext && longer >= -4096 && longer <= 4096;
}

/* The kernel may have been started again, and lie elsewhere. */
static const char *compare_start(struct images *set)
{
	struct kallsyms *k = &set->kallsyms;
	const struct image *img = set->kernel;

	if (!img->start || !k->stext || img->start == k->stext)
		return NULL;
	if (!is_same(set))
		return FOREIGN;
	k->moved = img->start - k->stext;
	return NULL;
}

/* The kernel that runs, by the cache if it has this very one. */
static const char *read_running(struct kallsyms *k)
{
	int dir = k->no_cache ? -1 : cachedir_open(NULL);
	size_t len = 0, again = 0;
	char *key = dir < 0 ? NULL : kcache_key(&len), *now;
	const char *problem = NULL;

	if (!key || !kcache_load(dir, k, key, len)) {
		problem = read_file(k, "/proc/kallsyms");
		/* A module may have come or gone meanwhile. */
		now = key && !problem ? kcache_key(&again) : NULL;
		if (now && again == len && !memcmp(key, now, len))
			kcache_store(dir, k, key, len);
		free(now);
	}
	free(key);
	if (dir >= 0)
		close(dir);
	return problem;
}

/* The file, once, whatever the log will say of its kernel. */
void kallsyms_prepare(struct images *set)
{
	const char *path = set->options.kallsyms;
	struct kallsyms *k = &set->kallsyms;

	if (k->file_read)
		return;
	k->file_read = true;
	k->path = path ? path : "/proc/kallsyms";
	k->file_problem = path ? read_file(k, path) : read_running(k);
}

static const char *read_own(struct images *set)
{
	if (!kallsyms_of_this_kernel(set))
		return FOREIGN;
	kallsyms_prepare(set);
	return set->kallsyms.file_problem;
}

int kallsyms_read(struct images *set)
{
	struct kallsyms *k = &set->kallsyms;

	if (k->read)
		return k->problem ? -1 : 0;
	k->read = true;
	k->nimage = set->n;
	k->problem = read_own(set);
	if (!k->problem)
		k->problem = compare_start(set);
	return k->problem ? -1 : 0;
}

/* For modules that came after it was read, and for code that the cache does not have. false:
 * there is no more. */
static bool read_again(struct images *set)
{
	struct kallsyms *k = &set->kallsyms;

	if (k->nimage == set->n && !k->cached)
		return false;
	k->no_cache = true;
	kallsyms_forget(k);
	k->read = false;
	k->moved = 0;
	return kallsyms_read(set) == 0;
}

/* ---- symbols ------------------------------------------------------------- */

/* How many begin at pc or before. */
static uint32_t count_up_to(const struct ksyms *list, uint64_t pc)
{
	uint32_t lo = 0, hi = list->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (list->symbol[mid].addr <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* Of the names that the address at list->symbol[i] has, the plainest. */
static const char *best_name(const char *text, const struct ksyms *list, uint32_t i)
{
	uint64_t addr = list->symbol[i].addr;
	const char *best = text + list->symbol[i].name;

	for (; i-- > 0 && list->symbol[i].addr == addr; ) {
		const char *name = text + list->symbol[i].name;
		size_t low = strspn(name, "_"), high = strspn(best, "_");

		if (low < high || (low == high && strcmp(name, best) < 0))
			best = name;
	}
	return best;
}

/* There are many, and few are asked for: each is made when it is. */
struct hwpmc_symbol *kallsyms_symbol(struct images *set, struct image *img,
				     uint64_t addr)
{
	const struct kallsyms *k = &set->kallsyms;
	uint32_t n = count_up_to(&k->kernel, addr - k->moved);
	uint64_t start, end;

	if (!n)
		return &img->unknown;
	start = k->kernel.symbol[n - 1].addr;
	end = n < k->kernel.n ? k->kernel.symbol[n].addr : start + 4096;
	if (addr - k->moved >= end)
		return &img->unknown;
	return image_insert_symbol(img, start + k->moved, end - start,
				   best_name(k->text, &k->kernel, n - 1));
}

static bool is_of(const struct kallsyms *k, uint32_t i, const struct image *img)
{
	return strcmp(k->text + k->modules.symbol[i].module, img->pub.path) == 0;
}

static bool is_known(const struct kallsyms *k, const struct image *img)
{
	for (uint32_t i = 0; i < k->modules.n; i++)
		if (is_of(k, i, img))
			return true;
	return false;
}

/*
 * Offsets into its text; addresses, where the log does not know the module. Its init
 * code lies apart, while it is there.
 */
static void find_module(struct images *set, struct image *img)
{
	const struct kallsyms *k = &set->kallsyms;
	const struct ksyms *list = &k->modules;
	uint64_t end = img->end ? img->end : UINT64_MAX;
	uint32_t i = img->start ? count_up_to(list, img->start - 1) : 0;

	for (; i < list->n && list->symbol[i].addr < end; i++)
		if (is_of(k, i, img))
			image_add_symbol(img, list->symbol[i].addr - img->start,
					 0, k->text + list->symbol[i].name, false);
}

static void load_module(struct images *set, struct image *img)
{
	find_module(set, img);
	if (!img->nsymbol && read_again(set) && !set->kallsyms.moved)
		find_module(set, img);
	if (!img->nsymbol)
		image_problem(img, is_known(&set->kallsyms, img) ? ELSEWHERE :
			      "kallsyms does not list the module: it was removed");
}

int kallsyms_load(struct images *set, struct image *img)
{
	if (kallsyms_read(set) < 0)
		return image_problem(img, set->kallsyms.problem);
	if (img->pub.kind == HWPMC_IMAGE_KERNEL)
		img->lazy = true;
	else if (set->kallsyms.moved)
		return image_problem(img, ELSEWHERE);
	else
		load_module(set, img);
	if (img->lazy || img->nsymbol)
		img->pub.file = stat_strdup(set->kallsyms.path);
	return img->pub.file ? 0 : -1;
}

const char *kallsyms_module_at(struct images *set, uint64_t pc)
{
	const struct kallsyms *k = &set->kallsyms;
	uint32_t n;

	/* No module lies in the kernel's text. */
	if (kallsyms_read(set) < 0 || k->moved || (pc >= k->stext && pc < k->etext))
		return NULL;
	/* The cache has no BPF programs. */
	if (k->cached && !read_again(set))
		return NULL;
	n = count_up_to(&k->modules, pc);
	return n ? k->text + k->modules.symbol[n - 1].module : NULL;
}
