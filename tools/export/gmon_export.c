/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gmon_export.c - gmon.out for gprof: a histogram of one image's samples and the
 * calls within it, seen on their stacks. A bucket holds 16 bits; what is more goes
 * to another histogram of the same addresses, which gprof adds up. What the file
 * cannot hold, samples elsewhere, is counted in a message.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/msg.h"
#include "export.h"
#include "gmon.h"

struct gmon {
	FILE *f;
	const struct hwpmc_image *image;
	unsigned int word;	/* bytes of an address */
	struct gmon_bucket *bucket;
	uint32_t nbucket;
	struct ids arcs;	/* address of the call, address of the callee */
	uint64_t *calls;
	uint32_t rate;		/* ticks of a bucket for a sample */
	uint64_t held;
};

static bool is_meant(const struct hwpmc_image *image, const char *name)
{
	return strcmp(image->path, name) == 0 || strcmp(image->name, name) == 0;
}

/* Only what has a file of its own, with addresses, can be the program. */
bool export_gmon_can(const struct hwpmc_image *image)
{
	return image->kind == HWPMC_IMAGE_ELF ||
	       image->kind == HWPMC_IMAGE_KERNEL ||
	       image->kind == HWPMC_IMAGE_MODULE ||
	       image->kind == HWPMC_IMAGE_VDSO;
}

static const struct hwpmc_image *choose_image(const struct export *x)
{
	const struct hwpmc_image *best = x->image ? NULL : export_main_image(x);
	struct hwpmc_image *const *image;
	uint32_t n;

	if (best)
		return best;
	image = hwpmc_profile_images(x->profile, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (!export_gmon_can(image[i]) ||
		    (x->image && !is_meant(image[i], x->image)))
			continue;
		if (!best || image[i]->samples > best->samples)
			best = image[i];
	}
	return best;
}

/* 4 for the few that are 32-bit programs. */
static unsigned int word_of(const struct hwpmc_image *image)
{
	struct hwpmc_guard guard = { .limit = UINT64_MAX };
	int fd = image->file ? hwpmc_open_guarded(&guard, image->file, NULL) : -1;
	char ident[5] = "";
	ssize_t n = 0;

	if (fd >= 0) {
		n = read(fd, ident, sizeof(ident));
		close(fd);
	}
	return n == sizeof(ident) && ident[4] == 1 ? 4 : 8;
}

/*
 * gprof gives a bucket in which a function begins to that function. Where this is
 * one byte too early, take the bucket before.
 */
static uint64_t bucket_of(const struct hwpmc_frame *frame)
{
	const struct hwpmc_symbol *s = frame->symbol;
	uint64_t at = frame->addr / GMON_BUCKET;

	if (!s->unknown && (s->start + s->size) % GMON_BUCKET &&
	    at == (s->start + s->size) / GMON_BUCKET && at > s->start / GMON_BUCKET)
		at--;
	return at;
}

static void add_arcs(struct gmon *g, const struct hwpmc_stack *s)
{
	for (uint32_t i = 1; i < s->nframe; i++) {
		const struct hwpmc_frame *callee = s->frame[i - 1];
		uint32_t id, before = g->arcs.n;

		if (s->frame[i]->image != g->image ||
		    callee->image != g->image || callee->symbol->unknown)
			continue;
		id = ids_get(&g->arcs, s->frame[i]->addr, callee->symbol->start);
		if (g->arcs.n > before && !(before & (before - 1)))
			g->calls = must_realloc(g->calls, before ? 2 * before : 1,
						sizeof(*g->calls));
		if (g->arcs.n > before)
			g->calls[id] = 0;
		g->calls[id] += s->taken;
	}
}

#define RATE_MAX	100
#define BUCKET_FIT	UINT16_MAX

/* Between 1 and that of all samples. */
static uint64_t ticks_of(double ticks, uint64_t most)
{
	if (!(ticks < most))
		return most;
	return ticks < 1 ? 1 : ticks + 0.5;
}

/*
 * Events of samples with periods of their own, in parts of a mean sample: a bucket has a number
 * of 16 bits, so all events would make a large file, and whole samples would lose functions
 * with short periods.
 */
static void scale_buckets(struct gmon *g, const struct hwpmc_profile_event *ev)
{
	double mean = (double)ev->samples / ev->taken;
	uint64_t most = 1;

	g->nbucket = gmon_merge(g->bucket, g->nbucket);
	for (uint32_t i = 0; i < g->nbucket; i++)
		most = g->bucket[i].count > most ? g->bucket[i].count : most;
	g->rate = RATE_MAX;
	if (most / mean * g->rate > BUCKET_FIT)
		g->rate = BUCKET_FIT * mean / most;
	g->rate += !g->rate;
	for (uint32_t i = 0; i < g->nbucket; i++)
		g->bucket[i].count = ticks_of(g->bucket[i].count / mean * g->rate,
					      ev->taken * g->rate);
}

static void collect_samples(struct gmon *g, const struct export *x)
{
	const struct hwpmc_profile_event *ev = NULL;
	uint32_t n = 0;

	g->bucket = must_calloc(x->nstack, sizeof(*g->bucket));
	for (uint32_t i = 0; i < x->nstack; i++) {
		const struct hwpmc_stack *s = &x->stack[i];

		add_arcs(g, s);
		if (s->frame[0]->image != g->image)
			continue;
		ev = &x->event[s->event];
		g->held += s->taken;
		g->bucket[n++] = (struct gmon_bucket){
			bucket_of(s->frame[0]), s->count,
		};
	}
	g->nbucket = n;
	if (ev && ev->frequency && ev->taken)
		scale_buckets(g, ev);
}

static void put_arcs(struct gmon *g)
{
	for (uint32_t i = 0; i < g->arcs.n; i++) {
		uint64_t left = g->calls[i];

		while (left) {
			uint32_t now = left > UINT32_MAX ? UINT32_MAX : left;

			gmon_put_arc(g->f, g->word, g->arcs.key[i].a,
				     g->arcs.key[i].b, now);
			left -= now;
		}
	}
}

static bool has_one_event(const struct export *x)
{
	uint32_t n = 0;

	for (uint32_t e = 0; e < x->nevent; e++)
		n += x->event[e].samples > 0;
	return n == 1;
}

int export_gmon_check(const struct export *x)
{
	const struct hwpmc_image *image = choose_image(x);

	if (x->nstack && !has_one_event(x))
		msg("gmon holds one event and this log has several: choose one with -e");
	else if (!image && x->image)
		msg("no image '%s' in this log; hwpmc report -s image lists them",
		    x->image);
	else if (!image || !image->samples)
		msg("gmon needs a program with samples, and this log has none");
	else
		return 0;
	return -1;
}

uint64_t export_gmon_image(const struct export *x,
			   const struct hwpmc_image *image, FILE *f)
{
	struct gmon g = { .f = f, .image = image, .rate = 1 };

	g.word = word_of(g.image);
	collect_samples(&g, x);
	gmon_begin(f);
	gmon_put_buckets(f, g.word, g.rate, g.bucket, g.nbucket);
	put_arcs(&g);
	ids_free(&g.arcs);
	free(g.calls);
	free(g.bucket);
	return g.held;
}

void export_gmon(const struct export *x, FILE *f)
{
	const struct hwpmc_image *image = choose_image(x);
	uint64_t all = 0, held = export_gmon_image(x, image, f);

	for (uint32_t i = 0; i < x->nstack; i++)
		all += x->stack[i].taken;
	msg("%" PRIu64 " of %" PRIu64 " samples are in %s; show them with: gprof '%s' FILE",
	    held, all, image->name, image->file ? image->file : image->path);
}
