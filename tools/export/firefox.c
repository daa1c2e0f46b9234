/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * firefox.c - JSON for the Firefox Profiler: a processed profile of version
 * 57, which newer front ends upgrade by themselves. A thread for each thread (and
 * event, if there are several) with tables of its own; strings and libraries are
 * shared by all. Columns are arrays of equal length.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/fmt.h"
#include "common/missing.h"
#include "common/msg.h"
#include "export.h"

#define VERSION_PROCESSED	57
#define VERSION_GECKO		31	/* which the processed one is made after */

enum category { CATEGORY_OTHER, CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_JIT };

struct firefox {
	const struct export *x;
	FILE *f;
	const struct hwpmc_sample_point *point;
	struct ids libs;
	struct strings strings;
};

/* The tables of one thread. */
struct tables {
	struct ids stacks;	/* prefix + 1, frame's number */
	struct ids frames;	/* struct hwpmc_frame, inlined how deep */
	struct ids functions;	/* struct hwpmc_symbol, file's name + 1 */
	struct ids images;	/* those of the functions: resources */
	struct ids symbols;	/* struct hwpmc_symbol, image: in the file */
	uint32_t *stack;	/* of each sample */
	uint32_t *function;	/* of each frame … */
	unsigned int *line;	/* … its line; 0: not known … */
	const struct hwpmc_symbol **symbol;	/* … and whose code it is */
};

static void tables_free(struct tables *t)
{
	ids_free(&t->stacks);
	ids_free(&t->frames);
	ids_free(&t->functions);
	ids_free(&t->images);
	ids_free(&t->symbols);
	free(t->symbol);
	free(t->stack);
	free(t->function);
	free(t->line);
}

static uint32_t add_frame(struct tables *t, const struct hwpmc_frame *frame,
			  uint32_t deep, const struct hwpmc_symbol *symbol)
{
	uint32_t n = t->frames.n;
	uint32_t id = ids_get(&t->frames, (uintptr_t)frame, deep);

	if (id == n && !(n & (n - 1)))
		t->symbol = must_realloc(t->symbol, n ? 2 * n : 1,
					 sizeof(*t->symbol));
	if (id == n)
		t->symbol[id] = symbol;
	return id;
}

static uint32_t add_stack(struct tables *t, const struct hwpmc_stack *s)
{
	const struct hwpmc_symbol *symbol = NULL;
	uint32_t at = 0, prefix = 0, deep = 0;

	for (uint32_t i = s->nframe; i-- > 0; prefix = at + 1) {
		const struct hwpmc_frame *frame = s->frame[i];

		deep = frame->inlined ? deep + 1 : 0;
		if (!deep)
			symbol = frame->symbol;
		at = ids_get(&t->stacks, prefix,
			     add_frame(t, frame, deep, symbol));
	}
	return at;
}

/* Functions, lines and images of the frames that there are. */
static void fill_frames(struct tables *t, struct firefox *p)
{
	t->function = must_calloc(t->frames.n, sizeof(*t->function));
	t->line = must_calloc(t->frames.n, sizeof(*t->line));
	for (uint32_t i = 0; i < t->frames.n; i++) {
		const struct hwpmc_frame *frame = (void *)(uintptr_t)t->frames.key[i].a;
		const char *name;
		uint32_t file = 0;

		if (export_line(p->x, frame, &name, &t->line[i]))
			file = 1 + strings_get(&p->strings, name);
		else
			t->line[i] = 0;
		t->function[i] = ids_get(&t->functions,
					 (uintptr_t)frame->symbol, file);
		ids_ptr(&t->images, frame->image);
		if (t->symbol[i] && !t->symbol[i]->unknown && !t->symbol[i]->made_up &&
		    !(t->symbol[i]->start >> 53))
			ids_ptr(&t->symbols, t->symbol[i]);
	}
}

static void tables_fill(struct tables *t, struct firefox *p,
			const struct track *track)
{
	t->stack = must_calloc(track->n, sizeof(*t->stack));
	for (uint32_t i = 0; i < track->n; i++)
		t->stack[i] = add_stack(t, &p->x->stack[
			p->point[track->point[i]].stack]);
	fill_frames(t, p);
}

/* ---- writing ------------------------------------------------------------- */

static void put_repeated(FILE *f, const char *key, const char *value, uint32_t n)
{
	fprintf(f, "\"%s\":[", key);
	for (uint32_t i = 0; i < n; i++)
		fprintf(f, i ? ",%s" : "%s", value);
	fputs("],\n", f);
}

static void put_comma(FILE *f, uint32_t i)
{
	if (i)
		fputc(',', f);
}

