/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * image.c - files that code lies in, each once, and their symbols: the objects. Where
 * symbols come from is not known here: see load.c. Lines are freed by images.c.
 */
#include <stdlib.h>
#include <string.h>

#include "stat.h"

/* Frames that stand for the reason of a chain that ends early. */
static void make_chain_ends(struct images *set)
{
	struct image *img;
	char path[64];

	for (uint32_t i = 1; i < HWPMC_CHAIN__COUNT; i++) {
		snprintf(path, sizeof(path), "[%s]", hwpmc_name_of_chain_end(i));
		img = image_get(set, path, HWPMC_IMAGE_CHAIN_END, NULL, 0, 0);
		set->chain_end[i] = img;
		if (img == set->unknown)
			continue;
		img->unknown.name = img->unknown.raw = img->pub.path;
		img->unknown.unknown = false;
	}
}

int images_init(struct images *set, const struct hwpmc_symbol_options *o)
{
	table_init();
	memset(set, 0, sizeof(*set));
	set->options = *o;
	set->unknown = image_get(set, "[unknown]", HWPMC_IMAGE_UNKNOWN, NULL, 0, 0);
	set->hidden = image_get(set, "[hidden kernel]", HWPMC_IMAGE_HIDDEN, NULL,
				0, 0);
	set->kernel = image_get(set, "[kernel]", HWPMC_IMAGE_KERNEL, NULL, 0, 0);
	make_chain_ends(set);
	/* What could not be made has become the first, or none is there. */
	return stat_nomem ? -1 : 0;
}

static void symbol_free(struct hwpmc_symbol *s)
{
	if (s->name != s->raw)
		free((void *)s->name);
	free((void *)s->raw);
	free(s);
}

static void symbols_free(struct hwpmc_symbol **s, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		symbol_free(s[i]);
	free(s);
}

bool image_retire(struct image *img, struct hwpmc_symbol *s)
{
	if (!stat_room(&img->retired, img->nretired, sizeof(s)))
		return false;
	img->retired[img->nretired++] = s;
	return true;
}

void image_forget_symbols(struct image *img)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < img->nsymbol; i++)
		if (!image_retire(img, img->symbol[i]))
			img->symbol[kept++] = img->symbol[i];
	img->nsymbol = kept;
}

void image_free_symbols(struct image *img)
{
	symbols_free(img->retired, img->nretired);
	symbols_free(img->symbol, img->nsymbol);
}

void image_free(struct image *img)
{
	symbols_free(img->inlined, img->ninlined);
	image_free_symbols(img);
	free(img->segment);
	free(img->bounds);
	free(img->code);
	free((void *)img->pub.path);
	free((void *)img->pub.build_id);
	free((void *)img->pub.file);
	free((void *)img->pub.code);
	free((void *)img->root);
	free(img);
}

int image_problem(struct image *img, const char *why)
{
	img->pub.problem = why;
	return -1;
}

#define COPIED \
	"part of its code ran in anonymous memory, of which 16 pages at most were compared with the file"

/* Another doubt is the greater one. */
static void doubt_copy(struct image *img)
{
	if (img->copied && !img->pub.doubt && !img->pub.problem)
		img->pub.doubt = COPIED;
}

void image_note_copy(struct image *img)
{
	img->copied = true;
	if (img->loaded)
		doubt_copy(img);
}

/* What tells images apart. */
struct identity {
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_len;
	int32_t pid;
	struct file_id ran;
};

static uint64_t identity_hash(const struct identity *of)
{
	uint64_t h = table_mix(table_hash_text(of->path), (uint32_t)of->pid);

	h = table_mix(h, table_hash_bytes(of->build_id, of->build_id_len));
	return table_mix(h, file_id_hash(&of->ran));
}

