/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names.c - names of the contract's numbers: classes, modes, states, row
 * dispositions, capabilities, CPU types. Pure.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

struct name {
	uint32_t number;
	const char *text;
};

static const char *name_find(const struct name *names, size_t n, uint32_t number)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (names[i].number == number)
			return names[i].text;
	return NULL;
}

EXPORT const char *hwpmc_name_of_class(uint32_t class_id)
{
	static const struct name names[] = {
		{ HWPMC_CLASS_TSC, "TSC" },	{ HWPMC_CLASS_K7, "K7" },
		{ HWPMC_CLASS_K8, "K8" },	{ HWPMC_CLASS_IBS, "IBS" },
		{ HWPMC_CLASS_IAF, "IAF" },	{ HWPMC_CLASS_IAP, "IAP" },
		{ HWPMC_CLASS_UCF, "UCF" },	{ HWPMC_CLASS_UCP, "UCP" },
		{ HWPMC_CLASS_SOFT, "SOFT" },	{ HWPMC_CLASS_RAPL, "RAPL" },
		{ HWPMC_CLASS_TEST, "TEST" },
		{ HWPMC_CLASS_PERF, "PERF" },	{ HWPMC_CLASS_P6, "P6" },
		{ HWPMC_CLASS_P4, "P4" },
	};

	return name_find(names, ARRAY_LEN(names), class_id);
}

EXPORT const char *hwpmc_name_of_kind(uint32_t kind)
{
	static const struct name names[] = {
		{ HWPMC_KIND_CORE, "cpu_core" }, { HWPMC_KIND_ATOM, "cpu_atom" },
		{ HWPMC_KIND_LOWPOWER, "cpu_lowpower" },
	};

	return name_find(names, ARRAY_LEN(names), kind);
}

EXPORT const char *hwpmc_name_of_mode(uint32_t mode)
{
	static const struct name names[] = {
		{ HWPMC_MODE_SS, "SS" }, { HWPMC_MODE_SC, "SC" },
		{ HWPMC_MODE_TS, "TS" }, { HWPMC_MODE_TC, "TC" },
	};

	return name_find(names, ARRAY_LEN(names), mode);
}

EXPORT const char *hwpmc_name_of_state(uint32_t state)
{
	static const struct name names[] = {
		{ HWPMC_STATE_DISABLED, "DISABLED" },
		{ HWPMC_STATE_FREE, "FREE" },
		{ HWPMC_STATE_ALLOCATED, "ALLOCATED" },
		{ HWPMC_STATE_STOPPED, "STOPPED" },
		{ HWPMC_STATE_RUNNING, "RUNNING" },
		{ HWPMC_STATE_DELETED, "DELETED" },
	};

	return name_find(names, ARRAY_LEN(names), state);
}

EXPORT const char *hwpmc_name_of_disposition(uint32_t disp)
{
	static const struct name names[] = {
		{ HWPMC_DISP_STANDALONE, "STANDALONE" },
		{ HWPMC_DISP_FREE, "FREE" },
		{ HWPMC_DISP_THREAD, "THREAD" },
		{ HWPMC_DISP_UNKNOWN, "UNKNOWN" },
	};

	return name_find(names, ARRAY_LEN(names), disp);
}

EXPORT const char *hwpmc_name_of_pmu_state(uint32_t state)
{
	static const struct name names[] = {
		{ HWPMC_PMU_NONE, "NONE" },
		{ HWPMC_PMU_IDLE, "IDLE" },
		{ HWPMC_PMU_CLAIMED, "CLAIMED" },
		{ HWPMC_PMU_HELD, "HELD" },
	};

	return name_find(names, ARRAY_LEN(names), state);
}

