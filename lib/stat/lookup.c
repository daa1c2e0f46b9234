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

#include "stat.h"

#define FRAMES_MAX	((HWPMC_LOG_MAX - sizeof(struct hwpmc_log_hdr)) / 8)
#define KERNEL		1u
#define CALLER		2u

struct slot {
	uintptr_t space;		/* with KERNEL, CALLER */
	uint32_t era;
	uint64_t pc;
	struct hwpmc_place *place;	/* NULL: free */
};

struct places {
	struct hwpmc_place **table;	/* by image, address and kind */
	uint32_t n, size;
};

struct task {
	struct hwpmc_task pub;
	struct space *space;
	struct task *next;		/* of the same hash */
};

struct event_name {
	struct hwpmc_lookup_event pub;
	char name[HWPMC_NAME_MAX];	/* as the kernel or its numbers say */
	bool allocated;
};

/* A record about processes that waits until all are there. */
struct change {
	uint64_t time, serial;
	struct hwpmc_log_hdr *copy;
};

struct hwpmc_lookup {
	struct model model;
	struct slot *slot;
	uint32_t nslot, used;
	struct places places;
	struct task *task_hash[256];
	uint32_t ntask;
	/* The thread of the sample before, and how long it is this program. */
	struct task *task;
	uint32_t era;
	int32_t pid, tid;
	uint64_t from, until;
	struct event_name **event;
	uint32_t nevent, last_event;
	struct hwpmc_lookup_event unknown_event;
	/* Where there was no memory for another. */
	struct event_name no_event;
	struct task no_task;
	struct hwpmc_place no_place;
	bool broken;
	struct log_clock clock;
	struct change *change;
	uint32_t nchange;
	bool waits;			/* for all changes */
	const struct hwpmc_place *stack[FRAMES_MAX];
};

/* ---- what is not a sample ------------------------------------------------ */

static struct event_name *get_event(struct hwpmc_lookup *l, uint32_t id)
{
	struct event_name *e;

	for (uint32_t i = 0; i < l->nevent; i++)
		if (l->event[i]->pub.id == id)
			return l->event[i];
	e = stat_room(&l->event, l->nevent, sizeof(e)) ?
	    stat_alloc(1, sizeof(*e)) : NULL;
	if (!e)
		return &l->no_event;
	e->pub.id = id;
	e->pub.serial = l->nevent + 1;
	e->pub.name = "[unknown]";
	l->event[l->nevent++] = e;
	return e;
}

static void learn_pmc(struct hwpmc_lookup *l, const struct hwpmc_log_allocate *r)
{
	struct event_name *e = get_event(l, r->hdr.id);

	e->pub.period = r->count;
	e->pub.mode = r->mode;
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
	if (l->used)
		memset(l->slot, 0, l->nslot * sizeof(*l->slot));
	l->used = 0;
	l->task = NULL;
}

static void keep_change(struct hwpmc_lookup *l, const struct hwpmc_record *r)
{
	struct change c = { .time = r->hdr->time, .serial = r->serial };

	if (!stat_room(&l->change, l->nchange, sizeof(c)))
		return;
	c.copy = stat_alloc(1, r->hdr->len);
	if (!c.copy)
		return;
	memcpy(c.copy, r->hdr, r->hdr->len);
	l->change[l->nchange++] = c;
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
		keep_change(l, r);
		return;
	}
	model_apply(&l->model, r);
	forget_slots(l);
}

EXPORT void hwpmc_lookup_feed(struct hwpmc_lookup *l,
			      const struct hwpmc_record *r)
{
	stat_nomem = false;
	lookup_feed(l, r);
	stat_end(&l->broken);
}

