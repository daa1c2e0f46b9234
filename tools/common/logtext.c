/* SPDX-License-Identifier: BSD-2-Clause */
/* logtext.c - records as lines of text. No state. */
#include <ctype.h>
#include <inttypes.h>

#include "logtext.h"

/* In quotes; what would break the line or the quotes is escaped. */
static void quoted(FILE *f, const char *s)
{
	putc_unlocked('"', f);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putc_unlocked('\\', f);
		if (iscntrl((unsigned char)*s))
			fprintf(f, "\\x%02x", (unsigned char)*s);
		else
			putc_unlocked(*s, f);
	}
	putc_unlocked('"', f);
}

static void end_quoted(FILE *f, const char *s)
{
	putc_unlocked(' ', f);
	quoted(f, s);
}

static void initialize(FILE *f, const struct hwpmc_log_initialize *r)
{
	fprintf(f, "initlog 0x%08x", r->schema);
	end_quoted(f, hwpmc_name_of_cputype(r->cputype) ?: r->cpuid);
	fprintf(f, " %u cpus %u kHz", r->ncpu, r->khz);
}

static void drop(FILE *f, const struct hwpmc_log_drop *r)
{
	fprintf(f, "drop %u", r->cpu);
	for (uint32_t i = 0; i < HWPMC_DROP__COUNT; i++)
		if (r->samples[i] || r->others[i])
			fprintf(f, " %" PRIu64 "+%" PRIu64 " \"%s\"",
				(uint64_t)r->samples[i], (uint64_t)r->others[i],
				hwpmc_name_of_drop(i));
}

static void allocate(FILE *f, const struct hwpmc_log_allocate *r)
{
	const char *class = hwpmc_name_of_class(r->class);
	uint64_t code = r->flags & HWPMC_F_EV_PMU ? r->config : r->ev;

	fprintf(f, r->hdr.type == HWPMC_LOG_PMCALLOCATE ? "allocate 0x%x" :
		"allocatedyn 0x%x", r->hdr.id);
	if (r->name[0])
		end_quoted(f, r->name);
	else
		fprintf(f, " \"%s-0x%" PRIx64 "\"", class ?: "class", code);
	fprintf(f, " 0x%x %s %" PRIu64, r->flags,
		hwpmc_name_of_mode(r->mode) ?: "?", (uint64_t)r->count);
}

static void value(FILE *f, const struct hwpmc_log_value *r)
{
	if (r->hdr.type == HWPMC_LOG_PROCCSW)
		fprintf(f, "cswval 0x%x %d %d %" PRIu64, r->hdr.id, r->pid,
			r->tid, (uint64_t)r->value);
	else
		fprintf(f, "exitval 0x%x %d %" PRIu64, r->hdr.id, r->pid,
			(uint64_t)r->value);
}

static void map(FILE *f, const struct hwpmc_log_map *r)
{
	fprintf(f, "map-in %d 0x%" PRIx64, r->pid, (uint64_t)r->start);
	end_quoted(f, r->path);
	fprintf(f, " 0x%" PRIx64 " 0x%" PRIx64, (uint64_t)r->end,
		(uint64_t)r->offset);
}

static void callchain(FILE *f, const struct hwpmc_record *r)
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
		else
			fprintf(f, " 0x%" PRIx64, pc);
	}
}

static void task(FILE *f, const struct hwpmc_log_task *r)
{
	switch (r->hdr.type) {
	case HWPMC_LOG_SYSEXIT:
		fprintf(f, "exit %d", r->pid);
		return;
	case HWPMC_LOG_THR_EXIT:
		fprintf(f, "thr-exit %d", r->tid);
		return;
	case HWPMC_LOG_PROC_CREATE:
		fprintf(f, "create %d 0x%x", r->pid, r->flags);
		break;
	case HWPMC_LOG_THR_CREATE:
		fprintf(f, "thr-create %d %d 0x%x", r->tid, r->pid, r->flags);
		break;
	default:
		fprintf(f, "comm %d %d", r->pid, r->tid);
		break;
	}
	end_quoted(f, r->comm);
}

