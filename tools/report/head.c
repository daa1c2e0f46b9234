/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * head.c - what stands above the figures of a report and below them: what was
 * sampled, what is missing, and why something has no name.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/fmt.h"
#include "common/missing.h"
#include "common/msg.h"
#include "report.h"

static void print_drops(FILE *f, const struct hwpmc_profile_totals *t)
{
	if (t->dropped[HWPMC_DROP_FILTERED])
		fprintf(f, "# %" PRIu64 " sample%s of the other mode %s omitted: the hardware "
			"cannot select a mode\n", t->dropped[HWPMC_DROP_FILTERED],
			fmt_plural(t->dropped[HWPMC_DROP_FILTERED]),
			t->dropped[HWPMC_DROP_FILTERED] == 1 ? "is" : "are");
	for (uint32_t i = 0; i < HWPMC_DROP_SLOTS; i++) {
		/* print_pauses() has those of pauses. */
		if (t->dropped[i] && i != HWPMC_DROP_PAUSED && missing_is_loss(i))
			fprintf(f, "# %s%" PRIu64 " sample%s lost: %s; %s\n", missing_bound(i),
				t->dropped[i], fmt_plural(t->dropped[i]), hwpmc_name_of_drop(i),
				missing_advice(i));
		if (t->others_dropped[i])
			fprintf(f, "# %" PRIu64 " other record%s lost: %s; %s\n",
				t->others_dropped[i], fmt_plural(t->others_dropped[i]), hwpmc_name_of_drop(i),
				missing_advice(i));
	}
}

/* The drops of a log from hwpmc filter are those of all samples, so they have no share. */
static void print_pauses(FILE *f, const struct report *r)
{
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(r->profile);
	struct missing_pauses m = {
		.times = t->pauses, .ns = t->paused, .percent = t->paused_percent,
		.lost = t->dropped[HWPMC_DROP_PAUSED],
		.all = t->samples + missing_sum(t->dropped, HWPMC_DROP_SLOTS),
	};

	if (hwpmc_profile_note(r->profile, "filtered"))
		m.all = 0;
	if (missing_put_pauses(f, "# ", &m))
		fputc('\n', f);
}

static uint64_t ends_in(const struct hwpmc_image *image, uint32_t end)
{
	if (end == HWPMC_CHAIN_NO_TABLE)
		return image->no_table;
	if (end == HWPMC_CHAIN_NOT_READY)
		return image->not_ready;
	return end == HWPMC_CHAIN_NO_RULE ? image->no_rule : 0;
}

#define IMAGES_MOST	3

/* The images with the most of these chains, which others they are behind them. */
static void put_where(FILE *f, uint32_t end, void *arg)
{
	const struct report *r = arg;
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(r->profile);
	struct hwpmc_image *const *image;
	uint64_t left = UINT64_MAX, most, all = 0;
	uint32_t n, shown = 0;

	for (uint32_t i = 0; i < HWPMC_CHAIN__COUNT; i++)
		all += t->chains[i];
	image = hwpmc_profile_images(r->profile, &n);
	/* Images with as many as the one before are shown with it. */
	while (shown < IMAGES_MOST) {
		most = 0;
		for (uint32_t i = 0; i < n; i++)
			if (ends_in(image[i], end) < left && ends_in(image[i], end) > most)
				most = ends_in(image[i], end);
		if (!most)
			break;
		for (uint32_t i = 0; i < n; i++) {
			if (ends_in(image[i], end) != most)
				continue;
			fprintf(f, "%s%.1f %% in ", shown++ ? ", " : " (",
				report_percent(most, all));
			fmt_put_plain(f, image[i]->name, 0);
		}
		left = most;
	}
	fputs(shown ? ")" : "", f);
}

/* Of an event of one kind of core: how much ran on others, where it has no samples. */
static void print_uncounted(FILE *f, const struct report *r,
			    const struct hwpmc_profile_event *ev)
{
	const char *note = hwpmc_profile_note(r->profile, "uncounted");
	size_t len = strlen(ev->name);

	while (note && (strncmp(note, ev->name, len) || strncmp(note + len, ": ", 2))) {
		note = strstr(note, "; ");
		note = note ? note + 2 : NULL;
	}
	if (!note)
		return;
	fputs("# ", f);
	for (note += len + 2; *note && strncmp(note, "; ", 2); note++)
		fmt_put_plain(f, (char []){ *note, '\0' }, 0);
	fputc('\n', f);
}

/* Looks at each stack once, however many events there are. */
void report_count_kinds(struct report *r)
{
	const struct hwpmc_stack *stack;
	uint32_t nev, n;

	hwpmc_profile_events(r->profile, &nev);
	stack = hwpmc_profile_stacks(r->profile, &n);
	for (uint32_t i = 0; i < n && !r->on; i++)
		if (stack[i].kind)
			r->on = must_calloc(nev, sizeof(*r->on));
	for (uint32_t i = 0; i < n && r->on; i++) {
		unsigned int kind = stack[i].kind ? __builtin_ctz(stack[i].kind) :
						    REPORT_NO_KIND;

		r->on[stack[i].event][kind] += stack[i].taken;
	}
}

