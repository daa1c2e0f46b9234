/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * event.c - one event of "hwpmc stat": is it counted in this turn, and a sum of events, which
 * is refused where one of them is.
 */
#include <stdlib.h>

#include "common/evlist.h"
#include "common/msg.h"
#include "stat.h"

bool stat_event_is_active(const struct stat_set *set, const struct stat_event *ev)
{
	return !ev->why && !ev->nsum && ev->turn == set->turn;
}

void stat_event_check_sum(struct stat_event *ev)
{
	for (unsigned int k = 1; !ev->why && k <= ev->nsum; k++)
		if (ev[-(int)k].why)
			ev->why = must_strdup(ev[-(int)k].why);
	if (ev->nsum && ev[-1].user_mode && !ev->user_mode) {
		char *spec = evlist_user_mode(ev->spec);

		free(ev->spec);
		ev->spec = spec;
		ev->user_mode = true;
		ev->kind = stat_kind_of(ev->spec, &ev->suffix);
	}
}
