// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ioctl_unwind.c - unwind tables from programs. The table is copied and checked before the
 * lock is taken. Process context.
 */
#include <linux/err.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "../core/owner.h"
#include "../core/stats.h"
#include "../pmc/owner.h"
#include "../sampling/unwind.h"
#include "ioctl.h"

int hwpmc_ioctl_unwind(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_unwind *op = &arg->unwind;
	struct hwpmc_owned_table *table, *old = NULL;
	int ret;

	ret = hwpmc_ioctl_owner(owner, &op->hdr);
	if (ret)
		return ret;
	table = hwpmc_owned_table_new(op);
	if (IS_ERR(table))
		return PTR_ERR(table);
	ret = hwpmc_owner_lock(owner, &op->hdr);
	if (!ret) {
		ret = hwpmc_owner_watch_exec(owner, &op->hdr);
		ret = ret ?: hwpmc_tables_put(owner, op, table, &old);
		mutex_unlock(&hwpmc_lock);
	}
	/* A request to remove is no table. */
	if (ret || !hwpmc_owned_table_is_added(table))
		hwpmc_owned_table_free(table);
	if (old) {
		synchronize_rcu();
		hwpmc_owned_table_free(old);
	}
	return ret;
}

int hwpmc_ioctl_chainstats(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_getchainstats *op = &arg->chainstats;
	struct hwpmc_stats sum;

	BUILD_BUG_ON(sizeof(sum.chains) > sizeof(op->chains));
	hwpmc_stats_sum(&sum);
	memset(op->chains, 0, sizeof(op->chains));
	memcpy(op->chains, sum.chains, sizeof(sum.chains));
	return 0;
}
