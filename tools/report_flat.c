/* SPDX-License-Identifier: BSD-2-Clause */
/* report_flat.c - samples by process, thread, image and function. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fmt.h"
#include "msg.h"
#include "report.h"

static const char *const key_words[REPORT_KEYS] = {
	"process", "pid", "thread", "image", "symbol",
};

int report_key(const char *word)
{
	for (int i = 0; i < REPORT_KEYS; i++)
		if (strcmp(word, key_words[i]) == 0)
			return i;
	return -1;
}

/* A line: the keys' values of a stack, and the samples of all that have them. */
struct line {
	const struct hwpmc_stack *stack;
	uint64_t count;
};

static const struct report *sorting;	/* for qsort() */

static int compare_key(enum report_key key, const struct hwpmc_stack *a,
		       const struct hwpmc_stack *b)
{
	const struct hwpmc_frame *x = a->frame[0], *y = b->frame[0];

	switch (key) {
	case REPORT_PROCESS:
		return strcmp(a->thread->process, b->thread->process);
	case REPORT_PID:
		return (a->thread->pid > b->thread->pid) -
		       (a->thread->pid < b->thread->pid);
	case REPORT_THREAD:
		return (a->thread->tid > b->thread->tid) -
		       (a->thread->tid < b->thread->tid);
	case REPORT_IMAGE:
		return strcmp(x->image->path, y->image->path);
	default:
		return (x->symbol > y->symbol) - (x->symbol < y->symbol);
	}
}

static int same_keys(const void *a, const void *b)
{
	const struct line *x = a, *y = b;
	int d = (x->stack->event > y->stack->event) -
		(x->stack->event < y->stack->event);

	for (unsigned int i = 0; !d && i < sorting->nkey; i++)
		d = compare_key(sorting->key[i], x->stack, y->stack);
	return d;
}

static int most_first(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->stack->event != y->stack->event)
		return x->stack->event < y->stack->event ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return strcmp(x->stack->frame[0]->symbol->name,
		      y->stack->frame[0]->symbol->name);
}

static struct line *make_lines(const struct report *r, uint32_t *n)
{
	const struct hwpmc_stack *stack;
	uint32_t nstack, out = 0;
	struct line *line;

	stack = hwpmc_profile_stacks(r->profile, &nstack);
	line = must_calloc(nstack + 1, sizeof(*line));
	for (uint32_t i = 0; i < nstack; i++)
		line[i] = (struct line){ &stack[i], stack[i].count };
	sorting = r;
	qsort(line, nstack, sizeof(*line), same_keys);
	for (uint32_t i = 1; i < nstack; i++) {
		if (same_keys(&line[out], &line[i]) == 0)
			line[out].count += line[i].count;
		else
			line[++out] = line[i];
	}
	*n = nstack ? out + 1 : 0;
	qsort(line, *n, sizeof(*line), most_first);
	return line;
}

/* ---- what stands above --------------------------------------------------- */

static void print_drops(FILE *f, const struct hwpmc_profile_totals *t)
{
	for (uint32_t i = 0; i < HWPMC_DROP__COUNT; i++) {
		if (t->dropped[i])
			fprintf(f, "# %" PRIu64 " samples lost: %s\n",
				t->dropped[i], hwpmc_name_of_drop(i));
		if (t->others_dropped[i])
			fprintf(f, "# %" PRIu64 " other records lost: %s\n",
				t->others_dropped[i], hwpmc_name_of_drop(i));
	}
}

void report_head(const struct report *r, const struct hwpmc_profile_event *ev,
		 FILE *f)
{
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(r->profile);
	const char *command = hwpmc_profile_note(r->profile, "command");

	fprintf(f, "# event %s, a sample every %" PRIu64 ": %" PRIu64
		" samples in %.3f s\n", ev->name, ev->period, ev->samples,
		t->duration / 1e9);
	if (command)
		fprintf(f, "# command: %s\n", command);
	if (ev->filtered)
		fprintf(f, "# %" PRIu64 " samples are kept out by the options\n",
			ev->filtered);
	print_drops(f, t);
	if (t->throttles)
		fprintf(f, "# sampling stood still %" PRIu64
			" times, because it took too much time\n", t->throttles);
	if (t->cut)
		fputs("# the log ends in the middle of a record\n", f);
}

