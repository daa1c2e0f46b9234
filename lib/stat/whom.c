/* SPDX-License-Identifier: BSD-2-Clause */
/* whom.c - numbers for threads and their names, which samples are counted for. */
#include "profile.h"

static bool same_whom(const void *items, uint32_t i, const void *key)
{
	const struct whom *a = (const struct whom *)items + i, *of = key;

	return a->tid == of->tid && a->comm == of->comm;
}

int32_t profile_whom(struct hwpmc_profile *p, int32_t tid, const char *comm)
{
	struct whom of = { tid, comm };
	uint64_t hash = table_mix(table_hash((uint32_t)tid), (uintptr_t)comm);
	uint32_t i = table_find(&p->whoms, hash, same_whom, p->whom, &of);

	if (i != TABLE_NONE)
		return i;
	if (!table_room(&p->whoms) || !stat_room(&p->whom, p->whoms.n, sizeof(of)))
		return 0;
	p->whom[p->whoms.n] = of;
	table_put(&p->whoms, hash);
	return p->whoms.n - 1;
}
