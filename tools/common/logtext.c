/* SPDX-License-Identifier: BSD-2-Clause */
/* logtext.c - records as lines of text, by the table of records.h. No state. */
#include <ctype.h>
#include <inttypes.h>

#include "fmt.h"
#include "logtext.h"
#include "missing.h"
#include "records.h"

/* In quotes; what would break the line or the quotes is escaped. */
static void put_quoted(FILE *f, const char *s)
{
	putc_unlocked('"', f);
	fmt_put_escaped(f, s, "\"\\");
	putc_unlocked('"', f);
}

static void end_quoted(FILE *f, const char *s)
{
	putc_unlocked(' ', f);
	put_quoted(f, s);
}

static void put_drops(FILE *f, const struct hwpmc_log_drop *r)
{
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS];

	hwpmc_record_drops(r, samples, others, HWPMC_DROP_SLOTS);
	for (uint32_t i = 0; i < HWPMC_DROP_SLOTS; i++)
		if (samples[i] || others[i])
			fprintf(f, " %s%" PRIu64 "+%" PRIu64 " \"%s\"", missing_bound(i),
				samples[i], others[i], hwpmc_name_of_drop(i));
}

static void put_event(FILE *f, const struct hwpmc_log_allocate *r)
{
	const char *class = hwpmc_name_of_class(r->class);
	uint64_t code = r->flags & HWPMC_F_EV_PMU ? r->config : r->ev;

	if (r->name[0])
		end_quoted(f, r->name);
	else
		fprintf(f, " \"%s-0x%" PRIx64 "\"", class ?: "class", code);
}

void logtext_loss(char *buf, size_t size, const struct hwpmc_log_loss *r)
{
	struct hwpmc_classnote note = { .reason = r->reason, .detail = r->detail };

	hwpmc_note_text(&note, buf, size);
}

static void put_machine(FILE *f, const struct hwpmc_log_initialize *r)
{
	end_quoted(f, hwpmc_name_of_cputype(r->cputype) ?: r->cpuid);
}

/* " ctl=0x1 rip=0x401000"; a word without a name has its number. */
static void put_words(FILE *f, const struct hwpmc_log_precise *r)
{
	const char *name;
	uint64_t value;

	for (unsigned int n = 0; n < 64; n++) {
		if (!hwpmc_precise_word(r, n, &value))
			continue;
		name = hwpmc_name_of_word(r->hdr.flags, n);
		if (name)
			fprintf(f, " %s=0x%" PRIx64, name, value);
		else
			fprintf(f, " %u=0x%" PRIx64, n, value);
	}
}

static void put_precise_kind(FILE *f, uint8_t kind)
{
	const char *name = hwpmc_name_of_precise(kind);

	if (name)
		fprintf(f, " %s", name);
	else
		fprintf(f, " kind-%u", kind);
}

/* Of a kind that is more than its number. */
static void put_meaning(FILE *f, const struct hwpmc_record *r,
			const struct record_field *field)
{
	const void *at = (const char *)r->hdr + field->offset;
	const uint32_t *u32 = at;
	char why[LOGTEXT_LOSS];

	switch (field->kind) {
	case RECORD_TEXT:
		end_quoted(f, at);
		break;
	case RECORD_MODE:
		fprintf(f, " %s", hwpmc_name_of_mode(*u32) ?: "?");
		break;
	case RECORD_EVENT:
		put_event(f, r->allocate);
		break;
	case RECORD_ON:
		fputs(r->hdr->flags ? " on" : " off", f);
		break;
	case RECORD_DROPS:
		put_drops(f, r->drop);
		break;
	case RECORD_MACHINE:
		put_machine(f, r->initialize);
		break;
	case RECORD_CPUS:
		fprintf(f, " %u cpus", *u32);
		break;
	case RECORD_KHZ:
		fprintf(f, " %u kHz", *u32);
		break;
	case RECORD_LOSS:
		logtext_loss(why, sizeof(why), r->loss);
		end_quoted(f, why);
		break;
	case RECORD_CORE:
		fprintf(f, " %s", hwpmc_name_of_kind(*u32) ?: "?");
		break;
	case RECORD_PRECISE:
		put_precise_kind(f, r->hdr->flags);
		break;
	case RECORD_EXACT:
		fputs(r->precise->present & HWPMC_PRECISE_EXACT ? " exact" : " inexact", f);
		break;
	case RECORD_WORDS:
		put_words(f, r->precise);
		break;
	default:	/* in no line of the table */
		break;
	}
}

