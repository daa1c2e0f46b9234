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

static bool same_loss(const void *items, uint32_t i, const void *key)
{
	const struct loss *loss = &((const struct losses *)items)->all[i];
	const struct hwpmc_log_loss *r = key;

	return loss->pmc == r->hdr.id && loss->cpu == r->cpu && loss->reason == r->reason;
}

static struct loss *find(struct losses *l, const struct hwpmc_log_loss *r)
{
	uint64_t hash = table_mix(table_hash((uint64_t)r->hdr.id << 32 | r->cpu), r->reason);
	uint32_t i = table_find(&l->table, hash, same_loss, l, r);

	if (i != TABLE_NONE)
		return &l->all[i];
	if (l->table.n == LOSSES_MOST || !table_room(&l->table) ||
	    !stat_room(&l->all, l->table.n, sizeof(*l->all)))
		return NULL;
	i = l->table.n;
	table_put(&l->table, hash);
	l->all[i] = (struct loss){
		.pmc = r->hdr.id, .cpu = r->cpu, .reason = r->reason, .detail = r->detail,
		.from = r->since,
	};
	return &l->all[i];
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

static int order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* By event, reason and CPU; then as they came. */
static int by_view(const void *a, const void *b)
{
	const struct loss *x = *(struct loss *const *)a, *y = *(struct loss *const *)b;
	int rc = order(x->event, y->event);

	rc = rc ?: order(x->reason, y->reason);
	rc = rc ?: order(x->cpu, y->cpu);
	return rc ?: order((uintptr_t)x, (uintptr_t)y);
}

static uint64_t to_ns(const struct hwpmc_profile *p, uint64_t tick)
{
	int64_t ns = clock_ns(&p->clock, tick);

	return ns > 0 ? ns : 0;
}

static void view_one(struct losses *l, const struct hwpmc_profile *p, struct loss *loss,
		     const struct loss *last)
{
	struct hwpmc_profile_loss *v = &l->view[l->nview - 1];

	if (!last || last->event != loss->event || last->reason != loss->reason) {
		v = &l->view[l->nview++];
		*v = (struct hwpmc_profile_loss){
			.event = loss->event, .reason = loss->reason, .from = INT64_MAX,
		};
		last = NULL;
	}
	loss->view = l->nview - 1;
	v->ncpu += !last || last->cpu != loss->cpu;
	v->open |= !is_over(loss);
	if (to_ns(p, loss->from) < v->from)
		v->from = to_ns(p, loss->from);
	v->until = later_of(v->until, to_ns(p, later_of(loss->over, loss->lost)));
}

/* That the PMC samples; NO_EVENT: none. */
static uint32_t event_of(const struct hwpmc_profile *p, uint32_t pmc)
{
	uint32_t i = profile_find_pmc(p, pmc);

	return i != TABLE_NONE ? p->pmc[i].event : NO_EVENT;
}

void losses_view(struct losses *l, const struct hwpmc_profile *p)
{
	struct loss **sorted = calloc(l->table.n + 1, sizeof(*sorted));
	uint32_t n = 0;

	free(l->view);
	l->view = calloc(l->table.n + 1, sizeof(*l->view));
	l->nview = 0;
	for (uint32_t i = 0; sorted && i < l->table.n; i++) {
		l->all[i].event = event_of(p, l->all[i].pmc);
		if (l->all[i].event != NO_EVENT)
			sorted[n++] = &l->all[i];
	}
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_view);
	for (uint32_t i = 0; l->view && i < n; i++)
		view_one(l, p, sorted[i], i ? sorted[i - 1] : NULL);
	/* The detail is that of the last one, in the order of the log. */
	for (uint32_t i = 0; l->nview && i < l->table.n; i++)
		if (l->all[i].event != NO_EVENT)
			l->view[l->all[i].view].detail = l->all[i].detail;
	free(sorted);
}

void losses_clear(struct losses *l)
{
	free(l->all);
	free(l->view);
	table_free(&l->table);
	*l = (struct losses){ .nview = 0 };
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
