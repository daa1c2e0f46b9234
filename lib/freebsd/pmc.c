/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pmc.c - FreeBSD's pmc(3) over the native calls. Its interface has no handle,
 * so this file holds the process's one: a list of it and, in a child of fork(),
 * of those it inherited. The list is under a lock that fork() takes too.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../pmc/internal.h"
#include "pmc.h"

#define SAME(a, b) \
	static_assert((long long)(a) == (long long)(b), #a " is " #b)

SAME(PMC_VERSION, HWPMC_API_VERSION);
SAME(PMC_NAME_MAX, HWPMC_NAME_MAX);
SAME(PMC_CLASS_MAX, HWPMC_CLASS_MAX);
SAME((uint32_t)PMC_CPU_ANY, HWPMC_CPU_ANY);
SAME(PMC_ID_INVALID, HWPMC_ID_INVALID);
SAME(PMC_MODE_TC, HWPMC_MODE_TC);
SAME(PMC_STATE_DELETED, HWPMC_STATE_DELETED);
SAME(PMC_DISP_UNKNOWN, HWPMC_DISP_UNKNOWN);
SAME(PMC_CLASS_K8, HWPMC_CLASS_K8);
SAME(PMC_CLASS_IAP, HWPMC_CLASS_IAP);
SAME(PMC_CLASS_SOFT, HWPMC_CLASS_SOFT);
SAME(PMC_CLASS_PERF, HWPMC_CLASS_PERF);
SAME(PMC_CLASS_P4, HWPMC_CLASS_P4);
SAME(PMC_CAP_DOMWIDE, HWPMC_CAP_DOMWIDE);
SAME(PMC_F_DESCENDANTS, HWPMC_F_DESCENDANTS);
SAME(PMC_F_EV_PMU, HWPMC_F_EV_PMU);
SAME(PMC_EV_TSC_TSC, HWPMC_EV_TSC);
SAME(PMC_OP_GETCAPS, HWPMC_OP_GETCAPS);

/* One process's handle; `inherited` is what its parent had at the fork. */
struct layer {
	struct layer *inherited;
	struct hwpmc *h;
	pid_t pid;
};

static pthread_mutex_t layer_lock = PTHREAD_MUTEX_INITIALIZER;
static struct layer *layers;		/* under layer_lock */
static _Thread_local struct hwpmc *failed;	/* whose sentence is the last */

static void layer_lock_take(void)
{
	pthread_mutex_lock(&layer_lock);
}

static void layer_lock_give(void)
{
	pthread_mutex_unlock(&layer_lock);
}

static void layer_lock_follow_fork(void)
{
	pthread_atfork(layer_lock_take, layer_lock_give, layer_lock_give);
}

/* NULL, with errno, where the module went away since the parent's pmc_init(). */
static struct layer *layer_push(void)
{
	struct layer *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	if (hwpmc_open(&l->h)) {
		failed = NULL;
		free(l);
		return NULL;
	}
	l->h->for_heirs = true;
	l->pid = getpid();
	l->inherited = layers;
	layers = l;
	return l;
}

static struct layer *layer_own(bool may_be_first)
{
	struct layer *l;

	layer_lock_take();
	l = layers;
	if (!l && !may_be_first)
		errno = ENXIO;
	else if (!l || l->pid != getpid())
		l = layer_push();
	layer_lock_give();
	return l;
}

EXPORT int pmc_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, layer_lock_follow_fork);
	return layer_own(true) ? 0 : -1;
}

EXPORT const char *pmc_error(void)
{
	return hwpmc_error(failed);
}

/* The process's own handle; NULL: never initialised, or cannot be. */
static struct hwpmc *pmc_handle(void)
{
	struct layer *l = layer_own(false);

	failed = l ? l->h : NULL;
	return failed;
}

/* ------------------------------------------------------------------------ */

/* What a call on one PMC takes beside the handle. */
struct args {
	pmc_id_t id;
	pid_t pid;
	uint64_t value;
	void *out;
};

typedef int pmc_call(struct hwpmc *h, const struct args *a);

/*
 * A process that owns nothing may, as the child of an owner, use the PMCs of
 * its parent that count it: so says the module, if it is asked there.
 */
