/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.c - counts distinct stacks, then finds out what their addresses are. The
 * loop over the samples does no more than look one up in a hash table; names are
 * looked for once an address.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"

/* A distinct stack before its addresses have names. */
struct entry {
	uint64_t hash;
	uint64_t count;
	uint64_t time;			/* of its first sample */
	struct space *space;
	int32_t pid, tid;
	uint32_t event;
	uint32_t npc;
	uint32_t pc;			/* where its addresses are in .pcs */
	uint8_t flags;
};

struct event {
	struct hwpmc_profile_event pub;
	char *name;
};

struct pmc_event {
	uint32_t id, event;
};

/* A record that waits for its turn (feed): structure, or a sample. */
struct waiting {
	uint64_t time;
	struct hwpmc_record record;
	struct hwpmc_log_hdr *copy;
};

struct note {
	char *text;			/* "key=value" */
	uint32_t id;
};

/* Whose samples are being read, of which event: what holds for many in a row. */
struct run {
	int32_t pid, tid, cpu;
	uint32_t id;			/* of the PMC */
	uint64_t from, until;		/* it is this program */
	struct space *space;
	uint64_t hash;			/* of all this */
	uint32_t event;
	int32_t as_tid;			/* whom they are counted for */
	bool known, wanted;
};

struct hwpmc_profile {
	struct hwpmc_profile_options o;
	struct model model;
	struct hwpmc_profile_totals totals;
	struct event *event;
	struct hwpmc_profile_event *event_view;
	uint32_t nevent;
	struct pmc_event *pmc;
	uint32_t npmc;
	struct note *note;
	uint32_t nnote;
	/* The clock: tick -> ns of CLOCK_REALTIME. */
	uint64_t tick0, real0, tick1, real1;
	double ns_per_tick;
	uint64_t first, last;		/* ticks of samples */

	struct run run;
	struct entry *entry;
	uint32_t nentry;
	uint32_t *slot;			/* entry + 1; 0: free */
	uint32_t nslot;
	uint64_t *pcs;
	uint64_t npcs;

	struct waiting *waiting;
	uint32_t nwaiting;
	uint64_t applied;		/* time of the latest of those that were */

	/* The answer. */
	struct hwpmc_stack *stack;
	uint32_t nstack;
	struct frames frames;
	struct hwpmc_thread_info **thread;
	uint32_t nthread;
	struct hwpmc_image **image_view;
	struct hwpmc_sample_point *point;
	uint32_t npoint;
};

/* ---- events and notes ---------------------------------------------------- */

static const char *note_of(const struct hwpmc_profile *p, const char *key,
			   uint32_t id)
{
	size_t len = strlen(key);

	for (uint32_t i = p->nnote; i-- > 0; )
		if (p->note[i].id == id && !strncmp(p->note[i].text, key, len) &&
		    p->note[i].text[len] == '=')
			return p->note[i].text + len + 1;
	return NULL;
}

static void add_note(struct hwpmc_profile *p, uint32_t id, const char *text)
{
	p->note = stat_grow(p->note, p->nnote, sizeof(*p->note));
	p->note[p->nnote++] = (struct note){ strdup(text), id };
}

/* The same event on several CPUs is one: the mode, period and name tell. */
static void add_pmc(struct hwpmc_profile *p, const struct hwpmc_log_allocate *r)
{
	const char *name = note_of(p, "event", r->hdr.id);
	char made[64];
	uint32_t i;

	if (r->mode != HWPMC_MODE_SS && r->mode != HWPMC_MODE_TS)
		return;
	if (!name && r->name[0])
		name = r->name;
	if (!name) {
		snprintf(made, sizeof(made), "%s-%#llx",
			 hwpmc_name_of_class(r->class) ?: "class",
			 (unsigned long long)(r->flags & HWPMC_F_EV_PMU ?
					      r->config : r->ev));
		name = made;
	}
	for (i = 0; i < p->nevent; i++)
		if (!strcmp(p->event[i].name, name) &&
		    p->event[i].pub.mode == r->mode &&
		    p->event[i].pub.period == r->count)
			break;
	if (i == p->nevent) {
		p->event = stat_grow(p->event, i, sizeof(*p->event));
		p->event[p->nevent++] = (struct event){
			.name = strdup(name),
			.pub = { .id = r->hdr.id, .mode = r->mode,
				 .flags = r->flags, .period = r->count },
		};
	}
	p->pmc = stat_grow(p->pmc, p->npmc, sizeof(*p->pmc));
	p->pmc[p->npmc++] = (struct pmc_event){ r->hdr.id, i };
}