static bool same_image(const void *items, uint32_t i, const void *key)
{
	const struct image *img = ((const struct images *)items)->all[i];
	const struct identity *of = key;
	uint32_t len = of->build_id_len;

	return img->pid == of->pid && strcmp(img->pub.path, of->path) == 0 &&
	       img->pub.build_id_len == len &&
	       (!len || memcmp(img->pub.build_id, of->build_id, len) == 0) &&
	       file_id_same(&img->ran, &of->ran);
}

static bool name_image(struct image *img, const char *path)
{
	const char *slash;

	img->pub.path = stat_strdup(path);
	if (!img->pub.path)
		return false;
	slash = strrchr(img->pub.path, '/');
	img->pub.name = slash && slash[1] && path[0] == '/' && path[1] != '/' ?
			slash + 1 : img->pub.path;
	return true;
}

void image_set_build_id(struct image *img, const uint8_t *id, uint32_t len)
{
	uint8_t *copy;

	if (!len || img->pub.build_id_len)
		return;
	copy = stat_alloc(1, len);
	if (!copy)
		return;
	memcpy(copy, id, len);
	img->pub.build_id = copy;
	img->pub.build_id_len = len;
}

static struct image *new_image(const struct images *set,
			       const struct identity *of,
			       enum hwpmc_image_kind kind)
{
	struct image *img = stat_alloc(1, sizeof(*img));

	if (!img || !name_image(img, of->path)) {
		free(img);
		return NULL;
	}
	img->pub.kind = kind;
	img->pub.lines_owner = img->pub.lines_group = NOBODY;
	img->pid = of->pid;
	img->ran = of->ran;
	img->demangle = !set->options.no_demangle;
	image_set_build_id(img, of->build_id, of->build_id_len);
	img->unknown = (struct hwpmc_symbol){
		.image = &img->pub, .name = "[unknown]", .raw = "[unknown]",
		.unknown = true,
	};
	return img;
}

static struct image *get_image(struct images *set, const struct identity *of,
			       enum hwpmc_image_kind kind)
{
	uint64_t hash = identity_hash(of);
	uint32_t i = table_find(&set->table, hash, same_image, set, of);
	struct image *img;

	if (i != TABLE_NONE)
		return set->all[i];
	if (!table_room(&set->table) ||
	    !stat_room(&set->all, set->n, sizeof(*set->all)))
		return set->unknown;
	img = new_image(set, of, kind);
	if (!img)
		return set->unknown;
	set->all[set->n++] = img;
	table_put(&set->table, hash);
	return img;
}

struct image *image_get(struct images *set, const char *path,
			enum hwpmc_image_kind kind, const uint8_t *build_id,
			uint32_t build_id_len, int32_t pid)
{
	struct identity of = {
		.path = path, .build_id = build_id, .build_id_len = build_id_len,
		.pid = pid,
	};

	return get_image(set, &of, kind);
}

struct image *image_get_file(struct images *set, const char *path,
			     const struct file_id *ran)
{
	struct identity of = { .path = path, .ran = *ran };

	return get_image(set, &of, HWPMC_IMAGE_ELF);
}

static uint64_t image_hash(const struct image *img)
{
	return identity_hash(&(struct identity){
		img->pub.path, img->pub.build_id, img->pub.build_id_len,
		img->pid, img->ran,
	});
}

void images_index(struct images *set)
{
	table_clear(&set->table);
	for (uint32_t i = 0; i < set->n; i++) {
		if (!table_room(&set->table))
			return;
		table_put(&set->table, image_hash(set->all[i]));
	}
}

/* ---- symbols ------------------------------------------------------------- */

#define PLT	"@plt"

/* "@@GLIBC_2.34" or "@GLIBC_2.2.5", as linkers write versions of a library's symbols. */
static bool is_version(const char *at)
{
	at += at[1] == '@' ? 2 : 1;
	return *at && !at[strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				     "0123456789_.-")];
}

/*
 * What a name means to people, or raw itself: a name of generated code may have an @ in it.
 * "name@plt" is made here and keeps its end, a version is left out.
 */
