// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ioctl.c - the table of operations, sizes of arguments, copying in and out,
 * statistics of calls. Besides this only ioctl_info.c and ioctl_batch.c access the
 * caller's memory, for arrays that an argument points to. Process context.
 */
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "../core/stats.h"
#include "../debug/trace.h"
#include "../pmc/owner.h"
#include "../pmc/pace.h"
#include "../task/rdpmc_cr4.h"
#include "ioctl.h"

static_assert(sizeof(struct hwpmc_op_simple) == HWPMC_SIZE_V1_SIMPLE);
static_assert(sizeof(struct hwpmc_op_configurelog) == 24);
static_assert(offsetof(struct hwpmc_op_getcpuinfo, nnotes) == HWPMC_SIZE_V1_GETCPUINFO);
static_assert(sizeof(struct hwpmc_op_getcpuinfo) ==
	      HWPMC_SIZE_V1_GETCPUINFO + 8 + HWPMC_NOTES_MAX * sizeof(struct hwpmc_classnote));
static_assert(sizeof(struct hwpmc_classnote) == 16);
static_assert(sizeof(struct hwpmc_op_getdriverstats) ==
	      HWPMC_SIZE_V1_GETDRIVERSTATS);
static_assert(sizeof(struct hwpmc_op_getmoduleversion) ==
	      HWPMC_SIZE_V1_GETMODULEVERSION);
static_assert(sizeof(struct hwpmc_op_getpmcinfo) == HWPMC_SIZE_V1_GETPMCINFO);
static_assert(sizeof(struct hwpmc_op_pmcadmin) == HWPMC_SIZE_V1_PMCADMIN);
static_assert(sizeof(struct hwpmc_op_pmcallocate) == HWPMC_SIZE_V1_PMCALLOCATE);
static_assert(sizeof(struct hwpmc_op_pmcallocate_named) ==
	      HWPMC_SIZE_V1_PMCALLOCATE + HWPMC_NAME_MAX);
static_assert(sizeof(struct hwpmc_op_pmcattach) == HWPMC_SIZE_V1_PMCATTACH);
static_assert(sizeof(struct hwpmc_op_getmsr) == HWPMC_SIZE_V1_GETMSR);
static_assert(sizeof(struct hwpmc_op_pmc) == HWPMC_SIZE_V1_PMC);
static_assert(sizeof(struct hwpmc_op_pmcrw) == HWPMC_SIZE_V1_PMCRW);
static_assert(sizeof(struct hwpmc_op_pmcsetcount) == HWPMC_SIZE_V1_PMCSETCOUNT);
static_assert(sizeof(struct hwpmc_op_writelog) == HWPMC_SIZE_V1_WRITELOG);
static_assert(sizeof(struct hwpmc_op_getdyneventinfo) ==
	      HWPMC_SIZE_V1_GETDYNEVENTINFO);
static_assert(sizeof(struct hwpmc_op_kgmon) == HWPMC_SIZE_V1_KGMON);
static_assert(sizeof(struct hwpmc_op_getcaps) == HWPMC_SIZE_V1_GETCAPS);
static_assert(sizeof(struct hwpmc_op_batch) == HWPMC_SIZE_V1_BATCH);
static_assert(sizeof(struct hwpmc_batch_entry) == HWPMC_SIZE_V1_BATCH_ENTRY);
static_assert(sizeof(struct hwpmc_op_unwind) == HWPMC_SIZE_V1_UNWIND);
static_assert(sizeof(struct hwpmc_op_getchainstats) ==
	      HWPMC_SIZE_V1_GETCHAINSTATS);
static_assert(sizeof(struct hwpmc_op_getkinds) == HWPMC_SIZE_V1_GETKINDS);
static_assert(sizeof(struct hwpmc_op_getuncounted) == HWPMC_SIZE_V1_GETUNCOUNTED);
static_assert(sizeof(struct hwpmc_op_pmcopen) == HWPMC_SIZE_V1_PMCOPEN);
static_assert(offsetof(struct hwpmc_op_pmcallocate, count) == 40);
static_assert(offsetof(struct hwpmc_op_getpmcinfo, pmcs) == 16);
static_assert(offsetof(struct hwpmc_op_getcpuinfo, classes) == 24);
static_assert(sizeof(struct hwpmc_pmcinfo) == 112);

