/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * profile.c - reads logs and counts distinct stacks. The loop over the samples does no
 * more than look one up in a hash table; answer.c looks for names, once an address.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile.h"

#define NO_MEMORY	"out of memory for the profile of this log"

/* ---- events -------------------------------------------------------------- */

static void name_event(char *made, size_t size,
		       const struct hwpmc_log_allocate *r)
{
	snprintf(made, size, "%s-%#llx", hwpmc_name_of_class(r->class) ?: "class",
		 (unsigned long long)(r->flags & HWPMC_F_EV_PMU ?
				      r->config : r->ev));
}

/* The same event on several CPUs is one: they have the same mode, period or frequency,
 * and name. */
static uint64_t key_hash(const char *name, uint32_t mode, uint64_t period)
{
	return table_mix(table_hash_text(name), period + ((uint64_t)mode << 48));
}

static bool same_event(const void *items, uint32_t i, const void *key)
{
	const struct event *e = &((const struct hwpmc_profile *)items)->event[i];
	const struct event *of = key;

	return !strcmp(e->name, of->name) && e->pub.mode == of->pub.mode &&
	       e->pub.period == of->pub.period && e->pub.frequency == of->pub.frequency;
}

/* Its number, or NO_EVENT. */
static uint32_t get_event(struct hwpmc_profile *p, const char *name,
			  const struct hwpmc_log_allocate *r)
{
	bool adapts = r->flags & HWPMC_F_FREQUENCY;
	struct event ev = {
		.pub = { .id = r->hdr.id, .mode = r->mode, .flags = r->flags,
			 .period = adapts ? 1 : r->count,
			 .frequency = adapts ? r->count : 0 },
		.name = (char *)name,
	};
	uint64_t hash = key_hash(name, r->mode, r->count);
	uint32_t i = table_find(&p->events, hash, same_event, p, &ev);

	if (i != TABLE_NONE)
		return i;
	stat_nomem |= p->nevent == NO_EVENT;
	if (stat_nomem || !stat_room(&p->event, p->nevent, sizeof(ev)) ||
	    !table_room(&p->events))
		return NO_EVENT;
	ev.name = stat_strdup(name);
	if (!ev.name)
		return NO_EVENT;
	p->event[p->nevent] = ev;
	table_put(&p->events, hash);
	return p->nevent++;
}

static uint32_t add_pmc(struct hwpmc_profile *p,
			const struct hwpmc_log_allocate *r)
{
	const char *name = notes_get(p, "event", r->hdr.id);
	uint32_t event, i;
	char made[64];

	if (r->mode != HWPMC_MODE_SS && r->mode != HWPMC_MODE_TS)
		return NO_EVENT;
	name_event(made, sizeof(made), r);
	if (!name)
		name = r->name[0] ? r->name : made;
	event = get_event(p, name, r);
	i = profile_find_pmc(p, r->hdr.id);
	/* A number that is used again. */
	if (event != NO_EVENT && i != TABLE_NONE) {
		p->pmc[i].event = event;
		return event;
	}
	if (event == NO_EVENT || !table_room(&p->pmcs) ||
	    !stat_room(&p->pmc, p->pmcs.n, sizeof(*p->pmc)))
		return NO_EVENT;
	p->pmc[p->pmcs.n] = (struct pmc_event){ r->hdr.id, event };
	table_put(&p->pmcs, table_hash(r->hdr.id));
	return event;
}

static uint32_t event_of(struct hwpmc_profile *p, uint32_t id)
{
	struct hwpmc_log_allocate unknown = {
		.hdr = { .id = id }, .mode = HWPMC_MODE_TS, .name = "[unknown]",
	};
	uint32_t i = profile_find_pmc(p, id);

	/* Its PMCALLOCATE was dropped. */
	return i != TABLE_NONE ? p->pmc[i].event : add_pmc(p, &unknown);
}

/* ---- the machine -------------------------------------------------------- */

static void note_machine(struct hwpmc_profile *p,
			 const struct hwpmc_log_initialize *r)
{
	char text[32];

	snprintf(text, sizeof(text), "ncpu=%u", r->ncpu);
	notes_add(p, 0, text);
	snprintf(text, sizeof(text), "cpuid=%.20s", r->cpuid);
	notes_add(p, 0, text);
}

/* ---- counting samples ---------------------------------------------------- */

