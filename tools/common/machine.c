/* SPDX-License-Identifier: BSD-2-Clause */
/* machine.c - see machine.h. */
#include "machine.h"

bool machine_has_counters(struct hwpmc *h)
{
	const struct hwpmc_op_getcpuinfo *info = hwpmc_cpuinfo(h);

	for (unsigned int i = 0; i < info->nclass; i++)
		if (info->classes[i].class != HWPMC_CLASS_TSC &&
		    info->classes[i].class != HWPMC_CLASS_SOFT)
			return true;
	return false;
}

const char *machine_without_counters(struct hwpmc *h)
{
	const char *text = hwpmc_reason_text(hwpmc_cpuinfo(h)->hdr.reason);

	return text ? text : "the module does not say why";
}
