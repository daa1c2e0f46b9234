// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ioctl_log.c - operations on an owner's log. Under hwpmc_lock, except the flush,
 * which waits for the reader, and CONFIGURELOG, which takes it where it must.
 * Process context.
 */
#include "../sampling/log.h"
#include "ioctl.h"

static int is_owner(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	if (task_tgid(current) == owner->tgid)
		return 0;
	return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_NOT_OWNER,
			    pid_vnr(owner->tgid));
}

int hwpmc_ioctl_configurelog(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	int ret = is_owner(owner, &arg->hdr);

	return ret ?: hwpmc_log_configure(owner, &arg->configurelog);
}

int hwpmc_ioctl_flushlog(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	int ret = is_owner(owner, &arg->hdr);

	return ret ?: hwpmc_log_flush(owner, &arg->hdr);
}

int hwpmc_ioctl_closelog(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	int ret = is_owner(owner, &arg->hdr);

	return ret ?: hwpmc_log_close(owner, &arg->hdr);
}

int hwpmc_ioctl_writelog(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_writelog *op = &arg->writelog;
	int ret = is_owner(owner, &arg->hdr);

	if (!ret && op->__reserved)
		ret = hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_RESERVED, 0);
	return ret ?: hwpmc_log_write(owner, op->userdata, &op->hdr);
}
