/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lookup.c - thread and stack of one sample after the other, for callers that print each.
 * Results are cached: by (address space, address), and for the thread of the latest
 * sample. A log that can be read twice is read once for its mappings; else only the
 * mappings read so far are known, and a new one invalidates the cache.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "kinds.h"
#include "stat.h"

#define FRAMES_MAX	((HWPMC_LOG_MAX - sizeof(struct hwpmc_log_hdr)) / 8)
#define KERNEL		1u
#define CALLER		2u

struct slot {
	uintptr_t space;		/* with KERNEL, CALLER */
	uint32_t era;
	uint64_t pc;
	struct hwpmc_place *place;
};

struct task {
	struct hwpmc_task pub;
	struct space *space;
};

struct event_name {
	struct hwpmc_lookup_event pub;
	char name[HWPMC_NAME_MAX];	/* as the kernel or its numbers say */
	bool allocated;
};

struct hwpmc_lookup {
	struct model model;
	struct slot *slot;		/* what addresses were found to be */
	struct table slots;
	struct frames frames;
	struct task **all_tasks;
	struct table tasks;		/* by space and thread */
	/* The thread of the sample before, and how long it is this program. */
	struct task *task;
	uint32_t era;
	int32_t pid, tid;
	uint64_t from, until;
	uint64_t hash;			/* of its addresses' slots, but for the address */
	struct event_name **event;
	struct table events;		/* by the PMC's number */
	uint32_t last_event;
	struct hwpmc_lookup_event unknown_event;
	/* Where there was no memory for another. */
	struct event_name no_event;
	struct task no_task;
	bool broken;
	struct log_clock clock;
	struct kinds kinds;
	struct waiting waiting;		/* records about processes */
	bool waits;			/* for all of them */
	const struct hwpmc_place *stack[FRAMES_MAX];
};

/* ---- what is not a sample ------------------------------------------------ */

static bool same_event(const void *items, uint32_t i, const void *key)
{
	const struct hwpmc_lookup *l = items;

	return l->event[i]->pub.id == *(const uint32_t *)key;
}

static uint32_t find_event(const struct hwpmc_lookup *l, uint32_t id)
{
	return table_find(&l->events, table_hash(id), same_event, l, &id);
}

static struct event_name *get_event(struct hwpmc_lookup *l, uint32_t id)
{
	uint32_t i = find_event(l, id);
	struct event_name *e;

	if (i != TABLE_NONE)
		return l->event[i];
	e = stat_room(&l->event, l->events.n, sizeof(e)) &&
	    table_room(&l->events) ?
	    stat_alloc(1, sizeof(*e)) : NULL;
	if (!e)
		return &l->no_event;
	e->pub.id = id;
	e->pub.serial = l->events.n + 1;
	e->pub.name = "[unknown]";
	l->event[l->events.n] = e;
	table_put(&l->events, table_hash(id));
	return e;
}

static void learn_pmc(struct hwpmc_lookup *l, const struct hwpmc_log_allocate *r)
{
	struct event_name *e = get_event(l, r->hdr.id);

	e->pub.period = r->count;
	e->pub.mode = r->mode;
	e->pub.flags = r->flags;
	if (e->allocated || !strcmp(e->pub.name, "[unknown]")) {
		if (r->name[0])
			memcpy(e->name, r->name, sizeof(e->name));
		else
			snprintf(e->name, sizeof(e->name), "%s-%#" PRIx64,
				 hwpmc_name_of_class(r->class) ?: "class",
				 r->flags & HWPMC_F_EV_PMU ?
				 (uint64_t)r->config : r->ev);
		e->pub.name = e->name;
		e->allocated = true;
	}
}

/* As the user asked for it: this name is the better one. */
static void learn_note(struct hwpmc_lookup *l, const struct hwpmc_log_note *r)
{
	struct event_name *e;

	if (strncmp(r->text, "event=", 6))
		return;
	e = get_event(l, r->hdr.id);
	snprintf(e->name, sizeof(e->name), "%s", r->text + 6);
	e->pub.name = e->name;
	e->allocated = false;
}