static const struct hwpmc_frame *frame_of(const struct tables *t, uint32_t i)
{
	return (void *)(uintptr_t)t->frames.key[i].a;
}

static const struct hwpmc_symbol *function_of(const struct tables *t, uint32_t i)
{
	return (void *)(uintptr_t)t->functions.key[i].a;
}

static const struct hwpmc_image *image_of(const struct ids *images, uint32_t i)
{
	return (void *)(uintptr_t)images->key[i].a;
}

static void put_samples(struct firefox *p, const struct track *track,
			const struct tables *t)
{
	fputs("\"samples\":{\"stack\":[", p->f);
	for (uint32_t i = 0; i < track->n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu32, t->stack[i]);
	}
	fputs("],\n\"time\":[", p->f);
	for (uint32_t i = 0; i < track->n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%.6f", p->point[track->point[i]].time / 1e6);
	}
	fputs("],\n", p->f);
	fputs("\"weight\":[", p->f);
	for (uint32_t i = 0; i < track->n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu64, p->point[track->point[i]].weight);
	}
	fputs("],\n", p->f);
	fprintf(p->f, "\"weightType\":\"samples\",\"length\":%" PRIu32 "},\n",
		track->n);
}

static void put_or_null(FILE *f, uint32_t i, bool known, uint64_t value)
{
	put_comma(f, i);
	if (known)
		fprintf(f, "%" PRIu64, value);
	else
		fputs("null", f);
}

static void put_stacks(struct firefox *p, const struct tables *t)
{
	fputs("\"stackTable\":{\"frame\":[", p->f);
	for (uint32_t i = 0; i < t->stacks.n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu64, t->stacks.key[i].b);
	}
	fputs("],\n\"prefix\":[", p->f);
	for (uint32_t i = 0; i < t->stacks.n; i++) {
		put_comma(p->f, i);
		if (t->stacks.key[i].a)
			fprintf(p->f, "%" PRIu64, t->stacks.key[i].a - 1);
		else
			fputs("null", p->f);
	}
	fprintf(p->f, "],\n\"length\":%" PRIu32 "},\n", t->stacks.n);
}

static enum category category_of(const struct hwpmc_frame *frame)
{
	switch (frame->image->kind) {
	case HWPMC_IMAGE_UNKNOWN:
	case HWPMC_IMAGE_CHAIN_END:
		return CATEGORY_OTHER;
	case HWPMC_IMAGE_JIT:
		return CATEGORY_JIT;
	default:
		return frame->kernel ? CATEGORY_KERNEL : CATEGORY_USER;
	}
}

/* -1: not in a library. Numbers above 2^53 are not exact in JavaScript. */
static int64_t address_of(const struct hwpmc_frame *frame)
{
	return frame->addr >> 53 ? -1 : (int64_t)frame->addr;
}

/* ids_has() and not ids_get(): what has no address in a file is none. */
static void put_native_symbol(FILE *f, const struct tables *t, uint32_t i)
{
	uint32_t id;
	bool known = ids_has(&t->symbols, (uintptr_t)t->symbol[i], 0, &id);

	put_or_null(f, i, known, id);
}

static void put_frames(struct firefox *p, struct tables *t)
{
	uint32_t n = t->frames.n;

	fputs("\"frameTable\":{\"address\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRId64, address_of(frame_of(t, i)));
	}
	fputs("],\n\"func\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu32, t->function[i]);
	}
	fputs("],\n\"category\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%d", category_of(frame_of(t, i)));
	}
	fputs("],\n\"inlineDepth\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu64, t->frames.key[i].b);
	}
	fputs("],\n\"nativeSymbol\":[", p->f);
	for (uint32_t i = 0; i < n; i++)
		put_native_symbol(p->f, t, i);
	fputs("],\n\"line\":[", p->f);
	for (uint32_t i = 0; i < n; i++)
		put_or_null(p->f, i, t->line[i], t->line[i]);
	fputs("],\n", p->f);
	put_repeated(p->f, "subcategory", "0", n);
	put_repeated(p->f, "innerWindowID", "0", n);
	put_repeated(p->f, "column", "null", n);
	fprintf(p->f, "\"length\":%" PRIu32 "},\n", n);
}