static const char *nice_name(struct image *img, const char *raw)
{
	const char *at = img->pub.kind == HWPMC_IMAGE_JIT ? NULL : strchr(raw, '@');
	bool stub = at && !strcmp(at, PLT);
	char *base, *nice;

	if (at && (at == raw || (!stub && !is_version(at))))
		at = NULL;
	if (raw[0] != '_' && (!at || stub))
		return raw;
	if (!at)
		return demangle(&img->demangled, raw) ?: raw;
	base = stat_strdup(raw);
	if (!base)
		return raw;
	base[at - raw] = 0;
	nice = raw[0] == '_' ? demangle(&img->demangled, base) : NULL;
	if (nice) {
		free(base);
		base = nice;
	}
	if (!stub)
		return base;
	nice = stat_join(base, PLT);
	free(base);
	return nice ? nice : raw;
}

static struct hwpmc_symbol *new_symbol(struct image *img, const char *raw,
				       bool demangled)
{
	struct hwpmc_symbol *s = stat_alloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->image = &img->pub;
	s->raw = stat_strdup(raw);
	if (!s->raw) {
		free(s);
		return NULL;
	}
	s->name = demangled && img->demangle ? nice_name(img, s->raw) : s->raw;
	return s;
}

struct hwpmc_symbol *image_add_symbol(struct image *img, uint64_t start,
				      uint64_t size, const char *raw,
				      bool demangle)
{
	struct hwpmc_symbol *s;

	if (!stat_room(&img->symbol, img->nsymbol, sizeof(s)))
		return NULL;
	s = new_symbol(img, raw, demangle);
	if (!s)
		return NULL;
	s->start = start;
	s->size = size;
	img->symbol[img->nsymbol++] = s;
	return s;
}

static int by_start(const void *a, const void *b)
{
	const struct hwpmc_symbol *x = *(struct hwpmc_symbol *const *)a;
	const struct hwpmc_symbol *y = *(struct hwpmc_symbol *const *)b;
	size_t low, high;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	/* With a size before without; then the plainest of several names. */
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	if (x->local != y->local)
		return x->local ? 1 : -1;
	if (x->weak != y->weak)
		return x->weak ? 1 : -1;
	low = strspn(x->raw, "_");
	high = strspn(y->raw, "_");
	if (low != high)
		return low < high ? -1 : 1;
	return strcmp(x->raw, y->raw);
}

/* The end of the section that has the address; 0: none has it, UINT64_MAX: not known. */
static uint64_t end_of_code(const struct image *img, uint64_t addr)
{
	uint32_t lo = 0, hi = img->ncode;
	const struct segment *s;

	if (!img->ncode)
		return UINT64_MAX;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (img->code[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	s = lo ? &img->code[lo - 1] : NULL;
	return s && addr - s->addr < s->size ? s->addr + s->size : 0;
}

/* Marks of a linker's, such as the end of all text, and of data, have no size and no code. */
static void drop_marks(struct image *img)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < img->nsymbol; i++) {
		struct hwpmc_symbol *s = img->symbol[i];

		if (s->size || end_of_code(img, s->start))
			img->symbol[kept++] = s;
		else
			symbol_free(s);
	}
	img->nsymbol = kept;
}

/* What has no size goes on to the next, and not beyond its section or its function. */
static void set_size(const struct image *img, struct hwpmc_symbol *s, uint64_t next)
{
	uint64_t end = end_of_code(img, s->start), limit = bounds_limit(img, s->start);

	if (end > limit)
		end = limit;
	if (!s->size)
		s->size = (end < next ? end : next) - s->start;
}

/* Another name, or a mark within a function. */
static bool is_second(const struct hwpmc_symbol *s,
		      const struct hwpmc_symbol *before, uint64_t end)
{
	return s->start == before->start || (!s->size && s->start < end);
}

