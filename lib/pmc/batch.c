/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * batch.c - many PMCs in one call. Any thread; no state but the handle's.
 */
#include <errno.h>

#include "internal.h"

static const char *doing(uint32_t command)
{
	static const char *const words[] = {
		[HWPMC_BATCH_READ] = "read", [HWPMC_BATCH_START] = "start",
		[HWPMC_BATCH_STOP] = "stop",
	};

	return command < ARRAY_LEN(words) ? words[command] : "do the batch with";
}

EXPORT int hwpmc_batch_error(struct hwpmc *h, enum hwpmc_batch_command command,
			     const struct hwpmc_batch_entry *entry)
{
	if (null_given(h, !entry, "hwpmc_batch_error"))
		return -1;
	errno = entry->error;
	return error_from_call(h, &entry->hdr,
			       what("%s %s", doing(command),
				    what_pmc(h, entry->pmcid).text).text);
}

/* 0, or -1: the call itself has failed. */
static int one_call(struct hwpmc *h, uint32_t command,
		    struct hwpmc_batch_entry *entries, unsigned int n)
{
	struct hwpmc_op_batch op = {
		.command = command, .n = n, .entry_size = sizeof(*entries),
		.entries = (uintptr_t)entries,
	};

	if (!handle_call(h, HWPMC_IOC_BATCH, &op.hdr))
		return 0;
	return error_from_call(h, &op.hdr, what("%s %u PMCs", doing(command),
						n).text);
}

EXPORT int hwpmc_batch(struct hwpmc *h, enum hwpmc_batch_command command,
		       struct hwpmc_batch_entry *entries, unsigned int n)
{
	unsigned int i, some;

	if (null_given(h, !h || (n && !entries), "hwpmc_batch"))
		return -1;
	for (i = 0; i < n; i++)
		entries[i].error = 0;
	for (i = 0; i < n; i += some) {
		some = n - i < HWPMC_BATCH_MAX ? n - i : HWPMC_BATCH_MAX;
		if (one_call(h, command, entries + i, some)) {
			mapped_began(h);
			return -1;
		}
	}
	mapped_began(h);
	for (i = 0; i < n; i++)
		if (entries[i].error)
			return hwpmc_batch_error(h, command, &entries[i]);
	return 0;
}
