// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ioctl_pmc.c - operations on a PMC: allocate, release, start, stop, read and
 * write, set the count. Under hwpmc_lock; hwpmc_ioctl_read() under RCU alone, start and
 * getmsr take the lock themselves.
 */
#include <linux/err.h>
#include <linux/sched/signal.h>

#include "../core/doubt.h"
#include "../debug/trace.h"
#include "../log/snapshot.h"
#include "../pmc/allocate.h"
#include "../pmc/run.h"
#include "../task/rdpmc_cr4.h"
#include "../task/rdpmc.h"
#include "../task/switch.h"
#include "ioctl.h"

static int check_reserved(struct hwpmc_hdr *hdr, u64 reserved)
{
	return reserved ? hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_RESERVED, 0) : 0;
}

int hwpmc_ioctl_allocate(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_pmcallocate *op = &arg->allocate.op;
	char *name = arg->allocate.name;
	int ret;

	ret = check_reserved(&op->hdr, op->config2);
	if (ret)
		return ret;
	ret = hwpmc_ioctl_owner(owner, &op->hdr);
	if (ret)
		return ret;
	name[sizeof(arg->allocate.name) - 1] = '\0';
	return hwpmc_pmc_allocate(owner, op, name, ~0ULL);
}

int hwpmc_ioctl_release(struct hwpmc_pmc *pmc, union hwpmc_arg *arg)
{
	hwpmc_pmc_release(pmc);
	return 0;
}

/* 1: the PMC is prepared, and what its log says of the machine's present state is to be
 * written before it starts. arg: a bool, where that may be; NULL: start. */
static int start_or_prepare(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr, void *arg)
{
	bool *privileged = arg;

	if (!privileged || !hwpmc_needs_snapshot(pmc))
		return hwpmc_pmc_start(pmc, hdr);
	*privileged = pmc->privileged;
	return hwpmc_pmc_prepare(pmc, hdr) ?: 1;
}

int hwpmc_ioctl_start_one(struct hwpmc_owner *owner, u32 id, struct hwpmc_hdr *hdr)
{
	bool privileged;
	int ret = hwpmc_ioctl_with_pmc(owner, id, hdr, start_or_prepare, &privileged);

	if (ret <= 0)
		return ret;
	hwpmc_snapshot(owner, id, privileged);
	return hwpmc_ioctl_with_pmc(owner, id, hdr, start_or_prepare, NULL);
}

int hwpmc_ioctl_start(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	int ret = check_reserved(&arg->hdr, arg->pmc.__reserved);

	return ret ?: hwpmc_ioctl_start_one(owner, arg->pmc.pmcid, &arg->hdr);
}

int hwpmc_ioctl_stop(struct hwpmc_pmc *pmc, union hwpmc_arg *arg)
{
	return hwpmc_pmc_stop(pmc, &arg->hdr);
}

/* The value; refused if it is known to be wrong or incomplete. */
static int read_value(struct hwpmc_pmc *pmc, struct hwpmc_op_pmcrw *op)
{
	int ret;

	/* No target is left, so the count is final: tell an owner that waits for it. */
	if (unlikely(list_empty(&pmc->process.links)) && !hwpmc_pmc_is_system(pmc)) {
		hwpmc_sigio(pmc->owner);
		hwpmc_doubt_look_finally(pmc);
	}
	ret = hwpmc_pmc_read(pmc, &op->value);
	trace_hwpmc_pmc_read(pmc);
	if (unlikely(ret == -EIO))
		return hwpmc_pmc_refuse_unreliable(pmc, &op->hdr);
	if (unlikely(ret))
		return hwpmc_refuse(&op->hdr, ret, HWPMC_WHY_CPU_OFFLINE,
				    pmc->cpu);
	ret = hwpmc_pmc_check_value(pmc, &op->hdr);
	if (unlikely(ret))
		return ret;
	if (unlikely(READ_ONCE(pmc->process.incomplete)))
		return hwpmc_refuse(&op->hdr, -ENOMEM, HWPMC_WHY_INCOMPLETE, 0);
	return 0;
}

/* Fast path: a process-scope PMC of the caller itself needs no further check. */
static struct hwpmc_pmc *read_pmc(struct hwpmc_owner *owner,
				  struct hwpmc_op_pmcrw *op)
{
	struct hwpmc_pmc *pmc;

	if (likely(HWPMC_ID_ROW(op->pmcid) < hwpmc_nrows &&
		   task_tgid(current) == owner->tgid)) {
		pmc = hwpmc_owner_find_process(owner, op->pmcid);
		if (likely(pmc))
			return pmc;
	}
	return hwpmc_ioctl_pmc(owner, op->pmcid, &op->hdr);
}

