/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_event.c - events of a file of perf record: their attributes, names and identifiers. In
 * the log each is a PMC. Samples have the number of events that they stand for, unless the
 * event has a fixed period.
 */
#include <stdlib.h>

#include <hwpmc.h>

#include "perf.h"
#include "stat.h"

static const char *const hardware_names[] = {
	"cycles", "instructions", "cache-references", "cache-misses", "branches",
	"branch-misses", "bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend",
	"ref-cycles",
};

static const char *const software_names[] = {
	"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations",
	"minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy",
	"bpf-output", "cgroup-switches",
};

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

static uint64_t attr_field(const uint8_t *attr, size_t size, size_t at)
{
	return size >= at + sizeof(uint64_t) ? perf_u64(attr + at) : 0;
}

static int check_fields(struct perfdata *p, const struct perf_event *e)
{
	if (e->sample_type & ~(uint64_t)PERF_S_ALL)
		return perf_fail(p, "samples have fields of a newer perf: sample_type %#llx",
				 (unsigned long long)e->sample_type);
	if (p->nevent && (p->event[0].sample_type ^ e->sample_type) & PERF_S_IDENTIFIER)
		return perf_fail(p, "only some of its events have identifiers");
	return 0;
}

int perf_add_event(struct perfdata *p, const uint8_t *attr, size_t size)
{
	struct perf_event e = {
		.type = perf_u32(attr + PERF_ATTR_TYPE),
		.config = perf_u64(attr + PERF_ATTR_CONFIG),
		.period = perf_u64(attr + PERF_ATTR_PERIOD),
		.sample_type = perf_u64(attr + PERF_ATTR_SAMPLE_TYPE),
		.read_format = perf_u64(attr + PERF_ATTR_READ_FORMAT),
		.flags = perf_u64(attr + PERF_ATTR_FLAGS),
		.branches = attr_field(attr, size, PERF_ATTR_BRANCHES),
	};

	if (check_fields(p, &e) < 0)
		return -1;
	e.nregs_user = __builtin_popcountll(attr_field(attr, size, PERF_ATTR_REGS_USER));
	e.nregs_intr = __builtin_popcountll(attr_field(attr, size, PERF_ATTR_REGS_INTR));
	if (!stat_room(&p->event, p->nevent, sizeof(e)))
		return -1;
	p->event[p->nevent++] = e;
	return 0;
}

/* ---- identifiers --------------------------------------------------------- */

static bool same_id(const void *items, uint32_t i, const void *key)
{
	return ((const struct perf_id *)items)[i].id == *(const uint64_t *)key;
}

static uint32_t find_id(const struct perfdata *p, uint64_t id)
{
	return table_find(&p->ids, table_hash(id), same_id, p->id, &id);
}

void perf_add_id(struct perfdata *p, uint64_t id, uint32_t event)
{
	if (find_id(p, id) != TABLE_NONE || !table_room(&p->ids) ||
	    !stat_room(&p->id, p->ids.n, sizeof(*p->id)))
		return;
	p->id[p->ids.n] = (struct perf_id){ id, event };
	table_put(&p->ids, table_hash(id));
}

struct perf_event *perf_event_of(struct perfdata *p, uint64_t id)
{
	uint32_t i;

	if (p->nevent == 1 || (p->nevent && !id))
		return &p->event[0];
	i = find_id(p, id);
	return i != TABLE_NONE ? &p->event[p->id[i].event] : NULL;
}

int perf_header_attr(struct perfdata *p, const struct perf_hdr *record)
{
	const uint8_t *at = (const uint8_t *)record + sizeof(*record);
	size_t len = perf_hdr_of(record).size - sizeof(*record);
	uint32_t size;

	if (len < PERF_ATTR_LEAST)
		return perf_damaged(p, "attribute of %zu bytes: the minimum is %u", len,
				    PERF_ATTR_LEAST);
	size = perf_u32(at + PERF_ATTR_SIZE);
	if (!size)
		size = PERF_ATTR_LEAST;
	if (size < PERF_ATTR_LEAST || size > len)
		return perf_damaged(p, "attribute of %u bytes in a record of %zu", size, len);
	if (perf_add_event(p, at, size) < 0)
		return -1;
	for (at += size, len -= size; len >= sizeof(uint64_t); len -= sizeof(uint64_t)) {
		perf_add_id(p, perf_u64(at), p->nevent - 1);
		at += sizeof(uint64_t);
	}
	return 0;
}