static uint32_t event_of(struct hwpmc_profile *p, uint32_t id)
{
	struct hwpmc_log_allocate unknown = {
		.hdr = { .id = id }, .mode = HWPMC_MODE_TS, .name = "[unknown]",
	};

	for (uint32_t i = p->npmc; i-- > 0; )
		if (p->pmc[i].id == id)
			return p->pmc[i].event;
	/* Its PMCALLOCATE was dropped. */
	add_pmc(p, &unknown);
	return p->pmc[p->npmc - 1].event;
}

/* ---- the clock ----------------------------------------------------------- */

static void clock_begin(struct hwpmc_profile *p,
			const struct hwpmc_log_initialize *r)
{
	char text[32];

	p->tick0 = r->tick;
	p->real0 = r->realtime;
	p->ns_per_tick = 1e6 / r->khz;
	snprintf(text, sizeof(text), "ncpu=%u", r->ncpu);
	add_note(p, 0, text);
	snprintf(text, sizeof(text), "cpuid=%.20s", r->cpuid);
	add_note(p, 0, text);
}

static void clock_again(struct hwpmc_profile *p, const struct hwpmc_log_clock *r)
{
	p->tick1 = r->tick;
	p->real1 = r->realtime;
	/* Over less than a second the kernel's own figure is the better one. */
	if (r->realtime - p->real0 > 1000000000ull && r->tick > p->tick0)
		p->ns_per_tick = (double)(r->realtime - p->real0) /
				 (r->tick - p->tick0);
}

static uint64_t to_ns(const struct hwpmc_profile *p, uint64_t tick)
{
	return p->real0 + (int64_t)((double)(int64_t)(tick - p->tick0) *
				    p->ns_per_tick);
}

/* ---- counting samples ---------------------------------------------------- */

static uint64_t mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static void grow_slots(struct hwpmc_profile *p)
{
	uint32_t n = p->nslot ? 2 * p->nslot : 1024;

	free(p->slot);
	p->slot = stat_alloc(n, sizeof(*p->slot));
	p->nslot = n;
	for (uint32_t i = 0; i < p->nentry; i++) {
		uint32_t at = p->entry[i].hash & (n - 1);

		while (p->slot[at])
			at = (at + 1) & (n - 1);
		p->slot[at] = i + 1;
	}
}

static bool same_stack(const struct hwpmc_profile *p, const struct entry *a,
		       uint64_t hash, const struct hwpmc_record *r,
		       uint32_t npc)
{
	const struct run *run = &p->run;

	return a->hash == hash && a->npc == npc && a->space == run->space &&
	       a->event == run->event && a->tid == run->as_tid &&
	       a->flags == r->hdr->flags &&
	       p->pcs[a->pc] == r->sample->pc[0] &&
	       (npc == 1 || !memcmp(p->pcs + a->pc, r->sample->pc,
				    npc * sizeof(*p->pcs)));
}

static void keep_pcs(struct hwpmc_profile *p, struct entry *e,
		     const uint64_t *pc)
{
	e->pc = p->npcs;
	for (uint32_t i = 0; i < e->npc; i++) {
		p->pcs = stat_grow(p->pcs, p->npcs, sizeof(*p->pcs));
		p->pcs[p->npcs++] = pc[i];
	}
}

static uint32_t add_stack(struct hwpmc_profile *p, const struct hwpmc_record *r,
			  uint64_t hash, uint32_t npc)
{
	struct entry e = {
		.hash = hash, .count = 1, .time = r->hdr->time,
		.space = p->run.space, .pid = r->pid, .tid = p->run.as_tid,
		.event = p->run.event, .npc = npc, .flags = r->hdr->flags,
	};

	keep_pcs(p, &e, (const uint64_t *)r->sample->pc);
	p->entry = stat_grow(p->entry, p->nentry, sizeof(*p->entry));
	p->entry[p->nentry] = e;
	return p->nentry++;
}

static uint32_t count_stack(struct hwpmc_profile *p,
			    const struct hwpmc_record *r, uint32_t npc)
{
	uint64_t hash = p->run.hash + r->hdr->flags;
	uint32_t at;

	for (uint32_t i = 0; i < npc; i++)
		hash = mix(hash, r->sample->pc[i]);
	if (p->nentry * 2 >= p->nslot)
		grow_slots(p);
	for (at = hash & (p->nslot - 1); p->slot[at];
	     at = (at + 1) & (p->nslot - 1)) {
		struct entry *old = &p->entry[p->slot[at] - 1];

		if (same_stack(p, old, hash, r, npc)) {
			old->count++;
			return p->slot[at] - 1;
		}
	}
	p->slot[at] = p->nentry + 1;
	return add_stack(p, r, hash, npc);
}

