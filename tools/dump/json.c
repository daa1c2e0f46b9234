/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json.c - records as lines of JSON: the fields that records.h names. Samples have a
 * function of their own, as there are many of them.
 */
#include <inttypes.h>

#include "common/fmt.h"
#include "common/logtext.h"
#include "dump.h"
#include "records.h"

/* ---- all but samples ----------------------------------------------------- */

/* All causes that have a name, and the others if they occurred. */
static void put_dropped(FILE *f, const struct hwpmc_log_drop *r, bool of_samples)
{
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS];
	const uint64_t *n = of_samples ? samples : others;

	hwpmc_record_drops(r, samples, others, HWPMC_DROP_SLOTS);
	for (uint32_t i = 0; i < HWPMC_DROP_SLOTS; i++)
		if (i < HWPMC_DROP__COUNT || n[i])
			fprintf(f, "%s\"%s\":%" PRIu64, i ? "," : "{", hwpmc_name_of_drop(i), n[i]);
	fputc('}', f);
}

static void put_build_id(FILE *f, const struct hwpmc_log_map *r)
{
	fputc('"', f);
	if (r->hdr.flags & HWPMC_MAP_HAS_BUILD_ID)
		for (uint32_t i = 0; i < r->build_id_len; i++)
			fprintf(f, "%02x", r->build_id[i]);
	fputc('"', f);
}

static void put_file(FILE *f, const struct hwpmc_log_map *r)
{
	struct hwpmc_log_file at;

	if (record_file(r, &at))
		fprintf(f, "{\"size\":%" PRIu64 ",\"mtime\":%" PRId64 ",\"ctime\":%" PRId64 "}",
			(uint64_t)at.size, (int64_t)at.mtime, (int64_t)at.ctime);
	else
		fputs("null", f);
}

/* A number whatever its value is: a member has one type. */
static void put_u64(FILE *f, uint64_t value)
{
	fprintf(f, "%" PRIu64, value);
}

static void put_bool(FILE *f, bool is)
{
	fputs(is ? "true" : "false", f);
}

static void put_named(FILE *f, const char *name, uint32_t number)
{
	if (name)
		fmt_json_string(f, name);
	else
		fprintf(f, "%u", number);
}

/* {"rip":"0x401000"}; a word without a name has its number. */
static void put_words(FILE *f, const struct hwpmc_log_precise *r)
{
	const char *name, *comma = "";
	uint64_t value;

	fputc('{', f);
	for (unsigned int n = 0; n < 64; n++) {
		if (!hwpmc_precise_word(r, n, &value))
			continue;
		name = hwpmc_name_of_word(r->hdr.flags, n);
		if (name)
			fprintf(f, "%s\"%s\"", comma, name);
		else
			fprintf(f, "%s\"%u\"", comma, n);
		fprintf(f, ":\"0x%" PRIx64 "\"", value);
		comma = ",";
	}
	fputc('}', f);
}