struct operation {
	int (*handler)(struct hwpmc_owner *owner, union hwpmc_arg *arg);
	hwpmc_ioctl_pmc_fn *pmc_handler;	/* in its place: a PMC's, and locked */
	u16 min;		/* bytes in the first release */
	u16 size;		/* bytes today */
	bool locked;		/* the handler runs under hwpmc_lock */
	bool claims;		/* it may claim hardware, and is locked */
	bool reserved;		/* of a PMC: the word behind .pmcid has to be 0 */
};

#define OP(fn, type, v1, lock)						\
	{ .handler = fn, .min = HWPMC_SIZE_V1_##v1,			\
	  .size = sizeof(struct type), .locked = lock }

#define CLAIMING_OP(fn, type, v1)					\
	{ .handler = fn, .min = HWPMC_SIZE_V1_##v1,			\
	  .size = sizeof(struct type), .locked = true, .claims = true }

/* The argument begins as a struct hwpmc_op_pmc. */
#define PMC_OP(fn, type, v1, zero)					\
	{ .pmc_handler = fn, .min = HWPMC_SIZE_V1_##v1 +		\
	  BUILD_BUG_ON_ZERO(offsetof(struct type, pmcid) !=		\
			    offsetof(struct hwpmc_op_pmc, pmcid)),	\
	  .size = sizeof(struct type), .locked = true, .reserved = zero }

static const struct operation operations[HWPMC_OP__COUNT] = {
	[HWPMC_OP_CONFIGURELOG] = OP(hwpmc_ioctl_configurelog,
		hwpmc_op_configurelog, CONFIGURELOG, false),
	[HWPMC_OP_FLUSHLOG] =
		OP(hwpmc_ioctl_flushlog, hwpmc_op_simple, SIMPLE, false),
	[HWPMC_OP_CLOSELOG] =
		OP(hwpmc_ioctl_closelog, hwpmc_op_simple, SIMPLE, false),
	[HWPMC_OP_WRITELOG] =
		OP(hwpmc_ioctl_writelog, hwpmc_op_writelog, WRITELOG, true),
	[HWPMC_OP_GETCPUINFO] =
		OP(hwpmc_ioctl_cpuinfo, hwpmc_op_getcpuinfo, GETCPUINFO, true),
	[HWPMC_OP_GETDRIVERSTATS] = OP(hwpmc_ioctl_stats,
		hwpmc_op_getdriverstats, GETDRIVERSTATS, false),
	[HWPMC_OP_GETMODULEVERSION] = OP(hwpmc_ioctl_version,
		hwpmc_op_getmoduleversion, GETMODULEVERSION, false),
	[HWPMC_OP_GETPMCINFO] =
		OP(hwpmc_ioctl_pmcinfo, hwpmc_op_getpmcinfo, GETPMCINFO, false),
	[HWPMC_OP_PMCADMIN] =
		OP(hwpmc_ioctl_admin, hwpmc_op_pmcadmin, PMCADMIN, true),
	[HWPMC_OP_PMCALLOCATE] = CLAIMING_OP(hwpmc_ioctl_allocate,
		hwpmc_op_pmcallocate_named, PMCALLOCATE),
	[HWPMC_OP_PMCATTACH] =
		PMC_OP(hwpmc_ioctl_attach, hwpmc_op_pmcattach, PMCATTACH, false),
	[HWPMC_OP_PMCDETACH] =
		PMC_OP(hwpmc_ioctl_detach, hwpmc_op_pmcattach, PMCATTACH, false),
	[HWPMC_OP_PMCGETMSR] =
		OP(hwpmc_ioctl_getmsr, hwpmc_op_getmsr, GETMSR, false),
	[HWPMC_OP_KGMON] =
		OP(hwpmc_ioctl_kgmon, hwpmc_op_kgmon, KGMON, false),
	[HWPMC_OP_BATCH] =
		OP(hwpmc_ioctl_batch, hwpmc_op_batch, BATCH, false),
	[HWPMC_OP_UNWIND] =
		OP(hwpmc_ioctl_unwind, hwpmc_op_unwind, UNWIND, false),
	[HWPMC_OP_GETCHAINSTATS] = OP(hwpmc_ioctl_chainstats,
		hwpmc_op_getchainstats, GETCHAINSTATS, false),
	[HWPMC_OP_GETKINDS] =
		OP(hwpmc_ioctl_kinds, hwpmc_op_getkinds, GETKINDS, true),
	[HWPMC_OP_GETUNCOUNTED] = PMC_OP(hwpmc_ioctl_uncounted,
		hwpmc_op_getuncounted, GETUNCOUNTED, false),
	[HWPMC_OP_PMCOPEN] =
		CLAIMING_OP(hwpmc_ioctl_open, hwpmc_op_pmcopen, PMCOPEN),
	[HWPMC_OP_REVOKE] =
		OP(hwpmc_ioctl_revoke, hwpmc_op_simple, SIMPLE, false),
	[HWPMC_OP_PMCRELEASE] = PMC_OP(hwpmc_ioctl_release, hwpmc_op_pmc, PMC, true),
	[HWPMC_OP_PMCRW] = PMC_OP(hwpmc_ioctl_rw, hwpmc_op_pmcrw, PMCRW, false),
	[HWPMC_OP_PMCSETCOUNT] = PMC_OP(hwpmc_ioctl_setcount,
		hwpmc_op_pmcsetcount, PMCSETCOUNT, true),
	[HWPMC_OP_PMCSTART] = OP(hwpmc_ioctl_start, hwpmc_op_pmc, PMC, false),
	[HWPMC_OP_PMCSTOP] = PMC_OP(hwpmc_ioctl_stop, hwpmc_op_pmc, PMC, true),
	[HWPMC_OP_GETDYNEVENTINFO] = OP(hwpmc_ioctl_dynevents,
		hwpmc_op_getdyneventinfo, GETDYNEVENTINFO, false),
	[HWPMC_OP_GETCAPS] =
		PMC_OP(hwpmc_ioctl_getcaps, hwpmc_op_getcaps, GETCAPS, false),
};

