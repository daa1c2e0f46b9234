/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flamegraph.c - an HTML page that needs nothing else: the stacks as a tree in
 * JSON, drawn by flamegraph.js (linked into the program, as flamegraph.css is). What
 * names contain never becomes markup: it is JSON without '<', and text in the page.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/byevent.h"
#include "common/fmt.h"
#include "common/logopts.h"
#include "common/missing.h"
#include "common/msg.h"
#include "export.h"

/* Of ld -b binary: tools.mk. */
extern const char _binary_flamegraph_js_start[], _binary_flamegraph_js_end[];
extern const char _binary_flamegraph_css_start[], _binary_flamegraph_css_end[];

/* As flamegraph.js knows them. */
enum kind {
	KIND_PROCESS, KIND_USER, KIND_KERNEL, KIND_JIT, KIND_UNKNOWN, KIND_INLINED,
};

/* A tree of one event: nodes are numbered so that parents come first. */
struct tree {
	struct ids nodes;	/* parent + 1 and frame */
	uint64_t *self;
	uint32_t room;
};

struct flamegraph {
	const struct export *x;
	struct by_event stacks;
	struct ids frames;	/* function, or name | 1; kernel or not */
	struct strings processes;	/* has threads with names of their own, too */
};

static uint32_t put_node(struct tree *t, uint32_t parent, uint32_t frame)
{
	uint32_t id = ids_get(&t->nodes, parent, frame);

	if (id >= t->room) {
		uint32_t room = t->room ? 2 * t->room : 16;

		t->self = must_realloc(t->self, room, sizeof(*t->self));
		memset(t->self + t->room, 0,
		       (room - t->room) * sizeof(*t->self));
		t->room = room;
	}
	return id;
}

/* Symbols lie at even addresses: an odd number is that of a name. */
static uint32_t name_frame(struct flamegraph *g, const char *name)
{
	return ids_get(&g->frames, 2ull * strings_get(&g->processes, name) + 1, 0);
}

static void add_stack(struct flamegraph *g, struct tree *t,
		      const struct hwpmc_stack *s)
{
	uint32_t at = put_node(t, 0, name_frame(g, s->thread->process));

	if (strcmp(s->thread->comm, s->thread->process))
		at = put_node(t, at + 1, name_frame(g, s->thread->comm));
	for (uint32_t i = s->nframe; i-- > 0; )
		at = put_node(t, at + 1,
			      ids_get(&g->frames, (uintptr_t)s->frame[i]->symbol,
				      s->frame[i]->kernel));
	t->self[at] += s->count;
}

/* ---- JSON ---------------------------------------------------------------- */

static void put_string(FILE *f, const char *key, const char *value)
{
	if (!value)
		return;
	fprintf(f, "\"%s\":", key);
	fmt_json_string(f, value);
	fputs(",\n", f);
}

/* A page may have millions. */
static void put_number(FILE *f, uint64_t n)
{
	char text[24], *at = text + sizeof(text);

	do {
		*--at = '0' + n % 10;
		n /= 10;
	} while (n);
	fwrite(at, 1, text + sizeof(text) - at, f);
}

static void put_array(FILE *f, const char *key, const struct tree *t,
		      uint64_t (*get)(const struct tree *t, uint32_t i))
{
	fprintf(f, ",\n\"%s\":[", key);
	for (uint32_t i = 0; i < t->nodes.n; i++) {
		if (i)
			putc(',', f);
		put_number(f, get(t, i));
	}
	fputc(']', f);
}

static uint64_t get_parent(const struct tree *t, uint32_t i)
{
	return t->nodes.key[i].a;
}

static uint64_t get_frame(const struct tree *t, uint32_t i)
{
	return t->nodes.key[i].b;
}

static uint64_t get_self(const struct tree *t, uint32_t i)
{
	return t->self[i];
}

static void put_event(struct flamegraph *g, FILE *f, uint32_t e)
{
	const struct hwpmc_profile_event *ev = &g->x->event[e];
	struct tree t = { 0 };

	for (uint32_t i = 0; i < by_event_count(&g->stacks, e); i++)
		add_stack(g, &t, by_event_get(&g->stacks, e, i));
	fputs(e ? ",\n{\"name\":" : "\n{\"name\":", f);
	fmt_json_string(f, ev->name);
	fprintf(f, ",\"period\":%" PRIu64 ",\"samples\":%" PRIu64
		",\"filtered\":%" PRIu64, ev->period, ev->samples, ev->filtered);
	if (logopts_has_rate(ev))
		fprintf(f, ",\"frequency\":%" PRIu64, ev->frequency);
	if (ev->frequency)
		fprintf(f, ",\"taken\":%" PRIu64, ev->taken);
	put_array(f, "parent", &t, get_parent);
	put_array(f, "frame", &t, get_frame);
	put_array(f, "self", &t, get_self);
	fputc('}', f);
	ids_free(&t.nodes);
	free(t.self);
}

