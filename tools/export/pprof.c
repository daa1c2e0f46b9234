/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pprof.c - pprof's profile: messages of pprof.proto by protobuf-c, packed
 * by gzip. Addresses are those of the ELF files; a mapping that spans everything
 * says so. Two values for each event: samples, and the events that they stand for.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/fmt.h"
#include "common/missing.h"
#include "common/msg.h"
#include "export.h"
#include "pprof.pb-c.h"

/* Of all stacks: each takes 16 bytes until the file is written. */
#define VALUES_MAX	(64u << 20)

struct pprof {
	const struct export *x;
	Pprof__Profile profile;
	struct ids images, places, functions;
	struct strings strings;
	int64_t label_pid, label_tid, label_comm;
};

/* Room for one more in an array of n pointers, which grows by doubling. */
static void *array_room(void *array, size_t n)
{
	return n & (n - 1) ? array :
	       must_realloc(array, n ? 2 * n : 1, sizeof(void *));
}

/* Strings of messages are UTF-8; names need not be. */
static int64_t string_id(struct pprof *p, const char *text)
{
	struct text clean;
	int64_t index;

	text_open(&clean);
	fmt_utf8(clean.f, text);
	index = strings_get(&p->strings, text_close(&clean));
	free(clean.text);
	return index;
}

/* ---- tables -------------------------------------------------------------- */

static uint64_t mapping(struct pprof *p, const struct hwpmc_image *image)
{
	uint32_t id = ids_ptr(&p->images, image);
	Pprof__Profile *to = &p->profile;
	char hex[2 * 64 + 1];
	Pprof__Mapping *m;

	if (id < to->n_mapping)
		return id + 1;
	m = must_calloc(1, sizeof(*m));
	pprof__mapping__init(m);
	m->id = id + 1;
	m->memory_limit = UINT64_MAX;
	m->filename = string_id(p, image->path);
	if (image->build_id_len && image->build_id_len <= 64) {
		export_hex(hex, image->build_id, image->build_id_len);
		m->build_id = string_id(p, hex);
	}
	m->has_functions = true;
	to->mapping = array_room(to->mapping, to->n_mapping);
	to->mapping[to->n_mapping++] = m;
	return m->id;
}

/* A function whose lines are in several files is several for pprof. */
static uint64_t function(struct pprof *p, const struct hwpmc_symbol *symbol,
			 int64_t file)
{
	uint32_t id = ids_get(&p->functions, (uintptr_t)symbol, file);
	Pprof__Profile *to = &p->profile;
	char buf[EXPORT_NAME];
	const char *name = export_function(buf, symbol);
	Pprof__Function *f;

	if (id < to->n_function)
		return id + 1;
	f = must_calloc(1, sizeof(*f));
	pprof__function__init(f);
	f->id = id + 1;
	f->name = string_id(p, name);
	f->system_name = string_id(p, symbol->unknown ? name : symbol->raw);
	f->filename = file;
	to->function = array_room(to->function, to->n_function);
	to->function[to->n_function++] = f;
	return f->id;
}

static Pprof__Line *line_of(struct pprof *p, const struct hwpmc_frame *frame,
			    Pprof__Mapping *in)
{
	Pprof__Line *l = must_calloc(1, sizeof(*l));
	unsigned int number = 0;
	const char *file;
	int64_t name = 0;

	pprof__line__init(l);
	if (export_line(p->x, frame, &file, &number)) {
		name = string_id(p, file);
		l->line = number;
		if (in)
			in->has_filenames = in->has_line_numbers = true;
	}
	if (in && frame->inlined)
		in->has_inline_frames = true;
	/* pprof then asks the file itself, which may have symbols where the profile is read. */
	if (in && frame->symbol->made_up)
		in->has_functions = false;
	l->function_id = function(p, frame->symbol, name);
	return l;
}

