/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * data.c - records from the rings to a profile, and its stacks to lines. What a
 * round has is forgotten with the next one, so that memory does not grow with time.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "common/msg.h"
#include "common/symname.h"
#include "record/note.h"
#include "view/top.h"
#include "top.h"

/* ---- records ------------------------------------------------------------- */

static void top_feed(struct top *t, const void *data, size_t len)
{
	struct hwpmc_record r;
	enum hwpmc_parse rc;

	if (t->broken || hwpmc_parser_feed(t->parser, data, len) < 0)
		return;
	while ((rc = hwpmc_parser_next(t->parser, &r)) == HWPMC_PARSE_RECORD) {
		if (t->paused && r.hdr->type == HWPMC_LOG_CALLCHAIN)
			t->skipped++;
		else
			hwpmc_profile_feed(t->profile, &r);
	}
	if (rc == HWPMC_PARSE_ERROR)
		t->broken = hwpmc_parser_error(t->parser);
}

static int top_take(unsigned int cpu, const void *data, size_t len, void *arg)
{
	struct hwpmc_log_hdr mark;
	struct top *t = arg;

	/* A log begins with INITIALIZE, which the first ring has. */
	if (((const struct hwpmc_log_hdr *)data)->type !=
	    HWPMC_LOG_INITIALIZE) {
		hwpmc_rings_mark(cpu, &mark);
		top_feed(t, &mark, sizeof(mark));
	}
	top_feed(t, data, len);
	return 0;
}

static void add_note(void *arg, uint32_t id, const char *key,
		     const char *value)
{
	union note n;
	size_t len = note_fill(&n, id, key, value);

	top_feed(arg, &n, len);
}

void top_init(struct top *t)
{
	*t = (struct top){ .interval_ns = 2000000000ull, .limit = 25 };
	sampler_init(&t->sampler);
	logopts_init(&t->log);
	t->sampler.take = top_take;
	t->sampler.note = add_note;
	t->sampler.arg = t;
}

int top_begin(struct top *t)
{
	t->log.o.by_thread = true;
	t->log.o.by_kind = true;
	t->log.o.leaf_only = !t->sampler.flags;
	t->parser = hwpmc_parser_new();
	t->profile = hwpmc_profile_new(&t->log.o);
	if (!t->parser || !t->profile) {
		msg("cannot start: out of memory");
		return -1;
	}
	/* The work of reading them is not to be the first thing that is seen. */
	if (hwpmc_profile_prepare(t->profile) < 0) {
		msg("cannot start: out of memory");
		return -1;
	}
	return sampler_open(&t->sampler);
}

void top_free(struct top *t)
{
	sampler_free(&t->sampler);
	hwpmc_profile_free(t->profile);
	hwpmc_parser_free(t->parser);
	logopts_free(&t->log);
	free(t->line);
	free(t->uncounted);
	gaps_free(&t->gaps);
}

/* ---- lines --------------------------------------------------------------- */

static enum top_key sorting_key;	/* for qsort() */

static int compare_lines(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_key(const struct hwpmc_stack *a, const struct hwpmc_stack *b)
{
	switch (sorting_key) {
	case TOP_SYMBOL:
		return compare_lines((uintptr_t)a->frame[0]->symbol,
				     (uintptr_t)b->frame[0]->symbol);
	case TOP_IMAGE:
		return strcmp(a->frame[0]->image->path,
			      b->frame[0]->image->path);
	case TOP_COMM:
		return strcmp(a->thread->comm, b->thread->comm);
	case TOP_THREAD:
		return compare_lines(a->thread->tid, b->thread->tid);
	case TOP_KIND:
		return compare_lines(a->kind, b->kind);
	default:
		return strcmp(a->thread->process, b->thread->process);
	}
}

static int by_key_and_process(const void *a, const void *b)
{
	const struct top_line *x = a, *y = b;
	int d = by_key(x->stack, y->stack);

	return d ? d : strcmp(x->stack->thread->process,
			      y->stack->thread->process);
}

static int most_first(const void *a, const void *b)
{
	const struct top_line *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->stack->frame[0]->symbol->name,
		      y->stack->frame[0]->symbol->name);
}