/* ---- names --------------------------------------------------------------- */

void perf_name_event(struct perfdata *p, uint32_t i, const char *name, size_t len)
{
	struct perf_event *e = &p->event[i];
	char *copy = len ? stat_alloc(len + 1, 1) : NULL;

	if (!copy)
		return;
	memcpy(copy, name, len);
	free(e->name);
	e->name = copy;
	if (e->announced)
		perf_put_note(p, i + 1, "event", copy);
}

/* A kind, an identifier and a text: only names are used. */
void perf_event_update(struct perfdata *p, const struct perf_hdr *record)
{
	const uint8_t *at = (const uint8_t *)record + sizeof(*record);
	size_t len = perf_hdr_of(record).size - sizeof(*record);
	uint32_t i;

	if (len <= 16 || perf_u64(at) != PERF_UPDATE_NAME)
		return;
	i = find_id(p, perf_u64(at + 8));
	if (i != TABLE_NONE)
		perf_name_event(p, p->id[i].event, (const char *)at + 16,
				strnlen((const char *)at + 16, len - 16));
}

static void make_name(const struct perf_event *e, char *name, size_t size)
{
	static const char *const kinds[] = {
		"hardware", "software", "tracepoint", "cache", "raw", "breakpoint",
	};

	if (e->type == PERF_T_HARDWARE && (uint32_t)e->config < COUNT(hardware_names))
		snprintf(name, size, "%s", hardware_names[(uint32_t)e->config]);
	else if (e->type == PERF_T_SOFTWARE && e->config < COUNT(software_names))
		snprintf(name, size, "%s", software_names[e->config]);
	else if (e->type == PERF_T_RAW)
		snprintf(name, size, "r%llx", (unsigned long long)e->config);
	else if (e->type < COUNT(kinds))
		snprintf(name, size, "%s-%#llx", kinds[e->type], (unsigned long long)e->config);
	else
		snprintf(name, size, "pmu%u-%#llx", e->type, (unsigned long long)e->config);
}

/* ---- in the log ---------------------------------------------------------- */

/* Whether samples have a weight: with a frequency, and where the kernel counts events of
 * software and writes how many a sample stands for. */
static bool has_weights(const struct perf_event *e)
{
	return e->flags & PERF_A_FREQ || e->sample_type & PERF_S_PERIOD;
}

static uint32_t flags_of(const struct perf_event *e)
{
	uint32_t flags = 0;

	if (e->sample_type & PERF_S_CALLCHAIN)
		flags |= HWPMC_F_CALLCHAIN | HWPMC_F_USERCALLCHAIN;
	if (has_weights(e))
		flags |= HWPMC_F_FREQUENCY;
	if (e->flags & PERF_A_PRECISE)
		flags |= HWPMC_F_EXACT;
	return flags;
}

void perf_announce_event(struct perfdata *p, struct perf_event *e)
{
	uint32_t id = e - p->event + 1;
	struct hwpmc_log_allocate *r;
	char made[64];

	e->announced = true;
	r = perf_put(p, HWPMC_LOG_PMCALLOCATE, sizeof(*r), p->first);
	if (!r)
		return;
	r->hdr.id = id;
	r->class = HWPMC_CLASS_PERF;
	r->mode = e->sample_type & PERF_S_CPU ? HWPMC_MODE_SS : HWPMC_MODE_TS;
	r->cpu = HWPMC_CPU_ANY;
	r->ev = e->type;
	r->config = e->config;
	r->flags = flags_of(e);
	r->count = e->flags & PERF_A_FREQ || !has_weights(e) ? e->period : HWPMC_LOG_OWN_PERIODS;
	make_name(e, made, sizeof(made));
	snprintf(r->name, sizeof(r->name), "%s", e->name ? e->name : made);
	if (e->name)
		perf_put_note(p, id, "event", e->name);
}

static bool is_dummy(const struct perf_event *e)
{
	return e->type == PERF_T_SOFTWARE && e->config == PERF_SOFTWARE_DUMMY;
}

void perf_announce(struct perfdata *p)
{
	for (; p->nannounced < p->nevent; p->nannounced++)
		if (!is_dummy(&p->event[p->nannounced]))
			perf_announce_event(p, &p->event[p->nannounced]);
}

void perf_events_end(struct perfdata *p)
{
	for (uint32_t i = 0; i < p->nevent; i++)
		free(p->event[i].name);
	free(p->event);
	free(p->id);
	table_free(&p->ids);
}
