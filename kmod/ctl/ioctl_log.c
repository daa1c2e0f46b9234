// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ioctl_log.c - operations on an owner's log. Process context, WRITELOG under hwpmc_lock;
 * the others, which wait for readers or for memory, take it themselves.
 */
#include <linux/file.h>
#include <linux/fs.h>

#include "../log/configure.h"
#include "../log/drain.h"
#include "../log/rings.h"
#include "../pmc/owner.h"
#include "ioctl.h"

static int take_file(struct hwpmc_op_configurelog *op, struct file **file)
{
	*file = NULL;
	if (op->flags & HWPMC_LOG_F_MAPPED)
		return 0;
	*file = fget(op->logfd);
	if (*file && hwpmc_drain_can_write(*file) && !hwpmc_ioctl_serves(*file))
		return 0;
	if (*file)
		fput(*file);
	return hwpmc_refuse(&op->hdr, -EBADF, HWPMC_WHY_LOG_FD, op->logfd);
}

static int check_log_flags(struct hwpmc_op_configurelog *op)
{
	if (op->flags & ~HWPMC_LOG_F_MAPPED ||
	    (op->flags & HWPMC_LOG_F_MAPPED && op->logfd != -1))
		return hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_FLAGS,
				    op->flags);
	return 0;
}

static int watch_exec(struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	int ret = hwpmc_owner_lock(owner, hdr);

	if (ret)
		return ret;
	ret = hwpmc_owner_watch_exec(owner, hdr);
	mutex_unlock(&hwpmc_lock);
	return ret;
}

int hwpmc_ioctl_configurelog(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_configurelog *op = &arg->configurelog;
	struct file *file;
	int ret;

	ret = hwpmc_ioctl_owner(owner, &op->hdr);
	ret = ret ?: check_log_flags(op);
	if (ret)
		return ret;
	if (!op->flags && op->logfd == -1)
		return hwpmc_log_unconfigure(owner, &op->hdr);
	if (READ_ONCE(owner->log))
		return hwpmc_refuse(&op->hdr, -EBUSY, HWPMC_WHY_LOG_EXISTS, 0);
	ret = hwpmc_rings_check_size(op);
	ret = ret ?: watch_exec(owner, &op->hdr);
	ret = ret ?: take_file(op, &file);
	return ret ?: hwpmc_log_configure(owner, op, file);
}

int hwpmc_ioctl_flushlog(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	int ret = hwpmc_ioctl_owner(owner, &arg->hdr);

	return ret ?: hwpmc_log_flush(owner, &arg->hdr);
}

int hwpmc_ioctl_closelog(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	int ret = hwpmc_ioctl_owner(owner, &arg->hdr);

	return ret ?: hwpmc_log_close(owner, &arg->hdr);
}

int hwpmc_ioctl_writelog(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_writelog *op = &arg->writelog;
	int ret = hwpmc_ioctl_owner(owner, &arg->hdr);

	if (!ret && op->__reserved)
		ret = hwpmc_refuse(&op->hdr, -EINVAL, HWPMC_WHY_RESERVED, 0);
	return ret ?: hwpmc_log_write(owner, op->userdata, &op->hdr);
}
