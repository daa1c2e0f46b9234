/* SPDX-License-Identifier: BSD-2-Clause */
/* kinds.c - see kinds.h. A CPU without a record, or of a kind without a name, has none. */
#include <stdlib.h>
#include <string.h>

#include "kinds.h"
#include "stat.h"

void kinds_learn(struct kinds *k, const struct hwpmc_record *r)
{
	uint32_t cpu = r->hdr->id, kind = r->cpu_kind->kind;
	uint8_t *more;

	if (!hwpmc_name_of_kind(kind))
		return;
	if (cpu >= k->n) {
		/* The parser takes no number that is larger than 65535. */
		more = stat_alloc(cpu + 1, 1);
		if (!more)
			return;
		if (k->n)
			memcpy(more, k->of, k->n);
		free(k->of);
		k->of = more;
		k->n = cpu + 1;
	}
	k->of[cpu] = kind;
}

void kinds_free(struct kinds *k)
{
	free(k->of);
	*k = (struct kinds){ 0 };
}