static bool in_list(const int32_t *list, uint32_t n, int32_t x)
{
	if (!list)
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (list[i] == x)
			return true;
	return false;
}

static bool is_wanted(struct hwpmc_profile *p, const struct hwpmc_record *r,
		      uint32_t event, const struct space *space)
{
	const struct hwpmc_profile_options *o = &p->o;

	return in_list(o->pids, o->npid, r->pid) &&
	       in_list(o->tids, o->ntid, r->tid) &&
	       (o->cpu < 0 || o->cpu == r->cpu) &&
	       (!o->event || !strcmp(o->event, p->event[event].name)) &&
	       (!o->comm || (space->comm && !strcmp(o->comm, space->comm)));
}

static void begin_run(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	struct space *space = model_space(&p->model, r->pid, r->hdr->time);
	struct run *run = &p->run;

	*run = (struct run){
		.pid = r->pid, .tid = r->tid, .cpu = r->cpu, .id = r->hdr->id,
		.from = space->from, .space = space,
		.until = space->next ? space->next->from : UINT64_MAX,
		.event = event_of(p, r->hdr->id),
		.as_tid = p->o.by_thread ? r->tid : r->pid,
	};
	run->hash = mix(mix((uintptr_t)space, run->event),
			(uint32_t)run->as_tid);
	run->wanted = is_wanted(p, r, run->event, space);
	run->known = true;
}

/* Samples before the first program of a process are that one's too. */
static inline bool goes_on(const struct run *run, const struct hwpmc_record *r)
{
	return run->known && run->pid == r->pid && run->tid == r->tid &&
	       run->cpu == r->cpu && run->id == r->hdr->id &&
	       r->hdr->time >= run->from && r->hdr->time < run->until;
}

static void add_point(struct hwpmc_profile *p, const struct hwpmc_record *r,
		      uint32_t stack)
{
	p->point = stat_grow(p->point, p->npoint, sizeof(*p->point));
	p->point[p->npoint++] = (struct hwpmc_sample_point){
		r->hdr->time, stack, r->cpu,
	};
}

static void add_sample(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	uint64_t time = r->hdr->time;
	uint32_t npc = r->npc, stack;
	struct event *event;

	if (!goes_on(&p->run, r))
		begin_run(p, r);
	event = &p->event[p->run.event];
	p->totals.samples++;
	if (time < p->first || !p->first)
		p->first = time;
	if (time > p->last)
		p->last = time;
	if (!p->run.wanted) {
		event->pub.filtered++;
		return;
	}
	event->pub.samples++;
	p->totals.kept++;
	if (p->o.leaf_only)
		npc = 1;
	else if (p->o.depth && npc > p->o.depth)
		npc = p->o.depth;
	stack = count_stack(p, r, npc);
	if (p->o.timeline)
		add_point(p, r, stack);
}

/* ---- reading ------------------------------------------------------------- */

static void count_drops(struct hwpmc_profile *p, const struct hwpmc_log_drop *r)
{
	for (int i = 0; i < HWPMC_DROP__COUNT; i++) {
		p->totals.dropped[i] += r->samples[i];
		p->totals.others_dropped[i] += r->others[i];
	}
}

/* What is neither a sample nor for the model. */
static void note_record(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	switch (r->hdr->type) {
	case HWPMC_LOG_INITIALIZE:
		clock_begin(p, r->initialize);
		break;
	case HWPMC_LOG_CLOCK:
		clock_again(p, r->clock);
		break;
	case HWPMC_LOG_NOTE:
		add_note(p, r->hdr->id, r->note->text);
		break;
	case HWPMC_LOG_DROPNOTIFY:
		count_drops(p, r->drop);
		break;
	case HWPMC_LOG_THROTTLE:
		p->totals.throttles += !r->hdr->flags;
		break;
	case HWPMC_LOG_CLOSELOG:
		p->totals.closed = true;
		break;
	case HWPMC_LOG_PROCEXEC:
		p->totals.execs++;
		break;
	case HWPMC_LOG_PROCFORK:
		p->totals.forks++;
		break;
	case HWPMC_LOG_SYSEXIT:
		p->totals.exits++;
		break;
	case HWPMC_LOG_MAP_IN:
		p->totals.maps++;
		break;
	}
}