static void forget_slots(struct hwpmc_lookup *l)
{
	table_clear(&l->slots);
	l->task = NULL;
}

static void lookup_learn(struct hwpmc_lookup *l, const struct hwpmc_record *r)
{
	switch (r->hdr->type) {
	case HWPMC_LOG_INITIALIZE:
		clock_begin(&l->clock, r->initialize);
		break;
	case HWPMC_LOG_CLOCK:
		/* While lines are printed time must not jump back. */
		if (l->waits)
			clock_again(&l->clock, r->clock);
		break;
	case HWPMC_LOG_NOTE:
		learn_note(l, r->note);
		break;
	case HWPMC_LOG_CPU_KIND:
		kinds_learn(&l->kinds, r);
		break;
	case HWPMC_LOG_PMCALLOCATE:
	case HWPMC_LOG_PMCALLOCATEDYN:
		learn_pmc(l, r->allocate);
		break;
	}
}

static void lookup_feed(struct hwpmc_lookup *l, const struct hwpmc_record *r)
{
	lookup_learn(l, r);
	if (!model_wants(r->hdr->type))
		return;
	if (l->waits) {
		waiting_keep(&l->waiting, r);
		return;
	}
	model_apply(&l->model, r);
	forget_slots(l);
}

EXPORT void hwpmc_lookup_feed(struct hwpmc_lookup *l,
			      const struct hwpmc_record *r)
{
	if (!l || !r)
		return;
	stat_nomem = false;
	lookup_feed(l, r);
	stat_end(&l->broken);
}

EXPORT uint32_t hwpmc_lookup_kind(const struct hwpmc_lookup *l, int32_t cpu)
{
	return l ? kinds_get(&l->kinds, cpu) : 0;
}

EXPORT int hwpmc_lookup_error(const struct hwpmc_lookup *l)
{
	return !l ? EINVAL : l->broken ? ENOMEM : 0;
}

static void apply_changes(struct hwpmc_lookup *l)
{
	waiting_sort(&l->waiting);
	for (uint32_t i = 0; i < l->waiting.n; i++)
		model_apply(&l->model, &l->waiting.record[i]);
	waiting_free(&l->waiting);
	l->waits = false;
}

EXPORT int hwpmc_lookup_learn(struct hwpmc_lookup *l, struct hwpmc_input *in,
			      char *err, size_t size)
{
	struct hwpmc_record r;
	uint64_t end = 0;
	int rc;

	size = err ? size : 0;
	if (stat_null(!l || !in)) {
		snprintf(err, size, NULL_GIVEN);
		return -1;
	}
	if (hwpmc_input_rewind(in) < 0)
		return 0;
	stat_nomem = false;
	l->waits = true;
	hwpmc_input_skip_samples(in, true);
	while ((rc = hwpmc_input_next(in, &r)) > 0) {
		end = r.hdr->time > end ? r.hdr->time : end;
		lookup_feed(l, &r);
	}
	clock_bound(&l->clock, end, &l->model.images);
	hwpmc_input_skip_samples(in, false);
	apply_changes(l);
	if (stat_end(&l->broken) < 0) {
		snprintf(err, size, "out of memory for the processes of this log");
		return -1;
	}
	if (rc == 0)
		rc = hwpmc_input_rewind(in) < 0 ? -1 : 1;
	if (rc < 0)
		snprintf(err, size, "%s", hwpmc_input_error(in));
	return rc;
}

EXPORT struct hwpmc_lookup *
hwpmc_lookup_new(const struct hwpmc_symbol_options *options)
{
	struct hwpmc_lookup *l;

	if (stat_null(!options))
		return NULL;
	stat_nomem = false;
	l = stat_alloc(1, sizeof(*l));
	if (!l || model_init(&l->model, options) < 0) {
		hwpmc_lookup_free(l);
		errno = ENOMEM;
		return NULL;
	}
	/* A place is one function. */
	l->model.images.options.inlines = false;
	l->no_event.pub.name = "[unknown]";
	l->unknown_event.name = "[unknown]";
	l->clock.ns_per_tick = 1;
	return l;
}