static void with_path(FILE *f, const struct hwpmc_record *r)
{
	if (r->hdr->type == HWPMC_LOG_PROCEXEC) {
		fprintf(f, "exec %d", r->exec->pid);
		end_quoted(f, r->exec->path);
		return;
	}
	fprintf(f, "attach 0x%x %d", r->hdr->id, r->attach->pid);
	end_quoted(f, r->attach->path);
}

static void note(FILE *f, const struct hwpmc_log_note *r)
{
	fprintf(f, "note 0x%x", r->hdr.id);
	end_quoted(f, r->text);
}

static void throttle(FILE *f, const struct hwpmc_log_throttle *r)
{
	fprintf(f, "throttle 0x%x %u %s %u", r->hdr.id, r->cpu,
		r->hdr.flags ? "on" : "off", r->percent);
}

static void line(FILE *f, const struct hwpmc_record *r)
{
	switch (r->hdr->type) {
	case HWPMC_LOG_CLOSELOG:
		fputs("closelog", f);
		break;
	case HWPMC_LOG_DROPNOTIFY:
		drop(f, r->drop);
		break;
	case HWPMC_LOG_INITIALIZE:
		initialize(f, r->initialize);
		break;
	case HWPMC_LOG_PMCALLOCATE:
	case HWPMC_LOG_PMCALLOCATEDYN:
		allocate(f, r->allocate);
		break;
	case HWPMC_LOG_PMCATTACH:
	case HWPMC_LOG_PROCEXEC:
		with_path(f, r);
		break;
	case HWPMC_LOG_PMCDETACH:
		fprintf(f, "detach 0x%x %d", r->hdr->id, r->attach->pid);
		break;
	case HWPMC_LOG_PROCCSW:
	case HWPMC_LOG_PROCEXIT:
		value(f, r->value);
		break;
	case HWPMC_LOG_PROCFORK:
		fprintf(f, "fork %d %d", r->fork->parent, r->fork->child);
		break;
	case HWPMC_LOG_USERDATA:
		fprintf(f, "userdata 0x%x", r->hdr->id);
		break;
	case HWPMC_LOG_MAP_IN:
		map(f, r->map);
		break;
	case HWPMC_LOG_MAP_OUT:
		fprintf(f, "map-out %d 0x%" PRIx64 " 0x%" PRIx64, r->unmap->pid,
			(uint64_t)r->unmap->start, (uint64_t)r->unmap->end);
		break;
	case HWPMC_LOG_CALLCHAIN:
		callchain(f, r);
		break;
	case HWPMC_LOG_THROTTLE:
		throttle(f, r->throttle);
		break;
	case HWPMC_LOG_CLOCK:
		fprintf(f, "clock %" PRIu64 " %" PRIu64, (uint64_t)r->clock->tick,
			(uint64_t)r->clock->realtime);
		break;
	case HWPMC_LOG_NOTE:
		note(f, r->note);
		break;
	case HWPMC_LOG_SYSEXIT:
	case HWPMC_LOG_THR_CREATE:
	case HWPMC_LOG_THR_EXIT:
	case HWPMC_LOG_PROC_CREATE:
	case HWPMC_LOG_COMM_NAME:
		task(f, r->task);
		break;
	default:
		fprintf(f, "unknown %u %u", r->hdr->type, r->hdr->len);
		break;
	}
	putc_unlocked('\n', f);
}

void logtext_record(FILE *f, const struct hwpmc_record *r)
{
	uint8_t type = r->hdr->type;

	if (type == HWPMC_LOG_CPU || type == HWPMC_LOG_CONTEXT ||
	    type == HWPMC_LOG_PADDING)
		return;
	flockfile(f);
	line(f, r);
	funlockfile(f);
}