static void put_functions(struct firefox *p, struct tables *t)
{
	uint32_t n = t->functions.n;
	char name[EXPORT_NAME];

	fputs("\"funcTable\":{\"name\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu32,
			strings_get(&p->strings, export_function(name, function_of(t, i))));
	}
	fputs("],\n\"resource\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu32,
			ids_ptr(&t->images, function_of(t, i)->image));
	}
	fputs("],\n\"fileName\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		uint64_t file = t->functions.key[i].b;

		put_or_null(p->f, i, file, file - 1);
	}
	fputs("],\n", p->f);
	put_repeated(p->f, "isJS", "false", n);
	put_repeated(p->f, "relevantForJS", "false", n);
	put_repeated(p->f, "lineNumber", "null", n);
	put_repeated(p->f, "columnNumber", "null", n);
	fprintf(p->f, "\"length\":%" PRIu32 "},\n", n);
}

static void put_resources(struct firefox *p, const struct tables *t)
{
	uint32_t n = t->images.n;

	fputs("\"resourceTable\":{\"lib\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu32, ids_ptr(&p->libs, image_of(&t->images, i)));
	}
	fputs("],\n\"name\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu32,
			strings_get(&p->strings, image_of(&t->images, i)->name));
	}
	fputs("],\n", p->f);
	put_repeated(p->f, "host", "null", n);
	put_repeated(p->f, "type", "1", n);	/* a library */
	fprintf(p->f, "\"length\":%" PRIu32 "},\n", n);
}

static const struct hwpmc_symbol *symbol_of(const struct tables *t, uint32_t i)
{
	return (void *)(uintptr_t)t->symbols.key[i].a;
}

static void put_symbols(struct firefox *p, const struct tables *t)
{
	uint32_t n = t->symbols.n;

	fputs("\"nativeSymbols\":{\"libIndex\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu32, ids_ptr(&p->libs, symbol_of(t, i)->image));
	}
	fputs("],\n\"address\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu64, symbol_of(t, i)->start);
	}
	fputs("],\n\"name\":[", p->f);
	for (uint32_t i = 0; i < n; i++) {
		put_comma(p->f, i);
		fprintf(p->f, "%" PRIu32,
			strings_get(&p->strings, symbol_of(t, i)->name));
	}
	fputs("],\n\"functionSize\":[", p->f);
	for (uint32_t i = 0; i < n; i++)
		put_or_null(p->f, i, symbol_of(t, i)->size, symbol_of(t, i)->size);
	fprintf(p->f, "],\n\"length\":%" PRIu32 "},\n", n);
}

static const char no_markers[] =
"\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],"
"\"phase\":[],\"category\":[],\"length\":0}}";

static void put_thread(struct firefox *p, const struct track *track)
{
	const struct hwpmc_thread_info *info = track->thread;
	char name[EXPORT_NAME];
	struct tables t = { 0 };
	FILE *f = p->f;

	tables_fill(&t, p, track);
	fputs("{\"processType\":\"default\",\"processStartupTime\":0,"
	      "\"processShutdownTime\":null,\"registerTime\":0,"
	      "\"unregisterTime\":null,\"pausedRanges\":[],\n\"name\":", f);
	fmt_json_string(f, export_track_name(name, p->x, track));
	fputs(",\"processName\":", f);
	fmt_json_string(f, info->process);
	fprintf(f, ",\"isMainThread\":%s,\"pid\":\"%" PRId32 "\",",
		info->pid == info->tid ? "true" : "false", info->pid);
	/* One thread, several events: they must not have the same number. */
	fprintf(f, track->event ? "\"tid\":\"%" PRId32 ".%" PRIu32 "\",\n" :
		"\"tid\":%" PRId32 ",\n", info->tid, track->event);
	put_samples(p, track, &t);
	put_stacks(p, &t);
	put_frames(p, &t);
	put_functions(p, &t);
	put_resources(p, &t);
	put_symbols(p, &t);
	fputs(no_markers, f);
	tables_free(&t);
}

/* ---- shared -------------------------------------------------------------- */

/*
 * The name that symbol servers know: the first 16 bytes of the build-id as a
 * little-endian GUID, and an age of 0.
 */
static void put_breakpad_id(FILE *f, const struct hwpmc_image *image)
{
	static const uint8_t order[16] = {
		3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15,
	};

	if (image->build_id_len < sizeof(order)) {
		fputs("\"\"", f);
		return;
	}
	fputc('"', f);
	for (unsigned int i = 0; i < sizeof(order); i++)
		fprintf(f, "%02X", image->build_id[order[i]]);
	fputs("0\"", f);
}