/* A sample as the key of a stack: what it is compared with, in registers. */
struct sample {
	const struct hwpmc_log_sample *sample;
	const struct space *space;
	uint64_t who, shape, leaf;	/* as in struct entry */
	const uint64_t *pcs;
	uint32_t npc;
};

__attribute__((always_inline))
static inline bool same_stack(const void *items, uint32_t i, const void *key)
{
	const struct entry *a = (const struct entry *)items + i;
	const struct sample *s = key;

	return a->leaf == s->leaf && a->space == s->space &&
	       a->who == s->who && a->shape == s->shape &&
	       (s->npc <= 1 || !memcmp(s->pcs + a->pc, s->sample->pc,
				       s->npc * sizeof(*s->pcs)));
}

static bool keep_pcs(struct hwpmc_profile *p, struct entry *e,
		     const uint64_t *pc)
{
	e->pc = p->npcs;
	/* A sample without an address. */
	if (!e->npc)
		return true;
	if (!stat_room_for(&p->pcs, p->npcs, e->npc, sizeof(*p->pcs)))
		return false;
	memcpy(p->pcs + p->npcs, pc, e->npc * sizeof(*pc));
	p->npcs += e->npc;
	return true;
}

__attribute__((noinline))
static uint32_t add_stack(struct hwpmc_profile *p, const struct hwpmc_record *r,
			  uint64_t hash, uint64_t shape, uint64_t leaf)
{
	struct entry e = {
		.count = 1, .time = r->hdr->time, .space = p->run->space,
		.who = p->run->who, .shape = shape, .leaf = leaf, .pid = r->pid,
	};

	if (!table_room(&p->entries) ||
	    !keep_pcs(p, &e, (const uint64_t *)r->sample->pc) ||
	    !stat_room(&p->entry, p->nentry, sizeof(*p->entry)))
		return 0;
	p->entry[p->nentry] = e;
	table_put(&p->entries, hash);
	return p->nentry++;
}

__attribute__((always_inline))
static inline uint32_t count_stack(struct hwpmc_profile *p,
			    const struct hwpmc_record *r, uint32_t npc)
{
	const struct run *run = p->run;
	uint64_t flags = r->hdr->flags, hash = run->hash + flags;
	struct sample s = {
		.sample = r->sample, .space = run->space, .who = run->who,
		.shape = flags << 56 | p->kind | (uint64_t)npc << 32 | run->era,
		.pcs = p->pcs, .npc = npc,
	};
	uint32_t at;

	if (npc) {
		s.leaf = r->sample->pc[0];
		hash = table_mix(hash, s.leaf);
	}
	if (npc > 1)
		hash = table_mix_all(hash, (const uint64_t *)r->sample->pc + 1, npc - 1);
	at = table_find(&p->entries, hash, same_stack, p->entry, &s);
	if (at == TABLE_NONE)
		return add_stack(p, r, hash, s.shape, s.leaf);
	p->entry[at].count++;
	return at;
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
		      uint32_t event, const struct space *space, const char *comm)
{
	const struct hwpmc_profile_options *o = &p->o;

	return in_list(o->pids, o->npid, r->pid) &&
	       in_list(o->tids, o->ntid, r->tid) &&
	       in_list(o->cpus, o->ncpu, r->cpu) &&
	       (!o->event || !strcmp(o->event, p->event[event].name)) &&
	       (!o->comm || !strcmp(o->comm, comm)) &&
	       (!o->process || !strcmp(o->process, model_process(space, r->pid)));
}

/* The name of its thread, if anything depends on that; the run ends with it. */
static const char *comm_of(const struct hwpmc_profile *p, struct run *run,
			   const struct space *space, uint64_t time)
{
	if (!p->o.by_thread && !p->o.by_comm && !p->o.comm)
		return NULL;
	return model_comm(&p->model, space, run->pid, run->tid, time, &run->from,
			  &run->until);
}

static uint64_t tick_of(const struct hwpmc_profile *p, uint64_t ns)
{
	double since = ns;

	if (p->o.since_boot)
		since -= p->clock.mono0;
	since /= p->clock.ns_per_tick;
	if (since <= 0)
		return p->clock.tick0;
	return since >= 9e18 ? UINT64_MAX : p->clock.tick0 + (uint64_t)since;
}