static void put_value(FILE *f, const struct hwpmc_record *r,
		      const struct record_field *field)
{
	const void *at = (const char *)r->hdr + field->offset;
	const uint64_t *u64 = at;
	const uint32_t *u32 = at;

	switch (field->kind) {
	case RECORD_I32:
		fprintf(f, "%d", (int32_t)*u32);
		break;
	case RECORD_U64:
		put_u64(f, *u64);
		break;
	case RECORD_ADDRESS:
		fprintf(f, "\"0x%" PRIx64 "\"", *u64);
		break;
	case RECORD_TEXT:
		fmt_json_string(f, at);
		break;
	case RECORD_ID:
		fprintf(f, "%u", r->hdr->id);
		break;
	case RECORD_MODE:
		put_named(f, hwpmc_name_of_mode(*u32), *u32);
		break;
	case RECORD_CLASS:
		put_named(f, hwpmc_name_of_class(*u32), *u32);
		break;
	case RECORD_CORE:
		put_named(f, hwpmc_name_of_kind(*u32), *u32);
		break;
	case RECORD_SNAPSHOT:
		put_bool(f, r->hdr->flags & HWPMC_LOG_SNAPSHOT);
		break;
	case RECORD_ON:
		put_bool(f, r->hdr->flags);
		break;
	case RECORD_DROPPED:
		put_dropped(f, r->drop, at == r->drop->samples);
		break;
	case RECORD_PRECISE:
		put_named(f, hwpmc_name_of_precise(r->hdr->flags), r->hdr->flags);
		break;
	case RECORD_EXACT:
		put_bool(f, r->precise->present & HWPMC_PRECISE_EXACT);
		break;
	case RECORD_WORDS:
		put_words(f, r->precise);
		break;
	case RECORD_BUILD_ID:
		put_build_id(f, r->map);
		break;
	case RECORD_FILE:
		put_file(f, r->map);
		break;
	case RECORD_UNREAD:
		put_bool(f, r->hdr->flags & HWPMC_MAP_UNREAD);
		break;
	default:	/* RECORD_U32, RECORD_FLAGS */
		fprintf(f, "%u", *u32);
		break;
	}
}

static uint64_t time_of(const struct dump *d, uint64_t tick)
{
	return d->raw_time ? tick : hwpmc_lookup_time(d->lookup, tick);
}

static void put_head(struct dump *d, const struct hwpmc_record *r,
		     const char *name)
{
	if (name)
		fprintf(d->side, "{\"type\":\"%s\"", name);
	else
		fprintf(d->side, "{\"type\":%u", r->hdr->type);
	fprintf(d->side, ",\"%s\":", d->raw_time ? "tick" : "time");
	put_u64(d->side, time_of(d, r->hdr->time));
	fprintf(d->side, ",\"cpu\":%d", r->cpu);
}

static void put_loss(FILE *f, const struct hwpmc_log_loss *r)
{
	char why[LOGTEXT_LOSS];

	logtext_loss(why, sizeof(why), r);
	fmt_json_string(f, why);
}

static void put_tick(struct dump *d, const struct hwpmc_record *r,
		     const struct record_field *field)
{
	uint64_t tick = *(const uint64_t *)((const char *)r->hdr + field->offset);

	put_u64(d->side, time_of(d, tick));
}

static void put_other(struct dump *d, const struct hwpmc_record *r)
{
	const struct record_type *type = record_type(r->hdr->type);
	const struct record_field *field = type ? type->fields : NULL;

	put_head(d, r, type ? type->name : NULL);
	if (!field)
		fprintf(d->side, ",\"id\":%u", r->hdr->id);
	for (; field && field->name; field++) {
		fprintf(d->side, ",\"%s\":", field->name);
		if (field->kind == RECORD_TICK)
			put_tick(d, r, field);
		else if (field->kind == RECORD_LOSS)
			put_loss(d->side, r->loss);
		else
			put_value(d->side, r, field);
	}
	fputs("}\n", d->side);
	dump_side(d);
}

/* ---- samples ------------------------------------------------------------- */

static void make_prefix(struct dump *d, const struct hwpmc_record *r,
			const struct hwpmc_task *task)
{
	const char *kind = hwpmc_name_of_kind(hwpmc_lookup_kind(d->lookup, r->cpu));

	fprintf(d->side, "{\"type\":\"CALLCHAIN\",\"cpu\":%d", r->cpu);
	if (kind)
		fprintf(d->side, ",\"kind\":\"%s\"", kind);
	fprintf(d->side, ",\"pid\":%d,\"tid\":%d,\"comm\":", r->pid, r->tid);
	fmt_json_string(d->side, task->info.comm);
	fputs(",\"process\":", d->side);
	fmt_json_string(d->side, task->info.process);
	fputs(d->raw_time ? ",\"tick\":" : ",\"time\":", d->side);
	dump_take(d, &d->prefix);
	d->task = task;
	d->cpu = r->cpu;
}

