/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmc.h - FreeBSD's pmc(3) on Linux: its functions, with its signatures. They use
 * one libhwpmc handle per process. A child of fork() that calls them is an owner
 * of its own; as on FreeBSD it may use its parent's PMCs.
 *
 * Before FreeBSD 12, pmc_allocate() had no count: for such a source define
 * PMC_ALLOCATE_WITHOUT_COUNT before including this file.
 */
#ifndef _HWPMC_FREEBSD_PMC_H
#define _HWPMC_FREEBSD_PMC_H

#include <sys/types.h>
#include <sys/pmc.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pmc_driverstats {
	unsigned int	pm_intr_ignored;
	unsigned int	pm_intr_processed;
	unsigned int	pm_intr_bufferfull;
	unsigned int	pm_syscalls;
	unsigned int	pm_syscall_errors;
	unsigned int	pm_buffer_requests;
	unsigned int	pm_buffer_requests_failed;
	unsigned int	pm_log_sweeps;
};

struct pmc_cpuinfo {
	enum pmc_cputype pm_cputype;
	uint32_t	pm_ncpu;
	uint32_t	pm_npmc;
	uint32_t	pm_nclass;
	struct pmc_classinfo pm_classes[PMC_CLASS_MAX];
};

struct pmc_pmcinfo {
	int32_t		pm_cpu;
	struct pmc_info	pm_pmcs[];	/* pmc_npmc() of them */
};

/* ENOENT: module not loaded; ENXIO: unknown CPU; EPROGMISMATCH: module too old. */
int pmc_init(void);

int pmc_allocate(const char *ctrspec, enum pmc_mode mode, uint32_t flags,
		 int cpu, pmc_id_t *pmcid, uint64_t count);
int pmc_attach(pmc_id_t pmcid, pid_t pid);
int pmc_capabilities(pmc_id_t pmcid, uint32_t *caps);
int pmc_close_logfile(void);
int pmc_configure_logfile(int fd);
int pmc_detach(pmc_id_t pmcid, pid_t pid);
int pmc_disable(int cpu, int pmc);
int pmc_enable(int cpu, int pmc);
int pmc_flush_logfile(void);
int pmc_get_driver_stats(struct pmc_driverstats *gms);
int pmc_get_msr(pmc_id_t pmcid, uint32_t *msr);
int pmc_read(pmc_id_t pmcid, pmc_value_t *value);
int pmc_release(pmc_id_t pmcid);
int pmc_rw(pmc_id_t pmcid, pmc_value_t newvalue, pmc_value_t *oldvalue);
int pmc_set(pmc_id_t pmcid, pmc_value_t value);
int pmc_start(pmc_id_t pmcid);
int pmc_stop(pmc_id_t pmcid);
int pmc_width(pmc_id_t pmcid, uint32_t *width);
int pmc_write(pmc_id_t pmcid, pmc_value_t value);
int pmc_writelog(uint32_t userdata);

int pmc_ncpu(void);
int pmc_npmc(int cpu);
int pmc_cpuinfo(const struct pmc_cpuinfo **cpu_info);
int pmc_pmcinfo(int cpu, struct pmc_pmcinfo **pmc_info);	/* free() it */

const char *pmc_name_of_capability(enum pmc_caps c);
const char *pmc_name_of_class(enum pmc_class pc);
const char *pmc_name_of_cputype(enum pmc_cputype cp);
const char *pmc_name_of_disposition(enum pmc_disp pd);
const char *pmc_name_of_event(enum pmc_event pe);
const char *pmc_name_of_mode(enum pmc_mode pm);
const char *pmc_name_of_state(enum pmc_state ps);

/* For all classes, unlike FreeBSD's. free() of the array frees the names too. */
int pmc_event_names_of_class(enum pmc_class cl, const char ***eventnames,
			     int *nevents);

/*
 * Events of hardware counters: those of this machine, which need the module. cpuid: of a
 * log (pl_cpuid), or NULL: this machine's; another's events are not known: NULL, or -1.
 * Of those that print, the argument is a part of the name.
 */
int pmc_pmu_enabled(void);
void pmc_pmu_print_counters(const char *part);		/* NULL: all */
void pmc_pmu_print_counter_desc(const char *part);
void pmc_pmu_print_counter_desc_long(const char *part);
void pmc_pmu_print_counter_full(const char *part);
uint64_t pmc_pmu_sample_rate_get(const char *event);	/* 65536: no such event */
/* 0, or an errno: ENOENT. Sets class, caps, event and pm_md. */
int pmc_pmu_pmcallocate(const char *event, struct pmc_op_pmcallocate *pm);
const char *pmc_pmu_event_get_by_idx(const char *cpuid, int idx);
int pmc_pmu_idx_get_by_event(const char *cpuid, const char *event);
/* The six events that FreeBSD's `pmc stat` counts. 0, or an errno: EOPNOTSUPP. */
int pmc_pmu_stat_mode(const char ***counters);

/* Linux only: a sentence about the last failure in this thread. */
const char *pmc_error(void);

#ifdef PMC_ALLOCATE_WITHOUT_COUNT
#define pmc_allocate(ctrspec, mode, flags, cpu, pmcid) \
	pmc_allocate(ctrspec, mode, flags, cpu, pmcid, 0)
#endif

#ifdef __cplusplus
}
#endif

#endif /* _HWPMC_FREEBSD_PMC_H */