/* Is it in the time that is asked for? The run ends where that answer changes. */
static bool is_in_time(const struct hwpmc_profile *p, struct run *run, uint64_t tick)
{
	uint64_t from, until;

	if (!p->o.from && !p->o.until)
		return true;
	from = p->o.from ? tick_of(p, p->o.from) : 0;
	until = p->o.until ? tick_of(p, p->o.until) : UINT64_MAX;
	if (tick < from) {
		run->until = run->until < from ? run->until : from;
		return false;
	}
	if (tick >= until) {
		run->from = run->from > until ? run->from : until;
		return false;
	}
	run->from = run->from > from ? run->from : from;
	run->until = run->until < until ? run->until : until;
	return true;
}

/* What the run has counted, to where it is asked for. */
static void run_settle(struct hwpmc_profile *p, struct run *run)
{
	struct hwpmc_profile_event *event;

	if (!run->samples)
		return;
	event = &p->event[run->event].pub;
	p->totals.samples += run->samples;
	if (run->space) {
		p->totals.kept += run->samples;
		event->samples += run->samples;
	} else {
		event->filtered += run->samples;
	}
	run->samples = 0;
}

/* Programs, names or events are others, numbers are asked for, or become large. */
static void end_runs(struct hwpmc_profile *p)
{
	for (uint32_t i = 0; i < p->nrun; i++) {
		run_settle(p, &p->runs[i]);
		p->runs[i].until = 0;
	}
	p->run = p->runs;
}

/* Each run is begun anew. */
static bool make_runs(struct hwpmc_profile *p, uint32_t n)
{
	struct run *runs = aligned_alloc(sizeof(*runs), n * sizeof(*runs));

	stat_nomem |= !runs;
	if (!runs)
		return false;
	memset(runs, 0, n * sizeof(*runs));
	end_runs(p);
	free(p->runs);
	p->runs = p->run = runs;
	p->nrun = n;
	p->taken = 0;
	return true;
}

static void begin_run(struct hwpmc_profile *p, struct run *run,
		      const struct hwpmc_record *r)
{
	struct space *space = model_space(&p->model, r->pid, r->hdr->time);
	const char *comm;

	run_settle(p, run);
	*run = (struct run){
		.pid = r->pid, .tid = r->tid, .cpu = r->cpu, .id = r->hdr->id,
		.as = r->pid,
		.event = event_of(p, r->hdr->id),
		.with_cpu = p->o.by_cpu && r->cpu < NO_CPU ? r->cpu : NO_CPU,
	};
	run->era = model_era(&p->model, space, r->hdr->time, &run->from,
			     &run->until);
	comm = comm_of(p, run, space, r->hdr->time);
	if (p->o.by_thread || p->o.by_comm)
		run->as = profile_whom(p, p->o.by_thread ? r->tid : r->pid, comm);
	run->hash = table_mix(table_mix(table_seed ^ ((uintptr_t)space + run->era),
					run->event | (uint64_t)run->with_cpu << 32),
			      (uint32_t)run->as);
	if (run->event == NO_EVENT)
		run->until = 0;
	else if (is_wanted(p, r, run->event, space, comm) &&
		 is_in_time(p, run, r->hdr->time))
		run->space = space;
}

/* Samples before the first program of a process are that one's too. */
static inline bool goes_on(const struct run *run, const struct hwpmc_record *r,
			   bool same_thread)
{
	return (same_thread || (run->pid == r->pid && run->tid == r->tid &&
				run->cpu == r->cpu)) && run->id == r->hdr->id &&
	       r->hdr->time >= run->from && r->hdr->time < run->until;
}

static bool is_anothers(const struct run *run, const struct hwpmc_record *r)
{
	return run->until && (run->tid != r->tid || run->cpu != r->cpu ||
			      run->id != r->hdr->id);
}

/* The one that it had, or one to begin. */
static struct run *run_of(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	uint64_t h = (uint64_t)(uint32_t)r->tid << 32 |
		     (uint32_t)(r->hdr->id + ((uint32_t)r->cpu << 24));
	struct run *pair;

	h = table_mix(table_seed, h);
	pair = &p->runs[h >> 32 & (p->nrun - 2)];
	if (!is_anothers(&pair[0], r))
		return &pair[0];
	if (!is_anothers(&pair[1], r))
		return &pair[1];
	return &pair[h >> 31 & 1];
}

