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

#include "stat.h"

#define HIDDEN	"kallsyms shows no addresses: be root, or set kernel.kptr_restrict=0"
#define UNREAD	"kallsyms cannot be read"
#define FOREIGN	"the log is of another kernel than the one that runs here: give it --kernel or --kallsyms"
#define ELSEWHERE "the module is not where it was in the log: give it --kernel with its file"

static bool is_code(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

static void add_line(struct kallsyms *k, char *line)
{
	char *rest, *type, *name, *module;
	struct ksym *s;
	uint64_t addr;

	addr = strtoull(line, &rest, 16);
	type = strtok_r(rest, " \t\n", &rest);
	name = strtok_r(NULL, " \t\n", &rest);
	module = strtok_r(NULL, " \t\n", &rest);
	if (!type || !name || !addr || !is_code(*type))
		return;
	if (!module && strcmp(name, "_stext") == 0)
		k->stext = addr;
	if (!module && strcmp(name, "_etext") == 0)
		k->etext = addr;
	if (!stat_room(&k->symbol, k->n, sizeof(*k->symbol)))
		return;
	s = &k->symbol[k->n];
	*s = (struct ksym){ .addr = addr, .name = stat_strdup(name) };
	if (!s->name)
		return;
	s->module = module ? stat_strdup(module) : NULL;
	k->n++;
}

static int by_addr(const void *a, const void *b)
{
	const struct ksym *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static const char *read_file(struct kallsyms *k, const char *path)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		return UNREAD;
	while (getline(&line, &size, f) > 0)
		add_line(k, line);
	free(line);
	fclose(f);
	if (!k->n)
		return HIDDEN;
	qsort(k->symbol, k->n, sizeof(*k->symbol), by_addr);
	return NULL;
}

static void forget(struct kallsyms *k)
{
	for (uint32_t i = 0; i < k->n; i++) {
		free(k->symbol[i].name);
		free(k->symbol[i].module);
	}
	free(k->symbol);
	k->symbol = NULL;
	k->n = 0;
}

void kallsyms_free(struct kallsyms *k)
{
	forget(k);
}

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

/* Who named a file knows what he does. */
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
 * been rounded to pages; by its build-id; or because somebody says so.
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

int kallsyms_read(struct images *set)
{
	const char *path = set->options.kallsyms;
	struct kallsyms *k = &set->kallsyms;

	if (k->read)
		return k->problem ? -1 : 0;
	k->read = true;
	k->nimage = set->n;
	k->path = path ? path : "/proc/kallsyms";
	k->problem = kallsyms_of_this_kernel(set) ? read_file(k, k->path) : FOREIGN;
	if (!k->problem)
		k->problem = compare_start(set);
	return k->problem ? -1 : 0;
}

/* Modules that came after it was read. */
static void read_again(struct images *set)
{
	struct kallsyms *k = &set->kallsyms;

	if (!k->read || k->nimage == set->n)
		return;
	forget(k);
	k->read = false;
	k->moved = 0;
}

/* ---- to images ----------------------------------------------------------- */

static void load_kernel(struct images *set, struct image *img)
{
	struct kallsyms *k = &set->kallsyms;

	for (uint32_t i = 0; i < k->n; i++)
		if (!k->symbol[i].module)
			image_add_symbol(img, k->symbol[i].addr + k->moved, 0,
					 k->symbol[i].name, false);
}

/* Offsets into its text; addresses, where the log does not know the module. */
static void load_module(struct images *set, struct image *img)
{
	struct kallsyms *k = &set->kallsyms;
	bool elsewhere = false;

	for (uint32_t i = 0; i < k->n; i++) {
		const struct ksym *s = &k->symbol[i];

		if (!s->module || strcmp(s->module, img->pub.path))
			continue;
		if (img->end && (s->addr < img->start || s->addr >= img->end))
			elsewhere = true;
		else
			image_add_symbol(img, s->addr - img->start, 0, s->name,
					 false);
	}
	/* Its init code lies apart, while it is there. */
	if (elsewhere && !img->nsymbol)
		image_problem(img, ELSEWHERE);
	else if (!img->nsymbol)
		image_problem(img, "kallsyms does not know it: it was removed");
}

int kallsyms_load(struct images *set, struct image *img)
{
	if (img->pub.kind == HWPMC_IMAGE_MODULE)
		read_again(set);
	if (kallsyms_read(set) < 0)
		return image_problem(img, set->kallsyms.problem);
	if (img->pub.kind == HWPMC_IMAGE_KERNEL)
		load_kernel(set, img);
	else if (set->kallsyms.moved)
		return image_problem(img, ELSEWHERE);
	else
		load_module(set, img);
	if (img->nsymbol)
		img->pub.file = stat_strdup(set->kallsyms.path);
	return img->nsymbol ? 0 : -1;
}

static const struct ksym *find(const struct kallsyms *k, uint64_t pc)
{
	uint32_t lo = 0, hi = k->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (k->symbol[mid].addr <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &k->symbol[lo - 1] : NULL;
}

struct image *kallsyms_module(struct images *set, uint64_t pc)
{
	const struct ksym *s;
	struct image *img;

	if (kallsyms_read(set) < 0 || set->kallsyms.moved)
		return NULL;
	s = find(&set->kallsyms, pc);
	if (!s || !s->module)
		return NULL;
	img = image_get(set, s->module, HWPMC_IMAGE_MODULE, NULL, 0, 0);
	/* What has a mapping lies there and nowhere else. */
	if (img->end || image_symbol(set, img, pc)->unknown)
		return NULL;
	return img;
}
