/* SPDX-License-Identifier: BSD-2-Clause */
/* few.c - see few.h. No state but that of the caller. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <libhwpmc.h>

#include "common/msg.h"
#include "few.h"
#include "sampler.h"

/* ---- counts -------------------------------------------------------------- */

static uint32_t first_slot(const struct few *f, uint32_t id)
{
	return (id * 2654435769u >> 8) & f->mask;
}

static void add_pmc(struct few *f, unsigned int i)
{
	uint32_t at = first_slot(f, f->pmc[i].id);

	while (f->slot[at])
		at = (at + 1) & f->mask;
	f->slot[at] = i + 1;
}

/* At most half of the slots are used, so that each search ends. */
static void grow(struct few *f, const uint32_t *id, unsigned int n)
{
	f->pmc = must_realloc(f->pmc, n, sizeof(*f->pmc));
	for (unsigned int i = f->n; i < n; i++)
		f->pmc[i] = (struct few_pmc){ .id = id[i] };
	f->n = n;
	while (f->mask < 2 * n)
		f->mask = 2 * f->mask + 1;
	free(f->slot);
	f->slot = must_calloc(f->mask + (size_t)1, sizeof(*f->slot));
	for (unsigned int i = 0; i < n; i++)
		add_pmc(f, i);
}

struct few_pmc *few_find(struct few *f, const uint32_t *id, unsigned int n, uint32_t which)
{
	if (n > f->n)
		grow(f, id, n);
	if (!f->n)
		return NULL;
	for (uint32_t at = first_slot(f, which); f->slot[at]; at = (at + 1) & f->mask)
		if (f->pmc[f->slot[at] - 1].id == which)
			return &f->pmc[f->slot[at] - 1];
	return NULL;
}

void few_free(struct few *f)
{
	free(f->pmc);
	free(f->slot);
	*f = (struct few){ 0 };
}

/* ---- hints --------------------------------------------------------------- */

static bool can_have_more(const struct few_event *e)
{
	if (e->asked.frequency)
		return e->hard && e->asked.frequency < HWPMC_FREQUENCY_MAX;
	return e->hard && !e->raised && e->asked.period > 1;
}

static int put_remedy(char *at, size_t size, const struct few_event *e)
{
	uint64_t rate = e->asked.frequency;

	if (!rate && e->own)
		return snprintf(at, size, "use a shorter period= for the event, or a rate: freq=%d",
				SAMPLER_RATE);
	if (!rate)
		return snprintf(at, size, "use a shorter period (-c), or a rate: -F %d", SAMPLER_RATE);
	rate = rate > HWPMC_FREQUENCY_MAX / 10 ? HWPMC_FREQUENCY_MAX : 10 * rate;
	if (e->own)
		return snprintf(at, size, "sample more often: freq=%" PRIu64
				" for the event, instead of freq=%" PRIu64, rate, e->asked.frequency);
	return snprintf(at, size, "sample more often: -F %" PRIu64, rate);
}

/* A rate begins with a short period, and a period of 1 needs one occurrence only. */
static void none_text(char text[FEW_TEXT], const struct few_event *e, bool attached)
{
	bool remedy = !e->asked.frequency && can_have_more(e);
	int n = snprintf(text, FEW_TEXT, "%.200s has no samples: %sit did not occur %s%s", e->name,
			 attached ? "the processes did not run, or " : "",
			 remedy ? "as often as its period" : "while it was sampled",
			 remedy ? "; " : "");

	if (remedy)
		put_remedy(text + n, FEW_TEXT - n, e);
}

bool few_text(char text[FEW_TEXT], const struct few_event *e, bool named, bool attached)
{
	int n;

	if (e->samples >= FEW_SAMPLES)
		return false;
	if (!e->samples) {
		none_text(text, e, attached);
		return true;
	}
	if (!can_have_more(e))
		return false;
	n = snprintf(text, FEW_TEXT, "%" PRIu64 " sample%s%s%.200s %s too few for shares of functions; %s",
		     e->samples, e->samples == 1 ? "" : "s", named ? " of " : "",
		     named ? e->name : "", e->samples == 1 ? "is" : "are",
		     attached ? "sample the processes while they run more, or " : "");
	put_remedy(text + n, FEW_TEXT - n, e);
	return true;
}