static void keep_waiting(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	struct waiting w = { .time = r->hdr->time, .record = *r };

	w.copy = stat_alloc(1, r->hdr->len);
	memcpy(w.copy, r->hdr, r->hdr->len);
	w.record.hdr = w.copy;
	p->waiting = stat_grow(p->waiting, p->nwaiting, sizeof(w));
	p->waiting[p->nwaiting++] = w;
}

static bool is_allocate(uint8_t type)
{
	return type == HWPMC_LOG_PMCALLOCATE || type == HWPMC_LOG_PMCALLOCATEDYN;
}

EXPORT int hwpmc_profile_feed(struct hwpmc_profile *p,
			      const struct hwpmc_record *r)
{
	p->totals.records++;
	note_record(p, r);
	if (r->hdr->type == HWPMC_LOG_CALLCHAIN || model_wants(r->hdr->type) ||
	    r->hdr->type == HWPMC_LOG_SYSEXIT || is_allocate(r->hdr->type))
		keep_waiting(p, r);
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->record.serial < y->record.serial ? -1 : 1;
}

/* Structure first, in the order of time; then, if they are here, the samples. */
static void apply_waiting(struct hwpmc_profile *p)
{
	if (p->nwaiting)
		qsort(p->waiting, p->nwaiting, sizeof(*p->waiting), by_time);
	for (uint32_t i = 0; i < p->nwaiting; i++) {
		const struct hwpmc_record *r = &p->waiting[i].record;

		if (is_allocate(r->hdr->type))
			add_pmc(p, r->allocate);
		else if (r->hdr->type == HWPMC_LOG_SYSEXIT)
			model_exit(&p->model, r->task);
		else if (model_wants(r->hdr->type))
			model_apply(&p->model, r);
		p->applied = p->waiting[i].time;
	}
	/* Programs, names and events are others now. */
	p->run.known = false;
	for (uint32_t i = 0; i < p->nwaiting; i++) {
		if (p->waiting[i].copy->type == HWPMC_LOG_CALLCHAIN)
			add_sample(p, &p->waiting[i].record);
		free(p->waiting[i].copy);
	}
	free(p->waiting);
	p->waiting = NULL;
	p->nwaiting = 0;
}

EXPORT struct hwpmc_profile *
hwpmc_profile_new(const struct hwpmc_profile_options *options)
{
	struct hwpmc_profile *p = stat_alloc(1, sizeof(*p));

	p->o = *options;
	model_init(&p->model, &options->symbols);
	return p;
}

/* ---- names --------------------------------------------------------------- */

static struct hwpmc_thread_info *get_thread(struct hwpmc_profile *p,
					    const struct entry *e)
{
	const char *comm = e->space->comm ? e->space->comm :
			   e->pid == 0 ? "[idle]" : "[unknown]";
	struct hwpmc_thread_info *t;

	for (uint32_t i = p->nthread; i-- > 0; ) {
		t = p->thread[i];
		if (t->pid == e->pid && t->tid == e->tid && t->process == comm)
			return t;
	}
	t = stat_alloc(1, sizeof(*t));
	*t = (struct hwpmc_thread_info){
		e->pid, e->tid, comm, comm, e->space->path,
	};
	p->thread = stat_grow(p->thread, p->nthread, sizeof(t));
	p->thread[p->nthread++] = t;
	return t;
}

static void push_frame(struct hwpmc_stack *s, struct spot *spot)
{
	for (uint32_t i = 0; i < spot->ninner; i++) {
		s->frame = stat_grow(s->frame, s->nframe, sizeof(*s->frame));
		s->frame[s->nframe++] = &spot->inner[i].frame;
	}
	s->frame = stat_grow(s->frame, s->nframe, sizeof(*s->frame));
	s->frame[s->nframe++] = &spot->frame;
}

static void name_frames(struct hwpmc_profile *p, const struct entry *e,
			struct hwpmc_stack *s)
{
	bool kernel = !(e->flags & HWPMC_SAMPLE_USER), after_mark = false;
	const uint64_t *pc = p->pcs + e->pc;

