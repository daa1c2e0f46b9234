/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group.c - events of the same processes as one object: a call does something with each of
 * its PMCs, or leaves each as it was. A thread at a time, but reads by any.
 */
#include <errno.h>
#include <stdlib.h>

#include "../pmc/internal.h"

struct hwpmc_group {
	struct hwpmc *h;
	bool running;			/* all PMCs; else none */
	unsigned int n;			/* PMCs; constant after open */
	uint32_t id[];
};

EXPORT void hwpmc_group_close(struct hwpmc_group *g)
{
	int err = errno;

	if (!g)
		return;
	for (unsigned int i = g->n; i-- > 0;)
		hwpmc_release(g->h, g->id[i]);
	free(g);
	errno = err;
}

static int check_open(struct hwpmc *h, const char *const *specs, unsigned int n,
		      struct hwpmc_group **group)
{
	if (null_given(h, !h || !specs || !group, "hwpmc_group_open"))
		return -1;
	*group = NULL;
	if (n < 1 || n > HWPMC_GROUP_MAX)
		return error_own(h, EINVAL, what("cannot open a group of %u events: 1 to %d "
						 "are possible", n, HWPMC_GROUP_MAX).text);
	for (unsigned int i = 0; i < n; i++)
		if (null_given(h, !specs[i], "hwpmc_group_open"))
			return -1;
	return 0;
}

EXPORT int hwpmc_group_open(struct hwpmc *h, const char *const *specs, unsigned int n,
			    uint32_t flags, pid_t pid, struct hwpmc_group **group)
{
	struct hwpmc_group *g;

	if (check_open(h, specs, n, group))
		return -1;
	g = calloc(1, sizeof(*g) + n * sizeof(g->id[0]));
	if (!g)
		return error_own(h, ENOMEM, "no memory for a group");
	g->h = h;
	for (; g->n < n; g->n++) {
		if (!hwpmc_open_counter(h, specs[g->n], HWPMC_MODE_TC, flags, pid, 0,
					&g->id[g->n]))
			continue;
		hwpmc_group_close(g);
		return -1;
	}
	*group = g;
	return 0;
}

EXPORT const uint32_t *hwpmc_group_ids(const struct hwpmc_group *g, unsigned int *n)
{
	if (null_given(NULL, !g, "hwpmc_group_ids"))
		return NULL;
	if (n)
		*n = g->n;
	return g->id;
}

/* Without a sentence: that of the failure which is undone stays. */
static void detach_quietly(struct hwpmc_group *g, unsigned int n, pid_t pid)
{
	int err = errno;

	for (unsigned int i = 0; i < n; i++) {
		struct hwpmc_op_pmcattach op = { .pmcid = g->id[i], .pid = pid };

		mapped_forget(g->h, g->id[i]);
		handle_call(g->h, HWPMC_IOC_PMCDETACH, &op.hdr);
	}
	errno = err;
}

EXPORT int hwpmc_group_attach(struct hwpmc_group *g, pid_t pid)
{
	if (null_given(NULL, !g, "hwpmc_group_attach"))
		return -1;
	for (unsigned int i = 0; i < g->n; i++) {
		if (!hwpmc_attach(g->h, g->id[i], pid))
			continue;
		detach_quietly(g, i, pid);
		return -1;
	}
	return 0;
}

EXPORT int hwpmc_group_detach(struct hwpmc_group *g, pid_t pid)
{
	if (null_given(NULL, !g, "hwpmc_group_detach"))
		return -1;
	for (unsigned int i = 0; i < g->n; i++) {
		if (!hwpmc_detach(g->h, g->id[i], pid))
			continue;
		detach_quietly(g, g->n, pid);
		return -1;
	}
	return 0;
}

static void set_ids(const struct hwpmc_group *g, struct hwpmc_batch_entry *entry)
{
	for (unsigned int i = 0; i < g->n; i++)
		entry[i] = (struct hwpmc_batch_entry){ .pmcid = g->id[i] };
}

static void stop_quietly(struct hwpmc_group *g)
{
	struct hwpmc_batch_entry entry[HWPMC_GROUP_MAX];
	struct hwpmc_op_batch op = {
		.command = HWPMC_BATCH_STOP, .n = g->n, .entry_size = sizeof(entry[0]),
		.entries = (uintptr_t)entry,
	};
	int err = errno;

	set_ids(g, entry);
	handle_call(g->h, HWPMC_IOC_BATCH, &op.hdr);
	errno = err;
}

EXPORT int hwpmc_group_start(struct hwpmc_group *g)
{
	struct hwpmc_batch_entry entry[HWPMC_GROUP_MAX];

	if (null_given(NULL, !g, "hwpmc_group_start"))
		return -1;
	set_ids(g, entry);
	if (!hwpmc_batch(g->h, HWPMC_BATCH_START, entry, g->n)) {
		g->running = true;
		return 0;
	}
	if (!g->running)
		stop_quietly(g);
	return -1;
}

EXPORT int hwpmc_group_stop(struct hwpmc_group *g)
{
	struct hwpmc_batch_entry entry[HWPMC_GROUP_MAX];

	if (null_given(NULL, !g, "hwpmc_group_stop"))
		return -1;
	set_ids(g, entry);
	g->running = false;
	return hwpmc_batch(g->h, HWPMC_BATCH_STOP, entry, g->n);
}

/* The first PMC without a value; n: all have one. */
static unsigned int find_valueless(const struct hwpmc_group *g,
				   const struct hwpmc_batch_entry *entry)
{
	unsigned int i = 0;

	while (i < g->n && (!entry[i].error || entry[i].hdr.reason == HWPMC_WHY_INCOMPLETE))
		i++;
	return i;
}

static int read_by_call(struct hwpmc_group *g, uint64_t *values)
{
	struct hwpmc_batch_entry entry[HWPMC_GROUP_MAX];
	unsigned int bad;
	int rc;

	set_ids(g, entry);
	rc = hwpmc_batch(g->h, HWPMC_BATCH_READ, entry, g->n);
	/* The reason belongs to a PMC, or to the call itself. */
	if (rc && hwpmc_reason(g->h) != HWPMC_WHY_INCOMPLETE)
		return rc;
	bad = find_valueless(g, entry);
	if (bad < g->n)
		return hwpmc_batch_error(g->h, HWPMC_BATCH_READ, &entry[bad]);
	for (unsigned int i = 0; i < g->n; i++)
		values[i] = entry[i].value;
	return rc;
}

EXPORT int hwpmc_group_read(struct hwpmc_group *g, uint64_t *values)
{
	uint64_t mine[HWPMC_GROUP_MAX];

	if (null_given(g ? g->h : NULL, !g || !values, "hwpmc_group_read"))
		return -1;
	if (!mapped_read_all(g->h, g->id, g->n, mine))
		return read_by_call(g, values);
	for (unsigned int i = 0; i < g->n; i++)
		values[i] = mine[i];
	return 0;
}

EXPORT int hwpmc_group_map(struct hwpmc_group *g)
{
	struct hwpmc_counter c;

	if (null_given(NULL, !g, "hwpmc_group_map"))
		return -1;
	for (unsigned int i = 0; i < g->n; i++)
		if (hwpmc_counter_open(g->h, g->id[i], &c))
			return -1;
	return 0;
}
