/* SPDX-License-Identifier: BSD-2-Clause */
/* loss.c - events whose counter did not count all: they have no count, and say so first. */
#include <errno.h>
#include <stdlib.h>

#include "common/msg.h"
#include "stat.h"

bool stat_is_loss(int error, uint32_t reason)
{
	return error == EIO && (reason == HWPMC_WHY_COUNTER_TAKEN ||
				reason == HWPMC_WHY_COUNTER_BACK ||
				reason == HWPMC_WHY_REGISTER_CHANGED);
}

/* Reports of other forms, and of intervals, have no place for it above their figures. */
static bool has_head(const struct stat_options *o)
{
	return o->format == STAT_TEXT && !o->interval_ns;
}

static void lose(struct stat_set *set, struct stat_event *ev,
		 enum hwpmc_batch_command command, const struct hwpmc_batch_entry *entry)
{
	struct hwpmc_classnote note = {
		.reason = entry->hdr.reason, .detail = entry->hdr.detail,
	};
	char why[400];

	hwpmc_note_text(&note, why, sizeof(why));
	ev->why = must_strdup(why);
	hwpmc_batch_error(set->h, command, entry);
	ev->lost = must_strdup(hwpmc_error(set->h));
	if (!has_head(set->o))
		msg("%s: %s", ev->spec, ev->lost);
}

void stat_losses_take(struct stat_set *set, enum hwpmc_batch_command command)
{
	const struct hwpmc_batch_entry *entry = set->entry, *bad;

	for (unsigned int i = 0; i < set->nevent; i++) {
		struct stat_event *ev = &set->event[i];

		bad = NULL;
		for (unsigned int j = 0; stat_event_is_active(set, ev) && j < ev->ncell;
		     j++, entry++)
			if (!bad && stat_is_loss(entry->error, entry->hdr.reason))
				bad = entry;
		if (bad)
			lose(set, ev, command, bad);
		stat_event_check_sum(ev);
	}
}

bool stat_has_losses(const struct stat_set *set)
{
	for (unsigned int i = 0; i < set->nevent; i++)
		if (set->event[i].lost)
			return true;
	return false;
}

void stat_losses_print(FILE *f, const struct stat_set *set)
{
	for (unsigned int i = 0; i < set->nevent; i++)
		if (set->event[i].lost)
			fprintf(f, " %s is not counted: %s\n", set->event[i].spec,
				set->event[i].lost);
	if (stat_has_losses(set))
		fputc('\n', f);
}
