/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sys/pmc.h - FreeBSD's names for the interface of hwpmc.h, so that programs
 * written for FreeBSD's <sys/pmc.h> compile unchanged. The values are those of
 * hwpmc.h; lib/freebsd/pmc.c asserts it. Processors, classes and events that no
 * machine of this module has are here for sources that compare with them. The
 * structures of operations are for the functions of pmc(3) that take them: there
 * is no system call.
 */
#ifndef _HWPMC_FREEBSD_SYS_PMC_H
#define _HWPMC_FREEBSD_SYS_PMC_H

#include <sys/types.h>
#include <errno.h>
#include <stdint.h>

typedef uintptr_t uintfptr_t;

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

/* Lists: a source defines the inner macro, and uses the outer one. */
#define __PMC_MODES()							\
	__PMC_MODE(SS, 0)						\
	__PMC_MODE(SC, 1)						\
	__PMC_MODE(TS, 2)						\
	__PMC_MODE(TC, 3)

enum pmc_mode {
#undef __PMC_MODE
#define __PMC_MODE(N, V) PMC_MODE_##N = V,
	__PMC_MODES()
};

#define PMC_MODE_FIRST	PMC_MODE_SS
#define PMC_MODE_LAST	PMC_MODE_TC

#define PMC_IS_COUNTING_MODE(M)	((M) == PMC_MODE_SC || (M) == PMC_MODE_TC)
#define PMC_IS_SAMPLING_MODE(M)	((M) == PMC_MODE_SS || (M) == PMC_MODE_TS)
#define PMC_IS_SYSTEM_MODE(M)	((M) == PMC_MODE_SS || (M) == PMC_MODE_SC)
#define PMC_IS_VIRTUAL_MODE(M)	((M) == PMC_MODE_TS || (M) == PMC_MODE_TC)

#define __PMC_HWSTATES()						\
	__PMC_STATE(DISABLED)						\
	__PMC_STATE(FREE)
#define __PMC_SWSTATES()						\
	__PMC_STATE(ALLOCATED)						\
	__PMC_STATE(STOPPED)						\
	__PMC_STATE(RUNNING)						\
	__PMC_STATE(DELETED)
#define __PMC_STATES()	__PMC_HWSTATES() __PMC_SWSTATES()

enum pmc_state {
#undef __PMC_STATE
#define __PMC_STATE(N) PMC_STATE_##N,
	__PMC_STATES()
	__PMC_STATE(MAX)
};

#define PMC_STATE_FIRST	PMC_STATE_DISABLED
#define PMC_STATE_LAST	PMC_STATE_DELETED

#define __PMC_DISPOSITIONS()						\
	__PMC_DISP(STANDALONE)						\
	__PMC_DISP(FREE)						\
	__PMC_DISP(THREAD)						\
	__PMC_DISP(UNKNOWN)

enum pmc_disp {
#undef __PMC_DISP
#define __PMC_DISP(N) PMC_DISP_##N,
	__PMC_DISPOSITIONS()
};

#define PMC_DISP_FIRST	PMC_DISP_STANDALONE
#define PMC_DISP_LAST	PMC_DISP_THREAD

#define __PMC_CLASSES()							\
	__PMC_CLASS(TSC, 0x00, "time-stamp counter")			\
	__PMC_CLASS(K7, 0x01, "AMD K7")					\
	__PMC_CLASS(K8, 0x02, "AMD, all families")			\
	__PMC_CLASS(IBS, 0x03, "AMD instruction-based sampling")	\
	__PMC_CLASS(IAF, 0x06, "Intel, fixed function")			\
	__PMC_CLASS(IAP, 0x07, "Intel, programmable")			\
	__PMC_CLASS(UCF, 0x08, "Intel uncore, fixed function")		\
	__PMC_CLASS(UCP, 0x09, "Intel uncore, programmable")		\
	__PMC_CLASS(XSCALE, 0x0a, "Intel XScale")			\
	__PMC_CLASS(PPC7450, 0x0d, "PowerPC 7450")			\
	__PMC_CLASS(PPC970, 0x0e, "PowerPC 970")			\
	__PMC_CLASS(SOFT, 0x0f, "software events")			\
	__PMC_CLASS(ARMV7, 0x10, "ARMv7")				\
	__PMC_CLASS(ARMV8, 0x11, "ARMv8")				\
	__PMC_CLASS(E500, 0x13, "PowerPC e500")				\
	__PMC_CLASS(POWER8, 0x15, "POWER8")				\
	__PMC_CLASS(DMC620_PMU_CD2, 0x16, "ARM DMC620, half clock")	\
	__PMC_CLASS(DMC620_PMU_C, 0x17, "ARM DMC620")			\
	__PMC_CLASS(CMN600_PMU, 0x18, "ARM CMN600")			\
	__PMC_CLASS(RAPL, 0x19, "energy")				\
	__PMC_CLASS(PERF, 0x1a, "APERF and MPERF")