EXPORT const char *hwpmc_name_of_capability(uint32_t bit)
{
	static const struct name names[] = {
		{ HWPMC_CAP_INTERRUPT, "INTERRUPT" },
		{ HWPMC_CAP_USER, "USER" },
		{ HWPMC_CAP_SYSTEM, "SYSTEM" },
		{ HWPMC_CAP_EDGE, "EDGE" },
		{ HWPMC_CAP_THRESHOLD, "THRESHOLD" },
		{ HWPMC_CAP_READ, "READ" },
		{ HWPMC_CAP_WRITE, "WRITE" },
		{ HWPMC_CAP_INVERT, "INVERT" },
		{ HWPMC_CAP_QUALIFIER, "QUALIFIER" },
		{ HWPMC_CAP_PRECISE, "PRECISE" },
		{ HWPMC_CAP_TAGGING, "TAGGING" },
		{ HWPMC_CAP_CASCADE, "CASCADE" },
		{ HWPMC_CAP_SYSWIDE, "SYSWIDE" },
		{ HWPMC_CAP_DOMWIDE, "DOMWIDE" },
	};

	return name_find(names, ARRAY_LEN(names), bit);
}

void caps_to_text(uint32_t caps, char *buf, size_t size)
{
	const char *name;
	size_t used = 0;
	uint32_t bit;
	int n;

	buf[0] = '\0';
	for (bit = 1; bit; bit <<= 1) {
		name = caps & bit ? hwpmc_name_of_capability(bit) : NULL;
		if (!name)
			continue;
		n = snprintf(buf + used, size - used, "%s%s",
			     used ? " " : "", name);
		if (n < 0 || (size_t)n >= size - used)
			return;
		used += (size_t)n;
	}
}

EXPORT const char *hwpmc_name_of_cputype(uint32_t cputype)
{
	static const struct name names[] = {
		{ 0x01, "AMD_K8" },
		{ 0x80, "INTEL_P5" },
		{ 0x81, "INTEL_P6" },
		{ 0x82, "INTEL_CL" },
		{ 0x83, "INTEL_PII" },
		{ 0x84, "INTEL_PIII" },
		{ 0x85, "INTEL_PM" },
		{ 0x86, "INTEL_PIV" },
		{ 0x87, "INTEL_CORE" },
		{ 0x88, "INTEL_CORE2" },
		{ 0x89, "INTEL_CORE2EXTREME" },
		{ 0x8a, "INTEL_ATOM" },
		{ 0x8b, "INTEL_COREI7" },
		{ 0x8c, "INTEL_WESTMERE" },
		{ 0x8d, "INTEL_SANDYBRIDGE" },
		{ 0x8e, "INTEL_IVYBRIDGE" },
		{ 0x8f, "INTEL_SANDYBRIDGE_XEON" },
		{ 0x90, "INTEL_IVYBRIDGE_XEON" },
		{ 0x91, "INTEL_HASWELL" },
		{ 0x92, "INTEL_ATOM_SILVERMONT" },
		{ 0x93, "INTEL_NEHALEM_EX" },
		{ 0x94, "INTEL_WESTMERE_EX" },
		{ 0x95, "INTEL_HASWELL_XEON" },
		{ 0x96, "INTEL_BROADWELL" },
		{ 0x97, "INTEL_BROADWELL_XEON" },
		{ 0x98, "INTEL_SKYLAKE" },
		{ 0x99, "INTEL_SKYLAKE_XEON" },
		{ 0x9a, "INTEL_ATOM_GOLDMONT" },
		{ 0x9b, "INTEL_ICELAKE" },
		{ 0x9c, "INTEL_ICELAKE_XEON" },
		{ 0x9d, "INTEL_ALDERLAKE" },
		{ 0x9e, "INTEL_ATOM_GOLDMONT_P" },
		{ 0x9f, "INTEL_ATOM_TREMONT" },
		{ 0xa0, "INTEL_EMERALD_RAPIDS" },
		{ 0xa1, "INTEL_ALDERLAKEN" },
		{ 0xa2, "INTEL_GRANITE_RAPIDS" },
		{ 0xa3, "INTEL_METEOR_LAKE" },
		{ 0xa4, "INTEL_SAPPHIRE_RAPIDS" },
		{ 0x400, "GENERIC" },
	};

	return name_find(names, ARRAY_LEN(names), cputype);
}