static void put_field(FILE *f, const struct hwpmc_record *r,
		      const struct record_field *field)
{
	const void *at = (const char *)r->hdr + field->offset;
	const uint64_t *u64 = at;
	const uint32_t *u32 = at;

	switch (field->kind) {
	case RECORD_U32:
		fprintf(f, " %u", *u32);
		break;
	case RECORD_I32:
		fprintf(f, " %d", (int32_t)*u32);
		break;
	case RECORD_U64:
	case RECORD_TICK:
		fprintf(f, " %" PRIu64, *u64);
		break;
	case RECORD_ADDRESS:
		fprintf(f, " 0x%" PRIx64, *u64);
		break;
	case RECORD_FLAGS:
		fprintf(f, " 0x%x", *u32);
		break;
	case RECORD_ID:
		fprintf(f, " 0x%x", r->hdr->id);
		break;
	case RECORD_LENGTH:
		fprintf(f, " %u", r->hdr->len);
		break;
	case RECORD_SCHEMA:
		fprintf(f, " 0x%08x", *u32);
		break;
	default:
		put_meaning(f, r, field);
		break;
	}
}

/* A mark of a chain that was walked by unwind tables; NULL: an address. */
static const char *chain_mark(uint64_t pc)
{
	static const char *const words[] = {
		[HWPMC_CHAIN_NO_MAPPING] = "no-mapping",
		[HWPMC_CHAIN_NO_TABLE] = "no-table",
		[HWPMC_CHAIN_NO_RULE] = "no-rule", [HWPMC_CHAIN_FAULT] = "fault",
		[HWPMC_CHAIN_BROKEN] = "broken", [HWPMC_CHAIN_NOT_READY] = "not-ready",
	};
	uint64_t reason = HWPMC_PC_REASON(pc);

	if (pc == HWPMC_PC_FP)
		return "frame-pointers";
	if (reason < sizeof(words) / sizeof(words[0]))
		return words[reason];
	return reason < 16 ? "ends-early" : NULL;
}

static void put_callchain(FILE *f, const struct hwpmc_record *r)
{
	const struct hwpmc_log_sample *s = r->sample;

	fprintf(f, "callchain %d %d 0x%x %d %c", r->pid, r->tid, s->hdr.id, r->cpu,
		s->hdr.flags & HWPMC_SAMPLE_USER ? 'u' : 's');
	for (uint32_t i = 0; i < r->npc; i++) {
		uint64_t pc = s->pc[i];

		if (pc == HWPMC_PC_HIDDEN && s->hdr.flags & HWPMC_SAMPLE_HIDDEN)
			fputs(" hidden", f);
		else if (pc == HWPMC_PC_USER && s->hdr.flags & HWPMC_SAMPLE_SPLIT)
			fputs(" user", f);
		else if (s->hdr.flags & HWPMC_SAMPLE_TABLES && chain_mark(pc))
			fprintf(f, " %s", chain_mark(pc));
		else
			fprintf(f, " 0x%" PRIx64, pc);
	}
}

static void put_name(FILE *f, const char *name)
{
	for (; *name; name++)
		putc_unlocked(*name == '_' ? '-' : tolower((unsigned char)*name), f);
}

/* The part of a mapping that identifies its file; FreeBSD's lines end before it. */
static void put_identity(FILE *f, const struct hwpmc_log_map *r)
{
	struct hwpmc_log_file at;

	if (r->inode)
		fprintf(f, " inode %u:%u:%" PRIu64, r->major, r->minor, (uint64_t)r->inode);
	if (record_file(r, &at))
		fprintf(f, " size %" PRIu64 " mtime %" PRId64 " ctime %" PRId64,
			(uint64_t)at.size, (int64_t)at.mtime, (int64_t)at.ctime);
	if (r->hdr.flags & HWPMC_MAP_HAS_BUILD_ID) {
		fputs(" build-id ", f);
		for (uint32_t i = 0; i < r->build_id_len; i++)
			fprintf(f, "%02x", r->build_id[i]);
	}
	if (r->hdr.flags & HWPMC_MAP_UNREAD)
		fputs(" unread", f);
	if (r->hdr.flags & HWPMC_MAP_COPY)
		fputs(" copy", f);
}

static void put_line(FILE *f, const struct hwpmc_record *r, bool named)
{
	const struct record_type *type = record_type(r->hdr->type);

	flockfile(f);
	if (r->hdr->type == HWPMC_LOG_CALLCHAIN)
		put_callchain(f, r);
	else if (!type)
		fprintf(f, "unknown %u %u", r->hdr->type, r->hdr->len);
	else {
		if (named)
			put_name(f, type->name);
		else
			fputs(type->keyword, f);
		for (const struct record_field *l = type->line; l->name; l++)
			put_field(f, r, l);
		if (named && r->hdr->type == HWPMC_LOG_MAP_IN)
			put_identity(f, r->map);
	}
	putc_unlocked('\n', f);
	funlockfile(f);
}

void logtext_named_line(FILE *f, const struct hwpmc_record *r)
{
	put_line(f, r, true);
}

void logtext_record(FILE *f, const struct hwpmc_record *r)
{
	const struct record_type *type = record_type(r->hdr->type);

	if (!type || !type->of_stream)
		put_line(f, r, false);
}
