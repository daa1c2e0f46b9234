/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * json.c - records as lines of JSON. A table says which fields a type of record
 * has; samples have a function of their own, as there are many of them.
 */
#include <inttypes.h>
#include <stddef.h>

#include "common/fmt.h"
#include "dump.h"

enum kind {
	U32, I32, U64, HEX64, TEXT, ID, MODE, CLASS, SNAPSHOT, ON,
	DROPPED, BUILD_ID,
};

struct field {
	const char *name;
	enum kind kind;
	uint16_t offset;
};

#define FIELDS(name) static const struct field name##_fields[]
#define F(kind, type, member) \
	{ #member, kind, offsetof(struct hwpmc_log_##type, member) }
#define F_AS(name, kind, type, member) \
	{ name, kind, offsetof(struct hwpmc_log_##type, member) }
#define PMC		{ "pmc", ID, 0 }
#define END		{ NULL, U32, 0 }

FIELDS(drop) = {
	F(DROPPED, drop, samples), F(DROPPED, drop, others), END,
};
FIELDS(initialize) = {
	F(U32, initialize, schema), F(TEXT, initialize, cpuid),
	F(U32, initialize, ncpu), F(U32, initialize, khz),
	F(U64, initialize, tick), F(U64, initialize, monotonic),
	F(U64, initialize, realtime), F(I32, initialize, owner), END,
};
FIELDS(allocate) = {
	PMC, F(TEXT, allocate, name), F(CLASS, allocate, class),
	F(MODE, allocate, mode), F(U32, allocate, ev), F(U32, allocate, flags),
	F(HEX64, allocate, config),
	F_AS("period", U64, allocate, count), END,
};
FIELDS(attach) = { PMC, F(I32, attach, pid), F(TEXT, attach, path), END };
FIELDS(detach) = { PMC, F(I32, attach, pid), END };
FIELDS(value) = {
	PMC, F(I32, value, pid), F(I32, value, tid), F(U64, value, value), END,
};
FIELDS(exec) = {
	F(I32, exec, pid), F(I32, exec, tid), F(TEXT, exec, comm),
	F(TEXT, exec, path), END,
};
FIELDS(fork) = { F(I32, fork, parent), F(I32, fork, child), END };
FIELDS(task) = {
	F(I32, task, pid), F(I32, task, tid), F(I32, task, parent),
	F(U32, task, flags), F(TEXT, task, comm),
	{ "snapshot", SNAPSHOT, 0 }, END,
};
FIELDS(map) = {
	F(I32, map, pid), F(HEX64, map, start), F(HEX64, map, end),
	F(HEX64, map, offset), F(TEXT, map, path), { "build_id", BUILD_ID, 0 },
	{ "snapshot", SNAPSHOT, 0 }, END,
};
FIELDS(unmap) = {
	F(I32, unmap, pid), F(HEX64, unmap, start), F(HEX64, unmap, end), END,
};
FIELDS(context) = { F(I32, context, pid), F(I32, context, tid), END };
FIELDS(throttle) = {
	PMC, F_AS("goes_on", ON, throttle, cpu), F(U32, throttle, percent), END,
};
FIELDS(clock) = {
	F(U64, clock, tick), F(U64, clock, monotonic), F(U64, clock, realtime),
	END,
};
FIELDS(note) = { F_AS("id", ID, note, text), F(TEXT, note, text), END };
FIELDS(other) = { { "id", ID, 0 }, END };

static const struct field *const fields[256] = {
	[HWPMC_LOG_DROPNOTIFY] = drop_fields,
	[HWPMC_LOG_INITIALIZE] = initialize_fields,
	[HWPMC_LOG_PMCALLOCATE] = allocate_fields,
	[HWPMC_LOG_PMCATTACH] = attach_fields,
	[HWPMC_LOG_PMCDETACH] = detach_fields,
	[HWPMC_LOG_PROCCSW] = value_fields,
	[HWPMC_LOG_PROCEXEC] = exec_fields,
	[HWPMC_LOG_PROCEXIT] = value_fields,
	[HWPMC_LOG_PROCFORK] = fork_fields,
	[HWPMC_LOG_SYSEXIT] = task_fields,
	[HWPMC_LOG_MAP_IN] = map_fields,
	[HWPMC_LOG_MAP_OUT] = unmap_fields,
	[HWPMC_LOG_PMCALLOCATEDYN] = allocate_fields,
	[HWPMC_LOG_THR_CREATE] = task_fields,
	[HWPMC_LOG_THR_EXIT] = task_fields,
	[HWPMC_LOG_PROC_CREATE] = task_fields,
	[HWPMC_LOG_CONTEXT] = context_fields,
	[HWPMC_LOG_THROTTLE] = throttle_fields,
	[HWPMC_LOG_COMM_NAME] = task_fields,
	[HWPMC_LOG_CLOCK] = clock_fields,
	[HWPMC_LOG_NOTE] = note_fields,
};

/* ---- all but samples ----------------------------------------------------- */

static void put_dropped(FILE *f, const uint64_t *n)
{
	for (uint32_t i = 0; i < HWPMC_DROP__COUNT; i++)
		fprintf(f, "%s\"%s\":%" PRIu64, i ? "," : "{",
			hwpmc_name_of_drop(i), n[i]);
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

static void put_value(FILE *f, const struct hwpmc_record *r,
		      const struct field *field)
{
	const void *at = (const char *)r->hdr + field->offset;
	const uint64_t *u64 = at;
	const uint32_t *u32 = at;

	switch (field->kind) {
	case U32:
		fprintf(f, "%u", *u32);
		break;
	case I32:
		fprintf(f, "%d", (int32_t)*u32);
		break;
	case U64:
		fprintf(f, "%" PRIu64, *u64);
		break;
	case HEX64:
		fprintf(f, "\"0x%" PRIx64 "\"", *u64);
		break;
	case TEXT:
		fmt_json_string(f, at);
		break;
	case ID:
		fprintf(f, "%u", r->hdr->id);
		break;
	case MODE:
		put_named(f, hwpmc_name_of_mode(*u32), *u32);
		break;
	case CLASS:
		put_named(f, hwpmc_name_of_class(*u32), *u32);
		break;
	case SNAPSHOT:
		put_bool(f, r->hdr->flags & HWPMC_LOG_SNAPSHOT);
		break;
	case ON:
		put_bool(f, r->hdr->flags);
		break;
	case DROPPED:
		put_dropped(f, at);
		break;
	case BUILD_ID:
		put_build_id(f, r->map);
		break;
	}
}

static void put_head(struct dump *d, const struct hwpmc_record *r,
		     const char *name)
{
	if (name)
		fprintf(d->side, "{\"type\":\"%s\"", name);
	else
		fprintf(d->side, "{\"type\":%u", r->hdr->type);
	fprintf(d->side, ",\"%s\":%" PRIu64 ",\"cpu\":%d",
		d->raw_time ? "tick" : "time", d->raw_time ?
		(uint64_t)r->hdr->time :
		hwpmc_lookup_time(d->lookup, r->hdr->time), r->cpu);
}

static void other(struct dump *d, const struct hwpmc_record *r)
{
	const struct field *field = fields[r->hdr->type];

	put_head(d, r, hwpmc_name_of_record(r->hdr->type));
	for (field = field ? field : other_fields; field->name; field++) {
		fprintf(d->side, ",\"%s\":", field->name);
		put_value(d->side, r, field);
	}
	fputs("}\n", d->side);
	dump_side(d);
}

/* ---- samples ------------------------------------------------------------- */

static void make_prefix(struct dump *d, const struct hwpmc_record *r,
			const struct hwpmc_task *task)
{
	fprintf(d->side, "{\"type\":\"CALLCHAIN\",\"cpu\":%d,\"pid\":%d,\"tid\":%d,\"comm\":",
		r->cpu, r->pid, r->tid);
	fmt_json_string(d->side, task->info.process);
	fputs(d->raw_time ? ",\"tick\":" : ",\"time\":", d->side);
	dump_take(d, &d->prefix);
	d->task = task;
	d->cpu = r->cpu;
}

static struct dump_piece *event_piece(struct dump *d, uint32_t id)
{
	const struct hwpmc_lookup_event *e = hwpmc_lookup_event(d->lookup, id);
	struct dump_piece *piece = dump_find(&d->events, e->serial);

	if (piece)
		return piece;
	fputs(",\"event\":", d->side);
	fmt_json_string(d->side, e->name);
	fprintf(d->side, ",\"period\":%" PRIu64 ",\"frames\":[", e->period);
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
		fprintf(d->side, ",\"offset\":%" PRIu64,
			dump_offset(f));
	}
	fputs(",\"image\":", d->side);
	fmt_json_string(d->side, f->image->path);
	fputc('}', d->side);
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

static void sample(struct dump *d, const struct hwpmc_record *r)
{
	const struct hwpmc_task *task = hwpmc_lookup_task(d->lookup, r);
	struct dump_piece *event = event_piece(d, r->hdr->id);
	uint64_t time = r->hdr->time;

	if (task != d->task || r->cpu != d->cpu)
		make_prefix(d, r, task);
	outbuf_put(&d->out, d->prefix.text, d->prefix.len);
	outbuf_u64(&d->out, d->raw_time ? time :
		   hwpmc_lookup_time(d->lookup, time));
	outbuf_put(&d->out, event->text, event->len);
	put_stack(d, r);
	outbuf_putc(&d->out, ']');
	if (r->hdr->flags & HWPMC_SAMPLE_CUT)
		outbuf_puts(&d->out, ",\"cut\":true");
	if (r->hdr->flags & HWPMC_SAMPLE_FAULT)
		outbuf_puts(&d->out, ",\"fault\":true");
	outbuf_put(&d->out, "}\n", 2);
}

void dump_json(struct dump *d, const struct hwpmc_record *r)
{
	if (r->hdr->type == HWPMC_LOG_CALLCHAIN)
		sample(d, r);
	else
		other(d, r);
}
