/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.c - reads logs and counts distinct stacks. The loop over the samples does no
 * more than look one up in a hash table; answer.c looks for names, once an address.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"

#define NO_MEMORY	"there is not enough memory for the profile of this log"

/* ---- events and notes ---------------------------------------------------- */

static void add_note(struct hwpmc_profile *p, uint32_t id, const char *text)
{
	if (!stat_room(&p->note, p->nnote, sizeof(*p->note)))
		return;
	p->note[p->nnote] = (struct note){ stat_strdup(text), id };
	p->nnote += p->note[p->nnote].text != NULL;
}

static void name_event(char *made, size_t size,
		       const struct hwpmc_log_allocate *r)
{
	snprintf(made, size, "%s-%#llx", hwpmc_name_of_class(r->class) ?: "class",
		 (unsigned long long)(r->flags & HWPMC_F_EV_PMU ?
				      r->config : r->ev));
}

/* Its number, or NO_EVENT. */
static uint32_t add_event(struct hwpmc_profile *p, const char *name,
			  const struct hwpmc_log_allocate *r)
{
	struct event ev = {
		.pub = { .id = r->hdr.id, .mode = r->mode, .flags = r->flags,
			 .period = r->count },
	};

	if (!stat_room(&p->event, p->nevent, sizeof(ev)))
		return NO_EVENT;
	ev.name = stat_strdup(name);
	if (!ev.name)
		return NO_EVENT;
	p->event[p->nevent] = ev;
	return p->nevent++;
}

/* The same event on several CPUs is one: they have the same mode, period and name. */
static uint32_t get_event(struct hwpmc_profile *p, const char *name,
			  const struct hwpmc_log_allocate *r)
{
	for (uint32_t i = 0; i < p->nevent; i++)
		if (!strcmp(p->event[i].name, name) &&
		    p->event[i].pub.mode == r->mode &&
		    p->event[i].pub.period == r->count)
			return i;
	return add_event(p, name, r);
}

static uint32_t add_pmc(struct hwpmc_profile *p,
			const struct hwpmc_log_allocate *r)
{
	const char *name = profile_note(p, "event", r->hdr.id);
	char made[64];
	uint32_t event;

	if (r->mode != HWPMC_MODE_SS && r->mode != HWPMC_MODE_TS)
		return NO_EVENT;
	name_event(made, sizeof(made), r);
	if (!name)
		name = r->name[0] ? r->name : made;
	event = get_event(p, name, r);
	if (event == NO_EVENT || !stat_room(&p->pmc, p->npmc, sizeof(*p->pmc)))
		return NO_EVENT;
	p->pmc[p->npmc++] = (struct pmc_event){ r->hdr.id, event };
	return event;
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
	return add_pmc(p, &unknown);
}

static void note_machine(struct hwpmc_profile *p,
			 const struct hwpmc_log_initialize *r)
{
	char text[32];

	snprintf(text, sizeof(text), "ncpu=%u", r->ncpu);
	add_note(p, 0, text);
	snprintf(text, sizeof(text), "cpuid=%.20s", r->cpuid);
	add_note(p, 0, text);
}

/* ---- counting samples ---------------------------------------------------- */