/* Of frames that are one address: the innermost inlined function first. */
static uint64_t location(struct pprof *p, struct hwpmc_frame *const *frame,
			 uint32_t n)
{
	uint32_t id = ids_ptr(&p->places, frame[0]);
	Pprof__Profile *to = &p->profile;
	Pprof__Mapping *in = NULL;
	Pprof__Location *l;

	if (id < to->n_location)
		return id + 1;
	l = must_calloc(1, sizeof(*l));
	pprof__location__init(l);
	l->id = id + 1;
	l->address = frame[0]->addr;
	if (frame[0]->image->kind != HWPMC_IMAGE_UNKNOWN &&
	    frame[0]->image->kind != HWPMC_IMAGE_CHAIN_END) {
		l->mapping_id = mapping(p, frame[0]->image);
		in = to->mapping[l->mapping_id - 1];
	}
	l->line = must_calloc(n, sizeof(*l->line));
	while (l->n_line < n) {
		l->line[l->n_line] = line_of(p, frame[l->n_line], in);
		l->n_line++;
	}
	to->location = array_room(to->location, to->n_location);
	to->location[to->n_location++] = l;
	return l->id;
}

static void add_locations(struct pprof *p, const struct hwpmc_stack *stack,
			  Pprof__Sample *s)
{
	uint32_t first = 0;

	s->location_id = must_calloc(stack->nframe, sizeof(*s->location_id));
	for (uint32_t i = 0; i < stack->nframe; i++) {
		if (stack->frame[i]->inlined && i + 1 < stack->nframe)
			continue;
		s->location_id[s->n_location_id++] =
			location(p, stack->frame + first, i + 1 - first);
		first = i + 1;
	}
}

/* ---- samples ------------------------------------------------------------- */

static Pprof__Label *add_label(int64_t key, int64_t num, int64_t str)
{
	Pprof__Label *l = must_calloc(1, sizeof(*l));

	pprof__label__init(l);
	l->key = key;
	l->num = num;
	l->str = str;
	return l;
}

static void add_sample(struct pprof *p, const struct hwpmc_stack *stack)
{
	const struct hwpmc_thread_info *t = stack->thread;
	Pprof__Sample *s = must_calloc(1, sizeof(*s));
	uint32_t nevent = p->x->nevent;

	pprof__sample__init(s);
	add_locations(p, stack, s);
	s->n_value = 2 * nevent;
	s->value = must_calloc(s->n_value, sizeof(*s->value));
	s->value[2 * stack->event] = stack->count;
	s->value[2 * stack->event + 1] =
		stack->count * p->x->event[stack->event].period;
	s->n_label = 3;
	s->label = must_calloc(s->n_label, sizeof(*s->label));
	s->label[0] = add_label(p->label_pid, t->pid, 0);
	s->label[1] = add_label(p->label_tid, t->tid, 0);
	s->label[2] = add_label(p->label_comm, 0, string_id(p, t->comm));
	p->profile.sample[p->profile.n_sample++] = s;
}

int export_pprof_check(const struct export *x)
{
	if ((uint64_t)x->nevent * x->nstack <= VALUES_MAX)
		return 0;
	msg("pprof has a value of each event in each stack, too many for %u events and %u stacks: choose one event with -e",
	    x->nevent, x->nstack);
	return -1;
}

static Pprof__ValueType *value_type(struct pprof *p, const char *type)
{
	Pprof__ValueType *v = must_calloc(1, sizeof(*v));

	pprof__value_type__init(v);
	v->type = string_id(p, type);
	v->unit = string_id(p, "count");
	return v;
}

static void add_types(struct pprof *p)
{
	const struct export *x = p->x;
	Pprof__Profile *to = &p->profile;
	char name[600];

	to->sample_type = must_calloc(2 * x->nevent, sizeof(*to->sample_type));
	for (uint32_t e = 0; e < x->nevent; e++) {
		const char *unit = x->event[e].frequency ? "events" : "samples";

		snprintf(name, sizeof(name), x->nevent > 1 ? "%s:%s" : "%s", unit,
			 x->event[e].name);
		to->sample_type[to->n_sample_type++] = value_type(p, name);
		to->sample_type[to->n_sample_type++] =
			value_type(p, x->event[e].name);
	}
	if (!x->nevent)
		return;
	to->default_sample_type = to->sample_type[0]->type;
	to->period_type = value_type(p, x->event[0].name);
	to->period = x->event[0].period;
}

static void add_comment(struct pprof *p, const char *fmt, ...)
{
	Pprof__Profile *to = &p->profile;
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	to->comment = must_realloc(to->comment, to->n_comment + 1,
				   sizeof(*to->comment));
	to->comment[to->n_comment++] = string_id(p, text);
}

