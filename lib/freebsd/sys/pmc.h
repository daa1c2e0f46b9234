/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sys/pmc.h - FreeBSD's names for the interface of hwpmc.h, so that programs
 * written for FreeBSD's <sys/pmc.h> compile unchanged. The values are those of
 * hwpmc.h; lib/freebsd/pmc.c asserts it.
 */
#ifndef _HWPMC_FREEBSD_SYS_PMC_H
#define _HWPMC_FREEBSD_SYS_PMC_H

#include <sys/types.h>
#include <errno.h>
#include <stdint.h>

/* Linux lacks these errors; the module returns others in their place. */
#ifndef EDOOFUS
#define EDOOFUS		EBADFD
#endif
#ifndef EPROGMISMATCH
#define EPROGMISMATCH	EPROTONOSUPPORT
#endif

#define PMC_MODULE_NAME	"hwpmc"
#define PMC_NAME_MAX	64
#define PMC_CLASS_MAX	8
#define PMC_CPUID_LEN	64

#define PMC_VERSION_MAJOR	0x01
#define PMC_VERSION_MINOR	0x00
#define PMC_VERSION_PATCH	0x0000
#define PMC_VERSION	(PMC_VERSION_MAJOR << 24 | PMC_VERSION_MINOR << 16 | \
			 PMC_VERSION_PATCH)

typedef uint32_t pmc_id_t;
typedef uint64_t pmc_value_t;

#define PMC_CPU_ANY	(~0)
#define PMC_ID_INVALID	(~(pmc_id_t)0)

#define PMC_ID_TO_ROWINDEX(I)	((I) & 0xff)
#define PMC_ID_TO_CLASS(I)	((enum pmc_class)((I) >> 8 & 0xff))
#define PMC_ID_TO_MODE(I)	((enum pmc_mode)((I) >> 16 & 0xf))
#define PMC_ID_TO_CPU(I)	((I) >> 20 & 0xfff)
#define PMC_ID_MAKE_ID(CPU, MODE, CLASS, ROWINDEX)			\
	(((pmc_id_t)(CPU) & 0xfff) << 20 | ((pmc_id_t)(MODE) & 0xf) << 16 | \
	 ((pmc_id_t)(CLASS) & 0xff) << 8 | ((pmc_id_t)(ROWINDEX) & 0xff))

enum pmc_mode {
	PMC_MODE_SS = 0,
	PMC_MODE_SC = 1,
	PMC_MODE_TS = 2,
	PMC_MODE_TC = 3,
};

#define PMC_MODE_FIRST	PMC_MODE_SS
#define PMC_MODE_LAST	PMC_MODE_TC

#define PMC_IS_COUNTING_MODE(M)	((M) == PMC_MODE_SC || (M) == PMC_MODE_TC)
#define PMC_IS_SAMPLING_MODE(M)	((M) == PMC_MODE_SS || (M) == PMC_MODE_TS)
#define PMC_IS_SYSTEM_MODE(M)	((M) == PMC_MODE_SS || (M) == PMC_MODE_SC)
#define PMC_IS_VIRTUAL_MODE(M)	((M) == PMC_MODE_TS || (M) == PMC_MODE_TC)

enum pmc_state {
	PMC_STATE_DISABLED = 0,
	PMC_STATE_FREE = 1,
	PMC_STATE_ALLOCATED = 2,
	PMC_STATE_STOPPED = 3,
	PMC_STATE_RUNNING = 4,
	PMC_STATE_DELETED = 5,
};

#define PMC_STATE_FIRST	PMC_STATE_DISABLED
#define PMC_STATE_LAST	PMC_STATE_DELETED

enum pmc_disp {
	PMC_DISP_STANDALONE = 0,
	PMC_DISP_FREE = 1,
	PMC_DISP_THREAD = 2,
	PMC_DISP_UNKNOWN = 3,
};

#define PMC_DISP_FIRST	PMC_DISP_STANDALONE
#define PMC_DISP_LAST	PMC_DISP_THREAD

enum pmc_class {
	PMC_CLASS_TSC = 0x00,
	PMC_CLASS_K7 = 0x01,
	PMC_CLASS_K8 = 0x02,
	PMC_CLASS_IBS = 0x03,
	PMC_CLASS_IAF = 0x06,
	PMC_CLASS_IAP = 0x07,
	PMC_CLASS_UCF = 0x08,
	PMC_CLASS_UCP = 0x09,
	PMC_CLASS_SOFT = 0x0f,
	PMC_CLASS_RAPL = 0x19,
	PMC_CLASS_PERF = 0x1a,
	PMC_CLASS_P6 = 0x80,		/* from here: Linux only */
	PMC_CLASS_P4 = 0x81,
};

#define PMC_CLASS_FIRST	PMC_CLASS_TSC
#define PMC_CLASS_LAST	PMC_CLASS_PERF

