/* SPDX-License-Identifier: BSD-2-Clause */
/* gaps.c - see gaps.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libhwpmc.h>
#include <libhwpmcstat.h>

#include "common/missing.h"
#include "common/msg.h"
#include "gaps.h"

/* While the display stands still samples are not counted, so drops are not either. */
static void take_drops(struct gaps *g, uint64_t paused, const uint64_t *dropped, bool stands)
{
	uint64_t lost = dropped[HWPMC_DROP_PAUSED];
	uint64_t all = missing_sum(dropped, HWPMC_DROP_SLOTS);

	if (stands) {
		g->paused_before += paused - g->paused;
		g->lost_before += lost - g->lost;
		g->dropped_before += all - g->dropped;
	}
	g->paused = paused;
	g->lost = lost;
	g->dropped = all;
}

void gaps_take(struct gaps *g, const struct hwpmc_profile *p, const uint64_t *dropped,
	       bool begins, bool stands)
{
	const struct hwpmc_profile_totals *t = hwpmc_profile_totals(p);
	const struct hwpmc_profile_loss *loss;
	uint32_t n;

	if (begins) {
		free(g->before);
		g->before = g->loss;
		g->nbefore = g->nloss;
		g->paused_before = g->paused;
		g->lost_before = g->lost;
		g->dropped_before = g->dropped;
	} else {
		free(g->loss);
	}
	loss = hwpmc_profile_losses(p, &n);
	g->loss = must_calloc(n + 1, sizeof(*g->loss));
	if (n)
		memcpy(g->loss, loss, n * sizeof(*g->loss));
	g->nloss = n;
	take_drops(g, t->paused, dropped, stands);
	g->samples = t->samples;
}

/* Did the counter not count when the round began, or at some time in it? */
static bool is_of_round(const struct gaps *g, const struct hwpmc_profile_loss *loss)
{
	for (uint32_t i = 0; i < g->nbefore; i++)
		if (g->before[i].event == loss->event && g->before[i].reason == loss->reason)
			return g->before[i].open || g->before[i].until != loss->until;
	return true;
}

static void pauses_text(const struct gaps *g, char *buf, size_t size)
{
	uint64_t lost = g->lost - g->lost_before;
	uint64_t all = g->samples + g->dropped - g->dropped_before;
	char share[100];

	missing_paused_text(lost, all, share, sizeof(share));
	snprintf(buf, size, "%ssampling was paused for %.3f s%s%s; sample less often (-F, -c)",
		 missing_warns(lost, all) ? "warning: " : "",
		 (g->paused - g->paused_before) / 1e9, lost ? ": " : "", lost ? share : "");
}

static void loss_text(const struct hwpmc_profile_loss *loss, char *buf, size_t size)
{
	struct hwpmc_classnote note = { .reason = loss->reason, .detail = loss->detail };
	char why[400];

	hwpmc_note_text(&note, why, sizeof(why));
	snprintf(buf, size, "samples may be missing on %u CPU%s%s: %s", loss->ncpu, loss->ncpu == 1 ? "" : "s",
		 loss->open ? "" : ", counting again", why);
}

bool gaps_text(const struct gaps *g, uint32_t event, uint32_t i, char *buf, size_t size)
{
	if ((g->lost > g->lost_before || g->paused > g->paused_before) && !i--) {
		pauses_text(g, buf, size);
		return true;
	}
	for (uint32_t l = 0; l < g->nloss; l++) {
		if (g->loss[l].event != event || !is_of_round(g, &g->loss[l]) || i--)
			continue;
		loss_text(&g->loss[l], buf, size);
		return true;
	}
	return false;
}

void gaps_free(struct gaps *g)
{
	free(g->before);
	free(g->loss);
}
