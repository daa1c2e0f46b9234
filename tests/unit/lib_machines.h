/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_machines.h - machines for the tests of event specifications: what the
 * module would say on them, and the CPU that libpfm4 is to believe in. Each test
 * runs in a process of its own, so the environment and libpfm4 start afresh.
 */
#ifndef LIB_MACHINES_H
#define LIB_MACHINES_H

#include <stdlib.h>
#include <string.h>

#include "event.h"

static inline void machine_make(struct event_machine *m, const char *cpuid,
				const char *pfm, unsigned int pmu_version,
				uint32_t class_id, unsigned int nfixed)
{
	struct hwpmc_op_getcpuinfo info = {
		.nclass = 1, .pmu_version = pmu_version,
		.classes = { { .class = HWPMC_CLASS_TSC, .num = 1 } },
	};

	if (class_id)
		info.classes[info.nclass++] = (struct hwpmc_classinfo) {
			.class = class_id, .num = 4,
		};
	if (nfixed)
		info.classes[info.nclass++] = (struct hwpmc_classinfo) {
			.class = HWPMC_CLASS_IAF, .num = nfixed,
		};
	strncpy(info.cpuid, cpuid, sizeof(info.cpuid) - 1);
	event_machine_init(m, &info);
	setenv("LIBPFM_FORCE_PMU", pfm, 1);
	/* What lies on this machine is no part of the test. */
	setenv("HWPMC_EVENTS", "", 1);
}

static inline struct event_machine machine_skylake(void)
{
	struct event_machine m;

	machine_make(&m, "GenuineIntel-6-5E-3", "skl", 4, HWPMC_CLASS_IAP, 3);
	return m;
}

static inline struct event_machine machine_icelake(void)
{
	struct event_machine m;

	machine_make(&m, "GenuineIntel-6-7E-5", "icl", 5, HWPMC_CLASS_IAP, 4);
	return m;
}

/* Architectural perfmon 1: no fixed counters, and no tables of libpfm4. */
static inline struct event_machine machine_perfmon_1(void)
{
	struct event_machine m;

	machine_make(&m, "GenuineIntel-6-0E-8", "perf", 1, HWPMC_CLASS_IAP, 0);
	return m;
}

static inline struct event_machine machine_k8(void)
{
	struct event_machine m;

	machine_make(&m, "AuthenticAMD-15-41-2", "amd64_k8_revf", 0,
		     HWPMC_CLASS_K8, 0);
	return m;
}

static inline struct event_machine machine_zen_1(void)
{
	struct event_machine m;

	machine_make(&m, "AuthenticAMD-23-01-2", "amd64_fam17h_zen1", 1,
		     HWPMC_CLASS_K8, 0);
	return m;
}

static inline struct event_machine machine_zen_3(void)
{
	struct event_machine m;

	machine_make(&m, "AuthenticAMD-25-21-0", "amd64_fam19h_zen3", 1,
		     HWPMC_CLASS_K8, 0);
	return m;
}

static inline struct event_machine machine_zen_4(void)
{
	struct event_machine m;

	machine_make(&m, "AuthenticAMD-25-61-2", "amd64_fam19h_zen4", 2,
		     HWPMC_CLASS_K8, 0);
	return m;
}

/* With AMD's instruction-based sampling. */
static inline struct event_machine machine_with_ibs(void)
{
	struct event_machine m = machine_zen_4();

	m.classes[m.nclass++] = HWPMC_CLASS_IBS;
	return m;
}

static inline struct event_machine machine_netburst(void)
{
	struct event_machine m;

	machine_make(&m, "GenuineIntel-15-04-1", "netburst_p", 0,
		     HWPMC_CLASS_P4, 0);
	return m;
}

static inline struct event_machine machine_without_pmu(void)
{
	struct event_machine m;

	machine_make(&m, "GenuineIntel-6-55-7", "skl", 0, 0, 0);
	return m;
}

#endif /* LIB_MACHINES_H */
