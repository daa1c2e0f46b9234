/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * usermode.c - see usermode.h. The module counts what was asked for or refuses it;
 * the tools choose instead of the user only where the user has named no mode, and
 * show the choice in the name of the event, as perf does.
 */
#include <errno.h>
#include <stdlib.h>

#include "evlist.h"
#include "usermode.h"

static int allocate(struct hwpmc *h, const char *spec,
		    const struct usermode_request *r, uint32_t *id)
{
	if (r->pid) {
		int rc = hwpmc_open_counter(h, spec, r->mode, r->flags, r->pid, r->count, id);

		if (rc == 0 || errno != ESRCH)
			return rc;
	}
	return hwpmc_allocate(h, spec, r->mode, r->flags, r->cpu, r->count, id);
}

static bool names_no_mode(struct hwpmc *h, const char *spec)
{
	struct hwpmc_event event;

	return hwpmc_event_parse(h, spec, &event) == 0 &&
	       !(event.code[0].caps & (HWPMC_CAP_USER | HWPMC_CAP_SYSTEM));
}

/* The event happens in kernel mode only: then what was asked for is refused. */
static bool has_no_user_mode(struct hwpmc *h)
{
	enum hwpmc_reason reason = hwpmc_reason(h);

	return reason == HWPMC_WHY_CAPS || reason == HWPMC_WHY_NONE;
}

int usermode_allocate(struct hwpmc *h, char **spec,
		      const struct usermode_request *r, uint32_t *id,
		      bool *replaced)
{
	char *user;

	if (allocate(h, *spec, r, id) == 0)
		return 0;
	if (hwpmc_reason(h) != HWPMC_WHY_PRIV_KERNEL || !names_no_mode(h, *spec))
		return -1;
	user = evlist_user_mode(*spec);
	if (allocate(h, user, r, id) < 0) {
		free(user);
		/* Again, for its error. */
		return has_no_user_mode(h) ? allocate(h, *spec, r, id) : -1;
	}
	free(*spec);
	*spec = user;
	*replaced = true;
	return 0;
}