/* Lines that `same` calls alike become one; the largest of them stays its face. */
static uint32_t merge_lines(struct top_line *l, uint32_t n,
			    int (*same)(const void *a, const void *b))
{
	uint32_t out = 0;

	for (uint32_t i = 1; i < n; i++) {
		if (same(&l[out], &l[i])) {
			l[++out] = l[i];
			continue;
		}
		l[out].count += l[i].count;
		l[out].nprocess += l[i].nprocess;
		if (l[i].most > l[out].most) {
			l[out].most = l[i].most;
			l[out].stack = l[i].stack;
		}
	}
	return n ? out + 1 : 0;
}

static int same_key(const void *a, const void *b)
{
	return by_key(((const struct top_line *)a)->stack,
		      ((const struct top_line *)b)->stack);
}

static bool passes_filter(const struct top *t, const struct hwpmc_stack *s)
{
	return !*t->filter || strcasestr(s->frame[0]->symbol->name, t->filter) ||
	       strcasestr(s->frame[0]->image->path, t->filter) ||
	       strcasestr(s->thread->process, t->filter) ||
	       strcasestr(s->thread->comm, t->filter);
}

static uint32_t collect_lines(struct top *t)
{
	const struct hwpmc_stack *stack;
	uint32_t nstack, n = 0;

	stack = hwpmc_profile_stacks(t->profile, &nstack);
	free(t->line);
	t->line = must_calloc(nstack, sizeof(*t->line));
	t->samples = t->taken = t->unknown = t->doubtful = t->hidden = 0;
	memset(&t->kinds, 0, sizeof(t->kinds));
	for (uint32_t i = 0; i < nstack; i++) {
		const struct hwpmc_stack *s = &stack[i];

		if (s->event != t->event)
			continue;
		t->samples += s->count;
		t->taken += s->taken;
		if (s->kind)
			t->kinds.samples[__builtin_ctz(s->kind)] += s->taken;
		if (s->frame[0]->symbol->unknown)
			t->unknown += s->count;
		else if (s->frame[0]->image->doubt)
			t->doubtful += s->count;
		if (passes_filter(t, s))
			t->line[n++] = (struct top_line){ s, s->count, 0, 0 };
		else
			t->hidden += s->count;
	}
	return n;
}

void top_make_lines(struct top *t)
{
	uint32_t n = collect_lines(t);

	if (t->event < t->nuncounted) {
		const struct top_uncounted *u = &t->uncounted[t->event];

		t->kinds.bound = u->kinds;
		t->kinds.ns = u->ns - u->began_ns;
		t->kinds.slices = u->slices - u->began_slices;
	}
	sorting_key = t->key;
	qsort(t->line, n, sizeof(*t->line), by_key_and_process);
	n = merge_lines(t->line, n, by_key_and_process);
	for (uint32_t i = 0; i < n; i++) {
		t->line[i].most = t->line[i].count;
		t->line[i].nprocess = 1;
	}
	t->nline = merge_lines(t->line, n, same_key);
	qsort(t->line, t->nline, sizeof(*t->line), most_first);
}

/* ---- rounds -------------------------------------------------------------- */

static bool is_too_much(const struct top *t)
{
	uint32_t n;

	hwpmc_profile_stacks(t->profile, &n);
	return n > VIEW_STACKS_MAX;
}

