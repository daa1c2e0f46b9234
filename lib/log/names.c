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

EXPORT const char *hwpmc_name_of_drop(uint32_t cause)
{
	static const char *const names[HWPMC_DROP__COUNT] = {
		[HWPMC_DROP_FULL] = "ring full",
		[HWPMC_DROP_LATE] = "counter stopped or interrupt late",
		[HWPMC_DROP_CLOSED] = "log closed",
		[HWPMC_DROP_BUSY] = "address space busy",
	};

	if (cause == HWPMC_DROP_OTHER)
		return "other causes";
	return cause < HWPMC_DROP__COUNT ? names[cause] : NULL;
}