static void put_lib(FILE *f, const struct hwpmc_image *image)
{
	char hex[2 * 64 + 1];

	fputs("{\"arch\":\"x86_64\",\"name\":", f);
	fmt_json_string(f, image->name);
	fputs(",\"path\":", f);
	fmt_json_string(f, image->path);
	fputs(",\"debugName\":", f);
	fmt_json_string(f, image->name);
	fputs(",\"debugPath\":", f);
	fmt_json_string(f, image->path);
	fputs(",\"breakpadId\":", f);
	put_breakpad_id(f, image);
	fputs(",\"codeId\":", f);
	if (image->build_id_len && image->build_id_len <= 64) {
		export_hex(hex, image->build_id, image->build_id_len);
		fprintf(f, "\"%s\"}", hex);
	} else {
		fputs("null}", f);
	}
}

static void put_categories(FILE *f)
{
	static const char *const name[] = { "Other", "User", "Kernel", "JIT" };
	static const char *const colour[] = {
		"grey", "yellow", "orange", "green",
	};

	fputs("\"categories\":[", f);
	for (uint32_t i = 0; i < 4; i++) {
		put_comma(f, i);
		fprintf(f, "{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}",
			name[i], colour[i]);
	}
	fputs("],\n", f);
}

static void put_losses(const struct export *x, FILE *f)
{
	fputs("\"extra\":[{\"label\":\"Samples\",\"entries\":[", f);
	fprintf(f, "{\"label\":\"in the log\",\"format\":\"integer\",\"value\":%" PRIu64
		"}", x->totals->samples);
	fprintf(f, ",{\"label\":\"unknown\",\"format\":\"integer\",\"value\":%" PRIu64
		"}", x->totals->unknown);
	for (uint32_t i = 0; i < HWPMC_DROP_SLOTS; i++)
		if (missing_is_loss(i) && x->totals->dropped[i])
			fprintf(f, ",{\"label\":\"lost: %s\",\"format\":\"integer\","
				"\"value\":%" PRIu64 "}", hwpmc_name_of_drop(i),
				x->totals->dropped[i]);
	fputs("]}],\n", f);
}

/* Milliseconds between samples, for the graphs. */
static double sample_interval(const struct export *x)
{
	uint64_t n = 0;

	for (uint32_t e = 0; e < x->nevent; e++)
		n += x->event[e].taken ? x->event[e].taken : x->event[e].samples;
	return n > 1 && x->totals->duration ? x->totals->duration / 1e6 / n : 1;
}

static void put_meta(const struct export *x, FILE *f)
{
	const char *cpu = hwpmc_profile_note(x->profile, "cpuid");

	fprintf(f, "{\"meta\":{\"interval\":%.6f,\"startTime\":%.6f,\n",
		sample_interval(x), export_began(x) / 1e6);
	fputs("\"processType\":0,\"stackwalk\":1,\"debug\":false,", f);
	fprintf(f, "\"version\":%d,\"preprocessedProfileVersion\":%d,\n",
		VERSION_GECKO, VERSION_PROCESSED);
	put_categories(f);
	fputs("\"markerSchema\":[],\"symbolicated\":true,\"platform\":\"X11\","
	      "\"importedFrom\":\"hwpmc " VERSION "\",\n"
	      "\"usesOnlyOneStackType\":true,\"sourceCodeIsNotOnSearchfox\":true,"
	      "\n\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
	      "\"threadCPUDelta\":\"ns\"},\n", f);
	put_losses(x, f);
	if (cpu) {
		fputs("\"CPUName\":", f);
		fmt_json_string(f, cpu);
		fputs(",", f);
	}
	fputs("\"product\":", f);
	fmt_json_string(f, export_title(x));
	fputs("},\n", f);
}

static void put_shared(struct firefox *p)
{
	fputs("],\n\"libs\":[", p->f);
	for (uint32_t i = 0; i < p->libs.n; i++) {
		fputs(i ? ",\n" : "\n", p->f);
		put_lib(p->f, image_of(&p->libs, i));
	}
	fputs("],\n\"shared\":{\"stringArray\":[", p->f);
	for (uint32_t i = 0; i < p->strings.n; i++) {
		fputs(i ? ",\n" : "\n", p->f);
		fmt_json_string(p->f, p->strings.text[i]);
	}
	fputs("]}}\n", p->f);
	strings_free(&p->strings);
	ids_free(&p->libs);
}

void export_firefox(const struct export *x, FILE *f)
{
	struct firefox p = { .x = x, .f = f };
	struct track *track;
	uint32_t n;

	p.point = hwpmc_profile_timeline(x->profile, &n);
	track = export_tracks(x, &n);
	put_meta(x, f);
	fputs("\"pages\":[],\"threads\":[", f);
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? ",\n" : "\n", f);
		put_thread(&p, &track[i]);
	}
	put_shared(&p);
	export_tracks_free(track, n);
}