__attribute__((noinline))
static void change_run(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	p->run = run_of(p, r);
	if (p->o.by_kind)
		p->kind = (uint64_t)kinds_get(&p->kinds, r->cpu) << 48;
	if (goes_on(p->run, r, false))
		return;
	p->taken += is_anothers(p->run, r);
	if (p->taken > 4 * p->nrun && p->nrun < RUNS_MAX &&
	    make_runs(p, 2 * p->nrun))
		p->run = run_of(p, r);
	begin_run(p, p->run, r);
}

__attribute__((noinline))
static void add_point(struct hwpmc_profile *p, const struct hwpmc_record *r,
		      uint32_t stack, uint64_t weight)
{
	if (!stat_room(&p->point, p->npoint, sizeof(*p->point)))
		return;
	p->point[p->npoint++] = (struct hwpmc_sample_point){
		r->hdr->time, stack, r->cpu, weight,
	};
}

static inline void see_time(struct hwpmc_profile *p, uint64_t time)
{
	if (time < p->first || !p->first)
		p->first = time;
	if (time > p->last)
		p->last = time;
}

__attribute__((noinline))
static void count_chain(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	int end = hwpmc_chain_end(r->sample);

	p->totals.chains[end]++;
	if (end != HWPMC_CHAIN_COMPLETE)
		stops_add(p, r, end);
}

/* No counter counts so many events between two samples: a log that was made to mislead. */
#define PERIOD_MAX	(1ull << 48)
/* The sum of the events of all samples. Tools write it as a signed number (pprof), and there are
 * samples that are not yet in it. */
#define EVENTS_MAX	(1ull << 62)

/* The events that a sample stands for; 1 if it cannot be so many. */
static uint64_t weight_of(const struct hwpmc_profile_event *e, uint64_t period)
{
	uint64_t sum = e->samples + e->filtered;

	if (stat_nomem || !e->frequency || period > PERIOD_MAX || sum + period > EVENTS_MAX)
		return 1;
	return period;
}

/* A sample with a period of its own was counted as one event: all of them. Returns them. */
__attribute__((noinline))
static uint64_t weigh_sample(struct hwpmc_profile *p, const struct hwpmc_record *r,
			     struct entry *e)
{
	struct event *event = &p->event[p->run->event];
	uint64_t more = weight_of(&event->pub, r->period) - 1;
	uint32_t at;

	if (!more)
		return 1;
	if (!e) {
		event->pub.filtered += more;
		return more + 1;
	}
	at = e - p->entry;
	while (p->nmore <= at) {
		if (!stat_room(&p->more, p->nmore, sizeof(*p->more)))
			return 1;
		p->more[p->nmore++] = 0;
	}
	p->more[at] += more;
	e->count += more;
	event->pub.samples += more;
	event->more += more;
	return more + 1;
}

/* In the loop over the samples, with all that each of them takes; same_thread: and the
 * same CPU, as that of the sample before. */
__attribute__((always_inline))
static inline void add_sample(struct hwpmc_profile *p, const struct hwpmc_record *r,
			      bool same_thread)
{
	uint32_t npc = r->npc, stack;
	uint64_t weight = 1;

	if (!goes_on(p->run, r, same_thread)) {
		change_run(p, r);
		if (p->run->event == NO_EVENT)
			return;
	}
	p->run->samples++;
	see_time(p, r->hdr->time);
	if (!p->run->space) {
		if (r->period)
			weigh_sample(p, r, NULL);
		return;
	}
	if (r->hdr->flags & HWPMC_SAMPLE_TABLES)
		count_chain(p, r);
	if (npc > p->depth)
		npc = p->depth;
	stack = count_stack(p, r, npc);
	if (r->period)
		weight = weigh_sample(p, r, &p->entry[stack]);
	if (p->o.timeline)
		add_point(p, r, stack, weight);
}

/* ---- reading ------------------------------------------------------------- */

static void count_drops(struct hwpmc_profile *p, const struct hwpmc_log_drop *r)
{
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS];

	hwpmc_record_drops(r, samples, others, HWPMC_DROP_SLOTS);
	for (int i = 0; i < HWPMC_DROP_SLOTS; i++) {
		p->totals.dropped[i] += samples[i];
		p->totals.others_dropped[i] += others[i];
	}
}

