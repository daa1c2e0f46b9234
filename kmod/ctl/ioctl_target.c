// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* ioctl_target.c - attach and detach, and allocate for a process. Under hwpmc_lock. */
#include <linux/err.h>

#include "../pmc/open.h"
#include "../task/attach.h"
#include "ioctl.h"

int hwpmc_ioctl_attach(struct hwpmc_pmc *pmc, union hwpmc_arg *arg)
{
	return hwpmc_attach(pmc, arg->attach.pid, &arg->hdr);
}

int hwpmc_ioctl_open(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_pmcopen *op = &arg->open;
	struct hwpmc_hdr *hdr = &op->allocate.op.hdr;
	int ret;

	if (op->allocate.op.config2 || op->__reserved)
		return hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_RESERVED, 0);
	ret = hwpmc_ioctl_owner(owner, hdr);
	if (ret)
		return ret;
	op->allocate.name[sizeof(op->allocate.name) - 1] = '\0';
	return hwpmc_pmc_open(owner, op);
}

int hwpmc_ioctl_detach(struct hwpmc_pmc *pmc, union hwpmc_arg *arg)
{
	return hwpmc_detach(pmc, arg->attach.pid, &arg->hdr);
}