int hwpmc_ioctl_read(struct hwpmc_owner *owner, struct hwpmc_op_pmcrw *op)
{
	struct hwpmc_pmc *pmc;
	int ret;

	op->hdr = (struct hwpmc_hdr){};
	rcu_read_lock();
	pmc = read_pmc(owner, op);
	if (IS_ERR(pmc))
		ret = PTR_ERR(pmc);
	else if (unlikely(hwpmc_mode_is_sampling(pmc->mode)))
		ret = hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_RW_MODE, 0);
	else
		ret = read_value(pmc, op);
	rcu_read_unlock();
	return ret;
}

int hwpmc_ioctl_uncounted(struct hwpmc_pmc *pmc, union hwpmc_arg *arg)
{
	struct hwpmc_op_getuncounted *op = &arg->uncounted;

	if (pmc->kinds && !hwpmc_pmc_is_system(pmc))
		hwpmc_switch_harvest_elsewhere(pmc);
	op->kinds = pmc->kinds;
	op->ns = atomic64_read(&pmc->elsewhere_ns);
	op->slices = atomic64_read(&pmc->elsewhere_slices);
	return 0;
}

static int check_write(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr)
{
	if (pmc->state == HWPMC_STATE_RUNNING)
		return hwpmc_refuse(hdr, -EBUSY, HWPMC_WHY_RUNNING, 0);
	if (!(hwpmc_rows[pmc->row].cls->caps & HWPMC_CAP_WRITE))
		return hwpmc_refuse(hdr, -EOPNOTSUPP, HWPMC_WHY_READ_ONLY, 0);
	return 0;
}

static void write_value(struct hwpmc_pmc *pmc, u64 value)
{
	hwpmc_pmc_set_total(pmc, value);
	hwpmc_doubt_forget(pmc);
	trace_hwpmc_pmc_write(pmc);
}

static bool is_of_old_value(u32 why)
{
	return why == HWPMC_WHY_INCOMPLETE || why == HWPMC_WHY_REGISTER_CHANGED ||
	       why == HWPMC_WHY_COUNTER_BACK || why == HWPMC_WHY_COUNTER_TAKEN;
}

int hwpmc_ioctl_rw(struct hwpmc_pmc *pmc, union hwpmc_arg *arg)
{
	struct hwpmc_op_pmcrw *op = &arg->rw;
	u64 value = op->value;
	int ret = 0;

	if (!op->flags || op->flags & ~(HWPMC_F_OLDVALUE | HWPMC_F_NEWVALUE))
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_RW_FLAGS,
				    op->flags);
	if (hwpmc_mode_is_sampling(pmc->mode))
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_RW_MODE, 0);
	if (op->flags & HWPMC_F_NEWVALUE)
		ret = check_write(pmc, &op->hdr);
	if (!ret && op->flags & HWPMC_F_OLDVALUE)
		ret = read_value(pmc, op);
	/* The new value is set although the old one is incomplete or in doubt: it ends both. */
	if (op->flags & HWPMC_F_NEWVALUE && (!ret || is_of_old_value(op->hdr.reason)))
		write_value(pmc, value);
	return ret;
}

static int getmsr_begin(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr, void *msr)
{
	return hwpmc_rdpmc_grant(pmc, msr, hdr);
}

static int getmsr_end(struct hwpmc_pmc *pmc, struct hwpmc_hdr *hdr, void *unused)
{
	return hwpmc_rdpmc_granted(pmc, hdr);
}

/* Not under hwpmc_lock: between its two halves it waits for CPUs. */
int hwpmc_ioctl_getmsr(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_getmsr *op = &arg->getmsr;
	u32 msr = op->msr;
	int ret;

	ret = hwpmc_ioctl_with_pmc(owner, op->pmcid, &op->hdr, getmsr_begin, &op->msr);
	if (ret)
		return ret;
	hwpmc_leave_wait();
	ret = hwpmc_ioctl_with_pmc(owner, op->pmcid, &op->hdr, getmsr_end, NULL);
	/* Another thread has released it meanwhile: a refusal changes no argument. */
	if (ret && op->hdr.reason != HWPMC_WHY_NO_RDPMC)
		op->msr = msr;
	return ret;
}

int hwpmc_ioctl_setcount(struct hwpmc_pmc *pmc, union hwpmc_arg *arg)
{
	int ret = check_write(pmc, &arg->hdr);

	if (!ret)
		hwpmc_pmc_set_count(pmc, arg->setcount.count);
	return ret;
}

int hwpmc_ioctl_getcaps(struct hwpmc_pmc *pmc, union hwpmc_arg *arg)
{
	arg->caps.caps = hwpmc_rows[pmc->row].cls->caps;
	return 0;
}
