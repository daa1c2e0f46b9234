// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * tunables.c - module parameters and sysctls. Names, access, ranges and warnings are
 * FreeBSD's; so are the defaults, but for those that hwpmc(4) describes. Process
 * context.
 */
#include <linux/log2.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>

#include "../compat/sysctl.h"
#include "debug.h"
#include "hwpmc_log.h"	/* uapi */
#include "tunables.h"

#define TUNABLE(name, variable, text)				\
	module_param_named(name, variable, int, 0444);		\
	MODULE_PARM_DESC(name, text)

#define HASHSIZE_MAX		65536
#define NSAMPLES_MAX		65535
#define RING_KIB_MAX		(32 * 1024)

#define HASHSIZE_DEFAULT	1024
#define LOGBUFFERSIZE_DEFAULT	8
#define NBUFFERS_PCPU_DEFAULT	64
#define NSAMPLES_DEFAULT	512
#define MTXPOOLSIZE_DEFAULT	32
#define MINCOUNT_DEFAULT	1000
#define MAXOWNERS_DEFAULT	1024
#define UNWINDTABLES_DEFAULT	(256 * 1024)

int hwpmc_unprivileged_syspmcs;
TUNABLE(unprivileged_syspmcs, hwpmc_unprivileged_syspmcs,
	"1: all users may allocate system-scope PMCs that count (0)");

int hwpmc_unprivileged_kernel;
TUNABLE(unprivileged_kernel, hwpmc_unprivileged_kernel,
	"1: all users may count and sample kernel mode (0)");

int hwpmc_unprivileged_proc_debug = 1;
TUNABLE(unprivileged_proc_debug, hwpmc_unprivileged_proc_debug,
	"0: only privileged users may attach to other processes (1)");

int hwpmc_mincount = MINCOUNT_DEFAULT;
TUNABLE(mincount, hwpmc_mincount, "smallest sampling period, 1 or more (1000)");

int hwpmc_maxowners = MAXOWNERS_DEFAULT;
TUNABLE(maxowners, hwpmc_maxowners,
	"maximum open descriptors of an unprivileged user, 1 or more (1024)");

int hwpmc_callchaindepth = 128;
TUNABLE(callchaindepth, hwpmc_callchaindepth,
	"maximum frames of a call chain, 1 to 512 (128)");

int hwpmc_unwindtables = UNWINDTABLES_DEFAULT;
TUNABLE(unwindtables, hwpmc_unwindtables,
	"maximum KiB of unwind tables of an open descriptor, 1 or more (262144)");

int hwpmc_selfcost = 50;
TUNABLE(selfcost, hwpmc_selfcost,
	"maximum percentage of a CPU's time for sampling, 0: no limit (50)");

int hwpmc_takerunning;
TUNABLE(takerunning, hwpmc_takerunning,
	"1: take counters that run without a reservation, such as firmware's (0)");

int hwpmc_hashsize = HASHSIZE_DEFAULT;
TUNABLE(hashsize, hwpmc_hashsize,
	"buckets of each hash table of targets and threads, at most 65536 (1024)");

int hwpmc_logbuffersize = LOGBUFFERSIZE_DEFAULT;
TUNABLE(logbuffersize, hwpmc_logbuffersize, "KiB of a log buffer (8)");

int hwpmc_nbuffers_pcpu = NBUFFERS_PCPU_DEFAULT;
TUNABLE(nbuffers_pcpu, hwpmc_nbuffers_pcpu,
	"log buffers per CPU, which together make its ring (64)");

static int nsamples = NSAMPLES_DEFAULT;
TUNABLE(nsamples, nsamples,
	"no effect: samples go straight into the log's ring (512)");

static int mtxpoolsize = MTXPOOLSIZE_DEFAULT;
TUNABLE(mtxpoolsize, mtxpoolsize, "no effect: there is no pool of locks (32)");

static int all_percent = 100;

/* Two writers at once: each checks a value of its own, which is then stored as one word, so
 * the last one stays. The text of debugflags has a lock (debug.c). */
#define SYSCTL_INT(name, variable, access, least, most)		\
	{							\
		.procname = name,				\
		.data = &(variable),				\
		.maxlen = sizeof(int),				\
		.mode = access,					\
		.proc_handler = proc_dointvec_minmax,		\
		.extra1 = least,				\
		.extra2 = most,					\
	}