/* Events are new where PMCs were allocated since; the device is open. */
static void ask_uncounted(struct top *t, bool begins)
{
	const struct hwpmc_profile_event *ev;
	uint32_t n;

	ev = hwpmc_profile_events(t->profile, &n);
	if (n > t->nuncounted) {
		t->uncounted = must_realloc(t->uncounted, n, sizeof(*t->uncounted));
		memset(t->uncounted + t->nuncounted, 0,
		       (n - t->nuncounted) * sizeof(*t->uncounted));
		t->nuncounted = n;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct top_uncounted *u = &t->uncounted[i];

		if (begins) {
			u->began_ns = u->ns;
			u->began_slices = u->slices;
		}
		if (!t->sampler.system)
			hwpmc_uncounted(t->sampler.h, ev[i].id, &u->kinds, &u->ns, &u->slices);
	}
}

/*
 * What is fed waits for resolve: so clearing here ends the round that was shown, and
 * takes nothing of the one that comes. A pause keeps the samples, and takes no more.
 */
void top_next_round(struct top *t)
{
	uint64_t samples[HWPMC_DROP_SLOTS], others[HWPMC_DROP_SLOTS];
	uint64_t now, dropped;
	bool begins = false;

	if (!t->over)
		sampler_drain(&t->sampler);
	now = watch_now();
	dropped = sampler_dropped(&t->sampler);
	if (t->paused) {
		t->began += now - t->ended;
	} else if (!t->accumulate || is_too_much(t)) {
		hwpmc_profile_forget(t->profile);
		t->began = t->ended;
		t->dropped_began = t->dropped_ended;
		begins = true;
	}
	hwpmc_profile_resolve(t->profile);
	ask_uncounted(t, begins || t->paused);
	hwpmc_rings_drop_counts(t->sampler.rings, samples, others, HWPMC_DROP_SLOTS);
	gaps_take(&t->gaps, t->profile, samples, begins, t->paused);
	if (!t->paused) {
		t->seconds = (now - t->began) / 1e9;
		t->dropped = dropped - t->dropped_began;
		t->round++;
	}
	t->ended = now;
	t->dropped_ended = dropped;
	top_make_lines(t);
}

/* ---- text ---------------------------------------------------------------- */

static const char *const key_names[TOP_KEYS] = {
	"function", "image", "process", "comm", "thread", "kind",
};

const char *top_key_name(enum top_key key)
{
	return key_names[key];
}

const struct hwpmc_profile_event *top_event(const struct top *t, uint32_t *n)
{
	const struct hwpmc_profile_event *ev;

	ev = hwpmc_profile_events(t->profile, n);
	return t->event < *n ? &ev[t->event] : NULL;
}

double top_percent(const struct top *t, uint64_t part)
{
	return t->samples ? 100.0 * part / t->samples : 0;
}

static void process_text(const struct top_line *l, char *buf, size_t size)
{
	const char *name = l->stack->thread->process;

	if (l->nprocess > 1)
		snprintf(buf, size, "%s and %u more", name, l->nprocess - 1);
	else
		snprintf(buf, size, "%s", name);
}

/* On a screen of 80 columns all of a process's name is to be seen. */
static bool is_narrow(const struct top *t)
{
	return t->columns && t->columns < 110;
}

static int image_width(const struct top *t)
{
	return is_narrow(t) ? 16 : 20;
}

/* Of a function's name: what the other columns leave. */
static int name_width(const struct top *t)
{
	int left = t->columns - 21 - 2 - image_width(t) - 2 - (is_narrow(t) ? 15 : 24);
	int least = is_narrow(t) ? 16 : 32;

	return left > least ? left : least;
}

