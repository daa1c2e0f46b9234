/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gprof.c - files for gprof: a directory for each event, and in it a file for each
 * program, library and module that was hit. One image has one name in all of them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "common/output.h"
#include "export/export.h"
#include "view.h"

#define NAME		200	/* bytes of a name, and what makes it unique */
#define MOST_ALIKE	999

struct gprof {
	struct export x;
	struct ids images;	/* that were hit */
	uint64_t *samples;	/* by image and event */
	char (*name)[NAME + 8];	/* of the images' files; "": it has none */
	char (*event)[NAME + 8];	/* of the directories */
};

static const struct hwpmc_image *image_of(const struct gprof *g, uint32_t i)
{
	return (void *)(uintptr_t)g->images.key[i].a;
}

static uint64_t *samples_of(const struct gprof *g, uint32_t image,
			    uint32_t event)
{
	return &g->samples[image * (size_t)g->x.nevent + event];
}

static void gprof_count(struct gprof *g)
{
	for (uint32_t i = 0; i < g->x.nstack; i++)
		ids_ptr(&g->images, g->x.stack[i].frame[0]->image);
	g->samples = must_calloc((size_t)g->images.n * g->x.nevent,
				 sizeof(*g->samples));
	for (uint32_t i = 0; i < g->x.nstack; i++) {
		const struct hwpmc_stack *s = &g->x.stack[i];

		*samples_of(g, ids_ptr(&g->images, s->frame[0]->image),
			    s->event) += s->count;
	}
}

/* ---- names --------------------------------------------------------------- */

/* "[kernel]" without its brackets; nothing in it leaves the directory. */
static void file_name(char *out, const char *name)
{
	size_t len = strlen(name);

	if (len > 2 && name[0] == '[' && name[len - 1] == ']') {
		name++;
		len -= 2;
	}
	if (len > NAME - 1)
		len = NAME - 1;
	for (size_t i = 0; i < len; i++)
		out[i] = name[i] == '/' ? '_' : name[i];
	out[len] = '\0';
	fmt_clean(out, '_');
	if (out[0] == '.' || !out[0])
		out[0] = '_';
}

/* Make the last of them differ from the others. -1: there are too many alike. */
static int make_unique(char (*name)[NAME + 8], uint32_t last)
{
	size_t len = strlen(name[last]);
	uint32_t i = 0;

	for (int n = 0; n <= MOST_ALIKE; n++) {
		if (n)
			sprintf(name[last] + len, "~%03d", n);
		for (i = 0; i < last && strcmp(name[i], name[last]); i++)
			;
		if (i == last)
			return 0;
	}
	msg("cannot name a file: %d programs and libraries have the name '%.*s'",
	    MOST_ALIKE + 1, (int)len, name[last]);
	return -1;
}

static int name_all(struct gprof *g)
{
	g->name = must_calloc(g->images.n, sizeof(*g->name));
	g->event = must_calloc(g->x.nevent, sizeof(*g->event));
	for (uint32_t i = 0; i < g->images.n; i++) {
		if (!export_gmon_can(image_of(g, i)))
			continue;
		file_name(g->name[i], image_of(g, i)->name);
		if (make_unique(g->name, i) < 0)
			return -1;
	}
	for (uint32_t e = 0; e < g->x.nevent; e++) {
		file_name(g->event[e], g->x.event[e].name);
		if (make_unique(g->event, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- files --------------------------------------------------------------- */

static int cannot_write(const char *path)
{
	msg("cannot write '%s': %s", path, strerror(errno));
	return -1;
}

/* path: of the directory, for a message. */
static int write_image(const struct export *x, const struct hwpmc_image *image,
		       int dir, const char *path, const char *name)
{
	char file[NAME + 16];
	char *whole = NULL;
	int rc = 0, bad;
	FILE *f;

	snprintf(file, sizeof(file), "%s.gmon", name);
	if (asprintf(&whole, "%s/%s", path, file) < 0)
		must_fail();
	f = output_fopen_at(dir, file);
	if (!f) {
		rc = cannot_write(whole);
	} else {
		export_gmon_image(x, image, f);
		bad = ferror(f);
		bad |= fclose(f);
		rc = bad ? cannot_write(whole) : 0;
	}
	free(whole);
	return rc;
}

/* The stacks of one event, for a writer that knows of one. */
static struct export of_event(const struct export *all, uint32_t event)
{
	struct hwpmc_stack *stack = must_calloc(all->nstack, sizeof(*stack));
	struct export x = *all;

	x.nstack = 0;
	for (uint32_t i = 0; i < all->nstack; i++)
		if (all->stack[i].event == event)
			stack[x.nstack++] = all->stack[i];
	x.stack = stack;
	return x;
}

static int write_event(const struct gprof *g, const char *dir, uint32_t event)
{
	struct export x = of_event(&g->x, event);
	char *path = NULL;
	int fd, rc;

	if (asprintf(&path, "%s/%s", dir, g->event[event]) < 0)
		must_fail();
	fd = output_mkdir(path);
	rc = fd < 0 ? cannot_write(path) : 0;
	for (uint32_t i = 0; !rc && i < g->images.n; i++)
		if (*g->name[i] && *samples_of(g, i, event))
			rc = write_image(&x, image_of(g, i), fd, path, g->name[i]);
	if (fd >= 0)
		close(fd);
	free(path);
	free((void *)x.stack);
	return rc;
}

/* ---- which file is what -------------------------------------------------- */

static void put_quoted(FILE *f, const char *s)
{
	fputc('"', f);
	fmt_put_escaped(f, s, "\"\\");
	fputc('"', f);
}

static void write_map(const struct gprof *g, FILE *f)
{
	char file[NAME + 16];

	for (uint32_t i = 0; i < g->images.n; i++) {
		put_quoted(f, image_of(g, i)->path);
		fputs(" => ", f);
		snprintf(file, sizeof(file), "%s.gmon", g->name[i]);
		if (*g->name[i])
			put_quoted(f, file);
		else
			fputc('-', f);
		for (uint32_t e = 0; e < g->x.nevent; e++)
			if (*samples_of(g, i, e))
				fprintf(f, " %s/%" PRIu64, g->event[e],
					*samples_of(g, i, e));
		fputc('\n', f);
	}
}

static uint64_t samples_without_file(const struct gprof *g)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < g->images.n; i++)
		for (uint32_t e = 0; e < g->x.nevent && !*g->name[i]; e++)
			n += *samples_of(g, i, e);
	return n;
}

int view_gprof(struct hwpmc_profile *p, const char *dir, FILE *map,
	       uint64_t *without)
{
	struct gprof g = { .x = export_of(p, NULL) };
	int rc;

	gprof_count(&g);
	rc = name_all(&g);
	for (uint32_t e = 0; !rc && e < g.x.nevent; e++)
		rc = write_event(&g, dir, e);
	if (!rc && map)
		write_map(&g, map);
	*without = samples_without_file(&g);
	ids_free(&g.images);
	free(g.samples);
	free(g.name);
	free(g.event);
	return rc;
}
