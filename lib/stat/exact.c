/* SPDX-License-Identifier: BSD-2-Clause */
/* exact.c - see exact.h. */
#include <stdlib.h>

#include "exact.h"
#include "profile.h"
#include "stat.h"

static bool same_pmc(const void *items, uint32_t i, const void *key)
{
	return ((const struct exact *)items)->all[i].pmc == *(const uint32_t *)key;
}

static struct exact_pmc *find(struct exact *e, uint32_t pmc)
{
	uint64_t hash = table_hash(pmc);
	uint32_t i = table_find(&e->table, hash, same_pmc, e, &pmc);

	if (i != TABLE_NONE)
		return &e->all[i];
	if (e->table.n == EXACT_MOST || !table_room(&e->table) ||
	    !stat_room(&e->all, e->table.n, sizeof(*e->all)))
		return NULL;
	i = e->table.n;
	table_put(&e->table, hash);
	e->all[i] = (struct exact_pmc){ .pmc = pmc };
	return &e->all[i];
}

void exact_add(struct exact *e, const struct hwpmc_log_precise *r)
{
	struct exact_pmc *pmc = find(e, r->hdr.id);

	if (pmc && r->present & HWPMC_PRECISE_EXACT)
		pmc->exact++;
	else if (pmc)
		pmc->inexact++;
}

void exact_clear(struct exact *e)
{
	free(e->all);
	table_free(&e->table);
	*e = (struct exact){ .all = NULL };
}

EXPORT int hwpmc_profile_exact(const struct hwpmc_profile *p, uint32_t event, uint64_t *exact,
			       uint64_t *inexact)
{
	if (stat_null(!p || !exact || !inexact))
		return -1;
	*exact = *inexact = 0;
	for (uint32_t i = 0; i < p->exact.table.n; i++) {
		const struct exact_pmc *pmc = &p->exact.all[i];
		uint32_t at = profile_find_pmc(p, pmc->pmc);

		if (at == TABLE_NONE || p->pmc[at].event != event)
			continue;
		*exact += pmc->exact;
		*inexact += pmc->inexact;
	}
	return 0;
}