enum pmc_class {
#undef __PMC_CLASS
#define __PMC_CLASS(N, V, D) PMC_CLASS_##N = V,
	__PMC_CLASSES()
	PMC_CLASS_P6 = 0x80,		/* from here: Linux only */
	PMC_CLASS_P4 = 0x81,
};

#define PMC_CLASS_FIRST	PMC_CLASS_TSC
#define PMC_CLASS_LAST	PMC_CLASS_PERF

#define __PMC_CPUS()							\
	__PMC_CPU(AMD_K7, 0x00, "AMD K7") \
	__PMC_CPU(AMD_K8, 0x01, "AMD K8") \
	__PMC_CPU(INTEL_P5, 0x80, "Intel P5") \
	__PMC_CPU(INTEL_P6, 0x81, "Intel P6") \
	__PMC_CPU(INTEL_CL, 0x82, "Intel Cl") \
	__PMC_CPU(INTEL_PII, 0x83, "Intel Pii") \
	__PMC_CPU(INTEL_PIII, 0x84, "Intel Piii") \
	__PMC_CPU(INTEL_PM, 0x85, "Intel Pm") \
	__PMC_CPU(INTEL_PIV, 0x86, "Intel Piv") \
	__PMC_CPU(INTEL_CORE, 0x87, "Intel Core") \
	__PMC_CPU(INTEL_CORE2, 0x88, "Intel Core2") \
	__PMC_CPU(INTEL_CORE2EXTREME, 0x89, "Intel Core2extreme") \
	__PMC_CPU(INTEL_ATOM, 0x8a, "Intel Atom") \
	__PMC_CPU(INTEL_COREI7, 0x8b, "Intel Corei7") \
	__PMC_CPU(INTEL_WESTMERE, 0x8c, "Intel Westmere") \
	__PMC_CPU(INTEL_SANDYBRIDGE, 0x8d, "Intel Sandybridge") \
	__PMC_CPU(INTEL_IVYBRIDGE, 0x8e, "Intel Ivybridge") \
	__PMC_CPU(INTEL_SANDYBRIDGE_XEON, 0x8f, "Intel Sandybridge Xeon") \
	__PMC_CPU(INTEL_IVYBRIDGE_XEON, 0x90, "Intel Ivybridge Xeon") \
	__PMC_CPU(INTEL_HASWELL, 0x91, "Intel Haswell") \
	__PMC_CPU(INTEL_ATOM_SILVERMONT, 0x92, "Intel Atom Silvermont") \
	__PMC_CPU(INTEL_NEHALEM_EX, 0x93, "Intel Nehalem Ex") \
	__PMC_CPU(INTEL_WESTMERE_EX, 0x94, "Intel Westmere Ex") \
	__PMC_CPU(INTEL_HASWELL_XEON, 0x95, "Intel Haswell Xeon") \
	__PMC_CPU(INTEL_BROADWELL, 0x96, "Intel Broadwell") \
	__PMC_CPU(INTEL_BROADWELL_XEON, 0x97, "Intel Broadwell Xeon") \
	__PMC_CPU(INTEL_SKYLAKE, 0x98, "Intel Skylake") \
	__PMC_CPU(INTEL_SKYLAKE_XEON, 0x99, "Intel Skylake Xeon") \
	__PMC_CPU(INTEL_ATOM_GOLDMONT, 0x9a, "Intel Atom Goldmont") \
	__PMC_CPU(INTEL_ICELAKE, 0x9b, "Intel Icelake") \
	__PMC_CPU(INTEL_ICELAKE_XEON, 0x9c, "Intel Icelake Xeon") \
	__PMC_CPU(INTEL_ALDERLAKE, 0x9d, "Intel Alderlake") \
	__PMC_CPU(INTEL_ATOM_GOLDMONT_P, 0x9e, "Intel Atom Goldmont P") \
	__PMC_CPU(INTEL_ATOM_TREMONT, 0x9f, "Intel Atom Tremont") \
	__PMC_CPU(INTEL_EMERALD_RAPIDS, 0xa0, "Intel Emerald Rapids") \
	__PMC_CPU(INTEL_ALDERLAKEN, 0xa1, "Intel Alderlaken") \
	__PMC_CPU(INTEL_GRANITE_RAPIDS, 0xa2, "Intel Granite Rapids") \
	__PMC_CPU(INTEL_METEOR_LAKE, 0xa3, "Intel Meteor Lake") \
	__PMC_CPU(INTEL_SAPPHIRE_RAPIDS, 0xa4, "Intel Sapphire Rapids") \
	__PMC_CPU(INTEL_XSCALE, 0x100, "Intel Xscale") \
	__PMC_CPU(PPC_7450, 0x300, "PowerPC 7450") \
	__PMC_CPU(PPC_E500, 0x340, "PowerPC E500") \
	__PMC_CPU(PPC_970, 0x380, "PowerPC 970") \
	__PMC_CPU(PPC_POWER8, 0x390, "PowerPC Power8") \
	__PMC_CPU(GENERIC, 0x400, "generic") \
	__PMC_CPU(ARMV7_CORTEX_A5, 0x500, "ARMV7 Cortex A5") \
	__PMC_CPU(ARMV7_CORTEX_A7, 0x501, "ARMV7 Cortex A7") \
	__PMC_CPU(ARMV7_CORTEX_A8, 0x502, "ARMV7 Cortex A8") \
	__PMC_CPU(ARMV7_CORTEX_A9, 0x503, "ARMV7 Cortex A9") \
	__PMC_CPU(ARMV7_CORTEX_A15, 0x504, "ARMV7 Cortex A15") \
	__PMC_CPU(ARMV7_CORTEX_A17, 0x505, "ARMV7 Cortex A17") \
	__PMC_CPU(ARMV8_CORTEX_A53, 0x600, "ARMV8 Cortex A53") \
	__PMC_CPU(ARMV8_CORTEX_A57, 0x601, "ARMV8 Cortex A57") \
	__PMC_CPU(ARMV8_CORTEX_A76, 0x602, "ARMV8 Cortex A76")