static int on_pmc(pmc_call *call, const struct args *a)
{
	struct layer *l = layer_own(false);
	struct hwpmc *own = l ? l->h : NULL;
	int rc, err;

	failed = own;
	if (!l)
		return -1;
	rc = call(own, a);
	if (!rc || errno != ESRCH || hwpmc_reason(own) != HWPMC_WHY_NO_PMCS)
		return rc;
	err = errno;
	for (l = l->inherited; l; l = l->inherited) {
		rc = call(l->h, a);
		if (!rc || hwpmc_reason(l->h) != HWPMC_WHY_NOT_OWNER) {
			failed = l->h;
			return rc;
		}
	}
	errno = err;
	return -1;
}

#define PMC_CALL(name, call)						\
	static int name(struct hwpmc *h, const struct args *a)		\
	{								\
		return call;						\
	}

PMC_CALL(do_attach, hwpmc_attach(h, a->id, a->pid))
PMC_CALL(do_detach, hwpmc_detach(h, a->id, a->pid))
PMC_CALL(do_capabilities, hwpmc_capabilities(h, a->id, a->out))
PMC_CALL(do_get_msr, hwpmc_get_msr(h, a->id, a->out))
PMC_CALL(do_read, hwpmc_read(h, a->id, a->out))
PMC_CALL(do_release, hwpmc_release(h, a->id))
PMC_CALL(do_rw, hwpmc_rw(h, a->id, a->value, a->out))
PMC_CALL(do_set, hwpmc_set(h, a->id, a->value))
PMC_CALL(do_start, hwpmc_start(h, a->id))
PMC_CALL(do_stop, hwpmc_stop(h, a->id))
PMC_CALL(do_write, hwpmc_write(h, a->id, a->value))

EXPORT int pmc_allocate(const char *ctrspec, enum pmc_mode mode,
			uint32_t flags, int cpu, pmc_id_t *pmcid,
			uint64_t count)
{
	struct hwpmc *h = pmc_handle();
	int rc;

	if (!h)
		return -1;
	/* They inform sampling, and attached PMCs; FreeBSD's tools set them in any mode. */
	if (!PMC_IS_SAMPLING_MODE(mode))
		flags &= ~(PMC_F_CALLCHAIN | PMC_F_USERCALLCHAIN);
	if (PMC_IS_SYSTEM_MODE(mode))
		flags &= ~PMC_F_DESCENDANTS;
	rc = hwpmc_allocate(h, ctrspec, (enum hwpmc_mode)mode, flags,
			    (uint32_t)cpu, count, pmcid);
	/* An event that does not exist is an argument that is wrong. */
	if (rc && errno == ENOENT)
		errno = EINVAL;
	return rc;
}

EXPORT int pmc_attach(pmc_id_t pmcid, pid_t pid)
{
	return on_pmc(do_attach, &(struct args){ .id = pmcid, .pid = pid });
}

EXPORT int pmc_detach(pmc_id_t pmcid, pid_t pid)
{
	return on_pmc(do_detach, &(struct args){ .id = pmcid, .pid = pid });
}

EXPORT int pmc_capabilities(pmc_id_t pmcid, uint32_t *caps)
{
	return on_pmc(do_capabilities,
		      &(struct args){ .id = pmcid, .out = caps });
}

EXPORT int pmc_get_msr(pmc_id_t pmcid, uint32_t *msr)
{
	return on_pmc(do_get_msr, &(struct args){ .id = pmcid, .out = msr });
}

EXPORT int pmc_read(pmc_id_t pmcid, pmc_value_t *value)
{
	return on_pmc(do_read, &(struct args){ .id = pmcid, .out = value });
}

EXPORT int pmc_release(pmc_id_t pmcid)
{
	return on_pmc(do_release, &(struct args){ .id = pmcid });
}

EXPORT int pmc_rw(pmc_id_t pmcid, pmc_value_t newvalue, pmc_value_t *oldvalue)
{
	return on_pmc(do_rw, &(struct args){ .id = pmcid, .value = newvalue,
					     .out = oldvalue });
}

