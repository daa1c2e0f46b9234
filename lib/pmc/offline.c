/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * offline.c - a handle without the device, for the names of events: the machine is what CPUID
 * says. Any thread; no state.
 */
#include <cpuid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "offline.h"

enum { EAX, EBX, ECX, EDX };

struct asking {
	struct hwpmc_op_getcpuinfo *info;
	offline_cpuid_fn *cpuid;
	void *arg;
};

static void add_class(struct hwpmc_op_getcpuinfo *info, uint32_t class_id, uint32_t num)
{
	if (!num || info->nclass == HWPMC_CLASS_MAX)
		return;
	info->classes[info->nclass].class = class_id;
	info->classes[info->nclass++].num = num;
}

/* As the module writes it: GenuineIntel-6-55-4. Returns the family. */
static unsigned int put_name(const struct asking *a)
{
	uint32_t vendor[4], id[4];
	unsigned int family, model;

	a->cpuid(a->arg, 0, vendor);
	a->cpuid(a->arg, 1, id);
	family = id[EAX] >> 8 & 0xf;
	model = id[EAX] >> 4 & 0xf;
	if (family == 0xf)
		family += id[EAX] >> 20 & 0xff;
	if (family >= 6)
		model |= id[EAX] >> 12 & 0xf0;
	snprintf(a->info->cpuid, sizeof(a->info->cpuid), "%.4s%.4s%.4s-%u-%02X-%X",
		 (const char *)&vendor[EBX], (const char *)&vendor[EDX],
		 (const char *)&vendor[ECX], family, model, id[EAX] & 0xf);
	return family;
}

static void add_intel(const struct asking *a)
{
	uint32_t pmu[4];

	a->cpuid(a->arg, 0xa, pmu);
	a->info->pmu_version = pmu[EAX] & 0xff;
	if (!a->info->pmu_version)
		return;
	add_class(a->info, HWPMC_CLASS_IAP, pmu[EAX] >> 8 & 0xff);
	if (a->info->pmu_version >= 2)
		add_class(a->info, HWPMC_CLASS_IAF, pmu[EDX] & 0x1f);
}

/* Family 0Fh on has four counters, and six if a bit says so. */
static void add_amd(const struct asking *a)
{
	uint32_t features[4];

	a->cpuid(a->arg, 0x80000001, features);
	a->info->pmu_version = 1;
	add_class(a->info, HWPMC_CLASS_K8, features[ECX] & 1u << 23 ? 6 : 4);
	add_class(a->info, HWPMC_CLASS_IBS, features[ECX] & 1u << 10 ? 2 : 0);
}

void offline_describe(struct hwpmc_op_getcpuinfo *info, offline_cpuid_fn *cpuid, void *arg)
{
	struct asking a = { info, cpuid, arg };
	unsigned int family;

	memset(info, 0, sizeof(*info));
	family = put_name(&a);
	add_class(info, HWPMC_CLASS_TSC, 1);
	add_class(info, HWPMC_CLASS_SOFT, 1);
	if (!strncmp(info->cpuid, "GenuineIntel-", 13) && family != 15)
		add_intel(&a);
	else if (!strncmp(info->cpuid, "GenuineIntel-", 13))
		add_class(info, HWPMC_CLASS_P4, 18);
	else if ((!strncmp(info->cpuid, "AuthenticAMD-", 13) ||
		  !strncmp(info->cpuid, "HygonGenuine-", 13)) && family >= 15)
		add_amd(&a);
}

static void real_cpuid(void *arg, uint32_t leaf, uint32_t reg[4])
{
	memset(reg, 0, 4 * sizeof(*reg));
	__get_cpuid_count(leaf, 0, &reg[EAX], &reg[EBX], &reg[ECX], &reg[EDX]);
}

EXPORT int hwpmc_open_names(struct hwpmc **handle)
{
	struct hwpmc *h;

	if (null_given(NULL, !handle, "hwpmc_open_names"))
		return -1;
	*handle = h = calloc(1, sizeof(*h));
	if (!h)
		return error_own(NULL, ENOMEM, "cannot list events: out of memory");
	h->pid = getpid();
	h->serial = handle_serial();
	h->fd = -1;
	offline_describe(&h->info, real_cpuid, NULL);
	return 0;
}