EXPORT int hwpmc_lookup_error(const struct hwpmc_lookup *l)
{
	return l->broken ? ENOMEM : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

static void apply_changes(struct hwpmc_lookup *l)
{
	if (l->nchange)
		qsort(l->change, l->nchange, sizeof(*l->change), by_time);
	for (uint32_t i = 0; i < l->nchange; i++) {
		struct hwpmc_record r = {
			.hdr = l->change[i].copy, .serial = l->change[i].serial,
		};

		model_apply(&l->model, &r);
		free(l->change[i].copy);
	}
	free(l->change);
	l->change = NULL;
	l->nchange = 0;
	l->waits = false;
}

EXPORT int hwpmc_lookup_learn(struct hwpmc_lookup *l, struct hwpmc_input *in,
			      char *err, size_t size)
{
	struct hwpmc_record r;
	int rc;

	if (hwpmc_input_rewind(in) < 0)
		return 0;
	stat_nomem = false;
	l->waits = true;
	hwpmc_input_skip_samples(in, true);
	while ((rc = hwpmc_input_next(in, &r)) > 0)
		lookup_feed(l, &r);
	hwpmc_input_skip_samples(in, false);
	apply_changes(l);
	if (stat_end(&l->broken) < 0) {
		snprintf(err, size, "not enough memory for the processes of this log");
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

	stat_nomem = false;
	l = stat_alloc(1, sizeof(*l));
	if (!l || model_init(&l->model, options) < 0) {
		hwpmc_lookup_free(l);
		errno = ENOMEM;
		return NULL;
	}
	l->no_place.frame.image = &l->model.images.unknown->pub;
	l->no_place.frame.symbol = &l->model.images.unknown->unknown;
	l->no_event.pub.name = "[unknown]";
	l->unknown_event.name = "[unknown]";
	l->clock.ns_per_tick = 1;
	return l;
}

EXPORT void hwpmc_lookup_free(struct hwpmc_lookup *l)
{
	struct task *next;

	if (!l)
		return;
	for (unsigned int i = 0; i < 256; i++)
		for (struct task *t = l->task_hash[i]; t; t = next) {
			next = t->next;
			free(t);
		}
	for (uint32_t i = 0; i < l->places.size; i++)
		free(l->places.table[i]);
	for (uint32_t i = 0; i < l->nevent; i++)
		free(l->event[i]);
	free(l->places.table);
	free(l->slot);
	free(l->event);
	model_free(&l->model);
	free(l);
}

/* ---- when and what ------------------------------------------------------- */

EXPORT uint64_t hwpmc_lookup_time(const struct hwpmc_lookup *l, uint64_t tick)
{
	/* Tools write records without a time. */
	return tick ? l->clock.mono0 + clock_ns(&l->clock, tick) : 0;
}

EXPORT const struct hwpmc_lookup_event *
hwpmc_lookup_event(struct hwpmc_lookup *l, uint32_t id)
{
	if (l->last_event < l->nevent && l->event[l->last_event]->pub.id == id)
		return &l->event[l->last_event]->pub;
	for (uint32_t i = 0; i < l->nevent; i++)
		if (l->event[i]->pub.id == id) {
			l->last_event = i;
			return &l->event[i]->pub;
		}
	/* Its PMCALLOCATE was dropped. */
	return &l->unknown_event;
}

/* ---- tasks --------------------------------------------------------------- */

static struct task *new_task(struct hwpmc_lookup *l, struct space *space,
			     const char *comm)
{
	struct task *t = stat_alloc(1, sizeof(*t));

	if (!t)
		t = &l->no_task;
	t->space = space;
	t->pub.serial = l->ntask++;
	t->pub.info = (struct hwpmc_thread_info){
		l->pid, l->tid, comm, comm, space->path,
	};
	return t;
}

static void find_task(struct hwpmc_lookup *l, int32_t pid, int32_t tid,
		      uint64_t time)
{
	struct space *space = model_space(&l->model, pid, time);
	struct task **slot = &l->task_hash[(uint32_t)tid & 255], *t;
	const char *comm = space->comm ? space->comm :
			   pid == 0 ? "[idle]" : "[unknown]";

	l->pid = pid;
	l->tid = tid;
	l->era = model_era(&l->model, space, time, &l->from, &l->until);
	for (t = *slot; t; t = t->next)
		if (t->space == space && t->pub.info.tid == tid &&
		    t->pub.info.process == comm &&
		    t->pub.info.path == space->path)
			break;
	if (!t) {
		t = new_task(l, space, comm);
		if (t != &l->no_task) {
			t->next = *slot;
			*slot = t;
		}
	}
	l->task = t;
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
	return &task_of(l, r)->pub;
}

/* ---- where --------------------------------------------------------------- */

static uint64_t hash_mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static uint64_t place_hash(const struct hwpmc_frame *f)
{
	return hash_mix(hash_mix((uintptr_t)f->image, f->addr),
			f->pc * 4 + f->kernel * 2 + f->caller);
}

static bool same_place(const struct hwpmc_frame *a, const struct hwpmc_frame *b)
{
	return a->image == b->image && a->addr == b->addr && a->pc == b->pc &&
	       a->kernel == b->kernel && a->caller == b->caller;
}

static bool grow_places(struct places *p)
{
	uint32_t n = p->size ? 2 * p->size : 1024, at;
	struct hwpmc_place **old = p->table, **new = stat_alloc(n, sizeof(*new));

	if (!new)
		return false;
	p->table = new;
	for (uint32_t i = 0; i < p->size; i++) {
		if (!old[i])
			continue;
		for (at = place_hash(&old[i]->frame) & (n - 1); p->table[at];
		     at = (at + 1) & (n - 1))
			;
		p->table[at] = old[i];
	}
	free(old);
	p->size = n;
	return true;
}

static struct hwpmc_place *find_place(struct hwpmc_lookup *l, uint64_t pc,
				      unsigned int kind, uint64_t time)
{
	struct hwpmc_frame f = {
		.pc = pc, .kernel = kind & KERNEL, .caller = kind & CALLER,
	};
	/* The call, not what comes after it. */
	uint64_t look = f.caller && pc != HWPMC_PC_HIDDEN ? pc - 1 : pc;
	struct image *img = model_find(&l->model, l->task->space, f.kernel, look,
				       time, &f.addr);
	struct places *p = &l->places;
	uint32_t at;

	f.image = &img->pub;
	if (p->n * 2 >= p->size && !grow_places(p))
		return &l->no_place;
	for (at = place_hash(&f) & (p->size - 1); p->table[at];
	     at = (at + 1) & (p->size - 1))
		if (same_place(&p->table[at]->frame, &f))
			return p->table[at];
	f.symbol = image_symbol(&l->model.images, img, f.addr);
	p->table[at] = stat_alloc(1, sizeof(struct hwpmc_place));
	if (!p->table[at])
		return &l->no_place;
	p->table[at]->frame = f;
	p->table[at]->serial = p->n++;
	return p->table[at];
}

static uint64_t slot_hash(const struct slot *s)
{
	return hash_mix(s->space + ((uint64_t)s->era << 48), s->pc);
}

static bool grow_slots(struct hwpmc_lookup *l)
{
	struct slot *old = l->slot, *new;
	uint32_t n = l->nslot ? 2 * l->nslot : 4096, at;

	new = stat_alloc(n, sizeof(*new));
	if (!new)
		return false;
	l->slot = new;
	for (uint32_t i = 0; i < l->nslot; i++) {
		if (!old[i].place)
			continue;
		for (at = slot_hash(&old[i]) & (n - 1);
		     l->slot[at].place; at = (at + 1) & (n - 1))
			;
		l->slot[at] = old[i];
	}
	free(old);
	l->nslot = n;
	return true;
}

static struct hwpmc_place *place_of(struct hwpmc_lookup *l, uint64_t pc,
				    unsigned int kind, uint64_t time)
{
	struct slot s = {
		.space = (uintptr_t)l->task->space | kind, .era = l->era,
		.pc = pc,
	};
	uint32_t at;

	if (l->used * 2 >= l->nslot && !grow_slots(l)) {
		l->broken = true;
		return &l->no_place;
	}
	for (at = slot_hash(&s) & (l->nslot - 1); l->slot[at].place;
	     at = (at + 1) & (l->nslot - 1))
		if (l->slot[at].pc == pc && l->slot[at].space == s.space &&
		    l->slot[at].era == s.era)
			return l->slot[at].place;
	stat_nomem = false;
	s.place = find_place(l, pc, kind, time);
	l->slot[at] = s;
	stat_end(&l->broken);
	l->used++;
	return s.place;
}

EXPORT const struct hwpmc_place *const *
hwpmc_lookup_stack(struct hwpmc_lookup *l, const struct hwpmc_record *r,
		   uint32_t depth, uint32_t *n)
{
	unsigned int kind = r->hdr->flags & HWPMC_SAMPLE_USER ? 0 : KERNEL;
	bool split = r->hdr->flags & HWPMC_SAMPLE_SPLIT;
	uint32_t found = 0;

	task_of(l, r);
	for (uint32_t i = 0; i < r->npc && found < depth; i++) {
		uint64_t pc = r->sample->pc[i];

		/* The first user frame is where it entered the kernel. */
		if (split && pc == HWPMC_PC_USER) {
			kind = 0;
			continue;
		}
		l->stack[found++] = place_of(l, pc, kind, r->hdr->time);
		kind |= CALLER;
	}
	*n = found;
	return l->stack;
}