static void add_doubts(struct pprof *p)
{
	struct hwpmc_image *const *image;
	uint32_t n;

	image = hwpmc_profile_images(p->x->profile, &n);
	for (uint32_t i = 0; i < n; i++)
		if (image[i]->samples && image[i]->doubt)
			add_comment(p, "symbols of %s are doubtful: %s", image[i]->path,
				    image[i]->doubt);
}

static void add_comments(struct pprof *p)
{
	const struct hwpmc_profile_totals *t = p->x->totals;

	add_comment(p, "hwpmc " VERSION ": %s", export_title(p->x));
	for (uint32_t i = 0; i < HWPMC_DROP_SLOTS; i++)
		if (missing_is_loss(i) && t->dropped[i])
			add_comment(p, "%s%" PRIu64 " samples lost: %s",
				    missing_bound(i), t->dropped[i], hwpmc_name_of_drop(i));
	if (t->samples > t->kept)
		add_comment(p, "%" PRIu64 " samples are excluded by the options",
			    t->samples - t->kept);
	if (t->cut)
		add_comment(p, "%s", MISSING_END);
	if (p->x->comment)
		add_comment(p, "%s", p->x->comment);
	add_doubts(p);
}

/* ---- writing ------------------------------------------------------------- */

/* A buffer of protobuf-c that gzips what it is given. */
struct packed {
	ProtobufCBuffer base;
	z_stream z;
	FILE *f;
};

static void deflate_to(struct packed *to, const uint8_t *data, size_t len,
		       int flush)
{
	uint8_t out[1 << 16];

	to->z.next_in = (uint8_t *)data;
	to->z.avail_in = len;
	do {
		to->z.next_out = out;
		to->z.avail_out = sizeof(out);
		deflate(&to->z, flush);
		fwrite(out, 1, sizeof(out) - to->z.avail_out, to->f);
	} while (!to->z.avail_out);
}

static void buffer_append(ProtobufCBuffer *base, size_t len, const uint8_t *data)
{
	deflate_to((struct packed *)base, data, len, Z_NO_FLUSH);
}

static void write_packed(const Pprof__Profile *profile, FILE *f)
{
	struct packed to = { .base.append = buffer_append, .f = f };

	/* 16: with the head and tail of gzip. */
	if (deflateInit2(&to.z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		must_fail();
	protobuf_c_message_pack_to_buffer(&profile->base, &to.base);
	deflate_to(&to, NULL, 0, Z_FINISH);
	deflateEnd(&to.z);
}

static void pprof_release(struct pprof *p)
{
	Pprof__Profile *profile = must_calloc(1, sizeof(*profile));

	*profile = p->profile;
	profile->string_table = NULL;
	profile->n_string_table = 0;
	pprof__profile__free_unpacked(profile, NULL);
	strings_free(&p->strings);
	ids_free(&p->images);
	ids_free(&p->places);
	ids_free(&p->functions);
}

/* A file that is no library: its name does not say so. */
static bool is_program(const struct hwpmc_image *image)
{
	return image->kind == HWPMC_IMAGE_ELF && image->samples && !strstr(image->name, ".so");
}

/* The program is the first mapping, by the format's rule: pprof gives it the file that its
 * command line names. */
static void add_program(struct pprof *p)
{
	const struct hwpmc_image *chosen = export_main_image(p->x), *program = chosen;
	struct hwpmc_image *const *image;
	uint32_t n;

	image = hwpmc_profile_images(p->x->profile, &n);
	for (uint32_t i = 0; i < n && !chosen; i++)
		if (is_program(image[i]) && (!program || image[i]->samples > program->samples))
			program = image[i];
	if (program)
		mapping(p, program);
}

void export_pprof(const struct export *x, FILE *f)
{
	struct pprof p = { .x = x };

	pprof__profile__init(&p.profile);
	string_id(&p, "");
	add_types(&p);
	add_comments(&p);
	p.label_pid = string_id(&p, "pid");
	p.label_tid = string_id(&p, "tid");
	p.label_comm = string_id(&p, "comm");
	add_program(&p);
	p.profile.sample = must_calloc(x->nstack, sizeof(*p.profile.sample));
	for (uint32_t i = 0; i < x->nstack; i++)
		add_sample(&p, &x->stack[i]);
	p.profile.time_nanos = export_began(x);
	p.profile.duration_nanos = x->totals->duration;
	p.profile.string_table = p.strings.text;
	p.profile.n_string_table = p.strings.n;
	write_packed(&p.profile, f);
	pprof_release(&p);
}
