/* SPDX-License-Identifier: BSD-2-Clause */
/* losses.c - see losses.h. */
#include <stdlib.h>

#include "losses.h"
#include "profile.h"
#include "stat.h"

static uint64_t later_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static struct loss *find(struct losses *l, const struct hwpmc_log_loss *r)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->all[i].pmc == r->hdr.id && l->all[i].cpu == r->cpu &&
		    l->all[i].reason == r->reason)
			return &l->all[i];
	if (l->n == LOSSES_MOST || !stat_room(&l->all, l->n, sizeof(*l->all)))
		return NULL;
	l->all[l->n] = (struct loss){
		.pmc = r->hdr.id, .cpu = r->cpu, .reason = r->reason, .detail = r->detail,
		.from = r->since,
	};
	return &l->all[l->n++];
}

void losses_add(struct losses *l, const struct hwpmc_log_loss *r)
{
	struct loss *loss = find(l, r);

	if (!loss)
		return;
	if (r->since < loss->from)
		loss->from = r->since;
	if (r->hdr.flags & HWPMC_LOSS_OVER)
		loss->over = later_of(loss->over, r->hdr.time);
	else
		loss->lost = later_of(loss->lost, r->hdr.time);
}

static bool is_over(const struct loss *loss)
{
	return loss->over > loss->lost;
}

/* That the PMC samples; NO_EVENT: none. */
static uint32_t event_of(const struct hwpmc_profile *p, uint32_t pmc)
{
	for (uint32_t i = 0; i < p->pmcs.n; i++)
		if (p->pmc[i].id == pmc)
			return p->pmc[i].event;
	return NO_EVENT;
}

/* Has an earlier one the same event, reason and CPU? */
static bool is_counted(const struct losses *l, const struct hwpmc_profile *p, uint32_t n,
		       uint32_t event)
{
	for (uint32_t i = 0; i < n; i++)
		if (l->all[i].cpu == l->all[n].cpu && l->all[i].reason == l->all[n].reason &&
		    event_of(p, l->all[i].pmc) == event)
			return true;
	return false;
}

static struct hwpmc_profile_loss *find_view(struct losses *l, uint32_t event, uint32_t reason)
{
	for (uint32_t i = 0; i < l->nview; i++)
		if (l->view[i].event == event && l->view[i].reason == reason)
			return &l->view[i];
	if (!stat_room(&l->view, l->nview, sizeof(*l->view)))
		return NULL;
	l->view[l->nview] = (struct hwpmc_profile_loss){
		.event = event, .reason = reason, .from = INT64_MAX,
	};
	return &l->view[l->nview++];
}

static uint64_t to_ns(const struct hwpmc_profile *p, uint64_t tick)
{
	int64_t ns = clock_ns(&p->clock, tick);

	return ns > 0 ? ns : 0;
}

static void view_one(struct losses *l, const struct hwpmc_profile *p, uint32_t n,
		     uint32_t event)
{
	const struct loss *loss = &l->all[n];
	struct hwpmc_profile_loss *v = find_view(l, event, loss->reason);

	if (!v)
		return;
	v->detail = loss->detail;
	v->ncpu += !is_counted(l, p, n, event);
	v->open |= !is_over(loss);
	if (to_ns(p, loss->from) < v->from)
		v->from = to_ns(p, loss->from);
	v->until = later_of(v->until, to_ns(p, later_of(loss->over, loss->lost)));
}

void losses_view(struct losses *l, const struct hwpmc_profile *p)
{
	uint32_t event;

	free(l->view);
	l->view = NULL;
	l->nview = 0;
	for (uint32_t i = 0; i < l->n; i++) {
		event = event_of(p, l->all[i].pmc);
		if (event != NO_EVENT)
			view_one(l, p, i, event);
	}
}

void losses_clear(struct losses *l)
{
	free(l->all);
	free(l->view);
	*l = (struct losses){ .n = 0 };
}

EXPORT const struct hwpmc_profile_loss *
hwpmc_profile_losses(const struct hwpmc_profile *p, uint32_t *n)
{
	if (n)
		*n = 0;
	if (stat_null(!p || !n))
		return NULL;
	*n = p->losses.nview;
	return p->losses.view;
}
