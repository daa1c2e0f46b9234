// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* ioctl_target.c - attach and detach. Under hwpmc_lock. */
#include <linux/err.h>

#include "../task/attach.h"
#include "ioctl.h"

int hwpmc_ioctl_attach(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_pmcattach *op = &arg->attach;
	struct hwpmc_pmc *pmc = hwpmc_ioctl_pmc(owner, op->pmcid, &op->hdr);

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	return hwpmc_attach(pmc, op->pid, &op->hdr);
}

int hwpmc_ioctl_detach(struct hwpmc_owner *owner, union hwpmc_arg *arg)
{
	struct hwpmc_op_pmcattach *op = &arg->attach;
	struct hwpmc_pmc *pmc = hwpmc_ioctl_pmc(owner, op->pmcid, &op->hdr);

	if (IS_ERR(pmc))
		return PTR_ERR(pmc);
	return hwpmc_detach(pmc, op->pid, &op->hdr);
}
