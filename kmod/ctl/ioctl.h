/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * ioctl.h - handlers of operations. Each gets its argument copied in, with hdr
 * cleared, and writes its answer there. The table in ioctl.c says which of them run
 * under hwpmc_lock, and which of them get the PMC that .pmcid names.
 */
#ifndef HWPMC_IOCTL_H
#define HWPMC_IOCTL_H

#include "../core/owner.h"

/* Any operation's argument. */
union hwpmc_arg {
	struct hwpmc_hdr hdr;
	struct hwpmc_op_configurelog configurelog;
	struct hwpmc_op_writelog writelog;
	struct hwpmc_op_getcpuinfo cpuinfo;
	struct hwpmc_op_getdriverstats stats;
	struct hwpmc_op_getmoduleversion version;
	struct hwpmc_op_getpmcinfo pmcinfo;
	struct hwpmc_op_pmcadmin admin;
	struct hwpmc_op_pmcallocate_named allocate;
	struct hwpmc_op_pmcattach attach;
	struct hwpmc_op_pmcopen open;
	struct hwpmc_op_pmc pmc;
	struct hwpmc_op_pmcrw rw;
	struct hwpmc_op_pmcsetcount setcount;
	struct hwpmc_op_getdyneventinfo dynevents;
	struct hwpmc_op_getmsr getmsr;
	struct hwpmc_op_getcaps caps;
	struct hwpmc_op_kgmon kgmon;
	struct hwpmc_op_batch batch;
	struct hwpmc_op_unwind unwind;
	struct hwpmc_op_getchainstats chainstats;
	struct hwpmc_op_getkinds getkinds;
	struct hwpmc_op_getuncounted uncounted;
};

struct file;

long hwpmc_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
/* Returns true for a file of the device. */
bool hwpmc_ioctl_serves(const struct file *file);

/* A handler of an operation on a PMC. */
typedef int hwpmc_ioctl_pmc_fn(struct hwpmc_pmc *pmc, union hwpmc_arg *arg);

/*
 * The PMC that an operation names, or an ERR_PTR with the reason in hdr. Checks
 * that the caller may operate it. Under hwpmc_lock or rcu_read_lock().
 */
struct hwpmc_pmc *hwpmc_ioctl_pmc(struct hwpmc_owner *owner, u32 id,
				  struct hwpmc_hdr *hdr);
/* Runs fn with this PMC under hwpmc_lock. Inline, for a call of fn by a pointer costs more. */
static __always_inline int
hwpmc_ioctl_with_pmc(struct hwpmc_owner *owner, u32 id, struct hwpmc_hdr *hdr,
		     int (*fn)(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr, void *arg), void *arg)
{
	struct hwpmc_pmc *pmc;
	int ret = hwpmc_owner_lock(owner, hdr);

	if (ret)
		return ret;
	pmc = hwpmc_ioctl_pmc(owner, id, hdr);
	ret = IS_ERR(pmc) ? PTR_ERR(pmc) : fn(pmc, hdr, arg);
	mutex_unlock(&hwpmc_lock);
	return ret;
}

/* 0, or -ESRCH with the reason in hdr: the caller's process is not the owner's. Any lock,
 * or none. */
int hwpmc_ioctl_owner(const struct hwpmc_owner *owner, struct hwpmc_hdr *hdr);

int hwpmc_ioctl_configurelog(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_flushlog(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_closelog(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_writelog(struct hwpmc_owner *owner, union hwpmc_arg *arg);

int hwpmc_ioctl_allocate(struct hwpmc_owner *owner, union hwpmc_arg *arg);
hwpmc_ioctl_pmc_fn hwpmc_ioctl_release, hwpmc_ioctl_stop, hwpmc_ioctl_rw, hwpmc_ioctl_setcount,
	hwpmc_ioctl_getcaps, hwpmc_ioctl_uncounted, hwpmc_ioctl_attach, hwpmc_ioctl_detach;
int hwpmc_ioctl_start(struct hwpmc_owner *owner, union hwpmc_arg *arg);
/* Without hwpmc_lock: the snapshot that begins a log waits for other programs. */
int hwpmc_ioctl_start_one(struct hwpmc_owner *owner, u32 id, struct hwpmc_hdr *hdr);
int hwpmc_ioctl_getmsr(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_batch(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_unwind(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_chainstats(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_kinds(struct hwpmc_owner *owner, union hwpmc_arg *arg);
/* PMCRW with OLDVALUE alone, without hwpmc_lock. */
int hwpmc_ioctl_read(struct hwpmc_owner *owner, struct hwpmc_op_pmcrw *op);

int hwpmc_ioctl_open(struct hwpmc_owner *owner, union hwpmc_arg *arg);

int hwpmc_ioctl_cpuinfo(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_stats(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_version(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_pmcinfo(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_dynevents(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_kgmon(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_revoke(struct hwpmc_owner *owner, union hwpmc_arg *arg);
int hwpmc_ioctl_admin(struct hwpmc_owner *owner, union hwpmc_arg *arg);

#endif /* HWPMC_IOCTL_H */
