/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * speedscope.c - JSON for speedscope: a sampled profile for each event and
 * thread, samples in the order of time; equal ones in a row are one with their
 * number as its weight.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "export.h"

static void put_stack(FILE *f, struct ids *functions, const struct hwpmc_stack *s)
{
	fputc('[', f);
	for (uint32_t i = s->nframe; i-- > 0; )
		fprintf(f, i ? "%" PRIu32 "," : "%" PRIu32,
			ids_ptr(functions, s->frame[i]->symbol));
	fputc(']', f);
}

/* How many samples from i on have the same stack. */
static uint32_t run_of(const struct track *t,
		       const struct hwpmc_sample_point *point, uint32_t i)
{
	uint32_t n = 1;

	while (i + n < t->n &&
	       point[t->point[i + n]].stack == point[t->point[i]].stack)
		n++;
	return n;
}

/* Of n samples from i on. */
static uint64_t weight_of(const struct track *t, const struct hwpmc_sample_point *point,
			  uint32_t i, uint32_t n)
{
	uint64_t weight = 0;

	while (n--)
		weight += point[t->point[i + n]].weight;
	return weight;
}

static void put_track(const struct export *x, FILE *f, const struct track *t,
		      const struct hwpmc_sample_point *point,
		      struct ids *functions)
{
	uint32_t run;
	char name[EXPORT_NAME];

	fputs("{\"type\":\"sampled\",\"name\":", f);
	fmt_json_string(f, export_track_name(name, x, t));
	fprintf(f, ",\"unit\":\"none\",\"startValue\":0,\"endValue\":%" PRIu64
		",\"samples\":[", weight_of(t, point, 0, t->n));
	for (uint32_t i = 0; i < t->n; i += run) {
		run = run_of(t, point, i);
		fputs(i ? ",\n" : "\n", f);
		put_stack(f, functions, &x->stack[point[t->point[i]].stack]);
	}
	fputs("],\"weights\":[", f);
	for (uint32_t i = 0; i < t->n; i += run) {
		run = run_of(t, point, i);
		fprintf(f, i ? ",%" PRIu64 : "%" PRIu64, weight_of(t, point, i, run));
	}
	fputs("]}", f);
}

static void put_frames(FILE *f, const struct ids *functions)
{
	char name[EXPORT_NAME];

	for (uint32_t i = 0; i < functions->n; i++) {
		const struct hwpmc_symbol *s =
			(void *)(uintptr_t)functions->key[i].a;

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", f);
		fmt_json_string(f, export_function(name, s));
		fputs(",\"file\":", f);
		fmt_json_string(f, s->image->path);
		fputc('}', f);
	}
}

void export_speedscope(const struct export *x, FILE *f)
{
	const struct hwpmc_sample_point *point;
	struct ids functions = { 0 };
	struct track *track;
	uint32_t n;

	point = hwpmc_profile_timeline(x->profile, &n);
	track = export_tracks(x, &n);
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
	      "\n\"exporter\":\"hwpmc " VERSION "\",\"name\":", f);
	fmt_json_string(f, export_title(x));
	fputs(",\n\"profiles\":[", f);
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? ",\n" : "\n", f);
		put_track(x, f, &track[i], point, &functions);
	}
	fputs("],\n\"shared\":{\"frames\":[", f);
	put_frames(f, &functions);
	fputs("]}}\n", f);
	ids_free(&functions);
	export_tracks_free(track, n);
}