	for (uint32_t i = 0; i < e->npc; i++) {
		if (e->flags & HWPMC_SAMPLE_SPLIT && pc[i] == HWPMC_PC_USER) {
			kernel = false;
			after_mark = true;
			continue;
		}
		/* The first of the user's frames is where it entered the kernel. */
		push_frame(s, frames_get(&p->frames, &p->model, e->space, e->time,
					 pc[i], kernel,
					 s->nframe && !after_mark));
		after_mark = false;
	}
	/* A chain of marks alone is a sample too. */
	if (!s->nframe)
		push_frame(s, frames_get(&p->frames, &p->model, e->space,
					 e->time, 0, false, false));
}

static void name_stack(struct hwpmc_profile *p, const struct entry *e)
{
	struct hwpmc_stack *s;

	p->stack = stat_grow(p->stack, p->nstack, sizeof(*s));
	s = &p->stack[p->nstack++];
	*s = (struct hwpmc_stack){
		.event = e->event, .count = e->count, .flags = e->flags,
		.thread = get_thread(p, e),
	};
	name_frames(p, e, s);
	s->frame[0]->image->samples += e->count;
	if (s->frame[0]->symbol->unknown)
		p->totals.unknown += e->count;
}

static void view_events(struct hwpmc_profile *p)
{
	p->event_view = realloc(p->event_view,
				(p->nevent + 1) * sizeof(*p->event_view));
	for (uint32_t i = 0; i < p->nevent; i++) {
		p->event_view[i] = p->event[i].pub;
		p->event_view[i].name = p->event[i].name;
	}
}

static void view_images(struct hwpmc_profile *p)
{
	p->image_view = realloc(p->image_view, (p->model.images.n + 1) *
				sizeof(*p->image_view));
	for (uint32_t i = 0; i < p->model.images.n; i++)
		p->image_view[i] = &p->model.images.all[i]->pub;
}