/* What is neither a sample nor for the model. */
static void note_record(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	if (r->hdr->time > p->end)
		p->end = r->hdr->time;
	switch (r->hdr->type) {
	case HWPMC_LOG_INITIALIZE:
		clock_begin(&p->clock, r->initialize);
		note_machine(p, r->initialize);
		break;
	case HWPMC_LOG_CLOCK:
		clock_again(&p->clock, r->clock);
		break;
	case HWPMC_LOG_NOTE:
		notes_add(p, r->hdr->id, r->note->text);
		break;
	case HWPMC_LOG_DROPNOTIFY:
		count_drops(p, r->drop);
		break;
	case HWPMC_LOG_CPU_KIND:
		kinds_learn(&p->kinds, r);
		break;
	case HWPMC_LOG_THROTTLE:
		p->totals.throttles += !r->hdr->flags;
		pauses_add(&p->pauses, r->throttle);
		break;
	case HWPMC_LOG_LOSS:
		losses_add(&p->losses, r->loss);
		break;
	case HWPMC_LOG_PRECISE:
		exact_add(&p->exact, r->precise);
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

static bool is_allocate(uint8_t type)
{
	return type == HWPMC_LOG_PMCALLOCATE || type == HWPMC_LOG_PMCALLOCATEDYN;
}

static bool is_exit(uint8_t type)
{
	return type == HWPMC_LOG_SYSEXIT || type == HWPMC_LOG_THR_EXIT;
}

static void keep_record(struct hwpmc_profile *p, const struct hwpmc_record *r)
{
	p->totals.records++;
	note_record(p, r);
	if (r->hdr->type == HWPMC_LOG_CALLCHAIN || model_wants(r->hdr->type) ||
	    is_exit(r->hdr->type) || is_allocate(r->hdr->type))
		waiting_keep(&p->waiting, r);
}

EXPORT int hwpmc_profile_feed(struct hwpmc_profile *p,
			      const struct hwpmc_record *r)
{
	if (stat_null(!p || !r))
		return -1;
	stat_nomem = p->broken;
	if (!p->broken)
		keep_record(p, r);
	return stat_end(&p->broken);
}

/* Structure first, in the order of time; then, if they are here, the samples. */
static void apply_waiting(struct hwpmc_profile *p)
{
	const struct hwpmc_record *r = p->waiting.record;
	uint32_t n = p->waiting.n;

	waiting_sort(&p->waiting);
	for (uint32_t i = 0; i < n; i++) {
		if (is_allocate(r[i].hdr->type))
			add_pmc(p, r[i].allocate);
		else if (is_exit(r[i].hdr->type))
			model_exit(&p->model, r[i].task);
		else if (model_wants(r[i].hdr->type))
			model_apply(&p->model, &r[i]);
		p->applied = r[i].hdr->time;
	}
	/* Programs, names and events are others now. */
	end_runs(p);
	for (uint32_t i = 0; i < n; i++)
		if (r[i].hdr->type == HWPMC_LOG_CALLCHAIN)
			add_sample(p, &r[i], false);
	end_runs(p);
	waiting_free(&p->waiting);
}

EXPORT struct hwpmc_profile *
hwpmc_profile_new(const struct hwpmc_profile_options *options)
{
	struct hwpmc_profile *p;

	if (stat_null(!options))
		return NULL;
	stat_nomem = false;
	p = stat_alloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->o = *options;
	p->depth = p->o.leaf_only ? 1 : p->o.depth ? p->o.depth : UINT32_MAX;
	if (model_init(&p->model, &options->symbols) == 0 &&
	    make_runs(p, RUNS_MIN))
		return p;
	hwpmc_profile_free(p);
	errno = ENOMEM;
	return NULL;
}

EXPORT int hwpmc_profile_prepare(struct hwpmc_profile *p)
{
	if (stat_null(!p))
		return -1;
	stat_nomem = p->broken;
	if (!p->broken && !p->o.symbols.no_symbols && !p->o.symbols.kernel)
		kallsyms_prepare(&p->model.images);
	return stat_end(&p->broken);
}

EXPORT int hwpmc_profile_resolve(struct hwpmc_profile *p)
{
	if (stat_null(!p))
		return -1;
	stat_nomem = p->broken;
	/* Samples are compared with addresses. */
	stacks_forget(p);
	if (!p->broken)
		apply_waiting(p);
	if (stat_nomem)
		return stat_end(&p->broken);
	images_refresh(&p->model.images);
	profile_name_all(p);
	return stat_end(&p->broken);
}

/* ---- whole logs ---------------------------------------------------------- */

/* Records until runs give what they have counted in 32 bits. */
#define SETTLE		(1u << 30)

/* A record, and what it reads beyond it: how many in all. */
typedef uint64_t record_fn(struct hwpmc_profile *p, struct hwpmc_input *in,
			   const struct hwpmc_record *r);

static uint64_t first_look(struct hwpmc_profile *p, struct hwpmc_input *in,
			   const struct hwpmc_record *r)
{
	p->totals.records++;
	note_record(p, r);
	if (model_wants(r->hdr->type) || is_allocate(r->hdr->type))
		waiting_keep(&p->waiting, r);
	return 1;
}

/* The samples behind *first are of the same CPU and thread. */
static uint64_t second_look(struct hwpmc_profile *p, struct hwpmc_input *in,
			    const struct hwpmc_record *first)
{
	struct hwpmc_record r = *first;
	const char *at, *end;
	uint64_t n = 1;
	size_t bytes;

	if (r.hdr->type != HWPMC_LOG_CALLCHAIN)
		return n;
	add_sample(p, &r, false);
	at = (const char *)hwpmc_input_samples(in, &bytes);
	for (end = at + bytes; at < end; at += r.hdr->len, n++) {
		r.hdr = (const void *)at;
		r.npc = (r.hdr->len - sizeof(*r.hdr)) / sizeof(uint64_t);
		r.period = 0;
		add_sample(p, &r, true);
	}
	p->totals.records += n;
	return n;
}

/* Once for each fn, with it in the loop. */
__attribute__((always_inline))
static inline int each_record(struct hwpmc_profile *p, struct hwpmc_input *in,
		       record_fn *fn, void (*progress)(uint64_t, void *),
		       void *arg)
{
	struct hwpmc_record r;
	uint64_t n = 0, before;
	int rc;

	while ((rc = hwpmc_input_next(in, &r)) > 0) {
		before = n;
		n += fn(p, in, &r);
		if (before >> 16 == n >> 16)
			continue;
		if (stat_nomem)
			break;
		if (before / SETTLE != n / SETTLE)
			end_runs(p);
		if (progress && before >> 20 != n >> 20)
			progress(hwpmc_input_bytes(in), arg);
	}
	return rc < 0 ? -1 : 0;
}

/* Twice, as mappings may come after their samples: a pipe is kept in a file. */
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
	struct hwpmc_profile *p;

	size = err ? size : 0;
	if (!in || !options)
		return give_up(NULL, EINVAL, NULL_GIVEN, err, size);
	p = hwpmc_profile_new(options);
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
	if (!p)
		return;
	stacks_forget(p);
	end_runs(p);
	p->npoint = 0;
	table_clear(&p->entries);
	p->nentry = 0;
	free(p->more);
	p->more = NULL;
	p->nmore = 0;
	free(p->entry);
	p->entry = NULL;
	free(p->pcs);
	p->pcs = NULL;
	p->npcs = 0;
	stops_clear(p);
	p->totals = (struct hwpmc_profile_totals){ 0 };
	p->first = p->last = 0;
	for (uint32_t i = 0; i < p->nevent; i++) {
		struct event *e = &p->event[i];

		e->pub.samples = e->pub.filtered = e->pub.taken = 0;
		e->out = e->out_taken = e->more = 0;
	}
}

EXPORT void hwpmc_profile_forget(struct hwpmc_profile *p)
{
	if (!p)
		return;
	stat_nomem = false;
	hwpmc_profile_clear(p);
	frames_free(&p->frames);
	p->frames = (struct frames){ 0 };
	stacks_forget_threads(p);
	/* Their names are the model's. */
	table_clear(&p->whoms);
	model_forget(&p->model, p->applied);
	profile_view_images(p);
	stat_end(&p->broken);
}

EXPORT void hwpmc_profile_free(struct hwpmc_profile *p)
{
	if (!p)
		return;
	hwpmc_profile_clear(p);
	losses_clear(&p->losses);
	exact_clear(&p->exact);
	waiting_free(&p->waiting);
	frames_free(&p->frames);
	stacks_forget_threads(p);
	for (uint32_t i = 0; i < p->nevent; i++)
		free(p->event[i].name);
	free(p->event);
	notes_free(p);
	free(p->runs);
	table_free(&p->stops);
	table_free(&p->whoms);
	free(p->whom);
	table_free(&p->events);
	table_free(&p->pmcs);
	table_free(&p->entries);
	free(p->event_view);
	free(p->image_view);
	free(p->point);
	free(p->point_view);
	free(p->pmc);
	kinds_free(&p->kinds);
	model_free(&p->model);
	free(p);
}