enum pmc_cputype {
	PMC_CPU_AMD_K8 = 0x01,
	PMC_CPU_INTEL_CORE = 0x87,
	PMC_CPU_INTEL_CORE2 = 0x88,
	PMC_CPU_INTEL_CORE2EXTREME = 0x89,
	PMC_CPU_INTEL_ATOM = 0x8a,
	PMC_CPU_INTEL_COREI7 = 0x8b,
	PMC_CPU_INTEL_WESTMERE = 0x8c,
	PMC_CPU_INTEL_SANDYBRIDGE = 0x8d,
	PMC_CPU_INTEL_IVYBRIDGE = 0x8e,
	PMC_CPU_INTEL_SANDYBRIDGE_XEON = 0x8f,
	PMC_CPU_INTEL_IVYBRIDGE_XEON = 0x90,
	PMC_CPU_INTEL_HASWELL = 0x91,
	PMC_CPU_INTEL_ATOM_SILVERMONT = 0x92,
	PMC_CPU_INTEL_NEHALEM_EX = 0x93,
	PMC_CPU_INTEL_WESTMERE_EX = 0x94,
	PMC_CPU_INTEL_HASWELL_XEON = 0x95,
	PMC_CPU_INTEL_BROADWELL = 0x96,
	PMC_CPU_INTEL_BROADWELL_XEON = 0x97,
	PMC_CPU_INTEL_SKYLAKE = 0x98,
	PMC_CPU_INTEL_SKYLAKE_XEON = 0x99,
	PMC_CPU_INTEL_ATOM_GOLDMONT = 0x9a,
	PMC_CPU_INTEL_ICELAKE = 0x9b,
	PMC_CPU_INTEL_ICELAKE_XEON = 0x9c,
	PMC_CPU_INTEL_ALDERLAKE = 0x9d,
	PMC_CPU_INTEL_ATOM_GOLDMONT_P = 0x9e,
	PMC_CPU_INTEL_ATOM_TREMONT = 0x9f,
	PMC_CPU_INTEL_EMERALD_RAPIDS = 0xa0,
	PMC_CPU_INTEL_ALDERLAKEN = 0xa1,
	PMC_CPU_INTEL_GRANITE_RAPIDS = 0xa2,
	PMC_CPU_INTEL_METEOR_LAKE = 0xa3,
	PMC_CPU_INTEL_SAPPHIRE_RAPIDS = 0xa4,
	PMC_CPU_GENERIC = 0x400,
};

#define PMC_CPU_FIRST	PMC_CPU_AMD_K8
#define PMC_CPU_LAST	PMC_CPU_GENERIC

enum pmc_event {
	PMC_EV_NONE = 0,
	PMC_EV_TSC_TSC = 0x1000,
	PMC_EV_IAF_FIRST = 0x10000,
	PMC_EV_SOFT_FIRST = 0x20000,
};

enum pmc_caps {
	PMC_CAP_INTERRUPT = 1 << 0,
	PMC_CAP_USER = 1 << 1,
	PMC_CAP_SYSTEM = 1 << 2,
	PMC_CAP_EDGE = 1 << 3,
	PMC_CAP_THRESHOLD = 1 << 4,
	PMC_CAP_READ = 1 << 5,
	PMC_CAP_WRITE = 1 << 6,
	PMC_CAP_INVERT = 1 << 7,
	PMC_CAP_QUALIFIER = 1 << 8,
	PMC_CAP_PRECISE = 1 << 9,
	PMC_CAP_TAGGING = 1 << 10,
	PMC_CAP_CASCADE = 1 << 11,
	PMC_CAP_SYSWIDE = 1 << 12,
	PMC_CAP_DOMWIDE = 1 << 13,
};

#define PMC_CAP_FIRST	PMC_CAP_INTERRUPT
#define PMC_CAP_LAST	PMC_CAP_DOMWIDE

#define PMC_F_DESCENDANTS	0x00000002
#define PMC_F_LOG_PROCCSW	0x00000004
#define PMC_F_LOG_PROCEXIT	0x00000008
#define PMC_F_NEWVALUE		0x00000010
#define PMC_F_OLDVALUE		0x00000020
#define PMC_F_KGMON		0x00000040
#define PMC_F_CALLCHAIN		0x00000080
#define PMC_F_USERCALLCHAIN	0x00000100
#define PMC_F_EV_PMU		0x00000200

/* Operations: the numbers of the ioctls. */
enum pmc_ops {
	PMC_OP_CONFIGURELOG = 0,
	PMC_OP_FLUSHLOG = 1,
	PMC_OP_GETCPUINFO = 2,
	PMC_OP_GETDRIVERSTATS = 3,
	PMC_OP_GETMODULEVERSION = 4,
	PMC_OP_GETPMCINFO = 5,
	PMC_OP_PMCADMIN = 6,
	PMC_OP_PMCALLOCATE = 7,
	PMC_OP_PMCATTACH = 8,
	PMC_OP_PMCDETACH = 9,
	PMC_OP_PMCGETMSR = 10,
	PMC_OP_PMCRELEASE = 11,
	PMC_OP_PMCRW = 12,
	PMC_OP_PMCSETCOUNT = 13,
	PMC_OP_PMCSTART = 14,
	PMC_OP_PMCSTOP = 15,
	PMC_OP_WRITELOG = 16,
	PMC_OP_CLOSELOG = 17,
	PMC_OP_GETDYNEVENTINFO = 18,
	PMC_OP_GETCAPS = 19,
};

struct pmc_classinfo {
	enum pmc_class	pm_class;
	uint32_t	pm_caps;
	uint32_t	pm_width;
	uint32_t	pm_num;
};

struct pmc_info {
	char		pm_name[PMC_NAME_MAX];
	enum pmc_class	pm_class;
	int		pm_enabled;
	enum pmc_disp	pm_rowdisp;
	pid_t		pm_ownerpid;	/* -1: none */
	enum pmc_mode	pm_mode;
	enum pmc_event	pm_event;
	uint32_t	pm_flags;
	pmc_value_t	pm_reloadcount;
};

#endif /* _HWPMC_FREEBSD_SYS_PMC_H */