static struct ctl_table tunables[] = {
	SYSCTL_INT("unprivileged_syspmcs", hwpmc_unprivileged_syspmcs, 0644,
		   SYSCTL_ZERO, SYSCTL_ONE),
	SYSCTL_INT("unprivileged_kernel", hwpmc_unprivileged_kernel, 0644,
		   SYSCTL_ZERO, SYSCTL_ONE),
	SYSCTL_INT("unprivileged_proc_debug", hwpmc_unprivileged_proc_debug,
		   0644, SYSCTL_ZERO, SYSCTL_ONE),
	SYSCTL_INT("mincount", hwpmc_mincount, 0644, SYSCTL_ONE, NULL),
	SYSCTL_INT("maxowners", hwpmc_maxowners, 0644, SYSCTL_ONE, NULL),
	SYSCTL_INT("unwindtables", hwpmc_unwindtables, 0644, SYSCTL_ONE, NULL),
	SYSCTL_INT("selfcost", hwpmc_selfcost, 0644, SYSCTL_ZERO, &all_percent),
	SYSCTL_INT("takerunning", hwpmc_takerunning, 0644, SYSCTL_ZERO, SYSCTL_ONE),
	SYSCTL_INT("callchaindepth", hwpmc_callchaindepth, 0444, NULL, NULL),
	SYSCTL_INT("hashsize", hwpmc_hashsize, 0444, NULL, NULL),
	SYSCTL_INT("logbuffersize", hwpmc_logbuffersize, 0444, NULL, NULL),
	SYSCTL_INT("nbuffers_pcpu", hwpmc_nbuffers_pcpu, 0444, NULL, NULL),
	SYSCTL_INT("nsamples", nsamples, 0444, NULL, NULL),
	SYSCTL_INT("mtxpoolsize", mtxpoolsize, 0444, NULL, NULL),
	{
		.procname = "debugflags",
		.mode = 0644,
		.proc_handler = hwpmc_debug_sysctl,
	}
	HWPMC_SYSCTL_END
};

static struct ctl_table_header *sysctl_header;

static void check_positive(const char *name, int *value, int fallback)
{
	if (*value > 0)
		return;
	pr_warn("tunable %s=%d must be greater than zero.\n", name, *value);
	*value = fallback;
}

static void check_range(const char *name, int *value, int min, int max,
			int fallback)
{
	if (*value >= min && *value <= max)
		return;
	pr_warn("tunable %s=%d out of range.\n", name, *value);
	*value = fallback;
}

static void check_logbuffers(void)
{
	check_positive("logbuffersize", &hwpmc_logbuffersize,
		       LOGBUFFERSIZE_DEFAULT);
	/* FreeBSD warns by the name that it had before buffers were per CPU. */
	check_positive("nlogbuffers", &hwpmc_nbuffers_pcpu,
		       NBUFFERS_PCPU_DEFAULT);
	if ((s64)hwpmc_logbuffersize * hwpmc_nbuffers_pcpu <= RING_KIB_MAX)
		return;
	pr_warn("tunables logbuffersize=%d nbuffers_pcpu=%d make more than %d KiB per CPU.\n",
		hwpmc_logbuffersize, hwpmc_nbuffers_pcpu, RING_KIB_MAX);
	hwpmc_logbuffersize = LOGBUFFERSIZE_DEFAULT;
	hwpmc_nbuffers_pcpu = NBUFFERS_PCPU_DEFAULT;
}

void hwpmc_tunables_check(void)
{
	int depth = hwpmc_callchaindepth;

	check_positive("hashsize", &hwpmc_hashsize, HASHSIZE_DEFAULT);
	check_range("hashsize", &hwpmc_hashsize, 1, HASHSIZE_MAX, HASHSIZE_MAX);
	/* hash_ptr() needs one bit at least. */
	hwpmc_hashsize = max_t(int, 2, roundup_pow_of_two(hwpmc_hashsize));
	check_logbuffers();
	check_range("nsamples", &nsamples, 1, NSAMPLES_MAX, NSAMPLES_DEFAULT);
	check_positive("mtxpoolsize", &mtxpoolsize, MTXPOOLSIZE_DEFAULT);
	check_positive("mincount", &hwpmc_mincount, MINCOUNT_DEFAULT);
	check_positive("maxowners", &hwpmc_maxowners, MAXOWNERS_DEFAULT);
	check_positive("unwindtables", &hwpmc_unwindtables, UNWINDTABLES_DEFAULT);
	check_range("callchaindepth", &hwpmc_callchaindepth, 1,
		    HWPMC_LOG_DEPTH_MAX, clamp(depth, 1, HWPMC_LOG_DEPTH_MAX));
	check_range("unprivileged_kernel", &hwpmc_unprivileged_kernel, 0, 1, 0);
	hwpmc_selfcost = clamp(hwpmc_selfcost, 0, all_percent);
	hwpmc_takerunning = !!hwpmc_takerunning;
	hwpmc_unprivileged_syspmcs = !!hwpmc_unprivileged_syspmcs;
	hwpmc_unprivileged_proc_debug = !!hwpmc_unprivileged_proc_debug;
}

int hwpmc_tunables_init(void)
{
	sysctl_header = register_sysctl("kern/hwpmc", tunables);
	return sysctl_header ? 0 : -ENOMEM;
}

void hwpmc_tunables_exit(void)
{
	unregister_sysctl_table(sysctl_header);
}