void top_line_text(const struct top *t, const struct top_line *l, char *buf,
		   size_t size)
{
	const struct hwpmc_frame *leaf = l->stack->frame[0];
	const char *name = leaf->symbol->name;
	char process[80], text[SYMNAME], first[2 * SYMNAME], image[2 * SYMNAME];

	if (t->columns)
		name = symname_show(text, name, name_width(t));
	process_text(l, process, sizeof(process));
	switch (t->key) {
	case TOP_SYMBOL:
		snprintf(buf, size, "%s  %s  %s",
			 symname_column(first, sizeof(first), name, name_width(t), t->columns),
			 symname_column(image, sizeof(image), leaf->image->name,
					image_width(t), is_narrow(t)), process);
		break;
	case TOP_IMAGE:
		snprintf(buf, size, "%s  %s", symname_column(image, sizeof(image),
			 leaf->image->name, 20, false), process);
		break;
	case TOP_COMM:
		snprintf(buf, size, "%s  %s", symname_column(first, sizeof(first),
			 l->stack->thread->comm, 20, false), process);
		break;
	case TOP_THREAD:
		snprintf(buf, size, "%7d  %s  %s", l->stack->thread->tid,
			 symname_column(first, sizeof(first), l->stack->thread->comm, 15, false),
			 process);
		break;
	case TOP_KIND:
		snprintf(buf, size, "%-12s  %s", hwpmc_name_of_kind(l->stack->kind) ?: "cpu",
			 process);
		break;
	default:
		snprintf(buf, size, "%s", process);
		break;
	}
	fmt_plain(buf);
}

void top_columns_text(const struct top *t, char *buf, size_t size)
{
	switch (t->key) {
	case TOP_SYMBOL:
		snprintf(buf, size, "%-*s  %-*s  %s", name_width(t), "function",
			 image_width(t), "image", "process");
		break;
	case TOP_IMAGE:
		snprintf(buf, size, "%-20s  %s", "image", "process");
		break;
	case TOP_COMM:
		snprintf(buf, size, "%-20s  %s", "comm", "process");
		break;
	case TOP_THREAD:
		snprintf(buf, size, "%7s  %-15s  %s", "thread", "name", "process");
		break;
	case TOP_KIND:
		snprintf(buf, size, "%-12s  %s", "kind", "process");
		break;
	default:
		snprintf(buf, size, "process");
		break;
	}
}

bool top_has_kinds(const struct top *t)
{
	for (uint32_t i = 0; i < 8; i++)
		if (t->kinds.samples[i])
			return true;
	return false;
}

static int kinds_text(const struct top_kinds *k, char *buf, size_t size)
{
	const char *bound = hwpmc_name_of_kind(k->bound);
	size_t n = 0;

	for (uint32_t i = 0; i < 8 && n < size; i++)
		if (k->samples[i])
			n += snprintf(buf + n, size - n, ", %" PRIu64 " on %s",
				      k->samples[i], hwpmc_name_of_kind(1u << i));
	if (bound && n < size)
		n += snprintf(buf + n, size - n,
			      ", counted on %s only: %.1f ms in %" PRIu64 " slices ran elsewhere",
			      bound, k->ns / 1e6, k->slices);
	return n;
}

bool top_gap_text(const struct top *t, uint32_t i, char *buf, size_t size)
{
	if (!gaps_text(&t->gaps, t->event, i, buf, size))
		return false;
	fmt_plain(buf);
	return true;
}

void top_sums_text(const struct top *t, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%" PRIu64 " sample%s in %.1f s, %.0f/s, %"
			 PRIu64 " dropped, %.1f%% unknown", t->taken, fmt_plural(t->taken),
			 t->seconds, t->seconds > 0 ? t->taken / t->seconds : 0,
			 t->dropped, top_percent(t, t->unknown));

	if (t->doubtful && n < size)
		n += snprintf(buf + n, size - n, ", %.1f%% doubtful",
			      top_percent(t, t->doubtful));
	if (n < size)
		n += kinds_text(&t->kinds, buf + n, size - n);
	if (*t->filter && n < size)
		n += snprintf(buf + n, size - n, ", %.1f%% excluded by '%s'",
			      top_percent(t, t->hidden), t->filter);
	if (t->skipped && n < size)
		snprintf(buf + n, size - n, ", %" PRIu64 " not taken during the pause",
			 t->skipped);
	fmt_plain(buf);
}
