/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * unmapped.c - why a sample of user mode lies in no mapping of its process, and the sentence
 * that says so for all such samples of a profile.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "stat.h"

#define VSYSCALL	0xffffffffff600000ull
#define VSYSCALL_END	0xffffffffff601000ull
#define KERNEL_HALF	0x8000000000000000ull

static const char *const reason[HWPMC_UNMAPPED__COUNT] = {
	[HWPMC_UNMAPPED_NO_MAPPINGS] = "of processes of which the log has no mapping",
	[HWPMC_UNMAPPED_REMOVED] = "where a mapping had been removed",
	[HWPMC_UNMAPPED_NOTHING] = "at addresses where no executable mapping was",
	[HWPMC_UNMAPPED_KERNEL] = "in user mode at addresses of the kernel",
	[HWPMC_UNMAPPED_VSYSCALL] = "in the vsyscall page, which has no file",
};

enum hwpmc_unmapped model_unmapped(const struct space *space, uint64_t pc, uint64_t time)
{
	const struct maps *maps = &space_memory((struct space *)space)->maps;

	if (pc >= VSYSCALL && pc < VSYSCALL_END)
		return HWPMC_UNMAPPED_VSYSCALL;
	if (pc >= KERNEL_HALF)
		return HWPMC_UNMAPPED_KERNEL;
	if (!maps->layer)
		return HWPMC_UNMAPPED_NO_MAPPINGS;
	return maps_find(maps, pc, time) ? HWPMC_UNMAPPED_REMOVED : HWPMC_UNMAPPED_NOTHING;
}

static void append(struct unmapped *u, const char *format, ...)
{
	va_list args;

	if (u->len >= sizeof(u->text))
		return;
	va_start(args, format);
	u->len += vsnprintf(u->text + u->len, sizeof(u->text) - u->len, format, args);
	va_end(args);
}

const char *unmapped_text(struct unmapped *u, uint64_t lost)
{
	const char *before = "no mapping of the log has their addresses: ";

	u->len = 0;
	for (int i = 1; i < HWPMC_UNMAPPED__COUNT; i++) {
		if (!u->samples[i])
			continue;
		append(u, "%s%" PRIu64 " %s", before, u->samples[i], reason[i]);
		before = ", ";
	}
	if (u->len && lost)
		append(u, "; %" PRIu64 " records that were dropped may have been mappings", lost);
	return u->len ? u->text : NULL;
}
