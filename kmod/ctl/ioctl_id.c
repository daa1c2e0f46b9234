// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * ioctl_id.c - finds the PMC of an id and checks that the caller may operate it, or the
 * owner. Under hwpmc_lock or RCU.
 */
#include <linux/err.h>
#include <linux/sched/signal.h>

#include "../task/target.h"
#include "ioctl.h"

int hwpmc_ioctl_owner(const struct hwpmc_owner *owner, struct hwpmc_hdr *hdr)
{
	if (task_tgid(current) == owner->tgid)
		return 0;
	return hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_NOT_OWNER,
			    pid_vnr(owner->tgid));
}

/* A forked child may operate a PMC that its parent attached to itself with
 * DESCENDANTS. */
static bool is_heir(const struct hwpmc_pmc *pmc)
{
	return pmc && pmc->flags & HWPMC_F_DESCENDANTS &&
	       READ_ONCE(pmc->process.owner_attached) && hwpmc_attached_to(pmc, current);
}

struct hwpmc_pmc *hwpmc_ioctl_pmc(struct hwpmc_owner *owner, u32 id,
				  struct hwpmc_hdr *hdr)
{
	struct hwpmc_pmc *pmc = hwpmc_owner_find(owner, id);
	int err = 0;

	if (HWPMC_ID_ROW(id) >= hwpmc_nrows)
		err = hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_ID, id);
	else if (unlikely(task_tgid(current) != owner->tgid) && !is_heir(pmc))
		err = hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_NOT_OWNER,
				   pid_vnr(owner->tgid));
	else if (unlikely(list_empty(&owner->pmcs)))
		err = hwpmc_refuse(hdr, -ESRCH, HWPMC_WHY_NO_PMCS, 0);
	else if (unlikely(!pmc))
		err = hwpmc_refuse(hdr, -EINVAL, HWPMC_WHY_ID, id);
	return err ? ERR_PTR(err) : pmc;
}