EXPORT int pmc_set(pmc_id_t pmcid, pmc_value_t value)
{
	return on_pmc(do_set, &(struct args){ .id = pmcid, .value = value });
}

EXPORT int pmc_start(pmc_id_t pmcid)
{
	return on_pmc(do_start, &(struct args){ .id = pmcid });
}

EXPORT int pmc_stop(pmc_id_t pmcid)
{
	return on_pmc(do_stop, &(struct args){ .id = pmcid });
}

EXPORT int pmc_write(pmc_id_t pmcid, pmc_value_t value)
{
	return on_pmc(do_write, &(struct args){ .id = pmcid, .value = value });
}

EXPORT int pmc_width(pmc_id_t pmcid, uint32_t *width)
{
	struct hwpmc *h = pmc_handle();

	return h ? hwpmc_width(h, pmcid, width) : -1;
}

/* ------------------------------------------------------------------------ */

/* The log's descriptor of this process, where it is a pipe or a socket. */
static struct {
	int fd;
	struct stat is;
} log_pipe = { .fd = -1 };

static void pipe_remember(int fd)
{
	struct stat is;

	layer_lock_take();
	log_pipe.fd = -1;
	if (fd >= 0 && !fstat(fd, &is) && (S_ISFIFO(is.st_mode) || S_ISSOCK(is.st_mode))) {
		log_pipe.fd = fd;
		log_pipe.is = is;
	}
	layer_lock_give();
}

/*
 * FreeBSD's kernel closes the file of a log that was closed, the owner's descriptor with
 * it: its pmcstat reads its own log from a pipe whose other end it holds, up to the end.
 * What the descriptor has become in the meantime is left alone.
 */
static void pipe_leave(void)
{
	struct stat is;
	int fd, null;

	layer_lock_take();
	fd = log_pipe.fd;
	log_pipe.fd = -1;
	if (fd >= 0 && !fstat(fd, &is) && is.st_dev == log_pipe.is.st_dev &&
	    is.st_ino == log_pipe.is.st_ino) {
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (null >= 0) {
			dup2(null, fd);
			fcntl(fd, F_SETFD, FD_CLOEXEC);
			close(null);
		}
	}
	layer_lock_give();
}

EXPORT int pmc_configure_logfile(int fd)
{
	struct hwpmc *h = pmc_handle();

	if (!h || hwpmc_configure_log(h, fd))
		return -1;
	pipe_remember(fd);
	return 0;
}

EXPORT int pmc_flush_logfile(void)
{
	struct hwpmc *h = pmc_handle();

	return h ? hwpmc_flush_log(h) : -1;
}

/* Of whatever PMC it is asked about, the module says so where there is none. */
static bool owns_a_pmc(struct hwpmc *h)
{
	uint32_t caps;

	return !hwpmc_capabilities(h, 0, &caps) || hwpmc_reason(h) != HWPMC_WHY_NO_PMCS;
}

/* FreeBSD's fails only for a process that owns nothing: its pmcstat may close its log twice,
 * and its `pmc stat` closes one that it never had. */
EXPORT int pmc_close_logfile(void)
{
	struct hwpmc *h = pmc_handle();

	if (!h)
		return -1;
	if (!hwpmc_close_log(h)) {
		pipe_leave();
		return 0;
	}
	if (errno != EINVAL)
		return -1;
	if (hwpmc_reason(h) == HWPMC_WHY_LOG_CLOSED || owns_a_pmc(h))
		return 0;
	return hwpmc_close_log(h);
}

EXPORT int pmc_writelog(uint32_t userdata)
{
	struct hwpmc *h = pmc_handle();

	return h ? hwpmc_write_log(h, userdata) : -1;
}

EXPORT int pmc_disable(int cpu, int pmc)
{
	struct hwpmc *h = pmc_handle();

	return h ? hwpmc_admin(h, (uint32_t)cpu, (uint32_t)pmc,
			       HWPMC_STATE_DISABLED) : -1;
}

EXPORT int pmc_enable(int cpu, int pmc)
{
	struct hwpmc *h = pmc_handle();

	return h ? hwpmc_admin(h, (uint32_t)cpu, (uint32_t)pmc,
			       HWPMC_STATE_FREE) : -1;
}