enum pmc_cputype {
#undef __PMC_CPU
#define __PMC_CPU(N, V, D) PMC_CPU_##N = V,
	__PMC_CPUS()
};

#define PMC_CPU_FIRST	PMC_CPU_AMD_K8
#define PMC_CPU_LAST	PMC_CPU_ARMV8_CORTEX_A76

/* Events of hardware counters have codes, not numbers. */
enum pmc_event {
	PMC_EV_NONE = 0,
	PMC_EV_TSC_TSC = 0x1000,
	PMC_EV_IAF_FIRST = 0x10000,
	PMC_EV_SOFT_FIRST = 0x20000,
	PMC_EV_SOFT_LAST = 0x20fff,
};

#define PMC_EV_TSC_FIRST	PMC_EV_TSC_TSC
#define PMC_EV_TSC_LAST		PMC_EV_TSC_TSC
#define PMC_EV_DYN_COUNT	0x1000

#define __PMC_CAPS()							\
	__PMC_CAP(INTERRUPT, 0, "interrupts")				\
	__PMC_CAP(USER, 1, "counts in user mode")			\
	__PMC_CAP(SYSTEM, 2, "counts in kernel mode")			\
	__PMC_CAP(EDGE, 3, "counts edges")				\
	__PMC_CAP(THRESHOLD, 4, "compares with a threshold")		\
	__PMC_CAP(READ, 5, "can be read")				\
	__PMC_CAP(WRITE, 6, "can be written")				\
	__PMC_CAP(INVERT, 7, "inverts the comparison")			\
	__PMC_CAP(QUALIFIER, 8, "takes qualifiers")			\
	__PMC_CAP(PRECISE, 9, "samples precisely")			\
	__PMC_CAP(TAGGING, 10, "tags events")				\
	__PMC_CAP(CASCADE, 11, "cascades")				\
	__PMC_CAP(SYSWIDE, 12, "counts for the whole machine")		\
	__PMC_CAP(DOMWIDE, 13, "counts for a package or node")

