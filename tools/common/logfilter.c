/* SPDX-License-Identifier: BSD-2-Clause */
/* logfilter.c - see logfilter.h. */
#include <string.h>

#include "logfilter.h"
#include "records.h"

static bool in_list(const int32_t *list, uint32_t n, int32_t x)
{
	for (uint32_t i = 0; i < n; i++)
		if (list[i] == x)
			return true;
	return false;
}

static int32_t number_at(const struct hwpmc_record *r, uint16_t offset)
{
	return offset ? *(const int32_t *)((const char *)r->hdr + offset) : -1;
}

/* The process and thread that a record is about; -1: none. */
static void record_subject(const struct hwpmc_record *r, int32_t *pid, int32_t *tid)
{
	const struct record_type *type = record_type(r->hdr->type);

	if (r->hdr->type == HWPMC_LOG_CALLCHAIN || r->hdr->type == HWPMC_LOG_PRECISE) {
		*pid = r->pid;
		*tid = r->tid;
		return;
	}
	*pid = type ? number_at(r, type->pid) : -1;
	*tid = type ? number_at(r, type->tid) : -1;
}

static bool is_of_event(const struct logfilter *f, const struct hwpmc_record *r)
{
	const struct record_type *type = record_type(r->hdr->type);

	return type && type->of_pmc &&
	       !strcmp(hwpmc_lookup_event(f->lookup, r->hdr->id)->name, f->o->event);
}

/* Keeps samples of threads and processes with the names that are wanted. */
static bool is_of_names(const struct logfilter *f, const struct hwpmc_record *r)
{
	const struct hwpmc_thread_info *info;

	if (!f->o->comm && !f->o->process)
		return true;
	if (r->hdr->type != HWPMC_LOG_CALLCHAIN && r->hdr->type != HWPMC_LOG_PRECISE)
		return false;
	info = &hwpmc_lookup_task(f->lookup, r)->info;
	return (!f->o->comm || !strcmp(info->comm, f->o->comm)) &&
	       (!f->o->process || !strcmp(info->process, f->o->process));
}

static bool is_in_time(const struct logfilter *f, const struct hwpmc_record *r)
{
	uint64_t ns;

	if (!f->o->from && !f->o->until)
		return true;
	ns = hwpmc_lookup_time(f->lookup, r->hdr->time);
	if (!f->o->since_boot)
		ns = ns > f->began ? ns - f->began : 0;
	return ns >= f->o->from && (!f->o->until || ns < f->o->until);
}

bool logfilter_chooses(const struct hwpmc_profile_options *o)
{
	return o->pids || o->tids || o->event || o->comm || o->process || o->cpus || o->from ||
	       o->until;
}

void logfilter_see(struct logfilter *f, const struct hwpmc_record *r)
{
	if (r->hdr->type == HWPMC_LOG_INITIALIZE)
		f->began = r->initialize->monotonic;
	if (f->o->event && !f->event_seen)
		f->event_seen = is_of_event(f, r);
}

bool logfilter_passes(const struct logfilter *f, const struct hwpmc_record *r)
{
	const struct hwpmc_profile_options *o = f->o;
	int32_t pid, tid;

	if (o->cpus && !in_list(o->cpus, o->ncpu, r->cpu))
		return false;
	if (o->pids || o->tids) {
		record_subject(r, &pid, &tid);
		if ((o->pids && !in_list(o->pids, o->npid, pid)) ||
		    (o->tids && !in_list(o->tids, o->ntid, tid)))
			return false;
	}
	return (!o->event || is_of_event(f, r)) && is_in_time(f, r) && is_of_names(f, r);
}