/* ---- lines --------------------------------------------------------------- */

static void key_text(char *buf, size_t size, enum report_key key,
		     const struct hwpmc_stack *s)
{
	const struct hwpmc_frame *leaf = s->frame[0];

	switch (key) {
	case REPORT_PROCESS:
		snprintf(buf, size, "%s", s->thread->process);
		break;
	case REPORT_PID:
		snprintf(buf, size, "%d", s->thread->pid);
		break;
	case REPORT_THREAD:
		snprintf(buf, size, "%d", s->thread->tid);
		break;
	case REPORT_IMAGE:
		snprintf(buf, size, "%s", leaf->image->name);
		break;
	default:
		snprintf(buf, size, "%s", leaf->symbol->name);
		break;
	}
}

static void print_text_line(const struct report *r, FILE *f,
			    const struct line *l, uint64_t all)
{
	char text[1024];

	fprintf(f, "%7.2f%% %10" PRIu64, 100.0 * l->count / all, l->count);
	for (unsigned int i = 0; i < r->nkey; i++) {
		key_text(text, sizeof(text), r->key[i], l->stack);
		fprintf(f, i + 1 < r->nkey ? "  %-20s" : "  %s", text);
	}
	fputc('\n', f);
}

static void print_text_head(const struct report *r, FILE *f)
{
	fputs("# percent    samples", f);
	for (unsigned int i = 0; i < r->nkey; i++)
		fprintf(f, i + 1 < r->nkey ? "  %-20s" : "  %s",
			key_words[r->key[i]]);
	fputc('\n', f);
}

static void print_data_line(const struct report *r, FILE *f,
			    const struct hwpmc_profile_event *ev,
			    const struct line *l)
{
	bool json = r->format == REPORT_JSON;
	char text[1024];

	fputs(json ? "{\"event\":" : "", f);
	(json ? fmt_json_string : fmt_csv_field)(f, ev->name);
	fprintf(f, json ? ",\"samples\":%" PRIu64 ",\"percent\":%.4f" :
		",%" PRIu64 ",%.4f", l->count, 100.0 * l->count / ev->samples);
	for (unsigned int i = 0; i < r->nkey; i++) {
		key_text(text, sizeof(text), r->key[i], l->stack);
		if (json)
			fprintf(f, ",\"%s\":", key_words[r->key[i]]);
		else
			fputc(',', f);
		(json ? fmt_json_string : fmt_csv_field)(f, text);
	}
	fputs(json ? "}\n" : "\n", f);
}

static void print_event(const struct report *r, FILE *f,
			const struct hwpmc_profile_event *ev,
			const struct line *line, uint32_t n)
{
	uint64_t rest = 0;

	if (r->format == REPORT_TEXT) {
		report_head(r, ev, f);
		print_text_head(r, f);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (100.0 * line[i].count < r->limit * ev->samples)
			rest += line[i].count;
		else if (r->format == REPORT_TEXT)
			print_text_line(r, f, &line[i], ev->samples);
		else
			print_data_line(r, f, ev, &line[i]);
	}
	if (rest && r->format == REPORT_TEXT)
		fprintf(f, "%7.2f%% %10" PRIu64 "  (lines below --limit)\n",
			100.0 * rest / ev->samples, rest);
}

void report_flat(const struct report *r, FILE *f)
{
	const struct hwpmc_profile_event *ev;
	uint32_t nev, n, at = 0;
	struct line *line;

	ev = hwpmc_profile_events(r->profile, &nev);
	line = make_lines(r, &n);
	if (!nev && r->format == REPORT_TEXT)
		fputs("# nothing was sampled in this log\n", f);
	for (uint32_t e = 0; e < nev; e++) {
		uint32_t first = at;

		while (at < n && line[at].stack->event == e)
			at++;
		if (e && r->format == REPORT_TEXT)
			fputc('\n', f);
		print_event(r, f, &ev[e], line + first, at - first);
	}
	free(line);
}