enum pmc_caps {
#undef __PMC_CAP
#define __PMC_CAP(N, V, D) PMC_CAP_##N = 1 << V,
	__PMC_CAPS()
};

#define PMC_CAP_FIRST	PMC_CAP_INTERRUPT
#define PMC_CAP_LAST	PMC_CAP_DOMWIDE

#define PMC_F_FORCE		0x00000001	/* of old sources; means nothing */
#define PMC_F_UNUSED1		PMC_F_FORCE
#define PMC_F_DESCENDANTS	0x00000002
#define PMC_F_LOG_PROCCSW	0x00000004
#define PMC_F_LOG_PROCEXIT	0x00000008
#define PMC_F_NEWVALUE		0x00000010
#define PMC_F_OLDVALUE		0x00000020
#define PMC_F_KGMON		0x00000040
#define PMC_F_CALLCHAIN		0x00000080
#define PMC_F_USERCALLCHAIN	0x00000100
#define PMC_F_EV_PMU		0x00000200
/* FreeBSD's kernel sets these; no call returns or takes them here. */
#define PMC_F_ATTACHED_TO_OWNER	0x00010000
#define PMC_F_NEEDS_LOGFILE	0x00020000
#define PMC_F_ATTACH_DONE	0x00040000

#define PMC_CALLCHAIN_DEPTH_MAX	512

/* Flags of samples. */
#define PMC_CC_F_USERSPACE	0x01
#define PMC_CC_F_MULTIPART	0x02	/* FreeBSD only; never set on Linux */

/* Flag of PROC_CREATE and THR_CREATE: FreeBSD's name, and the value of the log here. */
#define P_KPROC			0x01

/* Parts of such a sample: of FreeBSD only, too. */
#define PMC_CC_MULTIPART_NONE		0
#define PMC_CC_MULTIPART_CALLCHAIN	1
#define PMC_CC_MULTIPART_IBS_FETCH	2
#define PMC_CC_MULTIPART_IBS_OP		3

/* Operations: the numbers of the ioctls. */
#define __PMC_OPS()							\
	__PMC_OP(CONFIGURELOG, "begin or end a log") \
	__PMC_OP(FLUSHLOG, "write all of a log") \
	__PMC_OP(GETCPUINFO, "classes of counters") \
	__PMC_OP(GETDRIVERSTATS, "statistics") \
	__PMC_OP(GETMODULEVERSION, "version") \
	__PMC_OP(GETPMCINFO, "counters of a CPU") \
	__PMC_OP(PMCADMIN, "enable or disable a row") \
	__PMC_OP(PMCALLOCATE, "allocate a PMC") \
	__PMC_OP(PMCATTACH, "attach to a process") \
	__PMC_OP(PMCDETACH, "detach from a process") \
	__PMC_OP(PMCGETMSR, "number for RDPMC") \
	__PMC_OP(PMCRELEASE, "release a PMC") \
	__PMC_OP(PMCRW, "read and write") \
	__PMC_OP(PMCSETCOUNT, "initial count or period") \
	__PMC_OP(PMCSTART, "start") \
	__PMC_OP(PMCSTOP, "stop") \
	__PMC_OP(WRITELOG, "a number into the log") \
	__PMC_OP(CLOSELOG, "close a log") \
	__PMC_OP(GETDYNEVENTINFO, "events of the kernel") \
	__PMC_OP(GETCAPS, "capabilities of a PMC")