static const struct operation *find_operation(unsigned int nr)
{
	const struct operation *op;

	if (nr >= ARRAY_SIZE(operations))
		return NULL;
	op = &operations[array_index_nospec(nr, ARRAY_SIZE(operations))];
	return op->size ? op : NULL;
}

#define NOT_FAST	1	/* neither 0 nor an errno */

/*
 * PMCRW with OLDVALUE alone, which programs call in a loop: no table, no lock, and
 * word by word, because copy_from_user() and copy_to_user() cost more than the rest
 * of the call. NOT_FAST: another flag is set.
 */
static long read_fast(struct hwpmc_owner *owner,
		      struct hwpmc_op_pmcrw __user *user)
{
	struct hwpmc_op_pmcrw op __aligned(8);
	int ret;

	if (get_user(op.flags, &user->flags))
		return -EFAULT;
	if (unlikely(op.flags != HWPMC_F_OLDVALUE))
		return NOT_FAST;
	if (get_user(op.pmcid, &user->pmcid))
		return -EFAULT;
	op.value = 0;
	ret = hwpmc_ioctl_read(owner, &op);
	trace_hwpmc_module_syscall(HWPMC_OP_PMCRW, ret, op.hdr.reason,
				   op.hdr.detail);
	/* Both 32-bit words of the header at once. */
	if (put_user(*(u64 *)&op.hdr, (u64 __user *)&user->hdr) ||
	    put_user(op.value, &user->value))
		return -EFAULT;
	return ret;
}

static int copy_in(union hwpmc_arg *arg, const struct operation *op,
		   void __user *user, size_t size)
{
	int ret;

	if (size < op->min)
		return hwpmc_refuse(&arg->hdr, -EINVAL, HWPMC_WHY_SIZE, op->min);
	ret = copy_struct_from_user(arg, op->size, user, size);
	arg->hdr = (struct hwpmc_hdr){};
	if (ret == -E2BIG)
		hwpmc_refuse(&arg->hdr, ret, HWPMC_WHY_SIZE, op->size);
	return ret;
}

/* Under the lock again: all threads of a user wait for the same time. */
static int lock_in_turn(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	unsigned int ahead;
	int ret;

	while (!(ret = hwpmc_owner_lock(owner, hdr))) {
		ahead = hwpmc_pace_ahead(owner);
		if (likely(!ahead))
			return 0;
		mutex_unlock(&hwpmc_lock);
		ret = hwpmc_pace_wait(ahead);
		if (ret)
			return ret;
	}
	return ret;
}