static void write_event(struct dump *d, const struct hwpmc_lookup_event *e, uint64_t period)
{
	fputs(",\"event\":", d->side);
	fmt_json_string(d->side, e->name);
	fputs(",\"period\":", d->side);
	put_u64(d->side, period);
	fputs(",\"frames\":[", d->side);
}

static const struct dump_piece *event_piece(struct dump *d, const struct hwpmc_record *r)
{
	const struct hwpmc_lookup_event *e = hwpmc_lookup_event(d->lookup, r->hdr->id);
	struct dump_piece *piece = dump_find(&d->events, e->serial);

	if (r->period) {
		write_event(d, e, r->period);
		dump_take(d, &d->own);
		return &d->own;
	}
	if (piece)
		return piece;
	write_event(d, e, e->period);
	return dump_make(d, &d->events, e->serial);
}

static struct dump_piece *make_place(struct dump *d, const struct hwpmc_place *p)
{
	const struct hwpmc_frame *f = &p->frame;

	fprintf(d->side, "{\"pc\":\"0x%" PRIx64 "\",\"kernel\":", f->pc);
	put_bool(d->side, f->kernel);
	if (!f->symbol->unknown) {
		fputs(",\"symbol\":", d->side);
		fmt_json_string(d->side, f->symbol->name);
		fputs(f->symbol->made_up ? ",\"made_up\":true" : "", d->side);
		fputs(",\"offset\":", d->side);
		put_u64(d->side, dump_offset(f));
	}
	fputs(",\"image\":", d->side);
	fmt_json_string(d->side, f->image->path);
	if (f->image->doubt) {
		fputs(",\"doubt\":", d->side);
		fmt_json_string(d->side, f->image->doubt);
	}
	fputc('}', d->side);
	dump_doubt(d, f->image);
	return dump_make(d, &d->places, p->serial);
}

static void put_stack(struct dump *d, const struct hwpmc_record *r)
{
	uint32_t depth = d->log.o.depth ? d->log.o.depth : UINT32_MAX, n;
	const struct hwpmc_place *const *stack;

	stack = hwpmc_lookup_stack(d->lookup, r, depth, &n);
	for (uint32_t i = 0; i < n; i++) {
		struct dump_piece *piece = dump_find(&d->places,
						     stack[i]->serial);

		if (!piece)
			piece = make_place(d, stack[i]);
		if (i)
			outbuf_putc(&d->out, ',');
		outbuf_put(&d->out, piece->text, piece->len);
	}
}

static void put_sample(struct dump *d, const struct hwpmc_record *r)
{
	const struct hwpmc_task *task = hwpmc_lookup_task(d->lookup, r);
	const struct dump_piece *event = event_piece(d, r);

	if (task != d->task || r->cpu != d->cpu)
		make_prefix(d, r, task);
	outbuf_put(&d->out, d->prefix.text, d->prefix.len);
	outbuf_u64(&d->out, time_of(d, r->hdr->time));
	outbuf_put(&d->out, event->text, event->len);
	put_stack(d, r);
	outbuf_putc(&d->out, ']');
	if (dump_is_exact(d, hwpmc_lookup_event(d->lookup, r->hdr->id), r))
		outbuf_puts(&d->out, ",\"exact\":true");
	if (r->hdr->flags & HWPMC_SAMPLE_CUT)
		outbuf_puts(&d->out, ",\"cut\":true");
	if (r->hdr->flags & HWPMC_SAMPLE_FAULT)
		outbuf_puts(&d->out, ",\"fault\":true");
	outbuf_put(&d->out, "}\n", 2);
}

void dump_json(struct dump *d, const struct hwpmc_record *r)
{
	if (r->hdr->type == HWPMC_LOG_CALLCHAIN)
		put_sample(d, r);
	else
		put_other(d, r);
}
