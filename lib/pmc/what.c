/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * what.c - the words for an operation that failed: "count 'instructions' on CPU 3". Pure.
 */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

struct what what(const char *format, ...)
{
	struct what w;
	va_list args;

	va_start(args, format);
	vsnprintf(w.text, sizeof(w.text), format, args);
	va_end(args);
	return w;
}

struct what what_pmc(const struct hwpmc *h, uint32_t id)
{
	const char *name = hwpmc_name_of_class(HWPMC_ID_CLASS(id));
	uint32_t row = HWPMC_ID_ROW(id), i;

	for (i = 0; h && i < h->info.nclass && i < HWPMC_CLASS_MAX; i++)
		if (h->info.classes[i].class == HWPMC_ID_CLASS(id))
			row -= h->info.classes[i].first;
	if (!name || id == HWPMC_ID_INVALID)
		return what("PMC 0x%x", id);
	if (HWPMC_ID_MODE(id) == HWPMC_MODE_SC ||
	    HWPMC_ID_MODE(id) == HWPMC_MODE_SS)
		return what("PMC 0x%x (%s-%u, CPU %u)", id, name, row,
			    HWPMC_ID_CPU(id));
	return what("PMC 0x%x (%s-%u, process scope)", id, name, row);
}

struct what what_process(pid_t pid)
{
	return pid ? what("process %d", pid) : what("this process");
}

static const char *mode_verb(uint32_t mode)
{
	return mode == HWPMC_MODE_SS || mode == HWPMC_MODE_TS ? "sample" :
								"count";
}

struct what what_allocate(const struct hwpmc_op_pmcallocate *req, const char *name)
{
	if (req->cpu == HWPMC_CPU_ANY)
		return what("%s '%s'", mode_verb(req->mode), name);
	return what("%s '%s' on CPU %u", mode_verb(req->mode), name, req->cpu);
}
