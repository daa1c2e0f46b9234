/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* refuse.h - refuse a request with an errno, and the reason in its header. */
#ifndef HWPMC_REFUSE_H
#define HWPMC_REFUSE_H

#include <linux/types.h>

#include "hwpmc.h"

static inline int hwpmc_refuse(struct hwpmc_hdr *hdr, int err, u32 reason,
			       s32 detail)
{
	hdr->reason = reason;
	hdr->detail = detail;
	return err;
}

#endif /* HWPMC_REFUSE_H */