enum pmc_ops {
#undef __PMC_OP
#define __PMC_OP(N, D) PMC_OP_##N,
	__PMC_OPS()
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

/* What the configuration of an event is; pmc_pmu_pmcallocate() sets it. */
struct pmc_md_iap_op_pmcallocate {
	uint32_t	pm_iap_config;
	uint64_t	pm_iap_rsp;
};

struct pmc_md_iaf_op_pmcallocate {
	uint16_t	pm_iaf_flags;
};

enum sub_class {
	PMC_AMD_SUB_CLASS_CORE = 1,
	PMC_AMD_SUB_CLASS_L3_CACHE,
	PMC_AMD_SUB_CLASS_DATA_FABRIC,
};

struct pmc_md_amd_op_pmcallocate {
	uint64_t	pm_amd_config;
	uint32_t	pm_amd_sub_class;
};

union pmc_md_op_pmcallocate {
	struct pmc_md_amd_op_pmcallocate pm_amd;
	struct pmc_md_iap_op_pmcallocate pm_iap;
	struct pmc_md_iaf_op_pmcallocate pm_iaf;
	uint64_t	__pad[4];
};

struct pmc_op_pmcallocate {
	uint32_t	pm_caps;
	uint32_t	pm_cpu;
	enum pmc_class	pm_class;
	enum pmc_event	pm_ev;
	uint32_t	pm_flags;
	enum pmc_mode	pm_mode;
	pmc_id_t	pm_pmcid;
	pmc_value_t	pm_count;
	union pmc_md_op_pmcallocate pm_md;
};

struct pmc_op_pmcadmin {
	int		pm_cpu;
	uint32_t	pm_flags;
	int		pm_pmc;
	enum pmc_state	pm_state;
};

struct pmc_op_pmcattach {
	pmc_id_t	pm_pmc;
	pid_t		pm_pid;
};

struct pmc_op_pmcsetcount {
	pmc_value_t	pm_count;
	pmc_id_t	pm_pmcid;
};

struct pmc_op_pmcrw {
	uint32_t	pm_flags;
	pmc_id_t	pm_pmcid;
	pmc_value_t	pm_value;
};

struct pmc_op_getpmcinfo {
	int32_t		pm_cpu;
	struct pmc_info	pm_pmcs[];
};

struct pmc_op_getcpuinfo {
	enum pmc_cputype pm_cputype;
	uint32_t	pm_ncpu;
	uint32_t	pm_npmc;
	uint32_t	pm_nclass;
	struct pmc_classinfo pm_classes[PMC_CLASS_MAX];
};

struct pmc_op_configurelog {
	int		pm_flags;
	int		pm_logfd;
};

struct pmc_op_getdriverstats {
	unsigned int	pm_intr_ignored;
	unsigned int	pm_intr_processed;
	unsigned int	pm_intr_bufferfull;
	unsigned int	pm_syscalls;
	unsigned int	pm_syscall_errors;
	unsigned int	pm_buffer_requests;
	unsigned int	pm_buffer_requests_failed;
	unsigned int	pm_log_sweeps;
};

struct pmc_op_simple {
	pmc_id_t	pm_pmcid;
};

struct pmc_op_writelog {
	uint32_t	pm_userdata;
};

struct pmc_op_getmsr {
	uint32_t	pm_msr;
	pmc_id_t	pm_pmcid;
};

struct pmc_op_caps {
	pmc_id_t	pm_pmcid;
	uint32_t	pm_caps;
};

struct pmc_dyn_event_descr {
	char		pm_ev_name[PMC_NAME_MAX];
	enum pmc_event	pm_ev_code;
};

struct pmc_op_getdyneventinfo {
	enum pmc_class	pm_class;
	unsigned int	pm_nevent;
	struct pmc_dyn_event_descr pm_events[PMC_EV_DYN_COUNT];
};

#endif /* _HWPMC_FREEBSD_SYS_PMC_H */