/* FreeBSD's are 32 bits wide: they saturate and do not wrap. */
static unsigned int narrow_value(uint64_t n)
{
	return n > UINT_MAX ? UINT_MAX : (unsigned int)n;
}

EXPORT int pmc_get_driver_stats(struct pmc_driverstats *gms)
{
	struct hwpmc *h = pmc_handle();
	struct hwpmc_op_getdriverstats s = { .syscalls = 0 };

	if (!h || hwpmc_driver_stats(h, &s))
		return -1;
	*gms = (struct pmc_driverstats) {
		.pm_intr_ignored = narrow_value(s.intr_ignored),
		.pm_intr_processed = narrow_value(s.intr_processed),
		.pm_intr_bufferfull = narrow_value(s.intr_bufferfull),
		.pm_syscalls = narrow_value(s.syscalls),
		.pm_syscall_errors = narrow_value(s.syscall_errors),
		.pm_buffer_requests = narrow_value(s.buffer_requests),
		.pm_buffer_requests_failed = narrow_value(s.buffer_requests_failed),
		.pm_log_sweeps = narrow_value(s.log_sweeps),
	};
	return 0;
}

EXPORT int pmc_ncpu(void)
{
	struct hwpmc *h = pmc_handle();

	return h ? (int)hwpmc_cpuinfo(h)->ncpu : -1;
}

EXPORT int pmc_npmc(int cpu)
{
	struct hwpmc *h = pmc_handle();

	if (!h)
		return -1;
	if (cpu < 0 || (uint32_t)cpu >= hwpmc_cpuinfo(h)->ncpu) {
		errno = EINVAL;
		return -1;
	}
	return (int)hwpmc_cpuinfo(h)->npmc;
}

/* The same for all handles, so that one copy serves the whole process. */
EXPORT int pmc_cpuinfo(const struct pmc_cpuinfo **cpu_info)
{
	static struct pmc_cpuinfo info;
	const struct hwpmc_op_getcpuinfo *from;
	struct hwpmc *h = pmc_handle();
	uint32_t i;

	if (!h)
		return -1;
	from = hwpmc_cpuinfo(h);
	layer_lock_take();
	info.pm_cputype = (enum pmc_cputype)from->cputype;
	info.pm_ncpu = from->ncpu;
	info.pm_npmc = from->npmc;
	info.pm_nclass = from->nclass;
	for (i = 0; i < from->nclass && i < PMC_CLASS_MAX; i++)
		info.pm_classes[i] = (struct pmc_classinfo) {
			.pm_class = (enum pmc_class)from->classes[i].class,
			.pm_caps = from->classes[i].caps,
			.pm_width = from->classes[i].width,
			.pm_num = from->classes[i].num,
		};
	layer_lock_give();
	*cpu_info = &info;
	return 0;
}

static void info_copy(struct pmc_info *to, const struct hwpmc_pmcinfo *from)
{
	*to = (struct pmc_info) {
		.pm_class = (enum pmc_class)from->class,
		.pm_enabled = (int)from->enabled,
		.pm_rowdisp = (enum pmc_disp)from->rowdisp,
		.pm_ownerpid = from->ownerpid,
		.pm_mode = (enum pmc_mode)from->mode,
		.pm_event = (enum pmc_event)from->event,
		.pm_flags = from->flags,
		.pm_reloadcount = from->reloadcount,
	};
	memcpy(to->pm_name, from->name, sizeof(to->pm_name) - 1);
}

EXPORT int pmc_pmcinfo(int cpu, struct pmc_pmcinfo **pmc_info)
{
	struct hwpmc *h = pmc_handle();
	struct hwpmc_pmcinfo *rows;
	struct pmc_pmcinfo *info;
	unsigned int n, i;

	if (!h || hwpmc_pmcinfo(h, (uint32_t)cpu, &rows, &n))
		return -1;
	info = calloc(1, sizeof(*info) + n * sizeof(info->pm_pmcs[0]));
	if (info) {
		info->pm_cpu = cpu;
		for (i = 0; i < n; i++)
			info_copy(&info->pm_pmcs[i], &rows[i]);
		*pmc_info = info;
	}
	free(rows);
	return info ? 0 : -1;
}
