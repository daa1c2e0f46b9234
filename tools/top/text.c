/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c - rounds of "hwpmc top" as text: what is below the last line is a sum. */
#include <inttypes.h>
#include <stdio.h>

#include "common/fmt.h"
#include "top.h"

static void print_rest(const struct top *t, uint32_t from)
{
	uint64_t rest = 0;

	for (uint32_t i = from; i < t->nline; i++)
		rest += t->line[i].count;
	if (rest)
		printf("%7.2f%% %10" PRIu64 "  (%u lines more)\n",
		       top_percent(t, rest), rest, t->nline - from);
	if (t->hidden)
		printf("%7.2f%% %10" PRIu64 "  (excluded by the filter)\n",
		       top_percent(t, t->hidden), t->hidden);
}

static void print_event(struct top *t)
{
	const struct hwpmc_profile_event *ev;
	char text[1024], rate[LOGOPTS_RATE];
	uint32_t n;

	ev = top_event(t, &n);
	top_sums_text(t, text, sizeof(text));
	printf("# round %" PRIu64 ": ", t->round);
	fmt_put_plain(stdout, ev->name, 0);
	printf(", %s: %s\n", logopts_rate(ev, rate), text);
	for (n = 0; top_gap_text(t, n, text, sizeof(text)); n++)
		printf("# %s\n", text);
	top_columns_text(t, text, sizeof(text));
	printf("# percent    %7s  %s\n", logopts_unit(ev), text);
	for (n = 0; n < t->nline && n < t->limit; n++) {
		top_line_text(t, &t->line[n], text, sizeof(text));
		printf("%7.2f%% %10" PRIu64 "  %s\n",
		       top_percent(t, t->line[n].count), t->line[n].count, text);
	}
	print_rest(t, n);
}

/* The reason for doubts, once for each image of the round. */
static void print_doubts(const struct top *t)
{
	struct hwpmc_image *const *image;
	uint32_t n;

	image = hwpmc_profile_images(t->profile, &n);
	for (uint32_t i = 0; i < n; i++) {
		if (!image[i]->samples || !image[i]->doubt)
			continue;
		fputs("# doubtful symbols of ", stdout);
		fmt_put_plain(stdout, image[i]->path, 0);
		printf(": %s\n", image[i]->doubt);
	}
}

void top_print_round(struct top *t)
{
	uint32_t n;

	top_event(t, &n);
	for (t->event = 0; t->event < n; t->event++) {
		top_make_lines(t);
		print_event(t);
	}
	t->event = 0;
	print_doubts(t);
	fputc('\n', stdout);
	fflush(stdout);
}
