/* SPDX-License-Identifier: BSD-2-Clause */
/* precise.c - the words of PRECISE records, and their names. Pure. */
#include "libhwpmclog.h"

#define EXPORT	__attribute__((visibility("default")))
#define WORDS	48	/* bits of HWPMC_PRECISE_WORDS */

EXPORT bool hwpmc_precise_word(const struct hwpmc_log_precise *r, unsigned int n,
			       uint64_t *value)
{
	uint64_t bit;

	if (!r || !value || n >= WORDS)
		return false;
	bit = 1ull << n;
	if (!(r->present & bit))
		return false;
	*value = r->word[__builtin_popcountll(r->present & (bit - 1))];
	return true;
}

EXPORT const char *hwpmc_name_of_precise(uint32_t kind)
{
	switch (kind) {
	case HWPMC_PRECISE_NONE:
		return "none";
	case HWPMC_PRECISE_IBS_FETCH:
		return "ibs-fetch";
	case HWPMC_PRECISE_IBS_OP:
		return "ibs-op";
	case HWPMC_PRECISE_LBR:
		return "lbr";
	case HWPMC_PRECISE_PEBS:
		return "pebs";
	case HWPMC_PRECISE_ARCH_PEBS:
		return "arch-pebs";
	case HWPMC_PRECISE_TEST:
		return "test";
	default:
		return NULL;
	}
}

EXPORT const char *hwpmc_name_of_word(uint32_t kind, unsigned int n)
{
	static const char *const fetch[] = {
		[HWPMC_IBS_FETCH_CTL] = "ctl", [HWPMC_IBS_FETCH_EXTCTL] = "extctl",
		[HWPMC_IBS_FETCH_LINADDR] = "linaddr", [HWPMC_IBS_FETCH_PHYSADDR] = "physaddr",
	};
	static const char *const op[] = {
		[HWPMC_IBS_OP_CTL] = "ctl", [HWPMC_IBS_OP_RIP] = "rip",
		[HWPMC_IBS_OP_DATA] = "data", [HWPMC_IBS_OP_DATA2] = "data2",
		[HWPMC_IBS_OP_DATA3] = "data3", [HWPMC_IBS_OP_DC_LINADDR] = "dc-linaddr",
		[HWPMC_IBS_OP_DC_PHYSADDR] = "dc-physaddr",
		[HWPMC_IBS_OP_BRTARGET] = "brtarget", [HWPMC_IBS_OP_DATA4] = "data4",
	};
	static const char *const test[] = {
		[HWPMC_TEST_WORD] = "word", [HWPMC_TEST_ADDRESS] = "address",
		[HWPMC_TEST_PHYSICAL] = "physical", [HWPMC_TEST_LATENCY] = "latency",
	};

	if (kind == HWPMC_PRECISE_IBS_FETCH && n < sizeof(fetch) / sizeof(fetch[0]))
		return fetch[n];
	if (kind == HWPMC_PRECISE_IBS_OP && n < sizeof(op) / sizeof(op[0]))
		return op[n];
	if (kind == HWPMC_PRECISE_TEST && n < sizeof(test) / sizeof(test[0]))
		return test[n];
	return NULL;
}