/* On which kinds of core: nothing where all CPUs are alike. */
static void print_kinds(FILE *f, const struct report *r,
			const struct hwpmc_profile_event *ev)
{
	const uint64_t *on;
	uint32_t nev, shown = 0;

	if (!r->on)
		return;
	on = r->on[ev - hwpmc_profile_events(r->profile, &nev)];
	for (uint32_t i = 0; i < REPORT_NO_KIND; i++)
		if (on[i])
			fprintf(f, "%s%" PRIu64 " on %s", shown++ ? ", " : "# samples: ",
				on[i], hwpmc_name_of_kind(1u << i));
	if (shown && on[REPORT_NO_KIND])
		fprintf(f, ", %" PRIu64 " on CPUs of unknown kind",
			on[REPORT_NO_KIND]);
	fputs(shown ? "\n" : "", f);
}

/* Whether samples are at the instruction of their event: nothing if none is. */
static void print_exact(FILE *f, const struct report *r, const struct hwpmc_profile_event *ev)
{
	uint64_t exact, inexact;
	uint32_t nev;

	if (hwpmc_profile_exact(r->profile, ev - hwpmc_profile_events(r->profile, &nev), &exact,
				&inexact) < 0)
		return;
	if (ev->flags & HWPMC_F_EXACT && inexact)
		fprintf(f, "# addresses are exact, except those of %" PRIu64 " sample%s\n",
			inexact, fmt_plural(inexact));
	else if (ev->flags & HWPMC_F_EXACT)
		fputs("# addresses are exact\n", f);
	else if (exact)
		fprintf(f, "# the addresses of %" PRIu64 " sample%s are exact\n", exact,
			fmt_plural(exact));
}

void report_head(const struct report *r, const struct hwpmc_profile_event *ev)
{
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(r->profile);
	const char *command = hwpmc_profile_note(r->profile, "command");
	const char *filtered = hwpmc_profile_note(r->profile, "filtered");
	const char *overwritten = hwpmc_profile_note(r->profile, "overwritten");
	const char *left = hwpmc_profile_note(r->profile, "perf-left-out");
	char rate[LOGOPTS_RATE], taken[LOGOPTS_RATE];
	FILE *f = r->out.f;
	uint32_t nev;

	fputs("# event ", f);
	fmt_put_plain(f, ev->name, 0);
	fprintf(f, ", %s: %s in %.3f s\n", logopts_rate(ev, rate), logopts_taken(ev, taken),
		t->duration / 1e9);
	if (command) {
		fputs("# command: ", f);
		fmt_put_plain(f, command, 0);
		fputc('\n', f);
	}
	print_kinds(f, r, ev);
	print_exact(f, r, ev);
	print_uncounted(f, r, ev);
	if (ev->filtered)
		fprintf(f, "# %" PRIu64 " %s are excluded by the options\n",
			ev->filtered, logopts_unit(ev));
	if (filtered) {
		fputs("# hwpmc filter has removed ", f);
		fmt_put_plain(f, filtered, 0);
		fputs(" samples\n", f);
	}
	if (overwritten) {
		fputs("# ", f);
		fmt_put_plain(f, overwritten, 0);
		fputs(" samples were overwritten by later ones (record --overwrite)\n", f);
	}
	print_drops(f, t);
	missing_put_losses(f, "# ", r->profile, ev - hwpmc_profile_events(r->profile, &nev));
	print_pauses(f, r);
	if (missing_chains(t->chains)) {
		fputs("# ", f);
		missing_put_chains(f, t->chains, put_where, (void *)r);
		fputc('\n', f);
	}
	if (t->fp_short) {
		fputs("# ", f);
		missing_put_short(f, t->fp_chains, t->fp_short);
		fputc('\n', f);
	}
	if (left) {
		fputs("# not taken from the file of perf record: ", f);
		fmt_put_plain(f, left, 0);
		fputc('\n', f);
	}
	if (t->cut)
		fputs("# " MISSING_END "\n", f);
}

/* ---- below --------------------------------------------------------------- */

static int most_first(const void *a, const void *b)
{
	const struct hwpmc_image *x = *(struct hwpmc_image *const *)a;
	const struct hwpmc_image *y = *(struct hwpmc_image *const *)b;

	return (x->samples < y->samples) - (x->samples > y->samples);
}

/* Why it is so, once for all images after one another that have the same reason. */
static void print_problem(FILE *f, const char *what, const struct hwpmc_image *image,
			  const char *why, const char **told)
{
	fprintf(f, "# %s of ", what);
	fmt_put_plain(f, image->path, 0);
	fprintf(f, " (%" PRIu64 " sample%s): ", image->samples, image->samples == 1 ? "" : "s");
	if (*told && strcmp(*told, why) == 0)
		fputs("the same", f);
	else
		fmt_put_plain(f, why, 0);
	*told = why;
	fputc('\n', f);
}

void report_problems(FILE *f, const struct hwpmc_profile *profile, bool lines)
{
	struct hwpmc_image *const *all;
	struct hwpmc_image **image;
	const char *symbols = NULL, *doubts = NULL, *sources = NULL;
	uint32_t n;

	all = hwpmc_profile_images(profile, &n);
	image = must_calloc(n, sizeof(struct hwpmc_image *));
	for (uint32_t i = 0; i < n; i++)
		image[i] = all[i];
	qsort(image, n, sizeof(struct hwpmc_image *), most_first);
	for (uint32_t i = 0; i < n && image[i]->samples; i++) {
		if (image[i]->problem)
			print_problem(f, "no symbols", image[i], image[i]->problem, &symbols);
		else if (image[i]->doubt)
			print_problem(f, "doubtful symbols", image[i], image[i]->doubt,
				      &doubts);
		if (lines && image[i]->no_lines)
			print_problem(f, "no source lines", image[i],
				      image[i]->no_lines, &sources);
	}
	free(image);
}