static enum kind kind_of(const struct hwpmc_symbol *s, bool kernel)
{
	if (s->unknown || s->made_up)
		return KIND_UNKNOWN;
	if (s->inlined)
		return KIND_INLINED;
	if (s->image->kind == HWPMC_IMAGE_JIT)
		return KIND_JIT;
	return kernel ? KIND_KERNEL : KIND_USER;
}

static void put_frame(struct flamegraph *g, FILE *f, const struct ids_key *key)
{
	const struct hwpmc_symbol *s = (void *)(uintptr_t)key->a;
	char name[EXPORT_NAME];

	fputc('[', f);
	if (key->a & 1) {
		fmt_json_string(f, g->processes.text[key->a / 2]);
		fprintf(f, ",\"\",%d]", KIND_PROCESS);
		return;
	}
	fmt_json_string(f, export_function(name, s));
	fputc(',', f);
	fmt_json_string(f, s->image->name);
	fprintf(f, ",%d]", kind_of(s, key->b));
}

static void put_totals(const struct export *x, FILE *f)
{
	const struct hwpmc_profile_totals *t = x->totals;
	const char *comma = "";

	fprintf(f, "\"start\":%" PRIu64 ",\"duration\":%.6f,\"samples\":%" PRIu64
		",\"kept\":%" PRIu64 ",\"unknown\":%" PRIu64 ",\"paused\":%" PRIu64
		",\"other\":%" PRIu64 ",\"cut\":%s,\n\"lost\":[", export_began(x) / 1000000,
		t->duration / 1e9, t->samples, t->kept, t->unknown, t->pauses,
		t->folded, t->cut ? "true" : "false");
	for (uint32_t i = 0; i < HWPMC_DROP_SLOTS; i++) {
		if (!missing_is_loss(i) || !t->dropped[i])
			continue;
		fprintf(f, "%s[\"%s\",%" PRIu64 "]", comma, hwpmc_name_of_drop(i),
			t->dropped[i]);
		comma = ",";
	}
	fputs("],\n", f);
}

static void put_profile(const struct export *x, FILE *f)
{
	struct flamegraph g = { .x = x };

	fputs("{\"version\":\"" VERSION "\",\n", f);
	put_string(f, "title", export_title(x));
	put_string(f, "host", hwpmc_profile_note(x->profile, "hostname"));
	put_string(f, "release", hwpmc_profile_note(x->profile, "release"));
	put_string(f, "cpu", hwpmc_profile_note(x->profile, "cpuid"));
	put_totals(x, f);
	fputs("\"events\":[", f);
	by_event_make(&g.stacks, x->stack, x->nstack, x->nevent);
	for (uint32_t e = 0; e < x->nevent; e++)
		put_event(&g, f, e);
	by_event_free(&g.stacks);
	fputs("],\n\"frames\":[", f);
	for (uint32_t i = 0; i < g.frames.n; i++) {
		fputs(i ? ",\n" : "\n", f);
		put_frame(&g, f, &g.frames.key[i]);
	}
	fputs("]}", f);
	ids_free(&g.frames);
	strings_free(&g.processes);
}

/* '<' in JSON is only found in strings, and there it can be written otherwise. */
static void put_escaped(FILE *f, const struct text *json)
{
	const char *at = json->text, *end = at + json->len, *less;

	for (; (less = memchr(at, '<', end - at)); at = less + 1) {
		fwrite(at, 1, less - at, f);
		fputs("\\u003c", f);
	}
	fwrite(at, 1, end - at, f);
}

static void put_html(FILE *f, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", f);
		else if (*text == '&')
			fputs("&amp;", f);
		else
			fputc(*text, f);
	}
}

static void put_part(FILE *f, const char *start, const char *end)
{
	fwrite(start, 1, end - start, f);
}

/* The policy has the browser refuse whatever would come from elsewhere. */
static const char head[] =
"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
"script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n"
"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
"<meta name=\"color-scheme\" content=\"light dark\">\n<title>";

static void put_page(const struct export *x, FILE *f, const struct text *json)
{
	struct text title;

	text_open(&title);
	fmt_utf8(title.f, export_title(x));
	fputs(head, f);
	put_html(f, text_close(&title));
	free(title.text);
	fputs("</title>\n<style>\n", f);
	put_part(f, _binary_flamegraph_css_start, _binary_flamegraph_css_end);
	fputs("</style></head>\n<body>\n"
	      "<noscript>This page draws by JavaScript.</noscript>\n"
	      "<script type=\"application/json\" id=\"profile\">\n", f);
	put_escaped(f, json);
	fputs("\n</script>\n<script>\n", f);
	put_part(f, _binary_flamegraph_js_start, _binary_flamegraph_js_end);
	fputs("</script>\n</body></html>\n", f);
}

void export_flamegraph(const struct export *x, FILE *f)
{
	struct text json;

	text_open(&json);
	put_profile(x, json.f);
	text_close(&json);
	put_page(x, f, &json);
	free(json.text);
}