EXPORT void hwpmc_lookup_free(struct hwpmc_lookup *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->tasks.n; i++)
		free(l->all_tasks[i]);
	for (uint32_t i = 0; i < l->events.n; i++)
		free(l->event[i]);
	free(l->all_tasks);
	free(l->slot);
	free(l->event);
	kinds_free(&l->kinds);
	waiting_free(&l->waiting);
	table_free(&l->tasks);
	frames_free(&l->frames);
	table_free(&l->slots);
	table_free(&l->events);
	model_free(&l->model);
	free(l);
}

/* ---- when and what ------------------------------------------------------- */

EXPORT uint64_t hwpmc_lookup_time(const struct hwpmc_lookup *l, uint64_t tick)
{
	/* Tools write records without a time. */
	return tick && l ? l->clock.mono0 + clock_ns(&l->clock, tick) : 0;
}

EXPORT const struct hwpmc_lookup_event *
hwpmc_lookup_event(struct hwpmc_lookup *l, uint32_t id)
{
	uint32_t i;

	if (stat_null(!l))
		return NULL;
	i = l->last_event;
	if (i < l->events.n && l->event[i]->pub.id == id)
		return &l->event[i]->pub;
	i = find_event(l, id);
	/* Its PMCALLOCATE was dropped. */
	if (i == TABLE_NONE)
		return &l->unknown_event;
	l->last_event = i;
	return &l->event[i]->pub;
}

/* ---- tasks --------------------------------------------------------------- */

/* Names are one pointer each. */
static uint64_t thread_hash(const struct task *t)
{
	const struct hwpmc_thread_info *info = &t->pub.info;
	uint64_t h = table_mix(table_seed ^ (uintptr_t)t->space,
			       (uint32_t)info->tid);

	h = table_mix(h, (uintptr_t)info->comm);
	return table_mix(table_mix(h, (uintptr_t)info->process),
			 (uintptr_t)info->path);
}

static bool same_task(const void *items, uint32_t i, const void *key)
{
	const struct task *t = ((const struct hwpmc_lookup *)items)->all_tasks[i];
	const struct task *of = key;

	return t->space == of->space && t->pub.info.tid == of->pub.info.tid &&
	       t->pub.info.comm == of->pub.info.comm &&
	       t->pub.info.process == of->pub.info.process &&
	       t->pub.info.path == of->pub.info.path;
}

static struct task *get_task(struct hwpmc_lookup *l, const struct task *of)
{
	uint64_t hash = thread_hash(of);
	uint32_t i = table_find(&l->tasks, hash, same_task, l, of);
	struct task *t;

	if (i != TABLE_NONE)
		return l->all_tasks[i];
	t = stat_room(&l->all_tasks, l->tasks.n, sizeof(t)) &&
	    table_room(&l->tasks) ? stat_alloc(1, sizeof(*t)) : NULL;
	if (!t) {
		l->no_task = *of;
		return &l->no_task;
	}
	*t = *of;
	t->pub.serial = l->tasks.n;
	l->all_tasks[l->tasks.n] = t;
	table_put(&l->tasks, hash);
	return t;
}

static void find_task(struct hwpmc_lookup *l, int32_t pid, int32_t tid,
		      uint64_t time)
{
	struct space *space = model_space(&l->model, pid, time);
	struct task of = {
		.pub.info = { pid, tid, NULL, model_process(space, pid), space->path },
		.space = space,
	};

	l->pid = pid;
	l->tid = tid;
	l->era = model_era(&l->model, space, time, &l->from, &l->until);
	of.pub.info.comm = model_comm(&l->model, space, pid, tid, time, &l->from, &l->until);
	l->hash = table_seed ^ (uintptr_t)space ^ l->era * table_factor;
	l->task = get_task(l, &of);
}