static int run_locked(const struct operation *op, struct hwpmc_owner *owner,
		      union hwpmc_arg *arg)
{
	struct hwpmc_pmc *pmc;

	if (!op->pmc_handler)
		return op->handler(owner, arg);
	if (op->reserved && arg->pmc.__reserved)
		return hwpmc_refuse(&arg->hdr, -EINVAL, HWPMC_WHY_RESERVED, 0);
	pmc = hwpmc_ioctl_pmc(owner, arg->pmc.pmcid, &arg->hdr);
	return IS_ERR(pmc) ? PTR_ERR(pmc) : op->pmc_handler(pmc, arg);
}

static int operation_run(const struct operation *op, struct hwpmc_owner *owner,
			 union hwpmc_arg *arg)
{
	int ret = 0;

	if (unlikely(READ_ONCE(owner->executed)))
		ret = hwpmc_owner_drop(owner, &arg->hdr);
	if (ret)
		return ret;
	if (!op->locked)
		return op->handler(owner, arg);
	ret = op->claims ? lock_in_turn(owner, &arg->hdr) : hwpmc_owner_lock(owner, &arg->hdr);
	if (ret)
		return ret;
	ret = run_locked(op, owner, arg);
	mutex_unlock(&hwpmc_lock);
	/* The right to use RDPMC may have ended. */
	hwpmc_leave_wait();
	return ret;
}

/* A refusal before the argument is read: the header alone is written. */
static long refuse_early(int ret, u32 why, unsigned int nr, void __user *user,
			 size_t size)
{
	struct hwpmc_hdr hdr = { .reason = why, .detail = nr };

	if (size >= sizeof(hdr) && copy_to_user(user, &hdr, sizeof(hdr)))
		return -EFAULT;
	return ret;
}

/* The last stage: trace the result, write `len` bytes of the answer. */
static long copy_out(unsigned int nr, int ret, const union hwpmc_arg *arg,
		     void __user *user, size_t len)
{
	trace_hwpmc_module_syscall(nr, ret, arg->hdr.reason, arg->hdr.detail);
	return copy_to_user(user, arg, len) ? -EFAULT : ret;
}

/*
 * Stages: find the operation, copy its argument in, check that the answer can be
 * written, run the handler, copy the answer out. A refusal by the first two writes
 * the header alone, if the caller's size has room for it.
 */
static long ioctl_dispatch(struct hwpmc_owner *owner, unsigned int cmd,
			   void __user *user)
{
	unsigned int nr = _IOC_NR(cmd);
	size_t size = _IOC_SIZE(cmd), len;
	const struct operation *op;
	union hwpmc_arg arg = {};
	int ret;

	if (unlikely(READ_ONCE(owner->revoked)))
		return refuse_early(-ENODEV, HWPMC_WHY_REVOKED, 0, user, size);
	op = find_operation(nr);
	if (!op)
		return refuse_early(-EINVAL, HWPMC_WHY_UNKNOWN_OP, nr, user,
				    size);
	ret = copy_in(&arg, op, user, size);
	if (ret == -EFAULT)
		return ret;
	if (ret) {
		len = size < sizeof(arg.hdr) ? 0 : sizeof(arg.hdr);
		return copy_out(nr, ret, &arg, user, len);
	}
	/* Before the handler: a PMC whose id cannot be told is never released. */
	len = min_t(size_t, size, op->size);
	if (copy_to_user(user, &arg, len))
		return -EFAULT;
	ret = operation_run(op, owner, &arg);
	return copy_out(nr, ret, &arg, user, len);
}

long hwpmc_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct hwpmc_owner *owner = file->private_data;
	void __user *user = (void __user *)arg;
	long ret;

	hwpmc_stat_inc(syscalls);
	if (unlikely(_IOC_TYPE(cmd) != HWPMC_IOC)) {
		ret = -ENOTTY;
	} else {
		ret = cmd == HWPMC_IOC_PMCRW &&
		      likely(!READ_ONCE(owner->revoked)) ?
		      read_fast(owner, user) : NOT_FAST;
		if (unlikely(ret == NOT_FAST))
			ret = ioctl_dispatch(owner, cmd, user);
	}
	if (unlikely(ret))
		hwpmc_stat_inc(syscall_errors);
	return ret;
}

bool hwpmc_ioctl_serves(const struct file *file)
{
	return file->f_op->unlocked_ioctl == hwpmc_ioctl;
}
