/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * machine.c - what the event names are about: the vendor, the family and the
 * classes, as the module says, and the architectural events, as CPUID says.
 */
#include <cpuid.h>
#include <stdio.h>
#include <string.h>

#include "event.h"

static enum event_vendor vendor_of(const struct event_machine *m)
{
	if (event_machine_has(m, HWPMC_CLASS_K8))
		return VENDOR_AMD;
	if (event_machine_has(m, HWPMC_CLASS_IAP) ||
	    event_machine_has(m, HWPMC_CLASS_IAF))
		return VENDOR_INTEL;
	if (event_machine_has(m, HWPMC_CLASS_P4))
		return VENDOR_NETBURST;
	return VENDOR_NONE;
}

void event_machine_init(struct event_machine *m,
			const struct hwpmc_op_getcpuinfo *info)
{
	const char *dash = memchr(info->cpuid, '-', sizeof(info->cpuid));
	char family[8] = "";
	unsigned int i;

	memset(m, 0, sizeof(*m));
	for (i = 0; i < info->nclass && i < HWPMC_CLASS_MAX; i++) {
		m->classes[m->nclass++] = info->classes[i].class;
		if (info->classes[i].class == HWPMC_CLASS_IAF)
			m->nfixed = info->classes[i].num;
	}
	m->nnotes = info->nnotes < HWPMC_NOTES_MAX ? info->nnotes : HWPMC_NOTES_MAX;
	memcpy(m->notes, info->notes, sizeof(m->notes));
	/* The field need not end with a zero. */
	if (dash)
		snprintf(family, sizeof(family), "%.*s",
			 (int)(sizeof(info->cpuid) -
			       (size_t)(dash + 1 - info->cpuid)), dash + 1);
	sscanf(family, "%u", &m->family);
	memcpy(m->cpu, info->cpuid, sizeof(info->cpuid));
	m->pmu_version = info->pmu_version;
	m->vendor = vendor_of(m);
	m->any_thread = m->vendor == VENDOR_INTEL &&
			(m->pmu_version == 3 || m->pmu_version == 4);
}

/*
 * Leaf 0xA: EBX has a bit for each event that is not there, EAX [31:24] the
 * number of valid bits, EDX 15 says that AnyThread is gone.
 */
void event_machine_cpuid(struct event_machine *m)
{
	unsigned int eax = 0, ebx = 0, ecx, edx = 0, valid;

	if (m->vendor != VENDOR_INTEL ||
	    !__get_cpuid_count(0x0a, 0, &eax, &ebx, &ecx, &edx) || !eax)
		return;
	valid = eax >> 24;
	m->arch_missing = valid < 32 ? ebx | ~0u << valid : ebx;
	if (edx & 1u << 15)
		m->any_thread = false;
}
