/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_trailer.c - the fields at the end of each record of perf that is not a sample: thread,
 * time, CPU and identifier, as the attribute of its event has them.
 */
#include "perf.h"
#include "stat.h"

uint64_t perf_time(struct perfdata *p, uint64_t time)
{
	if (!time)
		return 0;
	if (!p->first)
		p->first = time;
	if (time > p->last)
		p->last = time;
	return time;
}

/* The fields of all records, in the order of their places; the identifier is the last. */
static const uint32_t trailing[] = {
	PERF_S_TID, PERF_S_TIME, PERF_S_ID, PERF_S_STREAM_ID, PERF_S_CPU, PERF_S_IDENTIFIER,
};

#define NTRAILING	(sizeof(trailing) / sizeof(trailing[0]))

static void set_field(struct perf_trailer *t, uint32_t field, uint64_t value)
{
	switch (field) {
	case PERF_S_TID:
		t->pid = (uint32_t)value;
		t->tid = value >> 32;
		break;
	case PERF_S_TIME:
		t->time = value;
		break;
	case PERF_S_ID:
	case PERF_S_IDENTIFIER:
		t->id = value;
		break;
	case PERF_S_CPU:
		t->cpu = (uint32_t)value;
		break;
	}
}

struct perf_trailer perf_trailer(struct perfdata *p, const struct perf_hdr *record, size_t *body)
{
	struct perf_trailer t = { .pid = -1, .tid = -1, .cpu = -1 };
	const struct perf_event *e = p->nevent ? p->event : NULL;
	const uint8_t *at = (const uint8_t *)record;
	size_t len = perf_hdr_of(record).size;

	*body = len;
	if (!e || !(e->flags & PERF_A_ID_ALL))
		return t;
	if (e->sample_type & PERF_S_IDENTIFIER && len >= 16)
		e = perf_event_of(p, perf_u64(at + len - 8));
	if (!e)
		e = p->event;
	for (size_t i = NTRAILING; i-- > 0; ) {
		if (!(e->sample_type & trailing[i]))
			continue;
		if (len < sizeof(struct perf_hdr) + 8)
			break;
		len -= 8;
		set_field(&t, trailing[i], perf_u64(at + len));
	}
	*body = len;
	t.time = perf_time(p, e->sample_type & PERF_S_TIME ? t.time : p->order);
	return t;
}