static int point_by_time(const void *a, const void *b)
{
	const struct hwpmc_sample_point *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

static void view_points(struct hwpmc_profile *p)
{
	for (uint32_t i = 0; i < p->npoint; i++)
		p->point[i].time = to_ns(p, p->point[i].time) -
				   to_ns(p, p->first);
	if (p->npoint)
		qsort(p->point, p->npoint, sizeof(*p->point), point_by_time);
}

static void forget_stacks(struct hwpmc_profile *p)
{
	for (uint32_t i = 0; i < p->nstack; i++)
		free(p->stack[i].frame);
	free(p->stack);
	p->stack = NULL;
	p->nstack = 0;
	for (uint32_t i = 0; i < p->model.images.n; i++)
		p->model.images.all[i]->pub.samples = 0;
	p->totals.unknown = 0;
}

static void name_all(struct hwpmc_profile *p)
{
	forget_stacks(p);
	for (uint32_t i = 0; i < p->nentry; i++)
		name_stack(p, &p->entry[i]);
	p->totals.first = to_ns(p, p->first);
	p->totals.last = to_ns(p, p->last);
	p->totals.duration = p->totals.last - p->totals.first;
	view_events(p);
	view_images(p);
}

EXPORT int hwpmc_profile_resolve(struct hwpmc_profile *p)
{
	apply_waiting(p);
	images_refresh(&p->model.images);
	name_all(p);
	return 0;
}

/* ---- whole logs ---------------------------------------------------------- */

typedef void record_fn(struct hwpmc_profile *p, const struct hwpmc_record *r);

static void first_look(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	p->totals.records++;
	note_record(p, r);
	if (model_wants(r->hdr->type) || is_allocate(r->hdr->type))
		keep_waiting(p, r);
}

static void second_look(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	if (r->hdr->type != HWPMC_LOG_CALLCHAIN)
		return;
	p->totals.records++;
	add_sample(p, r);
}

static int each_record(struct hwpmc_profile *p, struct hwpmc_input *in,
		       record_fn *fn, void (*progress)(uint64_t, void *),
		       void *arg)
{
	struct hwpmc_record r;
	uint64_t n = 0;
	int rc;

	while ((rc = hwpmc_input_next(in, &r)) > 0) {
		fn(p, &r);
		if (progress && !(++n & 0xfffff))
			progress(hwpmc_input_bytes(in), arg);
	}
	return rc;
}

EXPORT struct hwpmc_profile *
hwpmc_profile_read(struct hwpmc_input *in,
		   const struct hwpmc_profile_options *options,
		   void (*progress)(uint64_t bytes, void *arg), void *arg,
		   char *err, size_t size)
{
	struct hwpmc_profile *p = hwpmc_profile_new(options);
	int rc = 0;

	/* A pipe is kept in memory: its mappings may come after its samples. */
	if (hwpmc_input_rewind(in) < 0)
		rc = hwpmc_input_keep(in);
	hwpmc_input_skip_samples(in, true);
	if (rc == 0)
		rc = each_record(p, in, first_look, progress, arg);
	p->totals.bytes = hwpmc_input_bytes(in);
	p->totals.cut = hwpmc_input_cut(in);
	if (rc == 0) {
		apply_waiting(p);
		hwpmc_input_skip_samples(in, false);
		rc = hwpmc_input_rewind(in);
	}
	if (rc == 0)
		rc = each_record(p, in, second_look, progress, arg);
	if (rc < 0) {
		snprintf(err, size, "%s", hwpmc_input_error(in));
		hwpmc_profile_free(p);
		errno = EINVAL;
		return NULL;
	}
	name_all(p);
	view_points(p);
	return p;
}

EXPORT void hwpmc_profile_clear(struct hwpmc_profile *p)
{
	forget_stacks(p);
	free(p->slot);
	p->slot = NULL;
	p->nslot = p->nentry = 0;
	free(p->entry);
	p->entry = NULL;
	free(p->pcs);
	p->pcs = NULL;
	p->npcs = 0;
	p->totals = (struct hwpmc_profile_totals){ 0 };
	p->first = p->last = 0;
	for (uint32_t i = 0; i < p->nevent; i++)
		p->event[i].pub.samples = p->event[i].pub.filtered = 0;
}

static void forget_threads(struct hwpmc_profile *p)
{
	for (uint32_t i = 0; i < p->nthread; i++)
		free(p->thread[i]);
	free(p->thread);
	p->thread = NULL;
	p->nthread = 0;
}

EXPORT void hwpmc_profile_forget(struct hwpmc_profile *p)
{
	hwpmc_profile_clear(p);
	frames_free(&p->frames);
	p->frames = (struct frames){ 0 };
	forget_threads(p);
	p->run.known = false;
	model_forget(&p->model, p->applied);
	view_images(p);
}

EXPORT void hwpmc_profile_free(struct hwpmc_profile *p)
{
	if (!p)
		return;
	hwpmc_profile_clear(p);
	for (uint32_t i = 0; i < p->nwaiting; i++)
		free(p->waiting[i].copy);
	free(p->waiting);
	frames_free(&p->frames);
	forget_threads(p);
	for (uint32_t i = 0; i < p->nevent; i++)
		free(p->event[i].name);
	free(p->event);
	for (uint32_t i = 0; i < p->nnote; i++)
		free(p->note[i].text);
	free(p->note);
	free(p->event_view);
	free(p->image_view);
	free(p->point);
	free(p->pmc);
	model_free(&p->model);
	free(p);
}

/* ---- the answer ---------------------------------------------------------- */

EXPORT const struct hwpmc_profile_totals *
hwpmc_profile_totals(const struct hwpmc_profile *p)
{
	return &p->totals;
}

EXPORT const struct hwpmc_profile_event *
hwpmc_profile_events(const struct hwpmc_profile *p, uint32_t *n)
{
	*n = p->nevent;
	return p->event_view;
}

EXPORT const struct hwpmc_stack *
hwpmc_profile_stacks(const struct hwpmc_profile *p, uint32_t *n)
{
	*n = p->nstack;
	return p->stack;
}

EXPORT const struct hwpmc_sample_point *
hwpmc_profile_timeline(const struct hwpmc_profile *p, uint32_t *n)
{
	*n = p->npoint;
	return p->point;
}

EXPORT struct hwpmc_image *const *
hwpmc_profile_images(const struct hwpmc_profile *p, uint32_t *n)
{
	*n = p->model.images.n;
	return p->image_view;
}

EXPORT const struct hwpmc_symbol *
hwpmc_profile_symbol(struct hwpmc_profile *p, const struct hwpmc_image *image,
		     uint64_t addr)
{
	return image_symbol(&p->model.images, (struct image *)image, addr);
}

EXPORT const char *hwpmc_profile_note(const struct hwpmc_profile *p,
				      const char *key)
{
	return note_of(p, key, 0);
}

EXPORT int hwpmc_frame_line(struct hwpmc_profile *p,
			    const struct hwpmc_frame *frame, const char **file,
			    unsigned int *line)
{
	return frame_line(&p->model.images, frame, file, line);
}

EXPORT int hwpmc_image_line(struct hwpmc_profile *p,
			    const struct hwpmc_image *image, uint64_t addr,
			    const char **file, unsigned int *line)
{
	return image_line(&p->model.images, image, addr, file, line);
}