static inline struct task *task_of(struct hwpmc_lookup *l,
				   const struct hwpmc_record *r)
{
	uint64_t time = r->hdr->time;

	if (!l->task || l->pid != r->pid || l->tid != r->tid ||
	    time < l->from || time >= l->until) {
		stat_nomem = false;
		find_task(l, r->pid, r->tid, time);
		stat_end(&l->broken);
	}
	return l->task;
}

EXPORT const struct hwpmc_task *hwpmc_lookup_task(struct hwpmc_lookup *l,
						  const struct hwpmc_record *r)
{
	return stat_null(!l || !r) ? NULL : &task_of(l, r)->pub;
}

EXPORT const struct hwpmc_task *
hwpmc_lookup_span(struct hwpmc_lookup *l, const struct hwpmc_record *r,
		  uint64_t *from, uint64_t *until)
{
	const struct task *t;

	if (stat_null(!l || !r || !from || !until))
		return NULL;
	t = task_of(l, r);
	*from = l->from;
	*until = l->until;
	return &t->pub;
}

/* ---- where --------------------------------------------------------------- */

static inline bool same_slot(const void *items, uint32_t i, const void *key)
{
	const struct slot *s = (const struct slot *)items + i;
	const struct slot *of = key;

	return s->pc == of->pc && s->space == of->space && s->era == of->era;
}

__attribute__((noinline))
static struct hwpmc_place *add_slot(struct hwpmc_lookup *l, uint64_t hash,
				    uint64_t pc, unsigned int kind, uint64_t time)
{
	struct slot s = {
		.space = (uintptr_t)l->task->space | kind, .era = l->era,
		.pc = pc,
	};

	stat_nomem = false;
	s.place = &frames_get(&l->frames, &l->model, l->task->space, time, pc, kind & KERNEL,
			      kind & CALLER)->pub;
	if (stat_room(&l->slot, l->slots.n, sizeof(s)) &&
	    table_room(&l->slots)) {
		l->slot[l->slots.n] = s;
		table_put(&l->slots, hash);
	}
	stat_end(&l->broken);
	return s.place;
}

static inline struct hwpmc_place *place_of(struct hwpmc_lookup *l, uint64_t pc,
					   unsigned int kind, uint64_t time)
{
	struct slot s = {
		.space = (uintptr_t)l->task->space | kind, .era = l->era,
		.pc = pc,
	};
	uint64_t hash = table_mix(l->hash ^ kind, pc);
	uint32_t i = table_find(&l->slots, hash, same_slot, l->slot, &s);

	return i != TABLE_NONE ? l->slot[i].place :
	       add_slot(l, hash, pc, kind, time);
}

#define MARKS	(HWPMC_SAMPLE_SPLIT | HWPMC_SAMPLE_TABLES)

EXPORT const struct hwpmc_place *const *
hwpmc_lookup_stack(struct hwpmc_lookup *l, const struct hwpmc_record *r,
		   uint32_t depth, uint32_t *n)
{
	uint32_t found = 0;
	unsigned int kind;
	bool split;

	if (n)
		*n = 0;
	if (stat_null(!l || !r || !n))
		return NULL;
	kind = r->hdr->flags & HWPMC_SAMPLE_USER ? 0 : KERNEL;
	split = r->hdr->flags & HWPMC_SAMPLE_SPLIT;
	task_of(l, r);
	/* Most samples have no callers. */
	if (r->npc == 1 && depth && !(r->hdr->flags & MARKS)) {
		l->stack[0] = place_of(l, r->sample->pc[0], kind, r->hdr->time);
		*n = 1;
		return l->stack;
	}
	for (uint32_t i = 0; i < r->npc && found < depth; i++) {
		uint64_t pc = r->sample->pc[i];

		/* The first user frame is where it entered the kernel. */
		if (split && pc == HWPMC_PC_USER) {
			kind = 0;
			continue;
		}
		if (r->hdr->flags & HWPMC_SAMPLE_TABLES && pc == HWPMC_PC_FP)
			continue;
		l->stack[found++] = place_of(l, pc, kind, r->hdr->time);
		kind |= CALLER;
	}
	*n = found;
	return l->stack;
}
