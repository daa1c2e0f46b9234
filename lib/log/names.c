/* SPDX-License-Identifier: BSD-2-Clause */
/* names.c - the words for record types and drop causes. Pure. */
#include "libhwpmclog.h"
#include "records.h"

#define EXPORT	__attribute__((visibility("default")))

EXPORT const char *hwpmc_name_of_record(uint8_t type)
{
	const struct record_type *rule = record_type(type);

	return rule ? rule->name : NULL;
}

EXPORT int hwpmc_chain_end(const struct hwpmc_log_sample *s)
{
	uint64_t reason;

	if (!s || !(s->hdr.flags & HWPMC_SAMPLE_TABLES))
		return -1;
	if (s->hdr.flags & HWPMC_SAMPLE_CUT)
		return HWPMC_CHAIN_DEPTH;
	if (!(s->hdr.flags & HWPMC_SAMPLE_ENDS) || s->hdr.len < sizeof(*s) + sizeof(s->pc[0]))
		return HWPMC_CHAIN_COMPLETE;
	reason = HWPMC_PC_REASON(s->pc[(s->hdr.len - sizeof(*s)) / sizeof(s->pc[0]) - 1]);
	/* A reason of a newer module. */
	return reason < HWPMC_CHAIN__COUNT ? (int)reason : HWPMC_CHAIN_BROKEN;
}

EXPORT const char *hwpmc_name_of_chain_end(uint32_t end)
{
	static const char *const names[HWPMC_CHAIN__COUNT] = {
		[HWPMC_CHAIN_COMPLETE] = "complete",
		[HWPMC_CHAIN_NO_MAPPING] = "no mapping",
		[HWPMC_CHAIN_NO_TABLE] = "no unwind table",
		[HWPMC_CHAIN_NO_RULE] = "no unwind rule",
		[HWPMC_CHAIN_FAULT] = "stack not in memory",
		[HWPMC_CHAIN_BROKEN] = "no return address",
		[HWPMC_CHAIN_DEPTH] = "depth limit",
		[HWPMC_CHAIN_NOT_READY] = "unwind table not ready",
	};

	return end < HWPMC_CHAIN__COUNT ? names[end] : NULL;
}

EXPORT const char *hwpmc_name_of_drop(uint32_t cause)
{
	static const char *const names[HWPMC_DROP__COUNT] = {
		[HWPMC_DROP_FULL] = "ring full",
		[HWPMC_DROP_LATE] = "counter stopped or interrupt late",
		[HWPMC_DROP_CLOSED] = "log closed",
		[HWPMC_DROP_BUSY] = "address space busy",
		[HWPMC_DROP_PAUSED] = "sampling paused",
		[HWPMC_DROP_FILTERED] = "mode not sampled",
		[HWPMC_DROP_UNCOUNTED] = "hardware buffer full",
	};

	if (cause == HWPMC_DROP_OTHER)
		return "other causes";
	return cause < HWPMC_DROP__COUNT ? names[cause] : NULL;
}