void image_sort_symbols(struct image *img)
{
	struct hwpmc_symbol **s = img->symbol;
	uint64_t end;
	uint32_t n = 0;

	drop_marks(img);
	if (!img->nsymbol)
		return;
	qsort(s, img->nsymbol, sizeof(*s), by_start);
	end = s[0]->start + s[0]->size;
	for (uint32_t i = 1; i < img->nsymbol; i++) {
		if (is_second(s[i], s[n], end)) {
			symbol_free(s[i]);
			continue;
		}
		set_size(img, s[n], s[i]->start);
		s[++n] = s[i];
		if (end < s[n]->start + s[n]->size)
			end = s[n]->start + s[n]->size;
	}
	img->nsymbol = n + 1;
	set_size(img, s[n], img->ncode ? UINT64_MAX : s[n]->start + 4096);
}

static bool symbol_covers(const struct hwpmc_symbol *s, uint64_t addr)
{
	return addr - s->start < s->size;
}

/* How many begin at addr or before. */
static uint32_t count_up_to(const struct image *img, uint64_t addr)
{
	uint32_t lo = 0, hi = img->nsymbol;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (img->symbol[mid]->start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const char *image_name_at(const struct image *img, uint64_t start)
{
	uint32_t n = count_up_to(img, start);

	return n && img->symbol[n - 1]->start == start ? img->symbol[n - 1]->raw : NULL;
}

struct hwpmc_symbol *image_insert_symbol(struct image *img, uint64_t start,
					 uint64_t size, const char *raw)
{
	uint32_t at = count_up_to(img, start), n = img->nsymbol;
	struct hwpmc_symbol *s;

	if (at && img->symbol[at - 1]->start == start)
		return img->symbol[at - 1];
	s = image_add_symbol(img, start, size, raw, false);
	if (!s)
		return &img->unknown;
	memmove(&img->symbol[at + 1], &img->symbol[at], (n - at) * sizeof(s));
	img->symbol[at] = s;
	return s;
}

/* NULL: none. */
static struct hwpmc_symbol *covering_symbol(const struct image *img, uint64_t addr)
{
	uint32_t n = count_up_to(img, addr);

	/* Functions may lie in others, of hand-written code. */
	for (uint32_t i = n; i-- > 0 && n - i <= 8; )
		if (symbol_covers(img->symbol[i], addr))
			return img->symbol[i];
	return NULL;
}

/* The function of .eh_frame that has the address, unless a symbol goes beyond its start. */
static struct hwpmc_symbol *made_up_symbol(struct image *img, uint64_t addr)
{
	const struct segment *f = bounds_at(img, addr);

	if (!f || covering_symbol(img, f->addr))
		return NULL;
	return bounds_symbol(img, addr);
}

struct hwpmc_symbol *image_symbol_at(struct image *img, uint64_t addr)
{
	struct hwpmc_symbol *s = covering_symbol(img, addr);

	if (s && !s->made_up)
		return s;
	/* Most stripped programs have a few names: it matters where they do not help. */
	if (img->stripped && !img->pub.problem)
		image_problem(img, IMAGE_STRIPPED);
	if (!s)
		s = made_up_symbol(img, addr);
	return s ? s : &img->unknown;
}

/* ---- inlined functions --------------------------------------------------- */

/* By name; where they belong in the sorted array if it is not there. */
static uint32_t inlined_slot(const struct image *img, const char *raw)
{
	uint32_t lo = 0, hi = img->ninlined;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (strcmp(img->inlined[mid]->raw, raw) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct hwpmc_symbol *image_inlined(struct image *img, const char *raw)
{
	uint32_t at;
	struct hwpmc_symbol *s;

	if (!raw)
		return &img->unknown;
	at = inlined_slot(img, raw);
	if (at < img->ninlined && !strcmp(img->inlined[at]->raw, raw))
		return img->inlined[at];
	if (!stat_room(&img->inlined, img->ninlined, sizeof(s)))
		return &img->unknown;
	s = new_symbol(img, raw, true);
	if (!s)
		return &img->unknown;
	s->inlined = true;
	memmove(&img->inlined[at + 1], &img->inlined[at],
		(img->ninlined++ - at) * sizeof(s));
	img->inlined[at] = s;
	return s;
}
