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

/* For operations whose argument is only an id: release, start, stop. */
static struct hwpmc_pmc *pmc_of_id_op(struct hwpmc_owner *owner,
				      struct hwpmc_op_pmc *op)
{
	int ret = check_reserved(&op->hdr, op->__reserved);

	return ret ? ERR_PTR(ret) : hwpmc_ioctl_pmc(owner, op->pmcid, &op->hdr);
}

int hwpmc_ioctl_release(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_pmc *pmc = pmc_of_id_op(owner, &arg->pmc);

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	hwpmc_pmc_release(pmc);
	return 0;
}

/* 1: the PMC is prepared, and what its log says of the machine's present state is to be
 * written before it starts. */
static int start_or_prepare(struct hwpmc_owner *owner, u32 id, struct hwpmc_hdr *hdr,
			    bool *privileged)
{
	struct hwpmc_pmc *pmc = hwpmc_ioctl_pmc(owner, id, hdr);

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	if (!privileged || !hwpmc_needs_snapshot(pmc))
		return hwpmc_pmc_start(pmc, hdr);
	*privileged = pmc->privileged;
	return hwpmc_pmc_prepare(pmc, hdr) ?: 1;
}

int hwpmc_ioctl_start_one(struct hwpmc_owner *owner, u32 id, struct hwpmc_hdr *hdr)
{
	bool privileged;
	int ret;

	ret = hwpmc_owner_lock(owner, hdr);
	if (ret)
		return ret;
	ret = start_or_prepare(owner, id, hdr, &privileged);
	mutex_unlock(&hwpmc_lock);
	if (ret <= 0)
		return ret;
	hwpmc_snapshot(owner, id, privileged);
	ret = hwpmc_owner_lock(owner, hdr);
	if (ret)
		return ret;
	ret = start_or_prepare(owner, id, hdr, NULL);
	mutex_unlock(&hwpmc_lock);
	return ret;
}

int hwpmc_ioctl_start(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	int ret = check_reserved(&arg->hdr, arg->pmc.__reserved);

	return ret ?: hwpmc_ioctl_start_one(owner, arg->pmc.pmcid, &arg->hdr);
}

int hwpmc_ioctl_stop(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_pmc *pmc = pmc_of_id_op(owner, &arg->pmc);

	return IS_ERR(pmc) ? PTR_ERR(pmc) : hwpmc_pmc_stop(pmc, &arg->hdr);
}

/* The value; refused if it is known to be wrong or incomplete. */
static int read_value(struct hwpmc_pmc *pmc, struct hwpmc_op_pmcrw *op)
{
	int ret;

	/* No target is left, so the count is final: tell an owner that waits for it. */
	if (unlikely(list_empty(&pmc->links)) && !hwpmc_pmc_is_system(pmc)) {
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
	if (unlikely(READ_ONCE(pmc->incomplete)))
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

int hwpmc_ioctl_uncounted(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_getuncounted *op = &arg->uncounted;
	struct hwpmc_pmc *pmc = hwpmc_ioctl_pmc(owner, op->pmcid, &op->hdr);

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
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

int hwpmc_ioctl_rw(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_pmcrw *op = &arg->rw;
	u64 value = op->value;
	struct hwpmc_pmc *pmc;
	int ret = 0;

	pmc = hwpmc_ioctl_pmc(owner, op->pmcid, &op->hdr);
	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
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

static int getmsr_begin(struct hwpmc_owner *owner, struct hwpmc_op_getmsr *op)
{
	struct hwpmc_pmc *pmc;
	int ret;

	ret = hwpmc_owner_lock(owner, &op->hdr);
	if (ret)
		return ret;
	pmc = hwpmc_ioctl_pmc(owner, op->pmcid, &op->hdr);
	ret = IS_ERR(pmc) ? PTR_ERR(pmc) :
			    hwpmc_rdpmc_grant(pmc, &op->msr, &op->hdr);
	mutex_unlock(&hwpmc_lock);
	return ret;
}

static int getmsr_end(struct hwpmc_owner *owner, struct hwpmc_op_getmsr *op)
{
	struct hwpmc_pmc *pmc;
	int ret;

	ret = hwpmc_owner_lock(owner, &op->hdr);
	if (ret)
		return ret;
	pmc = hwpmc_ioctl_pmc(owner, op->pmcid, &op->hdr);
	ret = IS_ERR(pmc) ? PTR_ERR(pmc) : hwpmc_rdpmc_granted(pmc, &op->hdr);
	mutex_unlock(&hwpmc_lock);
	return ret;
}

/* Not under hwpmc_lock: between its two halves it waits for CPUs. */
int hwpmc_ioctl_getmsr(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_getmsr *op = &arg->getmsr;
	u32 msr = op->msr;
	int ret;

	ret = getmsr_begin(owner, op);
	if (ret)
		return ret;
	hwpmc_leave_wait();
	ret = getmsr_end(owner, op);
	/* Another thread has released it meanwhile: a refusal changes no argument. */
	if (ret && op->hdr.reason != HWPMC_WHY_NO_RDPMC)
		op->msr = msr;
	return ret;
}

int hwpmc_ioctl_setcount(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_pmcsetcount *op = &arg->setcount;
	struct hwpmc_pmc *pmc;
	int ret;

	ret = check_reserved(&op->hdr, op->__reserved);
	if (ret)
		return ret;
	pmc = hwpmc_ioctl_pmc(owner, op->pmcid, &op->hdr);
	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	ret = check_write(pmc, &op->hdr);
	if (!ret)
		hwpmc_pmc_set_count(pmc, op->count);
	return ret;
}

int hwpmc_ioctl_getcaps(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_getcaps *op = &arg->caps;
	struct hwpmc_pmc *pmc = hwpmc_ioctl_pmc(owner, op->pmcid, &op->hdr);

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	op->caps = hwpmc_rows[pmc->row].cls->caps;
	return 0;
}