static uint64_t hash_mix(uint64_t h, uint64_t x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static bool grow_slots(struct hwpmc_profile *p)
{
	uint32_t n = p->nslot ? 2 * p->nslot : 1024;
	uint32_t *slot = stat_alloc(n, sizeof(*slot));

	if (!slot)
		return false;
	free(p->slot);
	p->slot = slot;
	p->nslot = n;
	for (uint32_t i = 0; i < p->nentry; i++) {
		uint32_t at = p->entry[i].hash & (n - 1);

		while (p->slot[at])
			at = (at + 1) & (n - 1);
		p->slot[at] = i + 1;
	}
	return true;
}

static bool same_stack(const struct hwpmc_profile *p, const struct entry *a,
		       uint64_t hash, const struct hwpmc_record *r,
		       uint32_t npc)
{
	const struct run *run = p->run;

	return a->hash == hash && a->npc == npc && a->space == run->space &&
	       a->event == run->event && a->tid == run->as_tid &&
	       a->era == run->era &&
	       a->flags == r->hdr->flags &&
	       p->pcs[a->pc] == r->sample->pc[0] &&
	       (npc == 1 || !memcmp(p->pcs + a->pc, r->sample->pc,
				    npc * sizeof(*p->pcs)));
}

static bool keep_pcs(struct hwpmc_profile *p, struct entry *e,
		     const uint64_t *pc)
{
	e->pc = p->npcs;
	for (uint32_t i = 0; i < e->npc; i++) {
		if (!stat_room(&p->pcs, p->npcs, sizeof(*p->pcs)))
			return false;
		p->pcs[p->npcs++] = pc[i];
	}
	return true;
}

static uint32_t add_stack(struct hwpmc_profile *p, const struct hwpmc_record *r,
			  uint64_t hash, uint32_t npc)
{
	struct entry e = {
		.hash = hash, .count = 1, .time = r->hdr->time,
		.space = p->run->space, .pid = r->pid, .tid = p->run->as_tid,
		.event = p->run->event, .npc = npc, .flags = r->hdr->flags,
		.era = p->run->era,
	};
	uint32_t at;

	if (p->nentry * 2 >= p->nslot && !grow_slots(p))
		return 0;
	if (!keep_pcs(p, &e, (const uint64_t *)r->sample->pc) ||
	    !stat_room(&p->entry, p->nentry, sizeof(*p->entry)))
		return 0;
	for (at = hash & (p->nslot - 1); p->slot[at]; )
		at = (at + 1) & (p->nslot - 1);
	p->slot[at] = p->nentry + 1;
	p->entry[p->nentry] = e;
	return p->nentry++;
}

static uint32_t count_stack(struct hwpmc_profile *p,
			    const struct hwpmc_record *r, uint32_t npc)
{
	uint64_t hash = p->run->hash + r->hdr->flags;
	uint32_t mask = p->nslot - 1, at;

	for (uint32_t i = 0; i < npc; i++)
		hash = hash_mix(hash, r->sample->pc[i]);
	if (!p->nslot)
		return add_stack(p, r, hash, npc);
	for (at = hash & mask; p->slot[at]; at = (at + 1) & mask) {
		struct entry *old = &p->entry[p->slot[at] - 1];

		if (same_stack(p, old, hash, r, npc)) {
			old->count++;
			return p->slot[at] - 1;
		}
	}
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

/* What the run has counted, to where it is asked for. */
static void run_settle(struct hwpmc_profile *p, struct run *run)
{
	struct hwpmc_profile_event *event;

	if (!run->samples)
		return;
	event = &p->event[run->event].pub;
	p->totals.samples += run->samples;
	if (run->wanted) {
		p->totals.kept += run->samples;
		event->samples += run->samples;
	} else {
		event->filtered += run->samples;
	}
	run->samples = 0;
}

/* Programs, names or events are others, or numbers are asked for. */
static void end_runs(struct hwpmc_profile *p)
{
	for (unsigned int i = 0; i < RUNS; i++) {
		run_settle(p, &p->runs[i]);
		p->runs[i].known = false;
	}
	p->run = p->runs;
}

static void begin_run(struct hwpmc_profile *p, struct run *run,
		      const struct hwpmc_record *r)
{
	struct space *space = model_space(&p->model, r->pid, r->hdr->time);

	run_settle(p, run);
	*run = (struct run){
		.pid = r->pid, .tid = r->tid, .cpu = r->cpu, .id = r->hdr->id,
		.space = space, .event = event_of(p, r->hdr->id),
		.as_tid = p->o.by_thread ? r->tid : r->pid,
	};
	run->era = model_era(&p->model, space, r->hdr->time, &run->from,
			     &run->until);
	run->hash = hash_mix(hash_mix((uintptr_t)space + run->era, run->event),
			     (uint32_t)run->as_tid);
	run->known = run->event != NO_EVENT;
	run->wanted = run->known && is_wanted(p, r, run->event, space);
}

/* Samples before the first program of a process are that one's too. */
static inline bool goes_on(const struct run *run, const struct hwpmc_record *r)
{
	return run->known && run->pid == r->pid && run->tid == r->tid &&
	       run->cpu == r->cpu && run->id == r->hdr->id &&
	       r->hdr->time >= run->from && r->hdr->time < run->until;
}

__attribute__((noinline))
static void change_run(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	p->run = &p->runs[(r->hdr->id ^ r->hdr->id >> 8 ^ r->tid ^ r->cpu << 3) %
			  RUNS];
	if (!goes_on(p->run, r))
		begin_run(p, p->run, r);
}

__attribute__((noinline))
static void add_point(struct hwpmc_profile *p, const struct hwpmc_record *r,
		      uint32_t stack)
{
	if (!stat_room(&p->point, p->npoint, sizeof(*p->point)))
		return;
	p->point[p->npoint++] = (struct hwpmc_sample_point){
		r->hdr->time, stack, r->cpu,
	};
}

static inline void see_time(struct hwpmc_profile *p, uint64_t time)
{
	if (time < p->first || !p->first)
		p->first = time;
	if (time > p->last)
		p->last = time;
}

static void add_sample(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	uint32_t npc = r->npc, stack;

	if (!goes_on(p->run, r)) {
		change_run(p, r);
		if (!p->run->known)
			return;
	}
	p->run->samples++;
	see_time(p, r->hdr->time);
	if (!p->run->wanted)
		return;
	if (npc > p->depth)
		npc = p->depth;
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
		clock_begin(&p->clock, r->initialize);
		note_machine(p, r->initialize);
		break;
	case HWPMC_LOG_CLOCK:
		clock_again(&p->clock, r->clock);
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

	if (!stat_room(&p->waiting, p->nwaiting, sizeof(w)))
		return;
	w.copy = stat_alloc(1, r->hdr->len);
	if (!w.copy)
		return;
	memcpy(w.copy, r->hdr, r->hdr->len);
	w.record.hdr = w.copy;
	p->waiting[p->nwaiting++] = w;
}

static bool is_allocate(uint8_t type)
{
	return type == HWPMC_LOG_PMCALLOCATE || type == HWPMC_LOG_PMCALLOCATEDYN;
}

static void keep_record(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	p->totals.records++;
	note_record(p, r);
	if (r->hdr->type == HWPMC_LOG_CALLCHAIN || model_wants(r->hdr->type) ||
	    r->hdr->type == HWPMC_LOG_SYSEXIT || is_allocate(r->hdr->type))
		keep_waiting(p, r);
}

EXPORT int hwpmc_profile_feed(struct hwpmc_profile *p,
			      const struct hwpmc_record *r)
{
	stat_nomem = p->broken;
	if (!p->broken)
		keep_record(p, r);
	return stat_end(&p->broken);
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
	end_runs(p);
	for (uint32_t i = 0; i < p->nwaiting; i++) {
		if (p->waiting[i].copy->type == HWPMC_LOG_CALLCHAIN)
			add_sample(p, &p->waiting[i].record);
		free(p->waiting[i].copy);
	}
	end_runs(p);
	free(p->waiting);
	p->waiting = NULL;
	p->nwaiting = 0;
}

EXPORT struct hwpmc_profile *
hwpmc_profile_new(const struct hwpmc_profile_options *options)
{
	struct hwpmc_profile *p;

	stat_nomem = false;
	p = stat_alloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->o = *options;
	p->run = p->runs;
	p->depth = p->o.leaf_only ? 1 : p->o.depth ? p->o.depth : UINT32_MAX;
	if (model_init(&p->model, &options->symbols) == 0)
		return p;
	hwpmc_profile_free(p);
	errno = ENOMEM;
	return NULL;
}

EXPORT int hwpmc_profile_resolve(struct hwpmc_profile *p)
{
	stat_nomem = p->broken;
	if (!p->broken)
		apply_waiting(p);
	if (stat_nomem)
		return stat_end(&p->broken);
	images_refresh(&p->model.images);
	profile_name_all(p);
	return stat_end(&p->broken);
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

/* Once for each fn, with it in the loop. */
__attribute__((always_inline))
static inline int each_record(struct hwpmc_profile *p, struct hwpmc_input *in,
		       record_fn *fn, void (*progress)(uint64_t, void *),
		       void *arg)
{
	struct hwpmc_record r;
	uint64_t n = 0;
	int rc;

	while ((rc = hwpmc_input_next(in, &r)) > 0) {
		fn(p, &r);
		if (++n & 0xffff)
			continue;
		if (stat_nomem)
			break;
		if (progress && !(n & 0xfffff))
			progress(hwpmc_input_bytes(in), arg);
	}
	return rc < 0 ? -1 : 0;
}

/* Twice, as mappings may come after their samples: a pipe is kept in memory. */
static int read_all(struct hwpmc_profile *p, struct hwpmc_input *in,
		    void (*progress)(uint64_t bytes, void *arg), void *arg)
{
	if (hwpmc_input_rewind(in) < 0 && hwpmc_input_keep(in) < 0)
		return -1;
	hwpmc_input_skip_samples(in, true);
	if (each_record(p, in, first_look, progress, arg) < 0)
		return -1;
	p->totals.bytes = hwpmc_input_bytes(in);
	p->totals.cut = hwpmc_input_cut(in);
	apply_waiting(p);
	hwpmc_input_skip_samples(in, false);
	if (hwpmc_input_rewind(in) < 0)
		return -1;
	if (each_record(p, in, second_look, progress, arg) < 0)
		return -1;
	end_runs(p);
	return 0;
}

static struct hwpmc_profile *give_up(struct hwpmc_profile *p, int error,
				     const char *why, char *err, size_t size)
{
	snprintf(err, size, "%s", why);
	hwpmc_profile_free(p);
	errno = error;
	return NULL;
}

EXPORT struct hwpmc_profile *
hwpmc_profile_read(struct hwpmc_input *in,
		   const struct hwpmc_profile_options *options,
		   void (*progress)(uint64_t bytes, void *arg), void *arg,
		   char *err, size_t size)
{
	struct hwpmc_profile *p = hwpmc_profile_new(options);

	if (!p)
		return give_up(NULL, ENOMEM, NO_MEMORY, err, size);
	if (read_all(p, in, progress, arg) < 0)
		return give_up(p, errno, hwpmc_input_error(in), err, size);
	if (!stat_nomem)
		profile_name_all(p);
	if (stat_end(&p->broken) < 0)
		return give_up(p, ENOMEM, NO_MEMORY, err, size);
	return p;
}

EXPORT void hwpmc_profile_clear(struct hwpmc_profile *p)
{
	profile_forget_stacks(p);
	end_runs(p);
	p->npoint = 0;
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

static void free_threads(struct hwpmc_profile *p)
{
	for (unsigned int i = 0; i < THREAD_SLOTS; i++)
		while (p->thread[i]) {
			struct thread *next = p->thread[i]->next;

			free(p->thread[i]);
			p->thread[i] = next;
		}
}

EXPORT void hwpmc_profile_forget(struct hwpmc_profile *p)
{
	stat_nomem = false;
	hwpmc_profile_clear(p);
	frames_free(&p->frames);
	p->frames = (struct frames){ 0 };
	free_threads(p);
	model_forget(&p->model, p->applied);
	profile_view_images(p);
	stat_end(&p->broken);
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
	free_threads(p);
	for (uint32_t i = 0; i < p->nevent; i++)
		free(p->event[i].name);
	free(p->event);
	for (uint32_t i = 0; i < p->nnote; i++)
		free(p->note[i].text);
	free(p->note);
	free(p->event_view);
	free(p->image_view);
	free(p->point);
	free(p->point_view);
	free(p->pmc);
	model_free(&p->model);
	free(p);
}
